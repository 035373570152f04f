"""search_code: what a hit holds, filters, symbols by name, and files that have changed since they were indexed."""

import pytest

from indexing import FORMAT, PARSE, a_shop, a_tree, write
from surfaces.waiting import until
from surfaces.wire import GRAPH

HIT = {
    "id", "file_path", "content", "language", "start_line", "end_line", "chunk_type", "name", "score", "project_id",
}  # fmt: skip
CLOCK = '''\
class Clock:
    """Tells the time."""

    def parse_moment(self, text):
        return parse_moment(text)


def now():
    return Clock().parse_moment("now")
'''
RUST = "/// Turns text into a moment.\nfn parse_moment(text: &str) -> i64 {\n    now()\n}\n"


@pytest.fixture
def board(desks, tmp_path):
    """The graph tools, with the project `shop` indexed: Python, Rust and Markdown."""
    board = desks(tools=GRAPH, index_roots=(tmp_path,))
    board.root = a_shop(tmp_path / "shop")
    write(board.root, "src/clock.py", CLOCK)
    write(board.root, "src/moment.rs", RUST)
    index(board, board.root)
    return board


def index(board, folder):
    slug = board("index_project", path=str(folder))["project_id"]
    until(lambda: board("get_index_status", project_id=slug)["status"] == "completed")


def found(board, query, **given):
    return [(hit["file_path"], hit["name"]) for hit in board("search_code", query=query, **given)["results"]]


def codes(body):
    return [warning["code"] for warning in body["warnings"]]


# The answer


def test_a_hit_has_the_fields_of_the_contract(board):
    body = board("search_code", query="format_moment")
    assert set(body) == {"results", "count", "searched", "warnings"}
    assert (body["count"], body["searched"], body["warnings"]) == (len(body["results"]), ["shop"], [])
    first = body["results"][0]
    assert set(first) == HIT
    assert (first["file_path"], first["content"] + "\n") == ("src/format.py", FORMAT)
    assert (first["language"], first["chunk_type"], first["name"]) == ("python", "function", "format_moment")
    assert (first["start_line"], first["end_line"], first["project_id"]) == (1, 3, "shop")
    scores = [hit["score"] for hit in body["results"]]
    assert scores == sorted(scores, reverse=True) and 0 < scores[-1] <= scores[0] <= 1


def test_a_method_names_its_class(board):
    first = board("search_code", query="Clock.parse_moment")["results"][0]
    assert set(first) == HIT | {"parent"}
    assert (first["parent"], first["name"], first["chunk_type"]) == ("Clock", "parse_moment", "method")
    assert (first["start_line"], first["end_line"]) == (4, 5)


def test_sections_of_documents_are_found_too(board):
    first = board("search_code", query="We sell things", language="markdown")["results"][0]
    assert (first["file_path"], first["chunk_type"], first["name"]) == ("README.md", "section", "Shop")


def test_nothing_found_is_an_empty_answer(board):
    body = board("search_code", query="zzyzx", language="rust")
    assert (body["results"], body["count"], body["warnings"]) == ([], 0, [])


def test_without_an_index_the_answer_says_what_to_do(desks):
    body = desks(tools=GRAPH)("search_code", query="parse")
    assert (body["results"], body["searched"], codes(body)) == ([], [], ["not_indexed"])
    assert "call index_project" in body["warnings"][0]["message"]


# Limits and filters


def test_ten_are_found_unless_told_otherwise(board, tmp_path):
    a_tree(tmp_path / "shop", 6, 10)
    index(board, board.root)
    counts = [len(found(board, "number value", **given)) for given in ({}, {"limit": 1}, {"limit": 50})]
    assert counts == [10, 1, 50]


