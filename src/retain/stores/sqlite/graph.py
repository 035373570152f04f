"""Reading the knowledge graph."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from retain.domain.graph import SAID_BY, Direction, Entity, GraphOverview, Link, Neighbourhood, Relation, fold
from retain.domain.memory import MemoryId
from retain.domain.recall import Filter
from retain.stores.sqlite.filters import where
from retain.stores.sqlite.rows import AMONG, among, moment, moment_or_none

# A walk stops here; a question about more of the graph than this is a question about all of it.
MOST_ENTITIES = 10_000
MOST_RELATIONS = 50  # of one entity
Key = tuple[str, str, str]
Row = tuple[Any, ...]
_ENTITY = "e.id, e.name, e.type, e.owner, e.created"
_RELATION = "r.source, r.target, r.type, r.created, r.weight, r.by_rule, r.valid_from, r.valid_until"
# Both ends are spoken of by the same memories, and by none that stands. Looked up from the end with fewer links:
# the other may be a hub with thousands.
_SHARED = """select 1 from link a cross join link b on b.memory = a.memory and b.entity = p.other
    where a.entity = p.rare"""
_STALE = f"""with pair as materialized (
        select json_extract(value, '$[0]') as source, json_extract(value, '$[1]') as target from json_each(?)),
    size as materialized (select id, (select count(*) from link where entity = id) as links
        from (select source as id from pair union select target from pair)),
    ordered as (select source, target, iif(s.links <= t.links, source, target) as rare,
            iif(s.links <= t.links, target, source) as other
        from pair join size s on s.id = source join size t on t.id = target)
    select source, target from ordered p
    where not exists ({_SHARED} and not a.stale and not b.stale) and exists ({_SHARED})"""


def entities_named(db: sqlite3.Connection, names: Sequence[str], owners: Sequence[str]) -> list[Entity]:
    rows = db.execute(
        f"select {_ENTITY} from entity e where e.folded {AMONG} and e.owner {AMONG} order by e.num",
        (among({fold(name) for name in names}), among(owners)),
    )
    return [entity_of(row) for row in rows]


def entity_names(db: sqlite3.Connection, owners: Sequence[str]) -> list[str]:
    query = f"select distinct name from entity where owner {AMONG}"
    return [row[0] for row in db.execute(query, (among(owners),))]


def neighbourhood(
    db: sqlite3.Connection, seeds: Sequence[str], direction: Direction, relation: str | None, depth: int, limit: int
) -> Neighbourhood:
    """Breadth first from the seeds; the nearest entities are returned with their heaviest relations, all that
    were reached are counted."""
    frontier = [entity.id for entity in entities(db, seeds)]
    hops = dict.fromkeys(frontier, 0)
    seen: dict[Key, Row] = {}
    for hop in range(1, depth + 1):
        step = _touching(db, frontier, direction, relation)
        seen |= step
        ends = {end for source, target, _ in step for end in (source, target)} - hops.keys()
        frontier = sorted(ends)[: max(MOST_ENTITIES - len(hops), 0)]
        hops.update(dict.fromkeys(frontier, hop))
        if not frontier:
            break
    weight = _weights(seen.values())
    nearest = sorted(hops, key=lambda id: (hops[id], -weight.get(id, 0.0), id))[:limit]
    return Neighbourhood(
        entities=entities(db, nearest),
        relations=_aged(db, _heaviest(seen.values(), nearest)),
        hops=hops,
        entities_traversed=len(hops),
        relationships_found=len(seen),
        depth_reached=max(hops.values(), default=0),
    )


def most_connected(db: sqlite3.Connection, owners: Sequence[str], relation: str | None, limit: int) -> Neighbourhood:
    """The entities with the most to say: by weight of relations, then by memories that name them."""
    typed, bound = ("where type = ?", (relation,)) if relation else ("", ())
    rows = db.execute(
        f"""with edges as (select source as id, weight from relation {typed}
                           union all select target, weight from relation {typed}),
            linked as (select entity as id, 0.1 as weight from link where not stale),
            scored as (select id, sum(weight) as score from (
                select * from edges {"" if relation else "union all select * from linked"}) group by id)
            select {_ENTITY} from scored s join entity e on e.id = s.id
            where e.owner {AMONG} order by s.score desc, e.name, e.id limit ?""",
        (*bound, *bound, among(owners), limit),
    ).fetchall()
    entities = tuple(entity_of(row) for row in rows)
    ids = [entity.id for entity in entities]
    relations = _aged(db, _heaviest(_touching(db, ids, Direction.BOTH, relation).values(), ids))
    (total,) = db.execute(f"select count(*) from entity where owner {AMONG}", (among(owners),)).fetchone()
    (edges,) = db.execute(
        f"""select count(*) from relation r join entity e on e.id = r.source
            where e.owner {AMONG} {"and r.type = ?" if relation else ""}""",
        (among(owners), *bound),
    ).fetchone()
    return Neighbourhood(entities, relations, None, total, edges, 0)


def overview(db: sqlite3.Connection, owners: Sequence[str]) -> GraphOverview:
    types = db.execute(
        f"select type, count(*) from entity where owner {AMONG} group by type", (among(owners),)
    ).fetchall()
    relations = db.execute(
        f"""select r.type, count(*) from relation r join entity e on e.id = r.source
            where e.owner {AMONG} group by r.type""",
        (among(owners),),
    ).fetchall()
    return GraphOverview(sum(n for _, n in types), sum(n for _, n in relations), dict(types), dict(relations))


def links(db: sqlite3.Connection, memories: Sequence[MemoryId]) -> list[tuple[Link, Entity]]:
    rows = db.execute(
        f"""select l.memory, l.entity, l.relationship, l.created, l.by_rule, l.stale, {_ENTITY}
            from link l join entity e on e.id = l.entity where l.memory {AMONG}""",
        (among(memories),),
    )
    return [(link_of(row[:6]), entity_of(row[6:])) for row in rows]


def linked(db: sqlite3.Connection, entities: Sequence[str], wanted: Filter, limit: int) -> list[Link]:
    conditions, values = where(wanted)
    rows = db.execute(
        f"""select l.memory, l.entity, l.relationship, l.created, l.by_rule, l.stale
            from link l cross join memory m on m.id = l.memory
            where l.entity {AMONG} and {conditions}
            order by m.event_time desc, m.num desc limit ?""",
        (among(entities), *values, limit),
    )
    return [link_of(row) for row in rows]


def speakers(db: sqlite3.Connection, entities: Sequence[str], at_least: int) -> set[str]:
    query = "select count(*) from (select 1 from link where entity = ? and relationship = ? limit ?)"
    return {id for id in entities if db.execute(query, (id, SAID_BY, at_least)).fetchone()[0] >= at_least}


def link_counts(db: sqlite3.Connection, entities: Sequence[str], wanted: Filter) -> dict[str, int]:
    conditions, values = where(wanted)
    return dict(
        db.execute(
            f"""select l.entity, count(distinct l.memory) from link l cross join memory m on m.id = l.memory
                where l.entity {AMONG} and {conditions} group by l.entity""",
            (among(entities), *values),
        ).fetchall()
    )


def _touching(
    db: sqlite3.Connection, entities: Sequence[str], direction: Direction, relation: str | None
) -> dict[Key, Row]:
    """Relations with an end among the entities, as rows: a walk sees many more than it returns."""
    ends = {
        Direction.OUTGOING: ("r.source",),
        Direction.INCOMING: ("r.target",),
        Direction.BOTH: ("r.source", "r.target"),
    }[direction]
    typed, bound = ("and r.type = ?", [relation]) if relation else ("", [])
    found: dict[Key, Row] = {}
    for end in ends:
        query = f"select {_RELATION} from relation r where {end} {AMONG} {typed}"
        found.update({row[:3]: row for row in db.execute(query, (among(entities), *bound))})
    return found


def _weights(rows: Iterable[Row]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for source, target, _, _, weight, *_ in rows:
        weights[source] = weights.get(source, 0.0) + weight
        weights[target] = weights.get(target, 0.0) + weight
    return weights


def _heaviest(rows: Iterable[Row], entities: Sequence[str]) -> tuple[Relation, ...]:
    """The heaviest relations of each entity; a hub has thousands, and nobody reads them."""
    room = dict.fromkeys(entities, MOST_RELATIONS)
    kept = []
    for row in sorted(rows, key=lambda row: -row[4]):
        source, target = row[:2]
        if room.get(source, 0) or room.get(target, 0):
            kept.append(relation_of(row))
            for end in (source, target):
                room[end] = max(room.get(end, 0) - 1, 0)
    return tuple(kept)


def _aged(db: sqlite3.Connection, relations: Sequence[Relation]) -> tuple[Relation, ...]:
    """The relations, with those marked that only forgotten memories speak of: no row says which memory stated one."""
    ends = json.dumps(sorted({(r.source, r.target) for r in relations}))
    stale = set(db.execute(_STALE, (ends,)))
    return tuple(replace(r, stale=True) if (r.source, r.target) in stale else r for r in relations)


def entities(db: sqlite3.Connection, ids: Sequence[str]) -> tuple[Entity, ...]:
    rows = db.execute(f"select {_ENTITY} from entity e where e.id {AMONG}", (among(ids),))
    found = {row[0]: entity_of(row) for row in rows}
    return tuple(found[id] for id in ids if id in found)


def entity_of(row: Any) -> Entity:
    return Entity(row[0], row[1], row[2], row[3], moment(row[4]))


def link_of(row: Any) -> Link:
    return Link(row[0], row[1], row[2], moment(row[3]), bool(row[4]), bool(row[5]))


def relation_of(row: Any) -> Relation:
    source, target, type, created, weight, by_rule, valid_from, valid_until = row
    times = moment_or_none(valid_from), moment_or_none(valid_until)
    return Relation(source, target, type, moment(created), weight, bool(by_rule), *times)
