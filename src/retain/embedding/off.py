"""No embedder: for those who want keywords only."""

from collections.abc import Sequence

from retain.domain.memory import Vector
from retain.domain.model import CacheStats, ModelState
from retain.errors import EmbeddingFailed


class NoEmbedder:
    """Always off, with the reason."""

    model = "none"
    dimensions = 0

    def __init__(self, why: str) -> None:
        self._why = why

    def state(self) -> ModelState:
        return ModelState("off", self._why)

    def warm(self) -> None:
        """Nothing to load."""

    def wait(self, seconds: float) -> bool:
        return False

    def chunks(self, text: str) -> list[str]:
        return [text]

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        raise EmbeddingFailed(self._why)

    def stats(self) -> CacheStats:
        return CacheStats(0, 0, 0)
