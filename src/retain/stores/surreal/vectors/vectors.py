"""Memories by their vectors: the nearest, all that are near, and what crowds one."""

from collections.abc import Sequence

from retain.domain.memory import MemoryId, Vector
from retain.domain.model import alike
from retain.domain.recall import Filter, Found
from retain.stores.signs import unpack
from retain.stores.surreal.link.cbor import records
from retain.stores.surreal.link.database import Database
from retain.stores.surreal.tables import Tables
from retain.stores.surreal.vectors.background import Background
from retain.stores.surreal.vectors.hnsw import When, drop_earlier, fill, search
from retain.stores.surreal.vectors.numbers import vector_numbers
from retain.stores.surreal.vectors.signs import memory_lane

_PATIENCE = 3600.0  # seconds that reading all vectors may take where nobody waits for it

_FIRST = f"num * {vector_numbers(1, 1)[0]}"  # the number of a memory's first vector; those of the others follow
NUMBERS = f"""(SELECT VALUE numbers
    FROM type::record('vector', ($parent.{_FIRST})..($parent.{_FIRST} + array::len($parent.signs))))"""
"""Of a memory that is selected, all its vectors."""


class VectorTables(Tables):
    hnsw: When | None = None
    """Set for a database that many share: when the index in it is used and filled."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self.by_signs = memory_lane()
        self.background = Background()

    def by_vector(self, vector: Vector, model: str, wanted: Filter, limit: int) -> Found:
        sight, index = self.by_signs.seen(self.db, model)
        if index is None:
            return Found()
        when = self.hnsw if self.hnsw and sight.documents > self.hnsw.above else None
        # A filter without places finds nothing: whoever asks with one wants the vectors to be read.
        if when and wanted.places and sight.filled is not None and not index.is_loaded:
            found = search(sight, model, vector, wanted, limit)
            if found is not None:
                self.background.start(f"load {model}", lambda: self._load(model), when.pause)
                return found
        found = index.search(sight, vector, wanted, limit)
        if when and sight.change - (sight.filled or 0) >= when.behind:
            self.background.start(f"fill {model}", lambda: self._fill(model), when.pause)
        return found

    def near(self, vector: Vector, model: str, wanted: Filter, floor: float) -> dict[MemoryId, float]:
        sight, index = self.by_signs.seen(self.db, model)
        return index.near(sight, vector, wanted, floor) if index else {}

    def crowding(
        self, ids: Sequence[MemoryId], model: str, wanted: Filter, floor: float
    ) -> dict[MemoryId, list[MemoryId]]:
        sight, index = self.by_signs.seen(self.db, model)
        return index.crowding(sight, ids, wanted, floor) if index else {}

    def vectors(self, ids: Sequence[MemoryId], model: str) -> dict[MemoryId, list[Vector]]:
        query = f"SELECT VALUE [id, {NUMBERS}] FROM $ids WHERE model IN $models"
        rows = self.db.rows(query, ids=records("memory", dict.fromkeys(ids)), models=alike(model))
        return {memory: [unpack(numbers) for numbers in stored] for memory, stored in sorted(rows) if stored}

    def _load(self, model: str) -> None:
        sight, index = self.by_signs.seen(self.db, model)
        sight.patience = _PATIENCE
        if index:
            index.load(sight)

    def _fill(self, model: str) -> None:
        sight, _ = self.by_signs.seen(self.db, model)
        sight.patience = _PATIENCE
        while fill(sight, model):
            pass
        drop_earlier(self.db, model)
