"""Whether two statements cannot both be true, by rule: precision before recall."""

import re
from itertools import product

from retain.domain.words import query_terms
from retain.engine.lifecycle.assertions import Assertion, assertions, read
from retain.engine.lifecycle.clashes import Clash as Clash
from retain.engine.lifecycle.enumerating import counts_along
from retain.engine.lifecycle.opposition import opposed
from retain.engine.lifecycle.slots import NAMING, Statement, Value, statements
from retain.engine.lifecycle.topics import says_the_same, told_apart
from retain.engine.lifecycle.vocabulary import (
    ATTRIBUTES,
    GENERIC_NOUNS,
    GROUPS,
    LOOSE_GROUPS,
    MANY,
    MANY_SLOTS,
    NAMES_ONE,
    OPPOSITES,
    VAGUE,
)

_SAME_TOPIC = 0.6  # cosine above which two texts are about the same thing, as the contracts have it
_ASSERT_NOTHING = frozenset({"question", "list", "hedged"})
_QUALITY = re.compile(
    r"public|private|\w+(?:ent|ant|ic|abl|ible|ful|ou|iv|al|ari)"
)  # stems of adjectives: one has several
_ALIKE_TIMES = 0.02  # a month is 30 days, and a year 12 months
_KEPT = frozenset({"keep", "retain", "store", "hold"})
# Of 770 labelled pairs that the rules find, two lie below this cosine.
_ONE_TOPIC = 0.4
_SHARED = 4  # terms
_OPPOSING = ("un", "non", "non-", "in", "im", "ir", "il", "dis")


def clash(old: str, new: str, *, cosine: float) -> Clash | None:
    """What the new text denies of the old one, or None. Looks at every pair of their sentences.

    First strictly: the same words but for one value, a "not" or an opposite. Then loosely, by topics and typed values
    in any order of words; how much may differ there depends on how alike the texts are (`cosine`).
    """
    if counts_along(old, new):
        return None
    asserted = [statement for statement in statements(new) if not statement.marks & _ASSERT_NOTHING]
    for before, now in product(statements(old) if asserted else (), asserted):
        if not _comparable(before, now):
            continue
        found = _negation(before, now) or _antonym(before, now) or _value(before, now, cosine)
        if found and not _is_only_worded_so(before, now, found):
            return found
    return _loosely(old, new, cosine) if _may_be_one_topic(old, new, cosine) else None


def _may_be_one_topic(old: str, new: str, cosine: float) -> bool:
    """Whether a loose reading is worth its time, which is most of what storing a memory takes."""
    if cosine:
        return cosine >= _ONE_TOPIC
    return len({*query_terms(old)}.intersection(query_terms(new))) >= _SHARED  # without a model


def _is_only_worded_so(old: Statement, new: Statement, found: Clash) -> bool:
    """Read loosely, they say the same after all ("isn't on", "is off"), or speak of two things."""
    pairs = product(read(old.sentence), read(new.sentence))
    if found.kind == "negation":
        return any(told_apart(*pair) or says_the_same(*pair) for pair in pairs)
    return any(told_apart(*pair) or (found.kind == "value" and _is_one_denied(*pair)) for pair in pairs)


def _is_one_denied(old: Assertion, new: Assertion) -> bool:
    """ "Blocked on Fridays" and "on Tuesdays" go together."""
    return old.is_denied != new.is_denied


def _loosely(old: str, new: str, cosine: float) -> Clash | None:
    """By topics, yes or no, and typed values, where the sentences are built in different ways."""
    found = (opposed(before, now, cosine) for before, now in product(assertions(old), assertions(new)))
    return next((each for each in found if each), None)


def _comparable(old: Statement, new: Statement) -> bool:
    """Questions, lists, plans and history assert nothing that a present fact could deny."""
    if (old.marks | new.marks) & _ASSERT_NOTHING:
        return False
    if "event" in old.marks & new.marks:
        return False  # both happened
    return not (old.marks ^ new.marks) & {"past", "conditional", "other"} and _same_identity(old, new)


def _same_identity(old: Statement, new: Statement) -> bool:
    """Not "item 3" and "item 4", nor "service A" and "service B"."""
    return {w for w in old.words if w.startswith("#")} == {w for w in new.words if w.startswith("#")}


def _negation(old: Statement, new: Statement) -> Clash | None:
    """The same said with "not" and without.

    "We do not use Redis" denies every use of it; "we do not use Redis for sessions" only refines that we use it.
    """
    if old.negations % 2 == new.negations % 2:
        return None
    denied, said = (old, new) if old.negations % 2 else (new, old)
    shared = denied.content & said.content
    if not shared - denied.scoped or denied.content - said.content or not _subjects_agree(old, new):
        return None
    extra = said.content - denied.content
    # "Blocking is forbidden" says the same as "do not block".
    if len(extra) > 3 or (said.negations and extra) or "forbid" in extra:
        return None
    return Clash("negation", f"{_phrase(said, shared)}: {'denied' if denied is new else 'asserted'} now")


def _antonym(old: Statement, new: Statement) -> Clash | None:
    if old.negations % 2 != new.negations % 2 or not _subjects_agree(old, new):
        return None
    here, there, shared = old.content - new.content, new.content - old.content, old.content & new.content
    if min(len(here), len(there)) != 1:
        return None  # more than the one word differs on both sides
    for a, b in product(sorted(here), sorted(there)):
        rest_here, rest_there = here - {a}, there - {b}
        is_alone = not (rest_here and rest_there) and not (rest_here | rest_there) & (old.scoped | new.scoped)
        if _opposed(a, b) and is_alone and not _is_until(old, new, {a, b}) and (shared or old.verb == new.verb):
            return Clash("antonym", f"{_phrase(old, shared)}: {old.spoken[a]} against {new.spoken[b]}")
    return None


