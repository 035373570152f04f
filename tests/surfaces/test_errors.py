"""The error categories of the contract, each of them provoked for real."""

import json
import resource
import sqlite3
import time
from contextlib import closing

import pytest

from making import START, a_memory, a_place
from retain.domain.changes import Changes
from retain.errors import StorageFull, StoreCorrupt
from retain.wiring import make_bare_store
from surfaces.wire import ON_SURREALDB, Desk, in_place

FACT = {"type": "semantic", "scope": "project"}
ID = "memory:" + "0" * 20
CALLS = [
    ("store_memory", {"content": "We deploy on Mondays", **FACT}),
    ("recall_memories", {"query": "deploy"}),
    ("search_knowledge_graph", {}),
    ("forget_memory", {"memory_id": ID}),
    ("update_memory", {"memory_id": ID, "content": "new"}),
    ("reflect_and_consolidate", {}),
    ("get_memory_status", {}),
    ("get_memory_context", {}),
    ("promote_memory", {"memory_id": ID, "target_scope": "user"}),
    ("tag_memory", {"memory_id": ID, "add": ["a"]}),
    ("get_memory", {"id": ID}),
]


def until(met, seconds=10):
    """Asks again and again until there is an answer."""
    late = time.monotonic() + seconds
    while time.monotonic() < late:
        if found := met():
            return found
    raise AssertionError("it never came true")


def codes(body):
    return [warning["code"] for warning in body["warnings"]]


# No connection


@pytest.mark.parametrize(("tool", "given"), CALLS)
def test_without_a_store_every_tool_says_so_and_may_be_tried_again(desks, tmp_path, tool, given):
    (tmp_path / "file").write_text("a file where a folder should be")
    refused = desks(**in_place(tmp_path / "file" / "retain.db")).refused(tool, **given)
    assert {name: refused[name] for name in ("error", "degraded", "retry_possible")} == {
        "error": "memory_unavailable",
        "degraded": True,
        "retry_possible": True,
    }
    assert str(tmp_path) in refused["message"]


def test_a_living_server_recovers_once_the_store_can_be_opened(servers, tmp_path):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a folder should be")
    wire = servers(**in_place(blocked / "retain.db"))
    wire.hello()
    assert wire.call("store_memory", content="We deploy on Mondays", **FACT)["structuredContent"]["degraded"] is True
    assert json.loads(wire.call("get_memory_status")["content"][0]["text"])["error"] == "memory_unavailable"
    blocked.unlink()
    blocked.mkdir()
    stored = until(lambda: wire.body("store_memory", content="We deploy on Mondays", **FACT).get("memory_id"))
    assert wire.body("recall_memories", query="deploy")["memories"][0]["id"] == stored


@pytest.mark.sqlite
def test_a_database_of_another_program_is_left_alone(desks, tmp_path):
    with sqlite3.connect(tmp_path / "other.db") as db:
        db.execute("create table theirs (a)")
    refused = desks(db_path=tmp_path / "other.db").refused("store_memory", content="a", **FACT)
    assert refused["error"] == "memory_unavailable" and "another program" in refused["message"]


# Query timeout


@pytest.fixture(scope="module")
def vast(tmp_path_factory):
    """A store in which a search takes long enough to be cut off."""
    desk = Desk(tmp_path_factory.mktemp("vast"))
    desk.stored("Release note on common ground")
    place = a_place(desk.app.caller().project.id)
    count = 300 if ON_SURREALDB else 6000  # SQLite looks at its deadline only now and then
    crowd = (a_memory(f"{n:020}", f"release note {n} on common ground", place=place) for n in range(count))
    desk.store.apply(Changes(at=START, memories=tuple(crowd)))
    desk("recall_memories", query="release note")  # caches are warm
    yield desk
    desk.app.close()


@pytest.fixture
def impatient(vast):
    queries = vast.store._reached().db if ON_SURREALDB else vast.store.pool
    before, queries.query_seconds = queries.query_seconds, 1e-9
    yield vast
    queries.query_seconds = before


def test_a_search_that_is_late_with_nothing_found_is_an_error(impatient):
    refused = impatient.refused("recall_memories", query="release note common ground", strategy="keyword")
    assert (refused["error"], refused["retry_possible"]) == ("query_timeout", True)


@pytest.mark.sqlite  # where small questions are answered whatever the deadline is
def test_a_search_that_is_late_with_something_found_is_a_warning(impatient):
    body = impatient("recall_memories", query="release note on common ground")
    assert "query_timeout" in codes(body)
    assert [hit["content"] for hit in body["memories"]] == ["Release note on common ground"]


def test_a_context_block_of_a_slow_store_is_partial_and_no_error(impatient):
    body = impatient("get_memory_context", task_description="release note on common ground")
    assert "query_timeout" in codes(body)


