"""Indexing code and asking how far it is, with the tools: what they answer, what they refuse, and whose it is."""

import os
import re
from dataclasses import replace
from datetime import datetime

import pytest

from indexing import FORMAT, PARSE, a_shop, a_tree, write
from retain.domain.code import IndexStatus
from retain.domain.ids import id_of
from surfaces.waiting import until
from surfaces.wire import GRAPH, TOOLS

INDEXED = {
    "project_id", "files_indexed", "chunks_created", "status", "files", "total_chunks", "skipped", "watching",
    "warnings",
}  # fmt: skip
STATUS = {
    "project_id", "status", "total_files", "indexed_files", "total_chunks", "progress_percent", "eta_seconds",
    "started_at", "completed_at", "embedded_chunks", "skipped", "path",
    "warnings",
}  # fmt: skip
NOTHING = {"added": 0, "changed": 0, "moved": 0, "removed": 0, "unchanged": 0}


@pytest.fixture
def shop(tmp_path):
    return a_shop(tmp_path / "shop")


@pytest.fixture
def wide(desks, tmp_path):
    """The graph tools, with all below `tmp_path` open to indexing."""
    return desks(tools=GRAPH, index_roots=(tmp_path,))


def index(board, folder, **given):
    body = board("index_project", path=str(folder), **given)
    assert body["status"] == "completed", body
    return body


def names(board, query, **given):
    return [hit["name"] for hit in board("search_code", query=query, **given)["results"]]


# index_project


def test_indexing_answers_with_the_fields_of_the_contract(board, shop):
    body = board("index_project", path=str(shop))
    assert set(body) == INDEXED
    assert (body["project_id"], body["files_indexed"], body["chunks_created"]) == ("shop", 3, 3)
    assert (body["status"], body["total_chunks"], body["watching"]) == ("completed", 3, False)
    assert (body["files"], body["skipped"], body["warnings"]) == (NOTHING | {"added": 3}, {}, [])


def test_a_second_run_creates_nothing(board, shop):
    index(board, shop)
    body = index(board, shop)
    assert (body["files_indexed"], body["chunks_created"], body["total_chunks"]) == (3, 0, 3)
    assert body["files"] == NOTHING | {"unchanged": 3}


def test_only_the_file_that_changed_is_read_again(board, shop):
    index(board, shop)
    write(shop, "src/parse.py", f"{PARSE}\n\ndef parse_day(text):\n    return text\n")
    body = index(board, shop)
    assert (body["files"], body["chunks_created"]) == (NOTHING | {"changed": 1, "unchanged": 2}, 2)
    assert (body["files_indexed"], body["total_chunks"]) == (3, 4)
    assert "parse_day" in names(board, "parse_day")


def test_files_that_were_moved_and_deleted_are_found_where_they_are(board, shop):
    index(board, shop)
    (shop / "src" / "parse.py").rename(shop / "src" / "moments.py")
    (shop / "src" / "format.py").unlink()
    body = index(board, shop)
    assert body["files"] == NOTHING | {"moved": 1, "removed": 1, "unchanged": 1}
    assert (body["chunks_created"], body["total_chunks"]) == (0, 2)
    assert board("search_code", query="parse_moment")["results"][0]["file_path"] == "src/moments.py"
    assert "format_moment" not in names(board, "format_moment")


def test_what_was_left_out_is_counted_by_reason(board, shop):
    write(shop, ".memoryignore", "ignored.py\n")
    write(shop, "ignored.py", PARSE)
    write(shop, "package-lock.json", "{}")
    write(shop, ".env", "PASSWORD=secret")
    (shop / "logo.py").write_bytes(b"\0\1\2" * 100)
    body = index(board, shop)
    assert body["skipped"] == {"ignored": 1, "lock_file": 1, "secret": 1, "binary": 1}
    assert board("get_index_status", project_id="shop")["skipped"] == body["skipped"]


def test_an_empty_folder_is_indexed_too(board, tmp_path):
    (tmp_path / "shop").mkdir()
    body = index(board, tmp_path / "shop")
    assert (body["files_indexed"], body["total_chunks"]) == (0, 0)
    assert board("get_index_status", project_id="shop")["progress_percent"] == 100.0