def _is_until(old: Statement, new: Statement, opposites: set[str]) -> bool:
    """ "Kept for 30 days" and "deleted after 30 days" say the same of one time, and differ in another by that."""
    return bool(opposites & _KEPT) and all(any(map(str.isdigit, one.sentence)) for one in (old, new))


def _value(old: Statement, new: Statement, cosine: float) -> Clash | None:
    """Another number, version, path or name in the same slot, and no other difference that could explain it."""
    if old.negations or new.negations or (old.marks | new.marks) & {"additive", "event"}:
        return None
    if (old.marks ^ new.marks) & {"bounded"} or not _subjects_agree(old, new) or (old.subject and old.subject <= VAGUE):
        return None
    rivals = _rivals(old, new) if _frames_agree(old, new, cosine) else None
    rivals = rivals or _rival_fillers(old, new, cosine)
    if rivals is None:
        return None
    before, now = rivals
    return Clash("value", f"{_topic(old, new, before)}: {before.said} against {now.said}")


def _subjects_agree(old: Statement, new: Statement) -> bool:
    """Equal but for words such as "server"; a subject that only one of them has must be named in the other."""
    if not (old.subject and new.subject):
        return (old.subject | new.subject) - GENERIC_NOUNS <= old.words & new.words
    return not (old.subject ^ new.subject) - GENERIC_NOUNS or _moved(old, new)


def _moved(old: Statement, new: Statement) -> bool:
    return old.subject <= new.words and new.subject <= old.words


def _frames_agree(old: Statement, new: Statement, cosine: float) -> bool:
    here, there = old.words - new.words, new.words - old.words
    if (here | there) & (old.scoped | new.scoped):
        return False
    here, there = here - GENERIC_NOUNS, there - GENERIC_NOUNS
    if not old.words & new.words:
        return not (here or there)
    return not (here and there)


def _rivals(old: Statement, new: Statement) -> tuple[Value, Value] | None:
    """The one kind of value in which they differ, each having a single value of it."""
    differing = []
    for kind in {value.kind for value in old.values} & {value.kind for value in new.values}:
        here = [value for value in old.values if value.kind == kind]
        there = [value for value in new.values if value.kind == kind]
        if len(here) == len(there) == 1 and not _refines(here[0], there[0]):
            differing.append((here[0], there[0]))
        elif {v.key for v in here} != {v.key for v in there} and len(here) == len(there):
            return None
    if len(differing) != 1:
        return None
    before, now = differing[0]
    is_listed = (old.verb in MANY or new.verb in MANY) and not before.kind.startswith("number")
    is_loose = before.kind in NAMING and (old.filler, new.filler) != (before, now)
    is_loose = is_loose and (before.kind == "name" or old.words != new.words)
    return None if is_listed or is_loose or not (old.words & new.words or _is_choice(before)) else (before, now)


def _is_choice(value: Value) -> bool:
    """A member of a group of which one takes one, so that "we use tabs" needs no further subject."""
    return value.kind.startswith("version:") or (value.kind in GROUPS and value.kind not in LOOSE_GROUPS)


def _rival_fillers(old: Statement, new: Statement, cosine: float) -> tuple[Value, Value] | None:
    """Different fillers of a slot that takes one: "the lead is …", "is hosted on …", "use … for logging"."""
    before, now = old.filler, new.filler
    if before is None or now is None or old.slot != new.slot or _refines(before, now):
        return None
    verb, _, preposition = old.slot.partition(" ")
    if (verb in MANY and preposition != "by") or old.slot in MANY_SLOTS or old.frame != new.frame or not old.frame:
        return None
    if {before.key.partition(" ")[0], now.key.partition(" ")[0]} & {"least", "most"}:
        return None  # at least 8 characters, at least one digit
    if before.kind.startswith("number") != now.kind.startswith("number"):
        return None
    is_named = "word" not in (before.kind, now.kind)
    if verb == "role" or verb in NAMES_ONE:
        fits = True
    elif verb == "be":
        is_quality = _QUALITY.fullmatch(before.key) or _QUALITY.fullmatch(now.key)
        fits = (is_named or (bool(old.subject & ATTRIBUTES) and not is_quality)) and not preposition
    else:
        fits = preposition in ("for", "as") or (bool(preposition) and (is_named or cosine >= _SAME_TOPIC))
    return (before, now) if fits else None


def _refines(a: Value, b: Value) -> bool:
    """Equal, or one is a longer form of the other: 3.11 and 3.11.4, config.yaml and src/config.yaml."""
    short, long = sorted((a.key, b.key), key=len)
    if a.kind == b.kind == "number:time":
        return abs(float(a.key) - float(b.key)) <= _ALIKE_TIMES * float(a.key)
    if short == long or a.kind == b.kind == "path":
        return long.endswith(short)
    if set(short.split()) < set(long.split()) and not a.kind.startswith("number"):
        return True  # "info", "level info"
    return not a.kind.startswith("number:") and long.startswith(short + ".")


def _opposed(a: str, b: str) -> bool:
    if frozenset((a, b)) in OPPOSITES:
        return True
    short, long = sorted((a, b), key=len)
    return len(short) > 3 and any(long == prefix + short for prefix in _OPPOSING)


def _topic(old: Statement, new: Statement, value: Value) -> str:
    if value.kind in GROUPS:
        return value.kind
    return _phrase(old, old.words & new.words)


def _phrase(statement: Statement, words: frozenset[str]) -> str:
    return " ".join(said for key, said in statement.spoken.items() if key in words) or "the same"
