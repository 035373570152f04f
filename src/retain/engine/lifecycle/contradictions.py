"""Whether two statements seem to exclude each other, by a few words and values.

That is for where similarity is about to be taken for agreement and nobody waits for the judge (`relating`): it errs on
the side of keeping two texts apart.
"""

import re
from dataclasses import dataclass
from itertools import islice, product
from typing import Literal

from retain.domain.claims import NEGATIONS
from retain.domain.quantities import quantities
from retain.domain.sentences import clauses
from retain.domain.stem import stem
from retain.engine.lifecycle.aligned import Alignment, Difference, aligned
from retain.engine.lifecycle.apart import apart
from retain.engine.lifecycle.vocabulary import OPPOSITES, group_of

_BUILT_ALIKE = 0.6  # share of words
_MOST_PAIRS = 24
_SHORT = 2  # words of a value: a number and its unit
AGAINST = " against "
_NAMED_BY = (("is",), ("are",), ("by",))  # "the lead is Ada", "is owned by Ada"
# What happened, what is asked or only may be, and what one thing may have several of.
_MAY_BOTH_BE = re.compile(
    r"\?\s*$|\b(?:today|yesterday|tomorrow|(?:this|last|next) (?:week|month|sprint|year|time|night)|so far|used to|was"
    r"|were|had|took|ran|returned|closed|opened|reviewed|failed|passed|fixed|deployed|released|measured|could|should we"
    r"|may|might|maybe|also|too|as well|another|some(?:times)?|support\w*|accept\w*|includ\w*|contain\w*|mention\w*"
    r"|at least|about|around|roughly|(?:before|after) the|if|when|unless|except|>>>)\b|>>>",
    re.IGNORECASE,
)
_DENIALS = frozenset(
    ("not", "no", "never", "none", "nobody", "without", "don't", "doesn't", "isn't", "aren't", "can't", "cannot",
     "won't", "longer", "do", "does", "did", "we", "any")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Clash:
    """Two statements that exclude each other, and in what: "8080 against 9090"."""

    kind: Literal["negation", "antonym", "value"]
    detail: str


def clash(old: str, new: str) -> Clash | None:
    """What the new text seems to deny of the old one: the same words with a "not", an opposite or another value."""
    pairs = islice(product(clauses(old), clauses(new)), _MOST_PAIRS)
    return next((found for before, now in pairs if (found := _differing(before, now))), None)


def plainly(old: str, new: str) -> Clash | None:
    """The same sentence but for one value, an opposite or a "not", and it says how things are, not what happened."""
    if _MAY_BOTH_BE.search(old) or _MAY_BOTH_BE.search(new):
        return None
    found = _differing(old, new)
    if found is None or found.kind == "negation":
        return found
    are_denied = {len(NEGATIONS.findall(text)) % 2 for text in (old, new)}
    values = [side.split() for side in found.detail.split(AGAINST)]
    is_one = all(len(value) <= _SHORT and len(quantities(" ".join(value))) <= 1 for value in values)
    return found if is_one and len(are_denied) == 1 else None


def _differing(old: str, new: str) -> Clash | None:
    found = aligned(old, new)
    if found.share < _BUILT_ALIKE or apart(old, new):
        return None
    return _negation(old, new, found) or _other_value(found)


def _negation(old: str, new: str, found: Alignment) -> Clash | None:
    if found.differences or len(NEGATIONS.findall(old)) % 2 == len(NEGATIONS.findall(new)) % 2:
        return None
    return None if {*found.added} - _DENIALS else Clash("negation", f"{' '.join(found.added)}: in one of them")


def _other_value(found: Alignment) -> Clash | None:
    if len(found.differences) != 1:
        return None
    (only,) = found.differences
    told = f"{' '.join(only.old)}{AGAINST}{' '.join(only.new)}"
    if any(_are_opposite(a.lower(), b.lower()) for a, b in product(only.old, only.new)):
        return Clash("antonym", told)
    return Clash("value", told) if _are_two_of_a_kind(only) else None


def _are_opposite(one: str, other: str) -> bool:
    if frozenset((one, other)) in OPPOSITES or frozenset((stem(one), stem(other))) in OPPOSITES:
        return True
    short, long = sorted((one, other), key=len)
    return len(short) > 3 and long in {f"{before}{short}" for before in ("un", "non", "non-", "in", "im", "ir", "dis")}


def _are_two_of_a_kind(only: Difference) -> bool:
    """Two numbers of one measure that are not the same, or two tools of which one takes one."""
    old, new = ([q for q in quantities(" ".join(side)) if not q.is_loose] for side in (only.old, only.new))
    if old and new:
        return not any(a.is_same(b) or b.is_same(a) for a, b in product(old, new))
    if len(only.old) == len(only.new) == 1 and not only.after and only.before[-1:] in _NAMED_BY:
        return only.old[0].istitle() and only.new[0].istitle()
    groups = [set(map(group_of, side)) - {None} for side in (only.old, only.new)]
    return bool(groups[0] & groups[1])
