"""Cutting what somebody said into sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retain.domain.sentences import LONGEST, sentences


def cut(text):
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("we use tabs. never spaces!", ["we use tabs.", "never spaces!"]),
        ("we use tabs\nnever spaces", ["we use tabs", "never spaces"]),
        ("we use tabs; never spaces", ["we use tabs", "never spaces"]),
        ("is it slow? yes… very", ["is it slow?", "yes…", "very"]),
        ("我们用蓝色。不要红色！好", ["我们用蓝色。", "不要红色！", "好"]),
    ],
)
def test_a_sentence_ends_where_one_stops_to_breathe(text, said):
    assert cut(text) == said


@pytest.mark.parametrize(
    "text",
    [
        "use a queue, e.g. Redis, for mails",
        "tabs vs. spaces is settled",
        "port 8080.5 is v1.2.3 of src/app.py",
        "nimm z.B. Postgres dafür",
        "see config.yaml for it",
    ],
)
def test_a_point_inside_a_sentence_ends_none(text):
    assert cut(text) == [text]


@pytest.mark.parametrize("text", ["", "   \n\n ", "...", "```\ncode\n```", "~~~\ncode", "- \n* \n", "?! …", "👍"])
def test_where_nothing_is_said_there_is_no_sentence(text):
    assert cut(text) == []


def test_fenced_code_is_no_sentence():
    assert cut("look:\n```py\nprint('hi. there')\n```\nwe use tabs. ```never``` spaces") == [
        "look:",
        "we use tabs.",
        "spaces",
    ]


def test_a_fence_that_is_not_closed_ends_with_the_text():
    assert cut("we use tabs\n```\nnever spaces") == ["we use tabs"]


@pytest.mark.parametrize("marks", [("- ", "- "), ("* ", "• "), ("1. ", "2. "), ("1) ", "2) "), ("(a) ", "(b) ")])
def test_the_marks_of_a_list_belong_to_no_sentence(marks):
    first, second = marks
    assert cut(f"the rules:\n{first}tabs are used\n  {second}spaces are not") == [
        "the rules:",
        "tabs are used",
        "spaces are not",
    ]


@pytest.mark.parametrize("text", ["b) with tests", "(a) then", "3) the last"])
def test_what_could_be_the_mark_of_a_list_is_an_answer_where_there_is_no_list(text):
    assert cut(text) == [text]


def test_a_number_at_the_end_of_a_sentence_is_no_mark():
    assert cut("we are on node 22.\nnot on node 18. really") == ["we are on node 22.", "not on node 18.", "really"]


def test_what_runs_on_is_cut_at_a_pause_near_its_middle():
    text = "we keep sessions in redis because they expire there, " * 6
    pieces = cut(text)
    assert all(len(piece) <= LONGEST for piece in pieces)
    assert len(pieces) > 1
    assert all(len(piece) > 20 for piece in pieces)


def test_what_runs_on_without_a_pause_stays_whole():
    assert cut("x" * 1000) == ["x" * 1000]


@given(st.text(alphabet=st.sampled_from("ab1. \n-*`~;:,!?)(。，、é\u0301\ud83d")))
def test_sentences_are_in_order_lie_apart_and_say_something(text):
    end = 0
    for start, stop in sentences(text):
        assert end <= start < stop <= len(text)
        assert text[start:stop].strip() == text[start:stop]
        assert any(map(str.isalnum, text[start:stop]))
        end = stop


def test_a_long_text_is_cut_in_no_time():
    assert len(sentences("we use tabs and never spaces, " * 5_000)) > 100
    assert len(sentences("1. a b\n```\n```\n" * 2_000)) == 2_000
