"""Edges that a process has read, for as long as they stay as they are.

Reading them takes nine tenths of a walk: 15 µs for one in this process, more over a socket. What others have written
is asked for before every walk: relations, memories and what was destroyed say with which change that was. A memory that
has changed stands for its links. Where that would not tell all, as when an entity is destroyed, `counter:cut` has the
number of the change, and nothing is kept.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from retain.stores.surreal.graph.edges import Spoken, Ways, related, spoken
from retain.stores.surreal.link.database import Database

# Entities of which edges are kept: 10 MB.
MOST_KEPT = 1000
# Of more relations or memories than this that have changed it is faster to keep nothing than to read which they are.
_MOST_CHANGED = 200
_CHANGED = f"""
    RETURN [counter:life.value, counter:change.value, counter:cut.value];
    SELECT VALUE [in, out] FROM relates_to WITH INDEX relation_changed
        WHERE changed > $since LIMIT {_MOST_CHANGED + 1};
    SELECT VALUE [id, ->memory_entity] FROM memory WITH INDEX memory_changed
        WHERE changed > $since LIMIT {_MOST_CHANGED + 1};
    SELECT VALUE id FROM tombstone WHERE changed > $since LIMIT {_MOST_CHANGED + 1}"""
_NEVER = 2**62

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Newest:
    """The links that were found when so many were asked for."""

    asked: int
    links: Sequence[Spoken]

    def has(self, number: int) -> bool:
        return self.asked >= number or len(self.links) < self.asked


class KeptEdges:
    """Safe to use from any thread."""

    def __init__(self) -> None:
        self._life: str | None = None
        self._since = _NEVER
        self._ways: dict[str, Ways] = {}
        self._newest: dict[str, _Newest] = {}
        self._lock = threading.Lock()

    def seen(self, db: Database) -> "SeenEdges":
        """The edges as they are now. Everything that was written up to a moment ago is seen."""
        with self._lock:
            life, since = self._life, self._since
        # The number comes first: what is written meanwhile is looked at again next time.
        (now, change, cut), *changed = db.run(_CHANGED, since=since)
        with self._lock:
            if not now == life == self._life or cut > since or any(len(some) > _MOST_CHANGED for some in changed):
                self._ways, self._newest = {}, {}
                self._life, self._since = now, change
            else:
                self._drop(*changed)
                self._since = max(change, self._since)
        return SeenEdges(self, db, now, change)

    def _drop(self, relations: Sequence[Any], memories: Sequence[Any], destroyed: Sequence[str]) -> None:
        for end in (end for ends in relations for end in ends):
            self._ways.pop(end, None)
        for entity in {entity for _, links in memories for _, entity, _ in links}:
            self._newest.pop(entity, None)
        changed = {id for id, _ in memories}.union(destroyed)
        old = [id for id, kept in self._newest.items() if changed and any(link[0] in changed for link in kept.links)]
        for entity in old:
            del self._newest[entity]

    def ways(self, entities: Sequence[str]) -> dict[str, Ways]:
        kept = self._ways
        return {id: ways for id in entities if (ways := kept.get(id)) is not None}

    def newest(self, most: Mapping[str, int]) -> dict[str, Sequence[Spoken]]:
        kept = self._newest
        return {id: one.links[:number] for id, number in most.items() if (one := kept.get(id)) and one.has(number)}

    def keep(self, life: str, change: int, ways: Mapping[str, Ways], newest: Mapping[str, _Newest]) -> None:
        """What was read by a walk that saw this change; it may be old news to one that has seen a later one."""
        with self._lock:
            if life == self._life and change >= self._since:
                _add(self._ways, ways)
                _add(self._newest, newest)


def _add(kept: dict[str, T], new: Mapping[str, T]) -> None:
    kept |= new
    for oldest in list(islice(kept, max(len(kept) - MOST_KEPT, 0))):
        del kept[oldest]


@dataclass(frozen=True, slots=True)
class SeenEdges:
    """The edges as one walk sees them."""

    kept: KeptEdges
    db: Database
    life: str
    change: int

    def related(self, entities: Sequence[str]) -> dict[str, Ways]:
        known = self.kept.ways(entities)
        read = related(self.db, [id for id in entities if id not in known])
        self.kept.keep(self.life, self.change, read, {})
        return known | read

    def spoken(self, most: Mapping[str, int]) -> dict[str, Sequence[Spoken]]:
        known = self.kept.newest(most)
        read = spoken(self.db, {id: number for id, number in most.items() if id not in known})
        self.kept.keep(self.life, self.change, {}, {id: _Newest(most[id], links) for id, links in read.items()})
        return known | read
