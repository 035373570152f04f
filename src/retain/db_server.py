"""One database for all processes of this machine: `retain db serve`, and how the others find it.

run/db.json    which process serves it, and where; gone when it has ended
run/db.sock    where it is reached, by this user alone
db.password    what the others sign in with
"""

import os
import secrets
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from retain.config import Settings
from retain.errors import ConfigError, RetainError, StoreBusy
from retain.quick_json import written
from retain.run_files import is_alive, make_folder, read_object, remove, write_private
from retain.whereabouts import USUAL

if TYPE_CHECKING:
    from retain.stores.surreal.link.connection import Address

USER = "retain"
_STANDARD_ERROR = 2
_LONGEST_PATH = 100  # bytes of a socket's path; systems differ, and the least is 104 with the final zero


@dataclass(frozen=True, slots=True)
class Server:
    """A running `retain db serve`."""

    pid: int
    folder: str
    password_file: str
    socket: str | None = None
    port: int | None = None

    @property
    def url(self) -> str:
        return f"unix:{self.socket}" if self.socket else f"ws://127.0.0.1:{self.port}/rpc"


@dataclass(frozen=True, slots=True)
class Reached:
    """What came of trying to reach the database that the settings name."""

    url: str | None
    version: str | None = None
    error: RetainError | None = None


def serve(settings: Settings, port: int | None, password_file: Path | None, told: Callable[[Server], None]) -> None:
    """Serves the database in its folder until the process is told to end; `told` hears when it is reachable."""
    import asyncio  # takes 20 ms, which other commands need not wait for

    asyncio.run(_serve(settings, port, password_file, told))


def running(settings: Settings) -> Server | None:
    """The server that other processes of this user can use; None when there is none."""
    note = read_object(_note(settings))
    try:
        server = Server(**note)  # type: ignore[arg-type]  # it is ours, and what is not is caught
    except TypeError:
        return None
    return server if isinstance(server.pid, int) and is_alive(server.pid) else None


def address_of(settings: Settings) -> "Address":
    """Where the settings say that the database is, else where `retain db serve` has it."""
    from retain.stores.surreal.link.connection import Address
    from retain.stores.surreal.link.failures import LinkLost

    url, user, password = settings.remote_url, settings.remote_user, settings.remote_pass
    if url is None and settings.deployment_mode == "remote":
        raise ConfigError(
            "deployment_mode is remote, and remote_url does not say where; wss://HOST is one, for example"
        )
    if url or user:
        return Address(url or USUAL, user, password, settings.namespace, settings.database)
    server = running(settings)
    if server is None:
        raise LinkLost(
            f"no `retain db serve` is running for {settings.home.expanduser()}; start it, or set remote_url to the "
            "address of a SurrealDB"
        )
    password = _read_password(Path(server.password_file))
    return Address(server.url, USER, password, settings.namespace, settings.database)


def reach(settings: Settings) -> Reached:
    from retain.stores.surreal.link.connection import signed_in
    from retain.stores.surreal.link.database import Database

    url = settings.remote_url
    try:
        address = address_of(settings)
        url = address.url
        with closing(Database(signed_in(address))) as db:
            version = str(db.call("version"))
    except RetainError as error:
        return Reached(url, error=error)
    return Reached(url, version)


async def _serve(
    settings: Settings, port: int | None, password_file: Path | None, told: Callable[[Server], None]
) -> None:
    import asyncio
    import signal

    from retain.stores.surreal.link import remarks
    from retain.stores.surreal.link.serving import Serving

    remarks.install(_STANDARD_ERROR)
    own = replace(settings, store="surrealdb", deployment_mode="embedded-file")
    if server := running(settings):
        raise StoreBusy(
            f"`retain db serve` is running already, process {server.pid}, for {server.folder}; "
            "others use it with deployment_mode: local-server"
        )
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    serving = await Serving.opened(own.database_file)
    try:
        secret_file = password_file or settings.home.expanduser() / "db.password"
        await serving.define_user(USER, _read_password(secret_file) if password_file else _own_password(secret_file))
        socket = _socket(settings)
        if socket:
            make_folder(str(socket.parent))
            await serving.listen_at(socket)
        opened = None if socket and port is None else await serving.listen(port or 0)
        server = Server(os.getpid(), str(own.database_file), str(secret_file), str(socket) if socket else None, opened)
        write_private(_note(settings), written({name: getattr(server, name) for name in Server.__slots__}))
        told(server)
        await stopped.wait()
    finally:
        remove(_note(settings))
        await serving.close()


def _note(settings: Settings) -> str:
    return str(settings.home.expanduser().absolute() / "run" / "db.json")


def _socket(settings: Settings) -> Path | None:
    """None where its path would be longer than the system takes: then a port does."""
    path = settings.home.expanduser().absolute() / "run" / "db.sock"
    return path if len(os.fsencode(path)) <= _LONGEST_PATH else None


def _own_password(file: Path) -> str:
    """The one that was made when it was first needed."""
    if not file.exists():
        write_private(str(file), secrets.token_urlsafe(24) + "\n")
    return _read_password(file)


def _read_password(file: Path) -> str:
    try:
        password = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the password file {file} cannot be read: {error}") from None
    if not password:
        raise ConfigError(f"the password file {file} is empty; write a password into it, or remove it")
    return password
