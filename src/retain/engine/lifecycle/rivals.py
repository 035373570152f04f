"""Other values for the same thing: two ports, two owners, another filling of a slot that takes one."""

from collections.abc import Iterator
from itertools import product

from retain.engine.lifecycle.assertions import Assertion
from retain.engine.lifecycle.clashes import Clash
from retain.engine.lifecycle.topics import Common, are_at_two_times, common, near_enough, phrase, refines, unmatched
from retain.engine.lifecycle.typed import Typed
from retain.engine.lifecycle.vocabulary import LOOSE_GROUPS, UNITS
from retain.engine.lifecycle.wording import ACTIONS, OFFICES, WIDE

# Cosines, from the labelled pairs that the rules' author wrote: with fewer words in common the texts must be closer.
_ALMOST = 0.8  # one speaks of a part: the connection timeout, and the timeout
_NEAR = 0.7  # in common no topic, but a verb
_CLOSE = 0.65  # each has a topic of its own beside those in common
_RELATED = 0.6  # different verbs, or in common only what is too wide to tell anything
_FILLED = 0.55  # plain words in a slot, without a type that speaks for them

_TOOLS = 0.45  # two of a group of which one has one

_WEEK = 604_800  # seconds: what happens on Mondays may happen every two weeks
_HOURS = 24
_VERBS = frozenset({"keep", "use", "send", "write"})  # shared where one has the noun: retention, usage
_HOW_OFTEN = frozenset({"interv", "frequenc", "period"})
_WHEN = frozenset({"date", "time", "day", "frequency"})
_SINGLE = frozenset(
    ("by", "as", "is a", "with", "in", "on", "to", "from", "against", "per", "object return", "object throw",
     "object take")
)  # fmt: skip
_TIME = frozenset(unit for unit, (dimension, _) in UNITS.items() if dimension == "time")
_MOVES = frozenset({"move", "switch", "migrat", "chang", "port", "convert"})
_USE, _NONE = "object use", frozenset[str]()
_MANNER = ("as", "by", "with")
_CASES = frozenset({"when", "conditional"})
_HAD = frozenset({"object use", "object need", "object requir", "object require"})
_UNLIKE_NAMES = frozenset(
    "group " + group for group in ("format", "image format", "natural language", "license", "type", "language", "level")
)
_PLACES = ("email", "url", "host", "path")
_LOOSE_ROLES = frozenset({"for", "of", "about", "listed", "per", "which", "scope"})
_TAKES_ONE = frozenset(
    ("use", "prefer", "target", "follow", "take", "return", "throw", "choos", "pick", "adopt", "need", "requir",
     "require", "produc", "name", "renam", "contact", "communicate")
)  # fmt: skip


def valued(old: Assertion, new: Assertion, cosine: float) -> Clash | None:
    """One value each of the same type in the same role, and nothing that tells the subjects apart."""
    found = common(old, new)
    if not _may_differ(old, new) or found.are_two:
        return None
    rivals = _rivals(old, new)
    if rivals is None:
        return _rated(old, new, found, cosine)
    before, now = rivals
    if not before.is_name and (_are_elsewhere(old, new) or _are_two_rates(old, new)):
        return None
    rest = found.without(_with_its_like(before, old, new), _with_its_like(now, new, old))
    if before.is_name and cosine < _FILLED and not _is_one_choice(before, now, old, new):
        return None
    is_rate = "per" in old.slots and old.slots.get("per") == new.slots.get("per")
    is_bare = not (rest.only_old or rest.only_new)
    is_bound = _is_within(old, new, before, now, is_bare=is_bare) and "changed" not in new.marks and not is_rate
    if before.kind == now.kind == "group license" and not (rest.only_old or rest.only_new):
        return Clash("value", f"license: {before.said} against {now.said}")  # there is one, however it is said
    if _is_one_tool(before, now) and _is_nearly_bare(old, new, rest, cosine):
        return Clash("value", f"{phrase(old, rest.shared)}: {before.said} against {now.said}")
    is_measured = before.kind.startswith("n ") or "version" in (before.kind, now.kind)
    if (is_measured and is_bound) or not _is_about_the_same(old, new, rest, cosine):
        return None
    return Clash("value", f"{phrase(old, rest.shared)}: {before.said} against {now.said}")


def _is_one_tool(before: Typed, now: Typed) -> bool:
    """Of one group, of which one has one: two test runners, two databases."""
    group = before.kind.removeprefix("group ")
    return before.kind == now.kind != group and group not in LOOSE_GROUPS and before.is_sure and now.is_sure


