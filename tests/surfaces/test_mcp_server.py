"""The server as a client sees it: a real process, real pipes, both eras of the protocol."""

import json
import signal
import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from retain.surfaces.mcp.tools import Toolset, merged
from surfaces.wire import HANDSHAKES, PATHS, Wire, problems

SERVER = Path(__file__).with_name("toy_server.py")


def toy(folder: Path, *options: str) -> Wire:
    wire = Wire(sys.executable, str(SERVER), str(folder), *options)
    wire.folder = folder
    return wire


@pytest.fixture
def server(tmp_path):
    wire = toy(tmp_path)
    yield wire
    wire.end()


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    wire = toy(tmp_path_factory.mktemp("toy"))
    wire.hello()
    yield wire
    wire.process.stdin.close()
    assert wire.process.wait(20) == 0


def test_the_first_toolset_keeps_a_name_that_two_want():
    first, second = Toolset("first"), Toolset("second")
    first.tool("Look", name="look")(lambda app: {})
    second.add(first.tools[0])
    second.tool("Look elsewhere", name="look")(lambda app: {"elsewhere": True})
    assert {name: tool.title for name, tool in merged([first, second]).items()} == {
        "look": "Look",
        "second_look": "Look elsewhere",
    }


@pytest.mark.parametrize("version", HANDSHAKES)
def test_every_handshake_version_is_served(server, version):
    answer = server.hello(version)
    assert answer["protocolVersion"] == version
    assert answer["serverInfo"] == {"name": "retain", "version": "1.2.3"}
    assert answer["instructions"] == "Ask the toy."
    assert answer["capabilities"]["resources"]["subscribe"] is True
    assert server.call("count")["content"] == [{"type": "text", "text": '{"count":0}'}]


def test_the_modern_era_is_served_with_subscriptions(tmp_path):
    async def visit():
        parameters = StdioServerParameters(command=sys.executable, args=[str(SERVER), str(tmp_path)], env=PATHS)
        async with Client(stdio_client(parameters)) as client:
            assert client.protocol_version == "2026-07-28"
            assert (await client.call_tool("count", {})).structured_content == {"count": 0}
            async with client.listen(resource_subscriptions=["toy://notes"]) as changes:
                await client.call_tool("store", {"content": "a", "type": "semantic"})
                assert (await anext(aiter(changes))).uri == "toy://notes"
            assert (await client.read_resource("toy://notes")).contents[0].text == "1"

    anyio.run(visit)
    assert (tmp_path / "closed").exists()


