"""Trust: within bounds, never less for more evidence, never more for less, and fading with time."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes import START
from retain.domain.memory import Kind, Provenance
from retain.domain.trust import MOST_GENERATED, Evidence, confidence, sleeps

DAYS = st.floats(0, 4000).map(lambda days: timedelta(days=days))
COUNTS = st.integers(0, 1000)


@st.composite
def evidence(draw, **fixed):
    drawn = {
        "provenance": draw(st.sampled_from(Provenance)),
        "kind": draw(st.sampled_from(Kind)),
        "said": START - draw(DAYS),
        "salience": draw(st.floats(0, 1)),
        "supporting": draw(COUNTS),
        "contradicting": draw(COUNTS),
        "crowding": draw(COUNTS),
        "reinforced": draw(COUNTS),
        "reinforced_at": START - draw(DAYS),
    }
    return Evidence(**{**drawn, **fixed})


def total(known, now=START):
    return confidence(known, now).total


def episode(**fields):
    return Evidence(**{"provenance": Provenance.TOLD_BY_USER, "kind": Kind.EPISODIC, "said": START, **fields})


@given(evidence())
def test_confidence_and_its_parts_stay_within_bounds(known):
    found = confidence(known, START)
    parts = (found.reliability, found.agreement, found.recency, found.reinforcement, found.interference, found.total)
    assert all(0 <= part <= 1 for part in parts)
    assert 0.5 <= found.salience <= 1.5


@given(evidence(), DAYS)
def test_trust_never_grows_by_waiting(known, later):
    assert total(known, START + later) <= total(known)


@given(evidence(), st.integers(1, 50))
def test_what_speaks_for_a_memory_never_lowers_it(known, more):
    assert total(replace(known, supporting=known.supporting + more)) >= total(known)
    assert total(replace(known, reinforced=known.reinforced + more)) >= total(known)


@given(evidence(), st.integers(1, 50))
def test_what_speaks_against_a_memory_never_raises_it(known, more):
    against = replace(known, contradicting=known.contradicting + more)
    crowded = replace(known, crowding=known.crowding + more)
    # Where nothing is known either way all is agreement, so a first voice for it changes nothing.
    assert total(against) <= total(known) and total(crowded) <= total(known)


@given(evidence(), st.floats(0, 1))
def test_what_matters_more_is_trusted_more(known, salience):
    low, high = sorted((known.salience, salience))
    assert total(replace(known, salience=low)) <= total(replace(known, salience=high))


@given(evidence(provenance=Provenance.MODEL_GENERATED))
def test_what_a_model_made_up_is_never_trusted_beyond_its_cap(known):
    assert total(known) <= MOST_GENERATED


@given(evidence())
def test_a_more_reliable_word_never_counts_less(known):
    ranked = [total(replace(known, provenance=word)) for word in Provenance]
    assert ranked == sorted(ranked, reverse=True)


def test_the_numbers_of_the_contract():
    found = confidence(episode(said=START - timedelta(days=7), crowding=5), START)
    assert found.total == pytest.approx((0.30 * 0.90 + 0.35 * 1 + 0.20 * 0.5 + 0) / 1.5 * 1.0)
    twice = episode(reinforced=2, reinforced_at=START - timedelta(days=14), supporting=3, contradicting=1)
    assert confidence(twice, START).reinforcement == pytest.approx(0.3 * 1.0986122887 * 0.5)
    assert confidence(twice, START).agreement == 0.75


@pytest.mark.parametrize(
    ("word", "share"),
    [
        (Provenance.DIRECT_OBSERVATION, 0.95),
        (Provenance.TOLD_BY_USER, 0.90),
        (Provenance.TOOL_RESULT, 0.85),
        (Provenance.INFERENCE, 0.60),
        (Provenance.MODEL_GENERATED, 0.40),
    ],
)
def test_each_word_is_as_reliable_as_the_contract_has_it(word, share):
    assert confidence(episode(provenance=word), START).reliability == share


LONG_AGO = START - timedelta(days=40_000)


@pytest.mark.parametrize(
    ("more", "less", "weight"),
    [
        ({"provenance": Provenance.DIRECT_OBSERVATION}, {"provenance": Provenance.INFERENCE}, 0.30 * (0.95 - 0.60)),
        ({"supporting": 1}, {"contradicting": 1}, 0.35),
        ({"said": START}, {"said": LONG_AGO}, 0.20),
        ({"reinforced": 1000, "reinforced_at": START}, {"reinforced": 0}, 0.15),
    ],
)
def test_each_part_has_the_weight_of_the_contract(more, less, weight):
    assert total(episode(**more)) - total(episode(**less)) == pytest.approx(weight)


def test_what_a_model_made_up_reaches_its_cap_and_no_more():
    best = {"salience": 1.0, "reinforced": 1000, "reinforced_at": START}
    assert total(episode(provenance=Provenance.MODEL_GENERATED, **best)) == 0.6
    assert total(episode(provenance=Provenance.INFERENCE, **best)) == 1.0


@pytest.mark.parametrize(("times", "days", "share"), [(1, 0, 0.2079), (1, 14, 0.1040), (9, 0, 0.6908), (9, 28, 0.1727)])
def test_repetition_counts_by_its_logarithm_and_halves_in_14_days(times, days, share):
    repeated = episode(reinforced=times, reinforced_at=START - timedelta(days=days))
    assert confidence(repeated, START).reinforcement == pytest.approx(share, abs=0.0001)


@pytest.mark.parametrize(("newer", "factor"), [(0, 1.0), (1, 1 / 1.1), (10, 0.5)])
def test_each_newer_memory_about_the_same_takes_a_tenth(newer, factor):
    assert confidence(episode(crowding=newer), START).interference == pytest.approx(factor)


@pytest.mark.parametrize(("salience", "factor"), [(-1.0, 0.5), (0.0, 0.5), (0.5, 1.0), (1.0, 1.5), (2.0, 1.5)])
def test_what_matters_counts_from_half_to_one_and_a_half(salience, factor):
    assert confidence(episode(salience=salience), START).salience == factor


@pytest.mark.parametrize(
    ("kind", "days", "share"), [(Kind.EPISODIC, 14, 0.25), (Kind.SEMANTIC, 30, 0.5), (Kind.PROCEDURAL, 180, 0.25)]
)
def test_each_kind_fades_with_its_own_half_life(kind, days, share):
    assert confidence(episode(kind=kind, said=START - timedelta(days=days)), START).recency == pytest.approx(share)


def test_a_memory_sleeps_by_how_present_it_is_and_not_by_trust():
    old = episode(said=START - timedelta(days=60))
    assert confidence(old, START).total > 0.5 and sleeps(confidence(old, START))
    assert not sleeps(confidence(replace(old, said=START - timedelta(days=20)), START))
    assert not sleeps(confidence(replace(old, reinforced=3, reinforced_at=START), START))


def test_what_matters_much_never_sleeps():
    old = episode(said=START - timedelta(days=4000), salience=0.7)
    assert not sleeps(confidence(old, START))
    assert sleeps(confidence(replace(old, salience=0.69), START))


def test_a_moment_that_lies_ahead_counts_as_now():
    assert confidence(episode(said=START + timedelta(days=3)), START).recency == 1.0
