"""Reading the knowledge graph. Relations that somebody has ended are no part of it; see relations.py for those."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from heapq import nsmallest
from math import fsum
from typing import Any

from retain.domain.graph import Direction, Entity, GraphOverview, Link, Neighbourhood, Relation, fold, relation_id
from retain.stores.surreal.graph.staleness import stale_pairs
from retain.stores.surreal.link.cbor import records
from retain.stores.surreal.link.database import Database
from retain.stores.walking import Key, Weights, aged, heaviest, nearest, neighbourhood_of, walk

ENTITY = "id, name, type, owner, created_at, description, stated"
RELATION = "in, out, relationship, created_at, weight, by_rule, valid_from, valid_until"
_ARROWS = {
    Direction.OUTGOING: "->relates_to",
    Direction.INCOMING: "<-relates_to",
    Direction.BOTH: "<->relates_to",
}
_STANDING = "valid_until = NULL"
# From so many entities on it is asked whether reading all relations is faster than going to each entity: one costs
# 80 µs and 13 µs for each of its relations, a relation in the order of the table 6 µs.
_WIDE = 200
_SCANNED_FOR_ONE = 12

Touching = tuple[str, str, str, float, bool]


def entities_named(db: Database, names: Sequence[str], owners: Sequence[str]) -> list[Entity]:
    # By name: an owner may have thousands of entities.
    query = f"SELECT {ENTITY}, num FROM entity WITH INDEX entity_name WHERE folded IN $names AND owner IN $owners"
    rows = db.rows(query, names=list({fold(name) for name in names}), owners=list(owners))
    return [entity_of(row) for row in sorted(rows, key=lambda row: row["num"])]


def entity_names(db: Database, owners: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(db.rows("SELECT VALUE name FROM entity WHERE owner IN $owners", owners=list(owners))))


def names(db: Database, ids: Sequence[str]) -> dict[str, str]:
    return dict(db.rows("SELECT VALUE [id, name] FROM $ids", ids=records("entity", ids)))


def neighbourhood(
    db: Database, seeds: Sequence[str], direction: Direction, relation: str | None, depth: int, limit: int
) -> Neighbourhood:
    begin = [entity.id for entity in entities(db, seeds)]
    walked = walk(begin, depth, lambda frontier: _touching(db, frontier, direction, relation))
    near, seen = nearest(walked, limit)
    return neighbourhood_of(walked, entities(db, near), _aged(db, whole(db, heaviest(seen, near))))


def most_connected(db: Database, owners: Sequence[str], relation: str | None, limit: int) -> Neighbourhood:
    """The entities with the most to say: by weight of relations, then by memories that name them."""
    linked = "0" if relation else "count(<-memory_entity)"
    mine, stale, edges = db.view(
        f"SELECT VALUE [id, name, {linked}] FROM entity WHERE owner IN $owners",
        "SELECT out, count() AS n FROM memory_entity WHERE stale = true GROUP BY out",
        f"SELECT VALUE [in, out, weight] FROM relates_to WHERE {_STANDING} {_typed(relation)}",
        owners=list(owners),
        relation=relation,
    )
    scores = _scores(mine, {} if relation else {row["out"]: row["n"] for row in stale}, edges)
    best = nsmallest(limit, ((-scores[id], name, id) for id, name, _ in mine if id in scores))
    ids = [id for _, _, id in best]
    relations = _aged(db, whole(db, heaviest(_touching(db, ids, Direction.BOTH, relation), ids)))
    known = {id for id, _, _ in mine}
    found = sum(source in known for source, _, _ in edges)
    return Neighbourhood(entities(db, ids), relations, None, len(mine), found, 0)


def _scores(
    mine: Iterable[tuple[str, str, int]], stale: Mapping[str, int], edges: Iterable[tuple[str, str, float]]
) -> dict[str, float]:
    """Of all that have a relation, or a memory that speaks of them and stands."""
    weights: dict[str, list[float]] = {}
    for source, target, weight in edges:
        weights.setdefault(source, []).append(weight)
        weights.setdefault(target, []).append(weight)
    for id, _, links in mine:
        if fresh := links - stale.get(id, 0):
            weights.setdefault(id, []).append(fresh * 0.1)
    return {id: fsum(some) for id, some in weights.items()}


def overview(db: Database, owners: Sequence[str]) -> GraphOverview:
    mine, relations = db.view(
        "SELECT VALUE [id, type] FROM entity WHERE owner IN $owners",
        f"SELECT VALUE [in, relationship] FROM relates_to WHERE {_STANDING}",
        owners=list(owners),
    )
    types = dict(mine)
    related = Counter(relationship for source, relationship in relations if source in types)
    return GraphOverview(len(types), related.total(), dict(Counter(types.values())), dict(related))


def _touching(db: Database, entities: Sequence[str], direction: Direction, relation: str | None) -> Weights:
    condition = f"{_STANDING} {_typed(relation)}"
    found = touching(db, entities, direction, condition, relation=relation)
    return {(source, target, type): weight for source, target, type, weight, _ in found}


def _typed(relation: str | None) -> str:
    return "AND relationship = $relation" if relation else ""


def touching(
    db: Database, entities: Sequence[str], direction: Direction, condition: str, **bound: Any
) -> list[Touching]:
    """Relations with an end among the entities, and only their weights: a walk sees many more than it returns."""
    if not entities:
        return []
    edges = f"array::group((SELECT VALUE {_ARROWS[direction]} FROM $entities))"
    is_wide = len(entities) > _WIDE and _relations(db) < _SCANNED_FOR_ONE * len(entities)
    rows = db.rows(
        f"""SELECT VALUE [in, out, relationship, weight, by_rule] FROM {"relates_to" if is_wide else edges}
            WHERE {condition}""",
        entities=records("entity", entities),
        **bound,
    )
    return _joined_to(rows, set(entities), direction) if is_wide else rows


def _relations(db: Database) -> int:
    # Counted by key, 0.5 µs each.
    row = db.row("SELECT count() AS n FROM relates_to GROUP ALL")
    return int(row["n"]) if row else 0


def _joined_to(rows: Iterable[Touching], ends: set[str], direction: Direction) -> list[Touching]:
    outgoing, incoming = direction is not Direction.INCOMING, direction is not Direction.OUTGOING
    return [row for row in rows if (outgoing and row[0] in ends) or (incoming and row[1] in ends)]


def whole(db: Database, keys: Sequence[Key]) -> tuple[Relation, ...]:
    """The relations with these keys, in the same order."""
    ids = [relation_id(*key) for key in keys]
    rows = db.rows(f"SELECT id, {RELATION} FROM $ids", ids=records("relates_to", ids)) if ids else []
    found = {row["id"]: relation_of(row) for row in rows}
    return tuple(found[id] for id in ids if id in found)


def _aged(db: Database, relations: Sequence[Relation]) -> tuple[Relation, ...]:
    return aged(relations, stale_pairs(db, {(r.source, r.target) for r in relations}))


def entities(db: Database, ids: Sequence[str]) -> tuple[Entity, ...]:
    rows = db.rows(f"SELECT {ENTITY} FROM $ids", ids=records("entity", ids)) if ids else []
    found = {row["id"]: entity_of(row) for row in rows}
    return tuple(found[id] for id in ids if id in found)


def entity_of(row: Mapping[str, Any]) -> Entity:
    known = (row["id"], row["name"], row["type"], row["owner"], row["created_at"])
    return Entity(*known, row["description"], row["stated"])


def link_of(row: Mapping[str, Any]) -> Link:
    return Link(row["in"], row["out"], row["relationship"], row["created_at"], row["by_rule"], row["stale"])


def relation_of(row: Mapping[str, Any]) -> Relation:
    key = (row["in"], row["out"], row["relationship"])
    times = (row["valid_from"], row["valid_until"])
    return Relation(*key, row["created_at"], row["weight"], row["by_rule"], *times)
