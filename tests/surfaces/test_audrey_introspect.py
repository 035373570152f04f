"""memory_introspect: how much is known, and how sound it is."""

import re

import pytest

from surfaces.banking import by_other_tools
from surfaces.episodes import OTHER_PORT, PORT, asleep, disputed, encode, faults, introspect, resolve
from surfaces.wire import AUDREY, TOOLS

EMPTY = {
    "episodic": 0,
    "semantic": 0,
    "procedural": 0,
    "causalLinks": 0,
    "dormant": 0,
    "contradictions": {"open": 0, "resolved": 0, "context_dependent": 0, "reopened": 0},
    "lastConsolidation": None,
    "totalConsolidationRuns": 0,
}
SIDE = {"id", "content", "source", "event_time", "state"}


def test_an_empty_memory_has_every_key_of_the_contract(audrey):
    assert introspect(audrey) == EMPTY


def test_kinds_are_counted_whichever_tools_stored_them(audrey):
    encode(audrey)
    for kind in ("semantic", "semantic", "procedural"):
        count = introspect(audrey)[kind]
        text = f"A {kind} thing, number {count}, about {'tea' * (count + 1)}."
        by_other_tools(audrey, TOOLS, "store_memory", content=text, type=kind, scope="user")
    found = introspect(audrey)
    assert (found["episodic"], found["semantic"], found["procedural"]) == (1, 2, 1)


def test_what_sleeps_is_counted_apart(audrey):
    asleep(audrey, encode(audrey)["id"])
    found = introspect(audrey)
    assert (found["episodic"], found["dormant"]) == (0, 1)


@pytest.mark.parametrize(
    ("given", "state"),
    [
        ({"resolution": "newer"}, "resolved"),
        ({"resolution": "context_dependent", "conditions": "8080 at home"}, "context_dependent"),
    ],
)
def test_contradictions_are_counted_by_what_became_of_them(audrey, given, state):
    *_, contradiction = disputed(audrey)
    assert introspect(audrey)["contradictions"] == {**EMPTY["contradictions"], "open": 1}
    resolve(audrey, contradiction, **given)
    assert introspect(audrey)["contradictions"] == {**EMPTY["contradictions"], state: 1}


def test_consolidations_are_counted_with_the_time_of_the_last(audrey):
    for _ in range(2):
        audrey("memory_consolidate")
    found = introspect(audrey)
    assert found["totalConsolidationRuns"] == 2
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT.*Z", found["lastConsolidation"])


def test_another_project_and_another_person_count_nothing(desks, audrey, tmp_path):
    disputed(audrey)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert introspect(desks(tools=AUDREY, project_dir=elsewhere)) == EMPTY
    assert introspect(desks(tools=AUDREY, user_id="ada")) == EMPTY


def test_contradictions_are_listed_on_request_with_both_sides(audrey):
    older, newer, contradiction = disputed(audrey)
    body = introspect(audrey, list_contradictions="open")
    (found,) = body["contradictionList"]
    assert set(body) == {*EMPTY, "contradictionList", "contradictionsTotal"} and body["contradictionsTotal"] == 1
    assert (found["contradiction_id"], found["state"], found["found_by"]) == (contradiction, "open", "rule")
    assert set(found["older"]) == set(found["newer"]) == SIDE
    assert (found["older"]["id"], found["older"]["content"]) == (older, PORT)
    assert (found["newer"]["id"], found["newer"]["content"]) == (newer, OTHER_PORT)


def test_those_that_were_decided_are_listed_only_with_all(audrey):
    *_, contradiction = disputed(audrey)
    resolve(audrey, contradiction, resolution="newer", explanation="It was moved.")
    assert introspect(audrey, list_contradictions="open")["contradictionList"] == []
    (found,) = introspect(audrey, list_contradictions="all")["contradictionList"]
    assert (found["state"], found["resolution"], found["explanation"]) == ("resolved", "newer", "It was moved.")


def test_an_unknown_list_is_refused(audrey):
    assert (
        "one of: open, all"
        in faults(audrey.refused("memory_introspect", list_contradictions="closed"))["list_contradictions"]
    )
