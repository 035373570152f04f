"""PageRank: what it promises for every graph, and agreement with the plain matrix."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retain.engine.knowledge.pagerank import pagerank, tempered

WEIGHT = st.floats(0.0, 1.0)


@st.composite
def graphs(draw):
    """(nodes, sources, targets, weights, seeds) with loops, parallel edges, dead ends and weights of nothing."""
    nodes = draw(st.integers(1, 12))
    node = st.integers(0, nodes - 1)
    edges = draw(st.lists(st.tuples(node, node, WEIGHT), max_size=40))
    seeds = draw(st.dictionaries(node, st.floats(0.01, 5.0), min_size=1, max_size=4))
    columns = [list(column) for column in zip(*edges, strict=True)] or [[], [], []]
    return nodes, *columns, seeds


def by_matrix(nodes, sources, targets, weights, seeds, damping=0.5, iterations=15):
    """The same walk as a dense matrix, written down from the definition."""
    start = np.zeros(nodes)
    for seed, share in seeds.items():
        start[seed] = share / sum(seeds.values())
    step = np.zeros((nodes, nodes))
    for source, target, weight in zip(sources, targets, weights, strict=True):
        step[target, source] += weight
    for column in range(nodes):
        total = step[:, column].sum()
        step[:, column] = step[:, column] / total if total > 0 else start
    scores = start
    for _ in range(iterations):
        moved = (1 - damping) * start + damping * step @ scores
        change, scores = np.abs(moved - scores).sum(), moved
        if change < 1e-6:
            break
    return scores


@given(graphs())
def test_shares_are_never_negative_and_sum_to_one(graph):
    scores = pagerank(*graph)
    assert len(scores) == graph[0]
    assert (scores >= 0).all()
    assert scores.sum() == pytest.approx(1.0)


@given(graphs(), st.sampled_from([(0.5, 15), (0.85, 50), (0.3, 1)]))
def test_it_agrees_with_the_plain_matrix(graph, settings):
    damping, iterations = settings
    scores = pagerank(*graph, damping=damping, iterations=iterations)
    assert scores == pytest.approx(by_matrix(*graph, damping, iterations), abs=1e-9)


@given(st.integers(1, 9), st.data())
def test_without_edges_all_stays_with_the_seeds(nodes, data):
    seeds = data.draw(st.dictionaries(st.integers(0, nodes - 1), st.floats(0.01, 5.0), min_size=1))
    scores = pagerank(nodes, [], [], [], seeds)
    expected = [seeds.get(node, 0.0) / sum(seeds.values()) for node in range(nodes)]
    assert scores == pytest.approx(expected)


@given(graphs(), graphs())
def test_a_part_that_no_seed_reaches_gets_nothing(here, there):
    nodes, *columns, seeds = here
    shifted = [[end + nodes for end in ends] for ends in there[1:3]]
    joined = [mine + theirs for mine, theirs in zip(columns, [*shifted, there[3]], strict=True)]
    scores = pagerank(nodes + there[0], *joined, seeds)
    assert scores[:nodes] == pytest.approx(pagerank(*here), abs=1e-9)
    assert (scores[nodes:] == 0).all()


@given(st.integers(2, 10), WEIGHT.filter(lambda weight: weight > 0))
def test_nodes_that_stand_alike_share_alike(size, weight):
    """On a ring that is walked both ways, nodes at the same distance from the seed are alike."""
    ring = list(range(size))
    after = [*ring[1:], 0]
    scores = pagerank(size, ring + after, after + ring, [weight] * 2 * size, {0: 1.0})
    assert scores[1:] == pytest.approx(scores[:0:-1])
    assert pagerank(size, ring + after, after + ring, [weight] * 2 * size, dict.fromkeys(ring, 2.0)) == pytest.approx(
        [1 / size] * size
    )


def test_a_heavier_edge_is_walked_more_often():
    scores = pagerank(3, [0, 0], [1, 2], [0.9, 0.3], {0: 1.0})
    assert scores[1] == pytest.approx(3 * scores[2])


def test_nearer_is_more():
    chain = pagerank(4, [0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2], [1.0] * 6, {0: 1.0})
    assert chain[0] > chain[1] > chain[2] > chain[3] > 0


def test_without_seeds_every_node_is_one():
    graph = 3, [0, 1, 1], [1, 0, 2], [1.0, 1.0, 1.0]
    assert list(pagerank(*graph, {})) == list(pagerank(*graph, {0: 2.0, 1: 2.0, 2: 2.0}))
    assert len(pagerank(0, [], [], [], {})) == 0


def test_the_degree_is_the_number_of_edges_whatever_they_weigh_and_at_least_one():
    scores = tempered(np.array([1.0, 1.0, 1.0]), [0, 0, 0, 0, 1])
    assert list(scores) == [0.5, 1.0, 1.0]
