"""New evidence: which decisions about contradictions a new memory calls in question."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from retain.domain.changes import Contradiction, ContradictionState, StillSo
from retain.domain.memory import Memory, MemoryId
from retain.domain.words import query_terms, terms
from retain.engine.lifecycle.contradictions import plainly
from retain.engine.nearby import Neighbour
from retain.engine.trust.wordings import says_again
from retain.ports import Store

_SINCE = "; in question since "


def reopened(
    store: Store, new: Memory, near: Sequence[Neighbour], now: datetime, denied: Collection[MemoryId] = ()
) -> tuple[Contradiction, ...]:
    """The decided contradictions that a new memory opens again, as they are to be written.

    Where one side was to hold: when the new memory says again what was given up, or denies what holds without denying
    the other. Where both hold, each
    in its case: when it denies one of them, without saying what the other says or naming a case. What is `denied` is
    known to be so already; the rest is left to rules.
    """
    close = {each.memory.id: each.cosine for each in near if each.memory.id != new.id}
    found = [each for each in store.contradictions(list(close)) if not each.is_open]
    sides = store.memories([id for each in found for id in (each.older, each.newer)]) if found else {}
    memories = {id: stored.memory for id, stored in sides.items()}
    evidence = _Evidence(new, close, denied)
    told = [(each, evidence.against(each, memories)) for each in found if new.id not in (each.older, each.newer)]
    return tuple(in_question(each, why, now) for each, why in told if why)


def undecided_since(store: Store, reopened: Sequence[Contradiction]) -> tuple[StillSo, ...]:
    """Whoever decides it at this moment is not overruled by what was read before."""
    read = [store.contradiction(one.id) or one for one in reopened]
    return tuple(StillSo(one.id, one.state, one.resolved) for one in read)


def in_question(found: Contradiction, why: str, now: datetime) -> Contradiction:
    """A contradiction about which nothing is decided any more, and what came; its explanation stays for the record."""
    detail = f"{as_found(found)}{_SINCE}{now:%Y-%m-%d}: {why}"
    return replace(found, state=ContradictionState.REOPENED, winner=None, detail=detail)


def as_found(found: Contradiction) -> str:
    """In what the two sides differ, without what came since."""
    return found.detail.partition(_SINCE)[0]


@dataclass(frozen=True, slots=True)
class _Evidence:
    """A new memory, how close others are to it, and which of them it is known to deny."""

    new: Memory
    close: Mapping[MemoryId, float]
    denied: Collection[MemoryId]

    def against(self, found: Contradiction, memories: Mapping[MemoryId, Memory]) -> str | None:
        """In which way it speaks against a decision; None when it does not."""
        if found.older not in memories or found.newer not in memories:
            return None
        older, newer = memories[found.older], memories[found.newer]
        if found.state is ContradictionState.CONTEXT_DEPENDENT:
            return self._against_both(older, newer, found.conditions or "")
        if found.winner is None:  # it ended without a decision that could be questioned
            return None
        winner, loser = (older, newer) if found.winner == older.id else (newer, older)
        if self._repeats(loser) and not self._repeats(winner):
            return f"memory:{self.new.id} said again what was given up"
        # A third value is a contradiction of its own, and speaks for neither.
        return self._denial(winner) if self._denies(winner) and not self._clashes(loser) else None

    def _against_both(self, older: Memory, newer: Memory, conditions: str) -> str | None:
        if self._names_a_case(conditions, older, newer) or self._repeats(older) or self._repeats(newer):
            return None
        return next((self._denial(side) for side in (older, newer) if self._denies(side)), None)

    def _denial(self, memory: Memory) -> str:
        return f"memory:{self.new.id} contradicts memory:{memory.id}"

    def _denies(self, memory: Memory) -> bool:
        is_known = memory.id in self.denied
        return memory.is_active and (is_known or plainly(memory.text, self.new.text) is not None)

    def _clashes(self, loser: Memory) -> bool:
        return plainly(loser.text, self.new.text) is not None

    def _repeats(self, memory: Memory) -> bool:
        """What was given up has no cosine here, as only active memories are near; so this goes by words."""
        return says_again(memory.text, self.new.text)

    def _names_a_case(self, conditions: str, *sides: Memory) -> bool:
        """Whether it says a word of the conditions that neither side does, such as "production"."""
        known = {term for side in sides for term in terms(side.text)}
        return bool({term for term in query_terms(conditions) if term not in known}.intersection(terms(self.new.text)))