def _is_nearly_bare(old: Assertion, new: Assertion, rest: Common, cosine: float) -> bool:
    """The same topic, with no more than a word beside it: what they are used for needs not be said twice."""
    is_scoped = rest.only_old & old.scoped or rest.only_new & new.scoped
    is_part = _is_part(old, rest.only_old, rest) or _is_part(new, rest.only_new, rest)
    if is_scoped or is_part or not rest.shared - (old.ties & new.ties):
        return False
    return cosine >= _TOOLS and len(rest.only_old) <= 1 >= len(rest.only_new) and not (rest.only_old and rest.only_new)


def _is_within(old: Assertion, new: Assertion, before: Typed, now: Typed, *, is_bare: bool) -> bool:
    """One is a bound, and the other may well keep within it: at most 100, and 80."""
    if not (old.marks ^ new.marks) & {"bounded"}:
        return False
    bound, plain, limit, value = (old, new, before, now) if "bounded" in old.marks else (new, old, now, before)
    if not is_bare or not bound.marks & {"upper", "lower"} or plain.marks & {"upper", "lower"}:
        return True
    try:
        is_more = float(value.key) > float(limit.key)
    except ValueError:
        return True
    return is_more if "lower" in bound.marks else not is_more


def _are_elsewhere(old: Assertion, new: Assertion) -> bool:
    """ "Tests on Windows need …", "tests on Linux need …": a name of its own in what each is about."""
    here, there = (
        {value.key for value in unmatched(one, other) if value.is_name} & one.subject
        for one, other in ((old, new), (new, old))
    )
    return bool(here and there)


def _are_two_rates(old: Assertion, new: Assertion) -> bool:
    """So many per minute, and so many per hour, go together."""
    here, there = (_TIME & one.slots.get("per", _NONE) for one in (old, new))
    return bool(here and there and here != there)


def _rated(old: Assertion, new: Assertion, found: Common, cosine: float) -> Clash | None:
    """The same number per minute, and per second."""
    here, there = (_TIME & one.slots.get("per", _NONE) for one in (old, new))
    counts = {v.key for v in old.values if not v.is_name} & {v.key for v in new.values if not v.is_name}
    rest = found.without(here, there)
    if here == there or not (here and there and counts) or (rest.only_old and rest.only_new) or cosine < _RELATED:
        return None
    return Clash("value", f"{phrase(old, rest.shared)}: per {phrase(old, here)} against per {phrase(new, there)}")


def filled(old: Assertion, new: Assertion, cosine: float) -> Clash | None:
    """Other words in the same slot, where such a slot has one filling: "is granted by", "runs as", "returns"."""
    if cosine < _FILLED or not _may_differ(old, new) or old.is_open or new.is_open or _differ_otherwise(old, new):
        return None
    found = common(old, new)
    for one, other in _same_slots(old, new, cosine):
        here, there = old.slots[one] - new.slots[other], new.slots[other] - old.slots[one]
        if not (here and there) or found.shared & (here | there):
            continue
        rest = found.without(here, there)
        is_bare = not (rest.only_old or rest.only_new)
        if (old.subject | new.subject) - here - there and near_enough(rest, cosine) and is_bare:
            return Clash("value", f"{phrase(old, rest.shared)}: {phrase(old, here)} against {phrase(new, there)}")
    return None


def widened(old: Assertion, new: Assertion, cosine: float) -> Clash | None:
    """ "Accepts CSV only" against "accepts CSV and Excel": one more of a kind that was all there is."""
    narrow, wide = (old, new) if "only" in old.said else (new, old)
    if "only" not in narrow.said or "only" in wide.said or old.is_denied or new.is_denied or cosine < _NEAR:
        return None
    found = common(old, new)
    more = {v.key for v in unmatched(wide, narrow) if v.is_name and v.is_sure}
    rest = found.without(frozenset(more), frozenset(more))
    is_listed = "and" in wide.said and bool(narrow.names & wide.names)
    if (
        not (more and is_listed)
        or unmatched(narrow, wide)
        or rest.only_old
        or rest.only_new
        or _differ_otherwise(old, new)
    ):
        return None
    return Clash("value", f"{phrase(narrow, rest.shared)}: only these against {phrase(wide, frozenset(more))} too")


def ended(old: Assertion, new: Assertion) -> Clash | None:
    """ "Returns None for unknown ids" against "raises KeyError for unknown ids": the same call, the same case."""
    outcomes = {outcome for one in (old, new) for outcome in one.ties & {"return", "throw"}}
    if len(outcomes) < 2 or old.ties & new.ties & {"return", "throw"} or old.is_denied or new.is_denied:
        return None
    is_one_case = old.scoped & new.scoped or (_CASES & old.marks and _CASES & new.marks)
    calls = {value.key for value in old.values if value.kind in ("code", "identifier")} & new.nouns
    if not (calls and is_one_case):
        return None
    return Clash("value", f"{phrase(old, frozenset(calls))}: {' against '.join(sorted(outcomes))}")


