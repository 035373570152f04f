"""The `retain` command: what it offers, what it says alone, and how every command ends."""

import logging
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn, TextIO

import click

from retain.errors import RetainError, shorten
from retain.surfaces.cli import exits
from retain.surfaces.cli.serve import serve
from retain.surfaces.cli.terminal import Terminal
from retain.version import __version__

logger = logging.getLogger(__name__)

CODES = "\n".join(f"  {code:>3}  {meaning}" for code, meaning in exits.MEANINGS.items())


# Each command by the module that has it, in which it has its own name or, where that is taken, one with a stroke.
# They are imported when they are asked for: all of them take half a second.
MODULES = {
    "asking": ("search", "ask", "list"),
    "code": ("index", "projects", "code", "map"),
    "copy": ("copy",),
    "db": ("db",),
    "demo": ("demo",),
    "disputes": ("contradictions",),
    "editing": ("edit",),
    "finding": ("recall", "show", "context", "graph", "history"),
    "forgetting": ("forget",),
    "init": ("init",),
    "keys": ("key",),
    "log": ("log",),
    "pausing": ("pause", "resume"),
    "projects": ("project",),
    "review": ("review",),
    "rpc": ("rpc",),
    "sessions": ("session",),
    "setup": ("setup", "teardown"),
    "sleep": ("sleep",),
    "trust": ("trust",),
    "upkeep": ("status", "config", "doctor", "reembed", "backup", "restore"),
    "why": ("why",),
    "writing": ("remember", "consolidate", "undo"),
}
_MODULE_OF = {name: module for module, names in MODULES.items() for name in names}


class Commands(click.Group):
    """Turns whatever a command raises into one line and an exit code; nobody is shown a stack trace."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*self.commands, *_MODULE_OF])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _MODULE_OF:
            return super().get_command(ctx, cmd_name)
        module = import_module(f"retain.surfaces.cli.{_MODULE_OF[cmd_name]}")
        command: click.Command = getattr(module, f"{cmd_name}_", None) or getattr(module, cmd_name)
        return command

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
        from retain.surfaces.cli import alone

        alone.tell(Terminal(as_json=as_json))


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


@click.command("statusline", context_settings={"ignore_unknown_options": True}, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def _statusline(arguments: Sequence[str]) -> None:
    """Print one line for the status line of Claude Code; `retain setup --statusline` registers it."""
    from retain.surfaces.hooks.statusline import main

    main(["statusline", *arguments])


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - open until the process ends


def _explained(error: Exception) -> RetainError:
    if isinstance(error, RetainError):
        return error
    if isinstance(error, click.ClickException):
        where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "retain"
        said = error.format_message()
        return exits.UsageError(f"{said}{'' if said.endswith(('.', '?')) else '.'} `{where} --help` says more")
    logger.debug("unforeseen", exc_info=error)
    return RetainError(f"a fault in Retain ({type(error).__name__}: {shorten(str(error), 200)}); please report it")


for _command in (_serve, _hook, _statusline):
    cli.add_command(_command)
