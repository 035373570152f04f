"""How near a statement comes to anything that was said, by the embedding model, where letters cannot tell."""

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any

from retain.engine.embed import PATIENCE
from retain.errors import EmbeddingFailed
from retain.ports import Embedder

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_MOST = 160  # stretches of a conversation: a piece of 6,000 characters has about so many sentences and pairs of them
_LONGEST = 1000
# What is near was measured with this model; another one's cosines are of another scale, and letters decide alone.
MEASURED = "retain-minilm-l6"


class Meaning:
    """The meaning of a text, sentence by sentence; it is embedded once, and only if somebody asks."""

    def __init__(self, text: str, embedder: Embedder) -> None:
        self._text = text
        self._embedder = embedder

    def nearness(self, statement: str) -> float | None:
        """The cosine to the sentence, or the two, that come nearest; None while there is no model."""
        try:
            return float((self._rows @ self._embedded([statement])[0]).max()) if self._is_ready else None
        except EmbeddingFailed:
            return None

    @cached_property
    def _is_ready(self) -> bool:
        return bool(self._text.strip()) and self._embedder.wait(PATIENCE)

    @cached_property
    def _rows(self) -> Any:
        return self._embedded(list(_stretches(self._text)))

    def _embedded(self, texts: list[str]) -> Any:  # numpy, which is loaded with the model
        import numpy as np

        return np.array([np.frombuffer(vector, dtype="<f4") for vector in self._embedder.embed(texts)])


def meaning_of(text: str, embedder: Embedder | None) -> Meaning | None:
    """The meaning of a text, where there is a model whose cosines are known."""
    return Meaning(text, embedder) if embedder and embedder.model.startswith(MEASURED) else None


def _stretches(text: str) -> Iterator[str]:
    """Sentences, and each with the next: a statement often joins two."""
    sentences = [part.strip()[:_LONGEST] for part in _SENTENCE.split(text) if part.strip()] or [text]
    kept = sentences[-_MOST // 2 :]
    yield from kept
    yield from (f"{one} {other}" for one, other in pairwise(kept))
