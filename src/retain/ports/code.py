"""Indexes of code."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from retain.domain.code import CodeFile, CodeFilter, CodeIndex, Mark, Occurrence, StoredChunk
from retain.domain.memory import Vector


class CodeStore(Protocol):
    """Indexes of code. They can be made anew from the files, so a write here is atomic, and not forced to disk."""

    def indexes(self, user: str) -> list[CodeIndex]:
        """By name of the project."""
        ...

    def claim_index(self, index: CodeIndex, dead_since: datetime, *, new: bool = True) -> CodeIndex | None:
        """Makes `index.holder` the one who indexes; None while another is at it who was alive after `dead_since`.

        The answer has the counts of what is there already. What is not `new` is None also once it was dropped.
        """
        ...

    def recount_index(self, index: CodeIndex) -> CodeIndex | None:
        """The index with the counts of what is there, for its holder; None when that is no longer who asks."""
        ...

    def report_index(self, index: CodeIndex) -> bool:
        """Writes how far the holder is; False, and nothing is written, when it is no longer the holder."""
        ...

    def drop_index(self, key: str) -> int:
        """Destroys an index with all of its chunks; says how many there were."""
        ...

    def marks(self, key: str) -> dict[str, Mark]:
        """The files that an index has, by path."""
        ...

    def save_code(
        self, key: str, files: Sequence[CodeFile], moved: Sequence[tuple[str, str]], gone: Sequence[str]
    ) -> None:
        """Replaces files by path, gives others a new path, and removes others, all at once.

        A chunk that is the same as before keeps its id and its vectors.
        """
        ...

    def mark_code(self, key: str, marks: Mapping[str, Mark]) -> None:
        """Gives files new marks that say what they said; paths that an index has not are passed over."""
        ...

    def code_unembedded(self, key: str, model: str, limit: int) -> list[StoredChunk]:
        """Chunks without vectors by this model."""
        ...

    def code_outdated(self, user: str, model: str) -> list[str]:
        """The keys of a user's indexes with chunks that an earlier file of this model has embedded."""
        ...

    def save_code_vectors(self, model: str, vectors: Mapping[str, Sequence[Vector]]) -> None:
        """Vectors of chunks by id; a chunk that has gone meanwhile is passed over."""
        ...


class CodeSearch(Protocol):
    """Finding code that was indexed."""

    def code_by_words(self, terms: Sequence[str], wanted: CodeFilter, limit: int) -> dict[str, float]:
        """BM25 over names, doc comments and bodies; best first."""
        ...

    def code_by_vector(self, vector: Vector, model: str, wanted: CodeFilter, limit: int) -> dict[str, float]:
        """Cosine of the best part of a chunk; best first."""
        ...

    def code_named(self, names: Sequence[str], wanted: CodeFilter, limit: int) -> list[StoredChunk]:
        """Chunks with one of these names, or qualified names, in any case."""
        ...

    def code_chunks(self, ids: Sequence[str]) -> dict[str, StoredChunk]: ...
    def occurrences(self, name: str, wanted: CodeFilter, limit: int) -> list[Occurrence]:
        """Lines that use a name, by file and line."""
        ...

    def symbols(self, key: str) -> list[StoredChunk]:
        """All that is defined in an index, without its texts: the first part of each named chunk."""
        ...

    def uses(self, key: str) -> list[tuple[str, str, int]]:
        """Which file uses which name on how many lines, as (path, name, lines)."""
        ...
