"""Memories, graphs and runs as lines that a person reads; at home in 80 columns."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from retain.domain.changes import Run
from retain.domain.graph import Direction
from retain.domain.memory import HistoryEntry, Memory, MemoryId, Stored
from retain.domain.recall import Hit, Recalled, Warning
from retain.engine.knowledge.walk import GraphAnswer, Node
from retain.engine.lifecycle.consolidation import Consolidated
from retain.engine.lifecycle.undoing import Undone
from retain.engine.recall import scoring
from retain.engine.remember import Remembered
from retain.surfaces.cli.terminal import Indented, line

Drawn = Iterator[RenderableType]

MOST_CHARS = 400
MOST_EDGES = 8
RIVAL_CHARS = 200
DIM = "bright_black"


def remembered(done: Remembered) -> Drawn:
    what = "reinforced" if done.reinforced else "stored"
    links = done.links_given + done.links_inferred
    linked = f" · {several(links, 'links')}" if links else ""
    yield line((what, "green"), f" {_id(done.memory.id)}", (_where(done.memory) + linked, DIM))
    for rival in done.contradicts:
        yield line(("contradicts ", "yellow"), f"{_id(rival.other(done.memory.id))}: {rival.detail}")
    if done.contradictions_pending:
        yield line(("not compared yet", DIM), (" with what is near it", DIM))
    if done.redacted:
        yield line(("removed before storing: ", "yellow"), ", ".join(dict.fromkeys(done.redacted)))
    yield from warnings(done.warnings)


def recalled(answer: Recalled, now: datetime, *, explain: bool) -> Drawn:
    if not answer.hits:
        yield Text("Nothing is remembered about that here. Fewer filters or other words may find more.")
    for place, hit in enumerate(answer.hits, start=1):
        yield line((f"{place:>2}  ", "bold"), f"{hit.score:.2f}", (f"  {_id(hit.id)}{_facts(hit.stored, now)}", DIM))
        yield Indented(_short(hit.stored.memory.text), 4)
        yield from standing(hit.stored, 4)
    if explain and answer.hits:
        yield ""
        yield from explained(answer.hits)
    if answer.matched > len(answer.hits) > 0:
        yield _dim(f"{answer.matched} matched in all; --limit shows more of them.")
    yield from warnings(answer.warnings)


def explained(hits: Sequence[Hit]) -> Drawn:
    """The terms of each score, a row each; terms that are zero throughout are left out."""
    names = [
        name
        for name in dict.fromkeys(name for hit in hits for name in hit.terms)
        if any(h.terms.get(name) for h in hits)
    ]
    table = _grid("", *(name.removesuffix("_weight") for name in names), "score", number_from=1)
    for place, hit in enumerate(hits, start=1):
        table.add_row(f"{place:>2}", *(f"{hit.terms.get(name, 0):.2f}" for name in names), f"{hit.score:.2f}")
    yield table
    mix = (scoring.RELEVANCE, scoring.IMPORTANCE, scoring.RECENCY)
    yield _dim("score = {} · relevance · scope + {} · importance + {} · recency".format(*mix))


def whole(stored: Stored, now: datetime) -> Drawn:
    """Everything about one memory."""
    memory = stored.memory
    yield line((_id(memory.id), "bold"), (_where(memory), DIM))
    yield Indented(memory.text, 2)
    yield from facts(
        {
            "importance": f"{memory.importance:.2f}",
            "tags": ", ".join(memory.tags),
            "session": memory.session,
            "source": " ".join(str(part) for part in (memory.source.tool, memory.source.file) if part),
            "said by": _said_by(memory),
            "created": age(memory.created, now),
            "updated": age(memory.updated, now) if memory.version > 1 else None,
            "version": memory.version,
            "recalled": several(stored.accesses, "times") if stored.accesses else "never",
            "made from": ", ".join(map(_id, memory.derived_from)),
            "indexed by": stored.model or "keywords only",
            "state": None if memory.is_active else _state(memory),
        }
    )
    yield from standing(stored, 2)


def _state(memory: Memory) -> str:
    """How a memory ended, by what, and why."""
    by = f" by {_id(memory.status.successor)}" if memory.status.successor else ""
    return f"{memory.status.state.value}{by} ({memory.status.reason or 'no reason given'})"


def standing(stored: Stored, by: int, dress: Callable[[MemoryId], str] | None = None) -> Drawn:
    """When a memory holds, and what disputes it, below its text."""
    if stored.standing is None:
        return
    if stored.standing.when:
        yield Indented(line(("holds when: ", "yellow"), stored.standing.when), by)
    for rival in stored.standing.rivals:
        other = f"{(dress or _id)(rival.memory)}: {rival.said(RIVAL_CHARS)}"
        yield Indented(line(("disputed by ", "yellow"), other, (f" ({rival.contradiction.detail})", DIM)), by)


def _said_by(memory: Memory) -> str:
    """On whose word it was captured, and how it was found."""
    said, found = (str(memory.metadata.get(name) or "") for name in ("said_by", "found_by"))
    return (
        f"{said}, found by {'the language model' if found == 'llm' else f'rule ({found})'}" if said and found else said
    )


def memories(found: Iterable[Memory]) -> Drawn:
    for memory in found:
        yield _dim(f"  {_id(memory.id)}{_where(memory)}")
        yield Indented(_short(memory.text), 4)


def moved(verb: str, memory: Memory) -> Drawn:
    """A memory that was forgotten or brought back."""
    why = f" · {memory.status.reason}" if memory.status.reason else ""
    yield line((verb, "green"), f" {_id(memory.id)}", (f"{_where(memory)}{why}", DIM))
    yield Indented(_short(memory.text), 4)
    if not memory.is_active:
        yield _dim(f"Bring it back with: retain forget --restore {_id(memory.id)}")


def destroyed(memory: Memory, holding: Sequence[Path]) -> Drawn:
    yield line(("destroyed", "green"), f" {_id(memory.id)}")
    if holding:
        yield Text("It is still in these backups; delete them too if it must be gone:")
        yield from (Indented(str(file), 4) for file in holding)


def history(entries: Sequence[HistoryEntry], now: datetime) -> Drawn:
    for entry in entries:
        why = f" · {entry.reason}" if entry.reason else ""
        yield line((f"v{entry.version} ", "bold"), entry.event.value, (f" · {age(entry.at, now)}{why}", DIM))
        yield Indented(_short(entry.text), 4)


def runs(them: Sequence[Run], now: datetime) -> Drawn:
    if not them:
        yield Text("No consolidation has been run here yet; `retain consolidate --dry-run` shows what one would do.")
    for run in them:
        state = f" · undone {age(run.undone, now)}" if run.undone else ""
        made = f" · {several(len(run.sources), 'memories')} {f'into {len(run.made)}' if run.made else 'replaced'}"
        yield line((run.id, "bold"), (f" · {run.strategy} · {age(run.at, now)}", DIM), made, (state, DIM))


def graph(answer: GraphAnswer, entity: str | None) -> Drawn:
    if not answer.nodes:
        near = f"; close to it: {', '.join(answer.close_names)}" if answer.close_names else ""
        yield line(f"The graph knows no {entity}{near}." if entity else "The graph is empty.")
        return
    for node in answer.nodes:
        yield from _node(node)
    if answer.memories:
        yield ""
        for stored in answer.memories:
            yield from memories([stored.memory])
            yield from standing(stored, 4)
    seen = answer.seen
    yield _dim(
        f"{several(seen.entities_traversed, 'entities')}, {several(seen.relationships_found, 'relationships')} seen"
    )


def _node(node: Node) -> Drawn:
    count = f" · {several(node.memories, 'memories')}" if node.memories else ""
    yield line((node.entity.name, "bold cyan"), (f" ({node.entity.type}){count}", DIM))
    for edge in node.edges[:MOST_EDGES]:
        arrow = "→" if edge.direction is Direction.OUTGOING else "←"
        yield line(f"    {arrow} ", (edge.type, DIM), f" {edge.other}")
    if len(node.edges) > MOST_EDGES:
        yield _dim(f"    … and {len(node.edges) - MOST_EDGES} more")


def consolidated(done: Consolidated, *, dry_run: bool) -> Drawn:
    made = len(done.memories) + len(done.patterns)
    if not made:
        yield Text(f"Looked at {several(done.analysed, 'memories')}: nothing new to sum up.")
    else:
        yield Text(f"Looked at {several(done.analysed, 'memories')}, {'would write' if dry_run else 'wrote'} {made}:")
    for memory in done.memories:
        yield _dim(f"  from {several(len(memory.derived_from), 'memories')}")
        yield Indented(_short(memory.text), 4)
    for pattern in done.patterns:
        yield _dim(f"  a pattern, seen {several(pattern.frequency, 'times')}")
        yield Indented(_short(pattern.pattern), 4)
    if done.run:
        yield _dim(f"Undo it with: retain undo {done.run}")
    yield from warnings(done.warnings)


def undone(done: Undone, holding: Sequence[Path] = ()) -> Drawn:
    told = (
        f" · {several(len(done.forgotten), 'summaries')} forgotten, {several(len(done.sources), 'memories')} as before"
    )
    yield line(("undone ", "green"), done.run.id, (told, DIM))
    if done.destroyed:
        lost = f"{several(len(done.destroyed), 'memories')} of this run had been destroyed since and cannot come back"
        copies = ", ".join(map(str, holding))
        where = f"; copies that may hold them: {copies} (`retain restore FILE`)" if copies else "; no copy holds them"
        yield line(("note: ", "yellow"), lost + where)


def warnings(them: Sequence[Warning]) -> Drawn:
    for warning in them:
        yield line(("note: ", "yellow"), warning.message)


def facts(them: Mapping[str, object]) -> Drawn:
    """Names and values in two columns; what has no value is left out."""
    said = {name: str(value) for name, value in them.items() if value not in (None, "")}
    width = max(map(len, said)) + 4
    for name, value in said.items():
        yield Indented(value, width, lead=_dim(f"  {name}"))


def several(count: int, what: str) -> str:
    return (
        f"{count:,} {what}"
        if count != 1
        else f"1 {what.removesuffix('ies') + 'y' if what.endswith('ies') else what[:-1]}"
    )


def _grid(*headers: str, number_from: int) -> Table:
    table = Table(box=None, header_style=DIM, padding=(0, 2, 0, 0), pad_edge=False)
    for place, header in enumerate(headers):
        table.add_column(header, justify="right" if place >= number_from else "left", no_wrap=True)
    return table


def _facts(stored: Stored, now: datetime) -> str:
    memory = stored.memory
    tags = f" · {' '.join('#' + tag for tag in memory.tags)}" if memory.tags else ""
    state = "" if memory.is_active else f" · {memory.status.state.value}"
    return f"{_where(memory)} · {age(memory.event_time, now)}{tags}{state}"


def _where(memory: Memory) -> str:
    return f" · {memory.kind.value}, {memory.scope.value}"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= MOST_CHARS else flat[:MOST_CHARS].rsplit(" ", 1)[0] + " …"


def age(moment: datetime, now: datetime) -> str:
    seconds = (now - moment).total_seconds()
    for size, unit in ((86_400 * 365, "year"), (86_400 * 30, "month"), (86_400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "now" if seconds > -60 else f"{moment:%Y-%m-%d}"


def _id(id: MemoryId) -> str:
    return f"memory:{id}"


def _dim(text: str) -> Text:
    return line((text, DIM))
