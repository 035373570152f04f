"""The four resources: what they say, and that subscribers hear of changes, whoever made them."""

import json
import sys

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from retain.domain.handing import FRAME
from retain.surfaces.mcp import resources
from surfaces.wire import PATHS, environment, in_place, serve_command

URIS = {
    "memory://status": "application/json",
    "memory://session/summary": "text/markdown",
    "memory://project/knowledge-graph": "text/markdown",
    "memory://user/preferences": "text/markdown",
}


@pytest.fixture
def read(desk):
    """The text of a resource, in this process."""
    by_uri = {resource.uri: resource for resource in resources.RESOURCES}
    return lambda uri: by_uri[uri].read(desk.app)


def test_they_are_listed_with_name_description_and_type(servers):
    wire = servers("scoped")
    assert wire.hello()["capabilities"]["resources"]["subscribe"] is True
    listed = wire.ask("resources/list")["result"]["resources"]
    assert {each["uri"]: each["mimeType"] for each in listed} == URIS
    assert all(each["name"] and each["description"] for each in listed)
    for uri, kind in URIS.items():
        (contents,) = wire.ask("resources/read", uri=uri)["result"]["contents"]
        assert (contents["uri"], contents["mimeType"]) == (uri, kind) and contents["text"]


def test_status_is_what_the_tool_says(desk, read):
    desk.stored("We deploy on Mondays")
    told, body = json.loads(read("memory://status")), desk("get_memory_status")
    assert told["connection"].pop("uptime_seconds") <= body["connection"].pop("uptime_seconds")
    assert told == body


def test_a_new_session_has_a_summary_too(read):
    text = read("memory://session/summary")
    assert text.startswith("## Session Memory Summary\n**Session:** s1 | Started: ")
    assert "**Memories stored:** 0\n" in text and "**Key topics:** none yet" in text


def test_the_session_is_summed_up(desk, read):
    desk.stored("Authentication moved to OAuth", type="episodic", tags=["authentication"])
    desk.stored("Authentication needs tokens", tags=["authentication"])
    for _ in range(3):
        desk("recall_memories", query="authentication")
    desk.settled()
    text = read("memory://session/summary")
    assert "**Memories stored:** 2 (1 episodic, 1 semantic)" in text
    assert "**Memories recalled:** 3 queries, 2 unique memories served" in text
    assert "authentication" in text.split("**Key topics:**")[1]
    assert "**Memories consolidated:** 0\n" in text


def test_a_topic_is_named_once_whatever_its_case(desk, read):
    desk.stored("The gateway speaks gRPC to billing", tags=["grpc"])
    desk.stored("The gateway retries gRPC calls", tags=["GRPC"])
    topics = read("memory://session/summary").split("**Key topics:** ")[1].casefold().split(", ")
    assert topics.count("grpc") == 1


def test_what_was_consolidated_is_counted(desk, read):
    for text in ("ran the tests", "ran the tests again", "ran the tests once more"):
        desk.stored(f"We {text} before the commit", type="episodic", scope="session")
    done = desk("reflect_and_consolidate", session_id="s1")["session_stats"]
    assert done["consolidated_into"] == 1
    assert "**Memories consolidated:** 3\n" in read("memory://session/summary")


def test_the_summary_counts_every_memory_of_a_long_session(desk, read):
    for number in range(210):
        desk.stored(f"Note {number}", type="episodic", scope="session")
    assert "**Memories stored:** 210 (210 episodic)" in read("memory://session/summary")


def test_the_graph_has_types_and_density(desk, read):
    desk.stored("AlphaService depends on BetaService")
    text = read("memory://project/knowledge-graph")
    assert "**Entities:** 2 (2 " in text
    assert "**Relationships:** 1 (1 depends_on)" in text
    assert "**Density:** 0.5000" in text
    assert "AlphaService" in text and "depends_on BetaService" in text


def test_an_empty_graph_says_so(read):
    assert "No entities yet" in read("memory://project/knowledge-graph")


def test_preferences_are_what_holds_everywhere_the_most_important_first(desk, read):
    desk.stored("The user prefers tabs", scope="user", importance=0.4)
    desk.stored("Always write tests first", scope="user", type="procedural", importance=0.9)
    desk.stored("The user went home", scope="user", type="episodic")
    desk.stored("This project uses spaces", scope="project")
    assert read("memory://user/preferences").splitlines()[1:] == [
        FRAME,
        "",
        "- Always write tests first (noted by the agent)",
        "- The user prefers tabs (noted by the agent)",
    ]


def test_a_preference_that_is_cut_says_so(desk, read):
    desk.stored("The user prefers " + "very long sentences " * 100, scope="user")
    assert read("memory://user/preferences").endswith("… (noted by the agent)")


def test_no_preferences_is_a_sentence(read):
    assert "Nothing is remembered" in read("memory://user/preferences")


def test_an_unknown_resource_is_an_error_that_names_those_there_are(servers):
    wire = servers()
    wire.hello()
    error = wire.ask("resources/read", uri="memory://nothing")["error"]
    assert error["code"] == -32602 and "memory://status" in error["message"]


def test_a_resource_of_a_store_that_is_away_is_an_error(servers, tmp_path):
    (tmp_path / "file").write_text("no folder")
    wire = servers(**in_place(tmp_path / "file" / "retain.db"))
    wire.hello()
    error = wire.ask("resources/read", uri="memory://status")["error"]
    assert error["data"]["error"] == "memory_unavailable"


def hears(wire, wanted):
    """All of these and nothing else. What is compared after it was stored is a change of its own: some come twice."""
    heard = set()
    while heard != wanted:
        heard.add(wire.line()["params"]["uri"])
        assert heard <= wanted


def test_a_subscriber_hears_of_what_another_process_writes_and_of_nothing_else(servers, desks):
    wire, other = servers(), desks()
    wire.hello()
    for uri in URIS:
        wire.ask("resources/subscribe", uri=uri)
    # Both are of one session, and the numbers of all memories are in the status.
    always = {"memory://status", "memory://session/summary"}
    other.stored("AlphaService depends on BetaService")
    hears(wire, always | {"memory://project/knowledge-graph"})
    other.stored("The user prefers tabs", scope="user")
    hears(wire, always | {"memory://user/preferences"})


def test_a_recall_is_heard_of_by_who_follows_the_session(servers):
    wire = servers("scoped")
    wire.hello()
    wire.call("store_memory", content="We deploy on Mondays", type="semantic", scope="project")
    for uri in ("memory://session/summary", "memory://user/preferences", "memory://project/knowledge-graph"):
        wire.ask("resources/subscribe", uri=uri)
    wire.seen.clear()
    wire.call("recall_memories", query="When do we deploy?")
    heard = wire.seen or [wire.line()]
    assert {each["params"]["uri"] for each in heard} == {"memory://session/summary"}


def test_the_modern_era_hears_of_what_another_process_writes(tmp_path, desks):
    env = {**environment(tmp_path), **PATHS}

    async def visit():
        command = StdioServerParameters(command=sys.executable, args=serve_command()[1:], env=env)
        async with Client(stdio_client(command)) as client:
            async with client.listen(resource_subscriptions=["memory://user/preferences"]) as changes:
                desks().stored("The user prefers tabs", scope="user")
                assert (await anext(aiter(changes))).uri == "memory://user/preferences"
            text = (await client.read_resource("memory://user/preferences")).contents[0].text
            assert "The user prefers tabs" in text

    anyio.run(visit)
