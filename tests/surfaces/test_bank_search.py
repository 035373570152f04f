"""The searches of the bank tools: by meaning, with facets, with reasons, and suggestions for what to ask."""

import pytest

from surfaces.banking import DOCKER, GATEWAY, JWT, codes, data, entry, error, faults, project, titles
from surfaces.wire import BANK

ROW = {"id", "title", "content", "type", "tags", "similarity", "created_at", "updated_at"}
EXPLAINED = {"id", "title", "relevance_score", "score_breakdown", "match_reasons", "highlighted_content"}
PARTS = {"title_match", "content_similarity", "tag_alignment", "recency_boost"}
SEARCHES = ["memory_search", "memory_faceted-search", "memory_enhanced-search"]


@pytest.fixture
def shelf(knowing_bank):
    """Three entries on different subjects, and vectors that know meaning."""
    entry(knowing_bank, tags=["auth", "jwt"])
    entry(knowing_bank, "API gateway", GATEWAY, "pattern", tags=["api", "Auth"])
    entry(knowing_bank, "Docker build without Go modules", DOCKER, "error_solution", tags=["docker"])
    return knowing_bank


def letters(bank, count):
    """Entries that all hold one word, of growing length."""
    for n in range(count):
        type = ("decision", "pattern", "code")[n % 3]
        entry(bank, f"Title {n:02}", f"billing note {n:02}" + " x" * 100 * n, type, tags=[f"t{n % 2}"])


def found(bank, tool="memory_search", **given):
    return bank(tool, **{"threshold": 0.0, "limit": 100, **given})


# memory_search


def test_a_question_in_other_words_finds_the_entry_with_all_its_fields(shelf):
    body = shelf("memory_search", query="How do we authenticate requests to the API?", threshold=0.3)
    assert set(body) == {"results", "total", "warnings"}
    assert all(set(row) == ROW for row in body["results"])
    assert "Sign tokens with JWT" in titles(body)


def test_the_most_similar_comes_first(shelf):
    rows = found(shelf, query="docker cannot find golang modules")["results"]
    assert rows[0]["content"] == DOCKER
    scores = [row["similarity"] for row in rows]
    assert scores == sorted(scores, reverse=True) and all(0 <= score <= 1 for score in scores)


def test_a_threshold_is_the_least_similarity(shelf):
    rows = found(shelf, query="sign docker requests with tokens")["results"]
    assert len(rows) == 3
    for place, row in enumerate(rows, start=1):
        asked = {"query": "sign docker requests with tokens", "threshold": row["similarity"] - 0.001}
        assert shelf("memory_search", **asked)["results"] == rows[:place]


def test_a_threshold_of_one_half_is_the_default(shelf):
    asked = {"query": "token authentication"}
    assert shelf("memory_search", **asked) == shelf("memory_search", threshold=0.5, **asked)


def test_nothing_above_the_threshold_says_what_lies_below(shelf):
    body = shelf("memory_search", query="token authentication", threshold=0.99)
    assert (body["results"], body["total"], codes(body)) == ([], 0, ["below_threshold"])


@pytest.mark.parametrize("tool", SEARCHES)
def test_what_is_about_nothing_here_finds_nothing(shelf, tool):
    body = shelf(tool, query="the migration of arctic birds")
    assert (body["results"], body["total"]) == ([], 0)


@pytest.mark.parametrize("tool", ["memory_search", "memory_enhanced-search"])
def test_a_type_finds_only_those(shelf, tool):
    assert titles(found(shelf, tool, query="api tokens and docker", type="pattern")) == ["API gateway"]


@pytest.mark.parametrize(("tool", "limit"), [*zip(SEARCHES, (10, 20, 10), strict=True)])
def test_the_limit_cuts_the_results_and_not_the_total(bank, tool, limit):
    letters(bank, 23)
    body = bank(tool, query="billing note", threshold=0.0)
    assert (len(body["results"]), body["total"]) == (limit, 23)
    assert len(bank(tool, query="billing note", threshold=0.0, limit=3)["results"]) == 3


