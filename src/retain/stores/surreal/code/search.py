"""Finding code: by words, by name, and by the lines that use a name."""

from collections.abc import Sequence
from typing import Any

from retain.domain.code import CodeFilter, Mark, Occurrence, StoredChunk
from retain.stores.code_matching import innermost, spelled
from retain.stores.surreal.code.indexes import chunks
from retain.stores.surreal.code.outlines import chunks_of, uses_of
from retain.stores.surreal.code.ranking import ranked
from retain.stores.surreal.link.cbor import records
from retain.stores.surreal.link.database import Database, Statements

_OUTLINES = "SELECT VALUE [id.id()[1], chunks] FROM code_outline:[$key]..[$key, {}]"
_FILES = "SELECT VALUE [id.id()[1], language, digest, size, modified] FROM code_file:[$key]..[$key, {}]"


def by_words(db: Database, terms: Sequence[str], wanted: CodeFilter, limit: int) -> dict[str, float]:
    scores = ranked(db, terms, wanted, limit)
    named = dict(db.rows("SELECT VALUE [num, chunk] FROM $entries", entries=records("code_entry", scores)))
    return {named[num]: score for num, score in scores.items() if num in named}


def named(db: Database, names: Sequence[str], wanted: CodeFilter, limit: int) -> list[StoredChunk]:
    """Those whose whole qualified name was asked for come first; a name may leave out what is around it."""
    asked = [spelled(name) for name in names if name.strip()]
    statements = Statements()
    for index in wanted.indexes:
        for last in dict.fromkeys(name.rpartition(".")[2] for name in asked):
            statements.add(
                """SELECT VALUE [full_name, path, owner, start_line, part, id, language] FROM code_chunk
                   WHERE owner = $? AND last_name = $?""",
                *(index, last),
            )
    results = db.run(statements.query, **statements.bound) if asked and wanted.indexes else []
    endings = tuple(f".{name}" for name in asked)
    found = [row for rows in results for row in rows if f".{row[0]}".endswith(endings) and _is_in(row[6], wanted)]
    found.sort(key=lambda row: (row[0] not in asked, *row[1:5]))
    return list(chunks(db, [row[5] for row in found[:limit]]).values())


def occurrences(db: Database, name: str, wanted: CodeFilter, limit: int) -> list[Occurrence]:
    """Lines with the name exactly as it is spelled; only where there are none, in any case."""
    using = _using(db, name, wanted)
    exact = [one for one in using if one[2] == name]
    some = sorted(exact or using)[:limit]
    files = {(index, path): None for path, index, _ in some}
    rows = db.rows("SELECT VALUE [id, chunks, uses] FROM $files", files=records("code_outline", map(list, files)))
    outlines = {(index, path): (chunks_of(text), uses_of(uses)) for (index, path), text, uses in rows}
    found = []
    for path, index, spelling in some:
        around, uses = outlines.get((index, path), ((), {}))
        spans = [(chunk.start_line, chunk.end_line, chunk.qualified) for chunk in around]
        found += [Occurrence(index, path, line, innermost(spans, line)) for line in uses.get(spelling, ())]
    return found[:limit]


def _using(db: Database, name: str, wanted: CodeFilter) -> list[tuple[str, str, str]]:
    """Files that use a name in any case, as (path, index, spelling)."""
    query = "SELECT VALUE id.id() FROM code_reference:[$?, $?]..[$?, $?, {}]"
    statements = Statements()
    for index in wanted.indexes:
        statements.add(query, *(index, name.casefold()) * 2)
    results: list[Any] = db.run(statements.query, **statements.bound) if wanted.indexes else []
    return [
        (path, index, spelling)
        for rows in results
        for index, _, path, spelling, language in rows
        if _is_in(language, wanted)
    ]


def symbols(db: Database, key: str) -> list[StoredChunk]:
    outlines, files = db.view(_OUTLINES, _FILES, key=key)
    # A project has tens of thousands: one mark for all of a file takes a third less time than one for each.
    marks = {path: (language, Mark(*mark)) for path, language, *mark in files}
    return [
        chunk.stored(key, path, *marks[path])
        for path, text in sorted(outlines)
        if path in marks
        for chunk in chunks_of(text)
        if chunk.name and not chunk.part
    ]


def uses(db: Database, key: str) -> list[tuple[str, str, int]]:
    rows = db.rows("SELECT VALUE [id.id()[1], uses] FROM code_outline:[$key]..[$key, {}]", key=key)
    return [(path, name, len(lines)) for path, text in sorted(rows) for name, lines in sorted(uses_of(text).items())]


def _is_in(language: str, wanted: CodeFilter) -> bool:
    return not wanted.languages or language in wanted.languages
