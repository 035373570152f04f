"""Doubts: which memory is handed out where a newer one contradicts an older one and nobody has decided."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from retain.domain.category import HIDDEN, confidence
from retain.domain.digest import titled
from retain.domain.earlier import Earlier, Pair, Sides, follow
from retain.domain.memory import Memory, MemoryId, Stored
from retain.domain.session import Caller
from retain.engine.trust.rivals import surely_standing
from retain.errors import Unavailable
from retain.ports import Store


@dataclass(frozen=True, slots=True)
class Current:
    """What stands for a memory: itself, or what contradicts it; and what was said before that."""

    stored: Stored
    before: Memory | None = None

    def earlier(self, now: datetime) -> Earlier | None:
        old = self.before
        if old is None:
            return None
        said_by = old.metadata.get("said_by")
        return Earlier(titled(old.title, old.text), said_by, old.last_said.timestamp(), now.timestamp())


def current(store: Store, found: Sequence[Stored], caller: Caller, now: datetime) -> dict[MemoryId, Current]:
    """What to show in the place of each memory. Raises Unavailable where the store cannot say."""
    return _Reading(store, caller, now, surely_standing(store, found, caller)).current(found)


def current_if_known(store: Store, found: Sequence[Stored], caller: Caller, now: datetime) -> dict[MemoryId, Current]:
    """The same for an answer that must not be lost for it: the memories themselves where the store cannot say."""
    try:
        return current(store, found, caller, now)
    except Unavailable:
        return {stored.memory.id: Current(stored) for stored in found}


def holds(memory: Memory, now: datetime) -> bool:
    """Whether it may be shown as what is so now."""
    age = (now - memory.updated).total_seconds() / 86_400
    return memory.is_active and memory.is_valid_at(now) and confidence(memory.category, age) >= HIDDEN


class _Reading:
    """The memories with their standings, read as far as contradictions lead."""

    def __init__(self, store: Store, caller: Caller, now: datetime, stood: Sequence[Stored]) -> None:
        self._store, self._caller, self._now = store, caller, now
        self._looked_at: dict[MemoryId, Stored] = {stored.memory.id: stored for stored in stood}
        self._known: dict[MemoryId, Stored] = dict(self._looked_at)

    def current(self, found: Sequence[Stored]) -> dict[MemoryId, Current]:
        ids = [stored.memory.id for stored in found]
        sides = follow(ids, self._look)
        return {id: self._told(sides.newest(id), sides) for id in ids}

    def _told(self, id: MemoryId, sides: Sides) -> Current:
        before = sides.before(id)
        old = self._known[before].memory if before else None
        return Current(self._known[id], old if old and holds(old, self._now) else None)

    def _look(self, ids: list[MemoryId]) -> list[Pair]:
        missing = [id for id in ids if id not in self._looked_at]
        if missing:
            read = list(self._store.memories(missing).values())
            self._looked_at |= {s.memory.id: s for s in surely_standing(self._store, read, self._caller)}
            self._known |= self._looked_at
        return [pair for id in ids if id in self._looked_at for pair in self._pairs(self._looked_at[id])]

    def _pairs(self, stored: Stored) -> Iterator[Pair]:
        """The contradictions of a memory whose newer side may be shown."""
        for rival in stored.standing.rivals if stored.standing else ():
            self._known.setdefault(rival.memory, Stored(rival.whole))
            older, newer = (stored.memory, rival.whole) if rival.is_newer else (rival.whole, stored.memory)
            if holds(newer, self._now):
                yield older.id, newer.id, older.last_said.timestamp(), newer.last_said.timestamp()
