"""What is kept twice in SurrealDB, and how it is noticed that the two no longer agree."""

import pytest

from making import a_link, a_memory, an_entity, save
from retain.stores.surreal.link.connection import in_memory
from retain.stores.surreal.store import SurrealStore


@pytest.fixture
def store():
    opened = SurrealStore(in_memory())
    save(
        opened,
        a_memory("m1", "the café deploys on Mondays"),
        a_memory("m2", "nobody deploys on Fridays"),
        entities=(an_entity("Café"),),
        links=(a_link("m1", "Café"),),
    )
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        ("DELETE text", "2 texts to search in"),
        ("UPDATE text SET state = 'forgotten' WHERE memory = memory:m1", "1 texts to search in"),
        ("UPDATE memory_entity SET place = 'elsewhere'", "1 links have another place"),
        ("UPDATE memory SET counted_place = 7", "2 memories are counted elsewhere"),
        ("UPDATE term SET n = 9", "the counts of terms"),
        ("DELETE memory:m2", "the count of texts"),
    ],
)
def test_what_does_not_fit_the_memories_is_told(store, harm, told):
    assert store.faults() == []
    store.db.run(harm)
    assert any(told in fault for fault in store.faults()), store.faults()
