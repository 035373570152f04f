"""Relations with their time: by id, and as they held around an entity."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from retain.domain.graph import Related, Relation, Steps
from retain.stores.sqlite.graph import RELATION, Weights, entities, relation_of, stale_pairs, touching, whole
from retain.stores.sqlite.rows import AMONG, among, micros


def by_ids(db: sqlite3.Connection, ids: Sequence[str]) -> list[Relation]:
    rows = db.execute(f"select {RELATION} from relation r where r.id {AMONG}", (among(ids),))
    return [relation_of(row) for row in rows]


def related(db: sqlite3.Connection, start: str, steps: Steps) -> Related:
    """Breadth first; where there is more than fits, the heaviest are kept."""
    hops = {entity.id: 0 for entity in entities(db, [start])}
    seen: Weights = {}
    frontier, truncated = list(hops), False
    for hop in range(1, steps.depth + 1):
        step = _step(db, frontier, steps)
        seen |= step
        reached = _new_ends(step, hops)
        frontier = reached[: steps.most_entities + 1 - len(hops)]
        truncated = truncated or len(frontier) < len(reached)
        hops |= dict.fromkeys(frontier, hop)
        if not frontier:
            break
    inside = [key for key in seen if key[0] in hops and key[1] in hops]
    hops.pop(start, None)
    kept = sorted(inside, key=lambda key: (-seen[key], key))[: steps.most_relations]
    return Related(
        entities=entities(db, list(hops)),
        relations=whole(db, kept),
        hops=hops,
        truncated=truncated or len(kept) < len(inside),
    )


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


def _new_ends(step: Weights, known: dict[str, int]) -> list[str]:
    """Entities that a step reached first, the most heavily joined first."""
    weights: dict[str, float] = {}
    for (source, target, _), weight in step.items():
        for end in (source, target):
            if end not in known:
                weights[end] = weights.get(end, 0.0) + weight
    return sorted(weights, key=lambda end: (-weights[end], end))
