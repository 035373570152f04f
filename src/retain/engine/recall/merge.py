"""Merging what was scored on scales of its own, such as memories and code."""

import statistics
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
ALIKE = 1e-6  # scores that spread less than this say nothing about one another


def merge(*groups: Sequence[tuple[T, float]]) -> list[tuple[T, float]]:
    """All of the groups by how far each score lies above the mean of its group, in standard deviations; best first.

    What ties stays in the order in which it was given. A group of one, or of equals, scores 0.
    """
    standing = [(item, score) for group in groups for item, score in _standardised(group)]
    return sorted(standing, key=lambda scored: -scored[1])


def _standardised(group: Sequence[tuple[T, float]]) -> list[tuple[T, float]]:
    scores = [score for _, score in group]
    spread = statistics.pstdev(scores) if scores else 0.0
    if spread < ALIKE:
        return [(item, 0.0) for item, _ in group]
    mean = statistics.fmean(scores)
    return [(item, (score - mean) / spread) for item, score in group]
