"""memory_recall: what is known, by similarity times confidence, and what speaks against it."""

import json
import re

import pytest

from surfaces.banking import by_other_tools
from surfaces.episodes import (
    LIMITS,
    OTHER_PORT,
    PORT,
    asleep,
    contents,
    days_later,
    disputed,
    encode,
    faults,
    recall,
    resolve,
)
from surfaces.wire import TOOLS

ROW = {"id", "content", "type", "confidence", "score", "source", "createdAt", "similarity"}
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"
PARTS = {"reliability", "agreement", "recency", "reinforcement", "interference", "salience", "total"}


def test_the_list_is_wrapped_with_its_count(audrey):
    id = encode(audrey)["id"]
    body = audrey("memory_recall", query="port API listens")
    assert (set(body), body["count"], body["warnings"]) == ({"results", "count", "warnings"}, 1, [])
    (row,) = body["results"]
    assert set(row) == ROW and re.fullmatch(TIME, row["createdAt"])
    assert (row["id"], row["content"], row["type"], row["source"]) == (id, PORT, "episodic", "told-by-user")


def test_nothing_found_is_an_empty_list(audrey):
    assert audrey("memory_recall", query="zeppelins") == {"results": [], "count": 0, "warnings": []}


def test_results_are_ranked_by_similarity_times_confidence(knowing_audrey):
    for number, (text, source) in enumerate(zip(LIMITS, ("inference", "told-by-user", "tool-result"), strict=True)):
        encode(knowing_audrey, text, source, salience=number / 2)
    rows = recall(knowing_audrey, "What happens when we send too many requests to Stripe?")
    scores = [row["score"] for row in rows]
    assert len(scores) == 3 and scores == sorted(scores, reverse=True)
    for row in rows:
        assert row["score"] == pytest.approx(row["similarity"] * row["confidence"], abs=1e-4)


def test_one_that_was_told_is_trusted_further_than_one_that_was_made_up(audrey):
    encode(audrey, "The cache is Redis.", "told-by-user")
    encode(audrey, "The queue is Kafka.", "model-generated", salience=1.0)
    told, made_up = recall(audrey, "cache Redis")[0], recall(audrey, "queue Kafka")[0]
    assert told["confidence"] > made_up["confidence"]
    assert made_up["confidence"] <= 0.6


def test_confidence_fades_with_time(audrey):
    encode(audrey)
    before = recall(audrey)[0]["confidence"]
    days_later(audrey, 30)
    assert recall(audrey)[0]["confidence"] < before


def test_explain_gives_the_parts_that_make_the_confidence(audrey):
    encode(audrey, salience=0.6)
    (row,) = recall(audrey, explain=True)
    found = row["explanation"]
    assert set(found) == PARTS | {"supporting", "contradicting", "crowding"}
    weights = {"reliability": 0.30, "agreement": 0.35, "recency": 0.20, "reinforcement": 0.15}
    base = sum(weight * found[part] for part, weight in weights.items())
    assert row["confidence"] == pytest.approx(base * found["interference"] * found["salience"], abs=1e-3)
    assert found["total"] == row["confidence"]


def test_only_what_was_said_later_counts_against_a_memory(audrey):
    encode(audrey, "The API listens on port 8080")
    encode(audrey, "The API listens on port 9090")
    rows = {row["content"]: row["explanation"] for row in recall(audrey, "Which port does the API use?", explain=True)}
    older, newer = rows["The API listens on port 8080"], rows["The API listens on port 9090"]
    assert (older["contradicting"], older["agreement"]) == (1, 0.0)
    assert (newer["contradicting"], newer["agreement"]) == (0, 1.0)


# Filters


def test_types_leave_out_the_others(audrey):
    encode(audrey)
    by_other_tools(audrey, TOOLS, "store_memory", content=OTHER_PORT, type="semantic", scope="project")
    assert contents(recall(audrey, types=["episodic"])) == [PORT]
    assert contents(recall(audrey, types=["semantic"])) == [OTHER_PORT]
    assert len(recall(audrey, types=["semantic", "episodic"])) == len(recall(audrey)) == 2
    assert recall(audrey, types=["procedural"]) == []


