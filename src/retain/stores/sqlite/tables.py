"""What all parts of the store stand on: its connections, its caches, and the room that there is."""

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from retain.errors import StorageFull, Unavailable
from retain.stores.sqlite import upkeep
from retain.stores.sqlite.caches import Caches
from retain.stores.sqlite.connection import MEMORY, Pool
from retain.stores.sqlite.failures import bytes_of
from retain.stores.sqlite.files import opened
from retain.stores.watching import Watch

P = ParamSpec("P")
R = TypeVar("R")


class Tables:
    """An open store, of which each subclass reads and writes some tables."""

    def __init__(
        self, path: Path, *, query_seconds: float = 5.0, max_bytes: int | None = None, watched: bool = False
    ) -> None:
        """One that is watched is not begun anew in silence, should it ever be gone."""
        self._max_bytes = max_bytes
        self.pool = Pool(path, query_seconds)
        self.path = self.pool.path
        try:
            self._notices = opened(self.pool, watched=watched)
            self._watch = Watch(self.path if watched else None, holds=lambda: self._read(holds_memories))
        except BaseException:
            self.pool.close()
            raise
        self._caches = Caches()
        self._traces = False

    def size(self) -> int:
        return self._read(upkeep.used_bytes) if self.path == MEMORY else bytes_of(self.path)

    def _read(self, query: Callable[Concatenate[sqlite3.Connection, P], R], *args: P.args, **named: P.kwargs) -> R:
        with self.pool.reading() as db:
            return query(db, *args, **named)

    def _check_room(self) -> None:
        """Pages that are free again do not count."""
        if self._max_bytes is None or self.size() < self._max_bytes:
            return
        if (used := self._read(upkeep.used_bytes)) >= self._max_bytes:
            raise StorageFull(
                f"the store has {used:,} bytes and max_storage_mb allows {self._max_bytes:,}; nothing was written. "
                "Raise the limit, delete an index of code with `retain projects --drop`, or purge what is forgotten "
                "with `retain forget --purge`",
                current_size=f"{used} bytes",
                limit=f"{self._max_bytes} bytes",
            )

    def _scrub(self) -> None:
        """What was destroyed is gone from every answer; its trace in the log goes now, or with a later write."""
        self._traces = True
        with suppress(Unavailable):
            self._traces = not self.pool.cut_log()


def holds_memories(db: sqlite3.Connection) -> bool:
    return db.execute("select 1 from memory limit 1").fetchone() is not None


def change_of(db: sqlite3.Connection, counter: str = "change") -> int:
    return int(db.execute("select value from counter where name = ?", (counter,)).fetchone()[0])
