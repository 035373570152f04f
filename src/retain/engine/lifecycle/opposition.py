"""Whether one assertion takes back another that is worded differently: left behind, denied, or the opposite."""

from itertools import product

from retain.domain.stem import stem
from retain.engine.lifecycle.assertions import Assertion
from retain.engine.lifecycle.clashes import Clash
from retain.engine.lifecycle.rivals import ended, filled, valued, widened
from retain.engine.lifecycle.topics import (
    Common,
    are_at_two_times,
    are_two_of_a_kind,
    are_two_scopes,
    common,
    in_words,
    kinds_apart,
    near_enough,
    phrase,
    unmatched,
)
from retain.engine.lifecycle.vocabulary import OPPOSITES
from retain.engine.lifecycle.wording import OPPOSITE, WIDE

_ASSERT_NOTHING = frozenset({"question", "list", "hedged"})
_PREFIXES = ("un", "non", "non-", "in", "im", "ir", "il", "dis", "de")
_FAILED = frozenset({"failed", "crashed", "broke", "rejected", "skipped"})
_ANYBODY = frozenset(stem(word) for word in ("everybody", "everyone", "anybody", "anyone"))
_CAN = ("can", "may")
_ALMOST = 0.8
_RELATED = 0.65  # cosine below which what is done must be the same
_MOST_UNSAID = 3  # topics of which a denial may be silent


def opposed(old: Assertion, new: Assertion, cosine: float) -> Clash | None:
    """What the new assertion takes back of the old one."""
    if (old.marks | new.marks) & _ASSERT_NOTHING or (old.marks ^ new.marks) & {"past", "other"}:
        return None
    if "event" in old.marks & new.marks and not (old.behind or new.behind):
        return None  # both happened
    if old.identities != new.identities or old.beginnings.isdisjoint(new.beginnings):
        return None
    if are_two_of_a_kind(old, new):
        return None
    found = _left_behind(old, new) or _taken_up(old, new) or _opened(old, new) or _turned(old, new, cosine)
    return found or valued(old, new, cosine) or widened(old, new, cosine) or ended(old, new) or filled(old, new, cosine)


def _left_behind(old: Assertion, new: Assertion) -> Clash | None:
    """The new one names what the old one has as left behind."""
    if old.is_denied or "event" in old.marks or (old.contrasts and new.contrasts and old.contrasts != new.contrasts):
        return None
    for named in new.behind:
        behind = named - WIDE or named
        if behind and named not in old.behind and _is_its_value(old, new, behind) and _is_its_topic(old, new, behind):
            return Clash("replaced", f"{phrase(old, behind)} left behind")
    return None


def _taken_up(old: Assertion, new: Assertion) -> Clash | None:
    """The new one has what the old one says was left behind."""
    is_named = any(named & new.names for named in old.behind)
    found = _left_behind(new, old) if is_named and not new.behind else None
    return found and Clash("negation", f"{found.detail.removesuffix(' left behind')}: asserted now")


def _is_its_value(old: Assertion, new: Assertion, behind: frozenset[str]) -> bool:
    """Whether the old one says it of something. What it is about may have been renamed and still be."""
    values = {value.key for value in old.values}
    if not behind <= old.nouns | old.acts | values or (common(old, new).are_two and not behind & values):
        return False
    return bool(behind & old.names) or not behind <= old.subject - old.slots.get("by", frozenset())


def _is_its_topic(old: Assertion, new: Assertion, behind: frozenset[str]) -> bool:
    """Left behind altogether, or for the same purpose."""
    rest, topics = old.nouns - behind - WIDE, (new.nouns | new.context) - behind - WIDE
    if not rest:
        return not topics & new.scoped
    return not topics - new.names or bool(rest & (topics | new.ties))


def _opened(old: Assertion, new: Assertion) -> Clash | None:
    """ "Only maintainers may merge" against "everyone may"."""
    if old.is_denied or new.is_denied or not {"only", "everyone"} <= old.marks ^ new.marks:
        return None
    found = common(old, new)
    if {"only", "everyone"} <= old.marks or {"only", "everyone"} <= new.marks:
        return None
    rest_old, rest_new = (
        only
        - one.subject
        - one.slots.get("to", frozenset())
        - _ANYBODY
        - {w for w, h in one.heads.items() if h in _CAN}
        for one, only in ((old, found.only_old), (new, found.only_new))
    )
    if not (old.ties & new.ties or found.shared - WIDE) or rest_old or rest_new:
        return None
    return Clash("negation", f"{phrase(old, found.shared)}: for some against for all")


