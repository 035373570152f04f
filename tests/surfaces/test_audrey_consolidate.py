"""memory_consolidate: repeated episodes become principles, with the evidence that they rest on."""

import json

import pytest

from surfaces.episodes import LIMITS, encode, faults, introspect, recall, with_llm
from surfaces.wire import AUDREY

KEYS = {"runId", "episodesEvaluated", "clustersFound", "principlesExtracted", "status"}
QUESTION = "What does Stripe do when we send too many requests?"


def consolidate(audrey, **given):
    return audrey("memory_consolidate", **given)


@pytest.fixture
def repeated(knowing_audrey):
    """A memory in which the same was seen three times, and something else once."""
    for text in (*LIMITS, "The office has a new coffee machine."):
        encode(knowing_audrey, text, "direct-observation")
    return knowing_audrey


def test_repeated_episodes_become_a_principle(repeated):
    body = consolidate(repeated)
    assert set(body) >= KEYS
    assert (body["episodesEvaluated"], body["clustersFound"], body["principlesExtracted"]) == (4, 1, 1)
    assert (body["status"], body["warnings"]) == ("completed", [])


def test_a_principle_is_shown_with_its_evidence_and_recalled(repeated):
    ids = {row["id"] for row in recall(repeated, QUESTION, types=["episodic"])}
    (principle,) = consolidate(repeated)["principles"]
    assert len(principle["evidence"]) == 3 and set(principle["evidence"]) <= ids
    assert principle["type"] in ("semantic", "procedural")
    assert principle["id"] in [row["id"] for row in recall(repeated, QUESTION, types=[principle["type"]])]


def test_a_second_run_has_nothing_to_do(repeated):
    consolidate(repeated)
    body = consolidate(repeated)
    assert (body["principlesExtracted"], body["principles"], body["status"]) == (0, [], "nothing_to_do")


def test_a_run_can_be_undone(repeated):
    body = consolidate(repeated)
    repeated.app.engine.undo(body["runId"], repeated.app.caller())
    assert introspect(repeated)["semantic"] + introspect(repeated)["procedural"] == 0
    assert consolidate(repeated)["status"] == "completed"


@pytest.mark.parametrize("given", [{"min_cluster_size": 4}, {"similarity_threshold": 1.0}])
def test_fewer_or_less_alike_episodes_than_were_asked_for_are_none(repeated, given):
    body = consolidate(repeated, **given)
    assert (body["clustersFound"], body["status"]) == (0, "nothing_to_do")


def test_two_episodes_are_enough_when_asked_for(knowing_audrey):
    for text in LIMITS[:2]:
        encode(knowing_audrey, text)
    assert consolidate(knowing_audrey)["principlesExtracted"] == 0
    assert consolidate(knowing_audrey, min_cluster_size=2)["principlesExtracted"] == 1


def test_an_empty_memory_has_nothing_to_do(audrey):
    body = consolidate(audrey)
    assert (body["episodesEvaluated"], body["status"]) == (0, "nothing_to_do")


def test_a_language_model_finds_the_words_and_the_reply_says_so(repeated):
    said = "Stripe answers 429 when more than 100 requests a second are sent."
    with_llm(repeated, json.dumps({"principles": [{"group": 1, "type": "semantic", "content": said}]}))
    body = consolidate(repeated)
    assert (body["principles"][0]["content"], body["by"]) == (said, "llm")


def test_nonsense_from_a_language_model_leaves_the_work_to_the_rule(repeated):
    with_llm(repeated, *["I would rather not."] * 3)
    body = consolidate(repeated)
    assert (body["principlesExtracted"], body["by"]) == (1, "rules")
    assert body["warnings"]


def test_agents_share_principles_and_keep_the_episodes_apart(desks):
    builder, reviewer = (desks(tools=AUDREY, agent=name, embedding_model="bundled") for name in ("builder", "reviewer"))
    assert builder.app.engine.parts.embedder.wait(60) and reviewer.app.engine.parts.embedder.wait(60)
    for text in LIMITS:
        encode(builder, text)
    (principle,) = consolidate(builder)["principles"]
    assert [row["id"] for row in recall(reviewer, QUESTION)] == [principle["id"]]
    assert introspect(reviewer)["episodic"] == 0


@pytest.mark.parametrize(
    ("given", "field", "said"),
    [
        ({"min_cluster_size": 1}, "min_cluster_size", "at least 2"),
        ({"min_cluster_size": "three"}, "min_cluster_size", "a whole number"),
        ({"similarity_threshold": 1.1}, "similarity_threshold", "between 0 and 1"),
        ({"dry_run": True}, "dry_run", "unknown argument"),
    ],
)
def test_bad_input_is_named(audrey, given, field, said):
    assert said in faults(audrey.refused("memory_consolidate", **given))[field]
