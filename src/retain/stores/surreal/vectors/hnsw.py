"""The nearest vectors by an index in the database, for a process that has not read the sign bits yet.

The bits of a million memories are 200 MB, and a command that asks one question should not wait for them.
So a database that many share has the vectors once more, in a table with an HNSW index. It is filled from
behind, by processes that stay: what has changed since is read beside it, and every score comes from the numbers
in `vector`, so that a row that is out of date finds nothing wrong.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from retain.domain.memory import MemoryId, Vector
from retain.domain.model import alike, earlier
from retain.domain.recall import MIN_COSINE, Filter, Found
from retain.stores.signs import check_dimensions
from retain.stores.surreal.filters import where
from retain.stores.surreal.link.cbor import record, records
from retain.stores.surreal.link.database import Batch, Database
from retain.stores.surreal.link.failures import STALE
from retain.stores.surreal.vectors.numbers import NEAREST, item_of, last_vector, table_of, vector_numbers
from retain.stores.surreal.vectors.signs import MemoryVectors, Sight

# How the graph is built, and how widely it is searched. Among 10,000 real vectors (benchmarks/nearest.py) recall@10 is
# 0.998 or more with any width from 100 on; among 5,000, asked for by whole texts, it is 0.945 with a width of 200,
# 0.966 with 300 and 0.986 with 400, which takes 3 ms more.
BUILT = "EFC 150 M 16"
WIDTH = 400
# The index knows no filter, so more are asked for than are wanted.
WIDER, FEWEST = 4, 100
# More changes than these, and reading what has changed costs more than it saves.
NEWEST = 2000
# Rows of one transaction: a filling process is no hindrance to those who write.
PORTION = 50
Scored = dict[int, float]


@dataclass(frozen=True, slots=True)
class When:
    """From when on the index is used and filled."""

    above: int = 10_000
    """Memories. To read the bits of so many from pages takes 0.03 s of work and 2 MB, which is 0.2 s on a common
    network; to search the index 0.08 s and 0.1 MB."""
    behind: int = 200
    """Changes that it may lack before somebody fills it."""
    pause: float = 2.0
    """Seconds until a process that has searched reads the bits or fills the index: one that lives so long will search
    again."""


def search(sight: Sight, model: str, vector: Vector, wanted: Filter, limit: int) -> Found | None:
    """The nearest that pass the filter; None when too few of those that are nearest at all do, or are known."""
    k = max(WIDER * limit, FEWEST)
    reached = _reached(sight, model, vector, k)
    if reached is None:
        return None
    scored, is_whole = reached
    best: dict[MemoryId, tuple[float, int]] = {}
    for number, score in scored.items():
        item = item_of(number)
        best[sight.names[item]] = max((score, item), best.get(sight.names[item], (0.0, item)))
    passed = passing(sight.db, model, wanted, best)
    if len(passed) < limit and not is_whole:
        return None
    ranked = sorted(passed, key=lambda id: best[id][0], reverse=True)
    return Found({id: best[id][0] for id in ranked[:limit]}, {best[id][1] for id in ranked}, is_whole)


def passing(db: Database, model: str, wanted: Filter, ids: Iterable[MemoryId]) -> set[MemoryId]:
    """Those of the memories that pass a filter, and still have vectors by the model."""
    conditions, bound = where(wanted)
    query = f"SELECT VALUE id FROM $ids WHERE model IN $models AND {conditions}"
    return set(db.rows(query, ids=records("memory", ids), models=alike(model), **bound))


def fill(sight: Sight, model: str) -> bool:
    """Brings the next portion of what has changed into the table; False when nothing is left to bring.

    Several processes may be at it: each portion is brought by one of them, and Overtaken is for the others.
    """
    source, table = MemoryVectors(model), table_of(model)
    if sight.filled is None:
        _define(sight.db, table, sight.dimensions)
        sight.filled = 0
    portion = next(source.rows(sight, sight.filled, PORTION), [])
    upto = portion[-1][0] if portion else sight.change
    gone = "SELECT VALUE num FROM tombstone WHERE changed > $since AND changed <= $upto"
    numbers = source.numbers(sight, [row[1] for row in portion], PORTION)
    rows = [{"id": id, "v": _floats(half)} for some in numbers for id, half in some]
    batch = Batch()
    moved = "LET $moved = (UPDATE ONLY $? SET value = $? WHERE value = $?)"
    batch.add(moved, record("counter", table), upto, sight.filled)
    batch.add(f"IF $moved = NONE {{ THROW '{STALE}' }}")
    batch.insert(table, rows, "v = $input.v")
    forget(batch, [table], sight.db.rows(gone, since=sight.filled, upto=upto))
    sight.db.commit(batch)
    sight.filled = upto
    return upto < sight.change


def tables(db: Database) -> list[str]:
    """Those that there are, one for each model."""
    return [name for name in db.rows("SELECT VALUE id FROM counter") if name.startswith(NEAREST)]


def drop_earlier(db: Database, model: str) -> None:
    """Takes away the tables of earlier files of a model: its own has their vectors too."""
    for name in {table_of(name) for name in earlier(model)}.intersection(tables(db)):
        db.run(f"REMOVE TABLE IF EXISTS {name}; DELETE type::record('counter', $name) RETURN NONE", name=name)


def forget(batch: Batch, tables: Iterable[str], nums: Iterable[int]) -> None:
    """Destroys the vectors of memories here too."""
    spans = [[vector_numbers(num, 1)[0], last_vector(num)] for num in nums]
    for table in tables if spans else ():
        batch.add(f"FOR $span IN $? {{ DELETE type::record('{table}', $span[0]..=$span[1]) RETURN NONE }}", spans)


def _reached(sight: Sight, model: str, vector: Vector, k: int) -> tuple[Scored, bool] | None:
    """The cosines of the nearest and of what the index does not know yet, and whether there are no more."""
    import numpy as np

    check_dimensions(model, sight.dimensions, vector)
    query = np.frombuffer(vector, dtype="<f4")
    nearest, newest = sight.db.run(
        f"SELECT VALUE id FROM {table_of(model)} WHERE v <|{k},{max(k, WIDTH)}|> $vector;"
        "SELECT VALUE [num, array::len(signs)] FROM memory WITH INDEX memory_changed "
        f"WHERE changed > $filled AND model IN $models LIMIT {NEWEST + 1}",
        vector=query.tolist(),
        filled=sight.filled,
        models=alike(model),
    )
    if len(newest) > NEWEST:
        return None
    vectors = list(dict.fromkeys([*nearest, *(number for num, n in newest for number in vector_numbers(num, n))]))
    scored: Scored = {}
    for some in MemoryVectors(model).numbers(sight, vectors, len(vectors)):
        for number, numbers in some:
            # A vector may be by another model by now, and of another length.
            if len(numbers) == 2 * len(query):
                scored[number] = min(float(np.frombuffer(numbers, dtype="<f2").astype(np.float32) @ query), 1.0)
    is_whole = len(nearest) < k or any(scored.get(number, 1.0) < MIN_COSINE for number in nearest)
    return {number: score for number, score in scored.items() if score >= MIN_COSINE}, is_whole


def _define(db: Database, table: str, dimensions: int) -> None:
    db.run(
        f"DEFINE TABLE IF NOT EXISTS {table} SCHEMAFULL; DEFINE FIELD IF NOT EXISTS v ON {table} TYPE array<float>;"
        f"DEFINE INDEX IF NOT EXISTS {table}_v ON {table} FIELDS v "
        f"HNSW DIMENSION {int(dimensions)} DIST COSINE TYPE F32 {BUILT};"
        "UPSERT $counter SET value = value ?? 0",
        counter=record("counter", table),
    )


def _floats(numbers: bytes) -> list[Any]:
    import numpy as np

    floats: list[Any] = np.frombuffer(numbers, dtype="<f2").astype(np.float64).tolist()
    return floats
