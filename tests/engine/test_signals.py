"""What each signal of recall means, and that it keeps to its scale."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retain.domain.memory import Kind, Scope
from retain.domain.periods import Period
from retain.domain.words import query_terms, terms
from retain.engine.recall import signals
from retain.ports import Context, Corpus

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def said(id, text, *neighbours):
    beside = tuple((distance, f"n{distance}", " ".join(terms(words))) for distance, words in neighbours)
    return Context(id, text, " ".join(terms(text)), beside, Kind.EPISODIC, Scope.PROJECT, 0.5, NOW, NOW, False, False)


def words(question, *contexts, documents=100, holding=1):
    asked = query_terms(question)
    corpus = Corpus(documents, 6.0, dict.fromkeys(asked, holding))
    return signals.words(contexts, asked, corpus)


def test_more_of_the_question_is_worth_more():
    found = words("redis cache port", said("all", "the redis cache port"), said("one", "the redis host name"))
    assert 0 < found["one"] < found["all"] <= 1


def test_a_short_turn_borrows_the_words_around_it():
    alone, beside = said("alone", "yes, on Friday"), said("beside", "yes, on Friday", (-1, "shall we deploy redis?"))
    found = words("when do we deploy redis", alone, beside)
    assert found["alone"] == 0 < found["beside"]


def test_a_nearer_neighbour_lends_more():
    near, far = said("near", "yes", (1, "deploy redis")), said("far", "yes", (2, "deploy redis"))
    found = words("deploy redis", near, far)
    assert found["near"] > found["far"] > 0


def test_own_words_count_more_than_borrowed_ones():
    own, borrowed = said("own", "deploy redis", (1, "yes")), said("borrowed", "yes", (1, "deploy redis"))
    found = words("deploy redis", own, borrowed)
    assert found["own"] > found["borrowed"]


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=4), st.integers(0, 50))
def test_words_stay_between_nothing_and_one(question, texts, holding):
    found = words(question, *(said(str(n), text, (1, question)) for n, text in enumerate(texts)), holding=holding)
    assert all(0 <= value <= 1.0000001 for value in found.values())


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("Ada: we use tabs", "what does Ada prefer", 1.0),
        ("Ada: we use tabs", "what does Grace prefer", 0.0),
        ("we use tabs", "what does Ada prefer", 0.0),
        ("Ada Lovelace: tabs", "what does Ada Lovelace prefer", 1.0),
    ],
)
def test_the_subject_is_who_speaks(text, question, expected):
    assert signals.subject(text, frozenset(terms(question))) == expected


def test_a_phrase_is_adjacent_content_words():
    wanted = signals.pairs("where is the connection pool size set")
    assert signals.phrase(" ".join(terms("the connection pool size is 5")), wanted) > 0
    assert signals.phrase(" ".join(terms("a pool of size 5 for the connection")), wanted) == 0


def test_what_happened_when_the_question_says_is_nearer():
    then = [Period(NOW - timedelta(days=30), NOW - timedelta(days=20))]
    inside, long_before = (replace(said("m", "x"), happened=NOW - timedelta(days=n)) for n in (25, 400))
    inside, long_before = (replace(each, last_said=each.happened) for each in (inside, long_before))
    assert signals.time(inside, then) == 1 and signals.time(long_before, then) < 0.01
    assert signals.time(replace(long_before, last_said=inside.happened), then) == 1
    assert signals.time(inside, []) == 0


def test_a_text_that_only_asks_tells_nothing():
    assert signals.asking("Which port? And why?") == 1
    assert signals.asking("Port 5432. Is that right?") == pytest.approx(0.58, abs=0.1)
    assert signals.asking("Port 5432.") == 0


def test_a_long_question_tells_something():
    long = "Since we moved the shop to Postgres 16 in Frankfurt last month, what would be a sane size for its pool?"
    assert 0 < signals.asking(long) < 0.7 < signals.asking("What would be a sane size for the pool?")


def test_length_counts_from_where_a_text_speaks_of_more_than_one_thing():
    assert signals.length("") == signals.length("x" * 300) == 0
    assert signals.length("x" * 600) == pytest.approx(0.25)
    assert signals.length("x" * 4800) == signals.length("x" * 90_000) == 1
