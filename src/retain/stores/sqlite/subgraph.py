"""The part of the knowledge graph around some entities and memories, small enough to rank in a moment."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from retain.domain.memory import MemoryId
from retain.domain.recall import Filter
from retain.ports import Subgraph
from retain.stores.moments import micros
from retain.stores.sqlite.filters import where
from retain.stores.sqlite.graph import stale_pairs
from retain.stores.sqlite.rows import AMONG, among
from retain.stores.walking import LOOKED_AT, Pair, Weights, subgraph, surest

_RELATION = """select source, target, type, weight, by_rule from relation
    where {end} = ?1 and weight > 0 and (valid_from is null or valid_from <= ?2)
      and (valid_until is null or valid_until > ?2)"""
# Each half in the order of an index, or of a short list; only as much of it is read as is kept.
_HEAVIEST = f"""select * from ({_RELATION.format(end="source")} union all {_RELATION.format(end="target")})
    order by weight desc limit ?3"""


def around(
    db: sqlite3.Connection, entities: Sequence[str], memories: Sequence[MemoryId], wanted: Filter, now: datetime
) -> Subgraph:
    return subgraph(
        _known(db, entities),
        _links(db, memories, wanted),
        heaviest=lambda ids, limit: _heaviest(db, ids, limit, now),
        newest=lambda room: _newest(db, room, wanted),
    )


def _known(db: sqlite3.Connection, entities: Sequence[str]) -> list[str]:
    found = {row[0] for row in db.execute(f"select id from entity where id {AMONG}", (among(entities),))}
    return [id for id in entities if id in found]


def _links(db: sqlite3.Connection, memories: Sequence[MemoryId], wanted: Filter) -> dict[Pair, float]:
    """What the given memories speak of, in the order in which they were given; what was stated comes first."""
    conditions, values = where(wanted)
    rows = db.execute(
        f"""select l.memory, l.entity, l.by_rule from json_each(?) given
            cross join memory m on m.id = given.value cross join link l on l.memory = m.id
            where l.stale = 0 and {conditions} order by given.key, l.by_rule""",
        (among(memories), *values),
    )
    return surest(rows)


def _newest(db: sqlite3.Connection, room: Sequence[tuple[str, int]], wanted: Filter) -> dict[Pair, float]:
    """The memories stored last that speak of each entity: ids grow with time, so an index has them in order."""
    conditions, values = where(wanted)
    query = f"""select l.memory, l.entity, l.by_rule from (select memory, entity, by_rule from link
            where entity = ? and stale = 0 order by memory desc limit {LOOKED_AT}) l
        cross join memory m on m.id = l.memory where {conditions} limit ?"""
    return surest(row for id, limit in room for row in db.execute(query, (id, *values, limit)))


def _heaviest(db: sqlite3.Connection, entities: Sequence[str], limit: int, now: datetime) -> Weights:
    """The heaviest relations of each of the entities, by key: one between two of them comes twice.

    Without those that a rule read in texts which are all forgotten; what somebody stated stands for itself.
    """
    at = micros(now)
    rows = [row for id in entities for row in db.execute(_HEAVIEST, (id, at, limit))]
    stale = stale_pairs(db, {(source, target) for source, target, _, _, by_rule in rows if by_rule})
    return {(a, b, type): weight for a, b, type, weight, by_rule in rows if not by_rule or (a, b) not in stale}
