"""What a change leaves behind: a row of history, and the end of what something else takes the place of."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from retain.domain.changes import AtVersion, Changes
from retain.domain.graph import SUPERSEDES, Tie
from retain.domain.memory import Event, HistoryEntry, Memory, MemoryId, Rest, State, Status
from retain.engine.knowledge.support import silenced
from retain.ports import Store


def entry(before: Memory, event: Event, at: datetime, reason: str | None = None) -> HistoryEntry:
    """The history row for a memory that is about to change."""
    said = (before.text, before.importance, before.tags, before.scope)
    place = (before.place.project, before.session)
    called = (before.title, before.category)
    rest = Rest(before.kind, before.status, before.metadata, before.valid_until, *place, called)
    # Every memory has a row for having been made, before which it was nothing.
    return HistoryEntry(before.id, before.version, event, *said, at, reason, None if event is Event.CREATED else rest)


def succession(store: Store, ended: Sequence[Memory], successor: Memory, now: datetime, why: str) -> Changes:
    """The plan by which a memory takes the place of others: they held until it began to, and say why they do not."""
    found = {source.id: source for old in ended for source in spoken_for(store, old, by_it=False)}
    sources = [source for id, source in found.items() if id not in {old.id for old in ended}]
    return Changes(
        at=now,
        expects=tuple(
            AtVersion(memory.id, version)
            for memory, version in [*((m, m.version) for m in ended), *((m, m.version - 1) for m in sources)]
        ),
        memories=(*(_ended(old, successor, now, why) for old in ended), *sources),
        history=tuple(entry(old, Event.SUPERSEDED, now, f"superseded by {successor.id}") for old in ended),
        stale=tuple((old.id, True) for old in ended),
        ended=silenced(store, ended, [successor]),
        ties=tuple(Tie(successor.id, old.id, SUPERSEDES, now) for old in ended),
    )


def predecessors(store: Store, ids: Sequence[MemoryId]) -> dict[MemoryId, MemoryId]:
    """Which memory each of these took the place of last; one that was brought back since is none."""
    ties = [tie for tie in store.ties(ids) if tie.type == SUPERSEDES and tie.source in set(ids)]
    found = store.memories([tie.target for tie in ties])
    standing = [tie for tie in ties if tie.target in found]
    return {t.source: t.target for t in standing if found[t.target].memory.status.successor == t.source}


def spoken_for(store: Store, summary: Memory, *, by_it: bool) -> list[Memory]:
    """What a summary was made from, as it stands once the summary speaks for it, or no longer does."""
    found = [stored.memory for stored in store.memories(summary.derived_from).values()]
    changed = [memory for memory in found if memory.consolidated is not by_it]
    return [replace(memory, consolidated=by_it, version=memory.version + 1) for memory in changed]


def _ended(old: Memory, successor: Memory, now: datetime, why: str) -> Memory:
    until = min(max(old.valid_from, successor.valid_from), old.valid_until or now, now)
    status = Status(State.SUPERSEDED, why, now, successor.id)
    return replace(old, status=status, valid_until=until, updated=now, version=old.version + 1)