def test_many_long_hits_are_cut_so_that_a_client_can_take_them(board):
    body = "\n".join(f"    total += value * {n}  # step {n} of the addition" for n in range(35))
    for n in range(50):
        write(board.root, f"long/{n}.py", f"def addition_{n}(value, total):\n{body}\n    return total\n")
    index(board, board.root)
    results = board("search_code", query="addition of value to total", limit=50, project_id="shop")["results"]
    assert sum(len(hit["content"]) for hit in results) <= 41_000
    cut = [hit for hit in results if hit.get("truncated")]
    assert cut and all(hit["content"].endswith("…") for hit in cut)
    (whole,) = board("search_code", query="addition of value to total", limit=1)["results"]
    assert "truncated" not in whole and whole["content"].endswith("return total")


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"limit": 0}, "limit: must be between 1 and 50"),
        ({"limit": 51}, "limit: must be between 1 and 50"),
        ({"limit": 1.5}, "limit: must be a whole number"),
        ({"query": " "}, "query: must not be empty"),
        ({"query": "x" * 100_001}, "query: must be at most 10000 characters"),
        ({"language": "klingon"}, "language: is no language that Retain knows; use one of bash, c, "),
        ({"language": "klingon", "look_for": "definition"}, "language: is no language that Retain knows"),
        ({"look_for": "usages"}, "look_for: must be one of: code, definition, references"),
        ({"project_id": ""}, "project_id: must not be empty"),
        ({"project_id": "nowhere"}, "there is no project nowhere; indexed are shop"),
        ({"project_id": "nowhere", "look_for": "references"}, "there is no project nowhere; indexed are shop"),
        ({"langage": "python"}, "langage: unknown argument; did you mean language?"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(board, given, named):
    assert named in board.refused("search_code", **{"query": "parse_moment", **given})


@pytest.mark.parametrize("language", ["rust", "Rust", "rs", ".rs"])
def test_a_language_goes_by_its_name_and_by_its_files(board, language):
    assert found(board, "parse_moment", language=language) == [("src/moment.rs", "parse_moment")]


def test_a_language_that_is_not_in_the_project_finds_nothing(board):
    assert found(board, "parse_moment", language="java") == []


def test_code_is_searched_in_one_project_or_in_that_which_is_current(board, tmp_path):
    write(tmp_path, "other/far.py", PARSE)
    index(board, tmp_path / "other")
    assert found(board, "parse_moment", project_id="other") == [("far.py", "parse_moment")]
    assert "far.py" not in [path for path, _ in found(board, "parse_moment", limit=50)]
    assert board("search_code", query="parse_moment")["searched"] == ["shop"]


def test_where_the_current_project_has_no_index_all_are_searched(desks, board, tmp_path):
    write(tmp_path, "other/far.py", PARSE)
    index(board, tmp_path / "other")
    elsewhere = desks(tools=GRAPH, project_dir=tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir()
    body = elsewhere("search_code", query="parse_moment")
    assert body["searched"] == ["other", "shop"]
    assert {hit["project_id"] for hit in body["results"]} == {"other", "shop"}


# Symbols


def test_a_definition_is_found_by_name(board):
    body = board("search_code", query="format_moment", look_for="definition")
    assert set(body) == {"results", "count", "total", "warnings"}
    (only,) = body["results"]
    assert set(only) == HIT - {"score"}
    assert (only["file_path"], only["start_line"], body["count"], body["total"]) == ("src/format.py", 1, 1, 1)


def test_a_qualified_name_and_a_language_tell_definitions_apart(board):
    ask = {"look_for": "definition"}
    assert board("search_code", query="parse_moment", **ask)["total"] == 3
    assert board("search_code", query="parse_moment", limit=1, **ask)["count"] == 1
    assert found(board, "Clock.parse_moment", **ask) == [("src/clock.py", "parse_moment")]
    assert found(board, "parse_moment", language="rust", **ask) == [("src/moment.rs", "parse_moment")]


def test_references_are_lines_with_what_is_around_them(board):
    body = board("search_code", query="parse_moment", look_for="references", language="python")
    assert set(body) == {"results", "count", "more", "definitions", "warnings"}
    assert [(use["file_path"], use["line"], use["within"], use["content"]) for use in body["results"]] == [
        ("src/clock.py", 5, "Clock.parse_moment", "return parse_moment(text)"),
        ("src/clock.py", 9, "now", 'return Clock().parse_moment("now")'),
    ]
    assert all(set(use) == {"project_id", "file_path", "line", "within", "content"} for use in body["results"])
    assert (body["count"], body["more"]) == (2, False)
    assert body["definitions"] == ["src/clock.py:4 Clock.parse_moment", "src/parse.py:1 parse_moment"]
    assert codes(body) == ["several_definitions"]
    assert board("search_code", query="parse_moment", look_for="references", limit=1)["more"] is True


def test_references_keep_to_a_language(board):
    body = board("search_code", query="now", look_for="references", language="rust")
    assert [use["file_path"] for use in body["results"]] == ["src/moment.rs"]


@pytest.mark.parametrize("look_for", ["definition", "references"])
def test_an_unknown_symbol_is_answered_with_close_names(board, look_for):
    said = board.refused("search_code", query="format_momnet", look_for=look_for)
    assert said == "nothing is called format_momnet in shop; close names: format_moment"


@pytest.mark.parametrize("look_for", ["definition", "references"])
def test_a_symbol_without_any_index_is_answered_with_what_to_do(desks, look_for):
    said = desks(tools=GRAPH).refused("search_code", query="parse", look_for=look_for)
    assert said == "no code is indexed; call index_project with the path of a project"


# What has changed since


def test_a_file_that_changed_is_left_out_and_soon_found_as_it_is(board):
    write(board.root, "src/format.py", FORMAT.replace("format_moment", "write_moment"))
    body = board("search_code", query="format_moment")
    assert "src/format.py" not in [hit["file_path"] for hit in body["results"]]
    assert codes(body) == ["stale_files"]
    until(lambda: ("src/format.py", "write_moment") in found(board, "write_moment"))
    assert codes(board("search_code", query="write_moment")) == []


def test_a_file_that_vanished_is_left_out_and_soon_forgotten(board):
    (board.root / "src" / "format.py").unlink()
    assert "src/format.py" not in [path for path, _ in found(board, "format_moment")]
    until(lambda: board("get_index_status", project_id="shop")["total_files"] == 4)
    until(lambda: codes(board("search_code", query="format_moment")) == [])


def test_a_file_that_was_only_touched_is_still_found(board):
    write(board.root, "src/format.py", FORMAT)
    body = board("search_code", query="format_moment")
    assert (body["results"][0]["name"], body["warnings"]) == ("format_moment", [])


def test_a_definition_in_a_changed_file_says_so(board):
    write(board.root, "src/format.py", f"\n\n{FORMAT}")
    body = board("search_code", query="format_moment", look_for="definition")
    assert body["results"][0]["changed_since_indexing"] is True
    assert codes(body) == ["stale_files"]
    used = board("search_code", query="Clock", look_for="references")
    assert used["results"][0]["content"] == 'return Clock().parse_moment("now")'
    write(board.root, "src/clock.py", f"\n{CLOCK}")
    assert board("search_code", query="Clock", look_for="references")["results"][0]["content"] is None
