"""Vectors in SQLite, as the index of sign bits reads them."""

import json
import sqlite3
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from retain.domain.memory import Vector
from retain.domain.recall import Filter
from retain.stores.filtered_signs import MemorySigns, is_further
from retain.stores.signs import check_dimensions
from retain.stores.sqlite.filters import tag_keys, where
from retain.stores.sqlite.rows import AMONG, among

if TYPE_CHECKING:
    from retain.stores.signs import Array


def model_number(db: sqlite3.Connection, model: str, vectors: Sequence[Vector]) -> int:
    """The number of a model in the store; it gets one with its first vectors, and keeps their length."""
    db.execute("insert or ignore into model (name, dimensions) values (?, ?)", (model, len(vectors[0]) // 4))
    number, dimensions = db.execute("select num, dimensions from model where name = ?", (model,)).fetchone()
    for vector in vectors:
        check_dimensions(model, dimensions, vector)
    return int(number)


def model_numbers(db: sqlite3.Connection, names: Sequence[str]) -> list[int]:
    """Of those that have made vectors here; a model that has made none yet has no number."""
    return [num for (num,) in db.execute(f"select num from model where name {AMONG} order by num", (among(names),))]


class SqliteSource:
    """Implements `signs.Source` by the queries of a subclass, for the vectors by the models with these numbers."""

    counter: ClassVar[str]
    loading: ClassVar[str]
    """Rows by the models and since a change, as `signs.Source` has them."""
    changing: ClassVar[str]
    numbering: ClassVar[str]
    naming: ClassVar[str]

    def __init__(self, models: Sequence[int]) -> None:
        self._models = among(models)

    def change(self, db: sqlite3.Connection) -> int:
        (change,) = db.execute("select value from counter where name = ?", (self.counter,)).fetchone()
        return int(change)

    def outlived(self, db: sqlite3.Connection, since: int) -> bool:
        return False

    def changed(self, db: sqlite3.Connection, since: int) -> list[int]:
        return [row[0] for row in db.execute(self.changing, (since,))]

    def rows(self, db: sqlite3.Connection, since: int, at_once: int) -> Iterator[list[Any]]:
        return _portions(db.execute(self.loading, (self._models, since)), at_once)

    def numbers(self, db: sqlite3.Connection, vectors: Sequence[int], at_once: int) -> Iterator[list[Any]]:
        return _portions(db.execute(self.numbering, (among(vectors),)), at_once)

    def names(self, db: sqlite3.Connection, items: Sequence[int]) -> dict[int, str]:
        return dict(db.execute(self.naming, (among(items),)))


class MemoryVectors(SqliteSource):
    """Implements `filtered_signs.MemorySource`."""

    counter = "change"
    # A cross join keeps its order: along the index of changes, which holds all that is asked of `memory`.
    loading = """select m.changed, s.num, s.memory, s.bits, m.place, m.kind, m.state, m.importance, m.event_time
        from memory m cross join sign s on s.memory = m.num and s.model in (select value from json_each(?1))
        where m.changed > ?2 order by m.changed"""
    changing = "select num from memory where changed > ?1 union select num from tombstone where changed > ?1"
    numbering = f"select num, numbers from vector where num {AMONG}"
    naming = f"select num, id from memory where num {AMONG}"

    def firsts(self, db: sqlite3.Connection, ids: Sequence[str]) -> list[tuple[str, int, bytes]]:
        return db.execute(
            f"""select m.id, m.event_time, v.numbers from memory m
                join sign s on s.memory = m.num and s.model {AMONG} and s.chunk = 0 join vector v on v.num = s.num
                where m.id {AMONG} order by m.num""",
            (self._models, among(ids)),
        ).fetchall()

    def origins(self, db: sqlite3.Connection, items: Sequence[int]) -> Mapping[int, tuple[str, Container[str]]]:
        made = db.execute(f"select num, id, derived_from from memory where num {AMONG}", (among(items),))
        return {num: (id, () if sources == "[]" else json.loads(sources)) for num, id, sources in made}


class SqliteSigns(MemorySigns[sqlite3.Connection]):
    def _passing(self, db: sqlite3.Connection, wanted: Filter) -> "Array":
        """Tags by themselves: they have an index, and the columns know the rest of what is mostly asked for."""
        further = replace(wanted, tags=())
        passing: Array = self._np.ones(self._used, dtype=bool)
        if wanted.tags:
            passing &= self._is_in(db, f"select memory as num from tag where tag {AMONG}", [among(tag_keys(wanted))])
        if is_further(further):
            conditions, values = where(further)
            passing &= self._is_in(db, f"select m.num from memory m where {conditions}", values)
        return passing

    def _is_in(self, db: sqlite3.Connection, query: str, values: Sequence[Any]) -> "Array":
        # As one JSON array: a hundred thousand rows of one number each take three times as long.
        (found,) = db.execute(f"select json_group_array(num) from ({query})", values).fetchone()
        # In a table of all numbers up to the newest; sorting a million takes ten times as long.
        known: Array = self._np.zeros(self._newest + 1, dtype=bool)
        passing = self._np.array(json.loads(found), dtype=self._np.int64)
        known[passing[passing <= self._newest]] = True
        held: Array = known[self._item[: self._used]]
        return held


def memory_signs(name: str, numbers: Sequence[int], dimensions: int) -> MemorySigns[sqlite3.Connection]:
    return SqliteSigns(MemoryVectors(numbers), name, dimensions)


def _portions(found: sqlite3.Cursor, at_once: int) -> Iterator[list[Any]]:
    while rows := found.fetchmany(at_once):
        yield rows
