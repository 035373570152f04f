"""Whatever a client sends to a graph tool, it gets a result or a sentence to act on, and the store stays sound."""

import json
import math
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retain.domain.visible import visible
from retain.errors import RetainError
from surfaces.shapes import ODD, objects, put, sloppy, string_fields, with_ids
from surfaces.wire import GRAPH, Desk, Wire, environment, serve_command

SECONDS = 60.0
ACTED_ON = {"invalid_input", "not_found", "refused"}
MEMORY = {
    "id", "content", "memory_type", "event_time", "ingestion_time", "valid_from", "valid_until", "importance_score",
    "metadata",
}  # fmt: skip
SAID = {
    "store_memory": {"id"},
    "get_memory": MEMORY,
    "update_memory": MEMORY,
    "delete_memory": {"deleted"},
    "list_memories": {"memories", "total", "limit", "offset"},
    "search": {"results", "count", "query"},
    "search_text": {"results", "count", "query"},
    "recall": {"results", "query", "subgraph_nodes", "memories_count", "code_count"},
    "create_entity": {"id"},
    "create_relation": {"id"},
    "get_related": {"entities", "relations", "entity_count", "relation_count"},
    "get_valid": {"results", "count"},
    "get_valid_at": {"results", "count", "timestamp"},
    "invalidate": {"invalidated"},
    "index_project": {"project_id", "files_indexed", "chunks_created"},
    "search_code": {"results", "count"},
    "get_index_status": {
        "project_id", "status", "total_files", "indexed_files", "total_chunks", "progress_percent", "eta_seconds",
        "started_at", "completed_at",
    },
    "list_projects": {"projects", "count"},
    "delete_project": {"chunks_deleted"},
    "get_status": {
        "version", "status", "memories_count", "entities_count", "code_chunks_count", "embedding", "db_dimension",
    },
    "reset_all_memory": {"reset"},
}  # fmt: skip
LEAST = {
    "store_memory": {"content": "A note"},
    "get_memory": {"id": "{0}"},
    "update_memory": {"id": "{0}", "memory_type": "episodic"},
    "delete_memory": {"id": "{0}"},
    "search": {"query": "note"},
    "search_text": {"query": "note"},
    "recall": {"query": "note", "include_code": True},
    "create_entity": {"name": "Alpha"},
    "create_relation": {"from_entity": "{1}", "to_entity": "{2}", "relation_type": "uses"},
    "get_related": {"entity_id": "{1}"},
    "get_valid_at": {"timestamp": "2021-01-06"},
    "invalidate": {"id": "{0}"},
    "index_project": {"path": "{folder}"},
    "search_code": {"query": "connect"},
    "get_index_status": {"project_id": "shop"},
    "delete_project": {"project_id": "shop"},
    "reset_all_memory": {"confirm": True},
}
FIELDS = [(name, path) for name, tool in GRAPH.items() for path in string_fields(tool.input_schema)]


def is_answer(tool, result):
    (content,) = result["content"]
    if result.get("isError"):
        assert "structuredContent" not in result
        assert 5 < len(content["text"]) < 2000
        assert not any(word in content["text"] for word in ("Traceback", "inside Retain", "Database error"))
        return {}
    assert set(result["structuredContent"]) >= SAID[tool]
    return result["structuredContent"]


def is_sound(body):
    """Every score is a number; those of searches lie in 0 to 1."""
    hits = [hit for hit in body.get("results", ()) if "score" in hit]
    assert all(math.isfinite(hit["score"]) for hit in hits)
    parts = ("vector_score", "bm25_score", "ppr_score")
    assert all(0 <= hit[part] <= 1 for hit in hits for part in parts if part in hit)


def a_project(home):
    folder = home / "shop"
    folder.mkdir(exist_ok=True)
    (folder / "a.py").write_text("def connect():\n    return 1\n")
    return folder


def things(call):
    """A memory and two entities that are there, whatever an earlier call has destroyed."""
    return (
        call("store_memory", content="AuthService note: we deploy on Mondays")["id"],
        *(call("create_entity", name=name)["id"] for name in ("Alpha", "Beta")),
    )


@pytest.fixture(scope="module")
def wire(tmp_path_factory):
    home = tmp_path_factory.mktemp("odd-graph")
    wire = Wire(*serve_command("graph"), env=environment(home), cwd=home / "shop")
    wire.folder = a_project(home)
    wire.hello()
    yield wire
    assert wire.process.poll() is None
    assert wire.leave() == (0, "")
    desk = Desk(home, GRAPH)
    assert desk.store.faults() == []
    desk.app.close()


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    home = tmp_path_factory.mktemp("busy-graph")
    desk = Desk(home, GRAPH)
    desk.folder = a_project(home)
    desk("index_project", path=str(desk.folder))
    yield desk
    assert desk.store.faults() == []
    desk.app.close()


