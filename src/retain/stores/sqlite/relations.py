"""Relations with their time: by id, and as they held around an entity."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from retain.domain.graph import Related, Relation, Steps
from retain.stores.moments import micros
from retain.stores.sqlite.graph import RELATION, entities, relation_of, stale_pairs, touching, whole
from retain.stores.sqlite.rows import AMONG, among
from retain.stores.walking import Weights, tread


def by_ids(db: sqlite3.Connection, ids: Sequence[str]) -> list[Relation]:
    rows = db.execute(f"select {RELATION} from relation r where r.id {AMONG}", (among(ids),))
    return [relation_of(row) for row in rows]


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
