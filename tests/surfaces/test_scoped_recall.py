"""recall_memories: what it answers, which memories may answer, and how the score comes about."""

import pytest

FIELDS = {
    "id", "content", "type", "scope", "importance", "relevance_score", "score", "tags", "created_at", "access_count",
    "source",
}  # fmt: skip


def ids(body):
    return [hit["id"] for hit in body["memories"]]


@pytest.fixture
def stocked(desk):
    """One memory of each scope and kind about the same thing."""
    for scope in ("session", "project", "user"):
        for kind in ("episodic", "semantic", "procedural"):
            desk.stored(f"Deploy note for {scope} that is {kind}", scope=scope, type=kind)
    return desk


def test_an_answer_has_every_field_of_the_contract(desk):
    id = desk.stored("Deploys go through staging", tags=["deploy"], importance=0.8, source={"conversation_turn": 12})
    body = desk("recall_memories", query="How do deploys go?")
    assert {name: body[name] for name in ("total_matched", "strategy_used", "warnings")} == {
        "total_matched": 1,
        "strategy_used": "hybrid",
        "warnings": [],
    }
    assert body["query_time_ms"] >= 0
    (hit,) = body["memories"]
    assert set(hit) == FIELDS
    assert (hit["id"], hit["tags"], hit["importance"], hit["source"]) == (
        id,
        ["deploy"],
        0.8,
        {"conversation_turn": 12},
    )
    assert hit["created_at"].endswith("Z")
    assert 0 < hit["relevance_score"] <= 1 and 0 < hit["score"] <= 1


def test_meaning_is_found_without_a_common_word(knowing):
    knowing.stored("The staging cluster receives every release before production does")
    knowing.stored("Lunch is at noon in the kitchen")
    assert knowing.found("how do we ship software?", strategy="vector")[:1] == [
        "The staging cluster receives every release before production does"
    ]


@pytest.mark.parametrize("strategy", ["vector", "keyword", "hybrid", "graph"])
def test_every_strategy_answers_and_names_itself(knowing, strategy):
    knowing.stored("AuthService depends on TokenValidator")
    body = knowing("recall_memories", query="What does AuthService depend on?", strategy=strategy)
    assert body["strategy_used"] == strategy
    assert [hit["content"] for hit in body["memories"]] == ["AuthService depends on TokenValidator"]


def test_the_graph_finds_what_is_only_connected(desk):
    desk.stored("AuthService depends on TokenValidator")
    desk.stored("TokenValidator rejects expired keys")
    assert set(desk.found("AuthService", strategy="graph")) == {
        "AuthService depends on TokenValidator",
        "TokenValidator rejects expired keys",
    }


def test_nothing_found_is_an_empty_list_and_no_error(desk):
    body = desk("recall_memories", query="anything at all")
    assert (body["memories"], body["total_matched"], body["warnings"]) == ([], 0, [])


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ("project", {"project"}),
        (["project"], {"project"}),
        (["session", "user"], {"session", "user"}),
        ([], {"session", "project", "user"}),
        (None, {"session", "project", "user"}),
    ],
)
def test_scope_may_be_one_or_several(stocked, scope, expected):
    found = stocked("recall_memories", query="deploy note", scope=scope)
    assert {hit["scope"] for hit in found["memories"]} == expected
    assert found["total_matched"] == len(found["memories"]) == 3 * len(expected)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("semantic", {"semantic"}), (["episodic", "procedural"], {"episodic", "procedural"})],
)
def test_type_may_be_one_or_several(stocked, kind, expected):
    found = stocked("recall_memories", query="deploy note", type=kind)
    assert {hit["type"] for hit in found["memories"]} == expected
    assert found["total_matched"] == 3 * len(expected)


@pytest.mark.parametrize("field", ["scope", "type", "strategy"])
@pytest.mark.parametrize("value", ["Project ", 1, {}])
def test_a_value_that_is_not_allowed_is_refused_with_those_that_are(desk, field, value):
    refused = desk.refused("recall_memories", query="a", **{field: value})
    assert [fault["field"] for fault in refused["faults"]] == [field]


