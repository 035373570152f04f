"""Vectors in SurrealDB, as the index of sign bits reads them."""

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from retain.domain.category import kinds_standing_for
from retain.domain.graph import fold
from retain.domain.model import alike
from retain.domain.recall import Filter
from retain.errors import QueryTimeout
from retain.stores.filtered_signs import CodeSigns, MemorySigns
from retain.stores.moments import micros
from retain.stores.signs import SignIndex
from retain.stores.surreal.link.cbor import records
from retain.stores.surreal.link.database import Database
from retain.stores.surreal.vectors.columns import Columns
from retain.stores.surreal.vectors.numbers import item_of, table_of, vector_numbers
from retain.stores.surreal.vectors.pages import COLUMNS, ROWS, Pages, Stretch, read

if TYPE_CHECKING:
    from retain.stores.signs import Array

# A portion takes the engine 130 ms, and in this process nothing else runs meanwhile.
AT_ONCE = 5000
# Items whose numbers a process keeps: 17 MB with vectors of 384 numbers.
MOST_KEPT = 20_000
# Up to so many changes a process catches up with by reading what has changed, without looking for pages.
FEW_CHANGES = 500
_NOWHERE = -1  # no place has this code


@dataclass(slots=True)
class Sight:
    """The database as one search sees it, with the names of what it has come across."""

    db: Database
    change: int
    dimensions: int
    forgotten: int = 0
    """The change up to which destroyed items are no longer known."""
    documents: int = 0
    filled: int | None = None
    """The change up to which the index in the database has the vectors; None while there is none."""
    patience: float = 0.0
    """How many seconds reading the sign bits may take; as long as any query when 0."""
    names: dict[int, str] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)

    def check_deadline(self) -> None:
        if time.monotonic() - self.began > (self.patience or self.db.query_seconds):
            raise QueryTimeout("reading the vectors took longer than query_timeout; the next search goes on from there")


class Kept:
    """Numbers that a process has read, for as long as their items stay as they are.

    Reading them takes four fifths of a search: 13 µs each in this process, and more over a socket.
    """

    def __init__(self) -> None:
        self._numbers: dict[int, dict[int, tuple[str, bytes]]] = {}
        self._since = -1
        self._lock = threading.Lock()

    def of(self, vectors: Iterable[int]) -> dict[int, tuple[str, bytes]]:
        """The item's id and the numbers of each vector that is known."""
        known = self._numbers
        found = ((vector, known.get(item_of(vector), {}).get(vector)) for vector in vectors)
        return {vector: numbers for vector, numbers in found if numbers}

    def add(self, change: int, read: Mapping[int, tuple[str, bytes]]) -> None:
        """What was read by a search that saw this change; it may be old news to one that has seen a later one."""
        with self._lock:
            if change < self._since:
                return
            for vector, numbers in read.items():
                self._numbers.setdefault(item_of(vector), {})[vector] = numbers
            for oldest in list(itertools.islice(self._numbers, max(len(self._numbers) - MOST_KEPT, 0))):
                del self._numbers[oldest]

    def drop(self, change: int, items: Iterable[int]) -> None:
        with self._lock:
            self._since = max(change, self._since)
            for item in items:
                self._numbers.pop(item, None)

    def clear(self, change: int) -> None:
        self.drop(change, list(self._numbers))


