"""The summary of a project: what CLAUDE.md says of it between our markers.

That file is shared through version control and read as if its owner had written it. So what is known of the user
everywhere stays out of it, and so does what only a program's output said, and what reads like an order that the user
did not give; what the agent or an import said is labelled.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from retain.domain.digest import Row, as_markdown, selection, titled
from retain.domain.memory import Memory, MemoryId, Scope, Stored
from retain.domain.recall import Filter
from retain.domain.session import Caller
from retain.engine.capture.orders import reads_like_an_order
from retain.engine.describing import is_description
from retain.engine.parts import Parts, places
from retain.engine.trust.order import current_if_known

TITLE = "Memory"  # where there is no project
WITHHELD = ("tool",)
FEW_WORDS = 2
LOOKED_INTO = 1000  # characters of a memory that are read for orders; far fewer are shown
_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Digest:
    """A summary, the memories that stand in it, how many more it only counts, and how many it keeps quiet about.

    Hidden is what has faded, what a summary speaks for, what a newer memory contradicts, what only a program's output
    said, and orders of others.
    """

    markdown: str
    memories: tuple[MemoryId, ...] = ()
    more: int = 0
    hidden: int = 0


def digest(parts: Parts, caller: Caller, lines: int, tools: Sequence[str] = ()) -> Digest:
    """What is known of the project; outside of any, what is known of the user. `tools` find the rest."""
    now = parts.clock.now()
    known = list(_active(parts, caller, now))
    fit = [stored for stored in known if not stored.memory.consolidated and _said_by(stored.memory) not in WITHHELD]
    chosen = _chosen(parts, caller, fit, lines, now)
    shown = tuple(row.id for them, _ in chosen.values() for row in them)
    more = sum(count for _, count in chosen.values())
    named = next((s.memory for s in known if is_description(s.memory) and not _gives_orders(s.memory)), None)
    title = (named and named.title) or (caller.project.slug if caller.project else TITLE)
    return Digest(as_markdown(chosen, title, tools), shown, more, len(known) - len(shown) - more)


def row_of(stored: Stored) -> Row:
    memory = stored.memory
    return Row(
        memory.id,
        titled(memory.title, memory.text),
        kind=memory.kind.value,
        category=memory.category,
        scope=memory.scope.value,
        importance=memory.importance,
        updated=memory.updated.timestamp(),
        accesses=stored.accesses,
        said_by=_said_by(memory),
        said=memory.last_said.timestamp(),
    )


def _chosen(
    parts: Parts, caller: Caller, known: list[Stored], lines: int, now: datetime
) -> dict[str, tuple[list[Row], int]]:
    """What there is room for. Only what would be shown is looked into: to read a memory for orders takes its time."""
    rows = {stored.memory.id: row_of(stored) for stored in known}
    stored = {stored.memory.id: stored for stored in known}
    looked_into: set[MemoryId] = set()
    while True:
        chosen = selection(rows.values(), lines, now.timestamp())
        new = {row.id for them, _ in chosen.values() for row in them} - looked_into
        stands = current_if_known(parts.store, [stored[id] for id in new], caller, now)
        for id in new:
            old = stands[id].before
            rows[id].earlier = stands[id].earlier(now) if old and old.id in stored and not _gives_orders(old) else None
        gone = [id for id in new if stands[id].stored.memory.id != id or _gives_orders(stored[id].memory)]
        if not gone:
            return chosen
        looked_into |= new
        for id in gone:
            del rows[id]


def _gives_orders(memory: Memory) -> bool:
    """Whether it wants something done that the user did not ask for."""
    # A title of a word or two names a thing, though it could be an order: "Store", "Release notes".
    title = memory.title if memory.title and len(memory.title.split()) > FEW_WORDS else ""
    told = (memory.text[:LOOKED_INTO], title)
    return _said_by(memory) != "user" and any(map(reads_like_an_order, told))


def _said_by(memory: Memory) -> str | None:
    said_by = memory.metadata.get("said_by")
    return said_by if isinstance(said_by, str) else None


def _active(parts: Parts, caller: Caller, now: datetime) -> Iterator[Stored]:
    where = places(caller, (Scope.PROJECT if caller.project else Scope.USER,))
    wanted, offset = Filter(where, valid_at=now), 0
    while found := parts.store.listed(wanted, _PAGE, offset):
        yield from found
        offset += len(found)
