"""Saving the vectors of chunks of code."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from retain.domain.memory import Vector
from retain.stores.signs import check_dimensions, pack
from retain.stores.surreal import migrations
from retain.stores.surreal.code.indexes import guard_index
from retain.stores.surreal.link.cbor import record, records
from retain.stores.surreal.link.database import Batch, Database
from retain.stores.surreal.vectors.numbers import vector_numbers

# One statement, so that all of it is of one moment.
_KNOWN = """RETURN {
    LET $numbers = (SELECT VALUE num FROM $chunks);
    LET $entries = (SELECT chunk, num, owner, model, array::len(signs) AS parts
        FROM $numbers.map(|$number| type::record('code_entry', $number)));
    LET $indexes = array::distinct($entries.owner).map(|$owner| type::record('code_index', $owner));
    RETURN [(SELECT VALUE number FROM migration), type::record('model', $model).dimensions, $entries,
        (SELECT VALUE [id.id(), change] FROM $indexes)]
}"""
_EMBEDDED = "UPDATE $row.id MERGE object::extend($row, { changed: $next.value }) RETURN NONE"


def save(db: Database, model: str, vectors: Mapping[str, Sequence[Vector]]) -> None:
    """A chunk that has gone meanwhile is passed over."""
    made = {id: parts for id, parts in vectors.items() if parts}
    ((versions, dimensions, there, indexes),) = db.run(_KNOWN, chunks=records("code_chunk", made), model=model)
    migrations.check_version(max(versions, default=0))
    if not there:
        return
    batch = Batch()
    new = Counter(row["owner"] for row in there if row["model"] is None)
    for index, change in indexes:
        guard_index(batch, index, change, {"embedded": new[index]})
    batch.add("LET $next = (UPDATE ONLY counter:code SET value += 1)")
    _check_model(batch, model, dimensions, [vector for row in there for vector in made[row["chunk"]]])
    entries: list[dict[str, Any]] = []
    rows: dict[int, dict[str, Any]] = {}
    for row in there:
        num, id = row["num"], row["chunk"]
        packed = [pack(vector) for vector in made[id]]
        signs = [bits for bits, _ in packed]
        entries.append({"id": record("code_entry", num), "model": model, "signs": signs})
        places = zip(vector_numbers(num, len(packed)), packed, strict=True)
        rows |= {at: {"chunk": id, "numbers": numbers} for at, (_, numbers) in places}
    old = {at for row in there for at in vector_numbers(row["num"], row["parts"])}
    batch.delete(records("code_vector", old.difference(rows)))
    batch.put("code_vector", rows, old)
    batch.add(f"FOR $row IN $? {{ {_EMBEDDED} }}", entries)
    db.commit(batch)


def _check_model(batch: Batch, model: str, dimensions: int | None, vectors: Sequence[Vector]) -> None:
    """A model is noted with its first vectors, and keeps their length."""
    expected = dimensions or len(vectors[0]) // 4
    for vector in vectors:
        check_dimensions(model, expected, vector)
    if dimensions is None:
        batch.insert("model", [{"id": model, "dimensions": expected}], "dimensions = dimensions")
