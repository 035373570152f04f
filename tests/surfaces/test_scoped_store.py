"""store_memory: what it answers, what it keeps, and what it makes of the same thing said twice."""

import json

import pytest

from retain.domain.memory import Event

FACT = {"type": "semantic", "scope": "project"}


def test_a_stored_memory_is_reported_as_the_contract_says(desk):
    body = desk("store_memory", content="Deploys go through staging", type="semantic", scope="project")
    id = body.pop("memory_id")
    assert id.startswith("memory:") and len(id) == len("memory:") + 20
    assert body == {
        "status": "stored",
        "embedding_generated": True,
        "graph_edges_created": 0,
        "graph_edges_inferred": body["graph_edges_inferred"],
        "scope": "project",
        "type": "semantic",
        "warnings": [],
    }


def test_all_that_was_given_is_kept(desk):
    source = {"tool": "Edit", "file": "src/auth.py", "conversation_turn": 12}
    given = {"type": "procedural", "scope": "user", "importance": 0.9, "tags": ["auth", "how to"], "source": source}
    kept = desk("get_memory", id=desk("store_memory", content="Rotate the keys monthly", **given)["memory_id"])
    assert kept["content"] == "Rotate the keys monthly"
    assert {name: kept[name] for name in given} == given
    assert kept["session_id"] == "s1"


def test_what_is_not_given_has_its_default(desk):
    kept = desk("get_memory", id=desk.stored("Nothing but a text"))
    assert (kept["importance"], kept["tags"], kept["source"], kept["metadata"]) == (0.5, [], {}, {})
    assert (kept["version"], kept["access_count"], kept["state"]) == (1, 0, "active")
    assert kept["created_at"] == kept["updated_at"] == kept["event_time"]


@pytest.mark.parametrize("importance", [0, 1, 0.0, 1.0])
def test_importance_reaches_from_0_to_1(desk, importance):
    assert desk("get_memory", id=desk.stored("On the edge", importance=importance))["importance"] == importance


@pytest.mark.parametrize("importance", [-0.01, 1.01, "high"])
def test_importance_beyond_its_bounds_is_refused(desk, importance):
    refused = desk.refused("store_memory", content="a", importance=importance, **FACT)
    assert [fault["field"] for fault in refused["faults"]] == ["importance"]


def test_given_entities_are_counted_and_found_in_the_graph(desk):
    entities = [
        {"name": "AuthService", "type": "component", "relationship": "uses"},
        {"name": "Redis", "type": "library", "relationship": "depends_on"},
    ]
    body = desk("store_memory", content="Sessions are cached", related_entities=entities, **FACT)
    assert body["graph_edges_created"] == 2
    found = desk("search_knowledge_graph", entity="AuthService")["entities"]
    assert [(e["name"], e["type"], e["memory_count"]) for e in found][:1] == [("AuthService", "component", 1)]


def test_edges_that_rules_add_have_a_key_of_their_own(desk):
    body = desk("store_memory", content="PaymentGateway depends on LedgerService", **FACT)
    assert body["graph_edges_created"] == 0
    assert body["graph_edges_inferred"] >= 2


def test_the_same_text_in_the_same_place_is_reinforced(desk):
    first = desk.stored("We deploy on Mondays", tags=["deploy"], importance=0.4)
    again = desk("store_memory", content="We deploy on Mondays", tags=["monday"], importance=0.8, **FACT)
    assert (again["memory_id"], again["status"]) == (first, "reinforced")
    kept = desk("get_memory", id=first)
    assert (kept["tags"], kept["importance"], kept["version"]) == (["deploy", "monday"], 0.8, 2)


def test_reinforcing_keeps_the_higher_importance(desk):
    first = desk.stored("We deploy on Mondays", importance=0.8)
    desk.stored("We deploy on Mondays", importance=0.1)
    assert desk("get_memory", id=first)["importance"] == 0.8


