"""Facets: how many of all that matched are of each type, tag and length."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from retain.domain.graph import fold
from retain.domain.listing import Card

SHORT, LONG = 200, 1000  # characters: shorter than the one, longer than the other


@dataclass(frozen=True, slots=True)
class Facets:
    """Counts over all matches, most frequent first. Types sum to their number, and so do lengths."""

    types: dict[str, int]
    tags: dict[str, int]
    lengths: dict[str, int]


def facets(cards: Sequence[Card]) -> Facets:
    lengths = Counter({"short": 0, "medium": 0, "long": 0})
    lengths.update(_length(card.length) for card in cards)
    return Facets(_ranked(Counter(card.type for card in cards)), _tags(cards), dict(lengths))


def _length(characters: int) -> str:
    if characters < SHORT:
        return "short"
    return "medium" if characters <= LONG else "long"


def _tags(cards: Sequence[Card]) -> dict[str, int]:
    """A tag that is written in several ways is one, shown as most write it; a memory counts once for it."""
    written = Counter(tag for card in cards for tag in card.tags)
    folded = {tag: fold(tag) for tag in written}
    carrying = Counter(tag for card in cards for tag in {folded[tag] for tag in card.tags})
    shown = {folded[tag]: tag for tag in reversed(_ranked(written))}
    return {shown[tag]: count for tag, count in _ranked(carrying).items()}


def _ranked(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda counted: (-counted[1], counted[0])))
