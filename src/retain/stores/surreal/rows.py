"""How values become records and records become values."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from retain.domain.claims import fingerprint
from retain.domain.graph import fold
from retain.domain.memory import Kind, Memory, MemoryId, Place, Provenance, Scope, Source, State, Status, Stored
from retain.domain.places import agent_of, may_be_private
from retain.domain.words import terms
from retain.stores.moments import micros
from retain.stores.surreal.counting import number_for
from retain.stores.surreal.link.cbor import record, records

Row = Mapping[str, Any]

KINDS = {kind.value: kind for kind in Kind}
SCOPES = {scope.value: scope for scope in Scope}
STATES = {state.value: state for state in State}
_NO_SOURCE, _ACTIVE = Source(), Status()
_NOTHING = {"tool": None, "file": None, "conversation_turn": None, "provenance": None}

# All that a `Stored` is made of; what else a record has is for finding it.
FIELDS = (
    "id, content, title, type, category, scope, place, user, project, session_id, agent, tags, importance, source, "
    "metadata, created_at, updated_at, event_time, valid_from, valid_until, state, state_reason, state_since, "
    "successor, consolidated, derived_from, reinforced, reinforced_at, version, compared, model"
)
# With how often it was used. Of many memories that is better read beside them: going to each takes 40 µs, reading 7.
STORED = f"{FIELDS}, type::record('access', id.id()).{{count, last}} AS access"

# Two statements for `by_id`: memories, and beside them how often they were used.
BY_ID = f"SELECT {FIELDS} FROM $ids", "SELECT id, count, last FROM $used"


def memory_row(memory: Memory) -> dict[str, Any]:
    """All but the id, and what a store works out: its number, position, change, words and vectors."""
    place, status, source = memory.place, memory.status, memory.source
    return {
        "content": memory.text,
        "title": memory.title,
        "title_key": fold(memory.title) if memory.title else None,
        "type": memory.kind.value,
        "category": memory.category,
        "scope": place.scope.value,
        "place": place.key,
        "user": place.user,
        "counted_user": number_for(place.user),
        "counted_place": number_for(place.key),
        "project": place.project,
        "session_id": memory.session,
        "agent": memory.agent,
        "tags": list(memory.tags),
        "tag_keys": list(dict.fromkeys(fold(tag) for tag in memory.tags)),
        "tag_words": " ".join(term for tag in memory.tags for term in terms(tag)) or None,
        "importance": float(memory.importance),
        # Every key, since a record is merged with what was there.
        "source": {
            "tool": source.tool,
            "file": source.file,
            "conversation_turn": source.conversation_turn,
            "provenance": source.provenance and source.provenance.value,
        },
        "metadata": json.dumps(memory.metadata, ensure_ascii=False),
        "created_at": memory.created,
        "updated_at": memory.updated,
        "event_time": memory.event_time,
        "happened": micros(memory.event_time),
        "valid_from": memory.valid_from,
        "valid_until": memory.valid_until,
        "state": status.state.value,
        "state_reason": status.reason,
        "state_since": status.since,
        "successor": status.successor,
        "consolidated": memory.consolidated,
        "derived_from": list(memory.derived_from),
        "sources": len(memory.derived_from),
        "reinforced": memory.reinforced,
        "reinforced_at": memory.reinforced_at,
        "version": memory.version,
        "fingerprint": fingerprint(memory.text),
        "compared": memory.compared,
    }


def text_of(row: Mapping[str, Any]) -> Any:
    """The record with the words of a memory."""
    return record("text", [row["session_id"] or "", row["position"], row["num"]])


def stored(row: Mapping[str, Any]) -> Stored:
    scope = row["scope"]
    place = Place(SCOPES[scope], row["user"], row["project"], row["session_id"] if scope == "session" else None)
    if may_be_private(row["place"]):
        place = replace(place, agent=agent_of(row["place"], place.key))
    access: Mapping[str, Any] = row["access"] or {}
    accessed: datetime | None = access.get("last")
    return Stored(_memory(row, place), access.get("count", 0), accessed, row["model"])


def bound_ids(ids: Sequence[MemoryId]) -> dict[str, Any]:
    """What to bind for `BY_ID`."""
    return {"ids": records("memory", ids), "used": records("access", ids)}


def by_id(ids: Sequence[MemoryId], rows: Iterable[Row], used: Iterable[Row]) -> dict[MemoryId, Stored]:
    """What `BY_ID` found, in the order of the ids."""
    accesses = {row["id"]: row for row in used}
    found = {row["id"]: stored({**row, "access": accesses.get(row["id"])}) for row in rows}
    return {id: found[id] for id in ids if id in found}


def _memory(row: Mapping[str, Any], place: Place) -> Memory:
    return Memory(
        id=row["id"],
        text=row["content"],
        title=row["title"],
        kind=KINDS[row["type"]],
        category=row["category"],
        place=place,
        session=row["session_id"],
        agent=row["agent"],
        tags=tuple(row["tags"]),
        importance=row["importance"],
        source=_source(row["source"]),
        metadata={} if row["metadata"] == "{}" else json.loads(row["metadata"]),
        created=row["created_at"],
        updated=row["updated_at"],
        event_time=row["event_time"],
        valid_from=row["valid_from"],
        valid_until=row["valid_until"],
        status=_status(row),
        consolidated=row["consolidated"],
        derived_from=tuple(row["derived_from"]),
        reinforced=row["reinforced"],
        reinforced_at=row["reinforced_at"],
        version=row["version"],
        compared=row["compared"] is not False,
    )


def _status(row: Mapping[str, Any]) -> Status:
    reason, since, successor = row["state_reason"], row["state_since"], row["successor"]
    if row["state"] == "active" and reason is since is successor is None:
        return _ACTIVE
    return Status(STATES[row["state"]], reason, since, successor)


def _source(given: Mapping[str, Any]) -> Source:
    if given == _NOTHING:
        return _NO_SOURCE
    provenance = given["provenance"]
    known = {name: given[name] for name in ("tool", "file", "conversation_turn")}
    return Source(**known, provenance=Provenance(provenance) if provenance else None)
