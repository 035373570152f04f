"""Two scales become one: by how far each score lies from the mean of its kind."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retain.engine.recall.merge import merge

GROUPS = st.lists(st.lists(st.floats(-1e6, 1e6), max_size=8), max_size=3)


def test_scores_are_standardised_within_their_group():
    merged = merge([("m1", 0.9), ("m2", 0.5), ("m3", 0.1)], [("c1", 300.0), ("c2", 100.0)])
    deviation = 0.4 / (2 / 3 * 0.16) ** 0.5
    assert [item for item, _ in merged] == ["m1", "c1", "m2", "c2", "m3"]
    assert [score for _, score in merged] == pytest.approx([deviation, 1.0, 0.0, -1.0, -deviation])


def test_a_group_of_one_or_of_equals_scores_nothing_and_keeps_its_order():
    assert merge([("a", 0.7)], [("b", 3.0), ("c", 3.0)]) == [("a", 0.0), ("b", 0.0), ("c", 0.0)]
    assert merge([("a", 1.0), ("b", 1.0 + 1e-6)]) == [("a", 0.0), ("b", 0.0)]
    assert merge([], []) == merge() == []


def test_a_spread_just_large_enough_counts():
    assert merge([("a", 1.0), ("b", 1.0 + 3e-6)]) == [("b", pytest.approx(1.0)), ("a", pytest.approx(-1.0))]


@given(GROUPS)
def test_nothing_is_lost_and_the_order_within_a_group_is_kept(scores):
    groups = [[((g, n), score) for n, score in enumerate(group)] for g, group in enumerate(scores)]
    merged = merge(*groups)
    assert sorted(item for item, _ in merged) == sorted(item for group in groups for item, _ in group)
    assert [score for _, score in merged] == sorted((score for _, score in merged), reverse=True)
    for g, group in enumerate(groups):
        kept = [dict(group)[item] for item, _ in merged if item[0] == g]
        assert all(a >= b - 1e-5 for a, b in pairwise(kept))
