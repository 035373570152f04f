"""Many windows on one store: nothing is lost, nothing is doubled, and nobody is turned away."""

from typing import NamedTuple
from uuid import uuid4

import pytest

from another_process import opened
from making import MODEL, a_vector, wanted
from processes import LONG, said, start
from surreal_server import shared

pytestmark = pytest.mark.slow
MANY, FEW = (8, 200, 12), (4, 50, 6)


class Crowd(NamedTuple):
    """A store that any number of processes share, as `another_process` opens it, and how many there are."""

    path: str
    writers: int
    writes: int
    visitors: int


@pytest.fixture(params=["sqlite", "surrealdb"])
def crowd(request, tmp_path):
    if request.param == "sqlite":
        return Crowd(str(tmp_path / "retain.db"), *(MANY if LONG else FEW))
    return Crowd(f"{shared().url}#crowd-{uuid4()}", *(MANY if LONG else FEW))


def test_every_write_of_every_process_is_there(crowd):
    readers = [start("read", crowd.path) for _ in range(2)]
    writers = [start("write", crowd.path, f"w{n}", crowd.writes) for n in range(crowd.writers)]
    acknowledged = [id for writer in writers for id in said(writer)]
    rounds = [int(said(reader)[-1]) for reader in readers]
    assert len(acknowledged) == crowd.writers * crowd.writes
    assert all(rounds)
    store = opened(crowd.path)
    assert store.memories(acknowledged).keys() == set(acknowledged)
    assert store.by_words(["number"], wanted(), 5, counted=True).matched == len(acknowledged)
    assert store.by_vector(a_vector(1, 30), MODEL, wanted(), 10_000).matched == min(len(acknowledged), 250)
    assert (store.faults(), store.entity_names(["shop"])) == ([], ["Deployment"])
    store.close()


def test_the_same_text_stored_at_once_is_stored_once(crowd):
    rivals = [start("rival", crowd.path, f"r{n}", crowd.writes) for n in range(crowd.writers)]
    added = [id for rival in rivals for id in said(rival)]
    assert len(added) == crowd.writes
    store = opened(crowd.path)
    texts = [stored.memory.text for stored in store.listed(wanted(), 10_000)]
    assert len(texts) == len(set(texts)) == crowd.writes
    store.close()


def test_processes_that_come_and_go_do_not_disturb_one_another(crowd):
    writer = start("write", crowd.path, "w", crowd.writes * 2)
    visitors = [start("open", crowd.path) for _ in range(crowd.visitors)]
    assert [said(visitor) for visitor in visitors] == [[""]] * len(visitors)
    assert len(said(writer)) == crowd.writes * 2
