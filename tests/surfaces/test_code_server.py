"""Code search over the wire: large trees, progress, watching, two servers on a folder, servers that are killed."""

import time

import pytest

from embedding_server import EmbeddingServer
from indexing import FORMAT, a_shop, a_tree, write
from surfaces.waiting import SECONDS, until

FILES, FUNCTIONS = 40, 10
SOON = 60  # seconds; an index that never ends would hold it for ever


@pytest.fixture
def shop(tmp_path):
    return a_shop(tmp_path / "shop")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """One that is only read."""
    return a_tree(tmp_path_factory.mktemp("large") / "tree", FILES, FUNCTIONS)


@pytest.fixture
def endless():
    """Makes the vectors of a tree once its gate is opened: until then, no patience is long enough."""
    with EmbeddingServer() as server:
        server.gate.clear()
        yield server


def begun(servers, toolset="graph", **settings):
    wire = servers(toolset, **settings)
    wire.hello()
    return wire


def begun_on(tree, servers, endless):
    return begun(servers, index_roots=tree.parent, embedding_url=endless.url, embedding_model="counting")


def status(wire, project="shop"):
    return wire.body("get_index_status", project_id=project)


def complete(wire, project="shop"):
    return until(lambda: (now := status(wire, project))["status"] == "completed" and now)


def found(wire, query, **given):
    return [hit["name"] for hit in wire.body("search_code", query=query, **given)["results"]]


def told_until(wire, number, token, answered=lambda: None):
    """The progress that is told under a token until it is complete, the answer, and how much was told after it."""
    told, answer, late = [], None, time.monotonic() + SECONDS
    while not told or told[-1]["progress"] < 100 or answer is None:
        assert time.monotonic() < late, told
        message = wire.line(SECONDS)
        if message.get("id") == number:
            assert not message["result"].get("isError"), message
            answer, before = message["result"]["structuredContent"], len(told)
            answered()
        elif message.get("method") == "notifications/progress":
            assert message["params"]["progressToken"] == token
            told.append(message["params"])
    return told, answer, len(told) - before


# Both toolsets


def test_errors_are_plain_text_in_the_graph_set(servers, tmp_path):
    wire = begun(servers)
    result = wire.call("index_project", path=f"{tmp_path}/nowhere")
    assert result["isError"] and "structuredContent" not in result
    assert result["content"][0]["text"].startswith(f"Invalid path: {tmp_path}/nowhere (")
    unknown = wire.call("get_index_status", project_id="nowhere")
    assert unknown["isError"] and unknown["content"][0]["text"].startswith("there is no project nowhere; ")


def test_errors_have_the_envelope_in_the_default_set(servers, tmp_path):
    wire = begun(servers, "default")
    result = wire.call("index_project", path=f"{tmp_path}/nowhere")
    assert result["isError"]
    body = result["structuredContent"]
    assert (body["error"], body["degraded"], body["retry_possible"]) == ("invalid_input", False, False)
    assert body["message"].startswith(f"Invalid path: {tmp_path}/nowhere (")
    listed = {tool["name"]: tool for tool in wire.ask("tools/list")["result"]["tools"]}
    assert {"index_project", "search_code"} <= set(listed)
    assert not {"get_index_status", "list_projects", "delete_project"} & set(listed)
    assert listed["search_code"]["annotations"]["readOnlyHint"] is True


# A large tree


def test_a_large_tree_is_indexed_in_the_background_and_searched_meanwhile(servers, tree, endless):
    wire = begun_on(tree, servers, endless)
    number = wire.send(
        "tools/call", name="index_project", arguments={"path": str(tree)}, _meta={"progressToken": "tree"}
    )
    told, answer, after = told_until(wire, number, "tree", endless.gate.set)
    assert (answer["project_id"], answer["status"]) == ("tree", "indexing")
    assert 0 <= answer["progress_percent"] < 100 and "get_index_status" in answer["next"]
    steps = [step["progress"] for step in told]
    assert steps == sorted(set(steps)) and steps[-1] == 100
    assert {step["total"] for step in told} == {100}
    assert any("files read" in step["message"] for step in told)
    assert after > 0
    done = status(wire, "tree")
    assert (done["status"], done["progress_percent"], done["eta_seconds"]) == ("completed", 100.0, 0)
    assert (done["indexed_files"], done["total_chunks"]) == (FILES, FILES * FUNCTIONS)
    assert done["embedded_chunks"] == FILES * FUNCTIONS


def test_while_it_goes_on_it_says_how_far_it_is_and_every_server_answers_from_what_is_there(servers, tree, endless):
    wire, other = (begun_on(tree, servers, endless) for _ in range(2))
    assert wire.body("index_project", path=str(tree))["status"] == "indexing"
    now = status(wire, "tree")
    assert (now["status"], now["completed_at"]) == ("indexing", None)
    assert now["total_files"] == FILES and 0 < now["progress_percent"] < 100
    assert isinstance(now["eta_seconds"], int) and now["started_at"]
    body = wire.body("search_code", query="number_0_0")
    assert body["results"][0]["name"] == "number_0_0"
    assert "indexing" in [warning["code"] for warning in body["warnings"]]
    assert status(other, "tree")["status"] == "indexing"
    joined = other.body("index_project", path=str(tree))
    # What one has read the other finds there, and reads nothing again.
    assert joined["project_id"] == "tree" and joined["files"]["added"] == 0
    endless.gate.set()
    assert complete(wire, "tree")["total_chunks"] == complete(other, "tree")["total_chunks"] == FILES * FUNCTIONS
    assert [message for message in wire.seen if message.get("method") == "notifications/progress"] == []


