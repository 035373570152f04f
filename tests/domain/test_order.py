"""Order: of two that cannot both be true, which one leads."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retain.domain.order import Order, Pair, Side, disputing, follow
from retain.domain.reliability import RELIABILITY, reliability

SCORES = {"a": 0.9, "x": 0.8, "b": 0.3}


def said(id, when, word=None):
    return Side(id, when, word)


def changes(*names):
    """Each contradicts the one before it."""
    sides = [said(name, when) for when, name in enumerate(names)]
    return [disputing(one, other) for one, other in pairwise(sides)]


def ranked(placed):
    return sorted(placed, key=lambda id: -placed[id])


def test_what_was_said_last_leads_and_of_one_moment_what_was_recorded_as_newer():
    for older, newer in ((0, 1), (1, 1)):
        assert disputing(said("a", older), said("b", newer)).leading.id == "b"
    assert disputing(said("a", 2), said("b", 1)).leading.id == "a", "it was said again since"


@pytest.mark.parametrize(
    ("first", "last", "leads"),
    [(0.90, 0.40, "a"), (0.95, 0.85, "b"), (0.40, 0.90, "b"), (None, 0.40, "b"), (0.90, None, "b")],
)
def test_a_much_weaker_word_leads_nothing_where_both_are_known(first, last, leads):
    assert disputing(said("a", 0, first), said("b", 1, last)).leading.id == leads


def test_a_word_is_known_by_how_it_was_given_else_by_who_was_heard():
    assert reliability("model-generated", "user") == RELIABILITY["model-generated"]
    assert reliability(None, "tool") == RELIABILITY["tool-result"]
    assert reliability(None, None) is None


def test_what_leads_is_lifted_above_what_it_leads_and_nothing_else_moves():
    placed = Order(changes("a", "b")).placed(SCORES)
    assert ranked(placed) == ["b", "a", "x"]
    assert placed["b"] == SCORES["a"] and placed["x"] == SCORES["x"] and placed["a"] > 0.99 * SCORES["a"]


def test_what_leads_anyway_stays_as_it_is():
    assert Order(changes("b", "a")).placed(SCORES) == {"a": 0.9, "x": 0.8, "b": 0.3}


def test_what_was_not_found_comes_along_only_if_it_may():
    order = Order(changes("a", "c"))
    assert order.placed(SCORES, {"c"})["c"] == SCORES["a"]
    assert order.placed(SCORES) == SCORES


@pytest.mark.parametrize("found", [("a", "b", "c"), ("a", "c"), ("c", "a")])
def test_a_chain_of_changes_stands_newest_first_whatever_is_missing_in_it(found):
    order = Order(changes("a", "b", "c"))
    assert (order.newest("a"), order.newest("c"), order.before("c")) == ("c", "c", "b")
    scores = {id: 1 - place / 10 for place, id in enumerate(found)}
    assert ranked(order.placed(scores)) == sorted(found, reverse=True)


def test_a_memory_with_several_newer_ones_gives_way_to_the_last_of_them():
    a, b, c = said("a", 0), said("b", 1), said("c", 2)
    order = Order([disputing(a, c), disputing(a, b)])
    assert (order.newest("a"), order.before("b"), order.above("a")) == ("c", "a", {"b", "c"})


def test_a_circle_is_opened_at_its_oldest_pair():
    one, two, three = (said(name, 0) for name in "abc")
    order = Order([Pair(one, two), Pair(two, three), Pair(three, one)])
    assert len({order.newest(id) for id in "abc"}) == 1
    assert len(order.placed(dict.fromkeys("abc", 0.5))) == 3


def test_following_asks_once_about_each_and_ends():
    pairs, asked = changes(*"abcdefghij"), []

    def look(ids):
        asked.extend(ids)
        return [pair for pair in pairs if {pair.below.id, pair.leading.id} & set(ids)]

    assert follow(["a"], look).newest("a") > "a"
    assert len(asked) == len(set(asked)) <= 5


@given(
    st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), max_size=12),
    st.dictionaries(st.sampled_from("abcdef"), st.floats(0.01, 1), min_size=1),
)
def test_whatever_the_pairs_nothing_is_lost_and_no_leader_stands_below(pairs, scores):
    order = Order(Pair(said(one, ord(one) % 3), said(other, ord(other) % 3)) for one, other in pairs if one != other)
    placed = order.placed(scores)
    assert placed.keys() == scores.keys() and max(placed.values()) == max(scores.values())
    assert all(placed[up] > placed[id] for id in scores for up in order.above(id) & scores.keys())
    assert all(id not in order.above(id) for id in "abcdef")
