"""A month in short of the simulated year: told, slept on and asked, with the real model; see benchmarks/year.py."""

from itertools import pairwise

import pytest

from comparing import PATIENT
from fakes import START, EagerJudge
from retain.domain.memory import State
from retain.domain.recall import Filter
from retain.embedding.onnx import OnnxEmbedder
from retain.engine.engine import Engine
from retain.engine.parts import Parts, places
from retain.stores.sqlite.store import MEMORY, SqliteStore
from year_life import HERE, Life, Moving
from year_plan import DAY, Truth, a_year, subjects


@pytest.fixture(scope="module")
def month():
    return a_year(seed=3, episodes=240, questions=150, days=35, chosen=subjects()[:24])


@pytest.fixture(scope="module")
def life(month):
    model = OnnxEmbedder()
    model.warm()
    assert model.wait(60)
    clock = Moving()
    engine = Engine(Parts(SqliteStore(MEMORY), model, clock, judge=EagerJudge()), patience=PATIENT)
    lived = Life(engine, clock, month)
    lived.live()
    yield lived
    engine.settle(10)
    engine.close()


def answered(life, outcome, by="outcome"):
    """How many questions about what has changed were answered so."""
    return sum(getattr(one, by) == outcome for one in life.answers if one.changes)


def test_what_holds_ranks_above_what_held_more_often_than_by_similarity(life):
    assert answered(life, "current") > answered(life, "current", by="by_similarity")
    assert answered(life, "outdated") < answered(life, "outdated", by="by_similarity")


def test_most_answers_about_what_has_changed_say_what_holds(life):
    right, wrong = answered(life, "current"), answered(life, "outdated")
    assert right + wrong > 50
    assert right / (right + wrong) >= 0.55


def test_what_never_changed_is_never_answered_with_anything_else(life):
    assert not [one for one in life.answers if not one.changes and one.outcome == "outdated"]


def test_outdated_statements_are_trusted_less_than_current_ones(life):
    def middle(is_current):
        found = sorted(one.confidence for one in life.looked if one.is_current is is_current)
        return found[len(found) // 2]

    assert middle(is_current=False) < middle(is_current=True) - 0.1


def test_changes_are_found_and_decided_without_destroying_anything(life):
    kept = Filter(places(HERE), states=tuple(State))
    superseded = Filter(places(HERE), states=(State.SUPERSEDED,))
    assert life.counts["contradictions found"] > 10
    assert life.engine.parts.store.total(superseded) > 0
    assert life.engine.parts.store.total(kept) >= life.counts["stored"]


def test_nothing_that_says_another_thing_is_taken_for_a_repetition(life):
    assert life.swallowed == []


def test_the_same_seed_makes_the_same_year(month):
    again = a_year(seed=3, episodes=240, questions=150, days=35, chosen=subjects()[:24])
    other = a_year(seed=4, episodes=240, questions=150, days=35, chosen=subjects()[:24])
    assert again == month
    assert other != month


def test_every_change_is_spoken_of_at_that_moment(month):
    told = {(one.at, one.claim) for one in month.said}
    for slot, truth in month.truths.items():
        assert {(at, (slot, value)) for at, value in zip(truth.since, truth.values, strict=True)} <= told
        assert all(before != after for before, after in pairwise(truth.values))


def test_a_truth_says_what_held_when():
    truth = Truth((START, START + DAY), ("8080", "9090"))
    assert (truth.changes(START - DAY), truth.value(START), truth.value(START + 2 * DAY)) == (-1, "8080", "9090")
    assert truth.ended("8080", START + 2 * DAY) == START + DAY
    assert truth.ended("9090", START + 2 * DAY) is None
