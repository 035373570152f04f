"""Which relations have grown old: those that only forgotten memories speak of."""

from collections.abc import Iterable, Set

from retain.stores.surreal.graph.binding import each, names
from retain.stores.surreal.link.cbor import records
from retain.stores.surreal.link.database import Database
from retain.stores.walking import Pair

# Of an entity with more links than this, those are read that its other ends share with it, where few memories speak
# of these. The id of a link takes 4 µs, and to go from a memory to its links 45 µs.
_MOST_LINKS = 1000
_FEW_MEMORIES = 300

Edge = tuple[str, str, str]  # memory, entity and relationship: the id of a link
Spoken = dict[str, dict[str, list[Edge]]]


def stale_pairs(db: Database, pairs: Set[Pair]) -> set[Pair]:
    """The pairs of entities that only forgotten memories speak of together: no record says which stated a relation."""
    suspects = _suspects(db, pairs)
    if not suspects:
        return set()
    ends = sorted({end for pair in suspects for end in pair})
    queries = [f"SELECT VALUE id FROM memory_entity WHERE stale = true AND out = ${name}" for name in names(ends)]
    stale = {edge for edges in each(db, queries, ends) for edge in edges}
    spoken = _spoken(db, suspects)
    fresh = {end: {id for id, edges in spoken[end].items() if not stale.issuperset(edges)} for end in ends}
    return {
        (a, b)
        for a, b in suspects
        if fresh[a].isdisjoint(fresh[b]) and not spoken[a].keys().isdisjoint(spoken[b].keys())
    }


def _suspects(db: Database, pairs: Set[Pair]) -> set[Pair]:
    """Few entities ever had a link that is stale, and unless both ends did, a pair is not."""
    ends = {end for pair in pairs for end in pair}
    aged = set(db.rows("SELECT VALUE id FROM $ends", ends=records("aged", ends))) if ends else set()
    return {pair for pair in pairs if aged.issuperset(pair)}


def _spoken(db: Database, pairs: Set[Pair]) -> Spoken:
    """The links of each end, by memory: all, or of a hub those that matter for its pairs."""
    spoken = _links(db, {end for pair in pairs for end in pair}, f"(memory_entity LIMIT {_MOST_LINKS + 1})")
    hubs = {end for end, links in spoken.items() if sum(map(len, links.values())) > _MOST_LINKS}
    others = {end for pair in pairs if hubs.intersection(pair) for end in pair} - hubs
    memories = {id for end in others for id in spoken[end]}
    if len(memories) > _FEW_MEMORIES or any(hubs.issuperset(pair) for pair in pairs):
        return spoken | _links(db, hubs, "memory_entity")
    for hub in hubs:
        spoken[hub] = {}
    for _, edges in _edges(db, "memory", memories, "->memory_entity"):
        for edge in edges:
            if edge[1] in hubs:
                spoken[edge[1]].setdefault(edge[0], []).append(edge)
    return spoken


def _links(db: Database, ends: Set[str], which: str) -> Spoken:
    spoken: Spoken = {end: {} for end in ends}
    for end, edges in _edges(db, "entity", ends, f"<-{which}"):
        for edge in edges:
            spoken[end].setdefault(edge[0], []).append(edge)
    return spoken


def _edges(db: Database, table: str, ids: Iterable[str], arrow: str) -> Iterable[tuple[str, list[Edge]]]:
    return db.rows(f"SELECT VALUE [id, {arrow}] FROM $ids", ids=records(table, ids)) if ids else []
