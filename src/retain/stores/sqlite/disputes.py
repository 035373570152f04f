"""Contradictions between memories, and what became of them."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from retain.domain.changes import Contradiction, ContradictionState
from retain.domain.memory import MemoryId, Place
from retain.stores.moments import micros, micros_or_none, moment, moment_or_none
from retain.stores.sqlite.rows import AMONG, among

FOUND = "id, older, newer, kind, detail, found, by_rule, state"
DECIDED = ("winner", "conditions", "explanation", "resolved", "resolved_by")
_ALL = f"{FOUND}, {', '.join(DECIDED)}"
_GIVEN_UP = "('forgotten', 'invalidated', 'archived', 'pruned')"
_IS_THERE = "exists (select 1 from memory where id = ?)"


def by_id(db: sqlite3.Connection, id: str) -> Contradiction | None:
    row = db.execute(f"select {_ALL} from contradiction where id = ?", (id,)).fetchone()
    return contradiction_of(row) if row else None


def between(db: sqlite3.Connection, memories: Sequence[MemoryId]) -> list[Contradiction]:
    """Those to which any of the memories is a party."""
    ids = among(memories)
    rows = db.execute(
        f"select {_ALL} from contradiction where older {AMONG} or newer {AMONG} order by found, id", (ids, ids)
    )
    return [contradiction_of(row) for row in rows]


def listed(
    db: sqlite3.Connection, places: Sequence[Place], states: Sequence[ContradictionState], limit: int, offset: int
) -> tuple[list[Contradiction], int]:
    """Newest first, where both memories are in these places; and how many there are.

    One that nobody decided is none any more once either memory has ended. Of one that is open again a side may still
    be superseded by the decision that is in question.
    """
    here = among(place.key for place in places)
    matching = f"""from contradiction c join memory o on o.id = c.older join memory n on n.id = c.newer
        where c.state {AMONG} and o.place {AMONG} and n.place {AMONG}
        and (c.state <> 'open' or (o.state = 'active' and n.state = 'active'))
        and (c.state <> 'reopened' or (o.state not in {_GIVEN_UP} and n.state not in {_GIVEN_UP}))"""
    bound = (among(state.value for state in states), here, here)
    columns = ", ".join(f"c.{name}" for name in _ALL.split(", "))
    query = f"select {columns} {matching} order by c.found desc, c.id desc limit ? offset ?"
    found = [contradiction_of(row) for row in db.execute(query, (*bound, limit, offset))]
    (total,) = db.execute(f"select count(*) {matching}", bound).fetchone()
    return found, total


def save(db: sqlite3.Connection, one: Contradiction) -> None:
    """Another process may have destroyed one of the memories between the plan and now.

    One that is found again is open, or open again: what was decided stays for the record.
    """
    kept = ", ".join(f"{name} = iif(excluded.state = 'open', {name}, excluded.{name})" for name in DECIDED)
    db.execute(
        f"""insert into contradiction ({_ALL}) select ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
            where {_IS_THERE} and {_IS_THERE} on conflict (older, newer) do update set detail = excluded.detail,
            state = iif(excluded.state = 'open' and state <> 'open', 'reopened', excluded.state), {kept}""",
        (
            *(one.id, one.older, one.newer, one.kind, one.detail, micros(one.found), one.by_rule, one.state.value),
            *(one.winner, one.conditions, one.explanation, micros_or_none(one.resolved), one.resolved_by),
            *(one.older, one.newer),
        ),
    )


def contradiction_of(row: Any) -> Contradiction:
    id, older, newer, kind, detail, found, by_rule, state, winner, conditions, explanation, resolved, by = row
    found_so = (moment(found), bool(by_rule), ContradictionState(state))
    said = (winner, conditions, explanation)
    return Contradiction(id, older, newer, kind, detail, *found_so, *said, moment_or_none(resolved), by)
