"""Vectors without a model: a text's terms, each hashed to one dimension and a sign."""

import math
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b

from retain.domain.memory import Vector
from retain.domain.model import CacheStats, ModelState
from retain.domain.words import terms
from retain.embedding.chunks import cut, pieces
from retain.embedding.unit import unit

DIMENSIONS = 384
CHUNK = 256


class HashedEmbedder:
    """Knows shared words, not meaning; for machines where no model can run, and for fast tests."""

    model = "hashed-384@1"
    dimensions = DIMENSIONS

    def state(self) -> ModelState:
        return ModelState("ready")

    def warm(self) -> None:
        return

    def wait(self, seconds: float) -> bool:
        return True

    def chunks(self, text: str) -> list[str]:
        return cut(text, pieces(text), CHUNK)

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [_vector(text) for text in texts]

    def stats(self) -> CacheStats:
        return CacheStats(hits=0, misses=0, size=0)


def _vector(text: str) -> Vector:
    # A text without terms stands for itself, so that even "" has a direction and resembles nothing else.
    counts = Counter(terms(text) or [text.strip()])
    totals = [0.0] * DIMENSIONS
    for term, count in counts.items():
        place, sign = _place(term)
        totals[place] += sign * (1 + math.log(count))
    return unit(totals if any(totals) else [1.0, *totals[1:]])  # two terms may cancel each other


def _place(term: str) -> tuple[int, int]:
    number = int.from_bytes(blake2b(term.encode("utf-8", "replace"), digest_size=8).digest(), "little")
    return (number >> 1) % DIMENSIONS, 1 if number & 1 else -1
