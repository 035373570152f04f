"""Looking after the database: is it sound, and how full is it."""

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from retain.domain.places import user_in
from retain.stores.surreal.code import upkeep as code_upkeep
from retain.stores.surreal.counting import number_for
from retain.stores.surreal.link.database import Database
from retain.stores.surreal.vectors import pages
from retain.stores.surreal.vectors.numbers import vector_numbers
from retain.stores.surreal.words import searchable

# Where the id of a memory stands in another table.
_OF_MEMORIES = {
    "access counts": "SELECT VALUE id FROM access",
    "history": "SELECT VALUE memory FROM memory_history",
    "links": "SELECT VALUE in FROM memory_entity",
    "contradictions": "SELECT VALUE older FROM contradiction",
    "contradictions with": "SELECT VALUE newer FROM contradiction",
    "ties": "SELECT VALUE source FROM tie",
    "ties to": "SELECT VALUE target FROM tie",
}
_OF_ENTITIES = {
    "links to": "SELECT VALUE out FROM memory_entity",
    "relations of": "SELECT VALUE in FROM relates_to",
    "relations to": "SELECT VALUE out FROM relates_to",
}
_TRIES = 4
# Measured with 1,900 chunks of 1 MB: 7.6 MB of records, a third of it vectors and the rest as long as there are words.
_VECTOR_OF_CODE, _TERM_OF_CODE = 1300, 25


def settled_faults(db: Database) -> list[str]:
    """What is wrong while nobody writes. It takes many reads, and what others write between two of them does not fit:
    then all is read again, and what is found every time is told."""
    moment, found = _moment(db), faults(db)
    for _ in range(_TRIES):
        if not found or moment == (moment := _moment(db)):
            break
        again = faults(db)
        found = [fault for fault in found if fault in again]
    return found


def _moment(db: Database) -> Any:
    return db.view(
        "counter:change.value", "counter:code.value", "counter:pages.value", "SELECT VALUE held FROM code_index"
    )


def faults(db: Database) -> list[str]:
    """What is wrong with the database, a line each: rows that belong to nothing, and what is kept a second time, so
    that it is found quickly, and does not fit the memories. Reads all of it: some seconds for 100,000 memories."""
    return [*_stray(db), *_repeated(db), *_vectors(db), *pages.faults(db), *_terms(db), *code_upkeep.faults(db)]


def folder_bytes(folder: Path) -> int:
    total = 0
    for file in folder.rglob("*"):
        with suppress(FileNotFoundError):  # the engine merges its files at any moment
            total += file.stat().st_size if file.is_file() else 0
    return total


def counted_bytes(db: Database) -> int:
    """About what memories and code take, as every write has counted it."""
    memories, indexes = db.view("counter:change.bytes", "SELECT VALUE [held.embedded, held.terms] FROM code_index")
    code: int = sum(_VECTOR_OF_CODE * embedded + _TERM_OF_CODE * terms for embedded, terms in indexes)
    return int(memories) + code


def _stray(db: Database) -> Iterable[str]:
    memories = set(db.rows("SELECT VALUE id FROM memory"))
    entities = set(db.rows("SELECT VALUE id FROM entity"))
    for there, whose, queries in ((memories, "no memory", _OF_MEMORIES), (entities, "no entity", _OF_ENTITIES)):
        for what, query in queries.items():
            strays = sum(id not in there for id in db.rows(query))
            if strays:
                yield f"{strays} {what} {whose}"
    destroyed = memories.intersection(db.rows("SELECT VALUE id FROM tombstone"))
    if destroyed:
        yield f"{len(destroyed)} destroyed memories that are there"


def _repeated(db: Database) -> Iterable[str]:
    """Places, states and words, which other tables have of a memory too, and the numbers by which it is counted."""
    rows = db.rows("SELECT VALUE [id, place, state, words, counted_user, counted_place] FROM memory")
    texts = {id: (place, state, searchable(words)) for id, place, state, words, *_ in rows}
    found = {memory: tuple(text) for memory, *text in db.rows("SELECT VALUE [memory, place, state, words] FROM text")}
    if found != texts:
        wrong = sum(found.get(id) != text for id, text in texts.items()) + len(found.keys() - texts.keys())
        yield f"{wrong} texts to search in are not as the memories have them"
    links = db.rows("SELECT VALUE [in, place, state] FROM memory_entity")
    if moved := sum(id in texts and texts[id][:2] != (place, state) for id, place, state in links):
        yield f"{moved} links have another place or state than their memory"
    counted = {place: (number_for(user_in(place)), number_for(place)) for place, _, _ in texts.values()}
    if wrong := sum(counted[place] != (user, number) for _, place, _, _, user, number in rows):
        yield f"{wrong} memories are counted elsewhere than they are"


def _vectors(db: Database) -> Iterable[str]:
    yield from _vectors_of(db, "memory", "vector", "memories")
    yield from _vectors_of(db, "code_entry", "code_vector", "chunks of code")


def _vectors_of(db: Database, items: str, vectors: str, what: str) -> Iterable[str]:
    embedded: list[Any] = db.rows(f"SELECT num, array::len(signs) AS chunks FROM {items} WHERE model != NULL")
    wanted = {number for row in embedded for number in vector_numbers(row["num"], row["chunks"])}
    there = set(db.rows(f"SELECT VALUE id FROM {vectors}"))
    if wanted - there:
        yield f"{len(wanted - there)} vectors of {what} are missing"
    if there - wanted:
        yield f"{len(there - wanted)} vectors of no {what}"


def _terms(db: Database) -> Iterable[str]:
    """The counts that the search by words goes by, against the texts."""
    words = [text.split() for text in db.rows("SELECT VALUE words FROM memory")]
    holding = Counter(term for text in words for term in set(text))
    counted = {row["id"]: row["n"] for row in db.rows("SELECT id, n FROM term WHERE n != 0")}
    if counted != holding:
        yield "the counts of terms and the texts of memories disagree"
    told = db.run("SELECT documents, length FROM ONLY counter:change")[0]
    if (told["documents"], told["length"]) != (len(words), sum(map(len, words))):
        yield "the count of texts and the texts of memories disagree"
