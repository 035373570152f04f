"""`retain log`: what hooks and their worker did, and what went wrong."""

import click

from retain.app import SystemClock
from retain.domain.time import iso
from retain.hook_log import Entry, entries
from retain.surfaces.cli import drawn_capture, exits, options
from retain.surfaces.cli.options import Call, common
from retain.surfaces.render import Body

_NONE = "Hooks have logged nothing yet; `retain setup` registers them with Claude Code."


@click.command()
@click.option("--errors", is_flag=True, help="Only what went wrong.")
@click.option("--event", metavar="NAME", help="Only this event, such as Stop; `capture` for what came of it.")
@options.limit(1000, 30)
@common
def log(call: Call, errors: bool, event: str | None, limit: int) -> int | None:
    """Show what hooks did lately, newest last: what was captured, how long each took, what failed."""
    everything = entries(call.loaded.settings.home.expanduser())
    wanted = [one for one in everything if _is_wanted(one, event, errors=errors)][-limit:]
    body = {"entries": [_row(one) for one in wanted], "count": len(wanted)}
    nothing = ["Nothing of that kind was logged." if everything else _NONE]
    call.terminal.tell(body, drawn_capture.logged(wanted, SystemClock().now()) if wanted else nothing)
    return None if wanted else exits.NOTHING


def _is_wanted(entry: Entry, event: str | None, *, errors: bool) -> bool:
    return (event is None or entry.event.lower() == event.lower()) and (not errors or entry.error is not None)


def _row(entry: Entry) -> Body:
    said = {"at": iso(entry.at), "event": entry.event, "ms": entry.ms, "error": entry.error}
    return {name: value for name, value in said.items() if value is not None} | entry.facts
