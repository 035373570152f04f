"""get_status and reset_all_memory, and what a client of the graph toolset sees on the wire."""

import json
import re
import shlex
from pathlib import Path

import pytest

from retain import maintenance
from retain.surfaces.mcp.toolsets import default
from retain.version import __version__
from surfaces.command import Command
from surfaces.wire import GRAPH, HANDSHAKES, ON_SURREALDB, Desk, Wire, environment, in_place, serve_command

TOOLS = [
    "store_memory", "get_memory", "update_memory", "delete_memory", "list_memories", "search", "search_text", "recall",
    "create_entity", "create_relation", "get_related", "get_valid", "get_valid_at", "invalidate", "index_project",
    "search_code", "get_index_status", "list_projects", "delete_project", "get_status", "reset_all_memory",
]  # fmt: skip
READING = {
    "get_memory", "list_memories", "search", "search_text", "recall", "get_related", "get_valid", "get_valid_at",
    "search_code", "get_index_status", "list_projects", "get_status",
}  # fmt: skip
DESTROYING = {"delete_memory", "invalidate", "delete_project", "reset_all_memory"}
UNCONFIRMED = {"reset": False, "message": "Confirmation required. Set confirm=true to delete all data."}
NOTHING = {"memories": 0, "entities": 0, "relations": 0, "code_chunks": 0}
ID = "0" * 20
CALLS = [
    ("store_memory", {"content": "We deploy on Mondays"}),
    ("get_memory", {"id": ID}),
    ("update_memory", {"id": ID, "content": "We deploy on Fridays"}),
    ("delete_memory", {"id": ID}),
    ("list_memories", {}),
    ("search", {"query": "deploy"}),
    ("search_text", {"query": "deploy"}),
    ("recall", {"query": "deploy"}),
    ("create_entity", {"name": "A"}),
    ("create_relation", {"from_entity": ID, "to_entity": ID, "relation_type": "uses"}),
    ("get_related", {"entity_id": ID}),
    ("get_valid", {}),
    ("get_valid_at", {"timestamp": "2021-01-06"}),
    ("invalidate", {"id": ID}),
    ("get_status", {}),
    ("reset_all_memory", {"confirm": True}),
]


@pytest.fixture(scope="module")
def wire(tmp_path_factory):
    """A server with the graph tools, greeted in the contract's version of the protocol."""
    home = tmp_path_factory.mktemp("graph")
    wire = Wire(*serve_command("graph"), env=environment(home), cwd=home / "shop")
    wire.greeting = wire.hello("2024-11-05")
    wire.tools = {tool["name"]: tool for tool in wire.ask("tools/list")["result"]["tools"]}
    yield wire
    assert wire.leave() == (0, "")


def fill(board, home, user=None):
    """Two memories, two entities, one relation and a function, with ids to look them up by."""
    ids = [board.noted(text, user_id=user) for text in ("we deploy on mondays", "caches are warm")]
    a, b = (board("create_entity", name=name, user_id=user)["id"] for name in ("Alpha", "Beta"))
    board("create_relation", from_entity=a, to_entity=b, relation_type="uses", user_id=user)
    (home / "shop").mkdir(exist_ok=True)
    (home / "shop" / "a.py").write_text("def connect():\n    return 1\n")
    board("index_project", path=str(home / "shop"), user_id=user)
    return ids, a


def seen(board, user=None):
    """Everything that the tools show of a user's data."""
    given = {"user_id": user}
    return (
        board("list_memories", **given),
        board("get_status", **given)["entities_count"],
        board("search_code", query="connect", **given)["count"],
    )


# Status


def test_status_has_the_fields_of_the_contract(board, tmp_path):
    fill(board, tmp_path)
    body = board("get_status")
    assert set(body) == {
        "version", "status", "memories_count", "entities_count", "code_chunks_count", "embedding", "db_dimension",
        "warnings",
    }  # fmt: skip
    assert (body["version"], body["status"], body["warnings"]) == (__version__, "healthy", [])
    assert (body["memories_count"], body["entities_count"], body["code_chunks_count"]) == (2, 2, 1)
    assert set(body["embedding"]) == {"status", "model", "dimensions", "cache_stats"}
    assert set(body["embedding"]["cache_stats"]) == {"hits", "misses", "size"}
    assert body["embedding"]["dimensions"] == body["db_dimension"] == 384


def test_an_empty_memory_is_healthy(board):
    body = board("get_status")
    assert (body["status"], body["memories_count"], body["entities_count"]) == ("healthy", 0, 0)
    assert body["code_chunks_count"] == 0


