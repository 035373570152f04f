"""The store as a whole: all or nothing, sound, its size known, and copied."""

import threading

import pytest

from making import EVERYWHERE, MODEL, START, a_memory, a_vector, an_embedding, at, ids, save, wanted
from retain.domain.changes import Changes
from retain.domain.connection import Queued, Reach
from retain.domain.session import Use
from retain.errors import EmbeddingFailed, StoreDown
from retain.stores.sqlite.store import SqliteStore


def test_a_plan_that_fails_half_way_leaves_nothing(store):
    save(store, a_memory("m0"), embeddings=(an_embedding("m0", a_vector(1)),))
    change = store.change()
    wrong = an_embedding("m1", b"\0\0\0\0")
    with pytest.raises(EmbeddingFailed):
        store.apply(Changes(at=START, memories=(a_memory("m1", "other"),), embeddings=(wrong,)))
    assert (store.memories(["m1"]), store.change(), store.faults()) == ({}, change, [])


def test_a_new_store_is_sound_and_has_nothing_to_say(store):
    assert (store.faults(), store.notices(), store.standing()) == ([], [], [])


def test_a_store_that_answers_is_connected_and_nothing_waits_for_it(store):
    found = store.connection()
    assert (found.reach, found.queued) == (Reach.CONNECTED, Queued())


def test_what_is_read_together_is_what_was_there_before_and_what_is_read_after_is_new(store):
    save(store, a_memory("m1"))
    with store.reading(), store.reading():
        assert store.memories(["m1"]).keys() == {"m1"}
    save(store, a_memory("m2", "later"))
    with store.reading():
        assert store.memories(["m1", "m2"]).keys() == {"m1", "m2"}


def test_size_grows_with_what_is_stored(store):
    before = store.size()
    save(store, *(a_memory(f"m{n}", f"text {n} " * 500) for n in range(100)))
    assert store.size() > before > 0


def test_a_backup_holds_everything_and_is_a_store_of_its_own(store, tmp_path):
    memory = a_memory("m1", place=EVERYWHERE)
    save(store, memory, embeddings=(an_embedding("m1", a_vector(1)),))
    store.backup(tmp_path / "copy.db")
    save(store, a_memory("m2", "later"))
    copy = SqliteStore(tmp_path / "copy.db")
    assert copy.memories(["m1", "m2"]).keys() == {"m1"}
    assert ids(copy.by_vector(a_vector(1), MODEL, wanted(), 5)) == ["m1"]
    assert copy.faults() == []
    copy.close()


def test_a_backup_that_cannot_be_written_leaves_nothing_behind(store, tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises((OSError, StoreDown)):
        store.backup(tmp_path / "nowhere" / "copy.db")
    with pytest.raises((OSError, StoreDown)):
        store.backup(tmp_path / "folder")
    assert list(tmp_path.glob("*.part")) == []


def test_threads_may_read_and_write_at_once(store):
    failures = []

    def work(name):
        try:
            for n in range(25):
                id = f"{name}{n}"
                save(store, a_memory(id, f"text {id}"), embeddings=(an_embedding(id, a_vector(1, n)),))
                store.note_uses([Use((id,), at(n))])
                assert id in store.by_vector(a_vector(1, n), MODEL, wanted(), 500).scores
                assert store.memories([id])
        except Exception as error:  # noqa: BLE001 - raised again below, in the thread that runs the test
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert (store.counts("", MODEL).total, store.faults()) == (100, [])


def test_a_closed_store_says_so(store):
    store.close()
    with pytest.raises(StoreDown, match="closed"):
        store.memories(["m1"])
