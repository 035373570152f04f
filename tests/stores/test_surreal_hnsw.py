"""The index in the database: what a process finds that has not read the sign bits yet, and who keeps it filled."""

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from making import MODEL, START, a_memory, a_place, a_vector, an_embedding, ids, save, wanted
from retain.domain.changes import Changes
from retain.domain.memory import Vector
from retain.domain.model import BUNDLED, earlier
from retain.stores.surreal.link.connection import in_memory
from retain.stores.surreal.link.database import Database
from retain.stores.surreal.link.failures import Overtaken
from retain.stores.surreal.store import SurrealStore
from retain.stores.surreal.vectors import hnsw
from retain.stores.surreal.vectors.numbers import table_of

COUNT = 500


@pytest.fixture(scope="module")
def vectors() -> dict[str, Vector]:
    random = Random(5)
    return {f"m{n}": a_vector(8, *(random.gauss(0, 1) for _ in range(63))) for n in range(COUNT)}


@pytest.fixture(scope="module")
def filled(vectors: dict[str, Vector]) -> Iterator[Database]:
    """A database whose index has all the vectors."""
    store = SurrealStore(in_memory())
    named = list(vectors)
    for first in range(0, COUNT, 50):
        some = named[first : first + 50]
        embeddings = tuple(an_embedding(id, vectors[id]) for id in some)
        save(store, *(a_memory(id, f"text {id}", tags=("rare",) if id == "m7" else ()) for id in some))
        save(store, embeddings=embeddings)
    fill(store)
    store.db.run(f"REBUILD INDEX {table_of(MODEL)}_v ON {table_of(MODEL)}")  # a server does so by itself
    yield store.db
    store.close()


@pytest.fixture
def cold(filled: Database) -> SurrealStore:
    """As a process that has just begun."""
    return begun(filled)


def begun(db: Database, **when: float) -> SurrealStore:
    store = SurrealStore(db)
    store.hnsw = hnsw.When(above=0, **when)
    return store


def fill(store: SurrealStore) -> None:
    sight, _ = store.by_signs.seen(store.db, MODEL)
    while hnsw.fill(sight, MODEL):
        pass


def has_read_the_bits(store: SurrealStore) -> bool:
    _, index = store.by_signs.seen(store.db, MODEL)
    return bool(index and index.is_loaded)


def exact(vectors: dict[str, Vector], question: Vector, limit: int) -> list[str]:
    numbers = np.stack([np.frombuffer(vector, dtype="<f4") for vector in vectors.values()])
    cosines = numbers @ np.frombuffer(question, dtype="<f4")
    return [list(vectors)[place] for place in np.argsort(-cosines)[:limit]]


def rows(db: Database) -> int:
    return db.counted(table_of(MODEL), "true")


def test_it_finds_the_nearest_without_the_bits(cold, vectors):
    random, found, expected = Random(9), [], []
    for _ in range(20):
        question = a_vector(8, *(random.gauss(0, 1) for _ in range(63)))
        found += ids(cold.by_vector(question, MODEL, wanted(), 10))
        expected += exact(vectors, question, 10)
    assert sum(a == b for a, b in zip(found, expected, strict=True)) >= 0.95 * len(expected)
    assert not has_read_the_bits(cold)


def test_scores_are_the_same_as_by_the_bits(cold, filled, vectors):
    warm = begun(filled)
    warm.hnsw = None
    by_index, by_bits = (one.by_vector(vectors["m42"], MODEL, wanted(), 5) for one in (cold, warm))
    assert dict(by_index.scores) == pytest.approx(dict(by_bits.scores), abs=1e-5)
    assert ids(by_index)[0] == "m42"
    assert by_index.keys & by_bits.keys


def test_a_filter_that_lets_few_through_reads_the_bits(cold, vectors):
    found = cold.by_vector(vectors["m400"], MODEL, wanted(tags=("rare",)), 3)
    assert (ids(found), has_read_the_bits(cold)) == (["m7"], True)


