"""Whether two assertions speak of the same thing, of two things, or of one thing at two times."""

from dataclasses import dataclass, replace
from itertools import product

from retain.domain.claims import NUMBER_WORDS
from retain.domain.stem import stem
from retain.engine.lifecycle.assertions import Assertion
from retain.engine.lifecycle.typed import Typed, key_of
from retain.engine.lifecycle.wording import OFFICES, WIDE

# Cosines, from pairs that the author of the rules wrote, and from all others that these sentences make.
_ALL_SHARED, _MOST_SHARED, _SOME_SHARED = 0.4, 0.5, 0.6


# Says what is measured of a thing, and not of which: "coverage threshold" is "coverage".
_MEASURED = frozenset(
    stem(word) for word in ("threshold", "limit", "maximum", "minimum", "rate", "frequency", "interval")
)
_TIMES = ("frequency", "day", "date")
_ALIKE_TIMES = 0.02  # a month is 30 days, and a year 12 months


@dataclass(frozen=True, slots=True)
class Common:
    """What two assertions share, and what only one of them speaks of; `are_two` where each has a subject of its own."""

    shared: frozenset[str]
    only_old: frozenset[str]
    only_new: frozenset[str]
    are_two: bool

    def without(self, old: frozenset[str], new: frozenset[str]) -> "Common":
        return replace(self, only_old=self.only_old - old, only_new=self.only_new - new)


def common(old: Assertion, new: Assertion) -> Common:
    shared = old.nouns & (new.nouns | new.context | new.ties) | new.nouns & (old.context | old.ties)
    shared |= in_words(old, new) | in_words(new, old)
    here, there = old.nouns - shared, new.nouns - shared
    for a, b in product(here, there):
        if _are_forms(a, b):
            shared, here, there = shared | {a, b}, here - {a}, there - {b}
    return Common(shared, here - WIDE, there - WIDE, bool(_whose(old, here) and _whose(new, there)))


def in_words(one: Assertion, other: Assertion) -> frozenset[str]:
    """A name of several words that the other has word by word, as at the start of a sentence."""
    for name in one.names:
        parts = {key_of(part) for part in name.split("-")} if "-" in name else set()
        if parts and parts <= other.nouns:
            return frozenset(parts | {name})
    return frozenset()


def _whose(assertion: Assertion, only: frozenset[str]) -> frozenset[str]:
    """What of its own an assertion has as its subject. A name there may be a value ("Alice owns it"), unless it tells
    which one ("the Berlin office") or is code that does something."""
    acting = ("code", "identifier", "path") if assertion.ties else ()
    names = (value for value in assertion.values if value.is_name and value.kind not in acting)
    values = {value.key for value in names if assertion.roles[value.key] != "which"}
    return (only & assertion.subject) - values - _MEASURED


def _are_forms(a: str, b: str) -> bool:
    """ "dimension" and "dimensional", `yarn install` and yarn."""
    short, long = sorted((a, b), key=len)
    if len(short) > 2 and long.endswith("-" + short):
        return True
    if len(short) < 4 or short == "http" or short.endswith(("/", ".")):
        return False
    if long.startswith((short + " ", short + "-")):
        return True
    return short.isalpha() and long.isalpha() and len(short) > len(long) // 2 and long.startswith(short)


def near_enough(found: Common, cosine: float) -> bool:
    """Whether what they share carries a comparison: the less of it, the closer the texts must be."""
    shared, rest = len(found.shared - WIDE), len(found.only_old) + len(found.only_new)
    if not shared:  # two wide words tell something together: the data team
        return bool(found.shared) and cosine >= (_MOST_SHARED if len(found.shared) > 1 and not rest else _SOME_SHARED)
    return cosine >= (_ALL_SHARED if not rest else _MOST_SHARED if shared > rest else _SOME_SHARED)


