"""The tables of code: implements `ports.CodeStore` and `ports.CodeSearch`."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime

from retain.domain.code import CodeFile, CodeFilter, CodeIndex, Mark, Occurrence, StoredChunk
from retain.domain.memory import Vector
from retain.stores.code_portions import portions
from retain.stores.code_wording import Wording
from retain.stores.sqlite import code, code_search, code_writing, migrations
from retain.stores.sqlite.code_portions import AT_ONCE, changing
from retain.stores.sqlite.tables import Tables, change_of


class CodeTables(Tables):
    def indexes(self, user: str) -> list[CodeIndex]:
        return self._read(code.indexes, user)

    def claim_index(self, index: CodeIndex, dead_since: datetime, *, new: bool = True) -> CodeIndex | None:
        with self._writing_code() as db:
            return code.claim(db, index, dead_since, new=new)

    def recount_index(self, index: CodeIndex) -> CodeIndex | None:
        with self._writing_code() as db:
            return code.recount(db, index)

    def report_index(self, index: CodeIndex) -> bool:
        with self._writing_code() as db:
            return code.report(db, index)

    def drop_index(self, key: str) -> int:
        """A bit at a time, so that other writers do not wait; one that is cut short can be dropped again."""
        with self._writing_code() as db:
            code_writing.release(db, key)
        dropped = 0
        while True:
            with self._writing_code() as db:
                some = code_writing.drop_some(db, key)
            if some is None:
                break
            dropped += some
        merging = begin = dropped > 0
        while merging:
            with self._writing_code() as db:
                merging = code_writing.merge_words(db, begin=begin)
            begin = False
        self._scrub()
        return dropped

    def marks(self, key: str) -> dict[str, Mark]:
        return self._read(code.file_marks, key)

    def save_code(
        self, key: str, files: Sequence[CodeFile], moved: Sequence[tuple[str, str]], gone: Sequence[str]
    ) -> None:
        self._check_room()
        for portion in portions(files, moved, gone, AT_ONCE):
            wording = Wording(self._read(changing, key, portion))
            with self._writing_code() as db:
                code_writing.save(db, key, portion, wording)

    def mark_code(self, key: str, marks: Mapping[str, Mark]) -> None:
        with self._writing_code() as db:
            code.mark_files(db, key, marks)

    def code_unembedded(self, key: str, model: str, limit: int) -> list[StoredChunk]:
        return self._read(code.unembedded, key, model, limit)

    def code_outdated(self, user: str, model: str) -> list[str]:
        return self._read(code.outdated, user, model)

    def save_code_vectors(self, model: str, vectors: Mapping[str, Sequence[Vector]]) -> None:
        self._check_room()
        with self._writing_code() as db:
            code_writing.save_vectors(db, model, vectors)

    @contextmanager
    def _writing_code(self) -> Iterator[sqlite3.Connection]:
        with self.pool.writing(durable=False) as db:
            migrations.check_version(db)
            yield db

    # CodeSearch

    def code_by_words(self, terms: Sequence[str], wanted: CodeFilter, limit: int) -> dict[str, float]:
        with self.pool.reading() as db:
            holding = self._caches.code(db).frequencies.of(db, terms, change_of(db, "code_change"))
            return code_search.by_words(db, terms, holding, wanted, limit)

    def code_by_vector(self, vector: Vector, model: str, wanted: CodeFilter, limit: int) -> dict[str, float]:
        with self.pool.reading() as db:
            index = self._caches.code(db).index(db, model)
            return dict(index.search(db, vector, wanted, limit).scores) if index else {}

    def code_named(self, names: Sequence[str], wanted: CodeFilter, limit: int) -> list[StoredChunk]:
        return self._read(code_search.named, names, wanted, limit)

    def code_chunks(self, ids: Sequence[str]) -> dict[str, StoredChunk]:
        return self._read(code_search.chunks, ids) if ids else {}

    def occurrences(self, name: str, wanted: CodeFilter, limit: int) -> list[Occurrence]:
        return self._read(code_search.occurrences, name, wanted, limit)

    def symbols(self, key: str) -> list[StoredChunk]:
        return self._read(code_search.symbols, key)

    def uses(self, key: str) -> list[tuple[str, str, int]]:
        return self._read(code_search.uses, key)