class SurrealSource:
    """Implements `signs.Source` for one table of items. It has an index `<items>_changed` on `changed`.

    A search reads in several steps, and others may write in between. What they have written is read
    again by the next search; vectors keep their ids, so that none is scored by numbers that it had before.
    """

    items: ClassVar[str]
    columns: ClassVar[str]
    """The place and what else the index keeps of an item."""
    gone: ClassVar[str]
    """Numbers of destroyed items, with a `WHERE` to follow."""
    vectors: ClassVar[str]
    owner: ClassVar[str]
    """The field of a vector with the id of its item."""

    def __init__(self, model: str) -> None:
        self._models = alike(model)
        self._kept = Kept()

    def change(self, db: Sight) -> int:
        return db.change

    def outlived(self, db: Sight, since: int) -> bool:
        return since < db.forgotten

    def changed(self, db: Sight, since: int) -> list[int]:
        there, gone = db.db.run(
            f"SELECT VALUE num FROM {self.items} WITH INDEX {self.items}_changed WHERE changed > $since; "
            f"{self.gone} WHERE changed > $since",
            since=since,
        )
        changed = [*there, *gone]
        self._kept.drop(db.change, changed)
        return changed

    def rows(self, db: Sight, since: int, at_once: int) -> Iterator[list[tuple[Any, ...]]]:
        """What one change has touched is never split: the next portion begins with a change."""
        if since < 0:
            self._kept.clear(db.change)
        while True:
            db.check_deadline()
            portion = self._loaded(db, f"changed > $since ORDER BY changed LIMIT {at_once}", since)
            if len(portion) < at_once:
                if portion:
                    yield _by_vector(portion)
                return
            last = portion[-1][0]
            if portion[0][0] == last:
                yield _by_vector(self._loaded(db, "changed = $since", last))
                since = last
            else:
                yield _by_vector([row for row in portion if row[0] < last])
                since = last - 1

    def numbers(self, db: Sight, vectors: Sequence[int], at_once: int) -> Iterator[list[tuple[int, bytes]]]:
        query = f"SELECT VALUE [id, {self.owner}, numbers] FROM $vectors"
        for start in range(0, len(vectors), at_once):
            portion = vectors[start : start + at_once]
            known = self._kept.of(portion)
            if unknown := [vector for vector in portion if vector not in known]:
                rows = db.db.rows(query, vectors=records(self.vectors, unknown))
                read = {vector: (owner, numbers) for vector, owner, numbers in rows}
                self._kept.add(db.change, read)
                known |= read
            db.names.update((item_of(vector), owner) for vector, (owner, _) in known.items())
            yield [(vector, numbers) for vector, (_, numbers) in known.items()]

    def names(self, db: Sight, items: Sequence[int]) -> dict[int, str]:
        """They came with the numbers: a search names only what it has scored."""
        return {num: db.names[num] for num in items if num in db.names}

    def _loaded(self, db: Sight, condition: str, since: int) -> list[Any]:
        # Along the index of changes; left to itself the engine reads all vectors by the model, and sorts them.
        return db.db.rows(
            f"SELECT VALUE [changed, num, signs, {self.columns}] FROM {self.items} WITH INDEX {self.items}_changed "
            f"WHERE model IN $models AND {condition}",
            models=self._models,
            since=since,
        )


class MemoryVectors(SurrealSource):
    """Implements `filtered_signs.MemorySource`."""

    items, vectors, owner = "memory", "vector", "memory"
    columns = COLUMNS
    gone = "SELECT VALUE num FROM tombstone"
    page_from = 500
    """So many memories that had to be read at the end become a page; fewer are read again by the next."""

    def __init__(self, model: str) -> None:
        super().__init__(model)
        self._edge = 0

    def stretches(self, db: Sight, since: int, at_once: int) -> Iterator[Stretch]:
        """All memories that have changed since a change, by any model or none, in the order of change: from pages
        where there are some, else from the memories, which then become pages."""
        if since < 0:
            self._kept.clear(db.change)
            self._edge = 0
        pages, since = Pages(db.db), max(since, 0)
        while since < db.change:
            db.check_deadline()
            begin = pages.begin(since)
            if begin == since:
                page = pages.take()
                self._edge = since = page.upto
                yield page
                continue
            upto = db.change if begin is None else min(begin, db.change)
            for stretch in read(db.db, since, upto, at_once):
                self._keep(db, pages, stretch)
                since = stretch.upto
                yield stretch

    def _keep(self, db: Sight, pages: Pages, stretch: Stretch) -> None:
        """Only where one page ends may another begin, so that no two overlap."""
        is_long = stretch.upto < db.change or len(stretch) >= self.page_from
        if is_long and stretch.since == self._edge and pages.add(stretch):
            self._edge = stretch.upto

    def drop(self, db: Sight, pages: Sequence[int]) -> None:
        """Pages most of whose memories later ones have: what is left of them, the next reads from the memories."""
        if pages:
            Pages(db.db).drop(pages)

    def firsts(self, db: Sight, ids: Sequence[str]) -> list[tuple[str, int, bytes]]:
        first = f"type::record('vector', num * {vector_numbers(1, 1)[0]}).numbers"
        rows = db.db.rows(
            f"SELECT VALUE [num, id, time::micros(event_time), {first}] FROM $ids WHERE model IN $models",
            ids=records("memory", dict.fromkeys(ids)),
            models=self._models,
        )
        return [(id, at, numbers) for _, id, at, numbers in sorted(rows)]

    def origins(self, db: Sight, items: Sequence[int]) -> Mapping[int, tuple[str, Container[str]]]:
        ids = records("memory", self.names(db, items).values())
        rows = db.db.rows("SELECT VALUE [num, id, derived_from] FROM $ids", ids=ids)
        return {num: (id, sources) for num, id, sources in rows}