# Embedding failure


@pytest.fixture(params=["missing", "broken", "off"])
def modelless(request, desks, tmp_path):
    folder = tmp_path / "model"
    if request.param == "broken":
        folder.mkdir()
        (folder / "model.onnx").write_bytes(b"not a network")
        (folder / "tokenizer.json").write_text("{}")
    return desks(embedding_model="off" if request.param == "off" else str(folder))


def test_without_a_model_a_memory_is_stored_and_found_by_keyword(modelless):
    body = modelless("store_memory", content="We deploy on Mondays", **FACT)
    assert (body["status"], body["embedding_generated"], body["searchable_by"]) == ("stored", False, "keyword_only")
    assert codes(body) == ["embedding_failed"]
    again = modelless("store_memory", content="We deploy on Mondays", **FACT)
    assert (again["status"], again["embedding_generated"]) == ("reinforced", False)
    assert modelless.found("deploy") == ["We deploy on Mondays"]


@pytest.mark.parametrize("strategy", ["vector", "hybrid", "graph"])
def test_without_a_model_recall_falls_back_and_says_so_once(modelless, strategy):
    modelless.stored("AuthService deploys on Mondays")
    body = modelless("recall_memories", query="When does AuthService deploy?", strategy=strategy)
    assert [hit["content"] for hit in body["memories"]] == ["AuthService deploys on Mondays"]
    assert codes(body) == ([] if strategy == "graph" else ["partial_results"])


def test_without_a_model_keyword_recall_needs_no_excuse(modelless):
    modelless.stored("We deploy on Mondays")
    assert codes(modelless("recall_memories", query="deploy", strategy="keyword")) == []


def test_without_a_model_everything_else_works(modelless):
    id = modelless.stored("We deploy on Mondays")
    assert modelless("update_memory", memory_id=id, content="We ship on Tuesdays")["re_embedded"] is False
    assert modelless("get_memory_context", task_description="ship")["memories_used"] == 1
    storage = modelless("get_memory_status")["storage"]
    assert (storage["embedding_state"], storage["keyword_only"]) == ("off", 1)
    assert storage["embedding_reason"]


def test_what_was_stored_without_a_model_is_embedded_once_there_is_one(desks):
    desks(embedding_model="off").stored("The staging cluster gets every release first")
    desk = desks(embedding_model="hashed")
    body = desk("recall_memories", query="staging")
    assert codes(body) == ["keyword_only"]
    assert codes(desk.settled()("recall_memories", query="staging")) == []
    assert desk("get_memory_status")["storage"]["keyword_only"] == 0


# A schema from the future


def move_to_version(desk, number):
    if ON_SURREALDB:
        with closing(make_bare_store(desk.app.settings)) as store:
            store.db.run("CREATE migration SET number = $number, name = 'from the future'", number=number)
        return
    with sqlite3.connect(desk.app.settings.database_file) as db:
        db.execute(f"pragma user_version = {number}")


WRITES = [
    call
    for call in CALLS
    if call[0] in ("store_memory", "forget_memory", "update_memory", "promote_memory", "tag_memory")
]


# A database that many machines share is not opened at all by those that are too old for it.
@pytest.mark.parametrize("when", [pytest.param("before it is opened", marks=pytest.mark.sqlite), "while it is open"])
def test_a_store_of_a_newer_version_is_read_and_not_written(desks, when):
    desk = desks()
    id = desk.stored("We deploy on Mondays")
    move_to_version(desk, 99)
    desk = desks() if when == "before it is opened" else desk
    assert desk.found("deploy") == ["We deploy on Mondays"]
    assert desk("get_memory", id=id)["content"] == "We deploy on Mondays"
    assert any("newer" in warning["message"] for warning in desk("get_memory_status")["warnings"])
    for tool, given in WRITES:
        refused = desk.refused(tool, **{**given, **({"memory_id": id} if "memory_id" in given else {"content": "new"})})
        assert (refused["error"], refused["retry_possible"]) == ("schema_newer", False)
    assert desk.store.faults() == []


def test_a_server_on_a_store_of_a_newer_version_lives_and_answers(servers, desk):
    desk.stored("We deploy on Mondays")
    move_to_version(desk, 99)
    wire = servers()
    wire.hello()
    found = wire.body("recall_memories", query="deploy")
    assert found["error"] == "schema_newer" if ON_SURREALDB else found["total_matched"] == 1
    assert wire.body("store_memory", content="new", **FACT)["error"] == "schema_newer"
    assert wire.leave()[0] == 0


