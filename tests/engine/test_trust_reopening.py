"""Which decisions about contradictions new evidence opens again."""

from dataclasses import replace

import pytest

from making import START, a_contradiction, a_memory, at, save
from retain.domain.changes import ContradictionState
from retain.domain.memory import State, Status, Stored
from retain.engine.nearby import Neighbour
from retain.engine.trust.reopening import in_question, reopened

OLDER = a_memory("older", "The API listens on port 8080")
NEWER = a_memory("newer", "The API listens on port 9090")
RESOLVED = a_contradiction("c1", "older", "newer", state=ContradictionState.RESOLVED, winner="newer")
WHAT = {"older": "index", "newer": "cache"}
CASES = "8080 on laptops, 9090 in production"


@pytest.fixture
def decided(store):
    """Writes down a decision between the two and gives it back."""

    def done(state=ContradictionState.RESOLVED, winner="newer", **fields):
        loser = {"newer": OLDER, "older": NEWER}.get(winner)
        ended = [replace(loser, status=Status(State.SUPERSEDED, None, START, winner))] if loser else []
        found = a_contradiction("c1", "older", "newer", state=state, winner=winner, explanation="seen", **fields)
        save(store, OLDER, NEWER, contradictions=(found,))
        save(store, *ended)
        return found

    return done


def depending(decided, conditions=CASES):
    return decided(ContradictionState.CONTEXT_DEPENDENT, None, conditions=conditions)


def said(store, text, cosine=0.9, **fields):
    """What a new memory opens again; near it is what is active of the two."""
    near = [
        Neighbour(stored, cosine) for stored in store.memories(["older", "newer"]).values() if stored.memory.is_active
    ]
    return reopened(store, a_memory("new", text), near, at(86_400), **fields)


def test_what_was_given_up_and_is_said_again_opens_the_decision(store, decided):
    before = decided()
    (found,) = said(store, "The API listens on port 8080.")
    assert (found.id, found.state, found.winner) == ("c1", ContradictionState.REOPENED, None)
    assert (found.explanation, found.older, found.newer) == ("seen", "older", "newer")
    assert found.detail == f"{before.detail}; in question since 2026-03-03: memory:new said again what was given up"


def test_it_may_be_said_again_in_nearly_the_same_words(store, decided):
    decided()
    (found,) = said(store, "The public API listens on port 8080")
    assert "said again what was given up" in found.detail


def test_what_ended_by_an_edit_was_no_decision_that_could_be_opened(store, decided):
    decided(winner=None)
    assert said(store, "The public API listens on port 8080") == said(store, "The API is not on port 9090") == ()


def test_a_third_value_leaves_the_decision_between_the_first_two(store, decided):
    decided()
    assert said(store, "The API listens on port 7070") == ()


def test_what_denies_the_winner_and_not_the_loser_opens_the_decision(store, decided):
    decided()
    (found,) = said(store, "The API does not listen on port 9090")
    assert found.detail.endswith("memory:new contradicts memory:newer")


def test_what_says_the_same_as_the_winner_leaves_the_decision(store, decided):
    decided()
    assert said(store, "The public API listens on port 9090") == ()


def test_what_is_as_close_to_the_winner_is_no_repetition_of_the_loser(store):
    sides = [a_memory(name, f"The nightly job of the shop rebuilds every {what}") for name, what in WHAT.items()]
    save(store, *sides, contradictions=(RESOLVED,))
    assert said(store, "Our nightly job of the shop rebuilds every cache") == ()


def test_another_name_in_the_same_words_is_no_repetition(store):
    checks = a_memory("older", "Run `make test` before every commit to the shop")
    save(store, checks, a_memory("newer", "Commits go out as they are"), contradictions=(RESOLVED,))
    assert said(store, "Run `make lint` before every commit to the shop") == ()
    assert len(said(store, "Always run `make test` before every commit to the shop")) == 1


def test_what_is_about_something_else_leaves_the_decision(store, decided):
    decided()
    assert said(store, "The API is written in Go") == ()


def test_the_older_one_may_have_won(store, decided):
    decided(winner="older")
    assert len(said(store, "The API listens on port 9090")) == 1
    assert said(store, "The public API listens on port 8080") == ()


def test_what_a_model_found_to_be_denied_opens_the_decision(store, decided):
    decided()
    assert said(store, "The proxy took over all traffic") == ()
    assert len(said(store, "The proxy took over all traffic", denied={"newer"})) == 1


def test_a_winner_that_has_ended_since_is_not_denied(store, decided):
    decided()
    save(store, replace(NEWER, status=Status(State.FORGOTTEN, None, START)))
    near = [Neighbour(Stored(NEWER), 0.9)]
    assert reopened(store, a_memory("new", "The API listens on port 7070"), near, at(1)) == ()


@pytest.mark.parametrize("state", [ContradictionState.OPEN, ContradictionState.REOPENED])
def test_what_is_open_stays_as_it_is(store, decided, state):
    decided(state, None)
    assert said(store, "The API listens on port 7070") == ()


def test_a_memory_that_is_a_party_itself_opens_nothing(store, decided):
    decided()
    near = [Neighbour(Stored(NEWER), 1.0)]
    assert reopened(store, replace(NEWER, text="The API listens on port 7070"), near, at(1)) == ()


def test_where_both_hold_a_third_value_opens_the_decision(store, decided):
    depending(decided)
    (found,) = said(store, "The API listens on port 7070")
    assert (found.state, found.conditions) == (ContradictionState.REOPENED, CASES)


@pytest.mark.parametrize("text", ["The public API listens on port 9090", "The public API listens on port 8080"])
def test_where_both_hold_repeating_one_of_them_is_nothing_new(store, decided, text):
    depending(decided)
    assert said(store, text) == ()


def test_where_both_hold_what_names_a_case_is_nothing_new(store, decided):
    depending(decided)
    assert said(store, "On laptops the API listens on port 7070", denied={"older"}) == ()


def test_conditions_that_only_repeat_the_two_texts_name_no_case(store, decided):
    depending(decided, "port 8080 or port 9090")
    assert len(said(store, "The API listens on port 7070")) == 1


def test_a_decision_opened_twice_tells_only_of_the_last_time(decided):
    once = in_question(decided(), "first", at(0))
    assert in_question(once, "second", at(86_400)).detail == "Mondays or Fridays; in question since 2026-03-03: second"


def test_without_neighbours_there_is_nothing_to_open(store, decided):
    decided()
    assert reopened(store, a_memory("new", OLDER.text), [], at(1)) == ()
