"""What is near a text, and which of it says the same already."""

from collections.abc import Iterable, Mapping, Sequence
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
from retain.engine.lifecycle.relating import in_order
from retain.engine.parts import places
from retain.engine.thresholds import NEAR
from retain.ports import Store

NEIGHBOURS = 8
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
    """What somebody has compared with a text before it is written."""

    verdicts: Mapping[MemoryId, str | None] = field(default_factory=dict)
    """Why each contradicts it; None for those that do not."""
    whole: bool = False
    """Whether nothing was left to compare at that time."""
    by_llm: bool = False
    """Whether a language model compared, and not the judge in the package."""

    def covers(self, near: Iterable[Neighbour]) -> bool:
        """Whether nothing is left to compare now; others may have written what is near since."""
        return self.whole and all(each.memory.id in self.verdicts for each in near if each.memory.is_active)


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
    near: Sequence[Neighbour], new: Memory, compared: Compared, now: datetime
) -> tuple[Contradiction, ...]:
    """Those of the memories nearby that were seen to contradict the new one."""
    close = {each.memory.id: each.memory for each in near if each.memory.id != new.id}
    denied = [(in_order(close[id], new), why) for id, why in compared.verdicts.items() if why and id in close]
    return tuple(
        Contradiction(new_id(now), older.id, newer.id, "meaning", why, now, by_rule=not compared.by_llm)
        for (older, newer), why in denied
    )


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
    return same_claim(old, text) and adds_nothing(text, old) and clash(old, text) is None


def adds_nothing(new: str, old: str) -> bool:
    """Whether all that the new text says stands in the old one, in the same order.

    "The left sidebar" and "the right sidebar", or who calls whom, is a difference that a vector hardly
    shows, and what is taken for a repetition is not kept. A part may have moved from one end to the other
    ("in tests we use tabs", "we use tabs in tests"): that turns the row of words, and does not mix it.
    """
    said, told = telling(old), telling(new)
    turned = (iter(said[start:] + said[:start]) for start in range(max(len(said), 1)))
    return any(all(term in row for term in told) for row in turned)


def telling(text: str) -> list[str]:
    """The terms of a text that tell something, in their order."""
    return [term for term in terms(text) if term not in LIGHT]
