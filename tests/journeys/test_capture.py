"""`kill -9` of the worker at any moment: everything said is remembered in the end, once, and the store is sound."""

import random
import subprocess
from contextlib import closing

import pytest

from processes import LONG
from retain.stores.sqlite.store import SqliteStore
from surfaces.hooking import Client
from surfaces.working import hand_over, memories, start, work
from talking import answer, append, prompt

pytestmark = pytest.mark.slow
ROUNDS, SESSIONS = (60, 4) if LONG else (6, 3)


@pytest.fixture
def client(tmp_path):
    return Client.in_folder(tmp_path)


def statement(session, number):
    return f"Remember that rack{session}x{number} holds the machine called host{session}x{number}."


def go_on(client, round):
    """Every session says something new, and stops."""
    for session in range(SESSIONS):
        path = client.folder / f"{session}.jsonl"
        append(path, prompt(statement(session, round), round), answer("Noted.", round), prompt("thanks", round))
        hand_over(client, path, session=f"s{session}")


def killed(client, seconds):
    worker = start(client)
    try:
        worker.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        worker.kill()
        worker.wait()


def test_a_worker_that_is_killed_again_and_again_loses_and_doubles_nothing(client):
    moments = random.Random()
    for round in range(ROUNDS):
        go_on(client, round)
        killed(client, moments.uniform(0.2, 1.5))
    # What ended its worker too often is set aside, at the latest now; the next stop of that session makes it good.
    for round in (ROUNDS, ROUNDS + 1):
        go_on(client, round)
        work(client)
    said = sorted(f"rack{session}x{round}" for session in range(SESSIONS) for round in range(ROUNDS + 2))
    found = memories(client)
    assert sorted(memory.text.split()[0].lower() for memory in found) == said
    assert {memory.reinforced for memory in found} == {0}
    assert client.spooled() == []
    with closing(SqliteStore(client.home / "retain.db")) as store:
        assert store.faults() == []
        assert [store.cursor(str(client.folder / f"{n}.jsonl")).offset for n in range(SESSIONS)] == [
            (client.folder / f"{n}.jsonl").stat().st_size for n in range(SESSIONS)
        ]


def test_workers_that_are_started_all_at_once_do_the_work_of_one(client):
    go_on(client, 0)
    workers = [start(client) for _ in range(4)]
    assert [worker.wait(timeout=120) for worker in workers] == [0] * 4
    assert len(memories(client)) == SESSIONS
    assert sum(entry["event"] == "capture" for entry in client.log()) == SESSIONS
