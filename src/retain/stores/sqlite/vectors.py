"""Nearest vectors: packed sign bits in memory find candidates, the numbers in the store score them."""

import math
import sqlite3
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from retain.domain.memory import Vector
from retain.domain.recall import MIN_COSINE, Filter, Found
from retain.errors import EmbeddingFailed
from retain.stores.sqlite.rows import AMONG, among, micros

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


def model_number(db: sqlite3.Connection, model: str, vectors: Sequence[Vector]) -> int:
    """The number of a model in the store; it gets one with its first vectors, and keeps their length."""
    db.execute("insert or ignore into model (name, dimensions) values (?, ?)", (model, len(vectors[0]) // 4))
    number, dimensions = db.execute("select num, dimensions from model where name = ?", (model,)).fetchone()
    for vector in vectors:
        check_dimensions(model, dimensions, vector)
    return int(number)


class SignIndex(ABC, Generic[F]):
    """All vectors by one model, as columns of contiguous memory beside what filters look at.

    A copy of the store, never the truth: it is brought up to date by change number before every search.
    What the vectors belong to is an item, a memory or a chunk of code, and every item is in one place.
    """

    rows_at_once = 20_000
    counter: ClassVar[str]
    """Which counter grows with every change of these items."""
    loading: ClassVar[str]
    """Rows of (change, vector, item, bits, place, further columns), in the order of change, since a change."""
    changed: ClassVar[str]
    """Items that were changed or destroyed since a change."""
    numbers: ClassVar[str]
    naming: ClassVar[str]
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

    def __init__(self, name: str, model: int, dimensions: int) -> None:
        import numpy as np

        self._np = np
        self._name, self.model, self._dimensions = name, model, dimensions
        self._lock = threading.Lock()
        self._codes: dict[str, int] = {}
        self._words = -(-dimensions // 64)
        self._clear()

    def search(self, db: sqlite3.Connection, vector: Vector, wanted: F, limit: int) -> Found:
        best, looked_at, hits = self._scored(db, vector, wanted, MIN_COSINE, everything=False)
        top = sorted(best, key=best.__getitem__, reverse=True)[:limit]
        # Where half of the candidates are no hits, there are hardly any beyond them.
        exact = looked_at < EXACT or 2 * hits < looked_at
        return Found(self._named(db, {item: best[item] for item in top}), best.keys(), exact)

    def near(self, db: sqlite3.Connection, vector: Vector, wanted: F, floor: float) -> dict[str, float]:
        """Every item with at least this cosine, of all that pass the filter."""
        best, _, _ = self._scored(db, vector, wanted, floor, everything=True)
        return self._named(db, best)

    def _scored(
        self, db: sqlite3.Connection, vector: Vector, wanted: F, floor: float, *, everything: bool
    ) -> tuple[dict[int, float], int, int]:
        """The cosine of each item's best vector, from `floor` up; how many vectors were looked at, and were hits."""
        check_dimensions(self._name, self._dimensions, vector)
        query = self._np.frombuffer(vector, dtype="<f4")
        with self._lock:
            self._refresh(db)
            allowed = self._allowed(db, wanted)
            rows = self._reaching(query, allowed, floor) if everything else self._candidates(query, allowed)
            vectors, items = self._vector[rows], self._item[rows]
        cosine = self._score(db, query, vectors)
        near = cosine >= floor
        best: dict[int, float] = {}
        for item, score in zip(items[near].tolist(), cosine[near].tolist(), strict=True):
            best[item] = max(score, best.get(item, 0.0))
        return best, len(rows), int(near.sum())

    @abstractmethod
    def _allowed(self, db: sqlite3.Connection, wanted: F) -> "Array":
        """Which rows pass the filter, as a column of truths; never those whose place is gone."""

    def _outlived(self, db: sqlite3.Connection) -> bool:
        """Whether the store no longer knows all that was destroyed since this copy was made."""
        return False

    def _named(self, db: sqlite3.Connection, scores: dict[int, float]) -> dict[str, float]:
        ids = dict(db.execute(self.naming, (among(scores),)))
        return {ids[num]: score for num, score in scores.items() if num in ids}

    def _score(self, db: sqlite3.Connection, query: "Array", vectors: "Array") -> "Array":
        """Cosines from the numbers in the store; a vector that has just gone scores nothing."""
        np = self._np
        cosines: Array = np.zeros(len(vectors), dtype=np.float32)
        for places, matrix in self._stored(db, vectors):
            cosines[places] = matrix.astype(np.float32) @ query
        cosines.clip(max=1.0, out=cosines)  # half precision may overshoot
        return cosines

    def _stored(self, db: sqlite3.Connection, vectors: "Array") -> "Iterator[tuple[list[int], Array]]":
        """The numbers in the store, many at a time, with the place that each row has among the vectors."""
        places = {num: place for place, num in enumerate(vectors.tolist())}
        found = db.execute(self.numbers, (among(places),))
        while rows := found.fetchmany(self.rows_at_once):
            numbers = self._np.frombuffer(b"".join(row[1] for row in rows), dtype="<f2")
            yield [places[row[0]] for row in rows], numbers.reshape(len(rows), -1)

    def _candidates(self, query: "Array", allowed: "Array") -> "Array":
        np = self._np
        rows: Array = np.flatnonzero(allowed)
        keep = max(EXACT, int(CANDIDATE_SHARE * len(rows)))
        if len(rows) <= keep:
            return rows
        whole = len(rows) == self._used
        bits = [column[: self._used] if whole else column[rows] for column in self._bits]
        nearest: Array = rows[np.argpartition(self._distance(query, bits), keep)[:keep]]
        return nearest

    def _reaching(self, query: "Array", allowed: "Array", floor: float) -> "Array":
        """All rows that can have such a cosine at all."""
        rows: Array = self._np.flatnonzero(allowed)
        if len(rows) <= EXACT:
            return rows
        reaching: Array = rows[self._may_reach(query, [column[rows] for column in self._bits], floor)]
        return reaching

    def _may_reach(self, query: "Array", bits: "Sequence[Array]", floor: float, spread: float = SPREAD) -> "Array":
        share = math.acos(min(max(floor, -1.0), 1.0)) / math.pi + spread
        reach: Array = self._distance(query, bits) <= share * self._dimensions
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

    def _refresh(self, db: sqlite3.Connection) -> None:
        (change,) = db.execute("select value from counter where name = ?", (self.counter,)).fetchone()
        if change <= self._change:  # another thread may have seen more than this view of the store shows
            return
        if self._used:
            self._drop([row[0] for row in db.execute(self.changed, (self._change,))])
        if self._dead * 4 > self._used + 4000 or self._outlived(db):
            self._clear()
        self._load(db)
        self._change = change

    def _drop(self, items: list[int]) -> None:
        known = [num for num in items if num <= self._newest]
        if known:
            gone = self._np.isin(self._item[: self._used], known)
            self._dead += int(gone.sum())
            self._place[: self._used][gone] = _GONE

    def _load(self, db: sqlite3.Connection) -> None:
        rows = db.execute(self.loading, (self.model, self._change))
        while batch := rows.fetchmany(self.rows_at_once):
            self._append([row[1:] for row in batch])
            # If the deadline cuts the loading of a large store short, the next search goes on from here.
            self._change = batch[-1][0] - 1

    def _append(self, rows: list[Any]) -> None:
        np = self._np
        vectors, items, bits, places, *further = zip(*rows, strict=True)
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
        return [codes.setdefault(value, len(codes)) for value in values]

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


class MemorySigns(SignIndex[Filter]):
    counter = "change"
    # A cross join keeps its order: along the index of changes, which holds all that is asked of `memory`.
    loading = """select m.changed, s.num, s.memory, s.bits, m.place, m.kind, m.state, m.importance, m.event_time
        from memory m cross join sign s on s.memory = m.num and s.model = ?
        where m.changed > ? order by m.changed"""
    changed = "select num from memory where changed > ?1 union select num from tombstone where changed > ?1"
    numbers = f"select num, numbers from vector where num {AMONG}"
    naming = f"select num, id from memory where num {AMONG}"
    further: ClassVar = {"kind": "i4", "state": "i4", "importance": "f4", "time": "i8"}
    # The first vector of each: those of later chunks are about parts of it.
    _asked = f"""select m.id, m.event_time, v.numbers from memory m
        join sign s on s.memory = m.num and s.model = ? and s.chunk = 0 join vector v on v.num = s.num
        where m.id {AMONG} order by m.num"""
    _made = f"select num, id, derived_from from memory where num {AMONG}"

    def crowding(
        self, db: sqlite3.Connection, ids: Sequence[str], wanted: Filter, floor: float
    ) -> dict[str, list[str]]:
        """For each memory that has vectors, what happened later with at least this cosine and was not made from it."""
        np = self._np
        asked = db.execute(self._asked, (self.model, among(ids))).fetchall()
        if not asked:
            return {}
        numbers = np.frombuffer(b"".join(row[2] for row in asked), dtype="<f2").reshape(len(asked), -1)
        near = self._later(db, numbers.astype(np.float32), np.array([row[1] for row in asked]), wanted, floor)
        made = {num: (id, sources) for num, id, sources in db.execute(self._made, (among(set().union(*near)),))}
        found: dict[str, list[str]] = {}
        for (id, _, _), items in zip(asked, near, strict=True):
            others = [made[num] for num in items if num in made]
            found[id] = [other for other, sources in others if f'"{id}"' not in sources]
        return found

    def _later(
        self, db: sqlite3.Connection, queries: "Array", since: "Array", wanted: Filter, floor: float
    ) -> list[set[int]]:
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
        spread = self._dimensions**-0.5
        reached = []
        for query, start in zip(queries, np.searchsorted(times, since, side="right").tolist(), strict=True):
            later = [column[start:] for column in bits]
            reached.append(start + np.flatnonzero(self._may_reach(query, later, floor, spread)))
        read = np.unique(np.concatenate(reached))
        numbers: Array = np.zeros((len(read), self._dimensions), dtype="<f2")
        for places, matrix in self._stored(db, vectors[read]):
            numbers[places] = matrix
        found = []
        # One by one: a product of two matrices would wake threads that cost more than they save.
        for query, near in zip(queries, reached, strict=True):
            cosine = numbers[np.searchsorted(read, near)].astype(np.float32) @ query
            found.append(set(items[near[cosine >= floor]].tolist()))
        return found

    def _allowed(self, db: sqlite3.Connection, wanted: Filter) -> "Array":
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
        if _is_further(wanted):
            allowed &= self._np.isin(self._item[:used], self._picked(db, wanted))
        return allowed

    def _picked(self, db: sqlite3.Connection, wanted: Filter) -> "Array":
        """Memories that pass the conditions that are not kept in columns."""
        from retain.stores.sqlite.filters import where

        conditions, values = where(wanted)
        rows = db.execute(f"select m.num from memory m where {conditions}", values).fetchall()
        picked: Array = self._np.array([row[0] for row in rows], dtype=self._np.int64)
        return picked


def _is_further(wanted: Filter) -> bool:
    """Whether a filter asks for more than the columns know."""
    named = wanted.tags or wanted.categories or wanted.types or wanted.session
    return bool(named or wanted.valid_at or wanted.stored_by or wanted.min_length)
