"""Cosines of memories that no search has compared."""

from collections.abc import Sequence

from retain.domain.memory import MemoryId, Vector
from retain.ports import Store


def cosines(store: Store, vector: Vector, ids: Sequence[MemoryId], model: str) -> dict[MemoryId, float]:
    """Cosine of the best chunk of each memory that has vectors, at least 0."""
    import numpy as np

    found = [(id, chunk) for id, chunks in store.vectors(ids, model).items() for chunk in chunks]
    if not found:
        return {}
    matrix = np.frombuffer(b"".join(chunk for _, chunk in found), dtype="<f4").reshape(len(found), -1)
    best: dict[MemoryId, float] = {}
    for (id, _), cosine in zip(found, (matrix @ np.frombuffer(vector, dtype="<f4")).tolist(), strict=True):
        best[id] = max(cosine, best.get(id, 0.0))
    return best