def test_a_path_may_have_detours_and_links_as_long_as_it_stays_inside(wide, tmp_path, shop):
    (tmp_path / "link").symlink_to(shop)
    detour = index(wide, f"{tmp_path}/shop/src/../../shop/")
    linked = index(wide, tmp_path / "link")
    assert (detour["project_id"], linked["project_id"]) == ("shop", "shop")
    assert linked["files"] == NOTHING | {"unchanged": 3}
    assert wide("list_projects")["projects"] == ["shop"]


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("{shop}/nowhere", "there is no such folder"),
        ("{shop}/README.md", "this is a file"),
        ("{tmp}/other", "outside of the folders that may be indexed: "),
        ("{shop}/../other", "outside of the folders that may be indexed: "),
        ("{shop}/way-out", "outside of the folders that may be indexed: "),
        ("{shop}/way-out/inner", "outside of the folders that may be indexed: "),
        ("~", "this is more than a project"),
        ("{user}/", "this is more than a project"),
        ("/", "this is more than a project"),
        ("//", "this is more than a project"),
        ("/etc", "outside of the folders that may be indexed: "),
        ("{shop}/loop", "there is no such folder"),
        ("x" * 5000, "there is no such folder"),
    ],
)
def test_a_folder_that_may_not_be_indexed_is_refused_by_its_path(desks, tmp_path, shop, monkeypatch, path, why):
    (tmp_path / "other" / "inner").mkdir(parents=True)
    (tmp_path / "user").mkdir()
    (shop / "way-out").symlink_to(tmp_path / "other")
    (shop / "loop").symlink_to(shop / "loop")
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    board, given = desks(tools=GRAPH), path.format(shop=shop, tmp=tmp_path, user=tmp_path / "user")
    said = board.refused("index_project", path=given)
    assert said.startswith(f"Invalid path: {given if len(given) < 200 else 'xxx'}")
    assert why in said
    assert board("list_projects") == {"projects": [], "count": 0}


@pytest.mark.parametrize("path", ["", "  ", "a\0b", 7, None])
def test_what_is_no_path_is_refused_by_its_field(board, path):
    assert "path" in board.refused("index_project", path=path)


def test_the_allowed_roots_can_be_set(desks, tmp_path, shop):
    write(tmp_path, "elsewhere/lib/a.py", PARSE)
    elsewhere = desks(tools=GRAPH, index_roots=(tmp_path / "elsewhere",))
    assert index(elsewhere, tmp_path / "elsewhere" / "lib")["project_id"] == "lib"
    said = elsewhere.refused("index_project", path=str(shop))
    assert f"may be indexed: {tmp_path / 'elsewhere'}; the setting index_roots" in said


def test_a_refused_path_has_the_envelope_of_the_default_set(desk, tmp_path):
    refused = desk.refused("index_project", path=str(tmp_path / "nowhere"))
    assert (refused["error"], refused["retry_possible"]) == ("invalid_input", False)
    assert [fault["field"] for fault in refused["faults"]] == ["path"]


def test_the_default_set_indexes_and_searches(desk, shop):
    assert {"index_project", "search_code"} <= set(TOOLS)
    assert not {"get_index_status", "list_projects", "delete_project"} & set(TOOLS)
    assert index(desk, shop)["files_indexed"] == 3
    assert names(desk, "parse_moment")[0] == "parse_moment"


def test_a_run_that_fails_is_an_error_and_can_be_taken_up_again(desks, tmp_path):
    tree = a_tree(tmp_path / "shop", 40, 30)
    small = desks(tools=GRAPH, max_storage_mb=1)
    said = small.refused("index_project", path=str(tree))
    assert said.startswith("indexing shop failed: ") and "call index_project to try again" in said
    status = small("get_index_status", project_id="shop")
    assert set(status) == STATUS | {"error"}
    assert (status["status"], status["completed_at"], status["eta_seconds"]) == ("failed", None, None)
    assert status["error"] in said and status["progress_percent"] < 100
    warnings = small("search_code", query="number_1_1")["warnings"]
    assert [warning["code"] for warning in warnings] == ["index_failed"]
    again = desks(tools=GRAPH)
    again("index_project", path=str(tree))
    done = until(lambda: (now := again("get_index_status", project_id="shop"))["status"] == "completed" and now)
    assert set(done) == STATUS and (done["indexed_files"], done["total_chunks"]) == (40, 1200)