def test_the_same_text_in_another_place_is_another_memory(desk):
    places = [{"scope": "project"}, {"scope": "user"}, {"scope": "session"}, {"scope": "session", "session_id": "s2"}]
    assert len({desk.stored("We deploy on Mondays", **place) for place in places}) == 4


def test_a_text_that_was_forgotten_can_be_stored_anew(desk):
    first = desk.stored("We deploy on Mondays")
    desk("forget_memory", memory_id=first)
    assert desk.stored("We deploy on Mondays") != first
    assert desk.found("deploy Mondays") == ["We deploy on Mondays"]


def test_what_means_nearly_the_same_is_reinforced(knowing):
    first = knowing.stored("The API server listens on port 8080")
    again = knowing("store_memory", content="the API server listens at port 8080", **FACT)
    assert (again["memory_id"], again["status"]) == (first, "reinforced")


@pytest.mark.parametrize("window", ["desk", "knowing"])
def test_long_texts_that_differ_only_at_the_end_are_kept_apart(request, window):
    desk = request.getfixturevalue(window)
    preface = "the guide begins with a long preface that everybody skips because it says very little of use. " * 20
    first = desk.stored(preface + "then it tells people to drain the queue slowly.")
    assert desk.stored(preface + "then it tells people to flush the caches quickly.") != first


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The API server listens on port 8080", "The API server listens on port 8081"),
        ("We use tabs for indentation", "We do not use tabs for indentation"),
        ("Call parse_config before start_server", "Call parse_config before stop_server"),
        ("Anna reviews changes to the parser", "Boris reviews changes to the parser"),
        ("Increase the timeout when the tests are flaky", "Decrease the timeout when the tests are flaky"),
        ("The frontend calls the backend through the gateway", "The backend calls the frontend through the gateway"),
        (
            "the left sidebar shows the open projects of the user",
            "the right sidebar shows the open projects of the user",
        ),
        ("数据库使用缓存", "数据库使用磁盘"),
    ],
)
def test_near_duplicates_that_say_something_else_are_kept_apart(knowing, one, other):
    assert knowing.stored(one) != knowing.stored(other)
    assert knowing("get_memory_status")["counts"]["total"] == 2


def test_a_contradiction_is_reported_and_recorded(knowing):
    old = knowing.stored("We use tabs for indentation")
    new = knowing("store_memory", content="We do not use tabs for indentation", **FACT)
    assert [rival["memory_id"] for rival in new["contradicts"]] == [old]
    assert new["contradicts"][0]["why"]
    assert len(knowing.store.contradictions([old.removeprefix("memory:")])) == 1


def test_a_contradiction_supersedes_nothing_by_itself(knowing):
    knowing.stored("We use tabs for indentation")
    knowing.stored("We do not use tabs for indentation")
    assert len(knowing.found("tabs for indentation")) == 2


def test_enumerations_are_no_contradictions(knowing):
    knowing.stored("Item 3 of the checklist is to run the tests")
    assert "contradicts" not in knowing("store_memory", content="Item 4 of the checklist is to tag the release", **FACT)


def test_secrets_never_reach_the_store(desk):
    secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    body = desk("store_memory", content=f"The deploy token is {secret}, ask Ada", **FACT)
    assert [warning["code"] for warning in body["warnings"]] == ["redacted"]
    assert desk("get_memory", id=body["memory_id"])["content"].endswith(", ask Ada")
    assert desk.keeps("ask Ada") and not desk.keeps(secret)


@pytest.mark.parametrize(
    "place",
    [
        {"tags": ["{}"]},
        {"source": {"file": "{}"}},
        {"related_entities": [{"name": "{}", "type": "t", "relationship": "r"}]},
    ],
)
def test_secrets_are_taken_out_of_what_stands_beside_a_text(desk, place):
    secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    desk.stored("A note with more", **json.loads(json.dumps(place).replace("{}", secret)))
    assert desk.keeps("A note with more") and not desk.keeps(secret)


