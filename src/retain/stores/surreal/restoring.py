"""Taking over what comes from another store, exactly as it is there."""

from collections.abc import Mapping, Sequence
from typing import Any

from retain.domain.changes import Contradiction, Restored
from retain.domain.graph import Entity
from retain.domain.transfer import Destroyed, Kept, KeptSession, Served
from retain.stores.surreal import disputes
from retain.stores.surreal.cursors import cursor_row
from retain.stores.surreal.link.cbor import records
from retain.stores.surreal.link.database import Batch
from retain.stores.surreal.past_queries import asked_row
from retain.stores.surreal.sessions import served_row, session_row
from retain.stores.surreal.vectors.numbers import number_of
from retain.stores.surreal.writing import entity_row, relation_row

_SAME_KEY = """DELETE entity WHERE owner = $row.owner AND folded = $row.folded AND folded_type = $row.folded_type
    AND id.id() != $row.id RETURN NONE"""
_SAME_PAIR = """DELETE contradiction WHERE older = $row.older AND newer = $row.newer AND id.id() != $row.id
    RETURN NONE"""


def restore(batch: Batch, restored: Restored, change: int) -> None:
    """Adds to a batch what a plan takes over, after all else of it was written."""
    _memories(batch, restored.memories)
    _entities(batch, restored.entities, change)
    relations = [relation_row(relation, {}) for relation in restored.relations]
    if relations:
        batch.relate("relates_to", relations, _replaced(relations[0]))
    _contradictions(batch, restored.contradictions)
    _put(batch, "session", [_session(kept) for kept in restored.sessions])
    _put(batch, "cursor", [cursor_row(cursor) for cursor in restored.cursors])
    _put(batch, "asked", [asked_row(one.query, one.project, one.user) for one in restored.questions])
    _served(batch, restored.served)
    _destroyed(batch, restored.destroyed, change)


def _memories(batch: Batch, kept: Sequence[Kept]) -> None:
    batch.delete(records("access", (one.memory for one in kept if one.accessed is None)))
    used = [{"id": one.memory, "count": one.accesses, "last": one.accessed} for one in kept if one.accessed]
    _put(batch, "access", used)


def _entities(batch: Batch, entities: Sequence[Entity], change: int) -> None:
    rows = [entity_row(entity, number_of(change, place)) for place, entity in enumerate(entities)]
    if rows:
        batch.add(f"FOR $row IN $? {{ {_SAME_KEY} }}", rows)
        batch.insert("entity", rows, _replaced({name: value for name, value in rows[0].items() if name != "num"}))


def _contradictions(batch: Batch, found: Sequence[Contradiction]) -> None:
    """Only between memories that are there."""
    if not found:
        return
    rows = [disputes.saved(None, one) for one in found]
    batch.add(f"FOR $row IN $? {{ {_SAME_PAIR} }}", rows)
    sides = {side for one in found for side in (one.older, one.newer)}
    batch.add("LET $sides = (SELECT VALUE id.id() FROM $?)", records("memory", sides))
    both = "|$one| $one.older IN $sides AND $one.newer IN $sides"
    update = f"ON DUPLICATE KEY UPDATE {_replaced(rows[0])}"
    batch.add(f"INSERT INTO contradiction $?.filter({both}) {update} RETURN NONE", rows)


def _session(kept: KeptSession) -> dict[str, Any]:
    return {**session_row(kept.session), "recalls": kept.session.recalls, "reflected": kept.reflected}


def _served(batch: Batch, served: Sequence[Served]) -> None:
    if served:
        rows = [served_row(one.session, one.user, one.memory) for one in served]
        batch.add("INSERT IGNORE INTO served $? RETURN NONE", rows)


def _destroyed(batch: Batch, destroyed: Sequence[Destroyed], change: int) -> None:
    # Of one that never was here nobody knows the number, nor whose it was.
    rows = [{"id": one.memory, "num": 0, "user": "", "at": one.at, "changed": change} for one in destroyed]
    batch.insert("tombstone", rows, "at = $input.at")


def _put(batch: Batch, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        batch.insert(table, rows, _replaced(rows[0]))


def _replaced(row: Mapping[str, Any]) -> str:
    """What makes a record that is there the same as the new one, whatever it was."""
    return ", ".join(f"{name} = $input.{name}" for name in row if name not in ("id", "in", "out"))