def _may_differ(old: Assertion, new: Assertion) -> bool:
    if old.is_denied or new.is_denied or old.contrasts != new.contrasts:
        return False
    return not ((old.marks | new.marks) & {"additive", "event"} or "past" in old.marks & new.marks)


def _differ_otherwise(old: Assertion, new: Assertion) -> bool:
    """Numbers or times differ too, and may be why; or one has the same value in a longer form."""
    here, there = ([v for v in unmatched(*pair) if not v.is_name] for pair in ((old, new), (new, old)))
    if any(a.kind == b.kind for a, b in product(here, there)) or are_at_two_times(old, new):
        return True
    return any(refines(a, b) for a, b in product(old.values, new.values) if a.key != b.key)


def _same_slots(old: Assertion, new: Assertion, cosine: float) -> Iterator[tuple[str, str]]:
    """Slots of one kind in both; what has moved "to" somewhere stood in any of them before."""
    is_passive = "by" in old.said or "by" in new.said
    for slot in sorted(old.slots.keys() & new.slots.keys() & _SINGLE):
        if (slot != "with" or cosine >= _CLOSE or old.acts & new.acts) and (slot != "by" or is_passive):
            yield slot, slot
    if cosine >= _NEAR and old.slots.get(_USE, _NONE) & new.slots.get(_USE, _NONE):
        yield _USE, _USE  # natural keys, surrogate keys
    if "to" in new.slots and new.ties & _MOVES:
        yield from ((slot, "to") for slot in sorted(old.slots.keys() & _SINGLE - {"to"}))
    if old.acts & new.acts:
        yield from ((a, b) for a, b in product(_MANNER, _MANNER) if a != b and a in old.slots and b in new.slots)


def _with_its_like(value: Typed, one: Assertion, other: Assertion) -> frozenset[str]:
    """A value and those that differ with it: "floats in euros" against "integer cents"."""
    kinds = {v.kind for v in other.values if v.kind.startswith("group ")}
    like = (v.key for v in one.values if v.kind in kinds and one.roles[v.key] not in ("scope", "which"))
    return frozenset({value.key, *like})


def _is_about_the_same(old: Assertion, new: Assertion, found: Common, cosine: float) -> bool:
    is_done = (old.ties & new.ties and cosine >= _NEAR) or bool((old.acts & new.acts) - _VERBS and cosine >= _CLOSE)
    is_known = near_enough(found, cosine) or is_done
    is_done_otherwise = cosine < _RELATED and _acts_apart(old, new)
    is_narrower = _is_part(old, found.only_old, found) or _is_part(new, found.only_new, found)
    if (
        not is_known
        or is_done_otherwise
        or (is_narrower and cosine < _ALMOST)
        or found.only_old & old.scoped
        or found.only_new & new.scoped
    ):
        return False
    if not (found.only_old and found.only_new):
        return True
    return cosine >= _CLOSE and len(found.only_old) + len(found.only_new) <= len(found.shared - WIDE)


def _acts_apart(old: Assertion, new: Assertion) -> bool:
    here, there = old.acts - new.ties - new.nouns - ACTIONS, new.acts - old.ties - old.nouns - ACTIONS
    return bool(here or there)


def _is_one_choice(before: Typed, now: Typed, old: Assertion, new: Assertion) -> bool:
    """Of one group, or named with the same verb, or moved to."""
    is_group = before.kind == now.kind != "name"
    return is_group or bool(old.ties & new.ties or new.ties & _MOVES)


def _is_part(assertion: Assertion, only: frozenset[str], found: Common) -> bool:
    """Whether a word of its own says which of the things in common is meant: "connection" in "connection timeout"."""
    heads = found.shared - _VERBS
    return any(assertion.heads.get(word) in heads for word in only & assertion.subject)


def _rivals(old: Assertion, new: Assertion) -> tuple[Typed, Typed] | None:
    """The one pair of values that exclude each other; numbers and dates before names."""
    dropped: frozenset[str] = frozenset().union(*new.behind)
    here = [value for value in unmatched(old, new) if value.key in dropped or value.key not in new.context]
    there = [value for value in unmatched(new, old) if value.key not in old.context]
    pairs = list(product(here, there))
    plain = [(a, b) for a, b in pairs if not (a.is_name or b.is_name) and _are_one_kind(a, b, old, new)]
    if len(plain) > 1 and any(a.kind in _WHEN for a, _ in plain):
        return None  # measured at two times
    is_open = old.is_open or new.is_open
    plain = [
        (a, b) for a, b in plain if not (_is_which(a, old) or _is_which(b, new) or (is_open and a.kind == "version"))
    ]
    if plain or is_open:
        return plain[0] if len(plain) == 1 else None
    names = _single([(a, b) for a, b in pairs if a.is_name and b.is_name and _exclude(old, new, a, b)])
    return names[0] if len(names) == 1 and not refines(*names[0]) else None