@pytest.mark.parametrize(("limit", "given"), [(0, 0), (51, 51), (-1, -1)])
def test_a_limit_beyond_1_to_50_is_refused(desk, limit, given):
    assert "between 1 and 50" in desk.refused("recall_memories", query="a", limit=limit)["message"]


def test_limits_are_honoured_while_the_total_stays_true(desk):
    for number in range(60):
        desk.stored(f"Deploy step {number} of the release")
    for limit in (1, 50):
        body = desk("recall_memories", query="deploy step", limit=limit)
        assert (len(body["memories"]), body["total_matched"]) == (limit, 60)
    assert len(desk("recall_memories", query="deploy step")["memories"]) == 10


def test_the_graph_counts_all_that_it_matched(desk):
    for number in range(60):
        desk.stored(f"AuthService handles case {number}")
    assert desk("recall_memories", query="AuthService", strategy="graph", limit=5)["total_matched"] == 60


def test_what_is_answered_was_matched(knowing):
    for word in ("probe fails and pods restart", "lunch was pasta", "the sky was grey", "someone sang"):
        knowing.stored(f"Today {word}", type="episodic")
    body = knowing("recall_memories", query="why do pods restart")
    assert len(body["memories"]) <= body["total_matched"]


@pytest.mark.parametrize("strategy", ["vector", "keyword", "hybrid", "graph"])
@pytest.mark.parametrize(
    ("filtered", "given"),
    [
        ({"tags": ["rare"]}, {"tags": ["rare"]}),
        ({"importance": 0.9}, {"min_importance": 0.8}),
        ({"type": "procedural"}, {"type": "procedural"}),
        ({"scope": "user"}, {"scope": "user"}),
    ],
)
def test_a_crowd_that_is_filtered_out_does_not_hide_the_only_hit(crowd, strategy, filtered, given):
    id = crowd.stored(f"RateLimiter counts by address {sorted(filtered)}", **filtered)
    body = crowd("recall_memories", query="RateLimiter counts requests", strategy=strategy, limit=1, **given)
    assert ids(body) == [id]


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """Far more memories about one thing than a lane keeps, all of them plain."""
    from surfaces.wire import Desk

    desk = Desk(tmp_path_factory.mktemp("crowd"))
    for number in range(150):
        desk.stored(f"RateLimiter counts requests, see case {number}", importance=0.2)
    yield desk
    desk.app.close()


def test_tags_filter_to_any_of_them_in_any_case(desk):
    first, second = desk.stored("Deploy one", tags=["Red"]), desk.stored("Deploy two", tags=["blue"])
    desk.stored("Deploy three", tags=["green"])
    assert set(ids(desk("recall_memories", query="deploy", tags=["red", "BLUE"]))) == {first, second}
    assert desk.found("deploy", tags=["yellow"]) == []


def test_time_ranges_bound_what_is_found(desk):
    id = desk.stored("We deploy on Mondays")
    made = desk("get_memory", id=id)["created_at"]
    assert ids(desk("recall_memories", query="deploy", time_range={"after": made, "before": made})) == [id]
    assert desk.found("deploy", time_range={"after": "2999-01-01T00:00:00Z"}) == []
    assert desk.found("deploy", time_range={"before": "2001-01-01"}) == []
    assert ids(desk("recall_memories", query="deploy", time_range={"after": "2001-01-01T00:00:00+05:00"})) == [id]
    assert ids(desk("recall_memories", query="deploy", time_range={})) == [id]


@pytest.mark.parametrize(
    "range",
    [{"after": "yesterday"}, {"before": ""}, {"after": "2026-13-01"}, {"after": "2026-02-01", "before": "2026-01-01"}],
)
def test_a_time_that_makes_no_sense_is_refused(desk, range):
    assert desk.refused("recall_memories", query="a", time_range=range)["error"] == "invalid_input"


