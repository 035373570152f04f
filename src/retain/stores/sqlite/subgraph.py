"""The part of the knowledge graph around some entities and memories, small enough to rank in a moment."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise, zip_longest

from retain.domain.memory import MemoryId
from retain.domain.recall import Filter
from retain.ports import Subgraph
from retain.stores.sqlite.filters import where
from retain.stores.sqlite.graph import stale_pairs
from retain.stores.sqlite.rows import AMONG, among, micros


@dataclass(frozen=True, slots=True)
class Ring:
    """How much of the graph is looked at so many hops away: entities, and relations and memories of each of them."""

    entities: int
    relations: int
    memories: int


# About three milliseconds' worth. What is left out is what a walk reaches last: light relations of those that have
# many, and memories that are old among many of one entity.
RINGS = (Ring(30, 12, 10), Ring(45, 6, 5), Ring(45, 0, 3))
LOOKED_AT = 500  # memories of one entity that are tried, where a filter lets few of them through

# A link that a rule read in a text is a little less sure than one that somebody stated; as sure as a relation that
# was read.
BY_RULE = 0.8

Pair = tuple[str, str]
Key = tuple[str, str, str]
_RELATION = """select source, target, type, weight, by_rule from relation
    where {end} = ?1 and weight > 0 and (valid_from is null or valid_from <= ?2)
      and (valid_until is null or valid_until > ?2)"""
# Each half in the order of an index, or of a short list; only as much of it is read as is kept.
_HEAVIEST = f"""select * from ({_RELATION.format(end="source")} union all {_RELATION.format(end="target")})
    order by weight desc limit ?3"""


def around(
    db: sqlite3.Connection, entities: Sequence[str], memories: Sequence[MemoryId], wanted: Filter, now: datetime
) -> Subgraph:
    links = _links(db, memories, wanted)
    begin = dict.fromkeys([*_known(db, entities), *_in_turn(links)])
    rings, relations = _walk(db, list(begin)[: RINGS[0].entities], now)
    entity = {id: number for number, id in enumerate(id for ring in rings for id in ring)}
    links = _newest(db, rings, wanted) | {pair: weight for pair, weight in links.items() if pair[1] in entity}
    memory = {id: number for number, id in enumerate(dict.fromkeys(id for id, _ in links), start=len(entity))}
    between = [(*pair, weight) for pair, weight in _joined(relations, entity).items()]
    across = [(memory[a], entity[b], weight) for (a, b), weight in links.items()]
    return Subgraph(tuple(entity), tuple(memory), (*between, *across))


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
    return _surest(rows)


def _in_turn(links: Iterable[Pair]) -> Iterator[str]:
    """Entities of one memory after the other, so that none that speaks of many leaves no room for the rest."""
    spoken: dict[MemoryId, list[str]] = {}
    for memory, entity in links:
        spoken.setdefault(memory, []).append(entity)
    return (entity for turn in zip_longest(*spoken.values()) for entity in turn if entity is not None)


def _newest(db: sqlite3.Connection, rings: Sequence[Sequence[str]], wanted: Filter) -> dict[Pair, float]:
    """The memories stored last that speak of each entity: ids grow with time, so an index has them in order."""
    conditions, values = where(wanted)
    query = f"""select l.memory, l.entity, l.by_rule from (select memory, entity, by_rule from link
            where entity = ? and stale = 0 order by memory desc limit {LOOKED_AT}) l
        cross join memory m on m.id = l.memory where {conditions} limit ?"""
    room = [(id, bound.memories) for ring, bound in zip(rings, RINGS, strict=True) for id in ring]
    return _surest(row for id, limit in room for row in db.execute(query, (id, *values, limit)))


def _surest(rows: Iterable[tuple[MemoryId, str, int]]) -> dict[Pair, float]:
    """One edge for each pair, however often the memory speaks of the entity."""
    found: dict[Pair, float] = {}
    for memory, entity, by_rule in rows:
        found[memory, entity] = max(found.get((memory, entity), 0.0), BY_RULE if by_rule else 1.0)
    return found


def _walk(db: sqlite3.Connection, begin: list[str], now: datetime) -> tuple[list[list[str]], dict[Key, float]]:
    """The entities by how many hops away they are, and the relations that were seen on the way."""
    rings, seen = [begin], dict[Key, float]()
    for here, beyond in pairwise(RINGS):
        step = _heaviest(db, rings[-1], here.relations, now)
        seen |= step
        rings.append(_reached(step, {id for ring in rings for id in ring})[: beyond.entities])
    return rings, seen


def _heaviest(db: sqlite3.Connection, entities: Sequence[str], limit: int, now: datetime) -> dict[Key, float]:
    """The heaviest relations of each of the entities, by key: one between two of them comes twice.

    Without those that a rule read in texts which are all forgotten; what somebody stated stands for itself.
    """
    at = micros(now)
    rows = [row for id in entities for row in db.execute(_HEAVIEST, (id, at, limit))]
    stale = stale_pairs(db, {(source, target) for source, target, _, _, by_rule in rows if by_rule})
    return {(a, b, type): weight for a, b, type, weight, by_rule in rows if not by_rule or (a, b) not in stale}


def _reached(step: dict[Key, float], known: set[str]) -> list[str]:
    """The entities that a step reached first, the most heavily joined in front."""
    weights: dict[str, float] = {}
    for (source, target, _), weight in step.items():
        for end in {source, target} - known:
            weights[end] = weights.get(end, 0.0) + weight
    return sorted(weights, key=lambda end: (-weights[end], end))


def _joined(relations: dict[Key, float], number: dict[str, int]) -> dict[tuple[int, int], float]:
    """How heavily the numbered entities are joined: relations between the same two, either way, add up."""
    joined: dict[tuple[int, int], float] = {}
    for (source, target, _), weight in relations.items():
        a, b = number.get(source), number.get(target)
        if a is not None and b is not None and a != b:
            pair = (a, b) if a < b else (b, a)
            joined[pair] = joined.get(pair, 0.0) + weight
    return joined