Taken = dict[int, tuple[int, range]]
"""The memories that have been read: in the stretch that begins where, and the rows of the index that they have."""


class MemoryIndex(MemorySigns[Sight]):
    """Has all in columns that a filter may ask for: to ask the database takes it 20 µs for each memory of a place."""

    further: ClassVar = MemorySigns.further | {
        **{"category": "i4", "session": "i4", "tags": "i4", "length": "i8"},
        **{"stored": "i8", "valid_from": "i8", "valid_until": "i8"},
    }

    def __init__(self, source: MemoryVectors, model: str, dimensions: int) -> None:
        super().__init__(source, model, dimensions)
        self.source = source

    def _load(self, db: Sight) -> None:
        if self._change >= 0 and db.change - self._change <= FEW_CHANGES:
            super()._load(db)
            return
        taken: Taken = {}
        held, worn = dict[int, int](), Counter[int]()
        for stretch in self.source.stretches(db, self._change, min(self.rows_at_once, ROWS)):
            worn.update(self._take(stretch, taken))
            held[stretch.since] = len(stretch)
            self._change = stretch.upto
        self.source.drop(db, [since for since, number in worn.items() if 2 * number > held[since]])

    def _take(self, stretch: Stretch, taken: Taken) -> list[int]:
        """Instead of what earlier stretches had of the same memories; says where each of these begins."""
        columns = stretch.columns
        nums: list[int] = columns.nums.tolist()
        before = [taken[num] for num in nums if num in taken]
        for _, rows in before:
            self._place[rows.start : rows.stop] = _NOWHERE
        named = [columns.texts.index(model) for model in alike(self._model) if model in columns.texts]
        mine = self._np.isin(columns.models, named) & (columns.chunks > 0)
        ends = self._np.where(mine, columns.chunks, 0).cumsum() + self._used
        starts = [self._used, *ends.tolist()]
        taken.update((num, (stretch.since, range(*rows))) for num, *rows in zip(nums, starts, starts[1:], strict=False))
        self._append_columns(columns, mine)
        return [since for since, _ in before]

    def _append_columns(self, columns: Columns, mine: "Array") -> None:
        """As `_append`, of the memories where `mine` is true."""
        np, chunks = self._np, columns.chunks[mine]
        start, end = self._used, self._used + int(chunks.sum())
        if start == end:
            return
        self._grow(end)
        self._item[start:end] = np.repeat(columns.nums[mine], chunks)
        number = np.arange(end - start) - np.repeat(chunks.cumsum() - chunks, chunks)
        self._vector[start:end] = self._item[start:end] * vector_numbers(1, 1)[0] + number
        codes = np.array(self._coded(columns.texts), dtype=np.int32)
        for column, values in zip((self._place, *self._column.values()), columns.further, strict=True):
            column[start:end] = np.repeat((codes[values] if values.dtype == np.int32 else values)[mine], chunks)
        words = np.frombuffer(columns.bits_of(mine), dtype=np.uint64).reshape(end - start, self._words)
        for bits, part in zip(self._bits, words.T, strict=True):
            bits[start:end] = part
        self._used = end
        self._newest = max(self._newest, int(self._item[start:end].max()))

    def _passing(self, db: Sight, wanted: Filter) -> "Array":
        used, column = self._used, self._column
        passing: Array = self._np.ones(used, dtype=bool)
        if wanted.categories:
            passing &= self._among(column["category"], wanted.categories)
        if wanted.types:
            bare = self._among(column["category"], [""])
            bare &= self._among(column["kind"], kinds_standing_for(wanted.types))
            passing &= self._among(column["category"], wanted.types) | bare
        if wanted.tags:
            passing &= self._tagged(wanted.tags)
        if wanted.session:
            passing &= self._among(column["session"], [wanted.session])
        if wanted.stored_by:
            passing &= column["stored"][:used] <= micros(wanted.stored_by)
        if wanted.valid_at:
            at = micros(wanted.valid_at)
            passing &= (column["valid_from"][:used] <= at) & (column["valid_until"][:used] > at)
        return passing & (column["length"][:used] >= wanted.min_length)

    def _tagged(self, tags: Sequence[str]) -> "Array":
        """All tags of a memory are one text, each between two separators; only such texts begin with one."""
        named = [f"\x1f{fold(tag)}\x1f" for tag in tags]
        held = [code for text, code in self._codes.items() if text[:1] == "\x1f" and any(tag in text for tag in named)]
        tagged: Array = self._np.isin(self._column["tags"][: self._used], held)
        return tagged


