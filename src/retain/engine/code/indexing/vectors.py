"""Vectors for the chunks of an index that have none by the current model."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from retain.domain.code import StoredChunk
from retain.domain.code_words import embedded_as, headline
from retain.domain.memory import Vector
from retain.engine.parts import Parts
from retain.ports import Embedder

SAVED = 64  # chunks for each thread whose vectors are saved together: some seconds that a killed run does again
# Texts of one call to the model, so that a run can be ended, and a question asked meanwhile waits for one call at most.
AT_ONCE = 16
MOST_THREADS = 4  # each holds 30 MB while the model runs
# A chunk that is longer than so many pieces for the model is found by what its beginning says, and by its words.
PIECES = 4
# What a chunk's headline counts in its vectors. Found on the tuning half of benchmarks/code_search.py: from 0.3 to 0.4
# it is worth 3 points of recall at 1 and at 5 to questions for functions, 6 and 8 to those for classes.
HEADLINE = 0.35

Embed = Callable[[Sequence[str]], list[Vector]]


def embed_missing(parts: Parts, key: str, told: Callable[[int], None], threads: int | None = None) -> None:
    """Makes what is missing, and tells after each step how many chunks have been saved with it; `told` may raise.

    What is made does not depend on the number of threads, by default one less than there are processors.
    """
    count = threads or max(1, min(MOST_THREADS, (os.cpu_count() or 1) - 1))
    before: set[str] = set()
    with Crew(parts.embedder.embed, count) as crew:
        while waiting := parts.store.code_unembedded(key, parts.embedder.model, SAVED * count):
            ids = {stored.id for stored in waiting}
            if ids == before:
                return  # saving them changes nothing, so neither would another round
            before = ids
            made = _vectors(parts.embedder, crew, waiting, lambda: told(0))
            parts.store.save_code_vectors(parts.embedder.model, made)
            told(len(made))


class Crew:
    """Threads that embed side by side, which a model that runs outside of the interpreter allows."""

    def __init__(self, embed: Embed, threads: int) -> None:
        self._embed = embed
        self._pool = ThreadPoolExecutor(threads, "retain-embedding") if threads > 1 else None

    def __enter__(self) -> "Crew":
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=True)

    def embed(self, texts: Sequence[str]) -> Iterator[list[Vector]]:
        """The vectors of so many texts at a time, in their order; what nobody waits for any more is not begun."""
        batches = [texts[start : start + AT_ONCE] for start in range(0, len(texts), AT_ONCE)]
        if self._pool is None:
            yield from map(self._embed, batches)
            return
        running = [self._pool.submit(self._embed, batch) for batch in batches]
        try:
            yield from (future.result() for future in running)
        finally:
            _cancel(running)


def _cancel(futures: Iterable[Future[list[Vector]]]) -> None:
    for future in futures:
        future.cancel()


def _vectors(
    embedder: Embedder, crew: Crew, chunks: Sequence[StoredChunk], pause: Callable[[], None]
) -> dict[str, Sequence[Vector]]:
    pieces = {stored.id: embedder.chunks(embedded_as(stored.path, stored.chunk))[:PIECES] for stored in chunks}
    heads = {stored.id: headline(stored.chunk) for stored in chunks}
    # The parts of one symbol share their headline.
    texts = list(dict.fromkeys([*(piece for some in pieces.values() for piece in some), *heads.values()]))
    made: list[Vector] = []
    for some in crew.embed(texts):
        made += some
        pause()
    vectors = dict(zip(texts, made, strict=True))
    return {id: blended([vectors[piece] for piece in pieces[id]], vectors[heads[id]]) for id in pieces}


def blended(pieces: Iterable[Vector], head: Vector) -> tuple[Vector, ...]:
    """The vectors of a chunk's pieces, each with a share of its headline's.

    Their product with that of a question is then the mean of two cosines. They are left shorter than one: made as
    long as others, those would gain whose headline says something else than they do.
    """
    import numpy as np

    share = HEADLINE * np.frombuffer(head, "<f4")
    mixed = ((1 - HEADLINE) * np.frombuffer(piece, "<f4") + share for piece in pieces)
    return tuple(Vector(vector.astype("<f4").tobytes()) for vector in mixed)
