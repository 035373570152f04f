"""What the final score makes of relevance, importance and age."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fakes import START
from retain.domain.memory import Kind, Scope
from retain.domain.session import Caller, Project
from retain.domain.time import recency
from retain.embedding.hashed import HashedEmbedder
from retain.engine.drafts import Draft
from retain.engine.parts import Parts
from retain.engine.recall.scoring import relevance, scored, weights
from retain.engine.remember import remember
from retain.ports import Context

NOW = datetime(2026, 1, 1, tzinfo=UTC)
KNOWN = Context("m", "text", "text", (), Kind.EPISODIC, Scope.PROJECT, 0.5, NOW, NOW, False, False)
NOTICED = 0.05  # of relevance, which no age makes up for

HERE = Caller(project=Project("shop", "shop", "/home/ada/shop", START), session="s1")

fits = st.floats(0, 1)
ages = st.timedeltas(timedelta(0), timedelta(days=5000))


@pytest.fixture
def parts(store, clock):
    return Parts(store, HashedEmbedder(), clock)


def ago(days):
    return START - timedelta(days=days)


def score(fit, age, context=KNOWN):
    return scored(replace(context, last_said=NOW - age), {"meaning": fit}, 1.0, NOW)


@given(fits, fits, ages, ages, st.sampled_from(Kind))
def test_age_alone_never_lifts_a_memory_over_one_that_answers_noticeably_better(better, worse, age, other, kind):
    first, second = (score(fit, a, replace(KNOWN, kind=kind)) for fit, a in ((better, age), (worse, other)))
    assume(first.relevance >= second.relevance + NOTICED)
    assert first.total >= second.total - 1e-12


@given(fits, ages, ages)
def test_of_two_that_answer_equally_well_the_newer_one_is_not_below(fit, one, other):
    younger, older = sorted((one, other))
    assert score(fit, younger).total >= score(fit, older).total


def test_half_a_year_costs_little_and_ten_years_hardly_more():
    half, ten = (recency(NOW - timedelta(days=days), NOW) for days in (180, 3650))
    assert 0.85 <= ten < half < 1 == recency(NOW, NOW) == recency(NOW + timedelta(days=1), NOW)


@given(fits, fits)
def test_relevance_keeps_the_order_of_what_it_is_made_from(one, other):
    less, more = sorted((one, other))
    assert 0 <= relevance(less) <= relevance(more) <= 1


def test_relevance_uses_its_whole_range():
    assert relevance(0) == 0 and relevance(1) == 1
    assert relevance(0.15) < 0.1 and relevance(0.6) > 0.8
    assert (relevance(-0.1), relevance(1.1)) == (0, 1)


def test_words_outweigh_meaning_in_a_script_that_the_model_has_not_learnt():
    english, chinese = weights("how long are backups kept?"), weights("备份保留多久？")
    assert english["meaning"] > english["words"] and chinese["words"] > chinese["meaning"]
    assert english["meaning"] + english["words"] == chinese["meaning"] + chinese["words"]
    assert weights("Wie lange heben wir Sicherungen auf?") == weights("see 备.txt for what it says") == english


def test_a_repetition_counts_from_when_it_was_said(parts):
    told = Draft("we deploy on Mondays", Kind.EPISODIC)
    first, again, earlier = (
        remember(parts, replace(told, event_time=ago(days)), HERE).memory for days in (300, 200, 250)
    )
    assert first.id == again.id == earlier.id and earlier.reinforced == 2
    assert again.last_said == earlier.last_said == ago(200)
    assert remember(parts, told, HERE).memory.last_said == START
