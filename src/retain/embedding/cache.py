"""Vectors of the texts seen last, so that a repeated question costs no model run."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from hashlib import blake2b

from retain.domain.memory import Vector
from retain.domain.model import CacheStats

SIZE = 2_048  # at 384 dimensions about 3.5 MB


class VectorCache:
    """Least recently used goes first. Keys are digests: a key must not keep 100,000 characters alive."""

    def __init__(self, size: int = SIZE) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._vectors: OrderedDict[bytes, Vector] = OrderedDict()
        self._hits = 0
        self._misses = 0

    def through(self, texts: Sequence[str], make: Callable[[list[str]], list[Vector]]) -> list[Vector]:
        """The vectors of all texts, `make` being asked once for each text that is not here."""
        keys = [blake2b(text.encode(), digest_size=16).digest() for text in texts]
        found = self._lookup(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if missing:
            made = dict(zip(missing, make(list(missing.values())), strict=True))
            self._keep(made)
            found |= made
        return [found[key] for key in keys]

    def stats(self) -> CacheStats:
        with self._lock:
            return CacheStats(self._hits, self._misses, len(self._vectors))

    def _lookup(self, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        with self._lock:
            found = {key: self._vectors[key] for key in keys if key in self._vectors}
            for key in found:
                self._vectors.move_to_end(key)
            hits = sum(key in found for key in keys)
            self._hits += hits
            self._misses += len(keys) - hits
        return found

    def _keep(self, made: dict[bytes, Vector]) -> None:
        with self._lock:
            self._vectors |= made
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)
