"""What one process keeps of the store in memory; every part checks the change number before it is used."""

import sqlite3
import threading

from retain.stores.sqlite.vectors import SignIndex
from retain.stores.sqlite.words import Frequencies


class Caches:
    """Begun anew when the store has begun another life: a backup was restored, or a damaged file set aside."""

    def __init__(self) -> None:
        self._life: int | None = None
        self._lock = threading.Lock()
        self._frequencies = Frequencies()
        self._indexes: dict[str, SignIndex] = {}

    def frequencies(self, db: sqlite3.Connection) -> Frequencies:
        with self._lock:
            self._forget_another_life(db)
            return self._frequencies

    def index(self, db: sqlite3.Connection, model: str) -> SignIndex | None:
        """The vectors by one model; None while there are none."""
        with self._lock:
            self._forget_another_life(db)
            if model not in self._indexes:
                row = db.execute("select num, dimensions from model where name = ?", (model,)).fetchone()
                if row is None:
                    return None
                self._indexes[model] = SignIndex(model, *row)
            return self._indexes[model]

    def _forget_another_life(self, db: sqlite3.Connection) -> None:
        (life,) = db.execute("select value from counter where name = 'life'").fetchone()
        if life != self._life:
            self._life, self._frequencies, self._indexes = life, Frequencies(), {}