def test_min_confidence_leaves_out_what_can_be_trusted_less(audrey):
    encode(audrey, source="model-generated")
    confidence = recall(audrey)[0]["confidence"]
    assert recall(audrey, min_confidence=confidence - 0.01)
    assert recall(audrey, min_confidence=confidence + 0.01) == []


def test_no_more_come_than_were_asked_for(audrey):
    for number in range(12):
        encode(audrey, f"Machine {number} of the API cluster has a disk of its own.")
    assert len(recall(audrey, "machine API cluster disk")) == 10
    assert len(recall(audrey, "machine API cluster disk", limit=3)) == 3


@pytest.mark.parametrize("scope", ["project", "user", "session"])
def test_what_other_tools_stored_is_found_too(audrey, scope):
    by_other_tools(audrey, TOOLS, "store_memory", content=PORT, type="procedural", scope=scope)
    (row,) = recall(audrey)
    assert (row["type"], row["source"]) == ("procedural", "inference")


# Disputes


def test_what_is_disputed_names_its_rival_and_the_contradiction(audrey):
    older, newer, contradiction = disputed(audrey)
    rows = {row["id"]: row["disputed"] for row in recall(audrey)}
    (rival,) = rows[older]
    assert (rival["id"], rival["contradiction_id"], rival["content"]) == (newer, contradiction, OTHER_PORT)
    assert "9090" in rival["why"]
    assert rows[newer][0]["id"] == older


def test_what_was_contradicted_since_is_trusted_less(audrey):
    old = encode(audrey)["id"]
    before = recall(audrey)[0]["confidence"]
    encode(audrey, OTHER_PORT)
    newer, older = recall(audrey)
    assert older["id"] == old and older["confidence"] < before <= newer["confidence"]


def test_what_lost_is_recalled_no_longer(audrey):
    _, newer, contradiction = disputed(audrey)
    resolve(audrey, contradiction, resolution="newer")
    (row,) = recall(audrey)
    assert row["id"] == newer and "disputed" not in row


def test_what_holds_under_conditions_says_which(audrey):
    *_, contradiction = disputed(audrey)
    resolve(audrey, contradiction, resolution="context_dependent", conditions="8080 in production, 9090 in tests")
    rows = recall(audrey)
    assert [row["conditions"] for row in rows] == ["8080 in production, 9090 in tests"] * 2
    assert not any("disputed" in row for row in rows)


# What sleeps


def test_what_sleeps_comes_last_and_says_so(audrey):
    sleeping = encode(audrey, "The API port was chosen by the platform team.")["id"]
    awake = encode(audrey)["id"]
    asleep(audrey, sleeping)
    rows = recall(audrey, "API port")
    assert [(row["id"], row.get("state")) for row in rows] == [(awake, None), (sleeping, "dormant")]


def test_what_sleeps_stays_out_where_others_answer(audrey):
    asleep(audrey, encode(audrey, "The API port was chosen by the platform team.")["id"])
    encode(audrey)
    assert contents(recall(audrey, "API port", limit=1)) == [PORT]


# Limits


def test_long_contents_are_cut_so_that_all_fit_in_an_answer(audrey):
    for number in range(30):
        encode(audrey, f"Import {number} failed. " + f"Row {number} of the import was wrong. " * 200)
    body = audrey("memory_recall", query="import row wrong", limit=30)
    assert body["count"] == 30 and all(row["truncated"] for row in body["results"])
    assert len(json.dumps(body)) < 60_000


def test_one_long_content_comes_nearly_whole(audrey):
    encode(audrey, "Import failed. " + "A row of the import was wrong. " * 1000)
    (row,) = recall(audrey, "import row wrong", limit=1)
    assert len(row["content"]) > 30_000 and "truncated" not in row


@pytest.mark.parametrize(
    ("given", "field", "said"),
    [
        ({"query": ""}, "query", "must not be empty"),
        ({"limit": 0}, "limit", "between 1 and 50"),
        ({"limit": 51}, "limit", "between 1 and 50"),
        ({"types": ["episode"]}, "types[0]", "did you mean episodic?"),
        ({"min_confidence": -0.1}, "min_confidence", "between 0 and 1"),
        ({"explain": "yes"}, "explain", "true or false"),
        ({"querry": "x"}, "querry", "did you mean query?"),
    ],
)
def test_bad_input_is_named(audrey, given, field, said):
    assert said in faults(audrey.refused("memory_recall", **{"query": "port", **given}))[field]
