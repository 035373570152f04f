"""What housekeeping put aside: after two weeks it leaves all lists and searches, and 30 days later it is destroyed.

Until then `retain undo` brings it back, with the run that put it aside. The store is copied before anything is
destroyed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from retain.domain.changes import Applied, AtVersion, Changes
from retain.domain.claims import fingerprint
from retain.domain.ending import Way
from retain.domain.memory import Event, Memory, State, Status
from retain.domain.recall import Filter, Warning
from retain.domain.session import Caller
from retain.engine.ending import endable
from retain.engine.knowledge.support import unheard
from retain.engine.parts import LASTING, PAGE, Parts, pages, places
from retain.engine.revise import move
from retain.engine.succession import entry
from retain.errors import Refused, RetainError
from retain.ports import Store

SHOWN_FOR = timedelta(days=14)  # after it was put aside
KEPT_FOR = timedelta(days=30)  # after it was pruned
OUTDATED = "put aside by the language model as out of date"
# Versions before the table of endings put aside whatever had faded, and what somebody had kept on purpose.
_FADED = "faded"
_MISTAKE = "it should not have been put aside"


@dataclass(frozen=True, slots=True)
class Pruned:
    """How many memories left lists and searches, how many were destroyed for good, and how many came back because
    they should not have been put aside."""

    hidden: int = 0
    destroyed: int = 0
    brought_back: int = 0
    warnings: tuple[Warning, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.hidden or self.destroyed or self.brought_back)


def prune(parts: Parts, caller: Caller) -> Pruned:
    """What somebody brings back at this moment stays, and the rest of its portion waits for the next time."""
    back = sum(_applied(parts, [memory], _brought_back(parts, memory)) for memory in wronged(parts, caller))
    hidden = sum(_applied(parts, some, _hidden(some, parts.clock.now())) for some in _portions(prunable(parts, caller)))
    destroyed, warnings = _destroyed(parts, destroyable(parts, caller))
    return Pruned(hidden, destroyed, back, warnings)


def foreseen(parts: Parts, caller: Caller) -> Pruned:
    """What `prune` would do."""
    hidden, destroyed, back = (len(which(parts, caller)) for which in (prunable, destroyable, wronged))
    return Pruned(hidden, destroyed, back)


def prunable(parts: Parts, caller: Caller) -> list[Memory]:
    """What was put aside so long ago that it leaves lists and searches."""
    since = parts.clock.now() - SHOWN_FOR
    wronged_ids = {memory.id for memory in wronged(parts, caller)}
    old = [memory for memory in _in(parts.store, caller, State.ARCHIVED) if _since(memory) < since]
    return endable(parts.store, [memory for memory in old if memory.id not in wronged_ids], Way.PRUNE)


def destroyable(parts: Parts, caller: Caller) -> list[Memory]:
    """What was pruned so long ago that nobody will ask for it back."""
    since = parts.clock.now() - KEPT_FOR
    old = [memory for memory in _in(parts.store, caller, State.PRUNED) if _since(memory) < since]
    return endable(parts.store, old, Way.DESTROY)


def wronged(parts: Parts, caller: Caller) -> list[Memory]:
    """What an earlier version put aside against the table of endings; not what somebody has said anew since."""
    by_us = [memory for memory in _in(parts.store, caller, State.ARCHIVED) if _is_by_us(memory)]
    allowed = {memory.id for memory in endable(parts.store, by_us, Way.PUT_ASIDE) if memory.status.reason != _FADED}
    return [memory for memory in by_us if memory.id not in allowed and not _is_said_again(parts.store, memory)]


def _is_by_us(memory: Memory) -> bool:
    reason = memory.status.reason or ""
    return reason == _FADED or reason.startswith(OUTDATED)


def _is_said_again(store: Store, memory: Memory) -> bool:
    return store.twin(memory.place, fingerprint(memory.text)) is not None


def _brought_back(parts: Parts, memory: Memory) -> Changes:
    """As it was before, and as old: being put aside by mistake does not make a note news. Where its title is taken by
    now, it stays where it is."""
    earlier = [row.at for row in parts.store.history(memory.id) if row.event is not Event.ARCHIVED]
    now, last = parts.clock.now(), max(earlier, default=memory.created)
    new = replace(memory, status=Status(), updated=last, version=memory.version + 1)
    try:
        plan = move(parts.store, memory, new, Event.WOKEN)
    except Refused:
        return Changes(at=now)
    return replace(plan, at=now, history=tuple(replace(row, at=now, reason=_MISTAKE) for row in plan.history))


def _hidden(memories: Sequence[Memory], now: datetime) -> Changes:
    return Changes(
        at=now,
        expects=tuple(AtVersion(memory.id, memory.version) for memory in memories),
        memories=tuple(
            replace(m, status=Status(State.PRUNED, m.status.reason, now), updated=now, version=m.version + 1)
            for m in memories
        ),
        history=tuple(entry(memory, Event.PRUNED, now, memory.status.reason) for memory in memories),
    )


def _destroyed(parts: Parts, old: Sequence[Memory]) -> tuple[int, tuple[Warning, ...]]:
    if not old:
        return 0, ()
    try:
        parts.copy_first()
    except RetainError as error:
        note = f"{len(old)} pruned memories were to be destroyed and are kept, because no copy could be made first"
        return 0, (Warning("not_destroyed", f"{note}: {error.message}"),)
    return sum(_applied(parts, some, _gone(parts, some)) for some in _portions(old)), ()


def _gone(parts: Parts, memories: Sequence[Memory]) -> Changes:
    expects = tuple(AtVersion(memory.id, memory.version) for memory in memories)
    gone, ended = tuple(memory.id for memory in memories), unheard(parts.store, memories)
    return Changes(at=parts.clock.now(), expects=expects, purged=gone, ended=ended)


def _applied(parts: Parts, memories: Sequence[Memory], plan: Changes) -> int:
    if plan == Changes(plan.at):
        return 0
    return len(memories) if isinstance(parts.store.apply(plan), Applied) else 0


def _since(memory: Memory) -> datetime:
    return memory.status.since or memory.updated


def _in(store: Store, caller: Caller, state: State) -> list[Memory]:
    wanted = Filter(places(caller, LASTING), states=(state,))
    return [memory for page in pages(store, wanted) for memory in page]


def _portions(memories: Sequence[Memory]) -> Iterator[Sequence[Memory]]:
    for start in range(0, len(memories), PAGE):
        yield memories[start : start + PAGE]
