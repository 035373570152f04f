"""What one transaction saves of code: so little that other writers do not wait, and prepared before it begins."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from retain.domain.code import Chunk, CodeFile, StoredChunk
from retain.domain.code_words import indexed
from retain.stores.sqlite.code import CHUNK, chunk_of
from retain.stores.sqlite.rows import AMONG, among

# What one transaction takes: about a tenth of a second for new chunks, a quarter for files that move or go.
AT_ONCE = 1000
FILES_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class Portion:
    """What one transaction saves. A file is always whole."""

    files: Sequence[CodeFile] = ()
    moved: Sequence[tuple[str, str]] = ()
    gone: Sequence[str] = ()


def portions(files: Sequence[CodeFile], moved: Sequence[tuple[str, str]], gone: Sequence[str]) -> Iterator[Portion]:
    """Removals, then moves, then files; moves of which one makes way for another stay together."""
    if len(gone) <= FILES_AT_ONCE and len(moved) <= FILES_AT_ONCE and _chunks(files) <= AT_ONCE:
        yield Portion(files, moved, gone)
        return
    for start in range(0, len(gone), FILES_AT_ONCE):
        yield Portion(gone=gone[start : start + FILES_AT_ONCE])
    ends = {old for old, _ in moved} & {new for _, new in moved}
    chained = [move for move in moved if not ends.isdisjoint(move)]
    if chained:
        yield Portion(moved=chained)
    alone = [move for move in moved if ends.isdisjoint(move)]
    for start in range(0, len(alone), FILES_AT_ONCE):
        yield Portion(moved=alone[start : start + FILES_AT_ONCE])
    yield from (Portion(files=some) for some in _cut(files))


def _cut(files: Sequence[CodeFile]) -> Iterator[list[CodeFile]]:
    some: list[CodeFile] = []
    for file in files:
        if some and _chunks(some) + len(file.parsed.chunks) > AT_ONCE:
            yield some
            some = []
        some.append(file)
    if some:
        yield some


def _chunks(files: Iterable[CodeFile]) -> int:
    return sum(len(file.parsed.chunks) for file in files)


class Wording:
    """The terms of chunks; making them takes longer than writing them, so it is done before the lock is taken."""

    def __init__(self, foreseen: Iterable[tuple[str, str, Chunk]] = ()) -> None:
        self._made: dict[tuple[str, bytes], tuple[str, str, str]] = {}
        for path, language, chunk in foreseen:
            self.of(path, language, chunk)

    def of(self, path: str, language: str, chunk: Chunk) -> tuple[str, str, str]:
        key = path, digest(language, chunk)
        if key not in self._made:
            self._made[key] = indexed(path, chunk)
        return self._made[key]


def changing(db: sqlite3.Connection, key: str, portion: Portion) -> list[tuple[str, str, Chunk]]:
    """The chunks that a portion is going to need terms for, with path and language, as far as can be foreseen."""
    query = f"""select f.path, c.digest from code_file f join code_chunk c on c.file = f.num
        where f.owner = ? and f.path {AMONG}"""
    there = set(db.execute(query, (key, among(file.path for file in portion.files))))
    new = [
        (file.path, file.parsed.language, chunk)
        for file in portion.files
        for chunk in file.parsed.chunks
        if (file.path, digest(file.parsed.language, chunk)) not in there
    ]
    targets = dict(portion.moved)
    moved = [stored for _, stored in stored_in(db, key, targets)]
    return new + [(targets[stored.path], stored.language, stored.chunk) for stored in moved]


def digest(language: str, chunk: Chunk) -> bytes:
    """Equal where two chunks are found and embedded alike, wherever they are."""
    said = (language, chunk.kind, chunk.parent, chunk.name, str(chunk.part), chunk.signature, chunk.doc, chunk.text)
    return blake2b("\0".join(said).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def stored_in(db: sqlite3.Connection, key: str, paths: Iterable[str]) -> list[tuple[int, StoredChunk]]:
    query = CHUNK.replace("select ", "select c.num, ", 1)
    rows = db.execute(f"{query} where f.owner = ? and f.path {AMONG} order by c.file, c.num", (key, among(paths)))
    return [(row[0], chunk_of(row[1:])) for row in rows]
