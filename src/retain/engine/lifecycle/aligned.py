"""Two texts beside each other, word by word: how much of them is the same, and what stands in the place of what."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from retain.domain.stem import stem
from retain.domain.words import STOP_WORDS

_WORD = re.compile(r"[^\s,;:()\[\]\"“”*]+")
_EDGES = ".!?'’`"
_LONGEST = 60  # words of a text that are looked at: longer ones are not built alike
_NAME = re.compile(r"[^\W\d]+(?:[-_.][^\W\d]+)+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*")

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """What one text has in the place of what the other has, and what both have around it."""

    old: Words
    new: Words
    before: Words = ()
    after: Words = ()

    @property
    def is_telling(self) -> bool:
        return bool({*self.old} - STOP_WORDS and {*self.new} - STOP_WORDS)


@dataclass(frozen=True, slots=True)
class Alignment:
    share: float
    """Of all words of both, those that stand in both, in the same order."""
    differences: tuple[Difference, ...]
    added: Words
    """What only one of them says, in the place of nothing that would tell anything."""


@lru_cache(maxsize=256)  # several rules ask about one pair
def aligned(old: str, new: str) -> Alignment:
    one, other = words(old)[:_LONGEST], words(new)[:_LONGEST]
    steps = SequenceMatcher(None, _stems(one), _stems(other), autojunk=False).get_opcodes()
    same = sum(end - start for tag, start, end, _, _ in steps if tag == "equal")
    replaced = tuple(
        Difference(one[a:b], other[c:d], one[:a], one[b:]) for tag, a, b, c, d in steps if tag == "replace"
    )
    told = tuple(each for each in replaced if each.is_telling)
    added = [word for tag, a, b, c, d in steps if tag in ("insert", "delete") for word in (*one[a:b], *other[c:d])]
    added += [word for each in replaced if each not in told for word in (*each.old, *each.new)]
    return Alignment(2 * same / max(len(one) + len(other), 1), told, tuple(word.lower() for word in added))


def words(text: str) -> Words:
    stripped = (word.strip(_EDGES) for word in _WORD.findall(text))
    return tuple(word for word in stripped if word)


def is_name(word: str) -> bool:
    """Written like the name of a thing in code: billing-api, PaymentService, user_store."""
    return bool(_NAME.fullmatch(word))


def _stems(said: Words) -> list[str]:
    return [stem(word.lower().removesuffix("'s")) for word in said]