@pytest.mark.sqlite
def test_a_store_of_an_older_version_is_migrated_and_loses_nothing(desks, tmp_path):
    from retain.stores.sqlite import migrations

    with sqlite3.connect(tmp_path / "retain.db", isolation_level=None) as db:
        migrations.STEPS[0](db)
        db.execute("pragma user_version = 1")
    assert desks().stored("We deploy on Mondays")


# Storage full


def test_a_limit_that_was_set_refuses_writes_with_size_and_limit(desks):
    desk = desks(max_storage_mb=1)
    with pytest.raises(StorageFull):
        for number in range(40):
            desk.stored(f"Part {number} " + f"has words {number} " * 6000)
    refused = desk.refused("store_memory", content="One more", **FACT)
    assert (refused["error"], refused["retry_possible"]) == ("storage_full", True)
    assert refused["limit"] == "1000000 bytes" and int(refused["current_size"].split()[0]) >= 1_000_000
    assert desk.found("words") != []


@pytest.mark.sqlite
def test_a_full_disk_loses_nothing_that_was_acknowledged(servers, desks):
    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (900_000, 900_000))

    wire = servers(options={"preexec_fn": small_files})
    wire.hello()
    texts = [f"Part {n} " + f"has words {n} " * 5000 for n in range(20)]
    answers = [wire.body("store_memory", content=text, **FACT) for text in texts]
    stored = [answer["memory_id"] for answer in answers if "memory_id" in answer]
    refused = [answer for answer in answers if "error" in answer]
    assert stored and refused
    assert {answer["error"] for answer in refused} == {"storage_full"}
    assert wire.body("recall_memories", query="words", limit=50)["total_matched"] == len(set(stored))
    wire.end()
    desk = desks()
    assert all(desk("get_memory", id=id)["state"] == "active" for id in stored)
    assert desk.store.faults() == []


# A damaged file


@pytest.mark.sqlite
def test_a_damaged_file_is_kept_and_told_of_loudly(servers, tmp_path):
    bytes_before = b"SQLite format 3\0" + b"\xde\xad" * 40_000
    tmp_path.joinpath("retain.db").write_bytes(bytes_before)
    wire = servers()
    wire.hello()
    (warning,) = wire.body("get_memory_status")["warnings"]
    assert "damaged" in warning["message"] and "retain doctor --repair" in warning["message"]
    assert wire.body("store_memory", content="We deploy on Mondays", **FACT)["status"] == "stored"
    (kept,) = tmp_path.glob("retain.db.damaged-*")
    assert kept.read_bytes() == bytes_before
    assert "set aside" in wire.leave()[1]


@pytest.mark.sqlite
def test_damage_met_in_the_middle_of_work_is_an_error_that_names_the_repair(desk, tmp_path):
    place = a_place(desk.app.caller().project.id)
    crowd = (a_memory(f"{n:020}", f"Note {n} " + "on many pages " * 20, place=place) for n in range(500))
    desk.store.apply(Changes(at=START, memories=tuple(crowd)))
    desk.store.pool.close()
    file = tmp_path / "retain.db"
    size = file.stat().st_size
    with file.open("r+b") as open_file:
        open_file.seek(size // 4)
        open_file.write(b"\xff" * (size // 2))
    again = Desk(tmp_path)
    try:
        again("recall_memories", query="note on many pages")
        said = str(again("get_memory_status")["warnings"])
    except StoreCorrupt as error:
        said = error.message
    assert "retain doctor --repair" in said
    again.app.close()


# A fault of our own


def test_no_tool_ever_shows_a_stack_trace(servers):
    wire = servers()
    wire.hello()
    for tool, given in CALLS:
        for wrong in ({}, {"nonsense": 1}, {name: [] for name in given}, dict.fromkeys(given)):
            assert "Traceback" not in json.dumps(wire.call(tool, **wrong))


def test_a_log_at_debug_names_calls_and_never_what_they_say(servers):
    wire = servers("scoped", log_level="debug", embedding_url="http://127.0.0.1:9/v1", embedding_model="any")
    wire.hello()
    wire.call("store_memory", content="We deploy on Mondays", type="semantic", scope="project")
    wire.call("forget_memory", memory_id="nothing")
    _, log = wire.leave()
    calls = [line for line in log.splitlines() if " was " in line and "_memory(" in line]
    assert ["store_memory(content, type, scope) was answered in" in calls[0], len(calls)] == [True, 2]
    assert "forget_memory(memory_id) was refused in" in calls[1]
    assert "Mondays" not in log


def test_an_endpoint_that_does_not_answer_is_spoken_of_at_the_start(servers):
    wire = servers("bank", embedding_url="http://127.0.0.1:9/v1", embedding_model="any")
    wire.hello()
    told = next(line for line in wire.process.stderr if b"no embedding model" in line)
    assert b"127.0.0.1:9" in told and b"found by their words" in told
