"""Enumerations: texts that are built alike and count along speak of different things, and deny nothing."""

from collections.abc import Sequence
from itertools import zip_longest

from retain.domain.stem import stem
from retain.domain.words import STOP_WORDS
from retain.engine.lifecycle.grammar import BE
from retain.engine.lifecycle.vocabulary import PREPOSITIONS
from retain.engine.lifecycle.wording import TIES

_LONGEST = 60  # words; longer texts are no list entries
_NUMBER = ("number", "no", "nr")
# What has a number and is not told apart by it.
_MEASURED = frozenset(["port", "phone", "version", "maximum", "minimum", "total", "account"])
_LIGHT = STOP_WORDS | PREPOSITIONS | {"about", "over"}


def counts_along(old: str, new: str) -> bool:
    """ "Module 3 talks to queue 9" and "Module 4 talks to queue 2", "snippet number 1" and "snippet number 2".

    All but bare numbers is the same, and the first that differs says which one is meant: it stands behind a noun
    with which the text begins. "Port 8080 and 4 workers" says how much, and may be denied.
    """
    one, other = _words(old), _words(new)
    if len(one) > _LONGEST:
        return False
    differing = [i for i, (a, b) in enumerate(zip_longest(one, other)) if a != b]
    if not differing or not all(_are_numbers(one, other, i) for i in differing):
        return False
    first = differing[0]
    if first > 1 and one[first - 1] in _NUMBER:
        return one[first - 2] not in _MEASURED
    return len(differing) > 1 and _names_one(one, first)


def _words(text: str) -> list[str]:
    return [word.strip(".,;:!?\"'`()") for word in text.lower().split()]


def _are_numbers(one: Sequence[str], other: Sequence[str], at: int) -> bool:
    return at < min(len(one), len(other)) and one[at].isdecimal() and other[at].isdecimal()


def _names_one(words: Sequence[str], at: int) -> bool:
    """Whether a number is part of what the text begins with: nouns before it, and a verb or a light word behind."""
    before, behind = words[:at], words[at + 1 : at + 2]
    nouns = before[1:] if before[:1] in (["the"], ["our"], ["a"]) else before
    is_noun_phrase = bool(nouns) and not any(word in _LIGHT or _is_verb(word) for word in nouns)
    return is_noun_phrase and all(word in _LIGHT or _is_verb(word) for word in behind)


def _is_verb(word: str) -> bool:
    return word in BE or stem(word) in TIES
