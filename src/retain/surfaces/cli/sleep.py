"""`retain sleep`: consolidates, puts to sleep what has faded, prunes, and says what came of it."""

from collections.abc import Sequence
from dataclasses import replace

import click
from rich.text import Text

from retain.domain.memory import Memory
from retain.engine.trust.principles import Principles
from retain.engine.trust.sleeping import Slept
from retain.surfaces import capture_reports, claude_md, render
from retain.surfaces.cli import draw, drawn_capture
from retain.surfaces.cli.draw import DIM, Drawn, several
from retain.surfaces.cli.options import Call, common
from retain.surfaces.cli.terminal import Indented, line
from retain.surfaces.render import Body, memory_id

MOST_SHOWN = 10  # of what goes to sleep; --json has all


@click.command()
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
@common
def sleep(call: Call, dry_run: bool) -> None:
    """Sleep on what is remembered here: merge what overlaps, generalise, let fade, prune.

    What several events show becomes a principle. What nobody has said, used or changed for long goes to sleep: it is
    not shown unasked, and recall puts it behind what is awake. What was used in its sleep wakes again, as does what is
    said again or brought back with `retain forget --restore`. What was put aside more than two weeks ago leaves all
    lists, and 30 days later it is destroyed. The capture worker does the same once a day.
    """
    with call.memory() as app:
        slept = app.engine.trust.sleep(app.caller(), dry_run=dry_run)
        if not dry_run:
            claude_md.sync_project(app)
    call.terminal.tell(body(slept), drawn(slept))


def body(slept: Slept) -> Body:
    principles = slept.principles
    return {
        "dry_run": slept.dry_run,
        "run_id": principles.run,
        "episodes_evaluated": principles.evaluated,
        "clusters_found": principles.clusters,
        "principles": [_principle(memory) for memory in principles.made],
        "extended": [_principle(memory) for memory in principles.extended],
        "worded_by": principles.by,
        "by_type": capture_reports.merged(slept.merged),
        "dormant": [_asleep(memory) for memory in slept.dormant],
        "woken": [_asleep(memory) for memory in slept.woken],
        **capture_reports.pruned(slept.pruned),
        "undo": list(slept.undo),
        "warnings": render.warnings(*slept.warnings),
    }


def drawn(slept: Slept) -> Drawn:
    yield from _principles(slept.principles, dry_run=slept.dry_run)
    yield from drawn_capture.merged(replace(slept.merged, run=None, warnings=()))  # told below, for all
    yield from _dormant(slept.dormant, dry_run=slept.dry_run)
    if slept.woken:
        yield Text(
            f"{several(len(slept.woken), 'memories')} {'would wake' if slept.dry_run else 'woke'}, having been used."
        )
    if slept.dry_run:
        yield from drawn_capture.pruned(slept.pruned, dry_run=True)
    for run in slept.undo:
        yield line((f"Undo it with: retain undo {run}", DIM))
    yield from draw.warnings(slept.warnings)


def _principle(memory: Memory) -> Body:
    derived = [memory_id(id) for id in memory.derived_from]
    said = {"memory_id": memory_id(memory.id), "content": memory.text, "type": memory.kind.value}
    return said | {"derived_from": derived, "importance": memory.importance}


def _asleep(memory: Memory) -> Body:
    return {"memory_id": memory_id(memory.id), "content": memory.text, "type": memory.kind.value}


def _principles(done: Principles, *, dry_run: bool) -> Drawn:
    looked = f"Looked at {several(done.evaluated, 'events')}"
    if not (done.made or done.extended):
        yield Text(f"{looked}: no new principle.")
        return
    would = "would be " if dry_run else ""
    yield Text(f"{looked} in {several(done.clusters, 'groups')}:")
    for what, memories in ((f"{would}new", done.made), (f"{would}confirmed", done.extended)):
        for memory in memories:
            rests = several(len(memory.derived_from), "memories")
            yield line((f"  {what}, {memory.kind.value}, rests on {rests}", DIM))
            yield Indented(memory.text, 4)


def _dormant(memories: Sequence[Memory], *, dry_run: bool) -> Drawn:
    if not memories:
        yield Text("Nothing has faded so far that it goes to sleep.")
        return
    yield Text(f"{several(len(memories), 'memories')} {'would go' if dry_run else 'went'} to sleep:")
    yield from draw.memories(memories[:MOST_SHOWN])
    if len(memories) > MOST_SHOWN:
        yield line((f"  and {len(memories) - MOST_SHOWN} more; --json lists all", DIM))
