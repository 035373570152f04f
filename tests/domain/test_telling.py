"""Which words of a prompt tell what it is about, and how much of it a text says."""

import pytest

from retain.domain.choosing import BESIDE, FLOOR, LONGEST, above_floor, excerpt, says_the_same
from retain.domain.telling import ENOUGH, rarity, says_something, shared, telling


@pytest.mark.parametrize(
    "prompt", ["thanks", "Yes, do it!", "fix the typo", "/compact now", "", "please try again", "42"]
)
def test_small_talk_says_nothing(prompt):
    assert not says_something(prompt)


@pytest.mark.parametrize("prompt", ["fix the webhook", "où est le serveur", "数据库在哪里", "why does parse_date fail"])
def test_a_prompt_with_a_subject_says_something(prompt):
    assert says_something(prompt)


def test_the_parts_of_an_identifier_count_as_one_word():
    assert len(telling("getUserName")) == 1


def test_a_term_is_rarer_the_fewer_texts_hold_it():
    found = rarity(1000, {"none": 0, "one": 1, "many": 400, "all": 1000})
    assert found["none"] == pytest.approx(1)
    assert found["none"] > found["one"] > found["many"] > found["all"] >= 0


def test_a_text_that_says_all_of_a_prompt_shares_more_than_one_that_says_some():
    asked = telling("rotate the stripe webhook secret")
    rare = rarity(1000, {term: 1 for _, terms in asked for term in terms})
    every = {term for _, terms in asked for term in terms}
    some = {asked[-1][1][0]}
    assert shared(asked, rare, every) == 1 > shared(asked, rare, some) > shared(asked, rare, set()) == 0


def test_a_long_prompt_need_not_be_covered_whole():
    words = [f"word{'abcdefghijklmnopqrst'[n]}" for n in range(20)]
    asked = telling(" ".join(words))
    rare = {term: 1.0 for _, terms in asked for term in terms}
    assert shared(asked, rare, {terms[0] for _, terms in asked[: int(ENOUGH) + 1]}) == 1


def test_a_long_text_that_holds_a_word_shares_less_than_a_short_one():
    asked = telling("stripe webhook")
    rare = {term: 1.0 for _, terms in asked for term in terms}
    short = {term for _, terms in asked for term in terms}
    assert shared(asked, rare, short | {str(n) for n in range(500)}) < shared(asked, rare, short)


def test_what_is_below_the_floor_or_far_below_the_best_is_left_out():
    assert above_floor({"a": FLOOR, "b": FLOOR - 0.01}) == ["a"]
    assert above_floor({"a": 0.9, "b": 0.9 * BESIDE, "c": 0.9 * BESIDE - 0.01}) == ["a", "b"]
    assert above_floor({}) == []


def test_texts_that_differ_in_a_number_do_not_say_the_same():
    assert says_the_same({"redi", "listen", "port"}, {"redi", "listen", "port", "now"})
    assert not says_the_same({"redi", "listen", "port", "6379"}, {"redi", "listen", "port", "6380"})


def test_of_a_long_prompt_the_beginning_and_the_end_are_looked_at():
    cut = excerpt("first " + "x" * 10 * LONGEST + " last")
    assert cut.startswith("first")
    assert cut.endswith("last")
    assert len(cut) <= LONGEST + 1