def test_private_spans_are_removed(desk):
    kept = desk("get_memory", id=desk.stored("Ship on Friday <private>my salary is 1</private>"))
    assert "salary" not in kept["content"]


@pytest.mark.parametrize("text", ["<private>my salary</private>", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"])
def test_a_text_of_which_nothing_is_left_is_refused(desk, text):
    assert "nothing is left" in desk.refused("store_memory", content=text, **FACT)["message"]
    id = desk.stored("A note")
    assert "nothing is left" in desk.refused("update_memory", memory_id=id, content=text)["message"]


def test_an_unknown_session_that_is_given_is_made(desk):
    desk.stored("Said elsewhere", scope="session", session_id="window-7")
    session = desk.store.session("window-7", "")
    assert (session.memory_count, session.ended) == (1, None)


def test_a_session_is_any_string_up_to_200_characters(desk):
    desk.stored("Long name", session_id="é" * 200)
    refused = desk.refused("store_memory", content="Longer name", session_id="x" * 201, **FACT)
    assert [fault["field"] for fault in refused["faults"]] == ["session_id"]


def test_tags_are_cleaned_and_each_is_kept_once(desk):
    tags = ["  two  words ", "two words", "línea", "数据库", "a\tb"]
    assert desk("get_memory", id=desk.stored("Tagged", tags=tags))["tags"] == ["two words", "línea", "数据库", "a b"]


@pytest.mark.parametrize("tag", ["", "   ", "x" * 101, "\x07"])
def test_a_tag_has_1_to_100_characters(desk, tag):
    refused = desk.refused("store_memory", content="Tagged", tags=["good", tag], **FACT)
    assert [fault["field"] for fault in refused["faults"]] == ["tags[1]"]


def test_content_may_have_100000_characters_and_not_one_more(desk):
    text = "word " * 19_999 + "ended"
    assert len(text) == 100_000
    assert desk("get_memory", id=desk.stored(text))["content"] == text
    refused = desk.refused("store_memory", content=text + "!", **FACT)
    assert [fault["field"] for fault in refused["faults"]] == ["content"]


def test_a_long_text_is_indexed_in_part_at_first_and_wholly_soon(knowing):
    text = " ".join(f"Paragraph {n} speaks of topic {n} at some length, and then goes on." for n in range(400))
    body = knowing("store_memory", content=text, **FACT)
    assert (body["embedding_generated"], body["indexing"]) == (True, "partial")
    assert knowing.app.engine.settle(60)
    assert knowing("get_memory_status")["storage"]["keyword_only"] == 0


def test_every_fault_of_a_memory_is_named_at_once_and_nothing_is_written(desk):
    refused = desk.refused(
        "store_memory",
        content=" ",
        tags=[""],
        session_id="",
        related_entities=[{"name": "", "type": "a", "relationship": "b"}],
        **FACT,
    )
    assert {fault["field"] for fault in refused["faults"]} == {
        "content",
        "tags[0]",
        "session_id",
        "related_entities[0].name",
    }
    assert (refused["error"], refused["degraded"], refused["retry_possible"]) == ("invalid_input", False, False)
    assert desk("get_memory_status")["counts"]["total"] == 0


def test_a_soft_limit_of_memories_refuses_nothing(desks):
    desk = desks(max_memories_per_session=2)
    said = [desk("store_memory", content=f"Note {word}", **FACT) for word in ("one", "two", "three")]
    assert [[w["code"] for w in body["warnings"]] for body in said] == [[], [], ["consolidation_due"]]
    assert "soft limit 2" in said[2]["warnings"][0]["message"]


def test_outside_of_any_project_a_project_memory_goes_to_the_user(desks, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    body = desks(project_dir=tmp_path)("store_memory", content="No project here", **FACT)
    assert (body["scope"], body["warnings"][0]["code"]) == ("user", "no_project")


def test_creation_is_the_first_entry_of_the_history(desk):
    id = desk.stored("We deploy on Mondays").removeprefix("memory:")
    assert [entry.event for entry in desk.store.history(id)] == [Event.CREATED]
