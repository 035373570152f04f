"""What memories say of entities."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from retain.domain.graph import SAID_BY, Entity, Link
from retain.domain.memory import MemoryId, State
from retain.domain.recall import Filter
from retain.stores.surreal.filters import where
from retain.stores.surreal.graph.binding import each, names
from retain.stores.surreal.graph.graph import ENTITY, entity_of, link_of
from retain.stores.surreal.link.cbor import record, records
from retain.stores.surreal.link.database import Database
from retain.stores.surreal.newest import newest

LINK = "in, out, relationship, created_at, by_rule, stale"
# An entity of which more memories speak is a hub: its newest are found among the newest of all.
_HUB = 1000

Edge = tuple[MemoryId, str, str]  # memory, entity and relationship: the id of a link


def links(db: Database, memories: Sequence[MemoryId]) -> list[tuple[Link, Entity]]:
    rows = db.rows(
        f"""SELECT {LINK}, id, out.{{{ENTITY}}} AS entity
            FROM array::flatten((SELECT VALUE ->memory_entity FROM $memories))""",
        memories=records("memory", dict.fromkeys(memories)),
    )
    return [(link_of(row), entity_of(row["entity"])) for row in sorted(rows, key=lambda row: row["id"])]


def linked(db: Database, entities: Sequence[str], wanted: Filter, limit: int) -> list[Link]:
    spoken: dict[MemoryId, list[Edge]] = {}
    for edge in _edges(db, entities):
        spoken.setdefault(edge[0], []).append(edge)
    edges = [edge for id in _newest(db, spoken, wanted, limit) for edge in sorted(spoken[id])][:limit]
    ids = [record("memory_entity", edge) for edge in edges]
    return [link_of(row) for row in db.rows(f"SELECT {LINK} FROM $ids", ids=ids)] if ids else []


def link_counts(db: Database, entities: Sequence[str], wanted: Filter) -> dict[str, int]:
    spoken: dict[str, set[MemoryId]] = {}
    rows = db.rows(
        """SELECT VALUE [in, out, place, state] FROM array::flatten((SELECT VALUE <-memory_entity FROM $ids))""",
        ids=records("entity", dict.fromkeys(entities)),
    )
    for memory, entity, *_ in rows:
        spoken.setdefault(entity, set()).add(memory)
    kept = passing(db, ((memory, place, state) for memory, _, place, state in rows), wanted)
    counts = {entity: len(kept & memories) for entity, memories in spoken.items()}
    return {entity: number for entity, number in counts.items() if number}


def speakers(db: Database, entities: Sequence[str], at_least: int) -> set[str]:
    queries = [
        f"SELECT VALUE id FROM memory_entity WHERE relationship = $said AND out = ${name} LIMIT {at_least}"
        for name in names(entities)
    ]
    found = each(db, queries, entities, said=SAID_BY)
    return {id for id, said in zip(entities, found, strict=True) if len(said) >= at_least}


def passing(db: Database, memories: Iterable[tuple[MemoryId, str, str]], wanted: Filter) -> set[MemoryId]:
    """Those that the filter lets through, of memories with their places and states; what else it asks for has to be
    read."""
    places, states = set(wanted.place_keys), {state.value for state in wanted.states or State}
    here = {id for id, place, state in memories if place in places and state in states}
    if not here or wanted == Filter(wanted.places, states=wanted.states):
        return here
    conditions, bound = where(wanted)
    return set(db.rows(f"SELECT VALUE id FROM $ids WHERE {conditions}", ids=records("memory", here), **bound))


def _edges(db: Database, entities: Sequence[str]) -> list[Edge]:
    """The links of the entities by their ids alone: a record takes four times as long to read."""
    ids = records("entity", dict.fromkeys(entities))
    edges: list[Edge] = db.run("RETURN array::flatten((SELECT VALUE <-memory_entity FROM $ids))", ids=ids)[0]
    return edges


def _newest(db: Database, spoken: Mapping[MemoryId, Sequence[Any]], wanted: Filter, limit: int) -> list[MemoryId]:
    """As many of the memories as have `limit` links, newest first."""
    if len(spoken) > max(_HUB, 4 * limit):
        found = _among_newest(db, spoken, wanted, 2 * limit + _HUB // 10)
        if sum(len(spoken[id]) for id in found) >= limit:
            return found
    if not spoken:
        return []
    conditions, bound = where(wanted)
    rows = db.rows(
        f"""SELECT id, happened, num FROM $ids WHERE {conditions}
            ORDER BY happened DESC, num DESC LIMIT {limit}""",
        ids=records("memory", spoken),
        **bound,
    )
    return [row["id"] for row in rows]


def _among_newest(
    db: Database, spoken: Mapping[MemoryId, Sequence[Any]], wanted: Filter, number: int
) -> list[MemoryId]:
    """Those of the memories that are among the newest that pass the filter, as far as these are known."""
    parts, bound = newest(wanted, number, "VALUE [happened, num, id]")
    found = db.run(f"RETURN [{', '.join(parts)}]", **bound)[0]
    # Where there is more, it may be as new as the last that came.
    known_to = max((part[-1] for part in found if len(part) == number), default=None)
    rows = sorted((row for part in found for row in part), reverse=True)
    return [row[2] for row in rows if row[2] in spoken and (known_to is None or row >= known_to)]
