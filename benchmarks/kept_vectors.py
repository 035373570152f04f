"""An embedder that keeps every vector in a file: of texts that stay as they are, the model makes each once."""

import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from corpus import model
from retain.domain.memory import Vector
from retain.domain.model import CacheStats, ModelState

CACHE = Path(__file__).parent / ".cache" / "timeline"


class KeptVectors:
    """The bundled model, which is asked only for what no earlier run has asked it."""

    def __init__(self) -> None:
        CACHE.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(CACHE / "vectors.db", check_same_thread=False, isolation_level=None, timeout=60)
        self._db.execute("pragma journal_mode = wal")
        self._db.execute("create table if not exists vector (key blob primary key, value blob) without rowid")
        self._real = model()
        self._real.wait(60)
        self.model, self.dimensions = self._real.model, self._real.dimensions

    def state(self) -> ModelState:
        return ModelState("ready")

    def warm(self) -> None:
        """What is kept is ready."""

    def wait(self, seconds: float) -> bool:
        return True

    def chunks(self, text: str) -> list[str]:
        return self._real.chunks(text)

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [self._kept(text) for text in texts]

    def stats(self) -> CacheStats:
        return CacheStats(0, 0, 0)

    def _kept(self, text: str) -> Vector:
        key = hashlib.blake2b(f"{self.model}\0{text}".encode(errors="surrogatepass"), digest_size=16).digest()
        row = self._db.execute("select value from vector where key = ?", (key,)).fetchone()
        if row:
            return Vector(row[0])
        vector = self._real.embed([text])[0]
        self._db.execute("insert or replace into vector values (?, ?)", (key, vector))
        return vector
