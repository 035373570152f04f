"""Reading the knowledge graph. Relations that somebody has ended are no part of it; see relations.py for those."""

import json
import sqlite3
from collections.abc import Sequence, Set
from typing import Any

from retain.domain.graph import SAID_BY, Direction, Entity, GraphOverview, Link, Neighbourhood, Relation, fold
from retain.domain.memory import MemoryId, user_of
from retain.domain.recall import Filter
from retain.stores.moments import moment, moment_or_none
from retain.stores.sqlite.filters import where
from retain.stores.sqlite.rows import AMONG, among
from retain.stores.walking import Key, Pair, Weights, aged, heaviest, nearest, neighbourhood_of, walk

ENDS = {
    Direction.OUTGOING: ("r.source",),
    Direction.INCOMING: ("r.target",),
    Direction.BOTH: ("r.source", "r.target"),
}
_ENTITY = "e.id, e.name, e.type, e.owner, e.created, e.description, e.stated"
RELATION = "r.source, r.target, r.type, r.created, r.weight, r.by_rule, r.valid_from, r.valid_until"
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


def names(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, str]:
    return dict(db.execute(f"select id, name from entity where id {AMONG}", (among(ids),)).fetchall())


def owners_of(db: sqlite3.Connection, user: str) -> list[str]:
    """All owners of entities that belong to one user: their projects, and they themselves."""
    return [owner for (owner,) in db.execute("select distinct owner from entity") if user_of(owner) == user]


def neighbourhood(
    db: sqlite3.Connection, seeds: Sequence[str], direction: Direction, relation: str | None, depth: int, limit: int
) -> Neighbourhood:
    begin = [entity.id for entity in entities(db, seeds)]
    walked = walk(begin, depth, lambda frontier: _touching(db, frontier, direction, relation))
    near, seen = nearest(walked, limit)
    return neighbourhood_of(walked, entities(db, near), _aged(db, whole(db, heaviest(seen, near))))


def most_connected(db: sqlite3.Connection, owners: Sequence[str], relation: str | None, limit: int) -> Neighbourhood:
    """The entities with the most to say: by weight of relations, then by memories that name them."""
    typed, bound = ("and type = ?", (relation,)) if relation else ("", ())
    rows = db.execute(
        f"""with edges as (select source as id, weight from relation where valid_until is null {typed}
                           union all select target, weight from relation where valid_until is null {typed}),
            linked as (select entity as id, 0.1 as weight from link where not stale),
            scored as (select id, sum(weight) as score from (
                select * from edges {"" if relation else "union all select * from linked"}) group by id)
            select {_ENTITY} from scored s join entity e on e.id = s.id
            where e.owner {AMONG} order by s.score desc, e.name, e.id limit ?""",
        (*bound, *bound, among(owners), limit),
    ).fetchall()
    entities = tuple(entity_of(row) for row in rows)
    ids = [entity.id for entity in entities]
    relations = _aged(db, whole(db, heaviest(_touching(db, ids, Direction.BOTH, relation), ids)))
    (total,) = db.execute(f"select count(*) from entity where owner {AMONG}", (among(owners),)).fetchone()
    (edges,) = db.execute(
        f"""select count(*) from relation r join entity e on e.id = r.source
            where e.owner {AMONG} and r.valid_until is null {"and r.type = ?" if relation else ""}""",
        (among(owners), *bound),
    ).fetchone()
    return Neighbourhood(entities, relations, None, total, edges, 0)


