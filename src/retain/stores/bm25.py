"""BM25 to the last digit as FTS5 works it out, for stores whose own ranking differs."""

from math import log
from typing import Any

_SATURATION, _LENGTH_SHARE = 1.2, 0.75  # FTS5's k1 and b
_LEAST_RARITY = 1e-6  # of a term that more than half of all texts hold


def rarity(documents: int, holding: int) -> float:
    return max(log((documents - holding + 0.5) / (holding + 0.5)), _LEAST_RARITY)


def shortness(length: Any, average: float) -> Any:
    """Of a text, or of many where an array is given."""
    return _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * length / average)


def weighed(times: Any, shortness: Any) -> Any:
    """What a term counts that a text holds so many times, before its rarity."""
    return times * (_SATURATION + 1) / (times + shortness)
