"""Relations with their time: by id, and as they held around an entity."""

from collections import Counter
from collections.abc import Sequence

from retain.domain.graph import Related, Relation, Steps
from retain.domain.memory import MemoryId
from retain.stores.surreal.graph.graph import RELATION, entities, relation_of, touching, whole
from retain.stores.surreal.graph.staleness import stale_pairs
from retain.stores.surreal.link.cbor import records
from retain.stores.surreal.link.database import Database
from retain.stores.walking import Weights, tread

# An entity with more relations is a hub.
_FEW = 200


def by_ids(db: Database, ids: Sequence[str]) -> list[Relation]:
    return [relation_of(row) for row in db.rows(f"SELECT {RELATION} FROM $ids", ids=records("relates_to", ids))]


def among(db: Database, entities: Sequence[str]) -> list[Relation]:
    """Read from the ends that have few: a hub's are thousands, and most lead elsewhere."""
    _, hubs, near = db.run(
        f"""LET $near = (SELECT id, <->(relates_to LIMIT {_FEW + 1}) AS edges FROM $ends);
            RETURN $near.filter(|$one| array::len($one.edges) > {_FEW}).map(|$one| $one.id);
            SELECT {RELATION}
                FROM array::group($near.filter(|$one| array::len($one.edges) <= {_FEW}).map(|$one| $one.edges))""",
        ends=records("entity", dict.fromkeys(entities)),
    )
    between = f"SELECT {RELATION} FROM relates_to WHERE in IN $hubs AND out IN $hubs"
    found = [*near, *(db.rows(between, hubs=records("entity", hubs)) if len(hubs) > 1 else ())]
    inside = {relation.key: relation for relation in map(relation_of, found)}
    return [relation for key, relation in inside.items() if {*entities}.issuperset(key[:2])]


def together(db: Database, one: str, other: str, limit: int) -> list[MemoryId]:
    ends = records("entity", [one, other])
    some = db.rows(f"SELECT VALUE <-(memory_entity LIMIT {_FEW + 1}) FROM $ends", ends=ends)
    rarest = min(some, key=len) if len(some) > 1 else []
    if len(rarest) > _FEW:
        rarest = min(db.rows("SELECT VALUE <-memory_entity FROM $ends", ends=ends), key=len)
    # By the ids of links, which name the memory: records take four times as long.
    memories = records("memory", sorted({link[0] for link in rarest}))
    links = db.rows("SELECT VALUE ->memory_entity FROM $memories", memories=memories) if memories else []
    shared = [link for of_one in links if {one, other} <= {link[1] for link in of_one} for link in of_one]
    edges = records("memory_entity", (link for link in shared if link[1] in (one, other)))
    fresh = db.rows("SELECT VALUE [in, out] FROM $ids WHERE stale = false", ids=edges) if edges else []
    spoken = Counter(memory for memory, _ in {tuple(pair) for pair in fresh})
    return sorted(memory for memory, number in spoken.items() if number > 1)[:limit]


def related(db: Database, start: str, steps: Steps) -> Related:
    begin = [entity.id for entity in entities(db, [start])]
    trodden = tread(begin, steps, lambda frontier: _step(db, frontier, steps))
    return Related(entities(db, list(trodden.hops)), whole(db, trodden.kept), trodden.hops, trodden.truncated)


def _step(db: Database, frontier: Sequence[str], steps: Steps) -> Weights:
    """Relations that lead on from the frontier and held at the moment asked for."""
    found = touching(db, frontier, steps.direction, _held(steps), at=steps.at, relation=steps.relation)
    # What was forgotten since is no reason against what held then.
    read = set() if steps.at is not None else {(row[0], row[1]) for row in found if row[4]}
    stale = stale_pairs(db, read)
    return {(a, b, type): weight for a, b, type, weight, by_rule in found if not by_rule or (a, b) not in stale}


def _held(steps: Steps) -> str:
    condition = "valid_until = NULL"
    if steps.at is not None:
        condition = "(valid_from ?? created_at) <= $at AND (valid_until = NULL OR valid_until > $at)"
    return f"{condition} AND relationship = $relation" if steps.relation else condition
