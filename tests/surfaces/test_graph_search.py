"""search and search_text: by meaning with a model, by BM25 without one."""

import pytest

from retain.engine.recall.recall import MAX_QUESTION

NOT_READY = "Embedding service not ready. Please try again."
BOTH = pytest.mark.parametrize("tool", ["search", "search_text"])


def found(board, tool, query, **given):
    return [hit["id"] for hit in board(tool, query=query, **given)["results"]]


def note_all(board, *texts):
    return [board.noted(text) for text in texts]


# What both have in common


@BOTH
def test_an_answer_has_the_fields_of_the_contract(board, tool):
    id = board.noted("We deploy on Mondays", memory_type="procedural")
    body = board(tool, query="deploy Mondays")
    assert set(body) == {"results", "count", "query", "warnings"}
    assert (body["count"], body["query"], body["warnings"]) == (1, "deploy Mondays", [])
    (hit,) = body["results"]
    assert set(hit) == {"id", "content", "memory_type", "score"}
    assert (hit["id"], hit["content"], hit["memory_type"]) == (id, "We deploy on Mondays", "procedural")
    assert 0 < hit["score"] <= 1


@BOTH
def test_nothing_found_is_an_empty_answer(board, tool):
    assert board(tool, query="zebra") == {"results": [], "count": 0, "query": "zebra", "warnings": []}


@BOTH
def test_ten_are_found_unless_told_otherwise(board, tool):
    note_all(board, *(f"Deploy note {number} about the deploy" for number in range(52)))
    counts = [board(tool, query="deploy note", **given)["count"] for given in ({}, {"limit": 1}, {"limit": 50})]
    assert counts == [10, 1, 50]


@BOTH
def test_the_best_comes_first(board, tool):
    note_all(board, "deploy", "deploy the shop", "deploy the shop on Mondays with care and patience")
    scores = [hit["score"] for hit in board(tool, query="deploy the shop")["results"]]
    assert scores == sorted(scores, reverse=True) and len(set(scores)) > 1


@BOTH
@pytest.mark.parametrize("limit", [0, 51, -1])
def test_limit_goes_from_1_to_50(board, tool, limit):
    assert "limit: must be between 1 and 50" in board.refused(tool, query="deploy", limit=limit)


@BOTH
@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({}, "query: is required"),
        ({"query": ""}, "query: must not be empty"),
        ({"query": " \t"}, "query: must not be empty"),
        ({"query": "x" * (MAX_QUESTION + 1)}, f"query: must be at most {MAX_QUESTION} characters"),
        ({"query": 5}, "query: must be a string"),
        ({"query": "a", "limits": 5}, "did you mean limit?"),
    ],
)
def test_a_query_that_is_none_is_refused(board, tool, given, named):
    assert named in board.refused(tool, **given)


@BOTH
def test_what_holds_no_longer_is_not_found(board, tool):
    gone, kept = note_all(board, "We deploy on Mondays", "We deploy with care")
    board("invalidate", id=gone)
    assert found(board, tool, "deploy") == [kept]


@BOTH
def test_a_long_text_is_shortened(board, tool):
    text = "deploy " * 1000
    board.noted(text)
    (hit,) = board(tool, query="deploy")["results"]
    assert (hit["truncated"], hit["characters"]) == (True, len(text.strip()))
    assert len(hit["content"]) < 2100


@BOTH
@pytest.mark.parametrize(("owner", "other"), [("ann", "bob"), ("ann", None), (None, "bob")])
def test_another_person_finds_nothing(board, tool, owner, other):
    id = board.noted("We deploy on Mondays", user_id=owner)
    assert found(board, tool, "deploy Mondays", user_id=other) == []
    assert found(board, tool, "deploy Mondays", user_id=owner) == [id]


@BOTH
def test_another_project_finds_nothing(desks, board, tool, tmp_path):
    board.noted("We deploy on Mondays")
    assert found(desks(tools=board.tools, project_dir=tmp_path / "bank"), tool, "deploy Mondays") == []


# By meaning


def test_meaning_is_found_without_a_common_word(knowing_board):
    wanted, *_ = note_all(
        knowing_board, "PostgreSQL is our database", "The office has a coffee machine", "Lunch is at noon"
    )
    assert found(knowing_board, "search", "Where do we store data?")[0] == wanted
    assert wanted not in found(knowing_board, "search_text", "Where do we store data?")


