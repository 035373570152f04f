"""Memories by category, whoever stored them, and how much there is of each."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from retain.domain.category import CAPTURED, HIDDEN, captured_as, confidence
from retain.domain.memory import Memory, Stored
from retain.domain.recall import Filter
from retain.domain.session import Caller
from retain.engine.parts import LASTING, Parts, places

_PAGE = 1000
TOP_TAGS = 10


@dataclass(frozen=True, slots=True)
class Census:
    """How much is remembered here, by category, and how much of it has faded."""

    by_category: dict[str, int]
    faded: int
    tags: tuple[tuple[str, int], ...]
    oldest: datetime | None
    newest: datetime | None

    @property
    def total(self) -> int:
        return sum(self.by_category.values())


def category_of(memory: Memory) -> str:
    return captured_as(memory.category, memory.kind.value)


def confidence_of(memory: Memory, now: datetime) -> float:
    """How far a memory still counts; what nobody gave a category does not fade."""
    return confidence(memory.category, (now - memory.updated).total_seconds() / 86_400)


def categorised(
    parts: Parts, caller: Caller, category: str | None, tags: Sequence[str], limit: int, offset: int = 0
) -> tuple[list[Stored], int]:
    """Active memories of the project and the user, newest first, and how many there are in all."""
    wanted = Filter(places(caller, LASTING), tags=tuple(tags))
    if category is None:
        newest = parts.store.listed(wanted, limit, offset)
        return newest, max(parts.store.total(wanted), offset + len(newest) if newest else 0)
    found = [stored for stored in _all(parts, wanted) if category_of(stored.memory) == category]
    return found[offset : offset + limit], len(found)


def census(parts: Parts, caller: Caller) -> Census:
    now = parts.clock.now()
    counts, tags = Counter(dict.fromkeys(CAPTURED, 0)), Counter[str]()
    faded, times = 0, list[datetime]()
    for stored in _all(parts, Filter(places(caller, LASTING))):
        memory = stored.memory
        counts[category_of(memory)] += 1
        tags.update(memory.tags)
        faded += confidence_of(memory, now) < HIDDEN
        times.append(memory.created)
    span = (min(times), max(times)) if times else (None, None)
    return Census(dict(counts), faded, tuple(tags.most_common(TOP_TAGS)), *span)


def _all(parts: Parts, wanted: Filter) -> Iterator[Stored]:
    offset = 0
    while wanted.places and (found := parts.store.listed(wanted, _PAGE, offset)):
        yield from found
        offset += len(found)