def test_schemas_are_plain_and_complete(running):
    tools = {tool["name"]: tool for tool in running.ask("tools/list")["result"]["tools"]}
    schema = tools["store"]["inputSchema"]
    assert schema["required"] == ["content", "type"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["importance"] == {
        "type": "number",
        "minimum": 0,
        "maximum": 1,
        "default": 0.5,
    }
    assert schema["properties"]["turn"] == {"type": "integer", "minimum": 0}
    assert schema["properties"]["entities"]["items"]["required"] == ["name", "type"]
    assert not {"title", "$ref", "null"} & set(json.dumps(schema).replace('"', " ").split())
    assert tools["count"]["outputSchema"] == {"type": "object", "required": ["count"]}
    assert tools["wait"]["_meta"] == {"anthropic/searchHint": "sleep"}


def test_text_and_structure_of_a_result_say_the_same(running):
    result = running.call("store", content="é", type="semantic")
    assert result["content"][0]["text"] == json.dumps(
        result["structuredContent"], separators=(",", ":"), ensure_ascii=False
    )


def test_what_models_often_send_is_understood(running):
    result = running.call(
        "store",
        content="a",
        type="semantic",
        turn=5.0,
        tags='["a","b"]',
        scope='["user"]',
        importance=1,
        source=None,
    )["structuredContent"]
    assert (result["turn"], result["tags"], result["scope"]) == (5, ["a", "b"], ["user"])


def test_every_fault_is_named_at_once(running):
    found = problems(
        running.call(
            "store",
            type="Semantik",
            importence=1,
            importance=2,
            turn=True,
            entities=[{"name": "n"}],
            source={"tol": ""},
        )
    )
    assert found == {
        "type": "must be one of: episodic, semantic, procedural; did you mean semantic?",
        "importence": "unknown argument; did you mean importance?",
        "importance": "must be between 0 and 1",
        "turn": "must be a whole number at least 0",
        "entities[0].type": "is required; a string",
        "source.tol": "unknown argument; did you mean tool?",
        "content": "is required; a string",
    }


@pytest.mark.parametrize("value", ["5", True, None, [1], float("nan")])
def test_only_a_number_is_a_number(running, value):
    assert running.call("wait", seconds=value)["isError"]


@pytest.mark.parametrize("given", [rb"\ud800", rb"\ude00\ud83d", b"\xff", b"\xed\xa0\x80", rb"a\u0000"])
def test_input_that_is_no_text_is_refused_by_field(running, given):
    running.raw(
        b'{"jsonrpc":"2.0","id":"odd","method":"tools/call","params":{"name":"store","arguments":'
        b'{"content":"x","type":"semantic","metadata":{"deep":["' + given + b'"]}}}}'
    )
    answer = running.line()
    assert answer["id"] == "odd"
    assert list(problems(answer["result"])) == ["metadata.deep[0]"]


def test_surrogate_pairs_and_escaped_backslashes_stay(running):
    running.raw(
        rb'{"jsonrpc":"2.0","id":"fine","method":"tools/call","params":{"name":"store","arguments":'
        rb'{"content":"\\ud800 \ud83d\ude00","type":"semantic"}}}'
    )
    assert running.line()["result"]["structuredContent"]["content"] == "\\ud800 😀"


@pytest.mark.parametrize(
    ("line", "id", "code"),
    [
        (b"{nonsense", None, -32700),
        (b"[1]", None, -32600),
        (b'{"id":4}', 4, -32600),
        (b'{"jsonrpc":"2.0","id":"a","method":"ping","params":[1]}', "a", -32600),
    ],
)
def test_a_line_that_is_no_request_is_answered(running, line, id, code):
    running.raw(b"\n" + line)
    answer = running.line()
    assert (answer["id"], answer["error"]["code"]) == (id, code)


@pytest.mark.parametrize("id", [b"1.5", b"7.0", b"1e400", b"-0", b"9" * 30, rb'"\ud800"', rb'"a\n"', b'""'])
def test_an_id_goes_back_as_it_was_written(running, id):
    running.raw(b'{"jsonrpc":"2.0","id": ' + id + b',"method":"ping"}')
    assert running.bare() == b'{"jsonrpc":"2.0","id":' + id + b',"result":{}}'
    running.raw(b'{"method":"ping","id":' + id + b"}")
    assert running.bare().startswith(b'{"jsonrpc":"2.0","id":' + id + b',"error":{"code":-32600')


@pytest.mark.parametrize("id", [b"true", b"false", b"null", b"{}", b"[1]", b"NaN", b"Infinity", b"-Infinity"])
def test_what_is_no_id_is_answered_and_nothing_is_done(running, id):
    running.raw(b'{"id":' + id + b',"jsonrpc":"2.0","method":"tools/call","params":{"name":"crash"}}')
    answer = running.line()
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)
    assert "id must be a string or a number" in answer["error"]["message"]


def test_a_notification_with_an_odd_id_inside_is_not_answered(running):
    running.raw(
        b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"id":1.5,"progressToken":1,"progress":1}}'
    )
    running.raw(b'{"jsonrpc":"2.0","id":"next","method":"ping"}')
    assert running.line()["id"] == "next"


def test_a_line_of_ten_megabytes_is_served(running):
    assert running.call("store", content="x" * 10_000_000, type="semantic")["structuredContent"]["length"] == 10_000_000


def test_errors_have_one_envelope(running):
    assert running.call("fail")["structuredContent"] == {
        "error": "memory_unavailable",
        "message": "the store is away",
        "degraded": True,
        "retry_possible": True,
        "queued": 3,
    }


def test_a_crash_tells_no_secrets_and_respects_the_output_schema(running):
    result = running.call("crash")
    assert result["isError"]
    assert "structuredContent" not in result
    assert json.loads(result["content"][0]["text"])["error"] == "internal_error"
    assert "secret" not in json.dumps(result)


def test_an_unknown_tool_is_answered_with_close_names(running):
    result = running.call("stor")
    assert result["isError"]
    assert "store" in result["structuredContent"]["message"]


