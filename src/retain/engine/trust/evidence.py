"""Evidence: what is stored for and against memories, gathered, and how far to trust each of them for it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from retain.domain.graph import SIMILAR, SUPPORTS, Tie
from retain.domain.memory import Memory, MemoryId, Provenance, Stored
from retain.domain.recall import Filter
from retain.domain.session import Caller
from retain.domain.trust import CROWDED, Confidence, Evidence, confidence, provenance_of
from retain.engine.lifecycle.apart import apart
from retain.engine.parts import Parts, places
from retain.engine.revise import ENDED
from retain.engine.trust.rivals import Rival, rivals_of
from retain.ports import Store

# Of what crowds one memory: to tell two things apart takes 0.08 ms a pair, and with so many it is hardly trusted.
_MOST_LOOKED_AT = 16


@dataclass(frozen=True, slots=True)
class Known:
    """How far a memory can be trusted, whose word it is, and what speaks for and against it."""

    confidence: Confidence
    provenance: Provenance
    rivals: tuple[Rival, ...] = ()
    supporting: int = 0
    crowding: int = 0
    """How many later memories are about the same thing without agreeing."""
    against: tuple[Rival, ...] = ()
    """What was said later and cannot be true beside it, or beside what says the same."""


@dataclass(frozen=True, slots=True)
class _Gathered:
    """What bears on some memories; only those are named that have rivals, or vectors to be crowded by."""

    support: Mapping[MemoryId, int]
    rivals: Mapping[MemoryId, tuple[Rival, ...]]
    against: Mapping[MemoryId, tuple[Rival, ...]]
    """Rivals of the memory or of what says the same."""
    crowding: Mapping[MemoryId, int]


def weigh(parts: Parts, stored: Sequence[Stored], caller: Caller) -> dict[MemoryId, Known]:
    """How far to trust each of these memories at this moment, by what the caller can see.

    What crowds a memory is known only where it has vectors by the present model.
    """
    memories = [each.memory for each in stored]
    ids = [memory.id for memory in memories]
    # A tie that was taken back with its run has no strength any more.
    ties = [tie for tie in parts.store.ties(ids) if tie.strength > 0]
    agreeing = _agreeing(ids, ties)
    found = rivals_of(parts.store, list(dict.fromkeys([*ids, *set().union(*agreeing.values())])), caller)
    gathered = _Gathered(
        _support(parts, memories, ties),
        {id: found[id] for id in ids if id in found},
        {id: _distinct(rival for one in agreeing[id] for rival in found.get(one, ())) for id in ids},
        _crowding(parts, memories, ties, caller),
    )
    now = parts.clock.now()
    return {memory.id: _known(memory, gathered, now) for memory in memories}


def _known(memory: Memory, gathered: _Gathered, now: datetime) -> Known:
    against = tuple(rival for rival in gathered.against[memory.id] if rival.is_later_than(memory))
    evidence = Evidence(
        provenance=provenance_of(memory),
        kind=memory.kind,
        said=memory.event_time,
        salience=memory.importance,
        supporting=gathered.support[memory.id],
        contradicting=len(against),
        crowding=gathered.crowding.get(memory.id, 0),
        reinforced=memory.reinforced,
        reinforced_at=memory.reinforced_at,
    )
    trust, rivals = confidence(evidence, now), gathered.rivals.get(memory.id, ())
    return Known(trust, evidence.provenance, rivals, evidence.supporting, evidence.crowding, against)


def _agreeing(ids: Sequence[MemoryId], ties: Sequence[Tie]) -> dict[MemoryId, set[MemoryId]]:
    """Each memory with those that say the same: what is denied in one wording is denied in all."""
    same = {id: {id} for id in ids}
    for tie in ties:
        if tie.type == SUPPORTS:
            for one, other in ((tie.source, tie.target), (tie.target, tie.source)):
                if one in same:
                    same[one].add(other)
    return same


def _distinct(rivals: Iterable[Rival]) -> tuple[Rival, ...]:
    return tuple({rival.memory: rival for rival in rivals}.values())


def _support(parts: Parts, memories: Sequence[Memory], ties: Sequence[Tie]) -> dict[MemoryId, int]:
    """How much speaks for each memory: what it was made from, what is tied to it as evidence, and having been repeated.

    Evidence that came in later was counted as a repetition, too; it counts once, and no more when it was taken back.
    """
    told: dict[MemoryId, set[MemoryId]] = {memory.id: set() for memory in memories}
    for tie in ties:
        if tie.type == SUPPORTS and tie.target in told:
            told[tie.target].add(tie.source)
    # Two that agree speak for each other, whichever came first.
    agreed = {id: {tie.target for tie in ties if tie.type == SUPPORTS and tie.source == id} for id in told}
    behind = {memory.id: told[memory.id] | agreed[memory.id] | set(memory.derived_from) for memory in memories}
    found = parts.store.memories(list(set().union(*behind.values())))
    standing = {id: sum(_stands(found.get(one), id) for one in behind[id]) for id in behind}
    repeated = {m.id: m.reinforced - len(told[m.id] - set(m.derived_from)) for m in memories}
    return {id: standing[id] + max(repeated[id], 0) for id in standing}


def _stands(source: Stored | None, behind: MemoryId) -> bool:
    """Whether a memory still counts as evidence: also while it sleeps, and when what it speaks for took its place.

    What was made from the other says nothing new about it.
    """
    if source is None or behind in source.memory.derived_from:
        return False
    status = source.memory.status
    return status.state not in ENDED or status.successor == behind


def _crowding(parts: Parts, memories: Sequence[Memory], ties: Sequence[Tie], caller: Caller) -> dict[MemoryId, int]:
    """How many later memories about the same thing there are that neither support a memory nor derive from it.

    Another environment, component or entry of a list is another thing, however near it is said.
    """
    wanted = Filter(places(caller))
    near = parts.store.crowding([m.id for m in memories], parts.embedder.model, wanted, CROWDED)
    agreed = _agreed(memories, ties)
    others = {id: [other for other in found if other not in agreed[id]] for id, found in near.items()}
    looked_at = {id: found[:_MOST_LOOKED_AT] for id, found in others.items()}
    said = {memory.id: memory.text for memory in memories} | _texts(parts.store, set().union(*looked_at.values()))
    elsewhere = {
        id: sum(other in said and apart(said[id], said[other]) for other in found) for id, found in looked_at.items()
    }
    return {id: len(found) - elsewhere[id] for id, found in others.items()}


def _texts(store: Store, ids: Collection[MemoryId]) -> dict[MemoryId, str]:
    return {id: stored.memory.text for id, stored in store.memories(list(ids)).items()} if ids else {}


def _agreed(memories: Sequence[Memory], ties: Sequence[Tie]) -> dict[MemoryId, set[MemoryId]]:
    """What says the same as each memory, what it was made from, and what has taken its place."""
    agreed = {memory.id: {*memory.derived_from, memory.status.successor or ""} for memory in memories}
    for tie in ties:
        if tie.type in (SUPPORTS, SIMILAR):
            for one, other in ((tie.source, tie.target), (tie.target, tie.source)):
                agreed.get(one, set()).add(other)
    return agreed
