"""Personalised PageRank: how much of a walker's time each node gets that keeps returning to where it began."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]
    Numbers = Sequence[float] | Array

# As the graph contract has them. A step moves half of what is left, so fifteen leave 0.003 % in the wrong place.
DAMPING = 0.5
TOLERANCE = 1e-6
ITERATIONS = 15


def pagerank(  # noqa: PLR0913 - edges as three columns are what numpy works on
    nodes: int,
    sources: "Numbers",
    targets: "Numbers",
    weights: "Numbers",
    seeds: Mapping[int, float],
    *,
    damping: float = DAMPING,
    iterations: int = ITERATIONS,
) -> "Array":
    """The share of each node 0 … nodes - 1; shares are at least 0 and their sum is 1.

    Edge i leads from `sources[i]` to `targets[i]` only, and is taken as often as its weight says among those that
    leave the same node; edges between the same two nodes add up. Where no edge leaves, the walker goes back to the
    seeds, which share by weight; without any, all nodes are seeds alike. It ends once a step moves less than
    `TOLERANCE` in all, or after so many iterations.
    """
    import numpy as np

    if not nodes:
        return np.zeros(0)
    start = _start(nodes, seeds)
    origin, end = np.asarray(sources, dtype=np.intp), np.asarray(targets, dtype=np.intp)
    weight = np.asarray(weights, dtype=float)
    leaving = np.bincount(origin, weight, nodes)
    stuck = leaving <= 0
    chance = damping * (weight / np.where(stuck, 1.0, leaving)[origin])
    scores = start
    for _ in range(iterations):
        walked = np.bincount(end, scores[origin] * chance, nodes)
        moved = walked + (1 - damping + damping * scores[stuck].sum()) * start
        change = np.abs(moved - scores).sum()
        scores = moved
        if change < TOLERANCE:
            break
    return scores


def tempered(scores: "Array", sources: "Numbers") -> "Array":
    """Scores divided by the square root of the out-degree: a hub is near to everything, and says little.

    The degree is the number of edges that leave a node, whatever their weight, and at least 1.
    """
    import numpy as np

    degrees = np.bincount(np.asarray(sources, dtype=np.intp), minlength=len(scores))
    tempered: Array = scores / np.sqrt(np.maximum(degrees, 1))
    return tempered


def _start(nodes: int, seeds: Mapping[int, float]) -> "Array":
    import numpy as np

    start = np.zeros(nodes)
    for node, share in seeds.items():
        start[node] = share
    total = math.fsum(seeds.values())
    return start / total if total > 0 else np.full(nodes, 1 / nodes)