def test_a_filter_holds(cold, vectors):
    assert ids(cold.by_vector(vectors["m1"], MODEL, wanted(places=(a_place("other"),)), 3)) == []


def test_asking_in_no_place_reads_the_bits(cold, vectors):
    cold.by_vector(vectors["m1"], MODEL, wanted(places=()), 1)
    assert has_read_the_bits(cold)


def test_what_has_changed_since_it_was_filled_is_found_as_it_is():
    store = SurrealStore(in_memory())
    save(store, *(a_memory(id, f"text {id}") for id in "abc"))
    save(store, embeddings=tuple(an_embedding(id, a_vector(1)) for id in "abc"))
    fill(store)
    save(store, a_memory("new", "another"), embeddings=(an_embedding("new", a_vector(1)),))
    save(store, embeddings=(an_embedding("a", a_vector(0, 1)),))
    save(store, a_memory("b", "without vectors now", version=2))
    store.apply(Changes(at=START, purged=("c",)))
    cold = begun(store.db)
    assert ids(cold.by_vector(a_vector(1), MODEL, wanted(), 9)) == ["new"]
    assert ids(cold.by_vector(a_vector(0, 1), MODEL, wanted(), 9)) == ["a"]
    fill(store)
    assert ids(begun(store.db).by_vector(a_vector(1), MODEL, wanted(), 9)) == ["new"]
    store.close()


def test_what_was_destroyed_leaves_it():
    store = SurrealStore(in_memory())
    save(store, a_memory("gone", "a"), a_memory("kept", "b"))
    save(store, embeddings=(an_embedding("gone", a_vector(1), a_vector(0, 1)), an_embedding("kept", a_vector(1))))
    fill(store)
    assert rows(store.db) == 3
    store.apply(Changes(at=START, purged=("gone",)))
    assert rows(store.db) == 1
    store.close()


def test_a_process_that_stays_fills_it_and_reads_the_bits():
    store = begun(in_memory(), behind=1)
    save(store, a_memory("one", "a"), embeddings=(an_embedding("one", a_vector(1)),))
    store.by_vector(a_vector(1), MODEL, wanted(), 1)
    store.background.wait()
    assert rows(store.db) == 1
    other = begun(store.db, pause=0)
    assert ids(other.by_vector(a_vector(1), MODEL, wanted(), 1)) == ["one"]
    other.background.wait()
    assert has_read_the_bits(other)
    store.close()


def test_of_two_that_fill_it_one_brings_each_portion():
    store = SurrealStore(in_memory())
    save(store, a_memory("one", "a"), embeddings=(an_embedding("one", a_vector(1)),))
    fill(store)
    save(store, a_memory("two", "b"), embeddings=(an_embedding("two", a_vector(1)),))
    one, other = (store.by_signs.seen(store.db, MODEL)[0] for _ in range(2))
    hnsw.fill(one, MODEL)
    with pytest.raises(Overtaken):
        hnsw.fill(other, MODEL)
    assert rows(store.db) == 2
    store.close()


def test_the_vectors_of_an_earlier_file_of_a_model_move_to_the_table_of_the_later_one():
    store, (old,) = SurrealStore(in_memory()), earlier(BUNDLED)
    save(store, a_memory("m1", "one"), embeddings=(an_embedding("m1", a_vector(1), model=old),))
    sight, _ = store.by_signs.seen(store.db, old)
    hnsw.fill(sight, old)
    assert hnsw.tables(store.db) == [table_of(old)]
    save(store, a_memory("m2", "two"), embeddings=(an_embedding("m2", a_vector(1, 0.1), model=BUNDLED),))
    staying = begun(store.db, behind=0, pause=0)
    assert ids(staying.by_vector(a_vector(1), BUNDLED, wanted(), 5)) == ["m1", "m2"]
    staying.background.wait()
    assert hnsw.tables(store.db) == [table_of(BUNDLED)]
    assert store.db.counted(table_of(BUNDLED), "true") == 2
    assert ids(begun(store.db).by_vector(a_vector(1), BUNDLED, wanted(), 5)) == ["m1", "m2"]
    store.close()
