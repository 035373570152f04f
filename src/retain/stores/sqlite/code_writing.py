"""Saving code: what is the same as before stays as it is, with its id and its vectors."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from retain.domain.code import Chunk, CodeFile, Reference
from retain.domain.code_words import indexed
from retain.domain.memory import Vector
from retain.errors import NotFound
from retain.stores.code_matching import Fresh, Known, fresh, ids_of, lines_of, matched, spelled
from retain.stores.code_portions import FILES_AT_ONCE, Portion
from retain.stores.code_wording import Wording
from retain.stores.signs import pack
from retain.stores.sqlite.code import CHUNK, chunk_of
from retain.stores.sqlite.code_portions import AT_ONCE, stored_in
from retain.stores.sqlite.rows import AMONG, among, marks
from retain.stores.sqlite.vectors import model_number

MERGED = 500  # pages of the full-text index in one transaction
_ROW = """num, id, owner, file, language, kind, name, parent, signature, doc, text, start_line, end_line, part,
    last_name, full_name, digest, changed"""
_INSERT = f"insert into code_chunk ({_ROW}) values ({marks(_ROW.split(','))})"
_FILE = """insert into code_file (owner, path, language, digest, size, modified) values (?, ?, ?, ?, ?, ?)
    on conflict (owner, path) do update set language = excluded.language, digest = excluded.digest,
    size = excluded.size, modified = excluded.modified returning num"""
_WORDS = "insert into code_words (rowid, names, doc, body) values (?, ?, ?, ?)"


def save(db: sqlite3.Connection, key: str, portion: Portion, wording: Wording) -> None:
    if db.execute("select 1 from code_index where key = ?", (key,)).fetchone() is None:
        raise NotFound(f"no code index {key!r}: it was deleted, or never claimed. Nothing was saved; index it again")
    change = _next_change(db)
    moved = {old for old, _ in portion.moved}
    gone = _numbers(db, key, (path for path in portion.gone if path not in moved))
    _remove_files(db, gone.values(), change)
    if portion.moved:
        _move(db, key, dict(portion.moved), change, wording)
    if portion.files:
        _replace(db, key, {file.path: file for file in portion.files}, change, wording)


def save_vectors(db: sqlite3.Connection, model: str, vectors: Mapping[str, Sequence[Vector]]) -> None:
    made = {id: parts for id, parts in vectors.items() if parts}
    there = dict(db.execute(f"select id, num from code_chunk where id {AMONG}", (among(made),)))
    if not there:
        return
    change = _next_change(db)
    number = model_number(db, model, [vector for id in there for vector in made[id]])
    _drop_vectors(db, there.values())
    for id, num in there.items():
        for part, vector in enumerate(made[id]):
            bits, numbers = pack(vector)
            sign = "insert into code_sign (chunk, part, model, bits) values (?, ?, ?, ?) returning num"
            (at,) = db.execute(sign, (num, part, number, bits)).fetchone()
            db.execute("insert into code_vector values (?, ?)", (at, numbers))
    query = f"update code_chunk set model = ?, changed = ? where num {AMONG}"
    db.execute(query, (number, change, among(there.values())))


def release(db: sqlite3.Connection, key: str) -> None:
    """Takes an index from whoever holds it, so that the holder stops at its next report."""
    db.execute("update code_index set holder = null, status = 'pending' where key = ?", (key,))


def drop_some(db: sqlite3.Connection, key: str) -> int | None:
    """Destroys some files of an index, or the index itself once it has none; None when it has gone."""
    if db.execute("select 1 from code_index where key = ?", (key,)).fetchone() is None:
        return None
    change = _next_change(db)
    query = "select num from code_file where owner = ? limit ?"
    files = [num for (num,) in db.execute(query, (key, FILES_AT_ONCE))]
    if not files:
        db.execute("delete from code_index where key = ?", (key,))
    return _remove_files(db, files, change)


def merge_words(db: sqlite3.Connection, *, begin: bool) -> bool:
    """Takes the words of destroyed chunks out of the full-text index, a bit at a time; False when none are left.

    To begin is to choose what is merged; what others write after that is not waited for.
    """
    before = db.total_changes
    db.execute("insert into code_words (code_words, rank) values ('merge', ?)", (-MERGED if begin else MERGED,))
    return db.total_changes - before >= 2


def add_words(db: sqlite3.Connection) -> None:
    """Fills an empty full-text index with the terms of every chunk."""
    rows = db.execute(CHUNK.replace("select ", "select c.num, ", 1))
    while some := rows.fetchmany(AT_ONCE):
        chunks = [(row[0], chunk_of(row[1:])) for row in some]
        db.executemany(_WORDS, [(num, *indexed(stored.path, stored.chunk)) for num, stored in chunks])
    _next_change(db)


def _next_change(db: sqlite3.Connection) -> int:
    query = "update counter set value = value + 1 where name = 'code_change' returning value"
    return int(db.execute(query).fetchone()[0])


def _numbers(db: sqlite3.Connection, key: str, paths: Iterable[str]) -> dict[str, int]:
    query = f"select path, num from code_file where owner = ? and path {AMONG}"
    return dict(db.execute(query, (key, among(paths))))


def _replace(db: sqlite3.Connection, key: str, files: Mapping[str, CodeFile], change: int, wording: Wording) -> None:
    known = _known(db, key, files)
    numbers = {path: _save_file(db, key, file) for path, file in files.items()}
    kept: list[tuple[Known, Fresh]] = []
    gone: list[int] = []
    new: list[tuple[str, Fresh]] = []
    for path, file in files.items():
        now = fresh(key, path, file.parsed.language, file.parsed.chunks)
        pairs, unknown, lost = matched(known[path], now)
        kept += pairs
        new += [(path, one) for one in unknown]
        gone += lost
    _drop_chunks(db, gone, change)
    _touch(db, kept)
    _add(db, key, [(files[path], numbers[path], one) for path, one in new], change, wording)
    _save_references(db, {numbers[path]: file.parsed.references for path, file in files.items()})


def _known(db: sqlite3.Connection, key: str, paths: Iterable[str]) -> defaultdict[str, list[Known]]:
    known: defaultdict[str, list[Known]] = defaultdict(list)
    rows = db.execute(
        f"""select f.path, c.num, c.id, c.digest, c.start_line, c.end_line
            from code_file f join code_chunk c on c.file = f.num where f.owner = ? and f.path {AMONG}""",
        (key, among(paths)),
    )
    for path, *row in rows:
        known[path].append(Known(*row))
    return known


def _save_file(db: sqlite3.Connection, key: str, file: CodeFile) -> int:
    mark = file.mark
    row = (key, file.path, file.parsed.language, mark.digest, mark.size, mark.modified)
    return int(db.execute(_FILE, row).fetchone()[0])


def _touch(db: sqlite3.Connection, kept: Iterable[tuple[Known, Fresh]]) -> None:
    """New lines and ids for chunks that say the same as before."""
    moved = [
        (one.id, one.chunk.start_line, one.chunk.end_line, before.num)
        for before, one in kept
        if (before.id, *before[3:]) != (one.id, one.chunk.start_line, one.chunk.end_line)
    ]
    # Two may swap their ids: none has its own while they are handed out.
    _park(db, "code_chunk", "id", [num for *_, num in moved])
    db.executemany("update code_chunk set id = ?, start_line = ?, end_line = ? where num = ?", moved)


def _park(db: sqlite3.Connection, table: str, column: str, numbers: Iterable[int]) -> None:
    db.execute(f"update {table} set {column} = '?' || num where num {AMONG}", (among(numbers),))


def _add(
    db: sqlite3.Connection, key: str, new: Sequence[tuple[CodeFile, int, Fresh]], change: int, wording: Wording
) -> None:
    row = db.execute("select seq from sqlite_sequence where name = 'code_chunk'").fetchone()
    first = row[0] + 1 if row else 1
    rows, words = [], []
    for num, (file, number, (id, made_of, chunk)) in enumerate(new, start=first):
        language, name = file.parsed.language, spelled(chunk.qualified)
        rows.append(
            (
                *(num, id, key, number, language, chunk.kind.value, chunk.name, chunk.parent, chunk.signature),
                *(chunk.doc, chunk.text, chunk.start_line, chunk.end_line, chunk.part),
                *(name.rpartition(".")[2], name, made_of, change),
            )
        )
        words.append((num, *wording.of(file.path, language, chunk)))
    db.executemany(_INSERT, rows)
    db.executemany(_WORDS, words)


def _save_references(db: sqlite3.Connection, references: Mapping[int, Iterable[Reference]]) -> None:
    rows = [
        (name, file, json.dumps(lines, separators=(",", ":")))
        for file, used in references.items()
        for name, lines in lines_of(used).items()
    ]
    db.execute(f"delete from code_reference where file {AMONG}", (among(references),))
    db.executemany("insert into code_reference values (?, ?, ?)", sorted(rows))


def _move(db: sqlite3.Connection, key: str, targets: Mapping[str, str], change: int, wording: Wording) -> None:
    """Gives files another path, in place of whatever was there; their chunks get other ids and keep their vectors."""
    numbers = _numbers(db, key, targets)
    taken = _numbers(db, key, targets.values())
    _remove_files(db, [num for path, num in taken.items() if path not in targets], change)
    stored: defaultdict[str, list[tuple[Chunk, int, str]]] = defaultdict(list)
    for num, one in stored_in(db, key, targets):
        stored[targets[one.path]].append((one.chunk, num, one.language))
    _park(db, "code_file", "path", numbers.values())
    db.executemany("update code_file set path = ? where num = ?", [(targets[old], num) for old, num in numbers.items()])
    ids, words = [], []
    for path, chunks in stored.items():
        chunks.sort(key=lambda one: (one[0].start_line, one[0].end_line))
        made = ids_of(key, path, [(chunk.qualified, chunk.part) for chunk, *_ in chunks])
        ids += [(id, num) for id, (_, num, _) in zip(made, chunks, strict=True)]
        words += [(num, *wording.of(path, language, chunk)) for chunk, num, language in chunks]
    _park(db, "code_chunk", "id", [num for _, num in ids])
    db.executemany("update code_chunk set id = ? where num = ?", ids)
    db.execute(f"delete from code_words where rowid {AMONG}", (among(num for _, num in ids),))
    db.executemany(_WORDS, words)


def _remove_files(db: sqlite3.Connection, files: Collection[int], change: int) -> int:
    """Says how many chunks they had."""
    these = among(files)
    chunks = [num for (num,) in db.execute(f"select num from code_chunk where file {AMONG}", (these,))]
    _drop_chunks(db, chunks, change)
    db.execute(f"delete from code_reference where file {AMONG}", (these,))
    db.execute(f"delete from code_file where num {AMONG}", (these,))
    return len(chunks)


def _drop_chunks(db: sqlite3.Connection, chunks: Sequence[int], change: int) -> None:
    if not chunks:
        return
    these = among(chunks)
    embedded = f"select num, ? from code_chunk where num {AMONG} and model is not null"
    db.execute(f"insert into code_gone {embedded}", (change, these))
    _drop_vectors(db, chunks)
    db.execute(f"delete from code_words where rowid {AMONG}", (these,))
    db.execute(f"delete from code_chunk where num {AMONG}", (these,))
    shorten_gone(db, change)


def shorten_gone(db: sqlite3.Connection, change: int, most: int = 20_000) -> None:
    """Empties a long list of destroyed chunks; other processes then read their copies of the vectors anew."""
    if db.execute("select count(*) from code_gone").fetchone()[0] > most:
        db.execute("delete from code_gone")
        db.execute("update counter set value = ? where name = 'code_forgotten'", (change,))


def _drop_vectors(db: sqlite3.Connection, chunks: Iterable[int]) -> None:
    these = among(chunks)
    db.execute(f"delete from code_vector where num in (select num from code_sign where chunk {AMONG})", (these,))
    db.execute(f"delete from code_sign where chunk {AMONG}", (these,))
