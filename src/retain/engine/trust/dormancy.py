"""Dormancy: what nobody has said, used or changed for long goes to sleep; it is not lost, and wakes when said again.

Whatever its kind, a memory stays awake that the table of endings keeps awake, that reads as a preference, or that is
disputed: who decides that must see both sides.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from retain.domain.changes import AtVersion, Changes, Run
from retain.domain.ending import Way
from retain.domain.ids import new_id
from retain.domain.memory import Event, Memory, MemoryId, Scope, State, Status, Stored
from retain.domain.recall import Filter
from retain.domain.session import Caller
from retain.domain.time import HALF_LIFE
from retain.domain.trust import DORMANT, Evidence, confidence, provenance_of, sleeps
from retain.engine.ending import endable
from retain.engine.knowledge.support import silenced
from retain.engine.lifecycle.summary import is_preference
from retain.engine.parts import Parts, places, settle
from retain.engine.succession import entry
from retain.engine.trust.principles import run_scope
from retain.ports import Store

STRATEGY = "sleep"
AT_ONCE = 500  # memories in one write
# Nothing that happened later can have faded so far.
SOONEST = min(HALF_LIFE.values()) * math.log2(1 / DORMANT)


@dataclass(frozen=True, slots=True)
class Asleep:
    """What went to sleep, and the runs by which that is taken back."""

    memories: tuple[Memory, ...] = ()
    runs: tuple[str, ...] = ()


def tired(parts: Parts, caller: Caller) -> list[Memory]:
    """What is to go to sleep now, newest first."""
    now = parts.clock.now()
    wanted = Filter(places(caller, (Scope.PROJECT, Scope.USER)), before=now - SOONEST)
    return [memory for page in _pages(parts.store, wanted) for memory in _tired_of(parts.store, page, now)]


def put_to_sleep(parts: Parts, memories: Sequence[Memory], caller: Caller, left: Callable[[], float]) -> Asleep:
    """A write for every 500, while there is time; what somebody has used or changed meanwhile stays awake."""
    asleep = Asleep()
    for start in range(0, len(memories), AT_ONCE):
        if left() <= 0:
            break
        some = [memory.id for memory in memories[start : start + AT_ONCE]]
        now = parts.clock.now()

        def plan(some: list[MemoryId] = some, now: datetime = now) -> tuple[Changes, Asleep]:
            still = _tired_of(parts.store, list(parts.store.memories(some).values()), now)
            run = Run(new_id(now), run_scope(caller), STRATEGY, now, (), tuple(m.id for m in still), len(memories))
            return _changes(parts.store, still, run), Asleep(tuple(still), (run.id,) if still else ())

        done = settle(parts.store, plan)
        asleep = Asleep(asleep.memories + done.memories, asleep.runs + done.runs)
    return asleep


def stirred(parts: Parts, caller: Caller) -> list[Memory]:
    """What sleeps, and was used since it went to sleep."""
    wanted = Filter(places(caller, (Scope.PROJECT, Scope.USER)), states=(State.DORMANT,))
    found = [stored for page in _pages(parts.store, wanted) for stored in page]
    return [one.memory for one in found if one.accessed and one.accessed > (one.memory.status.since or one.accessed)]


def last_touched(stored: Stored) -> datetime:
    """When a memory was last said, changed or used: use is a kind of repetition."""
    memory = stored.memory
    return max(memory.event_time, memory.updated, stored.accessed or memory.updated)


def _pages(store: Store, wanted: Filter) -> Iterator[list[Stored]]:
    offset = 0
    while page := store.listed(wanted, AT_ONCE, offset):
        yield page
        offset += len(page)


def _tired_of(store: Store, page: Sequence[Stored], now: datetime) -> list[Memory]:
    faded = [stored.memory for stored in page if _has_faded(stored, now) and not is_preference([stored.memory.text])]
    faded = endable(store, faded, Way.SLEEP)
    found = store.contradictions([memory.id for memory in faded]) if faded else []
    disputed = {id for one in found if one.is_open for id in (one.older, one.newer)}
    return [memory for memory in faded if memory.id not in disputed]


def _has_faded(stored: Stored, now: datetime) -> bool:
    memory = stored.memory
    evidence = Evidence(
        provenance_of(memory),
        memory.kind,
        last_touched(stored),
        memory.importance,
        reinforced=memory.reinforced,
        reinforced_at=memory.reinforced_at,
    )
    return memory.is_active and sleeps(confidence(evidence, now))


def _changes(store: Store, memories: Sequence[Memory], run: Run) -> Changes:
    if not memories:
        return Changes(at=run.at)
    return Changes(
        at=run.at,
        expects=tuple(AtVersion(memory.id, memory.version) for memory in memories),
        memories=tuple(
            replace(m, status=Status(State.DORMANT, _reason(m), run.at), updated=run.at, version=m.version + 1)
            for m in memories
        ),
        history=tuple(entry(memory, Event.DORMANT, run.at, _reason(memory)) for memory in memories),
        stale=tuple((memory.id, True) for memory in memories),
        ended=silenced(store, memories),
        runs=(replace(run, metrics={"dormant": len(memories)}),),
    )


def _reason(memory: Memory) -> str:
    return f"not said again since {max(memory.event_time, memory.updated):%Y-%m-%d}"
