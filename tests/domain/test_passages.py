"""Which part of a long memory a question is about."""

from hypothesis import given
from hypothesis import strategies as st

from retain.domain.passages import LONGEST, LOOKED_AT, passage

FILLING = "The meeting went on about budgets and nobody wrote anything down. " * 8


def test_a_short_memory_comes_whole():
    assert passage("which port", "Port 8080. And a second sentence.") == "Port 8080. And a second sentence."


def test_of_a_long_one_comes_the_sentence_with_the_words_of_the_question():
    text = f"{FILLING}The staging database listens on port 6432. {FILLING}"
    assert "port 6432" in passage("which port has the staging database", text)


def test_what_follows_that_sentence_comes_before_what_stands_before_it():
    text = f"{FILLING}Deploys go through the gateway. It restarts at noon. {FILLING}"
    found = passage("how do deploys go", text, longest=60)
    assert found == "Deploys go through the gateway. It restarts at noon."


def test_of_one_endless_sentence_comes_no_more_than_there_is_room_for():
    found = passage("words", "word " * 400)
    assert found.startswith("word word")
    assert len(found) <= LONGEST


def test_only_the_beginning_of_a_very_long_one_is_looked_at():
    before = FILLING * (LOOKED_AT // len(FILLING) + 1)
    assert "6432" not in passage("which port", f"{before}The port is 6432.")


def test_of_code_alone_comes_the_beginning():
    code = "```\n" + "x = compute(1)\n" * 100 + "```"
    assert passage("what computes x", code) == code[:LONGEST]


@given(st.text(max_size=60), st.text(max_size=1_500))
def test_it_is_a_part_of_the_memory_and_never_too_long(question, text):
    found = passage(question, text)
    assert found in text
    assert len(found) <= LONGEST
