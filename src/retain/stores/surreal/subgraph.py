"""The part of the knowledge graph around some entities and memories, small enough to rank in a moment."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from retain.domain.memory import MemoryId
from retain.domain.recall import Filter
from retain.ports import Subgraph
from retain.stores.surreal.binding import each, names
from retain.stores.surreal.cbor import records
from retain.stores.surreal.database import Database
from retain.stores.surreal.filters import where
from retain.stores.surreal.mentions import passing
from retain.stores.surreal.staleness import stale_pairs
from retain.stores.walking import LOOKED_AT, Pair, Weights, subgraph, surest

_RELATION = "[in, out, relationship, weight, by_rule, valid_from, valid_until]"
# The relations of an entity that has no more are read one by one; of a hub the heaviest come from an index. To begin
# in an index takes as long as to read ten records.
_FEW = 24
# Links and relations that are read beyond those wanted, since one or two may be stale, ended or kept out by a filter.
_SPARE = 2

Row = tuple[str, str, str, float, bool, datetime | None, datetime | None]
# A memory, its place and state, whether a rule read the link, and whether it is stale.
Spoken = tuple[MemoryId, str, str, bool, bool]


def around(
    db: Database, entities: Sequence[str], memories: Sequence[MemoryId], wanted: Filter, now: datetime
) -> Subgraph:
    known, links = _given(db, entities, memories, wanted)
    return subgraph(
        known,
        links,
        heaviest=lambda ids, limit: _heaviest(db, ids, limit, now),
        newest=lambda room: _newest(db, room, wanted),
    )


def _given(
    db: Database, entities: Sequence[str], memories: Sequence[MemoryId], wanted: Filter
) -> tuple[list[str], dict[Pair, float]]:
    """The entities that are there, and what the memories speak of, in the order in which they were given; what was
    stated comes first."""
    conditions, bound = where(wanted)
    _, there, rows = db.run(
        f"""LET $passing = (SELECT VALUE id FROM $memories WHERE {conditions});
            SELECT VALUE id FROM $entities;
            SELECT VALUE [in, out, by_rule] FROM array::flatten((SELECT VALUE ->memory_entity FROM $passing))
                WHERE stale = false""",
        memories=records("memory", memories),
        entities=records("entity", entities),
        **bound,
    )
    place = {id: number for number, id in enumerate(dict.fromkeys(memories))}
    rows.sort(key=lambda row: (place[row[0]], row[2], row[1]))
    found = set(there)
    return [id for id in entities if id in found], surest(rows)


def _heaviest(db: Database, entities: Sequence[str], limit: int, now: datetime) -> Weights:
    """The heaviest relations of each of the entities, by key: one between two of them comes twice.

    Without those that a rule read in texts which are all forgotten; what somebody stated stands for itself.
    """
    rows = _relations(db, entities, limit, now)
    stale = stale_pairs(db, {(row[0], row[1]) for row in rows if row[4]})
    return {(a, b, type): weight for a, b, type, weight, by_rule, *_ in rows if not by_rule or (a, b) not in stale}


def _relations(db: Database, entities: Sequence[str], limit: int, now: datetime) -> list[Row]:
    if not entities:
        return []
    _, hubs, few = db.run(
        f"""LET $near = (SELECT id, <->(relates_to LIMIT {_FEW + 1}) AS edges FROM $entities);
            RETURN $near.filter(|$one| array::len($one.edges) > {_FEW}).map(|$one| $one.id);
            SELECT VALUE {_RELATION}
                FROM array::group($near.filter(|$one| array::len($one.edges) <= {_FEW}).map(|$one| $one.edges))""",
        entities=records("entity", entities),
    )
    halves: dict[str, list[Row]] = {id: [] for id in entities}
    for row in few:
        for end in row[:2]:
            if end in halves and end not in hubs:
                halves[end].append(row)
    halves |= _of_hubs(db, hubs, limit, now)
    return [row for rows in halves.values() for row in _first(rows, limit, now)]


def _of_hubs(db: Database, hubs: Sequence[str], limit: int, now: datetime) -> dict[str, list[Row]]:
    """The heaviest of each way. A limit alone ends the reading early, a condition beside it does not; so the time is
    asked for only where too few of the first held."""
    number = limit + _SPARE
    found = _both_ways(db, hubs, "", number, now)
    held = "AND (valid_from = NULL OR valid_from <= $now) AND (valid_until = NULL OR valid_until > $now)"
    partly = [id for id, ways in found.items() if any(_is_short(way, number, limit, now) for way in ways)]
    ways = found | _both_ways(db, partly, held, limit, now)
    return {id: [*outgoing, *incoming] for id, (outgoing, incoming) in ways.items()}


def _is_short(way: Sequence[Row], number: int, limit: int, now: datetime) -> bool:
    return len(way) == number and sum(_holds(row, now) for row in way) < limit


def _both_ways(
    db: Database, entities: Sequence[str], condition: str, number: int, now: datetime
) -> dict[str, tuple[list[Row], list[Row]]]:
    queries = [
        f"""SELECT VALUE {_RELATION} FROM relates_to WHERE {end} = ${name} AND lightness < 0 {condition}
            ORDER BY lightness LIMIT {number}"""
        for end in ("in", "out")
        for name in names(entities)
    ]
    found = each(db, queries, entities, now=now) if entities else []
    return dict(zip(entities, zip(found[: len(entities)], found[len(entities) :], strict=True), strict=True))


def _first(rows: Sequence[Row], limit: int, now: datetime) -> list[Row]:
    held = [row for row in rows if row[3] > 0 and _holds(row, now)]
    return sorted(held, key=lambda row: -row[3])[:limit]


def _holds(row: Row, now: datetime) -> bool:
    *_, begins, ends = row
    return (begins is None or begins <= now) and (ends is None or ends > now)


def _newest(db: Database, room: Sequence[tuple[str, int]], wanted: Filter) -> dict[Pair, float]:
    """The memories stored last that speak of each entity: an index has them in order."""
    kept: dict[str, list[Spoken]] = {}
    left = list(room)
    # Twice as many at once: where a place has but half of them, that saves another round.
    for times in (2, 8, LOOKED_AT):
        # The last time not even stale ones count among those that are tried.
        condition = "AND stale = false" if times == LOOKED_AT else ""
        most = {id: min(times * number + _SPARE, LOOKED_AT) for id, number in left}
        found = _links(db, most, condition)
        kept |= _kept(db, found, wanted)
        left = [(id, number) for id, number in left if len(kept[id]) < number and len(found[id]) == most[id]]
    return surest((memory, id, by_rule) for id, number in room for memory, _, _, by_rule, _ in kept[id][:number])


def _links(db: Database, most: Mapping[str, int], condition: str) -> dict[str, list[Spoken]]:
    entities = list(most)
    queries = [
        f"""SELECT VALUE [in, place, state, by_rule, stale] FROM memory_entity WHERE out = ${name} {condition}
            ORDER BY recency LIMIT {number}"""
        for name, number in zip(names(entities), most.values(), strict=True)
    ]
    return dict(zip(entities, each(db, queries, entities), strict=True)) if entities else {}


def _kept(db: Database, links: Mapping[str, Sequence[Spoken]], wanted: Filter) -> dict[str, list[Spoken]]:
    """Those that are not stale, of memories that pass the filter."""
    fresh = {id: [link for link in some if not link[4]] for id, some in links.items()}
    through = passing(db, ((link[0], link[1], link[2]) for some in fresh.values() for link in some), wanted)
    return {id: [link for link in some if link[0] in through] for id, some in fresh.items()}
