"""The part of the knowledge graph around some entities and memories, small enough to rank in a moment."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from retain.domain.memory import MemoryId
from retain.domain.recall import Filter
from retain.ports import Subgraph
from retain.stores.surreal.filters import where
from retain.stores.surreal.graph.edges import HEAVIEST, SPARE, Row, Spoken, both_ways, spoken
from retain.stores.surreal.graph.kept_edges import SeenEdges
from retain.stores.surreal.graph.mentions import passing
from retain.stores.surreal.graph.staleness import stale_pairs
from retain.stores.surreal.link.cbor import records
from retain.stores.surreal.link.database import Database
from retain.stores.walking import LOOKED_AT, Pair, Weights, subgraph, surest

_HELD = "AND (valid_from = NULL OR valid_from <= $now) AND (valid_until = NULL OR valid_until > $now)"


def around(
    edges: SeenEdges, entities: Sequence[str], memories: Sequence[MemoryId], wanted: Filter, now: datetime
) -> Subgraph:
    known, links = _given(edges.db, entities, memories, wanted)
    return subgraph(
        known,
        links,
        heaviest=lambda ids, limit: _heaviest(edges, ids, limit, now),
        newest=lambda room: _newest(edges, room, wanted),
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


def _heaviest(edges: SeenEdges, entities: Sequence[str], limit: int, now: datetime) -> Weights:
    """The heaviest relations of each of the entities, by key: one between two of them comes twice.

    Without those that a rule read in texts which are all forgotten; what somebody stated stands for itself.
    """
    rows = _relations(edges, entities, limit, now)
    stale = stale_pairs(edges.db, {(row[0], row[1]) for row in rows if row[4]})
    return {(a, b, type): weight for a, b, type, weight, by_rule, *_ in rows if not by_rule or (a, b) not in stale}


def _relations(edges: SeenEdges, entities: Sequence[str], limit: int, now: datetime) -> list[Row]:
    """The time is asked for only where too few of a hub's heaviest held: it takes reading all of them."""
    found = edges.related(entities)
    partly = [id for id, ways in found.items() if len(ways) > 1 and any(_is_short(way, limit, now) for way in ways)]
    found |= both_ways(edges.db, partly, _HELD, limit, now=now)
    return [row for id in entities for row in _first([row for way in found[id] for row in way], limit, now)]


def _is_short(way: Sequence[Row], limit: int, now: datetime) -> bool:
    return len(way) == HEAVIEST and sum(_holds(row, now) for row in way) < limit


def _first(rows: Sequence[Row], limit: int, now: datetime) -> list[Row]:
    held = [row for row in rows if row[3] > 0 and _holds(row, now)]
    return sorted(held, key=lambda row: -row[3])[:limit]


def _holds(row: Row, now: datetime) -> bool:
    *_, begins, ends = row
    return (begins is None or begins <= now) and (ends is None or ends > now)


def _newest(edges: SeenEdges, room: Sequence[tuple[str, int]], wanted: Filter) -> dict[Pair, float]:
    """The memories stored last that speak of each entity."""
    kept: dict[str, list[Spoken]] = {}
    found: Mapping[str, Sequence[Spoken]]
    left = list(room)
    # Twice as many at once: where a place has but half of them, that saves another round.
    for times in (2, 8, LOOKED_AT):
        most = {id: min(times * number + SPARE, LOOKED_AT) for id, number in left}
        # The last time not even stale ones count among those that are tried.
        is_last = times == LOOKED_AT
        found = spoken(edges.db, most, "AND stale = false") if is_last else edges.spoken(most)
        kept |= _kept(edges.db, found, wanted)
        left = [(id, number) for id, number in left if len(kept[id]) < number and len(found[id]) == most[id]]
    return surest((memory, id, by_rule) for id, number in room for memory, _, _, by_rule, _ in kept[id][:number])


def _kept(db: Database, links: Mapping[str, Sequence[Spoken]], wanted: Filter) -> dict[str, list[Spoken]]:
    """Those that are not stale, of memories that pass the filter."""
    fresh = {id: [link for link in some if not link[4]] for id, some in links.items()}
    through = passing(db, ((link[0], link[1], link[2]) for some in fresh.values() for link in some), wanted)
    return {id: [link for link in some if link[0] in through] for id, some in fresh.items()}