def test_the_walk_finds_the_fields_it_should():
    assert {("store_memory", ("metadata", "key")), ("get_related", ("at",)), ("invalidate", ("reason",))} <= set(FIELDS)
    assert {tool for tool, path in FIELDS if path == ("user_id",)} == set(GRAPH)


@pytest.mark.parametrize(
    ("tool", "path"), FIELDS, ids=lambda given: given if isinstance(given, str) else ".".join(map(str, given))
)
def test_no_odd_string_in_any_field_does_harm(wire, tool, path):
    for value in ODD.values():
        least = with_ids(LEAST.get(tool, {}), things(wire.body), wire.folder)
        began = time.monotonic()
        is_answer(tool, wire.call(tool, **put(least, path, value)))
        assert time.monotonic() - began < SECONDS
    assert wire.body("get_memory", id=things(wire.body)[0])["content"] == "AuthService note: we deploy on Mondays"


@pytest.mark.parametrize("name", ODD)
def test_odd_content_comes_back_as_it_was_or_is_refused(wire, name):
    result = wire.call("store_memory", content=ODD[name], user_id="odd")
    if body := is_answer("store_memory", result):
        assert wire.body("get_memory", id=body["id"], user_id="odd")["content"] == visible(ODD[name]).strip()
    else:
        assert result["content"][0]["text"].startswith("content: ")
        assert result["content"][0]["text"].endswith("Nothing was done.")


@pytest.mark.parametrize("name", ["right to left", "emoji", "full-text syntax", "SQL", "SurrealQL", "template"])
@pytest.mark.parametrize("tool", ["search", "recall"])
def test_odd_text_is_found_again(wire, name, tool):
    id = wire.body("store_memory", content=ODD[name], user_id="finder")["id"]
    assert id in {hit["id"] for hit in wire.body(tool, query=ODD[name], user_id="finder")["results"]}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_name_is_one_entity_or_refused(wire, name):
    results = [wire.call("create_entity", name=ODD[name], user_id="namer") for _ in range(2)]
    first, second = (is_answer("create_entity", result) for result in results)
    assert first == second
    assert first or results[0]["content"][0]["text"].startswith("name: ")


def test_all_faults_are_named_at_once(wire):
    given = {"content": 1, "memory_type": "fact", "metadata": "a", "user": "x", "user_id": 5}
    result = wire.call("store_memory", **given)
    assert is_answer("store_memory", result) == {}
    said = result["content"][0]["text"]
    assert all(f"{field}: " in said for field in given)


@pytest.mark.parametrize("depth", [40, 60, 190, 900, 5000])
def test_deep_values_are_kept_or_refused(wire, depth):
    deep = '{"a":' * depth + "1" + "}" * depth
    body = is_answer("store_memory", wire.call("store_memory", content=f"Deep {depth}", metadata=deep, user_id="deep"))
    if body:
        assert wire.body("get_memory", id=body["id"], user_id="deep")["metadata"] == json.loads(deep)
    assert bool(body) is (depth < 50)


@pytest.mark.parametrize("tool", GRAPH)
@settings(max_examples=50, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_call_gets_a_result_or_an_error_to_act_on(busy, tool, data):
    schema = GRAPH[tool].input_schema
    given_ = with_ids(data.draw(st.one_of(objects(schema), sloppy(schema))), things(busy), busy.folder)
    began = time.monotonic()
    try:
        body = busy(tool, **given_)
    except RetainError as error:
        assert error.code in ACTED_ON, error
        assert isinstance(GRAPH[tool].envelope(error), str)
    else:
        assert set(body) >= SAID[tool]
        is_sound(body)
    assert time.monotonic() - began < SECONDS


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(text=st.text(min_size=1, max_size=300).filter(str.strip))
def test_what_is_acknowledged_comes_back(busy, text):
    try:
        stored = busy("store_memory", content=text)
    except RetainError as error:
        assert error.code == "invalid_input"
    else:
        kept = busy("get_memory", id=stored["id"])["content"]
        same = " ".join(kept.split()) == " ".join(visible(text).split())
        assert same or "[redacted" in kept or stored["status"] == "reinforced"


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(pairs=st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=15), depth=st.integers(1, 3))
def test_a_walk_reaches_what_a_plain_search_of_the_graph_reaches(busy, pairs, depth):
    user = f"walker {pairs}"[:150]
    ids = [busy("create_entity", name=f"Node {n}", user_id=user)["id"] for n in range(8)]
    for source, target in pairs:
        if source != target:
            ends = {"from_entity": ids[source], "to_entity": ids[target]}
            busy("create_relation", **ends, relation_type="uses", user_id=user)
    reached, hops = {0}, {}
    for hop in range(1, depth + 1):
        reached |= (new := {target for source, target in pairs if source in reached} - reached)
        hops |= dict.fromkeys((ids[n] for n in new), hop)
    body = busy("get_related", entity_id=ids[0], depth=depth, user_id=user)
    assert {found["id"]: found["depth"] for found in body["entities"]} == hops
