"""Relations with their time: by id, and as they held around an entity."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from retain.domain.graph import Related, Relation, Steps
from retain.domain.memory import MemoryId
from retain.stores.moments import micros
from retain.stores.sqlite.graph import RELATION, entities, relation_of, stale_pairs, touching, whole
from retain.stores.sqlite.rows import AMONG, among
from retain.stores.walking import Weights, tread


def by_ids(db: sqlite3.Connection, ids: Sequence[str]) -> list[Relation]:
    rows = db.execute(f"select {RELATION} from relation r where r.id {AMONG}", (among(ids),))
    return [relation_of(row) for row in rows]


def together(db: sqlite3.Connection, one: str, other: str, limit: int) -> list[MemoryId]:
    """Looked up from the end with fewer links: the other may be a hub with thousands."""
    count = "select count(*) from link where entity = ?"
    ends = sorted((one, other), key=lambda end: int(db.execute(count, (end,)).fetchone()[0]))
    query = """select distinct a.memory from link a cross join link b on b.memory = a.memory and b.entity = ?2
        where a.entity = ?1 and not a.stale and not b.stale limit ?3"""
    return [row[0] for row in db.execute(query, (*ends, limit))]


def related(db: sqlite3.Connection, start: str, steps: Steps) -> Related:
    begin = [entity.id for entity in entities(db, [start])]
    trodden = tread(begin, steps, lambda frontier: _step(db, frontier, steps))
    return Related(entities(db, list(trodden.hops)), whole(db, trodden.kept), trodden.hops, trodden.truncated)


def _step(db: sqlite3.Connection, frontier: Sequence[str], steps: Steps) -> Weights:
    """Relations that lead on from the frontier and held at the moment asked for."""
    found = touching(db, frontier, steps.direction, *_held(steps))
    if steps.at is not None:  # what was forgotten since is no reason against what held then
        return found
    stale = stale_pairs(db, {key[:2] for key in found})
    suspects = whole(db, [key for key in found if key[:2] in stale])
    for relation in suspects:
        if relation.by_rule:
            del found[relation.source, relation.target, relation.type]
    return found


def _held(steps: Steps) -> tuple[str, list[Any]]:
    condition, values = "r.valid_until is null", []
    if steps.at is not None:
        at = micros(steps.at)
        condition = "coalesce(r.valid_from, r.created) <= ? and (r.valid_until is null or r.valid_until > ?)"
        values = [at, at]
    return (f"{condition} and r.type = ?", [*values, steps.relation]) if steps.relation else (condition, values)