def test_a_file_name_that_is_no_text_does_not_end_the_server(running):
    assert running.call("odd-name")["structuredContent"] == {"path": "\ufffd.py", "text": "é"}


def test_a_slow_call_holds_up_nobody(running):
    slow = running.send("tools/call", name="wait", arguments={"seconds": 0.5})
    running.seen.clear()
    assert running.ask("ping")["result"] == {}
    assert running.seen == []
    assert running.line()["id"] == slow


def test_a_cancelled_call_is_not_answered(running):
    slow = running.send("tools/call", name="wait", arguments={"seconds": 0.1})
    running.tell("notifications/cancelled", requestId=slow)
    running.seen.clear()
    running.call("wait", seconds=0.3)
    assert running.seen == []


def test_a_client_that_asks_hears_how_far_a_call_is_also_after_its_answer(server):
    server.hello()
    number = server.send("tools/call", name="climb", arguments={"steps": 9}, _meta={"progressToken": "climbing"})
    told = []
    while not told or told[-1]["params"]["progress"] < 9:
        message = server.line()
        if message.get("id") == number:
            assert message["result"]["structuredContent"] == {"climbing": True}
        else:
            told.append(message)
    assert {message["method"] for message in told} == {"notifications/progress"}
    steps = [message["params"] for message in told]
    assert steps[0] == {"progressToken": "climbing", "progress": 1, "total": 9, "message": "step 1"}
    # Each value is above the one before, and those that come too thick are left out.
    assert [step["progress"] for step in steps] == [1, 2, 9]


def test_a_client_that_does_not_ask_for_progress_hears_nothing(server):
    server.hello()
    assert server.call("climb", steps=9)["structuredContent"] == {"climbing": True}
    server.call("wait", seconds=0.6)
    assert server.seen == []


def test_resources_are_listed_and_read(running):
    assert [each["uri"] for each in running.ask("resources/list")["result"]["resources"]] == [
        "toy://notes",
        "toy://other",
    ]
    assert running.ask("resources/templates/list")["result"]["resourceTemplates"] == []
    assert running.ask("resources/read", uri="toy://other")["result"]["contents"][0]["text"] == "other"
    assert running.ask("resources/read", uri="toy://none")["error"]["code"] == -32602


def test_a_subscriber_hears_of_changes_by_this_process_and_by_others(server):
    server.hello()
    server.ask("resources/subscribe", uri="toy://notes")
    news = {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "toy://notes"}}
    server.folder.joinpath("notes").write_text("from elsewhere")
    assert server.line() == news
    server.call("store", content="a", type="semantic")
    assert (server.seen or [server.line()]) == [news]


def test_the_application_can_tell_subscribers_itself(server):
    server.hello()
    server.ask("resources/subscribe", uri="toy://other")
    server.call("announce")
    assert (server.seen or [server.line()])[0]["params"] == {"uri": "toy://other"}


def test_nobody_hears_of_changes_after_unsubscribing(server):
    server.hello()
    server.ask("resources/subscribe", uri="toy://notes")
    server.ask("resources/unsubscribe", uri="toy://notes")
    server.call("store", content="a", type="semantic")
    server.call("wait", seconds=0.7)
    assert server.seen == []


def test_ready_is_called_after_the_first_answer(server):
    server.hello()
    server.call("wait", seconds=0.5)
    assert server.folder.joinpath("warm").exists()


def test_calls_running_when_input_ends_are_answered(server):
    server.hello()
    server.send("tools/call", name="wait", arguments={"seconds": 0.3})
    server.process.stdin.close()
    assert server.line()["result"]["structuredContent"] == {"waited": 0.3}
    assert server.process.wait(20) == 0
    assert server.folder.joinpath("closed").exists()


def test_nothing_is_waited_for_once_all_is_answered(tmp_path):
    server = toy(tmp_path, "--grace=3600")
    server.hello()
    assert server.leave()[0] == 0
    server.end()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_even_a_busy_server_in_good_order(server, number):
    server.hello()
    server.send("tools/call", name="wait", arguments={"seconds": 30})
    server.ask("ping")
    server.process.send_signal(number)
    assert server.process.wait(20) == 0
    assert server.folder.joinpath("closed").exists()
