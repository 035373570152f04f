"""Relations with their time: by id, and as they held around an entity."""

from collections.abc import Sequence

from retain.domain.graph import Related, Relation, Steps
from retain.domain.memory import MemoryId
from retain.stores.surreal.graph.graph import RELATION, entities, relation_of, touching, whole
from retain.stores.surreal.graph.staleness import stale_pairs
from retain.stores.surreal.link.cbor import record, records
from retain.stores.surreal.link.database import Database
from retain.stores.walking import Weights, tread


def by_ids(db: Database, ids: Sequence[str]) -> list[Relation]:
    return [relation_of(row) for row in db.rows(f"SELECT {RELATION} FROM $ids", ids=records("relates_to", ids))]


def together(db: Database, one: str, other: str, limit: int) -> list[MemoryId]:
    said = "SELECT VALUE in FROM memory_entity WHERE out = $end AND stale = false"
    first, second = (set(db.rows(said, end=record("entity", end))) for end in (one, other))
    return sorted(first & second)[:limit]


def related(db: Database, start: str, steps: Steps) -> Related:
    begin = [entity.id for entity in entities(db, [start])]
    trodden = tread(begin, steps, lambda frontier: _step(db, frontier, steps))
    return Related(entities(db, list(trodden.hops)), whole(db, trodden.kept), trodden.hops, trodden.truncated)


def _step(db: Database, frontier: Sequence[str], steps: Steps) -> Weights:
    """Relations that lead on from the frontier and held at the moment asked for."""
    found = touching(db, frontier, steps.direction, _held(steps), at=steps.at, relation=steps.relation)
    # What was forgotten since is no reason against what held then.
    read = set() if steps.at is not None else {(row[0], row[1]) for row in found if row[4]}
    stale = stale_pairs(db, read)
    return {(a, b, type): weight for a, b, type, weight, by_rule in found if not by_rule or (a, b) not in stale}


def _held(steps: Steps) -> str:
    condition = "valid_until = NULL"
    if steps.at is not None:
        condition = "(valid_from ?? created_at) <= $at AND (valid_until = NULL OR valid_until > $at)"
    return f"{condition} AND relationship = $relation" if steps.relation else condition