def unmatched(one: Assertion, other: Assertion) -> list[Typed]:
    """The values of one assertion that the other does not have, be it in a longer form."""
    keys = (
        {value.key for value in other.values} | other.nouns | other.ties | in_words(one, other) | in_words(other, one)
    )
    return [value for value in one.values if value.key not in keys and not _is_refined(value, other)]


def _is_refined(value: Typed, other: Assertion) -> bool:
    return any(refines(value, longer) for longer in other.values if longer.kind == value.kind)


def refines(a: Typed, b: Typed) -> bool:
    """Equal, or one is a longer form of the other: 3.11 and 3.11.4, config.yaml and src/config.yaml."""
    short, long = sorted((a.key, b.key), key=len)
    if short == long:
        return True
    if a.kind == b.kind and a.kind in ("n time", "frequency"):
        return abs(float(a.key) - float(b.key)) <= _ALIKE_TIMES * float(a.key)
    if a.kind == b.kind == "date":
        return set(short.split()) <= set(long.split())
    if a.kind == b.kind == "path":
        return long.endswith(short) or long.startswith(short)
    if a.is_name and b.is_name and (long.startswith(short + "-") or long.endswith("-" + short)):
        return True
    return not a.kind.startswith("n") and long.startswith(short + ".")


def told_apart(old: Assertion, new: Assertion) -> bool:
    """Said of two things or of two times: "item 3" and "item 4", on mobile, what was measured on two days."""
    if old.identities != new.identities or old.contrasts != new.contrasts or are_two_scopes(old, new):
        return True
    if are_two_of_a_kind(old, new):
        return True
    kinds = kinds_apart(old, new)
    return bool(kinds & {"date", "day"}) and any(kind.startswith("n") for kind in kinds)


def are_two_scopes(old: Assertion, new: Assertion) -> bool:
    """Each holds somewhere else: "in debug builds", "in release builds"."""
    return bool(old.scoped - new.said.keys() and new.scoped - old.said.keys())


def are_two_of_a_kind(old: Assertion, new: Assertion) -> bool:
    """Each speaks of another one: "debug builds" and "release builds", the Swiss shop and the Polish.

    Where both stand in what is said, not in what it is said of, they may be the values: natural keys, surrogate keys.
    """
    here, there = _modifiers(old, new), _modifiers(new, old)
    return any(
        not _are_forms(a, b) and ({a, head} & (old.subject | old.scoped) or {b, head} & (new.subject | new.scoped))
        for head in here.keys() & there.keys()
        for a, b in product(here[head], there[head])
    )


def _modifiers(one: Assertion, other: Assertion) -> dict[str, set[str]]:
    """By noun, the words of its own before it, but for values that one has one of."""
    choices = {value.key for value in one.values if value.kind not in ("name", "acronym", "group natural language")}
    times = {key_of(v.said) for v in one.values if v.kind in _TIMES and one.roles[v.key] == "which"}
    found: dict[str, set[str]] = {}
    for word in (one.nouns | one.scoped | times) - other.said.keys() - other.context - WIDE - choices:
        head = one.heads.get(word, "")
        is_count = word in NUMBER_WORDS or word[0].isdigit()
        if head in one.nouns | one.scoped and head not in WIDE | OFFICES and not is_count:
            found.setdefault(head, set()).add(word)
    return found


def are_at_two_times(old: Assertion, new: Assertion) -> bool:
    return bool(kinds_apart(old, new) & {"date", "day"})


def kinds_apart(old: Assertion, new: Assertion) -> set[str]:
    """The kinds of values of which each has one that the other has not."""
    return {value.kind for value in unmatched(old, new)} & {value.kind for value in unmatched(new, old)}


def says_the_same(old: Assertion, new: Assertion) -> bool:
    """Both deny it, in whatever words: "is off", "isn't on"."""
    if not (old.is_denied and new.is_denied):
        return False
    found = common(old, new)
    return bool(found.shared) and not (found.only_old or found.only_new)


def phrase(assertion: Assertion, words: frozenset[str]) -> str:
    return " ".join(said.lower() for key, said in assertion.said.items() if key in words) or "the same"
