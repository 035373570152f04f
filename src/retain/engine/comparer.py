"""Who compares what this process writes: a thread of its own, so that no reply waits for a model."""

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from retain.domain.changes import Contradiction
from retain.domain.memory import Memory, MemoryId
from retain.domain.recall import Warning
from retain.domain.session import Caller
from retain.engine.comparing import Found, compare_missing, recorded, why_not
from retain.engine.lifecycle.upkeep import Upkeep
from retain.engine.parts import Parts
from retain.engine.remember import Remembered
from retain.engine.revise import Revised
from retain.errors import Unavailable
from retain.ports import Store


@dataclass(frozen=True, slots=True)
class Patience:
    """How many seconds a reply waits for what comparing its memory comes to."""

    reply: float = 0.010
    encode: float = 0.3
    """Whoever encodes an episode asks what it contradicts."""
    most: int = 2
    """Comparisons that may be ready by then, at some 4 ms each: with more to make, a reply does not wait at all."""


_REMEMBERED = 1000  # memories that this process wrote, and what came of them
_UNTOLD = 100  # contradictions that wait to be told; who asks nothing for long reads of the others in lists
_TOLD = 10  # of them in one reply
_MORE = "more contradictions were found than are told here; `retain contradictions` lists all that are open"


Late = tuple[Memory, Contradiction]  # what was found after the reply to the write of the memory had gone


class Comparer:
    """Compares in the background; safe to use from any thread."""

    def __init__(self, parts: Parts, patience: Patience) -> None:
        self._parts, self._patience = parts, patience
        self._upkeep = Upkeep()
        self._lock = threading.Lock()
        self._mine: OrderedDict[MemoryId, Found | None] = OrderedDict()
        self._late: OrderedDict[str, Late] = OrderedDict()
        self._passed_over = False

    def told(self, done: Remembered) -> Remembered:
        """The reply with what its memory contradicts, where that is known in time."""
        return self._told(done, self._patience.reply if 0 < done.near <= self._patience.most else 0.0)

    def told_of_episode(self, done: Remembered) -> Remembered:
        return self._told(done, self._patience.encode)

    def _told(self, done: Remembered, seconds: float) -> Remembered:
        if done.memory.compared or (done.reinforced and not done.woken):
            return done
        found = self.found(done.memory.id, seconds)
        if found is None:
            return replace(done, contradictions_pending=done.near > 0)
        return replace(done, contradicts=found.contradictions)

    def reopened(self, id: MemoryId) -> tuple[Contradiction, ...]:
        """The decided contradictions that a memory of this process has opened again, as far as that is known."""
        with self._lock:
            found = self._mine.get(id)
            return found.reopened if found else ()

    def revised(self, done: Revised) -> Revised:
        if done.memory.compared:
            return done
        found = self.found(done.memory.id, self._patience.reply)
        if found is None:
            return replace(done, contradictions_pending=True)
        return replace(done, contradicts=found.contradictions)

    def found(self, id: MemoryId, seconds: float) -> Found | None:
        """What comparing a memory that was just written has come to, as far as that takes no longer."""
        with self._lock:
            self._mine[id] = None
            while len(self._mine) > _REMEMBERED:
                self._mine.popitem(last=False)
        if not seconds or why_not(self._parts):
            self._upkeep.soon(self._compare)
            return None
        self._upkeep.later(self._compare)
        self._upkeep.settle(seconds)
        with self._lock:
            found = self._mine.get(id)
            for each in found.contradictions if found else ():
                self._late.pop(each.id, None)  # the reply says it
            return found

    def soon(self) -> None:
        """Takes over what others have left."""
        self._upkeep.soon(self._compare)

    def all(self) -> None:
        """Compares everything that waits, whoever wrote it."""
        self._upkeep.later(self._compare_all)

    def news(self, caller: Caller) -> tuple[Warning, ...]:
        """What was found after its reply had gone and is open still, once: the newest, and that there is more."""
        if self._passed_over:  # by now it may be abandoned
            self.soon()
        with self._lock:
            late = {id: one for id, one in self._late.items() if one[0].place.user == caller.user}
        if not late:
            return ()
        try:
            still = _open_still(self._parts.store, late.values())
        except Unavailable:
            return ()  # the next reply tells it
        with self._lock:
            told = [one for id, one in late.items() if self._late.pop(id, None) and id in still]
        more = (Warning("contradicts", _MORE),) if len(told) > _TOLD else ()
        return (*(_warning(memory, each) for memory, each in told[-_TOLD:]), *more)

    def standing(self, caller: Caller, waiting: int) -> tuple[Warning, ...]:
        """The same, and why what waits to be compared goes on waiting."""
        why = why_not(self._parts) if waiting else None
        memories = "1 memory is" if waiting == 1 else f"{waiting} memories are"
        note = f"{memories} not compared with what is near: {why}. That is made good as soon as it can be"
        return (*((Warning("not_compared", note),) if why else ()), *self.news(caller))

    def settle(self, seconds: float) -> bool:
        return self._upkeep.settle(seconds)

    def end(self) -> None:
        self._upkeep.end()

    def _compare(self) -> None:
        with self._lock:
            mine = self._unknown()
        compare_missing(self._parts, mine, self._done)
        self._passed_over = not why_not(self._parts) and bool(self._parts.store.uncompared(1))
        self._learn()

    def _compare_all(self) -> None:
        compare_missing(self._parts, done=self._done)
        self._learn()

    def _unknown(self) -> list[MemoryId]:
        return [id for id, found in self._mine.items() if found is None]

    def _learn(self) -> None:
        """Reads what came of the memories of this process that another one was faster to compare."""
        with self._lock:
            unknown = self._unknown()
        for id, stored in self._parts.store.memories(unknown).items():
            if stored.memory.compared:
                self._done(stored.memory, recorded(self._parts.store, id))

    def _done(self, memory: Memory, found: Found) -> None:
        with self._lock:
            if memory.id in self._mine:
                self._mine[memory.id] = found
                self._late |= {each.id: (memory, each) for each in found.news}
                while len(self._late) > _UNTOLD:
                    self._late.popitem(last=False)


def _open_still(store: Store, late: Iterable[Late]) -> set[str]:
    """Those that nobody has decided since, and that speak of two active memories."""
    parties = dict.fromkeys(id for _, each in late for id in (each.older, each.newer))
    memories, found = store.with_contradictions(list(parties))
    active = {id for id, stored in memories.items() if stored.memory.is_active}
    return {each.id for each in found if each.is_open and {each.older, each.newer} <= active}


def _warning(memory: Memory, found: Contradiction) -> Warning:
    other = found.other(memory.id)
    note = f"memory:{memory.id} contradicts memory:{other} ({found.detail}); contradiction {found.id} is open"
    return Warning("contradicts", note)
