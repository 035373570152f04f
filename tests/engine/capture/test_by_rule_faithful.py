"""A statement says what the user said: its words and numbers are theirs, in their order."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture_set import written
from retain.domain.conversation import Conversation, Said, Speaker
from retain.engine.capture.by_rule import extract

# The words with which a wish or a choice is put; all others must be the user's.
PUT_WORDS = "always do not avoid we use go with instead of switch switched from to decided next open i asked"
PUT = frozenset(PUT_WORDS.split())


def words(text):
    return re.findall(r"[\w']+", text.lower())


def is_faithful(item, prompts):
    told = [word for word in words(item.text) if word not in PUT]
    if item.replaces is not None:
        return set(told) <= {word for prompt in prompts for word in words(prompt)}
    return any(is_in_order(told, words(prompt)) for prompt in prompts)


def is_in_order(told, said):
    left = iter(said)
    return all(word in left for word in told)


def by_the_user(prompts):
    turns = tuple(Said(Speaker.USER, prompt) for prompt in prompts)
    return [item for item in extract(Conversation("monday", turns)) if item.speaker is Speaker.USER]


@pytest.mark.parametrize("half", ["tuned", "held", "fresh", "second"])
def test_every_statement_is_in_the_words_of_a_prompt(half):
    for transcript in written(f"capture/{half}"):
        prompts = [turn.text for turn in transcript.conversation.turns if isinstance(turn, Said)]
        found = [item for item in extract(transcript.conversation) if item.speaker is Speaker.USER]
        assert [item.text for item in found if not is_faithful(item, prompts)] == []


@pytest.mark.parametrize(
    ("prompt", "statement"),
    [
        ("remember that the pool has 5 - 10 connections", "The pool has 5 - 10 connections."),
        ("remember that real(8) is forbidden", "Real(8) is forbidden."),
        ("remember that the limit is 2 * 3. and 4) is reserved", "The limit is 2 * 3."),
        ("careful: the job needs 8) as its last line * always", "The job needs 8) as its last line * always."),
    ],
)
def test_marks_in_the_middle_of_a_sentence_stay(prompt, statement):
    assert by_the_user([prompt])[0].text.lower() == statement.lower()


def test_a_list_in_one_line_is_taken_item_by_item():
    found = by_the_user(["few things: 1) never push to main 2) we use tabs 3) can you rename Foo to Bar"])
    assert [item.text for item in found] == ["Never push to main.", "We use tabs."]


STARTS = (
    "remember that |always use |we use |never push |from now on use |the api needs |careful: the |we decided to use |"
)
MIDDLES = (
    "5 - 10 connections|2 * 512 rows|port 8080, not 8000|real(8)|v1.2.3|a/b - c|x=1; y=2|3. and 4) too|`a b`|redis"
)
ENDS = " because 8) is taken| in this repo|, it is 3 * faster|, otherwise 1) breaks| for all - really|"


@given(st.tuples(*(st.sampled_from(part.split("|")) for part in (STARTS, MIDDLES, ENDS))).map("".join))
def test_no_statement_changes_a_number_or_a_word(prompt):
    assert [item.text for item in by_the_user([prompt]) if not is_faithful(item, [prompt])] == []


@pytest.mark.parametrize(
    ("prompt", "replaced"),
    [
        ("no, the queue is called orders-v2, not orders", "the queue is called orders"),
        ("the api runs on port 4000, not 3000", "the api runs on port 3000"),
        ("we use pnpm here, not npm", "we use npm"),
        ("no no, we use dapper here", None),
    ],
)
def test_what_is_replaced_is_what_was_denied(prompt, replaced):
    [item] = by_the_user([prompt])
    assert item.replaces == replaced
