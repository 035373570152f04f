"""What one process keeps of the store in memory; every part checks the change number before it is used."""

import sqlite3
import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from retain.domain.model import alike
from retain.stores.filtered_signs import CodeSigns, MemorySigns
from retain.stores.sqlite.code_search import code_signs
from retain.stores.sqlite.vectors import memory_signs, model_numbers
from retain.stores.sqlite.words import Frequencies

Memories = MemorySigns[sqlite3.Connection]
Code = CodeSigns[sqlite3.Connection]
S = TypeVar("S")


class Lanes(Generic[S]):
    """What the searches by words and by vector keep of one kind of thing."""

    def __init__(self, vocabulary: str, signs: Callable[[str, Sequence[int], int], S]) -> None:
        self.frequencies = Frequencies(vocabulary)
        self._make: Callable[[str, Sequence[int], int], S] = signs
        self._indexes: dict[str, tuple[list[int], S]] = {}
        self._lock = threading.Lock()

    def index(self, db: sqlite3.Connection, model: str) -> S | None:
        """The vectors by one model and its earlier files; None while there are none."""
        numbers = model_numbers(db, alike(model))
        if not numbers:
            return None
        with self._lock:
            known, index = self._indexes.get(model, ([], None))
            if index is None or known != numbers:
                (dimensions,) = db.execute("select dimensions from model where num = ?", (numbers[0],)).fetchone()
                index = self._make(model, numbers, dimensions)
                self._indexes[model] = numbers, index
            return index


class Caches:
    """Begun anew when the store has begun another life: a backup was restored, or a damaged file set aside."""

    def __init__(self) -> None:
        self._life: int | None = None
        self._lock = threading.Lock()
        self._begin()

    def memories(self, db: sqlite3.Connection) -> Lanes[Memories]:
        self._forget_another_life(db)
        return self._memories

    def code(self, db: sqlite3.Connection) -> Lanes[Code]:
        self._forget_another_life(db)
        return self._code

    def _begin(self) -> None:
        self._memories: Lanes[Memories] = Lanes("memory_terms", memory_signs)
        self._code: Lanes[Code] = Lanes("code_terms", code_signs)

    def _forget_another_life(self, db: sqlite3.Connection) -> None:
        (life,) = db.execute("select value from counter where name = 'life'").fetchone()
        with self._lock:
            if life != self._life:
                self._life = life
                self._begin()