def test_a_model_that_nobody_needed_yet_is_loading_and_then_ready(desks):
    board = desks(tools=GRAPH, embedding_model="bundled")
    before = board("get_status")["embedding"]
    assert (before["status"], before["cache_stats"]) == ("loading", {"hits": 0, "misses": 0, "size": 0})
    board.noted("We deploy on Mondays")
    after = board("get_status")["embedding"]
    assert (after["status"], after["dimensions"], after["model"]) == ("ready", 384, before["model"])


def test_the_cache_counts_questions_that_were_asked_before(knowing_board):
    for _ in range(2):
        knowing_board("search", query="When do we deploy?")
    assert knowing_board("get_status")["embedding"]["cache_stats"] == {"hits": 1, "misses": 1, "size": 1}


def test_a_model_that_is_off_is_an_error_with_its_reason(desks):
    body = desks(tools=GRAPH, embedding_model="off")("get_status")
    assert body["embedding"]["status"] == "error"
    assert "embedding_model" in body["embedding"]["reason"]
    assert set(body["embedding"]) == {"status", "model", "dimensions", "cache_stats", "reason"}


def test_a_model_that_cannot_be_loaded_is_an_error_with_its_reason(desks, tmp_path):
    broken = desks(tools=GRAPH, embedding_model=str(tmp_path / "nowhere"))
    assert broken("store_memory", content="We deploy on Mondays")["warnings"][0]["code"] == "embedding_failed"
    body = broken("get_status")["embedding"]
    assert body["status"] == "error" and "nowhere" in body["reason"]
    assert broken.refused("search", query="deploy") == "Embedding service not ready. Please try again."


@pytest.mark.sqlite
def test_a_damaged_store_that_was_set_aside_is_not_healthy(board, desks, tmp_path):
    board.noted("We deploy on Mondays")
    board.app.close()
    file = board.app.settings.database_file
    file.write_bytes(b"no database at all" * 1000)
    again = desks(tools=GRAPH)
    body = again("get_status")
    assert body["status"] == "degraded"
    assert body["warnings"][0]["message"]


def test_what_was_invalidated_still_counts_and_what_was_deleted_does_not(board):
    ended, gone, _ = (board.noted(f"Deploy number {number} went well") for number in range(3))
    board("invalidate", id=ended)
    board("delete_memory", id=gone)
    assert board("get_status")["memories_count"] == board("list_memories")["total"] == 2


def test_everybody_is_told_of_their_own(board, tmp_path):
    fill(board, tmp_path, "ann")
    told = [board("get_status", user_id=user) for user in ("ann", "bob", None)]
    assert [(body["memories_count"], body["entities_count"], body["code_chunks_count"]) for body in told] == [
        (2, 2, 1),
        (0, 0, 0),
        (0, 0, 0),
    ]


# Reset


@pytest.mark.parametrize("given", [{}, {"confirm": False}, {"confirm": None}])
def test_nothing_is_reset_without_confirmation(board, tmp_path, given):
    fill(board, tmp_path)
    before = seen(board)
    assert board("reset_all_memory", **given) == UNCONFIRMED
    assert seen(board) == before
    assert maintenance.all_backups(board.app.settings) == []


def test_only_true_confirms(board, tmp_path):
    fill(board, tmp_path)
    before = seen(board)
    for given in ("true", 1, "yes"):
        assert "confirm: must be true or false" in board.refused("reset_all_memory", confirm=given)
    assert seen(board) == before


def test_a_reset_counts_what_it_deleted_and_names_its_backup(board, tmp_path):
    (id, _), entity = fill(board, tmp_path)
    body = board("reset_all_memory", confirm=True)
    assert set(body) == {"reset", "deleted", "backup", "undo"}
    assert body["reset"] is True
    assert body["deleted"] == {"memories": 2, "entities": 2, "relations": 1, "code_chunks": 1}
    assert [Path(body["backup"])] == maintenance.all_backups(board.app.settings)
    undoing = ["copy", "--from", f"sqlite:{body['backup']}", "--to", "current"]
    assert shlex.split(body["undo"]) == ["retain", *(undoing if ON_SURREALDB else ["restore", body["backup"]])]
    assert board.refused("get_memory", id=id) == f"Memory not found: {id}"
    assert f"there is no entity {entity}" in board.refused("get_related", entity_id=entity)
    assert board("list_memories")["total"] == board("list_projects")["count"] == 0
    status = board("get_status")
    assert (status["memories_count"], status["entities_count"], status["code_chunks_count"]) == (0, 0, 0)


