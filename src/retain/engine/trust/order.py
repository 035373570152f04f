"""The order of memories that cannot all be true: which of them is handed out first, or in the place of another.

`domain.order` has the rule; here it is put to what a store knows of contradictions and successors.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from retain.domain.category import HIDDEN, confidence
from retain.domain.digest import titled
from retain.domain.earlier import Earlier
from retain.domain.memory import Memory, MemoryId, State, Stored
from retain.domain.order import Order, Pair, follow
from retain.domain.recall import Filter
from retain.domain.session import Caller
from retain.domain.standing import side
from retain.engine.parts import Parts, places
from retain.engine.trust.rivals import surely_standing
from retain.errors import Unavailable
from retain.ports import Store


@dataclass(frozen=True, slots=True)
class Current:
    """What stands for a memory: itself, or what leads it; and what was said before that."""

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


@dataclass(frozen=True, slots=True)
class Placed:
    """A memory and its score among those that it leads or that lead it."""

    stored: Stored
    score: float
    led: MemoryId | None = None
    """Of what was found the best that it leads, where it came along with that."""

    @property
    def id(self) -> MemoryId:
        return self.stored.memory.id


def newest_first(
    parts: Parts, found: Mapping[MemoryId, tuple[Stored, float]], wanted: Filter, caller: Caller
) -> dict[MemoryId, Placed]:
    """Memories with their scores, by which what holds now stands above what it contradicts or took the place of.

    What leads one of them comes along although it was not found, if it passes the filter. The memories must have been
    read with their standings.
    """
    reading = _Reading(parts.store, caller, parts.clock.now(), [stored for stored, _ in found.values()])
    return reading.placed({id: score for id, (_, score) in found.items()}, wanted)


def listed_newest_first(parts: Parts, found: Sequence[Stored], wanted: Filter, caller: Caller) -> list[Stored]:
    """The same for memories that have no scores, and otherwise keep their order."""
    scores = {stored.memory.id: (stored, 1 / place) for place, stored in enumerate(found, start=1)}
    placed = newest_first(parts, scores, wanted, caller)
    return [each.stored for each in sorted(placed.values(), key=lambda each: -each.score)]


class _Reading:
    """Memories with their standings, read as far as contradictions and successors lead."""

    def __init__(self, store: Store, caller: Caller, now: datetime, stood: Sequence[Stored]) -> None:
        self._store, self._caller, self._now = store, caller, now
        self._looked_at: dict[MemoryId, Stored] = {stored.memory.id: stored for stored in stood}
        self._known: dict[MemoryId, Stored] = dict(self._looked_at)
        self._seen = {place.key for place in places(caller)}

    def current(self, found: Sequence[Stored]) -> dict[MemoryId, Current]:
        ids = [stored.memory.id for stored in found]
        order = follow(ids, self._look_at_what_holds)
        return {id: self._told(order.newest(id), order) for id in ids}

    def placed(self, scores: Mapping[MemoryId, float], wanted: Filter) -> dict[MemoryId, Placed]:
        order = self._order(scores)
        along = {newest for id in scores if (newest := order.newest(id)) not in scores}
        along = {id for id in along if holds(self._known[id].memory, self._now)}
        along = self._passing(along, wanted)
        led = {id: max((one for one in scores if id in order.above(one)), key=scores.__getitem__) for id in along}
        placed = order.placed(scores, along)
        return {id: Placed(self._known[id], score, led.get(id)) for id, score in placed.items()}

    def _order(self, ids: Collection[MemoryId]) -> Order:
        """As far as the store can tell in time: an answer must not be lost for the order of two."""
        try:
            return follow(ids, self._look)
        except Unavailable:
            return Order()

    def _passing(self, along: Collection[MemoryId], wanted: Filter) -> set[MemoryId]:
        """Those that the filter lets through; none, for the same reason, where the store cannot tell."""
        try:
            return {context.memory for context in self._store.contexts(sorted(along), wanted, 0)} if along else set()
        except Unavailable:
            return set()

    def _told(self, id: MemoryId, order: Order) -> Current:
        before = order.before(id)
        old = self._known[before].memory if before else None
        return Current(self._known[id], old if old and holds(old, self._now) else None)

    def _look_at_what_holds(self, ids: list[MemoryId]) -> list[Pair]:
        return [pair for pair in self._look(ids) if holds(self._known[pair.leading.id].memory, self._now)]

    def _look(self, ids: list[MemoryId]) -> list[Pair]:
        missing = [id for id in ids if id not in self._looked_at]
        if missing:
            read = list(self._store.memories(missing).values())
            self._looked_at |= {s.memory.id: s for s in surely_standing(self._store, read, self._caller)}
            self._known |= self._looked_at
        found = [self._looked_at[id] for id in ids if id in self._looked_at]
        self._read_successors(found)
        return [pair for stored in found for pair in self._pairs(stored)]

    def _read_successors(self, found: Sequence[Stored]) -> None:
        named = {s.memory.status.successor for s in found if s.memory.status.state is State.SUPERSEDED}
        missing = [id for id in named if id and id not in self._known]
        self._known |= self._store.memories(missing) if missing else {}

    def _pairs(self, stored: Stored) -> Iterator[Pair]:
        """What leads a memory, or is led by it, as far as it may be shown."""
        memory = stored.memory
        for rival in stored.standing.rivals if stored.standing else ():
            self._known.setdefault(rival.memory, Stored(rival.whole))
            # A rival is active; what sleeps or was forgotten is no later word on what holds.
            if memory.is_active or rival.leads(memory):
                yield rival.beside(memory)
        successor = self._known.get(memory.status.successor or "")
        if memory.status.state is State.SUPERSEDED and successor and self._is_in_sight(successor.memory, memory):
            yield Pair(side(memory), side(successor.memory))

    def _is_in_sight(self, successor: Memory, memory: Memory) -> bool:
        return successor.place.key in {memory.place.key, *self._seen}