@pytest.mark.parametrize("tool", SEARCHES)
def test_a_search_sees_its_project_and_the_users_and_no_other(bank, tool):
    entry(bank, "Here", "billing is done here")
    entry(bank, "There", "billing is done there", project_id=project(bank))
    bank.app.remember("I like billing", scope="user")
    bank.app.remember("billing of the moment", scope="session")
    assert set(titles(found(bank, tool, query="billing"))) == {"Here", "I like billing"}
    assert set(titles(found(bank, tool, query="billing", project_id="Payments"))) == {"There", "I like billing"}


def test_a_long_text_is_shortened_and_says_so(bank):
    entry(bank, content="billing " * 1000)
    (row,) = found(bank, query="billing")["results"]
    assert (len(row["content"]), row["truncated"]) == (2001, True)


@pytest.mark.parametrize("tool", SEARCHES)
def test_without_a_model_words_decide_and_it_says_so(desks, tool):
    bank = desks(tools=BANK, embedding_model="off")
    entry(bank)
    entry(bank, "API gateway", GATEWAY, "pattern")
    body = bank(tool, query="sign with JWT", threshold=0.99)
    assert (titles(body), codes(body)) == (["Sign tokens with JWT"], ["partial_results", "threshold_not_applied"])


@pytest.mark.parametrize("tool", SEARCHES)
def test_a_tag_is_found_without_a_model(desks, tool):
    bank = desks(tools=BANK, embedding_model="off")
    entry(bank, tags=["zebra"])
    entry(bank, "API gateway", GATEWAY, "pattern")
    assert titles(bank(tool, query="zebra")) == ["Sign tokens with JWT"]


@pytest.mark.parametrize("tool", SEARCHES)
def test_without_a_model_a_question_without_words_fails_as_the_contract_says(desks, tool):
    bank = desks(tools=BANK, embedding_model="off")
    entry(bank)
    body = bank.refused(tool, query="?!")
    assert error(body) == (-32000, "Embedding generation failed")
    assert data(body)["retry_suggested"] is False
    assert data(body)["service"] and data(body)["fallback"] == "Searches go by words"
    assert "try again" not in data(body)["hint"]


def test_without_a_model_an_entry_is_stored_and_says_so(desks):
    bank = desks(tools=BANK, embedding_model="off")
    body = bank("memory_create", type="decision", title="Sign tokens with JWT", content=JWT)
    assert codes(body) == ["embedding_failed"]
    assert bank("memory_get", id=body["id"])["content"] == JWT


@pytest.mark.parametrize("tool", SEARCHES)
@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"query": " "}, "query cannot be empty"),
        ({"query": "x" * 10_001}, "must be at most 10000 characters"),
        ({"query": "x", "threshold": 1.5}, "must be between 0.0 and 1.0"),
        ({"query": "x", "threshold": -0.1}, "must be between 0.0 and 1.0"),
        ({"query": "x", "threshold": "high"}, "must be a number between 0.0 and 1.0"),
        ({"query": "x", "limit": 0}, "must be between 1 and 100"),
        ({"query": "x", "limit": 101}, "must be between 1 and 100"),
        ({"query": "x", "project_id": ""}, "project_id cannot be empty"),
        ({"query": "x", "offset": 1}, "unknown argument"),
    ],
)
def test_a_bound_is_named(bank, tool, given, problem):
    ((field, said),) = faults(bank.refused(tool, **given)).items()
    assert field == list(given)[-1] and said.startswith(problem)


# memory_faceted-search


def faceted(bank, **given):
    return found(bank, "memory_faceted-search", query="billing note", **given)


def test_facets_count_all_matches_and_not_the_page(bank):
    letters(bank, 9)
    body = faceted(bank, limit=2)
    assert (len(body["results"]), body["total"]) == (2, 9)
    assert body["facets"]["types"] == {"code": 3, "decision": 3, "pattern": 3}
    assert body["facets"]["tags"] == {"t0": 5, "t1": 4}
    assert body["facets"]["content_length"] == {"short": 1, "medium": 4, "long": 4}


@pytest.mark.parametrize(("length", "named"), [(199, "short"), (200, "medium"), (1000, "medium"), (1001, "long")])
def test_lengths_part_at_two_hundred_and_a_thousand(bank, length, named):
    entry(bank, content="billing note ".ljust(length, "x"))
    assert faceted(bank)["facets"]["content_length"] == {"short": 0, "medium": 0, "long": 0, named: 1}


