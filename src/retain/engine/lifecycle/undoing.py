"""Taking a consolidation back: the history rows that it left name it, and say what was before."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from retain.domain.changes import AtVersion, Changes, NoTwin, Run
from retain.domain.claims import fingerprint
from retain.domain.ending import RUN, Hold, deeds
from retain.domain.graph import SUPPORTS, Tie
from retain.domain.ids import undress
from retain.domain.memory import Event, HistoryEntry, Memory, MemoryId, State, Status
from retain.domain.session import Caller
from retain.domain.time import iso
from retain.engine.embed import embedded
from retain.engine.knowledge.support import relinked, revived, silenced, unsaid
from retain.engine.lifecycle.clusters import is_pattern
from retain.engine.lifecycle.consolidation import UNDONE, counted, reason_of
from retain.engine.parts import Parts, settle
from retain.engine.succession import entry
from retain.errors import NotFound, Refused
from retain.ports import Store

CORRECTION = "correction"  # the strategy of a run that a statement of the user left, where it ended an earlier one


@dataclass(frozen=True, slots=True)
class Undone:
    """What became of a run's work."""

    run: Run
    forgotten: tuple[MemoryId, ...]
    restored: tuple[MemoryId, ...]
    sources: tuple[MemoryId, ...]
    destroyed: tuple[MemoryId, ...] = ()
    """What does not come back, because it was destroyed since."""


def undo(parts: Parts, run_id: str, caller: Caller) -> Undone:
    """Takes a run back: what it made is forgotten, what it extended is as before, its sources speak for themselves."""

    def planned() -> tuple[Changes, Undone]:
        run = _undoable(parts.store, run_id, caller)
        now = parts.clock.now()
        found = parts.store.memories([*run.made, *run.sources])
        histories = {id: parts.store.history(id) for id in found}
        _refuse_built_on(parts.store, run, histories)
        changed = {id: _taken_back(found[id].memory, histories[id], run, now) for id in found}
        changed = {id: new for id, new in changed.items() if new is None or not _is_said_again(parts.store, new)}
        before = {id: found[id].memory for id, new in changed.items() if new is not None}
        after = [new for new in changed.values() if new is not None]
        rewritten = [new for new in after if new.text != before[new.id].text]
        back = [new for new in after if _is_back(before, new)]
        reply = Undone(
            replace(run, undone=now),
            tuple(new.id for new in after if not new.is_active and before[new.id].is_active),
            tuple(new.id for new in after if new.is_active and new.id in run.made),
            tuple(new.id for new in after if new.id not in run.made),
            tuple(sorted(parts.store.destroyed([*run.made, *run.sources]))),
        )
        changes = Changes(
            at=now,
            expects=(
                *(AtVersion(old.id, old.version) for old in before.values()),
                *(NoTwin(new.place, fingerprint(new.text), but=new.id) for new in back),
            ),
            memories=tuple(counted(parts.store, new) if is_pattern(new) and new.is_active else new for new in after),
            embeddings=tuple(e for new in rewritten for e in embedded(parts.embedder, new.text, new.title).of(new.id)),
            history=tuple(entry(old, Event.UNDONE, now, f"{UNDONE}{run.id}") for old in before.values()),
            stale=(
                *((id, True) for id in reply.forgotten),
                *((new.id, False) for new in back),
            ),
            relations=tuple(relation for new in back for relation in revived(parts.store, new)),
            ended=(
                *silenced(parts.store, [before[id] for id in reply.forgotten], back),
                *unsaid(parts.store, back),
            ),
            ties=tuple(_untied(parts.store, run)),
            runs=(reply.run,),
        )
        for new in rewritten:
            changes = changes.joined(relinked(parts.store, before[new.id], new))
        return changes, reply

    return settle(parts.store, planned)


def _is_back(before: Mapping[MemoryId, Memory], new: Memory) -> bool:
    return new.is_active and not before[new.id].is_active


def _is_said_again(store: Store, new: Memory) -> bool:
    """Whether the same was remembered anew while this one was out of sight; then it stays there."""
    twin = store.twin(new.place, fingerprint(new.text)) if new.is_active else None
    return twin is not None and twin.memory.id != new.id