def test_a_server_that_is_killed_in_the_middle_is_followed_by_one_that_goes_on(servers, tree, endless):
    wire = begun_on(tree, servers, endless)
    assert wire.body("index_project", path=str(tree))["status"] == "indexing"
    wire.process.kill()
    wire.process.wait()
    other = begun_on(tree, servers, endless)
    left = status(other, "tree")
    assert left["status"] == "pending" and 0 < left["total_chunks"] <= FILES * FUNCTIONS
    assert found(other, "number_0_0")[0] == "number_0_0"
    endless.gate.set()
    other.body("index_project", path=str(tree))
    done = complete(other, "tree")
    assert (done["indexed_files"], done["total_chunks"]) == (FILES, FILES * FUNCTIONS)
    assert other.body("index_project", path=str(tree))["files"]["unchanged"] == FILES


def test_a_client_that_leaves_in_the_middle_is_not_kept_waiting(servers, tree, endless):
    wire = begun_on(tree, servers, endless)
    assert wire.body("index_project", path=str(tree))["status"] == "indexing"
    wire.process.stdin.close()
    assert wire.process.wait(SOON) == 0
    assert "Traceback" not in wire.process.stderr.read().decode()
    other = begun_on(tree, servers, endless)
    assert status(other, "tree")["status"] == "pending"


def test_an_index_can_be_deleted_while_it_is_made(servers, tree, endless):
    wire = begun_on(tree, servers, endless)
    assert wire.body("index_project", path=str(tree))["status"] == "indexing"
    assert wire.body("delete_project", project_id="tree")["chunks_deleted"] > 0
    assert wire.body("list_projects") == {"projects": [], "count": 0}
    assert found(wire, "number_0_0") == []


# A small one


def test_a_client_that_asks_hears_of_a_small_project_too(servers, shop):
    wire = begun(servers)
    number = wire.send("tools/call", name="index_project", arguments={"path": str(shop)}, _meta={"progressToken": 7})
    told, answer, _ = told_until(wire, number, 7)
    steps = [step["progress"] for step in told]
    assert (answer["status"], steps[-1]) == ("completed", 100)
    assert steps == sorted(set(steps))


def test_a_watched_folder_is_indexed_again_until_the_server_ends(servers, shop):
    wire = begun(servers)
    assert wire.body("index_project", path=str(shop), watch=True)["watching"] is True
    write(shop, "src/new.py", FORMAT.replace("format_moment", "brand_new"))
    until(lambda: "brand_new" in found(wire, "brand_new"))
    (shop / "src" / "new.py").unlink()
    until(lambda: status(wire)["total_files"] == 3)
    wire.process.stdin.close()
    assert wire.process.wait(SOON) == 0
    assert "Traceback" not in wire.process.stderr.read().decode()


def test_a_search_that_meets_a_changed_file_brings_the_index_up_to_date(servers, shop):
    wire = begun(servers, "default")
    wire.body("index_project", path=str(shop))
    write(shop, "src/format.py", FORMAT.replace("format_moment", "brand_new"))
    body = wire.body("search_code", query="format_moment")
    assert [warning["code"] for warning in body["warnings"]] == ["stale_files"]
    until(lambda: "brand_new" in found(wire, "brand_new"))


def test_two_servers_that_index_a_folder_at_once_make_one_index(servers, shop):
    wires = [begun(servers) for _ in range(2)]
    numbers = [wire.send("tools/call", name="index_project", arguments={"path": str(shop)}) for wire in wires]
    answers = [wire.answer_to(number)["result"] for wire, number in zip(wires, numbers, strict=True)]
    assert not any(answer["isError"] for answer in answers)
    assert sum(answer["structuredContent"]["files"]["added"] for answer in answers) == 3
    for wire in wires:
        assert complete(wire)["total_chunks"] == 3
        assert wire.body("list_projects") == {"projects": ["shop"], "count": 1}
        assert found(wire, "parse_moment").count("parse_moment") == 1


def test_memories_and_code_are_recalled_together(servers, shop):
    wire = begun(servers)
    wire.body("index_project", path=str(shop))
    wire.body("store_memory", content="We parse a moment with parse_moment")
    body = wire.body("recall", query="parse moment", include_code=True)
    assert {hit["source"] for hit in body["results"]} == {"memory", "code"}
    assert (body["memories_count"], body["memories_count"] + body["code_count"]) == (1, len(body["results"]))
    code = next(hit for hit in body["results"] if hit["source"] == "code")
    assert (code["file_path"], code["start_line"], code["end_line"]) == ("src/parse.py", 1, 3)


@pytest.mark.parametrize("ending", ["leaves", "terminates"])
def test_a_server_is_there_while_a_repository_that_wishes_it_ill_is_indexed(servers, tmp_path, ending):
    """One such pattern kept a thread busy for hours that gave no other one a turn, not even to end."""
    deep = tmp_path / "shop" / ("d/" * 20)
    write(deep, "a.py", "def at_the_bottom(): ...\n")
    write(tmp_path, "shop/.gitignore", "**/" * 20 + "x\n" + "**/d/" * 12 + "x\n")
    wire = begun(servers)
    number = wire.send("tools/call", name="index_project", arguments={"path": f"{tmp_path}/shop"})
    assert wire.ask("ping")["result"] == {}
    if ending == "leaves":
        if not any(message.get("id") == number for message in wire.seen):
            wire.answer_to(number)
        assert complete(wire)["indexed_files"] == 2
        assert wire.leave()[0] == 0
    else:
        wire.process.terminate()
        assert wire.process.wait(SECONDS) is not None
