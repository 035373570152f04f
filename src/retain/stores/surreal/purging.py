"""Destroying memories with everything that holds their text; their ids stay, so that others learn of it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from retain.domain.graph import fold
from retain.domain.memory import MemoryId, user_of
from retain.stores.surreal import past_queries
from retain.stores.surreal.link.cbor import record, records
from retain.stores.surreal.link.database import Batch, Database
from retain.stores.surreal.rows import text_of
from retain.stores.surreal.vectors import hnsw, pages
from retain.stores.surreal.vectors.numbers import vector_numbers
from retain.stores.surreal.writing import MEMORY_BYTES, VECTOR_BYTES, count_terms

Rows = Sequence[Mapping[str, Any]]
_GONE = "id, num, user, session_id, position, content, title, tags, source, words, signs"


def purge(db: Database, batch: Batch, ids: Sequence[MemoryId], change: int) -> None:
    """Adds to a batch what destroys the memories; the batch binds `at`."""
    gone: Rows = db.rows(f"SELECT {_GONE} FROM $ids", ids=records("memory", dict.fromkeys(ids)))
    if not gone:
        return
    names = [row["id"] for row in gone]
    before: Rows = db.rows("SELECT memory, content, tags, rest FROM memory_history WHERE memory IN $ids", ids=names)
    _entities(db, batch, gone, before)
    _underive(db, batch, names, change)
    past_queries.forget(db, batch, gone, before)
    summaries = {(row["session_id"], row["user"]) for row in gone if row["session_id"]}
    if summaries:
        batch.add("UPDATE $? SET summary = NULL RETURN NONE", records("session", [list(key) for key in summaries]))
    batch.delete(records("vector", (n for row in gone for n in vector_numbers(row["num"], len(row["signs"])))))
    hnsw.forget(batch, hnsw.tables(db), [row["num"] for row in gone])
    pages.forget(db, batch, [row["num"] for row in gone])
    batch.delete(records("access", names))
    batch.delete([text_of(row) for row in gone])
    batch.bind("gone", names)
    for table, field in _NAMING:
        # In two steps: a DELETE finds nothing by IN on the first field of an index over two, where a SELECT does.
        batch.add(f"LET $naming = (SELECT VALUE id FROM {table} WHERE {field} IN $gone)")
        batch.add("DELETE $naming RETURN NONE")
    batch.delete(records("memory", names))  # its edges go with it
    stones = [{"id": row["id"], "num": row["num"], "user": row["user"], "changed": change} for row in gone]
    batch.add(
        "FOR $stone IN $? { UPSERT type::record('tombstone', $stone.id) CONTENT { at: $at, num: $stone.num, "
        "user: $stone.user, changed: $stone.changed } RETURN NONE }",
        stones,
    )
    _uncount(batch, gone)


# Where the id of a memory stands beside what was said of it.
_NAMING = [("memory_history", "memory"), ("served", "memory"), ("contradiction", "older"), ("contradiction", "newer")]
_NAMING += [("tie", "source"), ("tie", "target")]


def _uncount(batch: Batch, gone: Rows) -> None:
    words = [row["words"].split() for row in gone]
    counted = Counter(term for some in words for term in set(some))
    count_terms(batch, {term: -number for term, number in counted.items()}, counted)
    texts = sum(len(row["content"].encode()) for row in gone)
    size = 2 * texts + MEMORY_BYTES * len(gone) + VECTOR_BYTES * sum(len(row["signs"]) for row in gone)
    less = "UPDATE counter:change SET documents -= $?, length -= $?, bytes -= $? RETURN NONE"
    batch.add(less, len(gone), sum(map(len, words)), size)


def _entities(db: Database, batch: Batch, gone: Rows, before: Rows) -> None:
    """Entities of which no memory speaks any more, and that nobody made by hand: only what is gone named them."""
    memories = records("memory", (row["id"] for row in gone))
    linked = db.rows("SELECT VALUE out FROM memory_entity WHERE in IN $gone", gone=memories)
    # What an earlier version named, and nothing is linked to now.
    bare = db.rows("SELECT id, owner, folded FROM entity WHERE array::len(<-memory_entity) = 0")
    people = {row["user"] for row in gone}
    said = [fold(row["content"]) for row in (*gone, *before)]
    theirs = [entity for entity in bare if user_of(entity["owner"]) in people]
    named = [entity["id"] for entity in theirs if any(entity["folded"] in text for text in said)]
    suspects = list(dict.fromkeys([*linked, *named]))
    spoken = f"$suspects.map(|$one| (SELECT VALUE in FROM memory_entity WHERE out = $one LIMIT {len(gone) + 1}))"
    stated, speakers = db.run(
        f"SELECT VALUE id FROM $suspects WHERE stated; RETURN {spoken}", suspects=records("entity", suspects)
    )
    names = {row["id"] for row in gone}
    kept = {id for id, said in zip(suspects, speakers, strict=True) if set(said) - names}.union(stated)
    alone = set(suspects) - kept
    batch.delete(records("entity", alone))  # its relations go with it
    batch.delete(records("aged", alone))


def _underive(db: Database, batch: Batch, gone: Sequence[MemoryId], change: int) -> None:
    """What was made from destroyed memories stays, and no longer names them."""
    query = "SELECT id, derived_from FROM memory WHERE sources > 0 AND derived_from ANYINSIDE $gone"
    made = (row for row in db.rows(query, gone=list(gone)) if row["id"] not in gone)
    batch.merge([_without(row["id"], row["derived_from"], set(gone), change) for row in made])


def _without(id: MemoryId, sources: Iterable[MemoryId], gone: set[MemoryId], change: int) -> dict[str, Any]:
    left = [source for source in sources if source not in gone]
    return {"id": record("memory", id), "derived_from": left, "sources": len(left), "changed": change}
