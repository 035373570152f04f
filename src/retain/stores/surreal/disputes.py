"""Contradictions between memories, and what became of them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from retain.domain.changes import Contradiction, ContradictionState
from retain.domain.memory import MemoryId, Place, State, Stored
from retain.stores.surreal.link.cbor import record, records
from retain.stores.surreal.rows import BY_ID, Row, bound_ids, by_id
from retain.stores.surreal.tables import Tables

_DECIDED = ("winner", "conditions", "explanation", "resolved", "resolved_by")
_ALL = f"id, older, newer, kind, detail, found, by_rule, state, {', '.join(_DECIDED)}"
CONTRADICTION_AGAIN = ", ".join(f"{name} = $input.{name}" for name in ("detail", "state", *_DECIDED))
_GIVEN_UP = {state.value for state in (State.FORGOTTEN, State.INVALIDATED, State.ARCHIVED, State.PRUNED)}
# Sifted in Python: the database takes twice as long for it, 0.3 s for 3,000.
_SIDES = """SELECT VALUE [id, found, state, type::record('memory', older).{place, state},
    type::record('memory', newer).{place, state}] FROM contradiction WHERE state IN $states"""
_BETWEEN = [f"SELECT {_ALL} FROM contradiction WHERE {side} IN $parties" for side in ("older", "newer")]
Side = Mapping[str, str] | None


class DisputeTables(Tables):
    """Contradictions, as `ports.TrustStore` has them."""

    def contradictions(self, memories: Sequence[MemoryId]) -> list[Contradiction]:
        return _oldest_first(*self.db.view(*_BETWEEN, parties=list(memories))) if memories else []

    def with_contradictions(self, ids: Sequence[MemoryId]) -> tuple[dict[MemoryId, Stored], list[Contradiction]]:
        if not ids:
            return {}, []
        rows, used, *sides = self.db.view(*BY_ID, *_BETWEEN, parties=list(ids), **bound_ids(ids))
        return by_id(ids, rows, used), _oldest_first(*sides)

    def contradiction(self, id: str) -> Contradiction | None:
        row = self.db.row(f"SELECT {_ALL} FROM $one", one=[record("contradiction", id)])
        return contradiction_of(row) if row else None

    def disputes(
        self, places: Sequence[Place], states: Sequence[ContradictionState], limit: int, offset: int = 0
    ) -> tuple[list[Contradiction], int]:
        here = {place.key for place in places}
        rows = self.db.rows(_SIDES, states=[state.value for state in states])
        found = sorted(((at, id) for id, at, *sides in rows if _is_seen(here, *sides)), reverse=True)
        page = records("contradiction", (id for _, id in found[offset : offset + limit]))
        shown = map(contradiction_of, self.db.rows(f"SELECT {_ALL} FROM $page", page=page) if page else ())
        return sorted(shown, key=lambda one: (one.found, one.id), reverse=True), len(found)


def _oldest_first(*sides: Iterable[Row]) -> list[Contradiction]:
    """Each once, though both of its sides may have found it."""
    found = {row["id"]: row for rows in sides for row in rows}
    return sorted(map(contradiction_of, found.values()), key=lambda one: (one.found, one.id))


def _is_seen(here: Collection[str], state: str, older: Side, newer: Side) -> bool:
    """Whether both memories are in these places, and it is still a question.

    One that nobody decided is none any more once either memory has ended. Of one that is open again a side may still
    be superseded by the decision that is in question.
    """
    if not all(side and side["place"] in here for side in (older, newer)):
        return False
    ends = {side["state"] for side in (older, newer) if side}
    if state == ContradictionState.OPEN.value:
        return ends == {State.ACTIVE.value}
    return state != ContradictionState.REOPENED.value or ends.isdisjoint(_GIVEN_UP)


def saved(known: Mapping[str, Any] | None, one: Contradiction) -> dict[str, Any]:
    """The record to insert with `CONTRADICTION_AGAIN`, where `known` is the one between the same two memories.

    One that is found again is open, or open again: what was decided stays for the record.
    """
    new = _row(one)
    if known is None:
        return new
    is_open = one.state is ContradictionState.OPEN
    reopened = is_open and known["state"] != ContradictionState.OPEN.value
    state = ContradictionState.REOPENED if reopened else one.state
    decided = known if is_open else new
    kept = {name: decided[name] for name in _DECIDED}
    return {**known, "detail": one.detail, "state": state.value, **kept}


def _row(one: Contradiction) -> dict[str, Any]:
    return {
        "id": one.id,
        "older": one.older,
        "newer": one.newer,
        "kind": one.kind,
        "detail": one.detail,
        "found": one.found,
        "by_rule": one.by_rule,
        "state": one.state.value,
        "winner": one.winner,
        "conditions": one.conditions,
        "explanation": one.explanation,
        "resolved": one.resolved,
        "resolved_by": one.resolved_by,
    }


def contradiction_of(row: Mapping[str, Any]) -> Contradiction:
    return Contradiction(
        id=row["id"],
        older=row["older"],
        newer=row["newer"],
        kind=row["kind"],
        detail=row["detail"],
        found=row["found"],
        by_rule=row["by_rule"],
        state=ContradictionState(row["state"]),
        winner=row["winner"],
        conditions=row["conditions"],
        explanation=row["explanation"],
        resolved=row["resolved"],
        resolved_by=row["resolved_by"],
    )