@pytest.mark.parametrize(
    ("given", "has"), [({}, True), ({"include_facets": True}, True), ({"include_facets": False}, False)]
)
def test_facets_come_unless_they_are_declined(bank, given, has):
    letters(bank, 2)
    assert ("facets" in faceted(bank, **given)) is has


@pytest.mark.parametrize(
    ("filters", "left"),
    [
        ({}, 6),
        ({"types": ["decision"]}, 2),
        ({"types": ["decision", "code"]}, 4),
        ({"tags": ["T1"]}, 3),
        ({"tags": ["t0", "t1"]}, 6),
        ({"tags": ["none"]}, 0),
        ({"min_length": 215}, 5),
        ({"min_length": 0}, 6),
        ({"has_content": True}, 6),
        ({"has_content": False}, 0),
        ({"types": ["decision"], "tags": ["t1"], "min_length": 100, "has_content": True}, 1),
    ],
)
def test_a_filter_narrows_results_total_and_facets(bank, filters, left):
    letters(bank, 6)
    body = faceted(bank, filters=filters)
    assert (len(body["results"]), body["total"], sum(body["facets"]["types"].values())) == (left, left, left)


@pytest.mark.parametrize("field", ["title", "created_at", "updated_at"])
@pytest.mark.parametrize("direction", ["asc", "desc"])
def test_results_come_in_the_order_asked_for(bank, field, direction):
    letters(bank, 5)
    rows = faceted(bank, sort_by={"field": field, "direction": direction})["results"]
    assert titles({"results": rows}) == [f"Title {n:02}" for n in range(5)][:: 1 if direction == "asc" else -1]


@pytest.mark.parametrize(("direction", "first"), [("asc", "code"), ("desc", "pattern"), (None, "code")])
def test_types_come_in_the_order_of_their_names(bank, direction, first):
    letters(bank, 3)
    by = {"field": "type"} | ({"direction": direction} if direction else {})
    types = [row["type"] for row in faceted(bank, sort_by=by)["results"]]
    assert types == sorted(types, reverse=direction == "desc") and types[0] == first


@pytest.mark.parametrize("field", ["relevance", "similarity"])
def test_the_best_come_first_or_last(shelf, field):
    asked = {"query": "docker build with go modules"}
    best = found(shelf, "memory_faceted-search", sort_by={"field": field}, **asked)
    worst = found(shelf, "memory_faceted-search", sort_by={"field": field, "direction": "asc"}, **asked)
    assert titles(best)[0] == titles(worst)[-1] == "Docker build without Go modules"
    assert titles(found(shelf, "memory_faceted-search", **asked))[0] == titles(best)[0]


@pytest.mark.parametrize(
    ("given", "field", "problem"),
    [
        ({"sort_by": {"field": "age"}}, "sort_by.field", "must be one of: relevance, similarity, title, type, "),
        ({"sort_by": {"direction": "up"}}, "sort_by.direction", "must be one of: asc, desc"),
        ({"sort_by": "title"}, "sort_by", "must be an object"),
        ({"sort_by": {"order": "asc"}}, "sort_by.order", "unknown argument"),
        ({"filters": {"types": ["gotcha"]}}, "filters.types[0]", "must be one of: decision, "),
        ({"filters": {"tags": [" "]}}, "filters.tags[0]", "filters.tags[0] cannot be empty"),
        ({"filters": {"min_length": -1}}, "filters.min_length", "must be at least 0"),
        ({"filters": {"has_content": "yes"}}, "filters.has_content", "must be true or false"),
        ({"filters": {"type": "code"}}, "filters.type", "unknown argument; did you mean types?"),
        ({"include_facets": 1}, "include_facets", "must be true or false"),
    ],
)
def test_a_wrong_filter_or_order_is_named(bank, given, field, problem):
    found = faults(bank.refused("memory_faceted-search", query="x", **given))
    assert list(found) == [field] and found[field].startswith(problem)


