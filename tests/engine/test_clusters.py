"""Clusters: average link at a threshold, the same every time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from retain.domain.memory import Vector
from retain.engine.lifecycle.clusters import by_meaning, by_words, centre, closeness


def vectors_of(rows):
    unit = np.asarray(rows, dtype="<f4")
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    return [Vector(row.tobytes()) for row in unit]


def around(random, centres, each, spread=0.03):
    return vectors_of([c + random.normal(0, spread, len(c)) for c in centres for _ in range(each)])


def joined_one_best_pair_at_a_time(vectors, threshold):
    """Average link as its definition says, to compare with."""
    rows = np.array([np.frombuffer(v, dtype="<f4") for v in vectors])
    cosines = rows @ rows.T
    clusters = [[i] for i in range(len(vectors))]
    while len(clusters) > 1:
        pairs = [(a, b) for i, a in enumerate(clusters) for b in clusters[i + 1 :]]
        best = max(pairs, key=lambda pair: cosines[np.ix_(*pair)].mean())
        if cosines[np.ix_(*best)].mean() < threshold:
            break
        clusters = [c for c in clusters if c not in best] + [best[0] + best[1]]
    return sorted(sorted(c) for c in clusters if len(c) >= 3)


def test_vectors_around_one_direction_are_one_cluster():
    random = np.random.default_rng(1)
    assert by_meaning(around(random, np.eye(8)[:2], each=3)) == [[0, 1, 2], [3, 4, 5]]


def test_two_of_a_kind_are_no_cluster():
    assert by_meaning(vectors_of([[1, 0], [1, 0.01], [0, 1]])) == []


def test_nothing_gives_nothing():
    assert by_meaning([]) == []
    assert by_words([]) == []


def test_equal_vectors_are_one_cluster():
    assert by_meaning(vectors_of([[1, 2, 3]] * 5)) == [[0, 1, 2, 3, 4]]


def test_a_chain_of_neighbours_is_not_drawn_into_one_cluster():
    angles = np.radians(np.arange(0, 180, 30))
    found = by_meaning(vectors_of(np.c_[np.cos(angles), np.sin(angles)]))
    assert max(map(len, found), default=0) < 6


@given(st.integers(0, 10_000), st.sampled_from([0.5, 0.72, 0.9]))
def test_the_clusters_are_those_of_the_definition(seed, threshold):
    random = np.random.default_rng(seed)
    vectors = around(random, random.normal(0, 1, (4, 5)), each=4, spread=0.4)
    assert by_meaning(vectors, threshold) == joined_one_best_pair_at_a_time(vectors, threshold)


def test_only_the_first_two_thousand_are_looked_at():
    found = by_meaning(vectors_of([[1, 0]] * 2100))
    assert [len(cluster) for cluster in found] == [2000]


def test_texts_that_share_half_of_their_words_are_one_cluster():
    texts = [
        "the login test is flaky on CI",
        "flaky login test again on CI",
        "login test flaky on CI, retried",
        "moved the docs to mkdocs",
    ]
    assert by_words(texts) == [[0, 1, 2]]


def test_the_centre_is_nearest_to_what_lies_in_the_middle():
    vectors = vectors_of([[1, 0], [1, 0.5], [1, 1]])
    near = closeness(vectors)
    assert near.index(max(near)) == 1
    assert len(centre(vectors)) == 8
