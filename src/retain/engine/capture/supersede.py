"""Whether something captured is news, and which memories it takes the place of or puts in doubt.

A newer text in nearly the same words takes the place of the older one, and so does what a language model or the user
names as replaced. Beyond that the user's own later statement ends an earlier captured one of the user where the judge
is as good as sure that both cannot hold; where it is only likely, both stay, and each is shown with the other. Nobody
else's word ends the user's, and the table of endings (`domain.ending`) holds here as everywhere.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice, product

from retain.domain.claims import fingerprint, jaccard, same_claim
from retain.domain.conversation import Extracted, Speaker
from retain.domain.ending import Way, word_of
from retain.domain.memory import Memory, MemoryId, Place, State
from retain.domain.recall import Filter
from retain.domain.sentences import clauses
from retain.domain.session import Caller
from retain.domain.words import query_terms, terms
from retain.engine.embed import Embedded
from retain.engine.ending import endable
from retain.engine.lifecycle.apart import apart
from retain.engine.lifecycle.contradictions import plainly
from retain.engine.nearby import neighbours, telling
from retain.engine.thresholds import (
    ALIKE,
    CHOSEN,
    CLOSE,
    DOUBTS_IN_PART,
    ENDS,
    ENDS_WHAT_IT_NAMES,
    NAMED,
    PASSED_OVER,
    contradicts_from,
)
from retain.ports import Judge, Store

MOST = 2000  # memories of one category that are compared
_MOST_PARTS = 24  # comparisons of two statements
_LEAVES = re.compile(
    r"(?:, not(?= \S*\d)|\b(?:instead of|rather than|no (?:more|longer)|ditched|dropped|replaced|leaving"
    r"|(?:away|back|over|off) from|used to be|(?:switched|switching|moved|moving|migrated|went|going|changed)"
    r" (?:\w+ )?(?:away )?from|anstatt|statt|nicht mehr|au lieu de|en vez de|em vez de|invece di"
    r"|in plaats van|zamiast|вместо|yerine))\s+"
    r"(?:on |to |the |a |our |using |use )*(?P<what>[\w@/.+#:-]+(?: [\w@/.+#:-]+)?)",
    re.IGNORECASE,
)
_SEVERAL = re.compile(r"[,;&]|\b(?:and|plus|und|et|y|e|en|i|и|ve)\b", re.IGNORECASE)
_WORD_OF = {Speaker.USER: 2, Speaker.ASSISTANT: 1, Speaker.TOOL: 0}


@dataclass(frozen=True, slots=True)
class Known:
    """Not to be stored, and why."""

    why: str


@dataclass(frozen=True, slots=True)
class News:
    """To be stored, in the place of these, as far as they may be ended by what does not name them."""

    replaces: tuple[MemoryId, ...] = ()
    compared: Mapping[MemoryId, str | None] = field(default_factory=dict)
    """What was compared with it, and why that is in doubt; None where both hold."""


@dataclass(frozen=True, slots=True)
class Arriving:
    """A statement with its vectors, on its way to a place."""

    found: Extracted
    place: Place
    vectors: Embedded
    caller: Caller


@dataclass(frozen=True, slots=True)
class Opposed:
    """How surely one statement speaks against another, and whether that is enough to end it, if nothing protects it."""

    odds: float
    ends: bool


def judged(store: Store, judge: Judge, new: Arriving) -> Known | News:
    """What becomes of a statement. One that was made before it was last counted, or ended, is old news: so reading
    the same conversation twice changes nothing, and what the user has forgotten does not come back."""
    found, place = new.found, new.place
    twin = store.twin(place, fingerprint(found.text), states=tuple(State))
    if twin and twin.memory.is_active:
        return News() if _is_later(found, _counted(twin.memory)) else Known("it was counted before")
    if twin and not _is_later(found, _ended_at(twin.memory)):
        return Known(f"it is {twin.memory.status.state} since it was said")
    rivals = _rivals(store, judge, found, place)
    if any(found.at is not None and found.at < old.event_time and _weighs_as_much(old, found) for old in rivals):
        return Known("something newer is known")
    if any(not _may_end(found, old) and same_claim(old.text, found.text) for old in rivals):
        return Known("it is known on better word")
    ended = endable(store, [old for old in rivals if _may_end(found, old)], Way.REPLACE)
    corrected, compared = _corrected(store, judge, new, {old.id for old in ended})
    return News(tuple(old.id for old in (*ended, *corrected)), compared)


def alike(store: Store, text: str, category: str, place: Place) -> list[Memory]:
    """Active memories of the category that say nearly the same of the same thing, by the words they share."""
    return [old for old in _of_category(store, category, place) if _is_alike(old.text, text)]


def _rivals(store: Store, judge: Judge, found: Extracted, place: Place) -> list[Memory]:
    """What says nearly the same in other words of the same category, or is said to be replaced."""
    there = _of_category(store, found.category, place)
    rivals = [old for old in there if restates(judge, old.text, found.text)]
    if found.replaces:
        rivals += [old for old in there if jaccard(old.text, found.replaces) > NAMED]
    return list({old.id: old for old in rivals if fingerprint(old.text) != fingerprint(found.text)}.values())


def _corrected(
    store: Store, judge: Judge, new: Arriving, but: set[MemoryId]
) -> tuple[list[Memory], dict[MemoryId, str | None]]:
    """Which of the memories near it the new statement ends, and what is in doubt because of it."""
    found = new.found
    near = neighbours(store, found.text, new.vectors, new.caller, new.place)
    ended: list[Memory] = []
    compared: dict[MemoryId, str | None] = {}
    for each in near:
        old = each.memory
        if old.id in but or not old.is_active or fingerprint(old.text) == fingerprint(found.text):
            continue
        # Without vectors a cosine is not known, and shared words have brought it here.
        cosine = each.cosine if new.vectors.vectors else None
        against = opposed(judge, old.text, found.text) if cosine is None or cosine >= CLOSE else None
        # An agent's word puts the user's in no doubt: from then on it would lead, with the user's in brackets.
        if against is None or not _may_end(found, old):
            compared[old.id] = None
            continue
        compared[old.id] = _why_in_doubt(judge, old.text, found.text, against.odds, cosine)
        if against.ends and _is_the_users_own(found, old, new.place):
            ended.append(old)
    ended = endable(store, ended, Way.REPLACE)
    return ended, {id: why for id, why in compared.items() if id not in {old.id for old in ended}}


def opposed(judge: Judge, old: str, new: str) -> Opposed | None:
    """How surely a newer statement speaks against an older one; None where they speak of two things."""
    is_named = _is_left(old, new)
    if not is_named and apart(old, new):
        return None
    odds = judge.relation(old, new).contradiction
    if is_named:
        return Opposed(odds, odds >= ENDS_WHAT_IT_NAMES and _is_all_spoken_of(old, new))
    return Opposed(odds, odds >= ENDS)


def _is_all_spoken_of(old: str, new: str) -> bool:
    """Whether an older statement says one thing, or the new one speaks of nearly all that it says. Who leaves a part
    ("we no longer run Cypress in CI") leaves the rest as it was."""
    said, now = set(telling(old)), set(telling(new))
    return not _SEVERAL.search(old) or len(said - now) <= PASSED_OVER * len(said)


def restates(judge: Judge, old: str, new: str) -> bool:
    """Whether a newer statement says the same thing again, with nothing left out, or what has become of it, in nearly
    the same words."""
    if not _is_alike(old, new):
        return False
    bearing = judge.relation(old, new).relation
    return bearing == "contradiction" or (bearing != "unrelated" and _leaves_nothing_out(old, new))


def _leaves_nothing_out(old: str, new: str) -> bool:
    """Whether a newer statement has all but one of the older one's words, in the same order, and its numbers: who
    calls whom is told by the order alone."""
    said, now = telling(old), telling(new)
    left = [term for term in said if term not in now]
    is_in_order = [term for term in said if term in now] == [term for term in now if term in said]
    return is_in_order and len(left) <= 1 and not any(map(str.isdigit, left))


def _is_alike(old: str, new: str) -> bool:
    return jaccard(old, new) > ALIKE and not apart(old, new)


def _why_in_doubt(judge: Judge, old: str, new: str, odds: float, cosine: float | None) -> str | None:
    if odds >= contradicts_from(cosine) - CHOSEN:
        return f"the judge says so, with {odds:.2f}"
    if found := plainly(old, new):
        return found.detail
    return _speaks_in_part_against(judge, old, new)


def _speaks_in_part_against(judge: Judge, old: str, new: str) -> str | None:
    """Why a part of the new statement cannot hold beside the old one, or a part of that: a change is often told in the
    middle of a task, and what it changes beside something else."""
    for before, after in islice(product(clauses(old), clauses(new)), 1, _MOST_PARTS):
        if (odds := judge.relation(before, after).contradiction) >= DOUBTS_IN_PART:
            return f"the judge says so of a part, with {odds:.2f}"
    return None


def _is_the_users_own(found: Extracted, old: Memory, place: Place) -> bool:
    """Whether both are the user's captured words in one place, and the new one was said later."""
    is_captured = old.source.tool == "capture" and word_of(old) is Speaker.USER
    is_later = found.at is None or found.at >= old.event_time
    return found.speaker is Speaker.USER and is_captured and is_later and old.place.key == place.key


