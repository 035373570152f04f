"""What is near a text: what says the same already, and what cannot be true beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from retain.domain.changes import Contradiction
from retain.domain.claims import fingerprint, same_claim
from retain.domain.ids import new_id
from retain.domain.memory import Memory, MemoryId, Place, State, Stored
from retain.domain.recall import Filter
from retain.domain.session import Caller
from retain.domain.stem import stem
from retain.domain.words import query_terms, terms
from retain.engine.embed import Embedded
from retain.engine.lifecycle.contradictions import clash
from retain.engine.parts import places
from retain.ports import Store

NEAR = 0.95
NEIGHBOURS = 8
ALIKE = 0.6
# Words that may come and go without another meaning.
_LIGHT = """
    a an the that this these those we our us i my it its is are was were be been of to for as in on at and also just
"""
LIGHT = frozenset(map(stem, _LIGHT.split()))


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A memory close to a text, and how close."""

    stored: Stored
    cosine: float

    @property
    def memory(self) -> Memory:
        return self.stored.memory


@dataclass(frozen=True, slots=True)
class Compared:
    """What somebody who knows better than a rule has compared with a text."""

    verdicts: Mapping[MemoryId, str | None] = field(default_factory=dict)
    """Why each contradicts it; None for those that do not."""
    by_rule: bool = True
    """Whether rules compare the rest."""


def neighbours(store: Store, text: str, vectors: Embedded, caller: Caller, place: Place) -> list[Neighbour]:
    """What the caller already knows that is closest to a text: by meaning, else by words."""
    wanted = Filter(tuple({*places(caller), place}))
    if vectors.vectors:
        found = store.by_vector(vectors.vectors[0], vectors.model, wanted, NEIGHBOURS).scores
    else:
        found = dict.fromkeys(store.by_words(query_terms(text), wanted, NEIGHBOURS).scores, 0.0)
    memories = store.memories(list(found))
    return [Neighbour(stored, found[id]) for id, stored in memories.items()]


def contradictions(
    near: Sequence[Neighbour],
    new: Memory,
    also: Sequence[Stored],
    now: datetime,
    compared: "Compared | None" = None,
) -> tuple[Contradiction, ...]:
    """Rivals among what is near in meaning, and among what speaks of the same entities; what was `compared` already is
    not left to rules, nor anything where these have no say."""
    close = {stored.memory.id: Neighbour(stored, 0.0) for stored in also} | {n.memory.id: n for n in near}
    close.pop(new.id, None)
    words, compared = set(query_terms(new.text)), compared or Compared()
    found: list[Contradiction] = []
    for id, why in compared.verdicts.items():
        if close.pop(id, None) and why:
            found.append(Contradiction(new_id(now), id, new.id, "meaning", why, now, by_rule=False))
    for old in close.values() if compared.by_rule else ():
        # Two texts that share hardly a word have no subject in common; most are told apart by that.
        if old.cosine < ALIKE and len(words.intersection(terms(old.memory.text))) < 2:
            continue
        rival = clash(old.memory.text, new.text, cosine=old.cosine)
        if rival:
            found.append(Contradiction(new_id(now), old.memory.id, new.id, rival.kind, rival.detail, now))
    return tuple(found)


def said_already(store: Store, text: str, place: Place, near: Sequence[Neighbour]) -> Stored | None:
    """The memory in this place that already says it, to the letter or in nearly the same words; it may be asleep."""
    twin = store.twin(place, fingerprint(text), states=tuple(State))
    if twin and twin.memory.status.state in (State.ACTIVE, State.DORMANT):
        return twin
    alike = (n for n in near if n.cosine >= NEAR and n.memory.place.key == place.key and _as_long(n, text))
    return next((n.stored for n in alike if _agrees(n, text)), None)


def _as_long(near: Neighbour, text: str) -> bool:
    return len(near.memory.text) <= 2 * len(text)


def _agrees(near: Neighbour, text: str) -> bool:
    """Whether a text that means nearly the same also says the same: "we use tabs" and "we use spaces" are close."""
    old = near.memory.text
    return same_claim(old, text) and adds_nothing(text, old) and clash(old, text, cosine=near.cosine) is None


def adds_nothing(new: str, old: str) -> bool:
    """Whether all that the new text says stands in the old one, in the same order.

    "The left sidebar" and "the right sidebar", or who calls whom, is a difference that a vector hardly
    shows, and what is taken for a repetition is not kept. A part may have moved from one end to the other
    ("in tests we use tabs", "we use tabs in tests"): that turns the row of words, and does not mix it.
    """
    said, told = _telling(old), _telling(new)
    turned = (iter(said[start:] + said[:start]) for start in range(max(len(said), 1)))
    return any(all(term in row for term in told) for row in turned)


def _telling(text: str) -> list[str]:
    return [term for term in terms(text) if term not in LIGHT]
