"""Several servers, as on several machines, against one database: none of them spoils what another does."""

import random
from collections import Counter
from uuid import uuid4

import pytest

from processes import FULL
from retain.domain.memory import Place, Scope
from retain.domain.recall import KEPT, Filter
from surfaces.wire import Wire, environment, serve_command
from surreal_server import shared

pytestmark = pytest.mark.slow
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


def stored_in(database):
    from another_process import opened

    return opened(f"{shared().url}#{database}")


def test_what_one_machine_stores_the_others_recall(machines):
    one, two, three = (machines(name) for name in ("one", "two", "three"))
    one.body("store_memory", content="we deploy on Fridays", type="semantic", scope="project")
    for other in (two, three):
        hits = other.body("recall_memories", query="when do we deploy")["memories"]
        assert [hit["content"] for hit in hits] == ["we deploy on Fridays"]


def test_the_same_text_from_three_machines_at_once_is_stored_once(machines):
    servers = [machines(name) for name in ("one", "two", "three")]
    for round in range(10 if FULL else 4):
        text = f"rule number {round} is kept by everybody"
        sent = [wire.send("tools/call", name="store_memory", arguments=_memory(text)) for wire in servers]
        for wire, number in zip(servers, sent, strict=True):
            assert not wire.answer_to(number)["result"].get("isError")
    listed = servers[0].body("recall_memories", query="rule kept by everybody", limit=50)["memories"]
    counted = Counter(hit["content"] for hit in listed)
    assert set(counted.values()) == {1}
    assert len(counted) == (10 if FULL else 4)


def test_a_machine_that_dies_in_a_consolidation_leaves_it_whole_or_undone(machines, database):
    """And the two others, which consolidate at the same time, do not do it twice."""
    for round in range(6 if FULL else 3):
        servers = [machines(f"{name}{round}") for name in ("one", "two", "three")]
        for n in range(4):
            for text in SAID:
                servers[n % 3].body("store_memory", **_memory(f"{text}, seen {n} times in round {round}", "episodic"))
        sent = [wire.send("tools/call", name="reflect_and_consolidate", arguments={}) for wire in servers]
        servers[0].process.stdin.flush()
        _sleep(random.uniform(0, 0.08))
        servers[0].process.kill()
        for wire, number in list(zip(servers, sent, strict=True))[1:]:
            assert not wire.answer_to(number)["result"].get("isError")
    store = stored_in(database)
    everything = store.listed(Filter((_place(store),), states=KEPT), 1000)
    made = [stored.memory for stored in everything if stored.memory.derived_from]
    sources = Counter(source for memory in made if memory.is_active for source in memory.derived_from)
    assert made
    assert max(sources.values()) == 1, "two consolidations took the same memory"
    assert store.faults() == []
    store.close()


def _place(store):
    (project,) = store.projects()
    return Place(Scope.PROJECT, "", project.id)


def _memory(text, type="semantic"):
    return {"content": text, "type": type, "scope": "project"}


def _sleep(seconds):
    import time

    time.sleep(seconds)
