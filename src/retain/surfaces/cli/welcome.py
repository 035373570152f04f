"""What `retain` alone says: where one stands, and what to do next."""

from rich.text import Text

from retain.engine.status import Report
from retain.surfaces.cli import connect
from retain.surfaces.cli.draw import DIM, Drawn, several
from retain.surfaces.cli.terminal import Verbatim, line
from retain.version import __version__

_FIRST = {
    "retain demo": "see it work, on a memory of its own",
    "retain setup": "tell Claude Code and other clients about it",
    'retain remember "We deploy on Mondays"': "store something",
    'retain recall "when do we ship?"': "find it by what it means",
}
_NEXT = {
    "retain recall QUESTION": "find something",
    "retain context TASK": "what an agent would be told",
    "retain graph": "what is connected with what",
    "retain status": "how much there is, and where",
    "retain doctor": "is everything in order?",
}


def empty() -> Drawn:
    yield line((f"Retain {__version__}", "bold"), ": nothing is remembered yet.")
    yield ""
    yield from _commands(_FIRST)
    yield ""
    yield Text("Claude Code by hand, without hooks:")
    yield Verbatim(connect.for_claude_code(), "cyan")
    yield Text("Any other client, in its .mcp.json:")
    yield Verbatim(connect.for_any_client(), "cyan")


def at_work(report: Report) -> Drawn:
    counts = report.counts
    size = f"{report.size / 1e6:.1f} MB"
    yield line((f"Retain {__version__}", "bold"), f": {several(counts.total, 'memories')}, {size}")
    yield ""
    yield from _commands(_NEXT)
    yield ""
    yield Text("All commands: retain --help. Claude Code by hand, without hooks:")
    yield Verbatim(connect.for_claude_code(), "cyan")


def _commands(them: dict[str, str]) -> Drawn:
    width = max(map(len, them))
    for command, purpose in them.items():
        yield line((f"  {command:<{width}}  ", "cyan"), (purpose, DIM))