class CodeVectors(SurrealSource):
    items, vectors, owner = "code_entry", "code_vector", "chunk"
    columns = "owner, language"
    gone = "SELECT VALUE id.id() FROM code_gone"


S = TypeVar("S", bound=SignIndex[Sight, Any])


class Lane(Generic[S]):
    """The indexes of one kind of item, by model. Begun anew when the database is another one, as after a restore."""

    def __init__(self, counter: str, make: Callable[[str, int], S]) -> None:
        self._counter, self._make = counter, make
        self._life: str | None = None
        self._indexes: dict[str, S] = {}
        self._lock = threading.Lock()

    def seen(self, db: Database, model: str) -> tuple[Sight, S | None]:
        """The database as it is now, and its vectors by one model: None while there are none."""
        counter = f"counter:{self._counter}"
        counts = f"{counter}.{{value, forgotten, documents}}, type::record('counter', $filled).value"
        ((life, lengths, counted, filled),) = db.run(
            f"RETURN [counter:life.value, (SELECT VALUE dimensions FROM $models), {counts}]",
            models=records("model", alike(model)),
            filled=table_of(model),
        )
        dimensions = next(iter(lengths), None)
        with self._lock:
            if life != self._life:
                self._life, self._indexes = life, {}
            if model not in self._indexes and dimensions:
                self._indexes[model] = self._make(model, dimensions)
                self._indexes[model].rows_at_once = AT_ONCE
            forgotten = counted["forgotten"] or 0
            sight = Sight(db, counted["value"], dimensions or 0, forgotten, counted["documents"], filled)
            return sight, self._indexes.get(model)


def memory_lane() -> Lane[MemoryIndex]:
    return Lane("change", lambda model, dimensions: MemoryIndex(MemoryVectors(model), model, dimensions))


def code_lane() -> Lane[CodeSigns[Sight]]:
    return Lane("code", lambda model, dimensions: CodeSigns(CodeVectors(model), model, dimensions))


def _by_vector(rows: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """A row for each vector of an item."""
    return [
        (changed, vector, num, bits, *columns)
        for changed, num, signs, *columns in rows
        for vector, bits in zip(vector_numbers(num, len(signs)), signs, strict=True)
    ]
