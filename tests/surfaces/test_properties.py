"""Whatever a client sends, the answer is a result or an error it can act on, in time, and the store stays sound."""

import json
import math
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retain.domain.visible import visible
from retain.errors import RetainError
from surfaces.shapes import ODD, complete, objects, put, sloppy, string_fields, with_ids
from surfaces.wire import TOOLS, Desk, Wire, environment, serve_command

SECONDS = 60.0
ACTED_ON = {"invalid_input", "not_found", "refused"}
SAID = {
    "store_memory": {"memory_id", "embedding_generated", "graph_edges_created", "scope", "type"},
    "recall_memories": {"memories", "total_matched", "strategy_used", "query_time_ms"},
    "search_knowledge_graph": {"entities", "memories", "graph_stats"},
    "forget_memory": {"memory_id", "status", "reason"},
    "update_memory": {"memory_id", "updated_fields", "re_embedded", "version"},
    "reflect_and_consolidate": {"consolidated_memories", "patterns_detected", "session_stats"},
    "get_memory_status": {"connection", "counts", "storage", "current_session"},
    "get_memory_context": {"context_block", "memories_used", "tokens_used", "truncated"},
    "promote_memory": {"memory_id", "previous_scope", "new_scope", "reason"},
    "tag_memory": {"memory_id", "tags"},
    "get_memory": {"id", "content", "type", "scope"},
    "memory_ask": {"answer", "answered_by", "sources", "warnings"},
    "index_project": {"project_id", "files_indexed", "chunks_created"},
    "search_code": {"results", "count"},
}
LEAST = {
    "store_memory": {"content": "A note", "type": "semantic", "scope": "project"},
    "recall_memories": {"query": "note"},
    "forget_memory": {"memory_id": "{id}"},
    "update_memory": {"memory_id": "{id}", "importance": 0.5},
    "promote_memory": {"memory_id": "{id}", "target_scope": "user"},
    "tag_memory": {"memory_id": "{id}", "add": ["a"]},
    "get_memory": {"id": "{id}"},
    "memory_ask": {"question": "What of the note?"},
    "index_project": {"path": "nowhere"},
    "search_code": {"query": "note"},
}
FIELDS = [(name, path) for name, tool in TOOLS.items() for path in string_fields(tool.input_schema)]


def is_answer(tool, result):
    body = json.loads(result["content"][0]["text"])
    assert "Traceback" not in result["content"][0]["text"]
    if result.get("isError"):
        assert body["error"] in ACTED_ON, body
        assert len(body["message"]) < 2000
    else:
        assert set(body) >= SAID[tool]
    return body


@pytest.fixture(scope="module")
def wire(tmp_path_factory):
    wire = Wire(*serve_command(), env=environment(tmp_path_factory.mktemp("odd")))
    wire.hello()
    yield wire
    assert wire.process.poll() is None
    assert wire.leave() == (0, "")


def test_the_walk_finds_the_fields_it_should():
    assert {("store_memory", ("content",)), ("recall_memories", ("time_range", "after"))} <= set(FIELDS)
    assert ("update_memory", ("related_entities", "add", 0, "name")) in FIELDS
    assert len(FIELDS) > 30


@pytest.mark.parametrize(
    ("tool", "path"), FIELDS, ids=lambda given: given if isinstance(given, str) else ".".join(map(str, given))
)
def test_no_odd_string_in_any_field_does_harm(wire, tool, path):
    id = wire.body("store_memory", content=f"A note for {tool} {path}", type="semantic", scope="session")["memory_id"]
    least = {name: id if value == "{id}" else value for name, value in LEAST.get(tool, {}).items()}
    for value in ODD.values():
        began = time.monotonic()
        is_answer(tool, wire.call(tool, **put(least, path, value)))
        assert time.monotonic() - began < SECONDS
        wire.call("forget_memory", memory_id=id, restore=True)
    assert wire.body("get_memory", id=id)["id"] == id


@pytest.mark.parametrize("name", ODD)
def test_odd_content_comes_back_as_it_was_or_is_refused(wire, name):
    body = is_answer("store_memory", wire.call("store_memory", content=ODD[name], type="semantic", scope="user"))
    if "memory_id" in body:
        assert wire.body("get_memory", id=body["memory_id"])["content"] == visible(ODD[name]).strip()
    else:
        assert [fault["field"] for fault in body["faults"]] == ["content"]
        assert body["message"].endswith("Nothing was done.")


