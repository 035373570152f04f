"""The default toolset: the scoped tools, a few beside them, and what a client is told of all of them."""

import json

import pytest

from retain.surfaces.mcp.toolsets import default, scoped
from surfaces.wire import TOOLS

SCOPED = [
    "store_memory", "recall_memories", "search_knowledge_graph", "forget_memory", "update_memory",
    "reflect_and_consolidate", "get_memory_status", "get_memory_context", "promote_memory", "tag_memory",
]  # fmt: skip
READING = {"recall_memories", "search_knowledge_graph", "get_memory_status", "get_memory_context", "get_memory"}
READING |= {"search_code", "memory_ask"}


@pytest.fixture(scope="module")
def listed(tmp_path_factory):
    """tools/list as a client gets it."""
    from surfaces.wire import Wire, environment, serve_command

    wire = Wire(*serve_command(), env=environment(tmp_path_factory.mktemp("home")))
    wire.instructions = wire.hello()["instructions"]
    wire.tools = {tool["name"]: tool for tool in wire.ask("tools/list")["result"]["tools"]}
    yield wire
    wire.end()


def test_scoped_has_the_ten_tools_of_the_contract_and_no_more():
    assert [tool.name for tool in scoped.tools.tools] == SCOPED


def test_default_has_them_all_and_five_more(listed):
    named = [*SCOPED, "get_memory", "memory_ask", "index_project", "search_code", "memory_resolve_truth"]
    assert list(listed.tools) == named == [tool.name for tool in default.tools.tools]


def test_every_tool_says_whether_it_reads_or_destroys(listed):
    hints = {name: tool["annotations"] for name, tool in listed.tools.items()}
    assert {name for name, hint in hints.items() if hint["readOnlyHint"]} == READING
    assert {name for name, hint in hints.items() if hint["destructiveHint"]} == {"forget_memory"}
    assert not any(hint["openWorldHint"] for hint in hints.values())


def test_every_tool_has_a_title_and_says_when_to_call_it(listed):
    assert all(tool["title"] and 20 < len(tool["description"]) < 400 for tool in listed.tools.values())


def test_the_list_is_cheap_to_carry(listed):
    assert len(json.dumps(list(listed.tools.values()))) / 4 < 4000


def test_the_instructions_fit_where_clients_cut_them(listed):
    assert "recall_memories" in listed.instructions and len(listed.instructions) < 2000


def test_unknown_arguments_are_refused_with_the_likely_name(desk):
    for tool in TOOLS.values():
        for name in list(tool.input_schema["properties"])[:3]:
            refused = desk.refused(tool.name, **{f"{name}x": 1})
            problems = {fault["field"]: fault["problem"] for fault in refused["faults"]}
            assert f"did you mean {name}?" in problems[f"{name}x"]


def test_get_memory_has_every_field(desk):
    id = desk.stored("We deploy on Mondays", tags=["deploy"])
    desk("update_memory", memory_id=id, metadata={"ticket": 7})
    body = desk("get_memory", id=id)
    assert set(body) == {
        "id", "content", "type", "scope", "importance", "tags", "source", "metadata", "session_id", "created_at",
        "updated_at", "event_time", "access_count", "version", "state", "derived_from",
    }  # fmt: skip
    assert (body["id"], body["metadata"], body["version"]) == (id, {"ticket": 7}, 2)


def test_get_memory_gives_the_whole_text(desk):
    text = "Deploy log " + "line of text " * 7000 + "end"
    assert desk("get_memory", id=desk.stored(text))["content"] == text


def test_get_memory_shows_what_is_forgotten_and_says_so(desk):
    id = desk.stored("We deploy on Mondays")
    desk("forget_memory", memory_id=id, reason="outdated")
    body = desk("get_memory", id=id)
    assert (body["content"], body["state"], body["reason"]) == ("We deploy on Mondays", "forgotten", "outdated")


def test_get_memory_counts_as_an_access(desk):
    id = desk.stored("We deploy on Mondays")
    desk("get_memory", id=id)
    assert desk.settled()("get_memory", id=id)["access_count"] == 1
