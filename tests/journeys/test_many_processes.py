"""Many windows on one store: nothing is lost, nothing is doubled, and nobody is turned away."""

from uuid import uuid4

import pytest

from another_process import opened
from making import MODEL, a_vector, wanted
from processes import FULL, said, start
from surreal_server import shared

pytestmark = pytest.mark.slow
WRITERS, WRITES = (8, 200) if FULL else (4, 50)


@pytest.fixture(params=["sqlite", "surrealdb"])
def path(request, tmp_path):
    """A store that any number of processes share, as `another_process` opens it."""
    return str(tmp_path / "retain.db") if request.param == "sqlite" else f"{shared().url}#crowd-{uuid4()}"


def test_every_write_of_every_process_is_there(path):
    readers = [start("read", path) for _ in range(2)]
    writers = [start("write", path, f"w{n}", WRITES) for n in range(WRITERS)]
    acknowledged = [id for writer in writers for id in said(writer)]
    rounds = [int(said(reader)[-1]) for reader in readers]
    assert len(acknowledged) == WRITERS * WRITES
    assert all(rounds)
    store = opened(path)
    assert store.memories(acknowledged).keys() == set(acknowledged)
    assert store.by_words(["number"], wanted(), 5, counted=True).matched == len(acknowledged)
    assert store.by_vector(a_vector(1, 30), MODEL, wanted(), 10_000).matched == min(len(acknowledged), 250)
    assert (store.faults(), store.entity_names(["shop"])) == ([], ["Deployment"])
    store.close()


def test_the_same_text_stored_at_once_is_stored_once(path):
    rivals = [start("rival", path, f"r{n}", WRITES) for n in range(WRITERS)]
    added = [id for rival in rivals for id in said(rival)]
    assert len(added) == WRITES
    store = opened(path)
    texts = [stored.memory.text for stored in store.listed(wanted(), 10_000)]
    assert len(texts) == len(set(texts)) == WRITES
    store.close()


def test_processes_that_come_and_go_do_not_disturb_one_another(path):
    writer = start("write", path, "w", WRITES * 2)
    visitors = [start("open", path) for _ in range(12 if FULL else 6)]
    assert [said(visitor) for visitor in visitors] == [[""]] * len(visitors)
    assert len(said(writer)) == WRITES * 2
