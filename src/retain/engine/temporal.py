"""Time: what holds no longer, what was true at a moment, and what was believed at a moment.

These are two questions. A memory is true from `valid_from` until `valid_until`, whenever it was written down;
it is believed from when it was stored, as it was worded then, until it was changed.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice

from retain.domain.changes import AtVersion, Changes
from retain.domain.graph import SUPERSEDES, Relation, Tie
from retain.domain.ids import undress
from retain.domain.memory import Event, HistoryEntry, Memory, MemoryId, Place, Scope, State, Status, user_of
from retain.domain.recall import KEPT, Filter
from retain.domain.session import Caller
from retain.engine.drafts import cleaned_reason
from retain.engine.parts import Parts, places, settle, visible
from retain.engine.revise import move, refuse_ended
from retain.errors import NotFound, invalid
from retain.ports import Store

_AT_ONCE, _MOST_AT_ONCE = 200, 10_000


def invalidate(
    parts: Parts, id: str, reason: str | None, superseded_by: str | None, caller: Caller
) -> Memory | Relation:
    """Says that a memory, or a relation, holds no longer, from now on; what holds instead may be named.

    It stays findable for the time when it held. Doing so again changes nothing, unless another successor is named.
    """
    reason, now = cleaned_reason(reason), parts.clock.now()
    relation = _relation(parts.store, id, caller)
    if relation is not None:
        return _ended(parts, relation, superseded_by, now)

    def plan() -> tuple[Changes, Memory]:
        old = visible(parts.store, id, caller, "id").memory
        refuse_ended(old, "invalidated", (State.FORGOTTEN,))
        successor = _successor(parts.store, superseded_by, old, caller) if superseded_by is not None else None
        if _is_settled(old, successor):
            return Changes(at=now), old
        state, event = (State.SUPERSEDED, Event.SUPERSEDED) if successor else (State.INVALIDATED, Event.INVALIDATED)
        status = Status(state, reason or old.status.reason, now, successor.id if successor else None)
        until = now if old.valid_until is None else min(now, old.valid_until)
        new = replace(old, status=status, valid_until=until, updated=now, version=old.version + 1)
        changes = move(parts.store, old, new, event)
        unchanged = (AtVersion(successor.id, successor.version),) if successor else ()
        ties = (Tie(successor.id, old.id, SUPERSEDES, now),) if successor else ()
        return replace(changes, expects=(*changes.expects, *unchanged), ties=ties), new

    return settle(parts.store, plan)


def valid(
    parts: Parts,
    caller: Caller,
    *,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    limit: int = 20,
    offset: int = 0,
) -> list[Memory]:
    """Memories that were true at `as_of`, as far as was known at `known_at`, newest first.

    Either is now unless it is given; for `known_at` alone, both are that moment. Forgotten memories are left out:
    those that were forgotten at `known_at`.
    """
    for name, value, least in (("limit", limit, 1), ("offset", offset, 0)):
        if value < least:
            raise invalid(name, value, f"must be at least {least}")
    at = as_of or known_at or parts.clock.now()
    if known_at is None:
        found = parts.store.listed(Filter(places(caller), states=KEPT, valid_at=at), limit, offset)
        return [stored.memory for stored in found]
    believed = (memory for memory in _believed(parts.store, caller, known_at) if memory.is_valid_at(at))
    return list(islice(believed, offset, offset + limit))


def rewound(memory: Memory, history: Sequence[HistoryEntry], at: datetime) -> Memory | None:
    """The memory as it was believed at a moment; None before it was stored, and while it was forgotten.

    How often it was reinforced, and whether a summary speaks for it, is as it is now.
    """
    if memory.created > at:
        return None
    changed = [row for row in history if row.event is not Event.CREATED]
    after = next((number for number, row in enumerate(changed) if row.at > at), None)
    was = memory if after is None else _before(memory, changed, after)
    return None if was.status.state is State.FORGOTTEN else was


def _before(memory: Memory, changed: Sequence[HistoryEntry], number: int) -> Memory:
    """A memory as it was when one of its changes met it."""
    row = changed[number]
    # Rows of earlier versions keep less; what they leave out has mostly not changed until the next that tells.
    rest = next((later.rest for later in changed[number:] if later.rest), None)
    was = replace(
        memory,
        text=row.text,
        importance=row.importance,
        tags=row.tags,
        version=row.version,
        updated=changed[number - 1].at if number else memory.created,
        place=replace(memory.place, scope=row.scope),
    )
    if rest is not None:
        place = _place(row.scope, memory.place.user, rest.project, rest.session)
        title, category = rest.called or (memory.title, memory.category)
        was = replace(was, kind=rest.kind, metadata=rest.metadata, place=place, session=rest.session)
        was = replace(was, title=title, category=category)
    if row.rest is not None:
        return replace(was, status=row.rest.status, valid_until=row.rest.valid_until)
    return replace(was, status=_last_status(changed[:number]), valid_until=None)


def _place(scope: Scope, user: str, project: str | None, session: str | None) -> Place:
    return Place(scope, user, project, session if scope is Scope.SESSION else None)


def _last_status(changed: Sequence[HistoryEntry]) -> Status:
    """The state that the last change left which was about it."""
    for row in reversed(changed):
        if row.event is Event.FORGOTTEN:
            return Status(State.FORGOTTEN, row.reason, row.at)
        if row.event is Event.RESTORED:
            break
    return Status()


def _believed(store: Store, caller: Caller, at: datetime) -> Iterator[Memory]:
    """What the caller's memories were at a moment, newest first."""
    wanted = Filter(places(caller), states=tuple(State), stored_by=at)
    offset, more = 0, _AT_ONCE
    while found := store.listed(wanted, more, offset):
        memories = [stored.memory for stored in found]
        histories = defaultdict[MemoryId, list[HistoryEntry]](list)
        for row in store.history(*(memory.id for memory in memories)):
            histories[row.memory].append(row)
        yield from (was for memory in memories if (was := rewound(memory, histories[memory.id], at)) is not None)
        # A store finds a later page by passing over all before it, so there should not be many.
        offset, more = offset + len(found), min(2 * more, _MOST_AT_ONCE)