def test_forgotten_memories_come_only_when_asked_for(desk):
    id = desk.stored("We deploy on Mondays")
    desk("forget_memory", memory_id=id)
    assert desk.found("deploy Mondays") == []
    (hit,) = desk("recall_memories", query="deploy Mondays", include_forgotten=True)["memories"]
    assert (hit["id"], hit["state"]) == (id, "forgotten")


def test_accesses_are_counted_in_the_background(desk):
    id = desk.stored("We deploy on Mondays")
    for count in (0, 1, 2):
        (hit,) = desk("recall_memories", query="deploy Mondays")["memories"]
        assert hit["access_count"] == count
        desk.settled()
    assert desk("get_memory", id=id)["access_count"] == 3


def test_explain_shows_the_terms_of_each_score(knowing):
    knowing.stored("We deploy on Mondays", importance=0.4)
    (hit,) = knowing("recall_memories", query="When do we deploy?", explain=True)["memories"]
    terms = hit["explanation"]
    mixed = 0.6 * terms["relevance"] * terms["scope_weight"] + 0.2 * terms["importance"] + 0.2 * terms["recency"]
    assert hit["score"] == pytest.approx(mixed, abs=0.001)
    assert terms["meaning"] > 0 and terms["words"] > 0 and terms["importance"] == 0.4


def test_hits_are_sorted_by_score(knowing):
    for text in (
        "We deploy on Mondays",
        "Deploys need a green build",
        "Lunch is at noon",
        "Releases are deployed twice",
    ):
        knowing.stored(text)
    scores = [hit["score"] for hit in knowing("recall_memories", query="When do we deploy?")["memories"]]
    assert scores == sorted(scores, reverse=True)


def test_of_equals_the_more_important_comes_first(desk):
    low = desk.stored("Deploy rule alpha", importance=0.1)
    high = desk.stored("Deploy rule gamma", importance=0.9)
    assert ids(desk("recall_memories", query="deploy rule")) == [high, low]


def test_of_equals_what_this_conversation_said_comes_first(desk):
    user, project, session = (
        desk.stored("We deploy on Mondays", scope=scope) for scope in ("user", "project", "session")
    )
    assert ids(desk("recall_memories", query="deploy Mondays")) == [session, project, user]


def test_one_huge_memory_does_not_fill_a_context(desk):
    id = desk.stored("Deploy log " + "line of text " * 7000)
    (hit,) = desk("recall_memories", query="deploy log")["memories"]
    assert (hit["truncated"], hit["characters"], len(hit["content"])) == (
        True,
        len(desk("get_memory", id=id)["content"]),
        2001,
    )


def test_many_long_memories_share_the_room(desk):
    for number in range(50):
        desk.stored(f"Deploy log {number} " + "line of text " * 300)
    body = desk("recall_memories", query="deploy log", limit=50, max_content_chars=100_000)
    assert sum(len(hit["content"]) for hit in body["memories"]) <= 41_000


@pytest.mark.parametrize(
    "query",
    [
        '"foo" OR NEAR( *',
        "a AND NOT b",
        "col:x^2",
        "'; drop table memory; --",
        "🙂🙂",
        "مرحبا",
        "???",
        "the of and",
        "-",
        "x" * 10_000,
    ],
)
def test_no_query_is_syntax(desk, query):
    desk.stored("We deploy on Mondays")
    body = desk("recall_memories", query=query)
    assert body["total_matched"] == len(body["memories"])


def test_a_query_longer_than_10000_characters_is_refused(desk):
    assert desk.refused("recall_memories", query="x " * 5001)["faults"][0]["field"] == "query"


@pytest.mark.parametrize(
    ("text", "query"), [("数据库使用缓存来加速", "缓存"), ("Büro schließt früh", "buro"), ("شغل الخادم الآن", "الخادم")]
)
def test_every_script_is_found(desk, text, query):
    desk.stored(text)
    assert desk.found(query, strategy="keyword") == [text]


def test_identifiers_are_found_by_their_parts(desk):
    desk.stored("Call parseConfigFile before start_server")
    assert desk.found("config file", strategy="keyword") == desk.found("server", strategy="keyword") != []
