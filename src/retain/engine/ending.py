"""Asking the table of `domain/ending.py` about memories of a store: what somebody did to one only its history tells."""

from collections import defaultdict
from collections.abc import Sequence

from retain.domain.ending import Hold, Way, deeds, why_not
from retain.domain.memory import HistoryEntry, Memory, MemoryId
from retain.ports import MemoryStore


def endable(store: MemoryStore, memories: Sequence[Memory], way: Way) -> list[Memory]:
    """Those of the memories that may be ended in this way. Everything that ends memories asks here."""
    done = _done(store, [memory for memory in memories if why_not(memory, way) is None])
    return [memory for memory in memories if why_not(memory, way, done[memory.id]) is None]


def _done(store: MemoryStore, memories: Sequence[Memory]) -> defaultdict[MemoryId, set[Hold]]:
    # Whatever is done to a memory makes another version of it; most have one.
    changed = [memory.id for memory in memories if memory.version > 1]
    rows = defaultdict[MemoryId, list[HistoryEntry]](list)
    for row in store.history(*changed) if changed else ():
        rows[row.memory].append(row)
    return defaultdict(set, {id: set(deeds(history)) for id, history in rows.items()})
