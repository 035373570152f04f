"""Counts on SurrealDB, which are made without reading memories: they are those of SQLite, whoever else is there."""

from collections.abc import Iterator

import pytest

from making import MODEL, START, a_memory, a_place, a_relation, a_vector, an_embedding, an_entity, in_state, save
from retain.domain.changes import Changes
from retain.domain.memory import State, Vector
from retain.ports import Store
from retain.stores.sqlite.store import MEMORY, SqliteStore
from retain.stores.surreal.link.connection import in_folder
from retain.stores.surreal.store import SurrealStore

USERS = ("", "ada", "eve")
LONGER = Vector(a_vector(1) + bytes(256))


@pytest.fixture
def both(tmp_path) -> Iterator[tuple[Store, Store]]:
    stores = SurrealStore(in_folder(tmp_path / "surreal")), SqliteStore(MEMORY)
    yield stores
    for store in stores:
        store.close()


def a_graph(user: str) -> dict[str, tuple]:
    """Three things that a user knows, and how they hang together."""
    owner = a_place(user=user).owner
    entities = tuple(an_entity(f"{name}{user}", owner=owner) for name in ("Vault", "Gateway", "Queue"))
    return {
        "entities": entities,
        "relations": (a_relation(f"Vault{user}", f"Gateway{user}"), a_relation(f"Gateway{user}", f"Queue{user}")),
    }


def agree(both: tuple[Store, Store]) -> None:
    here, there = both
    for user in USERS:
        for model in (MODEL, "longer", "unknown", ""):
            assert here.counts(user, model) == there.counts(user, model)


def test_nothing_is_counted_in_an_empty_store(both):
    agree(both)


def test_of_one_who_is_alone_and_of_one_who_is_not_the_same_is_counted(both):
    for number, user in enumerate(USERS):
        for store in both:
            save(store, a_memory(f"m{number}", f"text {number}", place=a_place(user=user)), **a_graph(user))
        agree(both)
        assert [(both[0].counts(one, MODEL).entities, both[0].counts(one, MODEL).relations) for one in USERS] == [
            (3, 2) if one in USERS[: number + 1] else (0, 0) for one in USERS
        ]


def test_what_is_forgotten_destroyed_and_emptied_is_not_counted_any_more(both):
    for store in both:
        for user in USERS:
            save(store, *(a_memory(f"{user}{n}", f"{n}", place=a_place(user=user)) for n in range(4)), **a_graph(user))
        save(store, a_memory("ada1", "1", place=a_place(user="ada"), status=in_state(State.FORGOTTEN)))
        store.apply(Changes(at=START, purged=("ada2",)))
        store.empty("eve", START, store.change())
    agree(both)
    counts = both[0].counts("ada", MODEL)
    assert (counts.total, counts.by_state, both[0].counts("eve", MODEL).entities) == (
        2,
        {"active": 2, "forgotten": 1},
        0,
    )


def test_vectors_are_as_long_as_those_of_the_memory_that_was_stored_last(both):
    for store in both:
        save(store, *(a_memory(f"m{n}", f"text {n}") for n in range(3)))
    agree(both)
    for made in (
        an_embedding("m1", a_vector(1)),
        an_embedding("m0", LONGER, model="longer"),
        an_embedding("m2", LONGER, model="longer", missing=1),
        an_embedding("m2", a_vector(1)),
    ):
        for store in both:
            save(store, embeddings=(made,))
        agree(both)