def _is_settled(old: Memory, successor: Memory | None) -> bool:
    """Whether a memory was invalidated already, and nothing new is said about what took its place."""
    if old.status.state not in (State.INVALIDATED, State.SUPERSEDED):
        return False
    return successor is None or successor.id == old.status.successor


def _successor(store: Store, id: str, old: Memory, caller: Caller) -> Memory:
    field = "superseded_by"
    try:
        found = visible(store, id, caller, field).memory
    except NotFound as error:
        raise NotFound(f"{field}: {error.message}", superseded_by=id) from None
    if found.id == old.id:
        raise invalid(field, id, "is the memory itself; name the one that holds instead, or leave it out")
    # What has a successor itself is not active, so no two memories can ever follow each other in a circle.
    if not found.is_active:
        instead = f", by {found.status.successor}" if found.status.successor else ""
        raise invalid(field, id, f"is {found.status.state} itself{instead}; name a memory that holds")
    return found


def _relation(store: Store, id: str, caller: Caller) -> Relation | None:
    """The relation with this id, unless it is a memory's, or another user's."""
    bare = undress(id)
    if bare is None or store.memories([bare]):
        return None
    for relation in store.relations([bare]):
        if all(user_of(end.owner) == caller.user for end in store.entities([relation.source, relation.target])):
            return relation
    return None


def _ended(parts: Parts, relation: Relation, superseded_by: str | None, now: datetime) -> Relation:
    if superseded_by is not None:
        raise invalid("superseded_by", superseded_by, "is for memories; a relation that holds instead is stated anew")
    if relation.valid_until is not None:
        return relation
    # No longer a rule's: else the next text that says so would bring it back.
    ended = replace(relation, valid_until=now, by_rule=False)
    parts.store.apply(Changes(at=now, stated=(ended,)))
    return ended