def _single(pairs: list[tuple[Typed, Typed]]) -> list[tuple[Typed, Typed]]:
    """Of several pairs of names those of one kind; "auto-increment integers" is one choice in two words."""
    if len(pairs) < 2:
        return pairs
    alike = [(a, b) for a, b in pairs if a.kind == b.kind and a.is_sure and b.is_sure]
    is_choice = len({a.kind for a, _ in alike}) == 1 and alike[0][0].kind.startswith("group ")
    return alike[:1] if is_choice else alike


def _are_one_kind(a: Typed, b: Typed, old: Assertion, new: Assertion) -> bool:
    # "384 dimensions" and "768-dimensional" are counted in one unit: the stems begin alike.
    if a.kind == b.kind or (a.kind[:7] == b.kind[:7] and a.kind.startswith("n ")):
        return not refines(a, b)
    if {a.kind, b.kind} == {"n", "version"}:
        return True
    if _is_plain_number(a, old, b) or _is_plain_number(b, new, a):
        return True
    if {a.kind, b.kind} == {"n time", "frequency"}:
        return bool((old.nouns | new.nouns) & _HOW_OFTEN) and a.key != b.key
    if {a.kind, b.kind} == {"day", "frequency"}:
        return float(a.key if a.kind == "frequency" else b.key) < _WEEK
    if a.kind == "n" and b.kind.startswith("n "):
        return b.kind.removeprefix("n ") in old.nouns
    return b.kind == "n" and a.kind.startswith("n ") and a.kind.removeprefix("n ") in new.nouns


def _is_plain_number(number: Typed, its: Assertion, other: Typed) -> bool:
    """Whether a number without a unit is of the other's kind, by the words beside it: "at 8", "port", "length"."""
    if number.kind != "n" or not number.key.isdigit():
        return False
    if other.kind == "time":
        return its.roles[number.key] == "at" and number.said.isdigit() and int(number.key) <= _HOURS
    if other.kind == "port":
        return "port" in its.said
    return other.kind in ("n charact", "n column") and "length" in its.said


def _is_which(value: Typed, assertion: Assertion) -> bool:
    """ "Port 80 redirects", "the nightly export": the value says which one is spoken of."""
    if value.kind in _WHEN and assertion.roles[value.key] == "which":
        return True
    return value.kind in ("n", "port") and assertion.roles[value.key] == "subject"


def _exclude(old: Assertion, new: Assertion, a: Typed, b: Typed) -> bool:
    if not (_fills_one(old, a) and _fills_one(new, b)) or _are_both_doing(old, new, a, b):
        return False
    is_moved = new.roles[b.key] == "to" and bool(new.ties & _MOVES)
    if (
        _class_of(a) != _class_of(b)
        and not (is_moved and {_class_of(a), _class_of(b)} == {"path", "code"})
        and not (old.roles[a.key] == new.roles[b.key] and old.ties & new.ties)
    ):
        return False
    # One may use React and Tailwind; for one purpose one uses one of them.
    shared = (old.nouns | old.ties) & (new.nouns | new.ties) - old.subject - new.subject
    is_purpose = shared - {role.removeprefix("object ") for role in _HAD} or a.kind == b.kind != "name"
    return bool(is_purpose) or not {old.roles[a.key], new.roles[b.key]} <= _HAD


def _class_of(value: Typed) -> str:
    """Kinds that may stand for one another: a tool that is known and one that is not."""
    if value.kind in ("code", "identifier"):
        return "code"
    if value.kind in ("host", "url"):
        return "host"
    if value.kind in ("path", "email"):
        return value.kind
    return value.kind if value.kind in _UNLIKE_NAMES else "name"


def _are_both_doing(old: Assertion, new: Assertion, a: Typed, b: Typed) -> bool:
    """Both come first, and it is nothing of which there is one who does it: "Alice met the client"."""
    if not {old.roles[a.key], new.roles[b.key]} <= {"subject", "far"} or a.kind.startswith("group "):
        return False
    return not old.ties & new.ties & OFFICES and "by" in old.slots


def _fills_one(assertion: Assertion, value: Typed) -> bool:
    """Whether a name stands where one has one: after "is" or a preposition, not as one of many objects."""
    if value.kind == "group merging":
        return True
    role = assertion.roles[value.key]
    if role in _LOOSE_ROLES:
        return False
    return not role.startswith("object ") or role.removeprefix("object ") in _TAKES_ONE or value.kind in _PLACES
