"""`kill -9` at any moment: what was acknowledged is there, and the store is sound."""

import random

import pytest

from processes import LONG, said, start
from retain.stores.sqlite.store import SqliteStore

pytestmark = pytest.mark.slow
ROUNDS = 200 if LONG else 10


@pytest.fixture
def killed(tmp_path):
    """Starts a writer, kills it once it has acknowledged so many writes and some more time has passed."""

    def run(round, writes):
        process = start("write", tmp_path / "retain.db", f"round{round}", 100_000)
        lines = [process.stdout.readline() for _ in range(writes)]
        process.kill()
        rest, _ = process.communicate()
        return [line.strip() for line in lines] + rest.splitlines()

    return run


def test_every_acknowledged_write_survives(tmp_path, killed):
    moments = random.Random()
    acknowledged = []
    for round in range(ROUNDS):
        acknowledged += killed(round, moments.randint(0, 40))
        store = SqliteStore(tmp_path / "retain.db")
        assert store.memories(acknowledged).keys() == set(acknowledged)
        assert store.faults() == []
        store.close()
    assert acknowledged


def test_a_crash_beside_living_processes_does_them_no_harm(tmp_path, killed):
    beside = start("write", tmp_path / "retain.db", "beside", 150)
    acknowledged = [id for round in range(3) for id in killed(round, 10)] + said(beside)
    store = SqliteStore(tmp_path / "retain.db")
    assert store.memories(acknowledged).keys() == set(acknowledged)
    assert store.faults() == []
    store.close()