def _is_left(old: str, new: str) -> bool:
    """Whether the new statement says that it leaves something which the old one names, and has more in common with it
    than that."""
    said = set(terms(old))
    return len(said.intersection(terms(new))) > 1 and any(
        _is_named(match["what"], said) for match in _LEAVES.finditer(new)
    )


def _is_named(what: str, said: set[str]) -> bool:
    left: Sequence[str] = query_terms(what)
    return bool(left) and left[0] in said


def _of_category(store: Store, category: str, place: Place) -> list[Memory]:
    return [stored.memory for stored in store.listed(Filter((place,), categories=(category,)), MOST)]


def _may_end(found: Extracted, old: Memory) -> bool:
    """What somebody said is not ended on lesser word: a web page must not take back what the user wanted."""
    return _WORD_OF[found.speaker] >= _WORD_OF[word_of(old)]


def _weighs_as_much(old: Memory, found: Extracted) -> bool:
    return _WORD_OF[word_of(old)] >= _WORD_OF[found.speaker]


def _ended_at(memory: Memory) -> datetime | None:
    """When it ceased to hold, or was put out of sight. What something else took the place of held until that was said,
    which may be long before anybody read it."""
    is_superseded = memory.status.state is State.SUPERSEDED and memory.valid_until
    return memory.valid_until if is_superseded else memory.status.since


def _counted(memory: Memory) -> datetime:
    return max(memory.created, memory.reinforced_at or memory.created)


def _is_later(found: Extracted, moment: datetime | None) -> bool:
    return found.at is not None and (moment is None or found.at > moment)
