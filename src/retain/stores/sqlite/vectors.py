"""Nearest vectors: packed sign bits in memory find candidates, the numbers in the store score them."""

import sqlite3
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from retain.domain.memory import MemoryId, Vector
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


class SignIndex:
    """All vectors by one model, as columns of contiguous memory beside what filters look at.

    A copy of the store, never the truth: it is brought up to date by change number before every search.
    """

    rows_at_once = 20_000
    _change: int
    _used: int
    _dead: int
    _newest: int
    _vector: "Array"
    _memory: "Array"
    _place: "Array"
    _kind: "Array"
    _state: "Array"
    _importance: "Array"
    _time: "Array"
    _bits: "list[Array]"

    def __init__(self, name: str, model: int, dimensions: int) -> None:
        import numpy as np

        self._np = np
        self._name, self.model, self._dimensions = name, model, dimensions
        self._lock = threading.Lock()
        self._codes: dict[str, int] = {}
        self._words = -(-dimensions // 64)
        self._clear()

    def search(self, db: sqlite3.Connection, vector: Vector, wanted: Filter, limit: int) -> Found:
        check_dimensions(self._name, self._dimensions, vector)
        query = self._np.frombuffer(vector, dtype="<f4")
        with self._lock:
            self._refresh(db)
            rows = self._candidates(query, self._allowed(db, wanted))
            vectors, memories = self._vector[rows], self._memory[rows]
        cosine = self._score(db, query, vectors)
        near = cosine >= MIN_COSINE
        best: dict[int, float] = {}
        for memory, score in zip(memories[near].tolist(), cosine[near].tolist(), strict=True):
            best[memory] = max(score, best.get(memory, 0.0))
        top = sorted(best, key=best.__getitem__, reverse=True)[:limit]
        # Where half of the candidates are no hits, there are hardly any beyond them.
        exact = len(rows) < EXACT or 2 * int(near.sum()) < len(rows)
        return Found(self._named(db, {memory: best[memory] for memory in top}), best.keys(), exact)

    def _named(self, db: sqlite3.Connection, scores: dict[int, float]) -> dict[MemoryId, float]:
        ids = dict(db.execute(f"select num, id from memory where num {AMONG}", (among(scores),)))
        return {ids[num]: score for num, score in scores.items() if num in ids}

    def _score(self, db: sqlite3.Connection, query: "Array", vectors: "Array") -> "Array":
        """Cosines from the numbers in the store; a vector that has just gone scores nothing."""
        np = self._np
        cosines: Array = np.zeros(len(vectors), dtype=np.float32)
        places = {num: place for place, num in enumerate(vectors.tolist())}
        found = db.execute(f"select num, numbers from vector where num {AMONG}", (among(places),))
        while rows := found.fetchmany(self.rows_at_once):
            matrix = np.frombuffer(b"".join(row[1] for row in rows), dtype="<f2").reshape(len(rows), -1)
            cosines[[places[row[0]] for row in rows]] = matrix.astype(np.float32) @ query
        cosines.clip(max=1.0, out=cosines)  # half precision may overshoot
        return cosines

    def _candidates(self, query: "Array", allowed: "Array") -> "Array":
        np = self._np
        rows: Array = np.flatnonzero(allowed)
        keep = max(EXACT, int(CANDIDATE_SHARE * len(rows)))
        if len(rows) <= keep:
            return rows
        signs = np.packbits(query > 0)
        words = np.frombuffer(signs.tobytes().ljust(self._words * 8, b"\0"), dtype=np.uint64)
        distance = np.zeros(len(rows), dtype=np.uint16)
        whole = len(rows) == self._used
        for column, word in zip(self._bits, words, strict=True):
            bits = column[: self._used] if whole else column[rows]
            distance += np.bitwise_count(bits ^ word)
        nearest: Array = rows[np.argpartition(distance, keep)[:keep]]
        return nearest

    def _allowed(self, db: sqlite3.Connection, wanted: Filter) -> "Array":
        np = self._np
        used = self._used
        allowed = self._among(self._place, wanted.place_keys)
        allowed &= self._among(self._state, wanted.states) if wanted.states else self._place[:used] >= 0
        if wanted.kinds:
            allowed &= self._among(self._kind, wanted.kinds)
        if wanted.min_importance > 0:
            allowed &= self._importance[:used] >= wanted.min_importance
        if wanted.after:
            allowed &= self._time[:used] >= micros(wanted.after)
        if wanted.before:
            allowed &= self._time[:used] <= micros(wanted.before)
        if wanted.tags or wanted.session or wanted.valid_at:
            allowed &= np.isin(self._memory[:used], self._picked(db, wanted))
        return allowed

    def _picked(self, db: sqlite3.Connection, wanted: Filter) -> "Array":
        """Memories that pass the conditions that are not kept in columns."""
        from retain.stores.sqlite.filters import where

        conditions, values = where(wanted)
        rows = db.execute(f"select m.num from memory m where {conditions}", values).fetchall()
        return self._np.array([row[0] for row in rows], dtype=self._np.int64)

    def _among(self, column: "Array", values: Sequence[str]) -> "Array":
        used = column[: self._used]
        allowed = self._np.zeros(self._used, dtype=bool)
        for value in values:
            allowed |= used == self._codes.get(value, -2)
        return allowed

    def _refresh(self, db: sqlite3.Connection) -> None:
        (change,) = db.execute("select value from counter where name = 'change'").fetchone()
        if change <= self._change:  # another thread may have seen more than this view of the store shows
            return
        if self._used:
            self._drop(self._changed(db, self._change))
        if self._dead * 4 > self._used + 4000:
            self._clear()
        self._load(db)
        self._change = change

    def _changed(self, db: sqlite3.Connection, since: int) -> list[int]:
        query = "select num from memory where changed > ? union select num from tombstone where changed > ?"
        return [row[0] for row in db.execute(query, (since, since))]

    def _drop(self, memories: list[int]) -> None:
        known = [num for num in memories if num <= self._newest]
        if known:
            gone = self._np.isin(self._memory[: self._used], known)
            self._dead += int(gone.sum())
            self._place[: self._used][gone] = -1

    def _load(self, db: sqlite3.Connection) -> None:
        # A cross join keeps its order: along the index of changes, which holds all that is asked of `memory`.
        rows = db.execute(
            """select m.changed, s.num, s.memory, s.bits, m.place, m.kind, m.state, m.importance, m.event_time
               from memory m cross join sign s on s.memory = m.num and s.model = ?
               where m.changed > ? order by m.changed""",
            (self.model, self._change),
        )
        while batch := rows.fetchmany(self.rows_at_once):
            self._append([row[1:] for row in batch])
            # If the deadline cuts the loading of a large store short, the next search goes on from here.
            self._change = batch[-1][0] - 1

    def _append(self, rows: list[Any]) -> None:
        np = self._np
        vectors, memories, bits, places, kinds, states, importances, times = zip(*rows, strict=True)
        start, end = self._used, self._used + len(rows)
        self._grow(end)
        code = self._code
        self._vector[start:end] = vectors
        self._memory[start:end] = memories
        self._place[start:end] = [code(place) for place in places]
        self._kind[start:end] = [code(kind) for kind in kinds]
        self._state[start:end] = [code(state) for state in states]
        self._importance[start:end] = importances
        self._time[start:end] = times
        words = np.frombuffer(b"".join(bits), dtype=np.uint64).reshape(len(rows), self._words)
        for column, part in zip(self._bits, words.T, strict=True):
            column[start:end] = part
        self._used = end
        self._newest = max(self._newest, *memories)

    def _code(self, value: str) -> int:
        return self._codes.setdefault(value, len(self._codes))

    def _grow(self, needed: int) -> None:
        if needed <= len(self._vector):
            return
        size = max(needed, len(self._vector) * 3 // 2, 1024)
        resize = self._np.resize
        for name in ("_vector", "_memory", "_place", "_kind", "_state", "_importance", "_time"):
            setattr(self, name, resize(getattr(self, name), size))
        self._bits = [resize(column, size) for column in self._bits]

    def _clear(self) -> None:
        np = self._np
        self._used = self._dead = self._newest = 0
        self._change = -1
        self._vector = np.zeros(0, dtype=np.int64)
        self._memory = np.zeros(0, dtype=np.int64)
        self._place = np.zeros(0, dtype=np.int32)
        self._kind = np.zeros(0, dtype=np.int32)
        self._state = np.zeros(0, dtype=np.int32)
        self._importance = np.zeros(0, dtype=np.float32)
        self._time = np.zeros(0, dtype=np.int64)
        self._bits = [np.zeros(0, dtype=np.uint64) for _ in range(self._words)]
