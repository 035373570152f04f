"""Nearest vectors: packed sign bits in memory find candidates, the numbers in the store score them."""

import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from retain.domain.memory import Vector
from retain.domain.recall import MIN_COSINE, Found
from retain.errors import EmbeddingFailed

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

# Sets up to this size are scored exactly. Measured on real embeddings (benchmarks/latency.py): with this many
# candidates, or this share of a larger set, recall@10 against exact search is at least 0.99.
EXACT = 250
CANDIDATE_SHARE = 0.004
# Two vectors with an angle between them differ in about that share of their signs, of half a turn. Of 400 real
# vectors beside 6,000 others, none with a cosine of 0.25 to 0.8 differed in this much more.
SPREAD = 0.10
_GONE = -1
_UNKNOWN = -2
D = TypeVar("D")
D_contra = TypeVar("D_contra", contravariant=True)
F = TypeVar("F")


def pack(vector: Vector) -> tuple[bytes, bytes]:
    """A vector as it is stored: its sign bits, filled up to whole 64-bit words, and half-precision numbers."""
    import numpy as np

    numbers = np.frombuffer(vector, dtype="<f4")
    bits = np.packbits(numbers > 0)
    return bits.tobytes().ljust(-(-len(bits) // 8) * 8, b"\0"), numbers.astype("<f2").tobytes()


def unpack(numbers: bytes) -> Vector:
    import numpy as np

    return Vector(np.frombuffer(numbers, dtype="<f2").astype("<f4").tobytes())


def check_dimensions(model: str, dimensions: int, vector: Vector) -> None:
    if len(vector) != dimensions * 4:
        raise EmbeddingFailed(
            f"vectors by {model} have {dimensions} numbers here, and this one has {len(vector) // 4}: it is another "
            "model under the same name. Name it differently, or run `retain reembed`"
        )


class Source(Protocol[D_contra]):
    """The store as the index reads it: items with their vectors by one model, all in numbers.

    `db` is the store as one search sees it, and goes through the index untouched.
    """

    def change(self, db: D_contra) -> int:
        """Grows with every change of these items."""
        ...

    def outlived(self, db: D_contra, since: int) -> bool:
        """Whether the store no longer knows all that was destroyed since a change."""
        ...

    def changed(self, db: D_contra, since: int) -> Sequence[int]:
        """Items that were changed or destroyed since a change."""
        ...

    def rows(self, db: D_contra, since: int, at_once: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Rows of (change, vector, item, bits, place, further columns), in the order of change, since a change."""
        ...

    def numbers(self, db: D_contra, vectors: Sequence[int], at_once: int) -> Iterator[Sequence[tuple[int, bytes]]]:
        """Vectors that are there, each with its numbers in half precision."""
        ...

    def names(self, db: D_contra, items: Sequence[int]) -> Mapping[int, str]:
        """The ids of items that are there."""
        ...


class SignIndex(ABC, Generic[D, F]):
    """All vectors by one model, as columns of contiguous memory beside what filters look at.

    A copy of the store, never the truth: it is brought up to date by change number before every search.
    What the vectors belong to is an item, a memory or a chunk of code, and every item is in one place.
    """

    rows_at_once = 20_000
    further: ClassVar[Mapping[str, str]]
    """What else a filter looks at, with the type of its column: `i4` is for texts, which are kept as numbers."""

    _change: int
    _used: int
    _dead: int
    _newest: int
    _vector: "Array"
    _item: "Array"
    _place: "Array"
    _column: "dict[str, Array]"
    _bits: "list[Array]"

    def __init__(self, source: Source[D], model: str, dimensions: int) -> None:
        import numpy as np

        self._np = np
        self._store, self._model, self.dimensions = source, model, dimensions
        self._lock = threading.Lock()
        self._codes: dict[str, int] = {}
        self._words = -(-dimensions // 64)
        self.is_loaded = False
        self._clear()

    def search(self, db: D, vector: Vector, wanted: F, limit: int) -> Found:
        best, looked_at, hits = self._scored(db, vector, wanted, MIN_COSINE, everything=False)
        top = sorted(best, key=best.__getitem__, reverse=True)[:limit]
        # Where half of the candidates are no hits, there are hardly any beyond them.
        exact = looked_at < EXACT or 2 * hits < looked_at
        return Found(self._named(db, {item: best[item] for item in top}), best.keys(), exact)

    def near(self, db: D, vector: Vector, wanted: F, floor: float) -> dict[str, float]:
        """Every item with at least this cosine, of all that pass the filter."""
        best, _, _ = self._scored(db, vector, wanted, floor, everything=True)
        return self._named(db, best)

    def load(self, db: D) -> None:
        """Brings the copy up to date, as every search does first."""
        with self._lock:
            self._refresh(db)

    def _scored(
        self, db: D, vector: Vector, wanted: F, floor: float, *, everything: bool
    ) -> tuple[dict[int, float], int, int]:
        """The cosine of each item's best vector, from `floor` up; how many vectors were looked at, and were hits."""
        check_dimensions(self._model, self.dimensions, vector)
        query = self._np.frombuffer(vector, dtype="<f4")
        with self._lock:
            self._refresh(db)
            rows = self._reaching(db, query, wanted, floor) if everything else self._candidates(db, query, wanted)
            vectors, items = self._vector[rows], self._item[rows]
        cosine = self._score(db, query, vectors)
        near = cosine >= floor
        best: dict[int, float] = {}
        for item, score in zip(items[near].tolist(), cosine[near].tolist(), strict=True):
            best[item] = max(score, best.get(item, 0.0))
        return best, len(rows), int(near.sum())

    @abstractmethod
    def _allowed(self, db: D, wanted: F) -> "Array":
        """Which rows pass the filter, as a column of truths; never those whose place is gone."""

    def _named(self, db: D, scores: dict[int, float]) -> dict[str, float]:
        ids = self._store.names(db, list(scores))
        return {ids[num]: score for num, score in scores.items() if num in ids}

    def _score(self, db: D, query: "Array", vectors: "Array") -> "Array":
        """Cosines from the numbers in the store; a vector that has just gone scores nothing."""
        np = self._np
        cosines: Array = np.zeros(len(vectors), dtype=np.float32)
        for places, matrix in self._stored(db, vectors):
            cosines[places] = matrix.astype(np.float32) @ query
        cosines.clip(max=1.0, out=cosines)  # half precision may overshoot
        return cosines

    def _stored(self, db: D, vectors: "Array") -> "Iterator[tuple[list[int], Array]]":
        """The numbers in the store, many at a time, with the place that each row has among the vectors."""
        places = {num: place for place, num in enumerate(vectors.tolist())}
        for rows in self._store.numbers(db, list(places), self.rows_at_once):
            numbers = self._np.frombuffer(b"".join(row[1] for row in rows), dtype="<f2")
            if rows:  # all of them may have gone at this moment
                yield [places[row[0]] for row in rows], numbers.reshape(len(rows), -1)

    def _candidates(self, db: D, query: "Array", wanted: F) -> "Array":
        np = self._np
        rows: Array = np.flatnonzero(self._allowed(db, wanted))
        keep = max(EXACT, int(CANDIDATE_SHARE * len(rows)))
        if len(rows) <= keep:
            return rows
        whole = len(rows) == self._used
        bits = [column[: self._used] if whole else column[rows] for column in self._bits]
        nearest: Array = rows[np.argpartition(self._distance(query, bits), keep)[:keep]]
        return nearest

    def _reaching(self, db: D, query: "Array", wanted: F, floor: float) -> "Array":
        """All rows that can have such a cosine at all."""
        rows: Array = self._np.flatnonzero(self._allowed(db, wanted))
        if len(rows) <= EXACT:
            return rows
        reaching: Array = rows[self._may_reach(query, [column[rows] for column in self._bits], floor)]
        return reaching

    def _may_reach(self, query: "Array", bits: "Sequence[Array]", floor: float, spread: float = SPREAD) -> "Array":
        share = math.acos(min(max(floor, -1.0), 1.0)) / math.pi + spread
        reach: Array = self._distance(query, bits) <= share * self.dimensions
        return reach

    def _distance(self, query: "Array", bits: "Sequence[Array]") -> "Array":
        """In how many signs each row differs."""
        np = self._np
        signs = np.packbits(query > 0)
        words = np.frombuffer(signs.tobytes().ljust(self._words * 8, b"\0"), dtype=np.uint64)
        distance: Array = np.zeros(len(bits[0]), dtype=np.uint16)
        for column, word in zip(bits, words, strict=True):
            distance += np.bitwise_count(column ^ word)
        return distance

    def _among(self, column: "Array", values: Sequence[str]) -> "Array":
        used = column[: self._used]
        allowed = self._np.zeros(self._used, dtype=bool)
        for value in values:
            allowed |= used == self._codes.get(value, _UNKNOWN)
        return allowed

    def _refresh(self, db: D) -> None:
        change = self._store.change(db)
        if change <= self._change:  # another thread may have seen more than this view of the store shows
            return
        if self._used:
            self._drop(self._store.changed(db, self._change))
        if self._dead * 4 > self._used + 4000 or self._store.outlived(db, self._change):
            self._clear()
        self._load(db)
        self._change = change
        self.is_loaded = True

    def _drop(self, items: Sequence[int]) -> None:
        known = [num for num in items if num <= self._newest]
        if known:
            gone = self._np.isin(self._item[: self._used], known)
            self._dead += int(gone.sum())
            self._place[: self._used][gone] = _GONE

    def _load(self, db: D) -> None:
        for batch in self._store.rows(db, self._change, self.rows_at_once):
            self._append(batch)
            # If the deadline cuts the loading of a large store short, the next search goes on from here.
            self._change = batch[-1][0] - 1

    def _append(self, rows: Sequence[Sequence[Any]]) -> None:
        np = self._np
        _, vectors, items, bits, places, *further = zip(*rows, strict=True)
        start, end = self._used, self._used + len(rows)
        self._grow(end)
        self._vector[start:end] = vectors
        self._item[start:end] = items
        self._place[start:end] = self._coded(places)
        for (name, type), values in zip(self.further.items(), further, strict=True):
            self._column[name][start:end] = self._coded(values) if type == "i4" else values
        words = np.frombuffer(b"".join(bits), dtype=np.uint64).reshape(len(rows), self._words)
        for column, part in zip(self._bits, words.T, strict=True):
            column[start:end] = part
        self._used = end
        self._newest = max(self._newest, *items)

    def _coded(self, values: Sequence[str]) -> list[int]:
        codes = self._codes
        for value in dict.fromkeys(values):
            codes.setdefault(value, len(codes))
        return [codes[value] for value in values]

    def _grow(self, needed: int) -> None:
        if needed <= len(self._vector):
            return
        size = max(needed, len(self._vector) * 3 // 2, 1024)
        resize = self._np.resize
        self._vector, self._item, self._place = (resize(c, size) for c in (self._vector, self._item, self._place))
        self._column = {name: resize(column, size) for name, column in self._column.items()}
        self._bits = [resize(column, size) for column in self._bits]

    def _clear(self) -> None:
        np = self._np
        self._used = self._dead = self._newest = 0
        self._change = -1
        self._vector = np.zeros(0, dtype=np.int64)
        self._item = np.zeros(0, dtype=np.int64)
        self._place = np.zeros(0, dtype=np.int32)
        self._column = {name: np.zeros(0, dtype=type) for name, type in self.further.items()}
        self._bits = [np.zeros(0, dtype=np.uint64) for _ in range(self._words)]