def test_invalidated_memories_are_deleted_and_counted_too(board):
    board("invalidate", id=board.noted("We deploy on Mondays"))
    assert board("reset_all_memory", confirm=True)["deleted"]["memories"] == 1
    assert board("get_valid_at", timestamp="2199-01-01")["count"] == 0


def test_an_empty_memory_can_be_reset(board):
    body = board("reset_all_memory", confirm=True)
    assert (body["reset"], body["deleted"]) == (True, NOTHING)


def test_after_a_reset_the_same_can_be_said_anew(board, tmp_path):
    (id, _), _ = fill(board, tmp_path)
    board("reset_all_memory", confirm=True)
    body = board("store_memory", content="we deploy on mondays")
    assert body["status"] == "stored" and body["id"] != id
    assert [hit["id"] for hit in board("search", query="we deploy on mondays")["results"]] == [body["id"]]


@pytest.mark.sqlite
def test_the_backup_brings_everything_back(board, desks, tmp_path):
    _, entity = fill(board, tmp_path)
    before = seen(board), board("get_related", entity_id=entity)
    backup = board("reset_all_memory", confirm=True)["backup"]
    maintenance.restore(board.app.settings, Path(backup))
    again = desks(tools=GRAPH)
    assert (seen(again), again("get_related", entity_id=entity)) == before
    assert again.store.faults() == []


def test_the_command_that_undoes_it_brings_everything_back(tmp_path):
    home = tmp_path / "my memories"
    board = Desk(home, GRAPH)
    fill(board, home)
    before = seen(board)
    undo = shlex.split(board("reset_all_memory", confirm=True)["undo"])
    board.app.close()
    ended = Command(tmp_path)(*undo[1:], *([] if ON_SURREALDB else ["--yes"]), **environment(home))
    assert (undo[0], ended.code) == ("retain", 0), ended
    again = Desk(home, GRAPH)
    if ON_SURREALDB:  # a backup is without code, which is read again
        again("index_project", path=str(home / "shop"))
    assert seen(again) == before
    again.app.close()


def test_a_reset_empties_only_the_one_who_asks(board, tmp_path):
    fill(board, tmp_path)
    fill(board, tmp_path, "ann")
    mine = seen(board)
    assert board("reset_all_memory", confirm=True, user_id="ann")["deleted"] == {
        "memories": 2, "entities": 2, "relations": 1, "code_chunks": 1,
    }  # fmt: skip
    assert seen(board) == mine
    assert seen(board, "ann")[0]["total"] == 0
    assert board("reset_all_memory", confirm=True, user_id="ann")["deleted"] == NOTHING


def test_a_reset_reaches_every_project_of_the_user(desks, board, tmp_path):
    desks(tools=GRAPH, project_dir=tmp_path / "bank").noted("Interest is paid on Fridays")
    board.noted("We deploy on Mondays")
    assert board("reset_all_memory", confirm=True)["deleted"]["memories"] == 2


# The wire


def test_the_handshake_of_the_contract_works(wire):
    assert wire.greeting["protocolVersion"] == "2024-11-05"
    assert wire.greeting["serverInfo"]["version"] == __version__
    assert list(wire.greeting["capabilities"]) == ["tools"] and wire.greeting["instructions"]


@pytest.mark.parametrize("version", HANDSHAKES[1:])
def test_later_handshakes_work_too(servers, version):
    other = servers("graph")
    assert other.hello(version)["protocolVersion"] == version
    assert other.body("list_memories")["total"] == 0


