"""Vectors for the chunks of an index that have none by the current model."""

from collections.abc import Callable, Sequence

from retain.domain.code import StoredChunk
from retain.domain.code_words import embedded_as
from retain.domain.memory import Vector
from retain.engine.parts import Parts
from retain.ports import Embedder

SAVED = 64  # chunks whose vectors are saved together: about a second of work that a killed run does again
# Texts of one call to the model, so that a run can be ended, and a question asked meanwhile waits for one call at most.
AT_ONCE = 16
# A chunk that is longer than so many pieces for the model is found by what its beginning says, and by its words.
PIECES = 4


def embed_missing(parts: Parts, key: str, told: Callable[[int], None]) -> None:
    """Makes what is missing, and tells after each step how many chunks have been saved with it; `told` may raise."""
    before: set[str] = set()
    while waiting := parts.store.code_unembedded(key, parts.embedder.model, SAVED):
        ids = {stored.id for stored in waiting}
        if ids == before:
            return  # saving them changes nothing, so neither would another round
        before = ids
        made = _vectors(parts.embedder, waiting, lambda: told(0))
        parts.store.save_code_vectors(parts.embedder.model, made)
        told(len(made))


def _vectors(
    embedder: Embedder, chunks: Sequence[StoredChunk], pause: Callable[[], None]
) -> dict[str, Sequence[Vector]]:
    pieces = [(stored.id, piece) for stored in chunks for piece in _pieces(embedder, stored)]
    made: dict[str, list[Vector]] = {stored.id: [] for stored in chunks}
    for start in range(0, len(pieces), AT_ONCE):
        some = pieces[start : start + AT_ONCE]
        for (id, _), vector in zip(some, embedder.embed([piece for _, piece in some]), strict=True):
            made[id].append(vector)
        pause()
    return {id: tuple(vectors) for id, vectors in made.items()}


def _pieces(embedder: Embedder, stored: StoredChunk) -> list[str]:
    return embedder.chunks(embedded_as(stored.path, stored.chunk))[:PIECES]
