"""Edges of entities as a walk needs them: the heaviest relations, and the memories stored last that speak of each."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from retain.domain.memory import MemoryId
from retain.stores.surreal.graph.binding import each, names
from retain.stores.surreal.link.cbor import records
from retain.stores.surreal.link.database import Database
from retain.stores.walking import RINGS

# Links and relations that are read beyond those wanted, since one or two may be stale, ended or kept out by a filter.
SPARE = 2
HEAVIEST = max(ring.relations for ring in RINGS) + SPARE
"""So many relations of a hub are read each way."""
# The relations of an entity that has no more are read one by one; of a hub the heaviest come from an index. To begin
# in an index takes as long as to read ten records.
_FEW = 24
_RELATION = "[in, out, relationship, weight, by_rule, valid_from, valid_until]"

Row = tuple[str, str, str, float, bool, datetime | None, datetime | None]
Ways = tuple[Sequence[Row], ...]
"""All relations of an entity; or of a hub the heaviest that go out, and the heaviest that come in."""
Spoken = tuple[MemoryId, str, str, bool, bool]
"""A memory, its place and state, whether a rule read the link, and whether it is stale."""


def related(db: Database, entities: Sequence[str]) -> dict[str, Ways]:
    if not entities:
        return {}
    _, hubs, few = db.run(
        f"""LET $near = (SELECT id, <->(relates_to LIMIT {_FEW + 1}) AS edges FROM $entities);
            RETURN $near.filter(|$one| array::len($one.edges) > {_FEW}).map(|$one| $one.id);
            SELECT VALUE {_RELATION}
                FROM array::group($near.filter(|$one| array::len($one.edges) <= {_FEW}).map(|$one| $one.edges))""",
        entities=records("entity", entities),
    )
    whole: dict[str, list[Row]] = {id: [] for id in entities}
    for row in few:
        for end in row[:2]:
            if end in whole and end not in hubs:
                whole[end].append(row)
    return {id: (rows,) for id, rows in whole.items()} | both_ways(db, hubs, "", HEAVIEST)


def both_ways(db: Database, hubs: Sequence[str], condition: str, number: int, **bound: Any) -> dict[str, Ways]:
    """The heaviest of each way. A limit alone ends the reading early, a condition beside it does not."""
    queries = [
        f"""SELECT VALUE {_RELATION} FROM relates_to WHERE {end} = ${name} AND lightness < 0 {condition}
            ORDER BY lightness LIMIT {number}"""
        for end in ("in", "out")
        for name in names(hubs)
    ]
    found = each(db, queries, hubs, **bound) if hubs else []
    return dict(zip(hubs, zip(found[: len(hubs)], found[len(hubs) :], strict=True), strict=True))


def spoken(db: Database, most: Mapping[str, int], condition: str = "") -> dict[str, list[Spoken]]:
    """So many of each entity, newest first: an index has them in order."""
    entities = list(most)
    queries = [
        f"""SELECT VALUE [in, place, state, by_rule, stale] FROM memory_entity WHERE out = ${name} {condition}
            ORDER BY recency LIMIT {number}"""
        for name, number in zip(names(entities), most.values(), strict=True)
    ]
    return dict(zip(entities, each(db, queries, entities), strict=True)) if entities else {}
