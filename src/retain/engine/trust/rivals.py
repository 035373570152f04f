"""Rivals: what disputes the memories that are handed out, and under which conditions they hold."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from retain.domain.changes import Contradiction, ContradictionState
from retain.domain.memory import Memory, MemoryId, Stored
from retain.domain.session import Caller
from retain.domain.standing import Rival, Standing
from retain.engine.parts import places
from retain.errors import Unavailable
from retain.ports import Store

Against = tuple[Contradiction, Memory]

__all__ = ["Rival", "rivals_of", "standing", "surely_standing", "with_standings"]


def rivals_of(store: Store, ids: Sequence[MemoryId], caller: Caller) -> dict[MemoryId, tuple[Rival, ...]]:
    """What contradicts each memory and is active, while that is open or reopened; without those that have no rival.

    Only what the caller could recall is named, or what lies in the same place as the memory that it contradicts.
    """
    standings = _standings(store, ids, store.contradictions(ids), {}, caller)
    return {id: found.rivals for id, found in standings.items() if found.rivals}


def with_standings(store: Store, ids: Sequence[MemoryId], caller: Caller) -> dict[MemoryId, Stored]:
    """The memories, each with where it stands: in one question to the store, and a second where some are disputed."""
    try:
        found, disputes = store.with_contradictions(ids)
    except Unavailable:
        return store.memories(ids)
    try:
        return {stored.memory.id: stored for stored in _stood(store, list(found.values()), disputes, caller)}
    except Unavailable:
        return found


def standing(store: Store, found: Iterable[Stored], caller: Caller) -> list[Stored]:
    """The same memories with what disputes each and when it holds.

    Without that where the store cannot say in time: an answer must not be lost for a remark on it.
    """
    found = list(found)
    try:
        return surely_standing(store, found, caller)
    except Unavailable:
        return found


def surely_standing(store: Store, found: Sequence[Stored], caller: Caller) -> list[Stored]:
    """The same for memories that must not be shown without it. Raises Unavailable."""
    disputes = store.contradictions([stored.memory.id for stored in found]) if found else []
    return _stood(store, found, disputes, caller)


def _stood(store: Store, found: Sequence[Stored], disputes: Iterable[Contradiction], caller: Caller) -> list[Stored]:
    read = {stored.memory.id: stored.memory for stored in found}
    known = _standings(store, list(read), disputes, read, caller)
    return [replace(each, standing=known[each.memory.id]) if each.memory.id in known else each for each in found]


def _standings(
    store: Store,
    ids: Sequence[MemoryId],
    disputes: Iterable[Contradiction],
    read: Mapping[MemoryId, Memory],
    caller: Caller,
) -> dict[MemoryId, Standing]:
    """Of those memories that have rivals or conditions; those that were `read` already are not read again."""
    found = [each for each in disputes if _still_matters(each)]
    parties = dict.fromkeys(id for each in found for id in (each.older, each.newer))
    others = store.memories([id for id in parties if id not in read])
    known = {**read, **{id: stored.memory for id, stored in others.items()}}
    asked = [known[id] for id in ids if id in known and id in parties]
    told = {memory.id: _standing(against) for memory, against in _sides(asked, found, known, caller)}
    return {id: stands for id, stands in told.items() if stands.rivals or stands.conditions}


def _sides(
    asked: Iterable[Memory], found: Iterable[Contradiction], known: Mapping[MemoryId, Memory], caller: Caller
) -> Iterator[tuple[Memory, list[Against]]]:
    """Each memory with the contradictions that it is a party to, and the other party of each."""
    by_party: dict[MemoryId, list[Contradiction]] = {}
    for each in found:
        by_party.setdefault(each.older, []).append(each)
        by_party.setdefault(each.newer, []).append(each)
    seen = {place.key for place in places(caller)}
    for memory in asked:
        others = ((each, known.get(each.other(memory.id))) for each in by_party[memory.id])
        # What another session, project or agent keeps to itself stays there, whatever it contradicts.
        yield memory, [(each, it) for each, it in others if it and it.place.key in {memory.place.key, *seen}]


def _still_matters(found: Contradiction) -> bool:
    return found.is_open or (found.state is ContradictionState.CONTEXT_DEPENDENT and bool(found.conditions))


def _standing(against: Sequence[Against]) -> Standing:
    rivals = [Rival(each, other) for each, other in against if each.is_open and other.is_active]
    conditions = [each.conditions for each, _ in against if each.conditions and not each.is_open]
    return Standing(tuple(rivals), tuple(dict.fromkeys(conditions)))
