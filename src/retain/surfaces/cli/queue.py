"""`retain db queue`: writes of this machine that the database has not got."""

from collections.abc import Iterator
from contextlib import closing

import click

from retain.config import Settings
from retain.domain.changes import Changes
from retain.domain.time import iso
from retain.errors import Refused, shorten
from retain.surfaces.cli.draw import Drawn, several
from retain.surfaces.cli.options import Call, common
from retain.surfaces.cli.terminal import Indented, line
from retain.surfaces.render import Body
from retain.wiring import make_queue, queues_elsewhere

_NONE_HERE = "nothing is ever queued here: the database is in this process (deployment_mode says so)"
_SHOWN = 100  # characters of what a write says


@click.command()
@click.option("--retry", type=click.IntRange(1), metavar="N", help="Send one again that was refused.")
@click.option("--drop", type=click.IntRange(1), metavar="N", help="Give one up: what it says is destroyed here.")
@click.option("--adopt", is_flag=True, help="Send to this database what waits for others, whose address has changed.")
@common
def queue(call: Call, retry: int | None, drop: int | None, adopt: bool) -> None:
    """List writes that wait for a database that is away, and those that it refused.

    Each is sent once, in this order, as soon as the database answers.
    """
    settings = call.loaded.settings
    if not settings.is_on_server:
        raise Refused(_NONE_HERE + "".join(f"; waiting for {of}: {writes}" for of, writes in _elsewhere(settings)))
    with closing(make_queue(settings)) as waiting, queues_elsewhere(settings) as others:
        if drop is not None:
            waiting.drop(drop)
        if retry is not None:
            waiting.retry(retry)
        for other in others if adopt else ():
            waiting.adopt(other)
    if adopt or retry is not None:
        with call.memory() as app:
            app.change_number()  # whoever asks the database for something sends first what waits
    with closing(make_queue(settings)) as waiting:
        rows = [_row(entry.number, entry.changes, entry.why) for entry in waiting.entries()]
    elsewhere = _elsewhere(settings)
    body = {"queue": rows, "elsewhere": [{"of": of, "writes": writes} for of, writes in elsewhere]}
    call.terminal.tell(body, [*_drawn(rows), *_drawn_elsewhere(elsewhere)])


def _elsewhere(settings: Settings) -> list[tuple[str, int]]:
    """What writes wait for, other than the database of the settings, and how many."""
    with queues_elsewhere(settings) as queues:
        return [(queue.of, len(queue.entries())) for queue in queues]


def _row(number: int, changes: Changes, why: str | None) -> Body:
    return {
        "number": number,
        "at": iso(changes.at),
        "state": "refused" if why else "waiting",
        **({"reason": why} if why else {}),
        "writes": list(_said(changes)),
    }


def _said(changes: Changes) -> Iterator[str]:
    """What a plan is about, in words that whoever made it knows again."""
    for memory in changes.memories:
        state = "" if memory.is_active else f" ({memory.status.state})"
        version = "new" if memory.version == 1 else f"version {memory.version}"
        yield f"{version}{state}: {shorten(memory.text, _SHOWN)}"
    for id in changes.purged:
        yield f"destroys {id}"
    for name in (*(profile.name for profile in changes.profiles), *(work.title for work in changes.works)):
        yield f"project or session {shorten(name)}"
    if not (changes.memories or changes.purged or changes.profiles or changes.works):
        yield "vectors, sessions or other records"


def _drawn(rows: list[Body]) -> Drawn:
    yield line((several(len(rows), "writes"), "bold"), " in the queue" if rows else ": the database has all of them")
    for row in rows:
        yield line((f"{row['number']:>5}  ", "bold"), f"{row['at']}  {row['state']}")
        for said in row["writes"] if isinstance(row["writes"], list) else ():
            yield Indented(said, 7)
        if row.get("reason"):
            yield Indented(f"→ {row['reason']}", 7)


def _drawn_elsewhere(them: list[tuple[str, int]]) -> Drawn:
    for of, writes in them:
        yield line((several(writes, "writes"), "yellow"), f" for {of}; --adopt sends them to this database")
