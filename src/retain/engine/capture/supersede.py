"""Whether something captured is news, and which memories it takes the place of.

A rule never ends a memory because two texts contradict each other. What ends one is a newer text in nearly the same
words, a model that names what is replaced, or the user who says so.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import product

from retain.domain.claims import fingerprint, jaccard, same_claim
from retain.domain.conversation import Extracted, Speaker
from retain.domain.ending import word_of
from retain.domain.memory import Memory, MemoryId, Place, State
from retain.domain.recall import Filter
from retain.domain.words import query_terms
from retain.engine.lifecycle.contradictions import clash
from retain.engine.lifecycle.slots import Statement, statements
from retain.engine.lifecycle.vocabulary import GENERIC_NOUNS
from retain.ports import Store

ALIKE = 0.6  # strictly above, in the same category: the newer takes the older one's place
NAMED = 0.5  # strictly above: this is what is said to be replaced
MOST = 2000  # memories of one category that are compared
_LOOKED_UP = 20
_CHOICE = re.compile(
    r"(?:(?:we|we're|we've|we are|we have|the team|our team|always|decided:|i|please|just|now|also)\W+)*"
    r"(?:(?:decided|agreed|chose|voted|want|prefer) (?:to )?)?"
    r"(?:(?:use|go with|going with|went with|adopt|adopted|chose|picked|prefer|settled on|standardi[sz]ed on|stay on"
    r"|stick with|pinned to|(?:switch|switched|move|moved|migrate|migrated)(?: \S+){0,4}? to|deploy to|deploy on)"
    r"|\w+(?: \w+){0,2} with) (?P<what>.+?)"
    r"(?=[,;.](?:\s|$)| (?:because|since|for|instead of|rather than|in|on|as|so|here|everywhere|then|over|not)\b|$)",
    re.I,
)
_PURPOSE = re.compile(r"\b(?:for|in) (?:the|our|all|every|new|this)? ?(?P<what>[\w-]+(?: [\w-]+)?)", re.I)
_WORD_OF = {Speaker.USER: 2, Speaker.ASSISTANT: 1, Speaker.TOOL: 0}


@dataclass(frozen=True, slots=True)
class Known:
    """Not to be stored, and why."""

    why: str


@dataclass(frozen=True, slots=True)
class News:
    """To be stored, in the place of these, as far as they may be ended by what does not name them."""

    replaces: tuple[MemoryId, ...] = ()


def judged(store: Store, found: Extracted, place: Place) -> Known | News:
    """What becomes of a statement. One that was made before it was last counted, or ended, is old news: so reading
    the same conversation twice changes nothing, and what the user has forgotten does not come back."""
    mark = fingerprint(found.text)
    twin = store.twin(place, mark, states=tuple(State))
    if twin and twin.memory.is_active:
        return News() if _is_later(found, _counted(twin.memory)) else Known("it was counted before")
    if twin and not _is_later(found, twin.memory.status.since):
        return Known(f"it is {twin.memory.status.state} since it was said")
    rivals = _rivals(store, found, place)
    if any(found.at is not None and found.at < old.event_time for old in rivals):
        return Known("something newer is known")
    if any(not _may_end(found, old) and same_claim(old.text, found.text) for old in rivals):
        return Known("it is known on better word")
    return News(tuple(old.id for old in rivals if _may_end(found, old)))


def alike(store: Store, text: str, category: str, place: Place) -> list[Memory]:
    """Active memories of the category that say nearly the same, by the words they share."""
    return [old for old in _of_category(store, category, place) if _is_alike(old.text, text)]


def _rivals(store: Store, found: Extracted, place: Place) -> list[Memory]:
    there = _of_category(store, found.category, place)
    rivals = [old for old in there if _is_alike(old.text, found.text)]
    if found.replaces:
        rivals += [old for old in there if jaccard(old.text, found.replaces) > NAMED]
        if found.speaker is Speaker.USER:
            rivals += _given_up(store, found, place)
    return list({old.id: old for old in rivals if fingerprint(old.text) != fingerprint(found.text)}.values())


def _of_category(store: Store, category: str, place: Place) -> list[Memory]:
    return [stored.memory for stored in store.listed(Filter((place,), categories=(category,)), MOST)]


def _given_up(store: Store, found: Extracted, place: Place) -> Iterable[Memory]:
    """What the user names as replaced, whatever its category: it contradicts the new text, or has the replaced thing
    in the place of the new one."""
    terms = query_terms(f"{found.replaces} {found.text}")
    near = store.by_words(terms, Filter((place,)), _LOOKED_UP).scores
    for stored in store.memories(list(near)).values():
        old = stored.memory.text
        if _for_another(old, found.text):
            continue
        if clash(old, found.text, cosine=0.0) or _has_its_place(old, found) or _is_choice_of(old, found.replaces or ""):
            yield stored.memory


def _is_choice_of(old: str, replaced: str) -> bool:
    """Whether a memory says that what is replaced was chosen: "we style with CSS modules"."""
    choice = _CHOICE.match(old)
    chosen = set(query_terms(choice["what"])) if choice else set()
    return bool(chosen) and chosen <= set(query_terms(replaced))


def _for_another(old: str, new: str) -> bool:
    """Whether both say what they are for, and it is not the same: Postgres stays for the invoices when the cache of
    the command line leaves it."""
    here, there = (_PURPOSE.search(text) for text in (old, new))
    if here is None or there is None:
        return False
    return not set(query_terms(here["what"])) & set(query_terms(there["what"]))


def _has_its_place(old: str, found: Extracted) -> bool:
    """ "We use npm for packages" or "deploy to Heroku", when the user says to switch from npm, or to leave Heroku."""
    replaced = set(query_terms(found.replaces or ""))
    return any(_is_filled_by(before, now, replaced) for before, now in product(statements(old), statements(found.text)))


def _is_filled_by(old: Statement, new: Statement, replaced: set[str]) -> bool:
    if old.filler is None or new.filler is None or old.filler.key == new.filler.key:
        return False
    named = set(query_terms(old.filler.said))
    # With a preposition it is where or with what; without one, as in "run npm ci", it may be a part of a command.
    return (old.verb == new.verb or " " in old.slot) and bool(named) and named <= replaced


def _is_alike(old: str, new: str) -> bool:
    return jaccard(old, new) > ALIKE and not _of_another(old, new)


def _of_another(old: str, new: str) -> bool:
    """Whether the same is said of two things: "the auth service listens on 8080" and "the billing service …"."""
    pairs = list(product(statements(old), statements(new)))
    return bool(pairs) and all(_differ(before, now) for before, now in pairs)


def _differ(old: Statement, new: Statement) -> bool:
    here, there = old.subject - new.subject - GENERIC_NOUNS, new.subject - old.subject - GENERIC_NOUNS
    return bool(here and there) and not (here & new.words or there & old.words)


def _may_end(found: Extracted, old: Memory) -> bool:
    """What somebody said is not ended on lesser word: a web page must not take back what the user wanted."""
    return _WORD_OF[found.speaker] >= _WORD_OF[word_of(old)]


def _counted(memory: Memory) -> datetime:
    return max(memory.created, memory.reinforced_at or memory.created)


def _is_later(found: Extracted, moment: datetime | None) -> bool:
    return found.at is not None and (moment is None or found.at > moment)