def test_the_score_is_the_cosine(knowing_board):
    note_all(knowing_board, "PostgreSQL is our database")
    (hit,) = knowing_board("search", query="PostgreSQL is our database")["results"]
    assert hit["score"] == pytest.approx(1, abs=1e-3)


def test_what_is_far_in_meaning_is_no_hit(knowing_board):
    note_all(knowing_board, "The office has a coffee machine")
    assert knowing_board("search", query="quantum chromodynamics lattice")["results"] == []


# Without a model


def test_search_alone_needs_the_model(desks, board):
    id = board.noted("We deploy on Mondays")
    off = desks(tools=board.tools, embedding_model="off")
    assert off.refused("search", query="deploy") == NOT_READY
    assert found(off, "search_text", "deploy") == [id]
    assert [hit["id"] for hit in off("recall", query="deploy")["results"]] == [id]


def test_what_is_stored_and_changed_without_a_model_is_found_by_its_words(desks, board):
    off = desks(tools=board.tools, embedding_model="off")
    stored = off("store_memory", content="We deploy on Mondays")
    assert [warning["code"] for warning in stored["warnings"]] == ["embedding_failed"]
    changed = off("update_memory", id=stored["id"], content="We release on Fridays")
    assert [warning["code"] for warning in changed["warnings"]] == ["embedding_failed"]
    assert found(off, "search_text", "Fridays") == [stored["id"]]


def test_a_model_that_comes_back_finds_what_was_stored_without_it(desks, board):
    id = desks(tools=board.tools, embedding_model="off").noted("We deploy on Mondays")
    assert "keyword_only" in [warning["code"] for warning in board("search", query="deploy Mondays")["warnings"]]
    assert found(board.settled(), "search", "deploy Mondays") == [id]


# By words: BM25


def test_a_word_that_stands_more_often_counts_more(board):
    once, thrice = note_all(board, "cache disk lamp chair table", "cache cache cache chair table")
    note_all(board, "apples pears plums cherries figs", "books pens paper ink stamps")
    assert found(board, "search_text", "cache") == [thrice, once]


def test_the_same_word_counts_more_in_a_shorter_text(board):
    long, short = note_all(board, "cache disk lamp chair table window carpet sofa shelf curtain", "cache disk lamp")
    note_all(board, "apples pears plums cherries figs", "books pens paper ink stamps")
    assert found(board, "search_text", "cache") == [short, long]


def test_a_rare_word_counts_more_than_a_common_one(board):
    rare, *_ = note_all(board, "the zeppelin flies over towns", *(f"the lantern glows in room {n}" for n in range(6)))
    assert found(board, "search_text", "lantern zeppelin")[0] == rare


def test_more_of_the_words_count_more_and_any_is_enough(board):
    both, one, _ = note_all(board, "cache disk lamp", "cache pears plums", "books pens paper")
    note_all(board, "disk ink stamps")
    hits = found(board, "search_text", "cache disk")
    assert hits[0] == both and one in hits and len(hits) == 3


@pytest.mark.parametrize("query", ["auth", "thor", "uthor", "autho"])
def test_a_part_of_a_word_is_no_match(board, query):
    note_all(board, "The author wrote a book")
    assert found(board, "search_text", query) == []


def test_word_forms_and_case_match(board):
    (id,) = note_all(board, "We deployed the services")
    for query in ("deploy", "DEPLOYING", "service"):
        assert found(board, "search_text", query) == [id]


def test_a_match_scores_the_same_whatever_else_is_found(board):
    note_all(board, "cache disk lamp", "cache cache disk", "books pens paper")
    all_of_them = {hit["id"]: hit["score"] for hit in board("search_text", query="cache")["results"]}
    (first,) = board("search_text", query="cache", limit=1)["results"]
    assert all_of_them[first["id"]] == first["score"] == max(all_of_them.values())


@pytest.mark.parametrize(
    "query", ['"cache', "cache OR", "NEAR(cache", "cache*", "text:cache", "-cache", "{cache} ^ AND"]
)
def test_signs_of_a_query_language_are_only_signs(board, query):
    (id,) = note_all(board, "cache disk lamp")
    assert found(board, "search_text", query) == [id]


@pytest.mark.parametrize("query", ["???", "the", "👩‍👩‍👧‍👦", "* : ^"])
def test_a_query_without_a_telling_word_finds_nothing(board, query):
    note_all(board, "cache disk lamp")
    assert found(board, "search_text", query) == []
