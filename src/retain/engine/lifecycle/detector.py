"""One kind of secret: what it looks like, and what judges a value that looks so."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from retain.engine.lifecycle.placeholders import MARK

BEFORE, AFTER = 300, 1500  # characters around a hint
LONGEST = 1000  # characters of a value that are looked at; the rest of a longer secret goes with them


class Where(Enum):
    """Where the hint is: at the very beginning of the secret, somewhere around it, or anywhere in the text."""

    AT = "at"
    AROUND = "around"
    ANYWHERE = "anywhere"


def value_of(match: re.Match[str]) -> str:
    return MARK.sub("", match[match.lastindex or 0])


@dataclass(frozen=True, slots=True)
class Detector:
    """What one kind of secret looks like.

    The last group of `pattern` that matched is the secret, without groups the whole match. The pattern
    runs only around the `hints` (lower case) in a text, and must take linear time on any input.
    """

    name: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    is_secret: Callable[[re.Match[str]], bool] = lambda match: value_of(match) != ""
    where: Where = Where.AROUND

    def places(self, lowered: str) -> list[tuple[int, int]]:
        """From where to where a match may be looked for, in a text that is given in lower case."""
        hits = _hits(self.hints, lowered)
        if not hits or self.where is Where.ANYWHERE:
            return [(0, len(lowered))] if hits else []
        if self.where is Where.AT:
            return [(hit, hit) for hit in hits]
        found = [(max(0, hits[0] - BEFORE), hits[0] + AFTER)]
        for hit in hits[1:]:
            if hit - BEFORE <= found[-1][1]:
                found[-1] = (found[-1][0], hit + AFTER)
            else:
                found.append((hit - BEFORE, hit + AFTER))
        return found


def _hits(hints: tuple[str, ...], lowered: str) -> list[int]:
    found: set[int] = set()
    for hint in hints:
        if hint in lowered:  # the cheapest look, and in most texts the only one
            at = lowered.find(hint)
            while at >= 0:
                found.add(at)
                at = lowered.find(hint, at + len(hint))
    return sorted(found)
