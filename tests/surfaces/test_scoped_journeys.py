"""Whole visits: through the SDK's client in both eras, through raw JSON-RPC, and how a server leaves."""

import json
import signal
import sys

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from surfaces.wire import PATHS, environment, problems, serve_command

FACT = {"type": "semantic", "scope": "project"}
URIS = ("memory://status", "memory://session/summary", "memory://project/knowledge-graph", "memory://user/preferences")


async def visited(client):
    """Every tool and every resource once; what they said."""

    async def call(name, **given):
        result = await client.call_tool(name, given)
        assert not result.is_error, result.content
        assert json.loads(result.content[0].text) == result.structured_content
        return result.structured_content

    said = {"store": await call("store_memory", content="AuthService depends on Redis", **FACT)}
    id = said["store"]["memory_id"]
    said["recall"] = await call("recall_memories", query="What does AuthService need?", scope=["project"])
    said["graph"] = await call("search_knowledge_graph", entity="authservice")
    said["update"] = await call("update_memory", memory_id=id, content="AuthService depends on Valkey")
    said["tag"] = await call("tag_memory", memory_id=id, add=["auth"])
    said["promote"] = await call("promote_memory", memory_id=id, target_scope="user")
    said["context"] = await call("get_memory_context", task_description="change the AuthService")
    said["consolidate"] = await call("reflect_and_consolidate", dry_run=True)
    said["get"] = await call("get_memory", id=id)
    said["forget"] = await call("forget_memory", memory_id=id, reason="a visit only")
    said["status"] = await call("get_memory_status")
    said["texts"] = [(await client.read_resource(uri)).contents[0].text for uri in URIS]
    return said


@pytest.mark.parametrize(("mode", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
def test_a_visit_with_the_sdk_touches_every_tool_and_resource(tmp_path, mode, version):
    command = StdioServerParameters(
        command=sys.executable, args=serve_command()[1:], env={**environment(tmp_path), **PATHS}
    )

    async def visit():
        async with Client(stdio_client(command), mode=mode) as client:
            assert client.protocol_version == version
            assert len((await client.list_tools()).tools) == 15
            assert len((await client.list_resources()).resources) == 4
            return await visited(client)

    said = anyio.run(visit)
    assert said["recall"]["memories"][0]["content"] == "AuthService depends on Redis"
    assert "AuthService" in {entity["name"] for entity in said["graph"]["entities"]}
    assert (said["update"]["version"], said["tag"]["tags"], said["promote"]["new_scope"]) == (2, ["auth"], "user")
    assert "AuthService depends on Valkey" in said["context"]["context_block"]
    assert (said["get"]["version"], said["forget"]["status"]) == (4, "forgotten")
    assert said["status"]["counts"]["forgotten"] == 1
    assert all(said["texts"])


def test_a_visit_by_hand_touches_every_tool_and_resource(servers):
    wire = servers("scoped")
    wire.hello()
    assert len(wire.ask("tools/list")["result"]["tools"]) == 10
    id = wire.body("store_memory", content="AuthService depends on Redis", **FACT)["memory_id"]
    assert wire.body("recall_memories", query="AuthService")["total_matched"] == 1
    assert wire.body("search_knowledge_graph")["graph_stats"]["entities_traversed"] == 2
    assert wire.body("update_memory", memory_id=id, importance=1)["updated_fields"] == ["importance"]
    assert wire.body("tag_memory", memory_id=id, add=["auth"])["tags"] == ["auth"]
    assert wire.body("promote_memory", memory_id=id, target_scope="user")["previous_scope"] == "project"
    assert wire.body("get_memory_context")["memories_used"] == 1
    assert wire.body("reflect_and_consolidate")["session_stats"]["consolidated_into"] == 0
    assert wire.body("forget_memory", memory_id=id)["status"] == "forgotten"
    assert wire.body("get_memory_status")["counts"]["total"] == 0
    assert all(wire.read(uri) for uri in URIS)
    assert wire.leave()[0] == 0


def test_nothing_but_answers_is_on_standard_output_and_the_log_is_quiet(servers):
    wire = servers()
    wire.hello()
    wire.body("store_memory", content="We deploy on Mondays", **FACT)
    code, log = wire.leave()
    assert (code, log) == (0, "")
    assert wire.process.stdout.read() == b""


def test_an_error_has_the_same_body_as_text_and_structure(servers):
    wire = servers()
    wire.hello()
    result = wire.call("store_memory", content="", type="fact")
    assert set(problems(result)) == {"content", "type", "scope"}
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]


def test_what_a_session_stored_is_there_in_the_next(servers):
    first = servers(session_id="monday")
    first.hello()
    first.body("store_memory", content="We deploy on Mondays", **FACT)
    first.leave()
    second = servers(session_id="tuesday")
    second.hello()
    assert (
        second.body("recall_memories", query="When do we deploy?")["memories"][0]["content"] == "We deploy on Mondays"
    )


@pytest.mark.parametrize("way", ["end of input", signal.SIGTERM, signal.SIGINT])
def test_a_server_that_leaves_closes_its_session(servers, desks, way):
    wire = servers(session_id="monday")
    wire.hello()
    wire.body("store_memory", content="Authentication moved to OAuth", type="episodic", scope="project", tags=["auth"])
    wire.body("store_memory", content="Authentication needs tokens", tags=["auth"], **FACT)
    wire.body("recall_memories", query="authentication")
    if way == "end of input":
        wire.process.stdin.close()
    else:
        wire.process.send_signal(way)
    assert wire.process.wait(10) == 0
    session = desks().store.session("monday", "")
    assert session.ended >= session.started
    assert session.memory_count == 2
    assert session.summary.startswith("2 memories stored (1 episodic, 1 semantic) about auth")
    assert "\n" not in session.summary


def test_a_session_that_comes_back_is_open_again(servers, desks):
    for _ in range(2):
        wire = servers(session_id="monday")
        wire.hello()
        wire.body("store_memory", content="We deploy on Mondays", **FACT)
        assert desks().store.session("monday", "").ended is None
        wire.leave()
    assert desks().store.session("monday", "").ended is not None


def test_a_server_without_a_named_session_makes_its_own(desks):
    one, other = desks(session_id=None), desks(session_id=None)
    ids = {desk("get_memory_status")["current_session"]["session_id"] for desk in (one, one, other)}
    assert len(ids) == 2 and all(id.startswith("session-") for id in ids)


def test_requests_that_overlap_are_all_answered(servers):
    wire = servers()
    wire.hello()
    sent = [
        wire.send("tools/call", name="store_memory", arguments={"content": f"Note number {n}", **FACT})
        for n in range(40)
    ]
    sent += [wire.send("tools/call", name="recall_memories", arguments={"query": "note number"}) for _ in range(20)]
    answers = {}
    while len(answers) < len(sent):
        message = wire.line()
        answers[message["id"]] = message["result"]
    assert not any(answers[number].get("isError") for number in sent)
    assert wire.body("get_memory_status")["counts"]["total"] == 40
