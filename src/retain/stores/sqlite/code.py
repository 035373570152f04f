"""Indexes of code: who is at work on which, what is in them, and how rows become chunks."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from retain.domain.code import Chunk, ChunkKind, CodeFilter, CodeIndex, IndexStatus, Mark, StoredChunk
from retain.domain.model import earlier
from retain.stores.moments import micros, micros_or_none, moment_or_none
from retain.stores.sqlite.rows import AMONG, among, marks
from retain.stores.sqlite.sessions import project_of
from retain.stores.sqlite.writing import add_project

_INDEX = "status, total_files, indexed_files, total_chunks, embedded_chunks, skipped, started, completed, error, holder"
_COLUMNS = ["key", "project", "user", *_INDEX.split(", "), "beat"]
_SELECT = f"""select p.id, p.slug, p.path, p.created, i.user, {_INDEX}, i.beat
    from code_index i join project p on p.id = i.project"""
CHUNK = """select c.id, c.owner, f.path, c.language, f.digest, f.size, f.modified,
    c.kind, c.name, c.start_line, c.end_line, c.text, c.parent, c.signature, c.doc, c.part
    from code_chunk c join code_file f on f.num = c.file"""


def indexes(db: sqlite3.Connection, user: str) -> list[CodeIndex]:
    return [_index_of(row) for row in db.execute(f"{_SELECT} where i.user = ? order by p.slug", (user,))]


def chunks(db: sqlite3.Connection) -> int:
    """Of all indexes together."""
    return int(db.execute("select count(*) from code_chunk").fetchone()[0])


def claim(db: sqlite3.Connection, index: CodeIndex, dead_since: datetime, *, new: bool) -> CodeIndex | None:
    """Makes the holder of the index the one who indexes, unless another is alive and at it."""
    if not new and db.execute("select 1 from code_index where key = ?", (index.key,)).fetchone() is None:
        return None
    query = "select 1 from code_index where key = ? and status = ? and holder is not ? and beat > ?"
    if db.execute(query, (index.key, IndexStatus.INDEXING, index.holder, micros(dead_since))).fetchone():
        return None
    add_project(db, index.project)
    return _counted(db, index)


def recount(db: sqlite3.Connection, index: CodeIndex) -> CodeIndex | None:
    query = "select 1 from code_index where key = ? and holder is ?"
    return _counted(db, index) if db.execute(query, (index.key, index.holder)).fetchone() else None


def _counted(db: sqlite3.Connection, index: CodeIndex) -> CodeIndex:
    (files,) = db.execute("select count(*) from code_file where owner = ?", (index.key,)).fetchone()
    chunks, embedded = db.execute(
        "select count(*), count(model) from code_chunk where owner = ?", (index.key,)
    ).fetchone()
    counts = {"total_files": files, "indexed_files": files, "total_chunks": chunks, "embedded_chunks": embedded}
    _write(db, replace(index, status=IndexStatus.INDEXING, **counts))
    return _index_of(db.execute(f"{_SELECT} where i.key = ?", (index.key,)).fetchone())


def report(db: sqlite3.Connection, index: CodeIndex) -> bool:
    query = "select 1 from code_index where key = ? and holder is ?"
    if db.execute(query, (index.key, index.holder)).fetchone() is None:
        return False
    _write(db, index)
    return True


def file_marks(db: sqlite3.Connection, key: str) -> dict[str, Mark]:
    rows = db.execute("select path, digest, size, modified from code_file where owner = ?", (key,))
    return {path: Mark(*mark) for path, *mark in rows}


def mark_files(db: sqlite3.Connection, key: str, marks: Mapping[str, Mark]) -> None:
    query = "update code_file set digest = ?, size = ?, modified = ? where owner = ? and path = ?"
    rows = [(mark.digest, mark.size, mark.modified, key, path) for path, mark in marks.items()]
    db.executemany(query, rows)


def unembedded(db: sqlite3.Connection, key: str, model: str, limit: int) -> list[StoredChunk]:
    """In the order in which they were indexed: first those that no model has embedded, then those of others."""
    row = db.execute("select num from model where name = ?", (model,)).fetchone()
    number = row[0] if row else -1  # a model that has made no vector yet has no number
    found: list[int] = []
    # One range of an index after the other, so that a batch does not sort all that is left.
    for lacking in ("model is null", f"model < {number}", f"model > {number}"):
        query = f"select num from code_chunk where owner = ? and {lacking} order by model, num limit ?"
        found += [num for (num,) in db.execute(query, (key, limit - len(found)))]
    rows = db.execute(f"{CHUNK} where c.num {AMONG} order by c.num", (among(found),))
    return [chunk_of(row) for row in rows]


def outdated(db: sqlite3.Connection, user: str, model: str) -> list[str]:
    rows = db.execute(
        f"""select key from code_index i where user = ? and exists (
              select 1 from code_chunk c join model n on n.num = c.model where c.owner = i.key and n.name {AMONG})""",
        (user, among(earlier(model))),
    )
    return [key for (key,) in rows]


def chunk_of(row: Sequence[Any]) -> StoredChunk:
    id, owner, path, language, *mark = row[:7]
    return StoredChunk(id, owner, path, language, Mark(*mark), Chunk(ChunkKind(row[7]), *row[8:]))


def where(wanted: CodeFilter, alias: str) -> tuple[str, list[Any]]:
    """Conditions on chunks or files, and the values to bind."""
    condition = f"{alias}.owner in ({marks(wanted.indexes)})"
    if not wanted.languages:
        return condition, [*wanted.indexes]
    languages = f"{alias}.language in ({marks(wanted.languages)})"
    return f"{condition} and {languages}", [*wanted.indexes, *wanted.languages]


def _write(db: sqlite3.Connection, index: CodeIndex) -> None:
    row = (
        *(index.key, index.project.id, index.user, index.status.value, index.total_files, index.indexed_files),
        *(index.total_chunks, index.embedded_chunks, json.dumps(dict(index.skipped), ensure_ascii=False)),
        *(micros_or_none(index.started), micros_or_none(index.completed), index.error, index.holder),
        micros_or_none(index.beat),
    )
    db.execute(f"insert or replace into code_index ({', '.join(_COLUMNS)}) values ({marks(_COLUMNS)})", row)


def _index_of(row: Sequence[Any]) -> CodeIndex:
    status, total_files, indexed_files, total_chunks, embedded_chunks, skipped = row[5:11]
    started, completed, error, holder, beat = row[11:]
    return CodeIndex(
        project=project_of(row[:4]),
        user=row[4],
        status=IndexStatus(status),
        total_files=total_files,
        indexed_files=indexed_files,
        total_chunks=total_chunks,
        embedded_chunks=embedded_chunks,
        skipped=json.loads(skipped),
        started=moment_or_none(started),
        completed=moment_or_none(completed),
        error=error,
        holder=holder,
        beat=moment_or_none(beat),
    )
