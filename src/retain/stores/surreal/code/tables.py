"""The tables of code: implements `ports.CodeStore` and `ports.CodeSearch`."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial

from retain.domain.code import CodeFile, CodeFilter, CodeIndex, Mark, Occurrence, StoredChunk
from retain.domain.memory import Vector
from retain.stores.code_portions import FILES_AT_ONCE, portions
from retain.stores.code_wording import Wording
from retain.stores.surreal.code import indexes, search, writing
from retain.stores.surreal.code.vectors import save as save_vectors
from retain.stores.surreal.link.database import Database
from retain.stores.surreal.link.failures import Overtaken
from retain.stores.surreal.link.retrying import insisting
from retain.stores.surreal.tables import Tables
from retain.stores.surreal.vectors.signs import code_lane


class CodeTables(Tables):
    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._nearest_code = code_lane()

    def indexes(self, user: str) -> list[CodeIndex]:
        return indexes.indexes(self.db, user)

    def claim_index(self, index: CodeIndex, dead_since: datetime, *, new: bool = True) -> CodeIndex | None:
        return insisting(lambda: indexes.claim(self.db, index, dead_since, new=new))

    def recount_index(self, index: CodeIndex) -> CodeIndex | None:
        return insisting(lambda: indexes.recount(self.db, index))

    def report_index(self, index: CodeIndex) -> bool:
        return bool(insisting(lambda: indexes.report(self.db, index)))

    def drop_index(self, key: str) -> int:
        """A bit at a time, so that other writers do not wait; one that is cut short can be dropped again."""
        insisting(lambda: indexes.release(self.db, key))
        dropped, files = 0, FILES_AT_ONCE

        def drop_some() -> int | None:
            nonlocal files
            try:
                return writing.drop_some(self.db, key, files)
            except Overtaken:
                # Where others keep writing, only a small transaction gets in between two of theirs.
                files = max(files // 3, 1)
                raise

        while (some := insisting(drop_some)) is not None:
            dropped += some
        return dropped

    def marks(self, key: str) -> dict[str, Mark]:
        return indexes.file_marks(self.db, key)

    def save_code(
        self, key: str, files: Sequence[CodeFile], moved: Sequence[tuple[str, str]], gone: Sequence[str]
    ) -> None:
        self._check_room()
        for portion in portions(files, moved, gone, writing.AT_ONCE):
            insisting(partial(writing.save, self.db, key, portion, Wording()))

    def mark_code(self, key: str, marks: Mapping[str, Mark]) -> None:
        if marks:
            insisting(lambda: indexes.mark_files(self.db, key, marks))

    def code_unembedded(self, key: str, model: str, limit: int) -> list[StoredChunk]:
        return indexes.unembedded(self.db, key, model, limit)

    def code_outdated(self, user: str, model: str) -> list[str]:
        return indexes.outdated(self.db, user, model)

    def save_code_vectors(self, model: str, vectors: Mapping[str, Sequence[Vector]]) -> None:
        self._check_room()
        insisting(lambda: save_vectors(self.db, model, vectors))

    # CodeSearch

    def code_by_words(self, terms: Sequence[str], wanted: CodeFilter, limit: int) -> dict[str, float]:
        return search.by_words(self.db, terms, wanted, limit)

    def code_by_vector(self, vector: Vector, model: str, wanted: CodeFilter, limit: int) -> dict[str, float]:
        sight, index = self._nearest_code.seen(self.db, model)
        return dict(index.search(sight, vector, wanted, limit).scores) if index else {}

    def code_named(self, names: Sequence[str], wanted: CodeFilter, limit: int) -> list[StoredChunk]:
        return search.named(self.db, names, wanted, limit)

    def code_chunks(self, ids: Sequence[str]) -> dict[str, StoredChunk]:
        return indexes.chunks(self.db, ids) if ids else {}

    def occurrences(self, name: str, wanted: CodeFilter, limit: int) -> list[Occurrence]:
        return search.occurrences(self.db, name, wanted, limit)

    def symbols(self, key: str) -> list[StoredChunk]:
        return search.symbols(self.db, key)

    def uses(self, key: str) -> list[tuple[str, str, int]]:
        return search.uses(self.db, key)