def test_without_a_model_code_is_indexed_and_found_by_its_words(desks, shop):
    off = desks(tools=GRAPH, embedding_model="off")
    assert [warning["code"] for warning in index(off, shop)["warnings"]] == ["embedding_failed"]
    status = off("get_index_status", project_id="shop")
    assert (status["progress_percent"], status["embedded_chunks"]) == (100.0, 0)
    body = off("search_code", query="parse_moment")
    assert body["results"][0]["name"] == "parse_moment"
    assert [warning["code"] for warning in body["warnings"]] == ["partial_results"]


def test_code_that_was_indexed_without_a_model_gets_its_vectors_later(desks, shop):
    index(desks(tools=GRAPH, embedding_model="off"), shop)
    board = desks(tools=GRAPH)
    assert index(board, shop)["files"] == NOTHING | {"unchanged": 3}
    assert board("get_index_status", project_id="shop")["embedded_chunks"] == 3


# get_index_status


def test_the_status_of_a_complete_index_has_the_fields_of_the_contract(board, shop):
    index(board, shop)
    body = board("get_index_status", project_id="shop")
    assert set(body) == STATUS
    assert (body["project_id"], body["status"], body["path"]) == ("shop", "completed", str(shop))
    assert (body["total_files"], body["indexed_files"], body["total_chunks"]) == (3, 3, 3)
    assert (body["progress_percent"], body["eta_seconds"], body["embedded_chunks"]) == (100.0, 0, 3)
    begun, ended = (datetime.fromisoformat(body[name]) for name in ("started_at", "completed_at"))
    assert begun <= ended
    assert all(re.fullmatch(r"[-0-9]+T[0-9:.]+Z", body[name]) for name in ("started_at", "completed_at"))


def test_a_known_project_without_an_index_is_pending(board, shop):
    body = board("get_index_status", project_id="shop")
    assert set(body) == STATUS
    assert (body["status"], body["progress_percent"], body["eta_seconds"]) == ("pending", 0.0, None)
    assert (body["total_files"], body["indexed_files"], body["total_chunks"]) == (0, 0, 0)
    assert (body["started_at"], body["completed_at"]) == (None, None)
    assert board("list_projects") == {"projects": [], "count": 0}


def test_an_index_on_which_nobody_is_at_work_says_so(board, shop):
    index(board, shop)
    assert board("get_index_status", project_id="shop")["warnings"] == []
    (there,) = board.store.indexes("")
    mine = board.store.claim_index(replace(there, holder="elsewhere:1:1"), board.app.now())
    assert board.store.report_index(replace(mine, status=IndexStatus.PENDING, completed=None))
    body = board("get_index_status", project_id="shop")
    assert (body["status"], [warning["code"] for warning in body["warnings"]]) == ("pending", ["interrupted"])
    assert f"index_project with path {shop}" in body["warnings"][0]["message"]


def test_a_known_project_without_an_index_is_told_from_an_unknown_one(board, shop):
    for given in ("shop", str(shop), id_of(str(shop))):
        said = board.refused("search_code", query="parse", project_id=given)
        assert said == f"shop is not indexed; call index_project with path {shop}"


@pytest.mark.parametrize("way", ["{slug}", "{id}", "{path}", "{path}/", " {slug} ", "SHOP", "proj_{id}"])
def test_a_project_goes_by_its_name_its_id_and_its_path(board, shop, way):
    index(board, shop)
    given = way.format(slug="shop", id=id_of(str(shop)), path=shop)
    assert board("get_index_status", project_id=given)["status"] == "completed"
    assert "parse_moment" in names(board, "parse_moment", project_id=given)
    assert board("delete_project", project_id=given) == {"chunks_deleted": 3}


