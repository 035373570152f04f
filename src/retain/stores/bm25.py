"""BM25 to the last digit as FTS5 works it out, for stores whose own ranking differs."""

from math import log
from typing import Any

SATURATION, LENGTH_SHARE = 1.2, 0.75  # FTS5's k1 and b
_LEAST_RARITY = 1e-6  # of a term that more than half of all texts hold


def rarity(documents: int, holding: int) -> float:
    return max(log((documents - holding + 0.5) / (holding + 0.5)), _LEAST_RARITY)


def weighed(times: Any, length: Any, average: float) -> Any:
    """What a term counts that a text holds so many times, before its rarity; of many texts, where arrays are given."""
    damped = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length / average)
    return times * (SATURATION + 1) / (times + damped)
