"""What sleeps, in recall: whoever asks finds it, behind what is awake and without taking its places."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeVar

from retain.domain.memory import MemoryId, State
from retain.domain.recall import Filter, Found, Hit
from retain.engine.recall.scoring import lowered
from retain.engine.trust.order import Placed

T = TypeVar("T", Hit, Placed)


@dataclass(frozen=True, slots=True)
class Crowd:
    """What sleeps among the first `most` of each lane, of which `limit` are to be shown in the end."""

    asleep: frozenset[MemoryId]
    most: int
    limit: int

    def fills(self, lane: Found) -> bool:
        """Whether it has left fewer places than are to be shown: what is awake may stand behind it, not found."""
        first = list(islice(lane.scores, self.most))
        return len(first) == self.most and sum(id not in self.asleep for id in first) < self.limit


def without_sleeping(wanted: Filter) -> Filter:
    return replace(wanted, states=tuple(state for state in wanted.states if state is not State.DORMANT))


def below_the_awake(found: Sequence[T]) -> list[T]:
    """Best first, with the scores that what sleeps has in the end."""
    placed = [replace(each, score=lowered(each.score, asleep=_sleeps(each))) for each in found]
    return sorted(placed, key=lambda each: -each.score)


def _sleeps(found: Hit | Placed) -> bool:
    return found.stored.memory.status.state is State.DORMANT