def test_many_tags_are_cut_to_the_most_frequent_and_it_says_so(bank):
    for n in range(3):
        entry(bank, f"Title {n}", f"billing note {n}", tags=["often", *(f"tag {n} {each}" for each in range(45))])
    body = faceted(bank)
    assert len(body["facets"]["tags"]) == 100
    assert (body["facets"]["tags"]["often"], codes(body)) == (3, ["tags_cut"])


# memory_enhanced-search


def test_every_result_says_why_it_was_found(shelf):
    (row, *_) = found(shelf, "memory_enhanced-search", query="jwt tokens for auth")["results"]
    assert set(row) >= EXPLAINED
    assert (row["title"], set(row["score_breakdown"])) == ("Sign tokens with JWT", PARTS)
    assert any("'jwt'" in reason and reason.startswith("Title") for reason in row["match_reasons"])
    assert any("'auth'" in reason and reason.startswith("Tag") for reason in row["match_reasons"])
    assert "**tokens**" in row["highlighted_content"] and "**JWT**" in row["highlighted_content"]


def test_a_breakdown_adds_up_to_its_score_and_the_best_come_first(shelf):
    rows = found(shelf, "memory_enhanced-search", query="docker tokens gateway")["results"]
    assert all(round(sum(row["score_breakdown"].values()), 4) == row["relevance_score"] for row in rows)
    scores = [row["relevance_score"] for row in rows]
    assert len(rows) == 3 and scores == sorted(scores, reverse=True)


def test_highlights_come_from_the_text(shelf):
    for row in found(shelf, "memory_enhanced-search", query="signing a token, building images")["results"]:
        whole = shelf("memory_get", id=row["id"])["content"]
        assert row["highlighted_content"].replace("**", "").strip("…") in whole


# memory_search-suggestions


def suggested(bank, partial, **given):
    return bank("memory_search-suggestions", partial_query=partial, **given)["suggestions"]


def test_suggestions_come_with_a_reason_and_a_confidence(bank):
    entry(bank, "Authentication middleware", tags=["auth"])
    entry(bank, "Gateway", GATEWAY, tags=["auth"])
    rows = suggested(bank, "auth")
    assert all(set(row) == {"query", "reason", "confidence"} for row in rows)
    assert {"query": "auth", "reason": "Tag carried by 2 memories", "confidence": 0.75} in rows
    assert "Title of a decision" in {row["reason"] for row in rows if row["query"] == "Authentication middleware"}


def test_a_question_that_found_something_is_suggested_again(bank):
    entry(bank)
    found(bank, query="how are tokens signed")
    rows = suggested(bank.settled(), "how are")
    assert [(row["query"], row["reason"]) for row in rows] == [
        ("how are tokens signed", "Asked once, found 1 the last time")
    ]


def test_a_question_that_holds_a_secret_is_never_suggested(bank):
    entry(bank)
    secret = "ghp_" + "a1B2" * 9
    for query in (f"tokens {secret}", "tokens of all sorts"):
        assert found(bank, query=query)["total"] == 1
    asked = [row["query"] for row in suggested(bank.settled(), "tokens") if row["reason"].startswith("Asked")]
    assert asked == ["tokens of all sorts"]
    assert secret not in str(bank.store.past_queries(bank.app.caller().project.id, ""))


def test_what_fits_nothing_suggests_nothing(bank):
    entry(bank)
    assert suggested(bank, "zebra") == []


def test_suggestions_are_limited_and_of_the_project(bank):
    for n in range(12):
        entry(bank, f"Token rule {n}", f"Rule number {n} about tokens")
    assert len(suggested(bank, "token")) == 10
    assert len(suggested(bank, "token", limit=3)) == 3
    assert suggested(bank, "token", project_id=project(bank)) == []


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "partial_query"),
        ({"partial_query": " "}, "partial_query"),
        ({"partial_query": "x" * 10_001}, "partial_query"),
        ({"partial_query": "x" * 201}, "partial_query"),
        ({"partial_query": "x", "limit": 0}, "limit"),
        ({"partial_query": "x", "limit": 101}, "limit"),
        ({"partial_query": "x", "query": "y"}, "query"),
    ],
)
def test_a_wrong_beginning_is_named(bank, given, field):
    assert list(faults(bank.refused("memory_search-suggestions", **given))) == [field]
