"""The search by sign bits on SurrealDB: it finds what SQLite finds, whatever the size of what is read at once."""

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from making import MODEL, START, a_memory, a_vector, an_embedding, at, ids, save, wanted
from retain.domain.changes import Changes
from retain.domain.memory import Vector
from retain.ports import Store
from retain.stores.signs import EXACT
from retain.stores.sqlite.store import MEMORY, SqliteStore
from retain.stores.surreal.link.connection import in_memory
from retain.stores.surreal.store import SurrealStore

COUNT = 3 * EXACT
FILTERS = (
    {},
    {"tags": ("even",)},
    {"tags": ("rare",)},
    {"stored_by": at(COUNT // 2)},
    {"tags": ("even", "rare"), "after": at(200)},
    {"tags": ("nothing",)},
)


def a_random_vector(random: Random) -> Vector:
    """About one of twenty topics, and as long as real ones: of shorter ones the signs say too little."""
    topic = Random(random.randrange(20))
    numbers = np.array([topic.gauss(0, 1) + 0.7 * random.gauss(0, 1) for _ in range(384)], dtype="<f4")
    return Vector((numbers / np.linalg.norm(numbers)).tobytes())


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[SurrealStore, SqliteStore]]:
    """The same memories in both, some with several vectors."""
    random, stores = Random(3), (SurrealStore(in_memory()), SqliteStore(MEMORY))
    for first in range(0, COUNT, 50):
        numbers = range(first, first + 50)
        tags = {n: ("even",) * (n % 2 == 0) + ("rare",) * (n % 40 == 0) for n in numbers}
        many = [a_memory(f"m{n}", f"text {n}", when=at(n), tags=tags[n]) for n in numbers]
        vectors = [[a_random_vector(random) for _ in range(1 + n % 3)] for n in numbers]
        embeddings = tuple(an_embedding(m.id, *some) for m, some in zip(many, vectors, strict=True))
        for store in stores:
            save(store, *many, embeddings=embeddings)
    yield stores
    for store in stores:
        store.close()


def begun(store: SurrealStore, at_once: int) -> SurrealStore:
    """As another process, that reads so many rows at once."""
    other = SurrealStore(store.db)
    _, index = other.by_signs.seen(other.db, MODEL)
    assert index
    index.rows_at_once = at_once
    return other


def scores(store: Store, question: Vector, **conditions: object) -> dict[str, float]:
    return dict(store.by_vector(question, MODEL, wanted(**conditions), 5).scores)


@pytest.mark.parametrize("conditions", FILTERS, ids=str)
def test_it_finds_what_sqlite_finds(both, conditions):
    surreal, sqlite = both
    random = Random(11)
    for question in (a_random_vector(random) for _ in range(10)):
        assert scores(surreal, question, **conditions) == pytest.approx(scores(sqlite, question, **conditions))
        near = [store.near(question, MODEL, wanted(**conditions), 0.68) for store in both]
        assert near[0] == pytest.approx(near[1])


def test_it_crowds_as_sqlite_does(both):
    asked = [f"m{n}" for n in range(0, COUNT, 25)]
    for conditions in ({}, {"tags": ("even",)}):
        crowded = [store.crowding(asked, MODEL, wanted(**conditions), 0.68) for store in both]
        assert {id: set(some) for id, some in crowded[0].items()} == {id: set(some) for id, some in crowded[1].items()}


@pytest.mark.parametrize("at_once", [7, 50, 120])
def test_all_are_read_however_few_at_once(both, at_once):
    surreal, sqlite = both
    question = a_random_vector(Random(4))
    other = begun(surreal, at_once)
    assert other.near(question, MODEL, wanted(), 0.5) == pytest.approx(sqlite.near(question, MODEL, wanted(), 0.5))


def test_numbers_that_were_read_are_read_again_when_they_change():
    store = SurrealStore(in_memory())
    other = SurrealStore(store.db)
    save(store, *(a_memory(id, f"text {id}") for id in "ab"))
    save(store, embeddings=tuple(an_embedding(id, a_vector(1)) for id in "ab"))
    assert sorted(ids(other.by_vector(a_vector(1), MODEL, wanted(), 9))) == ["a", "b"]
    save(store, embeddings=(an_embedding("a", a_vector(0, 1)),))
    assert ids(other.by_vector(a_vector(1), MODEL, wanted(), 9)) == ["b"]
    assert ids(other.by_vector(a_vector(0, 1), MODEL, wanted(), 9)) == ["a"]
    store.apply(Changes(at=START, purged=("a",)))
    assert ids(other.by_vector(a_vector(0, 1), MODEL, wanted(), 9)) == []
    store.close()


def test_another_life_of_the_database_is_read_anew():
    store = SurrealStore(in_memory())
    save(store, a_memory("a"), embeddings=(an_embedding("a", a_vector(1)),))
    assert ids(store.by_vector(a_vector(1), MODEL, wanted(), 9)) == ["a"]
    store.db.run("DELETE memory; DELETE vector; UPDATE counter:life SET value = 'another'")
    assert ids(store.by_vector(a_vector(1), MODEL, wanted(), 9)) == []
    store.close()
