"""memory_resolve_truth: which of two memories holds, decided by a language model or by whoever asks."""

import json

import pytest

from retain.errors import LLMFailed
from surfaces.banking import by_other_tools
from surfaces.episodes import PORT, contents, disputed, faults, introspect, recall, resolve, with_llm
from surfaces.wire import TOOLS

KEYS = {"resolution", "conditions", "explanation", "contradiction_id", "winner", "loser", "by"}
VERDICT = {"resolution": "newer", "conditions": None, "explanation": "The newer note corrects the older one."}


def is_open(audrey):
    return introspect(audrey)["contradictions"]["open"] == 1


@pytest.mark.parametrize(("resolution", "holds"), [("older", 0), ("newer", 1)])
def test_the_caller_may_decide(audrey, resolution, holds):
    *sides, contradiction = disputed(audrey)
    body = resolve(audrey, contradiction, resolution=resolution, explanation="I looked.")
    assert set(body) == KEYS
    assert (body["resolution"], body["explanation"], body["by"]) == (resolution, "I looked.", "caller")
    assert (body["winner"], body["loser"]) == (sides[holds], sides[1 - holds])
    assert [row["id"] for row in recall(audrey)] == [sides[holds]]


def test_what_lost_is_superseded_and_can_still_be_read(audrey):
    older, _, contradiction = disputed(audrey)
    resolve(audrey, contradiction, resolution="newer")
    seen = by_other_tools(audrey, TOOLS, "get_memory", id=older)
    assert (seen["content"], seen["state"]) == (PORT, "superseded")


def test_both_may_hold_under_conditions(audrey):
    *_, contradiction = disputed(audrey)
    body = resolve(audrey, contradiction, resolution="context_dependent", conditions="8080 at home, 9090 in CI")
    assert (body["winner"], body["loser"], body["conditions"]) == (None, None, "8080 at home, 9090 in CI")
    assert len(recall(audrey)) == 2


@pytest.mark.parametrize("dress", ["memory:{}", "mem_{}", "{}"])
def test_the_id_is_taken_in_every_dress(audrey, dress):
    *_, contradiction = disputed(audrey)
    assert resolve(audrey, dress.format(contradiction), resolution="newer")["contradiction_id"] == contradiction


# By language model


def test_a_language_model_decides_when_the_caller_does_not(audrey):
    older, newer, contradiction = disputed(audrey)
    with_llm(audrey, json.dumps(VERDICT))
    body = resolve(audrey, contradiction)
    assert (body["resolution"], body["explanation"], body["by"]) == ("newer", VERDICT["explanation"], "llm")
    assert (body["winner"], body["loser"]) == (newer, older)


def test_the_caller_goes_before_the_language_model(audrey):
    *_, contradiction = disputed(audrey)
    llm = with_llm(audrey)
    assert resolve(audrey, contradiction, resolution="older")["by"] == "caller"
    assert llm.asked == []


def test_without_a_language_model_it_says_how_to_decide(audrey):
    *_, contradiction = disputed(audrey)
    body = audrey.refused("memory_resolve_truth", contradiction_id=contradiction)
    assert body["error"] == "refused"
    assert "no language model was chosen" in body["message"] and "`resolution`" in body["message"]
    assert is_open(audrey)


def test_one_that_cannot_be_asked_says_why(audrey):
    *_, contradiction = disputed(audrey)
    with_llm(audrey, why_not="there is no key")
    assert "there is no key" in audrey.refused("memory_resolve_truth", contradiction_id=contradiction)["message"]


@pytest.mark.parametrize(
    "answer",
    [
        "The newer one, of course.",
        "{",
        "[]",
        json.dumps({**VERDICT, "resolution": "both"}),
        json.dumps({"resolution": "context_dependent", "conditions": None, "explanation": "Both."}),
        LLMFailed("it took too long"),
    ],
)
def test_nonsense_from_a_language_model_changes_nothing(audrey, answer):
    *_, contradiction = disputed(audrey)
    with_llm(audrey, *[answer] * 3)
    body = audrey.refused("memory_resolve_truth", contradiction_id=contradiction)
    assert "nothing was written" in body["message"]
    assert is_open(audrey) and len(recall(audrey)) == 2


# What cannot be decided


def test_what_was_decided_is_not_decided_again(audrey):
    older, _, contradiction = disputed(audrey)
    resolve(audrey, contradiction, resolution="older")
    body = audrey.refused("memory_resolve_truth", contradiction_id=contradiction, resolution="newer")
    assert body["error"] == "refused" and older in body["message"]
    assert contents(recall(audrey)) == [PORT]


def test_an_unknown_contradiction_is_not_found(audrey):
    body = audrey.refused("memory_resolve_truth", contradiction_id="0" * 20, resolution="newer")
    assert (body["error"], body["contradiction_id"]) == ("not_found", "0" * 20)


@pytest.mark.parametrize(
    ("given", "field", "said"),
    [
        ({"contradiction_id": "nonsense!"}, "contradiction_id", "not an id"),
        ({"resolution": "both"}, "resolution", "one of: older, newer, context_dependent"),
        ({"resolution": "context_dependent"}, "conditions", "say when the one holds"),
        ({"resolution": "newer", "conditions": "at night"}, "conditions", "only goes with context_dependent"),
        ({"conditions": "at night"}, "resolution", "is needed with conditions or explanation"),
        ({"explanation": "I looked."}, "resolution", "is needed with conditions or explanation"),
        ({"resolution": "newer", "explanation": "x" * 1001}, "explanation", "at most 1000"),
    ],
)
def test_bad_input_is_named_and_nothing_changes(audrey, given, field, said):
    *_, contradiction = disputed(audrey)
    body = audrey.refused("memory_resolve_truth", **{"contradiction_id": contradiction, **given})
    assert said in faults(body)[field]
    assert is_open(audrey)