def test_the_instructions_name_only_tools_that_are_there(wire):
    named = set(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", wire.greeting["instructions"]))
    assert named and named <= set(wire.tools)


def test_the_tools_are_the_21_of_the_contract(wire):
    assert list(wire.tools) == TOOLS == list(GRAPH)


def test_every_tool_says_whether_it_reads_or_destroys(wire):
    hints = {name: tool["annotations"] for name, tool in wire.tools.items()}
    assert {name for name, hint in hints.items() if hint["readOnlyHint"]} == READING
    assert {name for name, hint in hints.items() if hint["destructiveHint"]} == DESTROYING


def test_every_tool_accepts_a_user_and_says_when_to_call_it(wire):
    for tool in wire.tools.values():
        assert "user_id" in tool["inputSchema"]["properties"], tool["name"]
        assert tool["title"] and 20 < len(tool["description"]) < 400


def test_the_list_is_cheap_to_carry(wire):
    assert len(json.dumps(list(wire.tools.values()))) / 4 < 5000


def test_a_result_says_the_same_as_structure_and_as_text(wire):
    result = wire.call("store_memory", content="Größe zählt")
    assert result.get("isError", False) is False
    (content,) = result["content"]
    assert content["type"] == "text"
    assert json.loads(content["text"]) == result["structuredContent"]
    assert content["text"] == json.dumps(result["structuredContent"], separators=(",", ":"), ensure_ascii=False)


@pytest.mark.parametrize(
    ("tool", "given", "text"),
    [
        ("get_memory", {"id": ID}, f"Memory not found: {ID}"),
        ("get_memory", {"id": "nonsense"}, "Memory not found: nonsense"),
        ("delete_memory", {"id": ID}, f"Memory not found: {ID}"),
        ("list_memories", {"limit": 101}, "limit: must be between 1 and 100 (given: 101). Nothing was done."),
        (
            "create_relation",
            {"from_entity": ID, "to_entity": ID, "relation_type": "uses"},
            f"from_entity: there is no entity {ID}; create_entity makes one and returns its id",
        ),
    ],
)
def test_an_error_is_one_text_and_nothing_else(wire, tool, given, text):
    result = wire.call(tool, **given)
    assert (result["content"], result["isError"]) == ([{"type": "text", "text": text}], True)
    assert "structuredContent" not in result


def test_without_a_model_search_says_so_on_the_wire_and_the_rest_answers(servers):
    off = servers("graph", embedding_model="off")
    off.hello("2024-11-05")
    id = off.body("store_memory", content="We deploy on Mondays")["id"]
    result = off.call("search", query="deploy")
    assert result["isError"] is True
    assert result["content"] == [{"type": "text", "text": "Embedding service not ready. Please try again."}]
    for tool in ("search_text", "recall"):
        assert [hit["id"] for hit in off.body(tool, query="deploy")["results"]] == [id]


@pytest.mark.parametrize(("tool", "given"), CALLS)
def test_without_a_store_every_tool_says_that_it_was_the_database(desks, tmp_path, tool, given):
    (tmp_path / "file").write_text("a file where a folder should be")
    said = desks(tools=GRAPH, **in_place(tmp_path / "file" / "retain.db")).refused(tool, **given)
    assert said.startswith("Database error. Please try again.")
    assert "Traceback" not in said


def test_unknown_arguments_are_refused_with_the_likely_name(board):
    for tool in GRAPH.values():
        for name in list(tool.input_schema["properties"])[:3]:
            assert f"{name}x: unknown argument; did you mean {name}?" in board.refused(tool.name, **{f"{name}x": 1})


def test_an_unknown_tool_is_answered_with_close_names(wire):
    result = wire.call("search_memory")
    assert result["isError"] and "search" in result["content"][0]["text"]


# Beside other toolsets


def test_beside_default_a_name_that_both_want_is_dressed_here(servers):
    both = servers("default,graph")
    both.hello()
    names = [tool["name"] for tool in both.ask("tools/list")["result"]["tools"]]
    assert names[: len(default.tools.tools)] == [tool.name for tool in default.tools.tools]
    assert {"graph_store_memory", "graph_get_memory", "graph_update_memory", "recall", "search"} <= set(names)
    assert names.count("index_project") == names.count("search_code") == 1
    assert not {"graph_index_project", "graph_search_code", "graph_recall"} & set(names)
    assert len(names) == len(set(names)) == len(default.tools.tools) + len(TOOLS) - 2


def test_named_first_graph_keeps_its_names(servers):
    both = servers("graph,default")
    both.hello()
    names = [tool["name"] for tool in both.ask("tools/list")["result"]["tools"]]
    assert names[: len(TOOLS)] == TOOLS
    assert "default_store_memory" in names


def test_both_toolsets_see_one_memory_each_in_its_own_dress(servers):
    both = servers("default,graph")
    both.hello()
    id = both.body("store_memory", content="We deploy on Mondays", type="semantic", scope="project")["memory_id"]
    assert both.body("graph_get_memory", id=id)["id"]["id"]["String"] == id.removeprefix("memory:")
    other = both.body("graph_store_memory", content="Caches are warm")["id"]
    assert both.body("get_memory", id=other)["id"] == f"memory:{other}"
    assert both.call("graph_get_memory", id=ID)["content"][0]["text"] == f"Memory not found: {ID}"
    assert both.body("get_memory", id=ID)["error"] == "not_found"