def _undoable(store: Store, run_id: str, caller: Caller) -> Run:
    run = store.run(undress(run_id) or run_id)
    if run is None or run.user != caller.user:
        raise NotFound(f"no run {run_id}; `retain history --runs` lists them", run=run_id)
    if run.undone:
        raise Refused(f"run {run.id} was undone already, at {iso(run.undone)}")
    return run


def _refuse_built_on(store: Store, run: Run, histories: Mapping[MemoryId, Sequence[HistoryEntry]]) -> None:
    """A later run may have extended what this one made; taking the older one back would pull it from under it."""
    for id in run.made:
        reasons = [e.reason or "" for e in histories.get(id, ())]
        since = reasons[reasons.index(reason_of(run)) + 1 :] if reason_of(run) in reasons else []
        later = [store.run(reason.removeprefix(RUN)) for reason in since if reason.startswith(RUN)]
        for other in later:
            if other and not other.undone:
                raise Refused(f"run {other.id} built on run {run.id}; undo it first with `retain undo {other.id}`")


def _taken_back(memory: Memory, history: Sequence[HistoryEntry], run: Run, now: datetime) -> Memory | None:
    """A memory as it was before the run; None when the run did not change it."""
    row = next((e for e in history if _is_of(run, e)), None)
    if row is None:
        return None
    newer = replace(memory, updated=now, version=memory.version + 1)
    if row.event is Event.CONSOLIDATED:
        return replace(memory, consolidated=False, version=memory.version + 1)
    if row.event in (Event.SUPERSEDED, Event.ARCHIVED, Event.DORMANT):
        # Whatever became of it since was somebody's decision.
        if row.rest is None or _ended_at(memory, history) != run.at:
            return None
        return replace(newer, status=row.rest.status, valid_until=row.rest.valid_until)
    if row.event is Event.CREATED:
        # What somebody has edited since is theirs.
        if Hold.EDITED in deeds(history):
            return None
        return replace(newer, status=Status(State.FORGOTTEN, f"{UNDONE}{run.id}", now)) if memory.is_active else None
    left = tuple(id for id in memory.derived_from if id not in run.sources)
    said = next((e.text for e in history if e.version == row.version + 1), memory.text)
    # What somebody has rewritten since stays as they wrote it.
    text = row.text if said == memory.text else memory.text
    before = replace(newer, text=text, importance=row.importance, tags=row.tags, derived_from=left)
    return _less_reinforced(before, row, len(memory.derived_from) - len(left))


def _ended_at(memory: Memory, history: Sequence[HistoryEntry]) -> datetime | None:
    """Since when it is as it is; what was pruned, since it was put aside: pruning follows from that by itself."""
    aside = next((row.rest for row in reversed(history) if row.event is Event.PRUNED), None)
    return aside.status.since if aside and memory.status.state is State.PRUNED else memory.status.since


def _is_of(run: Run, row: HistoryEntry) -> bool:
    """Whether a run left this row; what it put to sleep, or a correction ended, says why instead, and the moment tells
    whose it is."""
    own = {Event.DORMANT} | ({Event.SUPERSEDED} if run.strategy == CORRECTION else set())
    return row.reason == reason_of(run) or (row.event in own and row.at == run.at)


def _less_reinforced(memory: Memory, row: HistoryEntry, by: int) -> Memory:
    """A principle without what a run had added to it; one that slept before sleeps again."""
    if row.event not in (Event.REINFORCED, Event.WOKEN):
        return memory
    times = max(memory.reinforced - by, 0)
    status = row.rest.status if row.rest and row.event is Event.WOKEN and memory.is_active else memory.status
    return replace(memory, status=status, reinforced=times, reinforced_at=memory.reinforced_at if times else None)


def _untied(store: Store, run: Run) -> Iterator[Tie]:
    """What the run said about who speaks for what, taken back; a tie that was there before stays."""
    for tie in store.ties(run.made) if run.made else ():
        if tie.type == SUPPORTS and tie.created == run.at:
            yield replace(tie, strength=0.0)
