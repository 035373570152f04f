"""Whether the tables of code agree with one another."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from retain.stores.surreal.code.outlines import chunks_of, uses_of
from retain.stores.surreal.code.words import numbers_in
from retain.stores.surreal.link.database import Database

File = tuple[str, str]


def faults(db: Database) -> Iterable[str]:
    """A line for each disagreement; reads all code but its texts."""
    indexes = {row["id"]: row["held"] for row in db.rows("SELECT id, held FROM code_index")}
    files: dict[File, str] = {
        tuple(id): language for id, language in db.rows("SELECT VALUE [id, language] FROM code_file")
    }
    outlines: dict[File, Any] = {tuple(row["id"]): row for row in db.rows("SELECT id, chunks, uses FROM code_outline")}
    if strays := sum(owner not in indexes for owner, _ in files):
        yield f"{strays} files of no code index"
    if outlines.keys() != files.keys():
        yield "code files and their outlines disagree"
    yield from _references(db, files, outlines)
    outlined = {chunk.num: chunk.id for row in outlines.values() for chunk in chunks_of(row["chunks"])}
    yield from _chunks(db, outlined)
    yield from _counts(db, indexes, files)


def _references(db: Database, files: Mapping[File, str], outlines: Mapping[File, Any]) -> Iterable[str]:
    used = {
        (owner, name.casefold(), path, name, files.get((owner, path), ""))
        for (owner, path), row in outlines.items()
        for name in uses_of(row["uses"])
    }
    if used != {tuple(id) for id in db.rows("SELECT VALUE id FROM code_reference")}:
        yield "code files and the names that they use disagree"


def _chunks(db: Database, outlined: Mapping[int, str]) -> Iterable[str]:
    rows = db.rows("SELECT VALUE [num, id, words] FROM code_chunk")
    entries = dict(db.rows("SELECT VALUE [num, chunk] FROM code_entry"))
    if {num: id for num, id, _ in rows} != outlined or entries != outlined:
        yield "code files and their chunks disagree"
    listed: defaultdict[int, set[str]] = defaultdict(set)
    for held in db.rows("SELECT VALUE held FROM code_words"):
        for term, entry in held.items():
            for num in numbers_in(entry):
                listed[num].add(term)
    if listed != {num: set(words.split()) for num, _, words in rows if words}:
        yield "chunks of code and the lists of their words disagree"


def _counts(db: Database, indexes: Mapping[str, Mapping[str, int]], files: Collection[File]) -> Iterable[str]:
    entries = db.rows("SELECT VALUE [owner, model != NULL] FROM code_entry")
    counted = Counter((owner, "files") for owner, _ in files)
    counted.update((owner, "chunks") for owner, _ in entries)
    counted.update((owner, "embedded") for owner, is_embedded in entries if is_embedded)
    for owner, length in db.rows("SELECT VALUE [owner, length] FROM code_chunk"):
        counted[owner, "terms"] += length
    for key, held in indexes.items():
        if any(counted[key, name] != number for name, number in held.items()):
            yield f"the counts of code index {key!r} and what it holds disagree"
