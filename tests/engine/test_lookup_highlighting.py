"""Highlights: which words are marked, where a text is cut, and that nothing of it is changed."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retain.domain.words import query_terms, word_spans
from retain.engine.lookup.highlighting import LENGTH, highlight, meeting, windows

WORDS = ["token", "tokens", "validate", "cache", "webhookSecret", "src/auth/token.py", "the"]
WORDS += ["認証トークン", "naïve", "co\u00adoperate", "👍🏽"]
FILLER = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor "
texts = st.lists(st.sampled_from(WORDS) | st.text(max_size=40), max_size=120).map(" ".join)


def shown(text, question):
    return highlight(text, frozenset(query_terms(question)))


@pytest.mark.parametrize(
    ("text", "question", "marked"),
    [
        ("We are validating it.", "validation", "We are **validating** it."),
        ("Rotate the webhookSecret!", "secret", "Rotate the **webhookSecret**!"),
        ("See src/auth/token.py:12", "token", "See **src/auth/token.py**:12"),
        ("JWT token, twice: Token", "tokens", "JWT **token**, twice: **Token**"),
        ("The user's name", "user", "The **user's** name"),
        ("C++ and C", "c++", "**C++** and C"),
        ("トークンの認証に失敗した", "認証", "トークンの**認証**に失敗した"),
        ("JWTトークンの検証", "jwt 検証", "**JWT**トークンの**検証**"),
        ("アクセストークンを", "トークン", "アクセス**トークン**を"),
        ("인증을 확인", "인증", "**인증**을 확인"),
        ("co\u00adoperate or not", "cooperate", "**co\u00adoperate** or not"),
        ("a naïve cache", "naive", "a **naïve** cache"),
        ("shipped 👍🏽 today", "👍", "shipped **👍🏽** today"),
        ("ﾄｰｸﾝ here", "トークン", "**ﾄｰｸﾝ** here"),
    ],
)
def test_each_word_that_meets_the_question_is_marked_as_it_is_written(text, question, marked):
    assert shown(text, question) == marked


def test_a_word_that_its_writer_emphasised_is_not_marked_twice():
    assert shown("the **token** and a token", "token") == "the **token** and a **token**"


@pytest.mark.parametrize("text", ["def f(**token)", "**", "2**token**3 ** *token*", "**token", "token**"])
def test_stars_in_a_text_change_nothing_but_stars(text):
    assert shown(text, "token").replace("*", "") == text.replace("*", "")


def test_without_a_match_the_opening_is_shown_unmarked():
    found = shown(FILLER * 20, "kubernetes")
    assert "**" not in found
    assert found.endswith("…")
    assert (FILLER * 20).startswith(found.removesuffix("…"))


def test_a_short_text_is_shown_whole():
    assert shown("one short line", "kubernetes") == "one short line"


def test_a_long_text_is_cut_between_words_around_what_was_asked_for():
    found = shown(FILLER * 30 + "the Redis port " + FILLER * 30, "redis port")
    inner = found.removeprefix("…").removesuffix("…")
    assert (found[0], found[-1]) == ("…", "…")
    assert "the **Redis** **port** " in inner
    assert set(inner.replace("**", "").split()) <= set((FILLER + "the Redis port").split())


def test_words_far_apart_are_shown_in_two_pieces():
    found = shown("Redis first. " + FILLER * 30 + "And the port.", "redis port")
    assert found.startswith("**Redis** first.")
    assert " … " in found
    assert found.endswith("And the **port**.")


def test_many_different_words_win_over_one_that_repeats():
    text = "cache " * 60 + FILLER * 8 + "the cache evicts by age " + FILLER * 30
    assert "**evicts** by **age**" in shown(text, "cache evicts age")


def test_a_word_without_end_is_cut():
    found = shown("token-" * 5000 + "end", "token")
    assert len(found) < LENGTH + 10
    assert "**" in found


@given(texts, st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join))
def test_without_its_marks_a_highlight_is_pieces_of_the_text(text, question):
    plain = text.replace("*", "").replace("…", "")
    found = shown(plain, question)
    pieces = found.replace("**", "").split(" … ")
    assert len(pieces) <= 2
    for piece in pieces:
        assert piece.removeprefix("…").removesuffix("…") in plain
    assert len(found.replace("**", "")) <= LENGTH + 10


@given(texts, st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join))
def test_what_is_marked_meets_the_question_and_what_meets_it_is_shown(text, question):
    plain, wanted = text.replace("*", "").replace("…", ""), frozenset(query_terms(question))
    spots = meeting(plain, wanted)
    marked = re.findall(r"\*\*(.+?)\*\*", shown(plain, question), re.DOTALL)
    assert bool(marked) == bool(spots)
    if len(plain) <= LENGTH:
        assert marked == [plain[spot.start : spot.end] for spot in spots]


@given(texts)
def test_windows_lie_apart_and_within_the_text(text):
    found = windows(text, meeting(text, frozenset(query_terms("token cache validation"))))
    ends = [end for window in found for end in (window.start, window.end)]
    assert ends == sorted(ends)
    assert ends[0] >= 0
    assert ends[-1] <= len(text)


@given(st.text() | texts)
def test_the_words_of_a_text_stand_where_they_are_said_to(text):
    for start, end, held in word_spans(text):
        assert 0 <= start < end <= len(text)
        assert frozenset(held) <= frozenset(query_terms(text[start:end]))
