"""What a portion of code is going to need, read before its transaction begins."""

import sqlite3
from collections.abc import Iterable

from retain.domain.code import Chunk, StoredChunk
from retain.stores.code_matching import digest
from retain.stores.code_portions import Portion
from retain.stores.sqlite.code import CHUNK, chunk_of
from retain.stores.sqlite.rows import AMONG, among

AT_ONCE = 1000  # new chunks in one transaction, which then takes about a tenth of a second


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


def stored_in(db: sqlite3.Connection, key: str, paths: Iterable[str]) -> list[tuple[int, StoredChunk]]:
    query = CHUNK.replace("select ", "select c.num, ", 1)
    rows = db.execute(f"{query} where f.owner = ? and f.path {AMONG} order by c.file, c.num", (key, among(paths)))
    return [(row[0], chunk_of(row[1:])) for row in rows]