@pytest.mark.parametrize("name", ["right to left", "emoji", "full-text syntax", "SQL", "SurrealQL", "template"])
def test_odd_text_is_found_again(wire, name):
    id = wire.body("store_memory", content=ODD[name], type="semantic", scope="user")["memory_id"]
    assert id in {hit["id"] for hit in wire.body("recall_memories", query=ODD[name])["memories"]}


def test_all_faults_are_named_at_once(wire):
    given = {
        "content": 1,
        "type": "fact",
        "scope": None,
        "importance": 2,
        "tags": "a",
        "sesion_id": "x",
        "source": {"line": 3},
    }
    body = is_answer("store_memory", wire.call("store_memory", **given))
    assert {fault["field"] for fault in body["faults"]} == {
        "content", "type", "scope", "importance", "tags", "sesion_id", "source.line",
    }  # fmt: skip


@pytest.mark.parametrize("depth", [40, 60, 190, 400, 900, 990, 5000])
def test_deep_values_are_kept_or_refused(wire, depth):
    id = wire.body("store_memory", content=f"Deep {depth}", type="semantic", scope="user")["memory_id"]
    deep = '{"a":' * depth + "1" + "}" * depth
    is_answer("update_memory", wire.call("update_memory", memory_id=id, metadata=deep))
    is_answer("update_memory", wire.call("update_memory", memory_id=id, tags=f'{{"add":[{deep}]}}'))
    wire.number += 1
    arguments = f'{{"memory_id":"{id}","metadata":{deep}}}'
    wire.raw(
        b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"update_memory","arguments":%s}}'
        % (wire.number, arguments.encode())
    )
    answer = wire.line()
    assert "error" in answer or is_answer("update_memory", answer["result"])
    assert wire.body("get_memory", id=id)["content"] == f"Deep {depth}"


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("recall_memories", {"query": "a", "tags": [f"t{n}" for n in range(50_000)]}),
        ("store_memory", {**LEAST["store_memory"], "tags": [f"t{n}" for n in range(50_000)]}),
        ("get_memory_context", {"files_in_context": [f"src/{n}/a.py" for n in range(50_000)]}),
        (
            "store_memory",
            {**LEAST["store_memory"], "related_entities": complete([{"name": f"E{n}"} for n in range(2000)])},
        ),
        ("recall_memories", {"query": "a", "scope": ["project"] * 50_000}),
    ],
)
def test_long_lists_are_answered_in_time(wire, tool, given):
    began = time.monotonic()
    is_answer(tool, wire.call(tool, **given))
    assert time.monotonic() - began < SECONDS


def test_the_store_is_sound_after_all_that(wire):
    desk = Desk(Path(wire.body("get_memory_status")["connection"]["path"]).parent)
    assert desk.store.faults() == []
    desk.app.close()


# What a schema allows, what lies just beyond it, and what has nothing to do with it


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    desk = Desk(home := tmp_path_factory.mktemp("busy"))
    desk.folder = home / "shop"
    desk.folder.mkdir()
    desk.ids = [
        desk.stored(f"AuthService note {n}: we deploy on Mondays", scope=scope)
        for n, scope in enumerate(("session", "project", "user"))
    ]
    yield desk
    assert desk.store.faults() == []
    desk.app.close()


@pytest.mark.parametrize("tool", TOOLS)
@settings(max_examples=50, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_call_gets_a_result_or_an_error_to_act_on(busy, tool, data):
    schema = TOOLS[tool].input_schema
    given_ = with_ids(data.draw(st.one_of(objects(schema), sloppy(schema))), busy.ids, busy.folder)
    began = time.monotonic()
    try:
        body = busy(tool, **given_)
    except RetainError as error:
        assert error.code in ACTED_ON, error
    else:
        assert set(body) >= SAID[tool]
        assert all(
            math.isfinite(hit["score"]) and 0 <= hit["relevance_score"] <= 1
            for hit in body.get("memories", ())
            if "score" in hit
        )
    assert time.monotonic() - began < SECONDS


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    text=st.text(min_size=1, max_size=300).filter(str.strip),
    tags=st.lists(st.text(min_size=1, max_size=20), max_size=3),
)
def test_what_is_acknowledged_comes_back(busy, text, tags):
    try:
        id = busy.stored(text, tags=tags)
    except RetainError as error:
        assert error.code == "invalid_input"
    else:
        kept = busy("get_memory", id=id)
        assert (
            " ".join(kept["content"].split()).rstrip(" .!。！") == " ".join(visible(text).split()).rstrip(" .!。！")
            or "[redacted" in kept["content"]
            or kept["version"] > 1
        )
