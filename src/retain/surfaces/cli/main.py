"""The `retain` command: what it offers, what it says alone, and how every command ends."""

import logging
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn, TextIO

import click

from retain.errors import RetainError, shorten
from retain.surfaces import reports
from retain.surfaces.cli import asking, code, connect, exits, finding, upkeep, welcome, writing
from retain.surfaces.cli.copy import copy
from retain.surfaces.cli.db import db
from retain.surfaces.cli.demo import demo
from retain.surfaces.cli.disputes import contradictions
from retain.surfaces.cli.init import init
from retain.surfaces.cli.keys import key
from retain.surfaces.cli.log import log
from retain.surfaces.cli.options import Call
from retain.surfaces.cli.projects import project
from retain.surfaces.cli.rpc import rpc
from retain.surfaces.cli.serve import serve
from retain.surfaces.cli.sessions import session
from retain.surfaces.cli.setup import setup, teardown
from retain.surfaces.cli.sleep import sleep
from retain.surfaces.cli.terminal import Terminal
from retain.surfaces.cli.why import why
from retain.version import __version__

logger = logging.getLogger(__name__)

CODES = "\n".join(f"  {code:>3}  {meaning}" for code, meaning in exits.MEANINGS.items())


class Commands(click.Group):
    """Turns whatever a command raises into one line and an exit code; nobody is shown a stack trace."""

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> NoReturn:  # Any: as click has it
        given = list(sys.argv[1:] if args is None else args)
        # Python has no stream where whoever started it closed one (`>&-`); what is written there goes nowhere.
        sys.stdout, sys.stderr = sys.stdout or _nowhere(), sys.stderr or _nowhere()
        for stream in (sys.stdout, sys.stderr):
            # A terminal that cannot show a letter shows its number.
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a TextIOWrapper, here
        terminal = Terminal(as_json="--json" in given)
        try:
            code = super().main(given, *rest, **{**extra, "standalone_mode": False}) or exits.DONE
        except (click.Abort, KeyboardInterrupt):
            code = exits.INTERRUPTED
        except Exception as error:  # noqa: BLE001 - the last line of defence: a trace helps nobody at a prompt
            failure = _explained(error)
            terminal.fail(failure)
            code = exits.code_of(failure)
        sys.exit(code)

    def invoke(self, ctx: click.Context) -> Any:  # Any: as click has it
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader has left, as `head` does; what is still to be written goes nowhere, quietly.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return exits.BROKEN_PIPE
        return result


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=f"\b\nExit codes:\n{CODES}",
)
@click.version_option(__version__, message="retain %(version)s")
@click.option("--json", "as_json", is_flag=True, help="One line of JSON, and nothing else on standard output.")
@click.pass_context
def cli(context: click.Context, as_json: bool) -> None:
    """A memory that lasts, for coding agents.

    Alone, it says what to do next.
    """
    if context.invoked_subcommand is None:
        _alone(Call.of(Terminal(as_json=as_json)))


@click.command("serve", context_settings={"ignore_unknown_options": True}, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def _serve(arguments: Sequence[str]) -> None:
    """Serve the memory over MCP, for a client to start."""
    serve(arguments)


@click.command("hook", context_settings={"ignore_unknown_options": True}, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def _hook(arguments: Sequence[str]) -> None:
    """Answer a hook of Claude Code; `retain setup` registers it."""
    from retain.surfaces.hooks.runner import main

    main(arguments)


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - open until the process ends


def _alone(call: Call) -> None:
    settings = call.loaded.settings
    if not settings.is_on_server and not settings.database_file.exists():
        body = {"memories": 0, "connect": connect.for_claude_code(), "mcp_servers": connect.servers()}
        call.terminal.tell(body, welcome.empty())
        return
    with call.memory() as app:
        call.terminal.tell(reports.status(app), welcome.at_work(app.engine.status(app.caller())))


def _explained(error: Exception) -> RetainError:
    if isinstance(error, RetainError):
        return error
    if isinstance(error, click.ClickException):
        where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "retain"
        said = error.format_message()
        return exits.UsageError(f"{said}{'' if said.endswith(('.', '?')) else '.'} `{where} --help` says more")
    logger.debug("unforeseen", exc_info=error)
    return RetainError(f"a fault in Retain ({type(error).__name__}: {shorten(str(error), 200)}); please report it")


for _command in (
    _serve,
    rpc,
    _hook,
    setup,
    init,
    teardown,
    demo,
    writing.remember,
    finding.recall,
    asking.search,
    asking.ask,
    asking.list_,
    finding.show,
    writing.forget,
    finding.context,
    finding.graph,
    finding.history,
    contradictions,
    why,
    log,
    key,
    project,
    session,
    code.index,
    code.projects,
    code.code,
    code.map_,
    writing.consolidate,
    sleep,
    writing.undo,
    upkeep.status,
    upkeep.config,
    upkeep.doctor,
    upkeep.reembed,
    upkeep.backup,
    upkeep.restore,
    copy,
    db,
):
    cli.add_command(_command)
