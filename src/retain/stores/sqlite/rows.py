"""How values become rows and rows become values."""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from retain.domain.claims import fingerprint
from retain.domain.memory import Kind, Memory, Place, Provenance, Scope, Source, State, Status, Stored
from retain.domain.places import agent_of, may_be_private
from retain.stores.moments import micros, micros_or_none, moment, moment_or_none

# By name: asking the class takes five times as long, and every row asks three times.
KINDS = {kind.value: kind for kind in Kind}
SCOPES = {scope.value: scope for scope in Scope}
STATES = {state.value: state for state in State}
_NO_SOURCE, _ACTIVE = Source(), Status()

MEMORY_COLUMNS = (
    "id, text, title, kind, category, scope, place, user, project, session, agent, tags, importance, source, metadata, "
    "created, updated, event_time, valid_from, valid_until, state, state_reason, state_since, successor, consolidated, "
    "derived_from, reinforced, reinforced_at, version, fingerprint, compared"
)
STORED = f"""select {", ".join("m." + c for c in MEMORY_COLUMNS.split(", "))}, a.count, a.last, model.name
    from memory m left join access a on a.memory = m.num left join model on model.num = m.model"""


def marks(values: "list[Any] | tuple[Any, ...]") -> str:
    """As many question marks as there are values to bind."""
    return ",".join("?" * len(values))


# Any number of values as one parameter: SQLite binds at most 32,766 of them one by one.
AMONG = "in (select value from json_each(?))"


def among(values: Iterable[str | int]) -> str:
    """What to bind to `AMONG`."""
    return json.dumps(list(values))


def memory_row(memory: Memory) -> tuple[Any, ...]:
    place, status, source = memory.place, memory.status, memory.source
    given = {"tool": source.tool, "file": source.file, "conversation_turn": source.conversation_turn}
    given["provenance"] = source.provenance and source.provenance.value
    return (
        *(memory.id, memory.text, memory.title, memory.kind.value, memory.category),
        *(place.scope.value, place.key, place.user, place.project, memory.session, memory.agent),
        *(json.dumps(memory.tags, ensure_ascii=False), memory.importance),
        json.dumps({name: value for name, value in given.items() if value is not None}, ensure_ascii=False),
        json.dumps(memory.metadata, ensure_ascii=False),
        *(micros(memory.created), micros(memory.updated), micros(memory.event_time), micros(memory.valid_from)),
        micros_or_none(memory.valid_until),
        *(status.state.value, status.reason, micros_or_none(status.since), status.successor),
        *(int(memory.consolidated), json.dumps(memory.derived_from)),
        *(memory.reinforced, micros_or_none(memory.reinforced_at), memory.version, fingerprint(memory.text)),
        int(memory.compared),
    )


def stored(row: sqlite3.Row | tuple[Any, ...]) -> Stored:
    (id, text, title, kind, category, scope, key, user, project, session, agent, tags, importance, source, metadata) = (
        row[:15]
    )
    (created, updated, event_time, valid_from, valid_until, state, reason, since, successor) = row[15:24]
    (consolidated, derived_from, reinforced, reinforced_at, version, _, compared, accesses, accessed, model) = row[24:]
    place = Place(SCOPES[scope], user, project, session if scope == "session" else None)
    if may_be_private(key):
        place = replace(place, agent=agent_of(key, place.key))
    is_plain = state == "active" and reason is since is successor is None
    memory = Memory(
        id=id,
        text=text,
        title=title,
        kind=KINDS[kind],
        category=category,
        place=place,
        session=session,
        agent=agent,
        tags=_list(tags),
        importance=importance,
        source=_NO_SOURCE if source == "{}" else _source(source),
        metadata=_object(metadata),
        created=moment(created),
        updated=moment(updated),
        event_time=moment(event_time),
        valid_from=moment(valid_from),
        valid_until=moment_or_none(valid_until),
        status=_ACTIVE if is_plain else Status(STATES[state], reason, moment_or_none(since), successor),
        consolidated=bool(consolidated),
        derived_from=_list(derived_from),
        reinforced=reinforced,
        reinforced_at=moment_or_none(reinforced_at),
        version=version,
        compared=bool(compared),
    )
    return Stored(memory, accesses or 0, moment_or_none(accessed), model)


def _source(text: str) -> Source:
    given = json.loads(text)
    provenance = given.pop("provenance", None)
    return Source(**given, provenance=Provenance(provenance) if provenance else None)


# Most of these are empty, and a row is read a hundred times as often as it is written.


def _list(text: str) -> tuple[Any, ...]:
    return () if text == "[]" else tuple(json.loads(text))


def _object(text: str) -> dict[str, Any]:
    return {} if text == "{}" else dict(json.loads(text))