@pytest.mark.parametrize("tool", ["get_index_status", "delete_project", "search_code"])
def test_an_unknown_project_is_answered_with_the_known_ones(wide, tmp_path, shop, tool):
    write(tmp_path, "other/a.py", PARSE)
    for folder in (shop, tmp_path / "other"):
        index(wide, folder)
    more = {"query": "parse"} if tool == "search_code" else {}
    assert wide.refused(tool, project_id="nowhere", **more) == "there is no project nowhere; indexed are other, shop"


@pytest.mark.parametrize("tool", ["get_index_status", "delete_project"])
def test_without_any_index_an_unknown_project_is_answered_with_what_to_do(board, tool):
    assert "call index_project with the path of a project" in board.refused(tool, project_id="nowhere")
    assert "project_id: must not be empty" in board.refused(tool, project_id=" ")


def test_of_two_folders_with_one_name_each_has_a_name_of_its_own(wide, tmp_path):
    folders = [a_shop(tmp_path / folder) for folder in ("one/shop", "two/shop")]
    assert [index(wide, folder)["project_id"] for folder in folders] == ["shop", "shop-2"]
    assert wide("get_index_status", project_id="shop-2")["path"] == str(folders[1])
    assert wide("delete_project", project_id=str(folders[0])) == {"chunks_deleted": 3}
    assert wide("list_projects")["projects"] == ["shop-2"]


# list_projects, delete_project


def test_projects_are_listed_by_name_and_gone_once_deleted(wide, tmp_path, shop):
    assert wide("list_projects") == {"projects": [], "count": 0}
    write(tmp_path, "other/a.py", FORMAT)
    for folder in (shop, tmp_path / "other"):
        index(wide, folder)
    assert wide("list_projects") == {"projects": ["other", "shop"], "count": 2}
    assert wide("delete_project", project_id="shop") == {"chunks_deleted": 3}
    assert wide("list_projects") == {"projects": ["other"], "count": 1}
    assert "parse_moment" not in names(wide, "parse_moment")
    assert wide("get_status")["code_chunks_count"] == 1
    assert "is not indexed" in wide.refused("delete_project", project_id="shop")


def test_deleting_an_index_leaves_files_and_memories(board, shop):
    board.noted("We deploy on Mondays")
    index(board, shop)
    board("delete_project", project_id="shop")
    assert board("list_memories")["total"] == 1
    assert (shop / "src" / "parse.py").read_text() == PARSE
    assert index(board, shop)["files"] == NOTHING | {"added": 3}


# People


def test_code_of_one_person_is_not_there_for_another(board, shop):
    index(board, shop, user_id="ann")
    for other in ("bob", None):
        assert board("list_projects", user_id=other) == {"projects": [], "count": 0}
        assert board("search_code", query="parse_moment", user_id=other)["results"] == []
        assert board("get_index_status", project_id="shop", user_id=other)["status"] == "pending"
        assert "is not indexed" in board.refused("delete_project", project_id="shop", user_id=other)
        assert board("recall", query="parse_moment", include_code=True, user_id=other)["code_count"] == 0
    assert names(board, "parse_moment", user_id="ann")[0] == "parse_moment"


def test_two_people_have_an_index_each_of_the_same_folder(board, shop):
    for user in ("ann", "bob"):
        assert index(board, shop, user_id=user)["files"] == NOTHING | {"added": 3}
    board("delete_project", project_id="shop", user_id="bob")
    assert names(board, "parse_moment", user_id="ann")[0] == "parse_moment"
    assert board("search_code", query="parse_moment", user_id="bob")["results"] == []


# Odd files


def test_file_names_that_are_odd_or_no_text_do_no_harm(board, shop):
    for name in ("new\nline.py", "esc\x1b[2J.py", "\u202ertl.py", "spaced name.py"):
        write(shop, name, PARSE)
    write(shop, os.fsdecode(b"bad\xff.py"), PARSE)
    body = index(board, shop)
    assert body["files_indexed"] == 7
    assert body["skipped"] == {"unreadable": 1}
    found = {hit["file_path"] for hit in board("search_code", query="parse_moment", limit=50)["results"]}
    assert {"new\nline.py", "esc\x1b[2J.py", "\u202ertl.py", "spaced name.py"} <= found