def overview(db: sqlite3.Connection, owners: Sequence[str]) -> GraphOverview:
    types = db.execute(
        f"select type, count(*) from entity where owner {AMONG} group by type", (among(owners),)
    ).fetchall()
    relations = db.execute(
        f"""select r.type, count(*) from relation r join entity e on e.id = r.source
            where e.owner {AMONG} and r.valid_until is null group by r.type""",
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
    # Chosen from an index that holds all but `created`; only then are the rows of the chosen looked at.
    rows = db.execute(
        f"""select l.memory, l.entity, l.relationship, l.created, l.by_rule, l.stale from (
              select l.memory, l.entity, l.relationship, m.event_time, m.num
              from link l cross join memory m on m.id = l.memory
              where l.entity {AMONG} and {conditions} order by m.event_time desc, m.num desc limit ?) newest
            cross join link l using (memory, entity, relationship)
            order by newest.event_time desc, newest.num desc""",
        (among(entities), *values, limit),
    )
    return [link_of(row) for row in rows]


def speakers(db: sqlite3.Connection, entities: Sequence[str], at_least: int) -> set[str]:
    # Written out, not bound: only so does SQLite know that the index of what was said will do.
    query = f"select count(*) from (select 1 from link where entity = ? and relationship = '{SAID_BY}' limit ?)"
    return {id for id in entities if db.execute(query, (id, at_least)).fetchone()[0] >= at_least}


def link_counts(db: sqlite3.Connection, entities: Sequence[str], wanted: Filter) -> dict[str, int]:
    conditions, values = where(wanted)
    return dict(
        db.execute(
            f"""select l.entity, count(distinct l.memory) from link l cross join memory m on m.id = l.memory
                where l.entity {AMONG} and {conditions} group by l.entity""",
            (among(entities), *values),
        ).fetchall()
    )


def _touching(db: sqlite3.Connection, entities: Sequence[str], direction: Direction, relation: str | None) -> Weights:
    """Relations with an end among the entities, and only their weights: a walk sees many more than it returns."""
    typed, bound = ("and r.type = ?", [relation]) if relation else ("", [])
    return touching(db, entities, direction, f"r.valid_until is null {typed}", bound)


def touching(
    db: sqlite3.Connection, entities: Sequence[str], direction: Direction, condition: str, bound: Sequence[Any]
) -> Weights:
    found: Weights = {}
    for end in ENDS[direction]:
        query = f"select r.source, r.target, r.type, r.weight from relation r where {end} {AMONG} and {condition}"
        found.update({(a, b, type): weight for a, b, type, weight in db.execute(query, (among(entities), *bound))})
    return found


def whole(db: sqlite3.Connection, keys: Sequence[Key]) -> tuple[Relation, ...]:
    """The relations with these keys, in the same order."""
    rows = db.execute(
        f"""select {RELATION} from json_each(?) k cross join relation r on r.source = json_extract(k.value, '$[0]')
            and r.target = json_extract(k.value, '$[1]') and r.type = json_extract(k.value, '$[2]') order by k.key""",
        (json.dumps(keys),),
    )
    return tuple(relation_of(row) for row in rows)


def _aged(db: sqlite3.Connection, relations: Sequence[Relation]) -> tuple[Relation, ...]:
    return aged(relations, stale_pairs(db, {(r.source, r.target) for r in relations}))


def stale_pairs(db: sqlite3.Connection, pairs: Set[Pair]) -> set[Pair]:
    """The pairs of entities that only forgotten memories speak of together: no row says which stated a relation."""
    # Few entities have a link that is stale, and unless both ends do, a pair is not. The index is named, since others
    # would do too, and be read through all links of a hub, or of the store.
    if not pairs or db.execute("select 1 from link indexed by link_stale where stale = 1 limit 1").fetchone() is None:
        return set()
    ends = among({end for pair in pairs for end in pair})
    query = f"select distinct entity from link indexed by link_stale where stale = 1 and entity {AMONG}"
    touched = {row[0] for row in db.execute(query, (ends,))}
    suspects = sorted(pair for pair in pairs if touched.issuperset(pair))
    return set(db.execute(_STALE, (json.dumps(suspects),))) if suspects else set()


def entities(db: sqlite3.Connection, ids: Sequence[str]) -> tuple[Entity, ...]:
    rows = db.execute(f"select {_ENTITY} from entity e where e.id {AMONG}", (among(ids),))
    found = {row[0]: entity_of(row) for row in rows}
    return tuple(found[id] for id in ids if id in found)


def entity_of(row: Any) -> Entity:
    id, name, type, owner, created, description, stated = row
    return Entity(id, name, type, owner, moment(created), description, bool(stated))


def link_of(row: Any) -> Link:
    return Link(row[0], row[1], row[2], moment(row[3]), bool(row[4]), bool(row[5]))


def relation_of(row: Any) -> Relation:
    source, target, type, created, weight, by_rule, valid_from, valid_until = row
    times = moment_or_none(valid_from), moment_or_none(valid_until)
    return Relation(source, target, type, moment(created), weight, bool(by_rule), *times)
