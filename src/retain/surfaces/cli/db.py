"""`retain db`: the database behind the memory, where that is SurrealDB."""

import sys
from dataclasses import asdict
from pathlib import Path

import click

from retain import db_server
from retain.config import Settings
from retain.db_server import Reached, Server
from retain.errors import RetainError
from retain.surfaces.cli import exits
from retain.surfaces.cli.options import Call, common
from retain.surfaces.cli.queue import queue
from retain.surfaces.cli.terminal import Verbatim
from retain.wiring import check_surrealdb, make_store


@click.group(invoke_without_command=True)
@click.pass_context
def db(context: click.Context) -> int | None:
    """Serve a database of SurrealDB to other processes, or say how it is; alone, status."""
    return context.invoke(status) if context.invoked_subcommand is None else None


db.add_command(queue)


@db.command()
@click.option("--port", type=click.IntRange(1, 65535), help="Also on this port of this machine.")
@click.option(
    "--password-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The password to sign in with; by default one that was made here.",
)
@common
def serve(call: Call, port: int | None, password_file: Path | None) -> None:
    """Open the database once and serve it to other processes of this machine, until Ctrl-C.

    They find it by themselves when they have `deployment_mode: local-server`.
    """
    check_surrealdb(call.loaded.settings)

    def tell(server: Server) -> None:
        call.terminal.tell(asdict(server), _serving(server))
        sys.stdout.flush()  # whoever has started it waits for this line, and no other follows

    db_server.serve(call.loaded.settings, port, password_file and password_file.absolute(), tell)


@db.command()
@common
def status(call: Call) -> int | None:
    """Say which database is used, whether it answers, and who serves it."""
    settings = call.loaded.settings
    server = db_server.running(settings)
    body = {"store": settings.store, "deployment_mode": settings.deployment_mode, "server": server and asdict(server)}
    if settings.uses_surrealdb:
        check_surrealdb(settings)
    if not settings.is_on_server:
        folder = str(settings.database_file)
        error = _not_opened(settings)
        body |= {"database": folder, "error": error.message if error else None}
        call.terminal.tell(body, [folder, *([error.message] if error else []), *_served(server)])
        return exits.code_of(error) if error else None
    reached = db_server.reach(settings)
    why = reached.error.message if reached.error else None
    call.terminal.tell(
        {**body, "url": reached.url, "version": reached.version, "error": why}, [*_reached(reached), *_served(server)]
    )
    return exits.code_of(reached.error) if reached.error else None


def _not_opened(settings: Settings) -> RetainError | None:
    """Why the database in a file or folder cannot be used from here; one that is not there yet can be made."""
    if settings.deployment_mode == "embedded-memory" or not settings.database_file.exists():
        return None
    try:
        make_store(settings).close()
    except RetainError as error:
        return error
    return None


def _serving(server: Server) -> list[str | Verbatim]:
    port = [f"port      ws://127.0.0.1:{server.port}/rpc"] if server.port else []
    return [
        f"serving   {server.folder}",
        *([f"socket    {server.socket}"] if server.socket else []),
        *port,
        f"user      {db_server.USER}, with the password in {server.password_file}",
        "Other processes of yours share it with this setting; Ctrl-C ends it:",
        Verbatim("deployment_mode: local-server"),
    ]


def _reached(reached: Reached) -> list[str]:
    if reached.error:
        return [reached.error.message]
    return [f"{reached.url} answers, {reached.version}"]


def _served(server: Server | None) -> list[str]:
    if server is None:
        return ["no `retain db serve` is running here"]
    return [f"`retain db serve` is running, process {server.pid}, for {server.folder}"]
