"""Several servers, as on several machines, against one database: none of them spoils what another does."""

import random
import time
from collections import Counter
from contextlib import closing
from itertools import cycle
from uuid import uuid4

import pytest

from another_process import opened
from processes import LONG
from retain.domain.memory import Event, Place, Scope
from retain.domain.recall import KEPT, Filter
from surfaces.wire import Wire, environment, serve_command
from surreal_server import shared

pytestmark = pytest.mark.slow
ROUNDS = 12 if LONG else 2
SAID = [
    "the checkout service retries a failed payment three times",
    "the checkout service waits two seconds before it retries a payment",
    "a payment that fails three times in the checkout service is put aside",
]


@pytest.fixture
def database():
    return f"servers-{uuid4()}"


@pytest.fixture
def machines(tmp_path, database):
    """Starts servers that share nothing but the database and the path of the project."""
    started = []
    known = shared()

    def start(name):
        settings = {
            "deployment_mode": "remote",
            "remote_url": known.url,
            "remote_user": known.user,
            "remote_pass": known.password,
            "database": database,
            "project_dir": tmp_path / "shop",
        }
        (tmp_path / "shop").mkdir(exist_ok=True)
        wire = Wire(*serve_command("scoped"), env=environment(tmp_path / name, **settings))
        wire.hello()
        started.append(wire)
        return wire

    yield start
    for wire in started:
        wire.end()


def test_what_one_machine_stores_the_others_recall(machines):
    one, two, three = (machines(name) for name in ("one", "two", "three"))
    one.body("store_memory", content="we deploy on Fridays", type="semantic", scope="project")
    for other in (two, three):
        hits = other.body("recall_memories", query="when do we deploy")["memories"]
        assert [hit["content"] for hit in hits] == ["we deploy on Fridays"]


def test_the_same_text_from_three_machines_at_once_is_stored_once(machines):
    servers = [machines(name) for name in ("one", "two", "three")]
    for round in range(2 * ROUNDS):
        text = f"rule number {round} is kept by everybody"
        sent = [wire.send("tools/call", name="store_memory", arguments=_memory(text)) for wire in servers]
        for wire, number in zip(servers, sent, strict=True):
            assert not wire.answer_to(number)["result"].get("isError")
    listed = servers[0].body("recall_memories", query="rule kept by everybody", limit=50)["memories"]
    counted = Counter(hit["content"] for hit in listed)
    assert set(counted.values()) == {1}
    assert len(counted) == 2 * ROUNDS


def test_a_machine_that_dies_in_a_consolidation_leaves_it_whole_or_undone(machines, database):
    """And the two others, which consolidate at the same time, do not do it twice."""
    others, took = [machines("two"), machines("three")], 0.2
    for round in range(ROUNDS):
        mortal = machines(f"one{round}")
        for wire, text in zip(cycle([mortal, *others]), _episodes(round), strict=False):
            assert "memory_id" in wire.body("store_memory", **_memory(text, "episodic"))
        _consolidating(mortal)
        time.sleep(random.uniform(0, took))
        sent, began = [_consolidating(wire) for wire in others], time.monotonic()
        time.sleep(random.uniform(0, took))
        mortal.process.kill()
        for wire, number in zip(others, sent, strict=True):
            assert not wire.answer_to(number)["result"].get("isError")
        took = (time.monotonic() - began) / 2
    with closing(opened(f"{shared().url}#{database}")) as store:
        _is_whole_and_done_once(store)


def _episodes(round):
    return [f"{text}, seen {n} times in round {round}" for n in range(4) for text in SAID]


def _consolidating(wire):
    return wire.send("tools/call", name="reflect_and_consolidate", arguments={})


def _is_whole_and_done_once(store):
    """What the runs say of themselves is what the memories and their history say."""
    (project,) = store.projects()
    kept = store.listed(Filter((Place(Scope.PROJECT, "", project.id),), states=KEPT), 1000)
    memories = {stored.memory.id: stored.memory for stored in kept}
    runs = store.runs(1000)
    taken = Counter(source for run in runs for source in run.sources)
    marked = [row.memory for row in store.history(*memories) if row.event is Event.CONSOLIDATED]
    assert len(runs) >= ROUNDS
    assert set(taken.values()) == {1}, "two consolidations took the same memory"
    assert {id for id, memory in memories.items() if memory.consolidated} == set(taken)
    assert Counter(marked) == taken
    assert {id for run in runs for id in run.made} == {id for id, memory in memories.items() if memory.derived_from}
    assert {source for memory in memories.values() for source in memory.derived_from} == set(taken)
    assert len(taken) == ROUNDS * len(_episodes(0)), "what one machine left undone another has done"
    assert store.faults() == []


def _memory(text, type="semantic"):
    return {"content": text, "type": type, "scope": "project"}
