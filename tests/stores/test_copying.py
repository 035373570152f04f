"""A whole memory goes from one store to another and back, and nothing of it changes."""

import pytest

from lives import SHOP, live
from making import START, a_memory, a_project, save
from retain.domain.changes import Changes
from retain.domain.transfer import Sort
from retain.engine.drafts import Draft
from retain.errors import Refused
from retain.stores.copying import compared, copied
from retain.stores.sqlite.backups import daily_backup
from retain.stores.sqlite.store import MEMORY, SqliteStore


@pytest.fixture
def another():
    """Makes empty stores."""
    made = []

    def make():
        made.append(SqliteStore(MEMORY))
        return made[-1]

    yield make
    for store in made:
        store.close()


@pytest.fixture
def source(another):
    store = another()
    live(store)
    return store


def differing(done):
    return {sort: one.differing for sort, one in done.sorts.items() if one.differing}


def sums(done):
    return {sort: (one.source.records, one.source.checksum) for sort, one in done.sorts.items()}


def test_a_life_has_something_of_every_sort(source):
    assert [sort for sort in Sort if not source.records(sort, None, 1).records] == []


def test_a_memory_comes_back_as_it_was(source, store, another):
    there, back = copied(source, store), another()
    and_back = copied(store, back)
    assert (differing(there), differing(and_back)) == ({}, {})
    assert sums(there) == sums(and_back) == sums(compared(source, back))
    assert compared(source, back).is_equal
    assert (store.faults(), back.faults()) == ([], [])


def test_a_copy_of_what_was_copied_writes_nothing(source, store):
    first, second = copied(source, store), copied(source, store)
    assert sum(first.written.values()) == sum(one.source.records for one in first.sorts.values())
    assert (sum(second.written.values()), second.passes, second.is_equal) == (0, 1, True)


class Interrupted(Exception):
    pass


@pytest.mark.parametrize("sort", [Sort.SESSIONS, Sort.MEMORIES, Sort.TIES])
def test_an_interrupted_copy_goes_on_where_it_was(source, store, sort):
    def interrupt(number, at, looked_at):
        if at is sort:
            raise Interrupted

    with pytest.raises(Interrupted):
        copied(source, store, interrupt)
    resumed = copied(source, store)
    assert differing(resumed) == {}
    assert (resumed.written[sort], resumed.written[Sort.DESTROYED]) == (0, 0)
    assert store.faults() == []


def test_what_is_written_meanwhile_is_copied_too(store, another):
    source = another()
    engine = live(source)
    (known,) = source.records(Sort.MEMORIES, None, 1).records

    def meddle(number, sort, looked_at):
        if (number, sort) == (1, Sort.CONTRADICTIONS):
            engine.remember(Draft("The Cellar has a leak"), SHOP)
            engine.destroy(known.memory.id, SHOP)

    done = copied(source, store, meddle)
    assert differing(done) == {}
    assert (store.memories([known.memory.id]), store.destroyed([known.memory.id])) == ({}, {known.memory.id})
    assert store.faults() == []


def test_an_earlier_copy_is_brought_up_to_date(source, store):
    copied(source, store)
    one, other = [whole.memory for whole in source.records(Sort.MEMORIES, None, 2).records]
    source.apply(Changes(at=START, purged=(one.id,), stale=((other.id, True),)))
    save(source, a_memory("new", "said later"))
    assert differing(copied(source, store)) == {}
    assert (store.memories([one.id, "new"]).keys(), store.faults()) == ({"new"}, [])


def test_what_was_emptied_comes_back_from_a_copy(source, store, another):
    copied(source, store)
    for user in ("", "ada"):
        assert store.empty(user, START, store.change())
    assert differing(copied(source, store)) == {}
    assert store.faults() == []


def test_long_texts_are_copied_too(store, another):
    source = another()
    save(source, *(a_memory(f"m{n}", f"{n} " + "word and another " * 6000) for n in range(5)))
    assert differing(copied(source, store)) == {}


def test_the_backup_of_the_day_is_a_copy_of_any_store(source, store, tmp_path):
    copied(source, store)
    made = SqliteStore(daily_backup(store, tmp_path / "backups", START))
    assert differing(compared(store, made)) == {}
    assert (made.path.stat().st_mode & 0o777, made.faults()) == (0o600, [])
    made.close()


def test_a_target_with_memories_of_its_own_is_refused(source, store):
    save(store, a_memory("own"), a_memory("another", "of its own"))
    with pytest.raises(Refused, match="2 memories that the source has not"):
        copied(source, store)
    with pytest.raises(Refused, match="2 memories"):
        compared(source, store)


def test_what_cannot_be_made_equal_is_told(source, store):
    store.apply(Changes(at=START, projects=(a_project("other", "shop"),)))
    done = copied(source, store)
    assert differing(done) == {Sort.PROJECTS: 2, Sort.PROFILES: 1}
    assert done.passes < 5


def test_a_comparison_writes_nothing(source, store):
    found = compared(source, store)
    assert sum(found.written.values()) > 0
    assert [sort for sort in Sort if store.records(sort, None, 1).records] == []
