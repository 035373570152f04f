"""Many windows on one store: nothing is lost, nothing is doubled, and nobody is turned away."""

import pytest

from making import MODEL, a_vector, wanted
from processes import FULL, said, start
from retain.stores.sqlite.store import SqliteStore

pytestmark = pytest.mark.slow
WRITERS, WRITES = (8, 200) if FULL else (4, 50)


def test_every_write_of_every_process_is_there(tmp_path):
    path = tmp_path / "retain.db"
    readers = [start("read", path) for _ in range(2)]
    writers = [start("write", path, f"w{n}", WRITES) for n in range(WRITERS)]
    acknowledged = [id for writer in writers for id in said(writer)]
    rounds = [int(said(reader)[-1]) for reader in readers]
    assert len(acknowledged) == WRITERS * WRITES
    assert all(rounds)
    store = SqliteStore(path)
    assert store.memories(acknowledged).keys() == set(acknowledged)
    assert store.by_words(["number"], wanted(), 5, counted=True).matched == len(acknowledged)
    assert store.by_vector(a_vector(1, 30), MODEL, wanted(), 10_000).matched == min(len(acknowledged), 250)
    assert (store.faults(), store.entity_names(["shop"])) == ([], ["Deployment"])
    store.close()


def test_the_same_text_stored_at_once_is_stored_once(tmp_path):
    path = tmp_path / "retain.db"
    rivals = [start("rival", path, f"r{n}", WRITES) for n in range(WRITERS)]
    added = [id for rival in rivals for id in said(rival)]
    assert len(added) == WRITES
    store = SqliteStore(path)
    texts = [stored.memory.text for stored in store.listed(wanted(), 10_000)]
    assert len(texts) == len(set(texts)) == WRITES
    store.close()


def test_processes_that_come_and_go_do_not_disturb_one_another(tmp_path):
    path = tmp_path / "retain.db"
    writer = start("write", path, "w", WRITES * 2)
    visitors = [start("open", path) for _ in range(12 if FULL else 6)]
    assert [said(visitor) for visitor in visitors] == [[""]] * len(visitors)
    assert len(said(writer)) == WRITES * 2
