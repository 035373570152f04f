"""The SurrealDB store: in this process, in a folder, or on a server that many share."""

import logging
import random
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from retain.domain.changes import Applied, Changes, Conflict
from retain.errors import RetainError, StorageFull
from retain.ports import Emptied
from retain.standing import Notice, of_store
from retain.stores.backing_up import back_up
from retain.stores.surreal import emptying, expecting, migrations, upkeep
from retain.stores.surreal.code.tables import CodeTables
from retain.stores.surreal.cursors import CursorTables
from retain.stores.surreal.disputes import DisputeTables
from retain.stores.surreal.graph.tables import GraphTables
from retain.stores.surreal.link.database import Batch, Database
from retain.stores.surreal.link.failures import Overtaken
from retain.stores.surreal.link.retrying import insisting
from retain.stores.surreal.listings import ListingTables
from retain.stores.surreal.memories import MemoryTables
from retain.stores.surreal.past_queries import PastTables
from retain.stores.surreal.planning import known
from retain.stores.surreal.purging import purge
from retain.stores.surreal.restoring import restore
from retain.stores.surreal.sessions import SessionTables
from retain.stores.surreal.transfer import TransferTables
from retain.stores.surreal.vectors.hnsw import When
from retain.stores.surreal.vectors.vectors import VectorTables
from retain.stores.surreal.work import WorkTables
from retain.stores.surreal.writing import written
from retain.stores.watching import Watch

logger = logging.getLogger(__name__)

# How long a plan that may be sent again is known by its key.
_KEPT = "30d"
_FORGETTING = 0.002  # the share of plans after which that is looked through


class SurrealStore(
    MemoryTables,
    ListingTables,
    VectorTables,
    GraphTables,
    SessionTables,
    WorkTables,
    CursorTables,
    DisputeTables,
    PastTables,
    CodeTables,
    TransferTables,
):
    """Implements `ports.Store`. What it caches is checked by change number before every use."""

    def __init__(
        self, db: Database, *, folder: Path | None = None, max_bytes: int | None = None, hnsw: When | None = None
    ) -> None:
        """On a database of this version, as `connection` opens it; `folder` is where it lies, when that is here."""
        super().__init__(db)
        self._folder, self._max_bytes, self.hnsw = folder, max_bytes, hnsw
        self._watch = Watch(folder, holds=lambda: bool(db.run("SELECT VALUE id FROM memory LIMIT 1")[0]))

    def apply(self, changes: Changes) -> Applied | Conflict:
        if not changes.purged:  # destroying makes room
            self._check_room()
        applied = insisting(lambda: self._tried(changes))
        if changes.memories and isinstance(applied, Applied):
            self._watch.note()
        return applied

    def _tried(self, changes: Changes) -> Applied | Conflict:
        there = known(self.db, changes)
        migrations.check_version(there.version)
        if there.applied is not None:
            return Applied(there.applied)
        if broken := expecting.broken(self.db, there, changes):
            return Conflict(broken)
        batch = written(there, changes)
        if changes.purged:
            purge(self.db, batch, changes.purged, there.change + 1)
        if changes.restored:
            restore(batch, changes.restored, there.change + 1)
        self.db.commit(batch)
        if changes.key and random.random() < _FORGETTING:
            self._forget_keys()
        return Applied(there.change + 1)

    def reading(self) -> AbstractContextManager[None]:
        """Each call reads at a moment of its own: the engine holds none from one message to the next."""
        return nullcontext()

    def change(self) -> int:
        return int(self.db.run("SELECT VALUE value FROM ONLY counter:change")[0])

    def empty(self, user: str, at: datetime, change: int) -> Emptied | None:
        """All but code first; code goes after it, bit by bit: there may be very much of it."""
        gone = emptying.empty(self.db, user, at, change)
        if gone is None:
            return None
        chunks = sum(self.drop_index(index.key) for index in self.indexes(user))
        emptying.drop_unused_projects(self.db)
        return replace(gone, code_chunks=chunks)

    def size(self) -> int:
        return upkeep.folder_bytes(self._folder) if self._folder else upkeep.counted_bytes(self.db)

    def backup(self, to: Path) -> None:
        """A store of SQLite in one file, without code."""
        back_up(self, to)

    def faults(self) -> list[str]:
        return upkeep.settled_faults(self.db)

    def notices(self) -> list[str]:
        found = migrations.version(self.db)
        newer = [f"{migrations.newer(found)}. Until then this process only reads"] if migrations.is_newer(found) else []
        return [*(notice.message for notice in self.standing()), *newer]

    def standing(self) -> list[Notice]:
        return of_store(str(self._folder)) if self._folder else []

    def close(self) -> None:
        self.db.close()

    def _forget_keys(self) -> None:
        """Plans that nobody sends again need not be known any longer. By the clock that all machines share."""
        batch = Batch()
        batch.add(f"DELETE applied WHERE at < time::now() - {_KEPT} RETURN NONE")
        try:
            self.db.commit(batch)
        except (Overtaken, RetainError) as error:  # the plan is written, whatever becomes of this
            logger.info("keys of old plans are still there: %s", error)

    def _check_room(self) -> None:
        if self._max_bytes is None or (used := self.size()) < self._max_bytes:
            return
        raise StorageFull(
            f"the store has about {used:,} bytes and max_storage_mb allows {self._max_bytes:,}; nothing was written. "
            "Raise the limit, delete an index of code with `retain projects --drop`, or purge what is forgotten "
            "with `retain forget --purge`",
            current_size=f"{used} bytes",
            limit=f"{self._max_bytes} bytes",
        )