def _turned(old: Assertion, new: Assertion, cosine: float) -> Clash | None:
    """Denied here and said there, or one word against its opposite; both at once is the same again."""
    here, there = (old.nouns | old.ties) - new.nouns - new.ties, (new.nouns | new.ties) - old.nouns - old.ties
    flipped = [(a, b) for a, b in product(sorted(here), sorted(there)) if _are_opposite(a, b)]
    if len(flipped) > 1 or (old.is_denied ^ new.is_denied) == bool(flipped):
        return None
    found = common(old, new).without(frozenset(a for a, _ in flipped), frozenset(b for _, b in flipped))
    if not _is_one_predicate(old, new, found):
        return None
    return _antonym(old, new, found, flipped[0], cosine) if flipped else _negation(old, new, found, cosine)


def _is_one_predicate(old: Assertion, new: Assertion, found: Common) -> bool:
    is_named = in_words(old, new) or in_words(new, old)
    if (
        not (is_named or (old.nouns | old.acts) & (new.nouns | new.acts))
        or are_at_two_times(old, new)
        or are_two_scopes(old, new)
    ):
        return False
    # "Nobody can" denies what admins can.
    if old.contrasts != new.contrasts and not ("nobody" in new.marks and new.contrasts < old.contrasts):
        return False
    if found.only_old and found.only_new:
        return False
    return not (found.only_old & old.scoped or found.only_new & new.scoped)


def _antonym(old: Assertion, new: Assertion, found: Common, flipped: tuple[str, str], cosine: float) -> Clash | None:
    a, b = flipped
    if not near_enough(found, cosine):
        return None
    if a in old.subject and b in new.subject:
        return None  # "cold starts" and "warm starts" are two things
    is_order = {a, b} == {"before", "after"} or a.startswith("opt-")
    if "additive" in old.marks | new.marks or ((old.marks ^ new.marks) & {"conditional", "when"} and not is_order):
        return None
    return Clash("antonym", f"{phrase(old, found.shared)}: {old.said.get(a, a)} against {new.said.get(b, b)}")


def _negation(old: Assertion, new: Assertion, found: Common, cosine: float) -> Clash | None:
    """What is denied in general is denied of each; denied of one, it may hold of the others."""
    if kinds_apart(old, new) or not near_enough(found, cosine):
        return None  # not this version, but that one
    if old.subject - new.nouns - new.context and new.subject - old.nouns - old.context:
        return None
    denied, said, narrower = (old, new, found.only_old) if old.is_denied else (new, old, found.only_new)
    if "event" in denied.marks and _FAILED & {said.lower() for said in denied.said.values()}:
        return None  # it failed once
    is_other_act = cosine < _RELATED and said.acts and not said.acts & (denied.acts | denied.ties | denied.nouns)
    if (
        is_other_act
        or (narrower and not _is_hardly(narrower, found, cosine))
        or _has_more_values(denied, said)
        or _is_the_bound(denied, said)
        or len(found.only_old | found.only_new) > _MOST_UNSAID
        or _denies_less(denied, said)
    ):
        return None
    return Clash("negation", f"{phrase(said, found.shared)}: {'denied' if denied is new else 'asserted'} now")


def _is_hardly(narrower: frozenset[str], found: Common, cosine: float) -> bool:
    """One word more beside several in common, in texts that are almost the same, is another wording."""
    return len(narrower) == 1 and len(found.shared - WIDE) > 1 and cosine >= _ALMOST


def _has_more_values(denied: Assertion, said: Assertion) -> bool:
    """ "Never on Fridays" leaves the other days."""
    return any(not value.is_name for value in unmatched(denied, said))


def _is_the_bound(denied: Assertion, said: Assertion) -> bool:
    """ "No line may have 100 or more" says that lines are under 100."""
    is_bound = "bounded" in denied.marks | said.marks
    return is_bound and any(not value.is_name for value in denied.values if value.key in {v.key for v in said.values})


def _denies_less(denied: Assertion, said: Assertion) -> bool:
    """Denies another act, or only under a condition, or only that it must be."""
    if denied.has_not and not (said.is_must and "without" in denied.said) and denied.acts - said.ties - said.nouns:
        return True
    if "default" in denied.said.keys() - said.said.keys():
        return True
    marks = denied.marks - said.marks
    if "conditional" in marks or ("when" in marks and denied.scoped - said.said.keys()):
        return True
    return denied.is_must and not (said.is_must or said.is_order)


def _are_opposite(a: str, b: str) -> bool:
    pair = frozenset((a, b))
    if pair in OPPOSITE or pair in OPPOSITES:
        return True
    short, long = sorted((a, b), key=len)
    return len(short) > 3 and any(long == prefix + short for prefix in _PREFIXES)
