"""Code as its words find it: the terms of chunks, and what they count."""

from collections.abc import Iterable

from retain.domain.code import Chunk
from retain.domain.code_words import indexed
from retain.stores.code_matching import digest

# What a term counts in the names of a chunk, in its doc comment, and in its body.
WEIGHTS = (4.0, 2.0, 1.0)
# Chunks that the terms of a question may hold together; its commonest terms are left out until they do. Measured on
# the standard library, 19,000 chunks: recall@10 of first sentences is .36 with the 400 that memories need, .49 with
# 2,000, .53 with 5,000 in 2.5 ms, and .53 with every term in 4 to 43 ms.
ENOUGH = 5000


class Wording:
    """The terms of chunks. Making them takes longer than writing them, so it is done once, however often a
    transaction is tried, and before one begins that holds a lock."""

    def __init__(self, foreseen: Iterable[tuple[str, str, Chunk]] = ()) -> None:
        self._made: dict[tuple[str, bytes], tuple[str, str, str]] = {}
        for path, language, chunk in foreseen:
            self.of(path, language, chunk)

    def of(self, path: str, language: str, chunk: Chunk) -> tuple[str, str, str]:
        """Of its names, its doc comment and its body."""
        key = path, digest(language, chunk)
        if key not in self._made:
            self._made[key] = indexed(path, chunk)
        return self._made[key]
