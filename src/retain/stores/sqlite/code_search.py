"""Finding code: by words, by vector, by name, and by the lines that use a name."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from retain.domain.code import Chunk, ChunkKind, CodeFilter, Mark, Occurrence, StoredChunk
from retain.stores.code_matching import innermost, spelled
from retain.stores.code_wording import ENOUGH, WEIGHTS
from retain.stores.filtered_signs import CodeSigns
from retain.stores.sqlite.code import CHUNK, chunk_of, where
from retain.stores.sqlite.rows import AMONG, among
from retain.stores.sqlite.vectors import SqliteSource
from retain.stores.sqlite.words import queries

_IN_ORDER = "f.path, f.owner, c.start_line, c.part"
_KINDS = {kind.value: kind for kind in ChunkKind}


class CodeVectors(SqliteSource):
    counter = "code_change"
    loading = """select c.changed, s.num, s.chunk, s.bits, c.owner, c.language
        from code_chunk c indexed by code_chunk_changed cross join code_sign s on s.chunk = c.num and s.model = c.model
        where c.model in (select value from json_each(?1)) and c.changed > ?2 order by c.changed"""
    changing = """select num from code_chunk where changed > ?1 and model is not null
        union all select num from code_gone where changed > ?1"""
    numbering = f"select num, numbers from code_vector where num {AMONG}"
    naming = f"select num, id from code_chunk where num {AMONG}"

    def outlived(self, db: sqlite3.Connection, since: int) -> bool:
        (forgotten,) = db.execute("select value from counter where name = 'code_forgotten'").fetchone()
        return bool(since < forgotten)


def code_signs(name: str, numbers: Sequence[int], dimensions: int) -> CodeSigns[sqlite3.Connection]:
    return CodeSigns(CodeVectors(numbers), name, dimensions)


def by_words(
    db: sqlite3.Connection, terms: Sequence[str], holding: dict[str, int], wanted: CodeFilter, limit: int
) -> dict[str, float]:
    conditions, values = where(wanted, "c")
    # The inner limit bounds the work where even the rarest term is everywhere.
    ranking = f"""select id, score from (
        select c.id, -bm25(code_words, {", ".join(map(str, WEIGHTS))}) as score
        from code_words cross join code_chunk c on c.num = code_words.rowid
        where code_words match ? and {conditions} limit {ENOUGH}) order by score desc limit ?"""
    ranked: dict[str, float] = {}
    for query in queries(terms, holding, ENOUGH):
        # Those that hold more of the terms together were found first, with more to their score.
        ranked = {**dict(db.execute(ranking, (query, *values, limit))), **ranked}
        if len(ranked) >= limit:
            break
    best = sorted(ranked, key=ranked.__getitem__, reverse=True)[:limit]
    return {id: ranked[id] for id in best}


def named(db: sqlite3.Connection, names: Sequence[str], wanted: CodeFilter, limit: int) -> list[StoredChunk]:
    """Those whose whole qualified name was asked for come first; a name may leave out what is around it."""
    asked = [spelled(name) for name in names if name.strip()]
    conditions, values = where(wanted, "c")
    rows = db.execute(
        f"""{CHUNK} where c.last_name {AMONG} and {conditions}
            and exists (select 1 from json_each(?) asked where substr('.' || c.full_name, -length(value)) = value)
            order by c.full_name {AMONG} desc, {_IN_ORDER} limit ?""",
        (
            *(among(name.rpartition(".")[2] for name in asked), *values),
            *(among(f".{name}" for name in asked), among(asked), limit),
        ),
    )
    return [chunk_of(row) for row in rows]


def chunks(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, StoredChunk]:
    found = {row[0]: chunk_of(row) for row in db.execute(f"{CHUNK} where c.id {AMONG}", (among(ids),))}
    return {id: found[id] for id in ids if id in found}


def occurrences(db: sqlite3.Connection, name: str, wanted: CodeFilter, limit: int) -> list[Occurrence]:
    """Lines with the name exactly as it is spelled; only where there are none, in any case."""
    rows = _using(db, [name], wanted, limit) or _using(db, _spelled_alike(db, name), wanted, limit)
    lines = [(file, owner, path, line) for file, owner, path, on in rows for line in json.loads(on)][:limit]
    around = _spans(db, {file for file, *_ in lines})
    return [Occurrence(owner, path, line, innermost(around[file], line)) for file, owner, path, line in lines]


def _using(db: sqlite3.Connection, names: Sequence[str], wanted: CodeFilter, limit: int) -> list[Any]:
    conditions, values = where(wanted, "f")
    query = f"""select f.num, f.owner, f.path, r.lines from code_reference r join code_file f on f.num = r.file
        where r.name {AMONG} and {conditions} order by f.path, f.owner, r.name limit ?"""
    return db.execute(query, (among(names), *values, limit)).fetchall()


def _spelled_alike(db: sqlite3.Connection, name: str) -> list[str]:
    """The names that differ in their case alone. SQLite knows the case of ASCII; the few others are looked at here."""
    query = "select distinct name from code_reference where name = ? collate nocase or name glob '*[^ -~]*'"
    return [other for (other,) in db.execute(query, (name.casefold(),)) if other.casefold() == name.casefold()]


def symbols(db: sqlite3.Connection, key: str) -> list[StoredChunk]:
    query = CHUNK.replace("c.text", "''").replace("c.doc", "''")
    rows = db.execute(f"{query} where c.owner = ? and c.part = 0 and c.name <> '' order by {_IN_ORDER}", (key,))
    # A project has tens of thousands: one mark for all of a file takes a third less time than one for each.
    marks: dict[str, Mark] = {}
    found = []
    for id, owner, path, language, digest, size, modified, kind, *rest in rows:
        mark = marks.get(path) or marks.setdefault(path, Mark(digest, size, modified))
        found.append(StoredChunk(id, owner, path, language, mark, Chunk(_KINDS[kind], *rest)))
    return found


def uses(db: sqlite3.Connection, key: str) -> list[tuple[str, str, int]]:
    # Counting commas takes a quarter of the time of json_array_length; no list of lines is empty.
    return db.execute(
        """select f.path, r.name, 1 + length(r.lines) - length(replace(r.lines, ',', ''))
           from code_file f join code_reference r on r.file = f.num where f.owner = ? order by f.path, r.name""",
        (key,),
    ).fetchall()


def _spans(db: sqlite3.Connection, files: set[int]) -> defaultdict[int, list[tuple[int, int, str]]]:
    """The lines of every chunk in these files, by file, with its qualified name."""
    spans: defaultdict[int, list[tuple[int, int, str]]] = defaultdict(list)
    rows = db.execute(
        f"""select file, start_line, end_line, parent, name from code_chunk where file {AMONG} order by num""",
        (among(files),),
    )
    for file, start, end, parent, name in rows:
        spans[file].append((start, end, f"{parent}.{name}" if parent else name))
    return spans
