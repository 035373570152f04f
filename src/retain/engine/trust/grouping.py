"""Which episodes belong together: those that are near, and those that are near to one of these."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from retain.domain.memory import Memory, MemoryId, Vector
from retain.engine.lifecycle.clusters import Cluster, by_words, closeness, vectors_of
from retain.engine.lifecycle.contradictions import plainly
from retain.ports import Store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

_ROWS = 512  # compared with all others at a time: 10 MB for 5,000 episodes
_ROUNDING = 1e-6
# Members of a large group that are compared one by one, the newest: some 80 µs a pair.
_COMPARED = 20


@dataclass(frozen=True, slots=True)
class Doubt:
    """Two memories that cannot both be true; `recorded` when that is a contradiction which somebody can decide."""

    older: Memory
    newer: Memory
    recorded: bool


def grouped(store: Store, episodes: Sequence[Memory], model: str, threshold: float, smallest: int) -> list[Cluster]:
    """Groups of episodes by meaning, and by shared words where nobody has vectors; the most important first,
    then the largest."""
    vectors = vectors_of(store, [memory.id for memory in episodes], model)
    known = [memory for memory in episodes if memory.id in vectors] if vectors else list(episodes)
    if vectors:
        groups = linked([vectors[memory.id] for memory in known], threshold, smallest)
    else:
        groups = by_words([memory.text for memory in known], smallest=smallest)
    found = [_cluster([known[place] for place in group], vectors) for group in groups]
    return sorted(found, key=lambda cluster: cluster.weight, reverse=True)


def linked(vectors: Sequence[Vector], threshold: float, smallest: int) -> list[list[int]]:
    """Groups of indexes in which each has a neighbour with at least this cosine, in order of first member."""
    import numpy as np

    if len(vectors) < smallest:
        return []
    rows = _rows(vectors)
    joined = _Joined(len(vectors))
    for start in range(0, len(rows), _ROWS):
        near = rows[start : start + _ROWS] @ rows.T >= threshold - _ROUNDING
        for row, other in np.argwhere(np.triu(near, k=start + 1)).tolist():
            joined.join(start + row, other)
    return [group for group in joined.groups() if len(group) >= smallest]


def disputed(store: Store, cluster: Cluster) -> Doubt | None:
    """Two members that cannot both be true, as somebody found earlier, or as their texts say. About a pair that was
    decided there is no doubt any more."""
    members = {memory.id: memory for memory in cluster.members}
    known = [each for each in store.contradictions(list(members)) if {each.older, each.newer} <= members.keys()]
    for each in known:
        if each.is_open:
            return Doubt(members[each.older], members[each.newer], recorded=True)
    decided = {frozenset((each.older, each.newer)) for each in known}
    newest = cluster.members[-_COMPARED:]
    for older, newer in combinations(newest, 2):
        if frozenset((older.id, newer.id)) in decided:
            continue
        if plainly(older.text, newer.text):
            return Doubt(older, newer, recorded=False)
    return None


def cosine(one: Vector, other: Vector) -> float:
    first, second = _rows([one, other])
    return float(first @ second)


class _Joined:
    """Sets that grow together: which of the indexes are linked, directly or through others."""

    def __init__(self, size: int) -> None:
        self._above = list(range(size))

    def join(self, one: int, other: int) -> None:
        first, second = sorted((self._top(one), self._top(other)))
        self._above[second] = first

    def groups(self) -> list[list[int]]:
        found: defaultdict[int, list[int]] = defaultdict(list)
        for index in range(len(self._above)):
            found[self._top(index)].append(index)
        return list(found.values())

    def _top(self, index: int) -> int:
        while self._above[index] != index:
            self._above[index] = self._above[self._above[index]]
            index = self._above[index]
        return index


def _rows(vectors: Sequence[Vector]) -> "Matrix":
    import numpy as np

    return np.frombuffer(b"".join(vectors), dtype="<f4").reshape(len(vectors), -1)


def _cluster(members: Sequence[Memory], vectors: dict[MemoryId, Vector]) -> Cluster:
    ordered = sorted(members, key=lambda memory: (memory.event_time, memory.created, memory.id))
    return Cluster(tuple(ordered), tuple(closeness([vectors[m.id] for m in ordered])) if vectors else ())
