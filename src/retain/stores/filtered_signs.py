"""Which memories and chunks of code a search by sign bits may find, and what crowds a memory."""

from abc import abstractmethod
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

from retain.domain.code import CodeFilter
from retain.domain.recall import Filter
from retain.stores.moments import micros
from retain.stores.signs import SignIndex, Source

if TYPE_CHECKING:
    from retain.stores.signs import Array

D = TypeVar("D")
D_contra = TypeVar("D_contra", contravariant=True)


class MemorySource(Source[D_contra], Protocol[D_contra]):
    """Memories: the further columns are kind, state, importance, and when it happened in microseconds."""

    def firsts(self, db: D_contra, ids: Sequence[str]) -> Sequence[tuple[str, int, bytes]]:
        """Of memories that have vectors: when each happened, and the numbers of its first one.

        Those of later chunks are about parts of it.
        """
        ...

    def origins(self, db: D_contra, items: Sequence[int]) -> Mapping[int, tuple[str, Container[str]]]:
        """The id of each, and the ids of what it was made from."""
        ...


class MemorySigns(SignIndex[D, Filter]):
    further: ClassVar = {"kind": "i4", "state": "i4", "importance": "f4", "time": "i8"}

    def __init__(self, source: MemorySource[D], model: str, dimensions: int) -> None:
        super().__init__(source, model, dimensions)
        self._memories = source

    def crowding(self, db: D, ids: Sequence[str], wanted: Filter, floor: float) -> dict[str, list[str]]:
        """For each memory that has vectors, what happened later with at least this cosine and was not made from it."""
        np = self._np
        asked = self._memories.firsts(db, ids)
        if not asked:
            return {}
        numbers = np.frombuffer(b"".join(row[2] for row in asked), dtype="<f2").reshape(len(asked), -1)
        near = self._later(db, numbers.astype(np.float32), np.array([row[1] for row in asked]), wanted, floor)
        made = self._memories.origins(db, list(set().union(*near)))
        found: dict[str, list[str]] = {}
        for (id, _, _), items in zip(asked, near, strict=True):
            others = [made[num] for num in items if num in made]
            found[id] = [other for other, sources in others if id not in sources]
        return found

    def _later(self, db: D, queries: "Array", since: "Array", wanted: Filter, floor: float) -> list[set[int]]:
        """For each query, the items near it that happened after a moment; the numbers of all are read at once."""
        np = self._np
        with self._lock:
            self._refresh(db)
            rows = np.flatnonzero(self._allowed(db, wanted))
            rows = rows[np.argsort(self._column["time"][rows], kind="stable")]
            vectors, items, times = self._vector[rows], self._item[rows], self._column["time"][rows]
            bits = [column[rows] for column in self._bits]
        # Two standard deviations, for one more or less hardly matters: of 7,700 real pairs with a cosine of 0.6 or more
        # one in a thousand is missed (beside the hits of a recall, 6 of 281), and a sixteenth as many have to be read.
        spread = self.dimensions**-0.5
        reached = []
        for query, start in zip(queries, np.searchsorted(times, since, side="right").tolist(), strict=True):
            later = [column[start:] for column in bits]
            reached.append(start + np.flatnonzero(self._may_reach(query, later, floor, spread)))
        read = np.unique(np.concatenate(reached))
        numbers: Array = np.zeros((len(read), self.dimensions), dtype="<f2")
        for places, matrix in self._stored(db, vectors[read]):
            numbers[places] = matrix
        found = []
        # One by one: a product of two matrices would wake threads that cost more than they save.
        for query, near in zip(queries, reached, strict=True):
            cosine = numbers[np.searchsorted(read, near)].astype(np.float32) @ query
            found.append(set(items[near[cosine >= floor]].tolist()))
        return found

    def _allowed(self, db: D, wanted: Filter) -> "Array":
        used, column = self._used, self._column
        allowed: Array = self._among(self._place, wanted.place_keys)
        if wanted.states:
            allowed &= self._among(column["state"], wanted.states)
        if wanted.kinds:
            allowed &= self._among(column["kind"], wanted.kinds)
        if wanted.min_importance > 0:
            allowed &= column["importance"][:used] >= wanted.min_importance
        if wanted.after:
            allowed &= column["time"][:used] >= micros(wanted.after)
        if wanted.before:
            allowed &= column["time"][:used] <= micros(wanted.before)
        if is_further(wanted):
            allowed &= self._passing(db, wanted)
        return allowed

    @abstractmethod
    def _passing(self, db: D, wanted: Filter) -> "Array":
        """Which rows pass a filter that asks for more than these columns know; as far as these do, they are asked."""


class CodeSigns(SignIndex[D, CodeFilter]):
    """Of chunks of code; the place of one is the index that it is in."""

    further: ClassVar = {"language": "i4"}

    def _allowed(self, db: D, wanted: CodeFilter) -> "Array":
        allowed = self._among(self._place, wanted.indexes)
        if wanted.languages:
            allowed &= self._among(self._column["language"], wanted.languages)
        return allowed


_ANYTHING = Filter((), states=())


def is_further(wanted: Filter) -> bool:
    """Whether a filter asks for more than the columns of every store know."""
    known = replace(wanted, places=(), states=(), kinds=(), min_importance=0.0, after=None, before=None)
    return known != _ANYTHING
