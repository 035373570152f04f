"""Walks over the knowledge graph, step by step: what is gone into next, and what of all that was seen is kept.

A store says what one step sees; every store walks the same way.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest

from retain.domain.graph import Entity, Neighbourhood, Relation, Steps
from retain.domain.memory import MemoryId
from retain.ports import Subgraph

# A walk stops here; a question about more of the graph than this is a question about all of it.
MOST_ENTITIES = 10_000
MOST_RELATIONS = 50  # of one entity

# A link that a rule read in a text is a little less sure than one that somebody stated; as sure as a relation that
# was read.
BY_RULE = 0.8

Pair = tuple[str, str]
Key = tuple[str, str, str]
Weights = dict[Key, float]
Step = Callable[[Sequence[str]], Weights]


@dataclass(frozen=True, slots=True)
class Ring:
    """How much of the graph is looked at so many hops away: entities, and relations and memories of each of them."""

    entities: int
    relations: int
    memories: int


# About three milliseconds' worth in SQLite. What is left out is what a walk reaches last: light relations of those
# that have many, and memories that are old among many of one entity.
RINGS = (Ring(30, 12, 10), Ring(45, 6, 5), Ring(45, 0, 3))
LOOKED_AT = 500  # memories of one entity that are tried, where a filter lets few of them through


@dataclass(frozen=True, slots=True)
class Walked:
    """How far each entity is, the entities by how far they are, and all relations that were seen."""

    hops: dict[str, int]
    levels: list[list[str]]
    seen: Weights


def walk(begin: Sequence[str], depth: int, step: Step) -> Walked:
    """Breadth first. `step` gives the relations that lead on from some entities."""
    frontier = list(begin)
    hops = dict.fromkeys(frontier, 0)
    levels = [frontier]
    seen: Weights = {}
    for hop in range(1, depth + 1):
        found = step(frontier)
        seen |= found
        ends = {key[0] for key in found}.union(key[1] for key in found) - hops.keys()
        frontier = sorted(ends)[: max(MOST_ENTITIES - len(hops), 0)]
        hops.update(dict.fromkeys(frontier, hop))
        levels.append(frontier)
        if not frontier:
            break
    return Walked(hops, levels, seen)


def neighbourhood_of(walked: Walked, near: tuple[Entity, ...], relations: tuple[Relation, ...]) -> Neighbourhood:
    """The nearest entities with their heaviest relations; all that were reached are counted."""
    return Neighbourhood(
        entities=near,
        relations=relations,
        hops=walked.hops,
        entities_traversed=len(walked.hops),
        relationships_found=len(walked.seen),
        depth_reached=max(walked.hops.values(), default=0),
    )


def nearest(walked: Walked, limit: int) -> tuple[list[str], Weights]:
    """The first of the entities, the heaviest of each level first, and the relations that touch one of them."""
    near: list[str] = []
    for level in walked.levels:
        near += level if len(near) < limit else ()
    pool = set(near)
    touching = {key: weight for key, weight in walked.seen.items() if key[0] in pool or key[1] in pool}
    total = _weights(touching)
    ranked = [
        id for level in walked.levels for id in sorted(pool.intersection(level), key=lambda id: (-total.get(id, 0), id))
    ]
    return ranked[:limit], touching


def _weights(relations: Weights) -> dict[str, float]:
    """How heavy the relations of each entity are together."""
    weights: dict[str, float] = {}
    for (source, target, _), weight in relations.items():
        weights[source] = weights.get(source, 0.0) + weight
        weights[target] = weights.get(target, 0.0) + weight
    return weights


def heaviest(relations: Weights, entities: Sequence[str]) -> list[Key]:
    """The heaviest relations of each entity; a hub has thousands, and nobody reads them."""
    room = dict.fromkeys(entities, MOST_RELATIONS)
    # By key where they weigh the same, so that every store keeps the same ones.
    some = sorted(key for key in relations if key[0] in room or key[1] in room)
    kept = []
    for key in sorted(some, key=relations.__getitem__, reverse=True):
        source, target, _ = key
        if room.get(source, 0) or room.get(target, 0):
            kept.append(key)
            for end in (source, target):
                room[end] = max(room.get(end, 0) - 1, 0)
    return kept


def aged(relations: Iterable[Relation], stale: Set[Pair]) -> tuple[Relation, ...]:
    """The relations, with those marked that only forgotten memories speak of."""
    return tuple(replace(r, stale=True) if (r.source, r.target) in stale else r for r in relations)


@dataclass(frozen=True, slots=True)
class Trodden:
    """How far each entity is from where a walk began, the relations that led there, and whether there was more."""

    hops: dict[str, int]
    kept: list[Key]
    truncated: bool


def tread(begin: Sequence[str], steps: Steps, step: Step) -> Trodden:
    """Breadth first; where there is more than fits, the heaviest are kept."""
    hops = dict.fromkeys(begin, 0)
    seen: Weights = {}
    frontier, truncated = list(begin), False
    for hop in range(1, steps.depth + 1):
        found = step(frontier)
        seen |= found
        ends = _reached(found, hops)
        frontier = ends[: steps.most_entities + 1 - len(hops)]
        truncated = truncated or len(frontier) < len(ends)
        hops |= dict.fromkeys(frontier, hop)
        if not frontier:
            break
    inside = [key for key in seen if key[0] in hops and key[1] in hops]
    kept = sorted(inside, key=lambda key: (-seen[key], key))[: steps.most_relations]
    further = {id: hop for id, hop in hops.items() if hop}
    return Trodden(further, kept, truncated or len(kept) < len(inside))


def _reached(found: Weights, known: Mapping[str, int] | Set[str]) -> list[str]:
    """Entities that a step reached first, the most heavily joined in front."""
    weights: dict[str, float] = {}
    for (source, target, _), weight in found.items():
        for end in {source, target}:
            if end not in known:
                weights[end] = weights.get(end, 0.0) + weight
    return sorted(weights, key=lambda end: (-weights[end], end))


Heaviest = Callable[[Sequence[str], int], Weights]
Newest = Callable[[Sequence[tuple[str, int]]], dict[Pair, float]]


def subgraph(known: Sequence[str], links: Mapping[Pair, float], heaviest: Heaviest, newest: Newest) -> Subgraph:
    """The part of the graph around entities, and memories with what they speak of.

    `heaviest` gives that many of the heaviest relations of each entity, `newest` the newest memories of each, as
    many as stand beside it.
    """
    begin = dict.fromkeys([*known, *_in_turn(links)])
    rings, relations = _rings(list(begin)[: RINGS[0].entities], heaviest)
    entity = {id: number for number, id in enumerate(id for ring in rings for id in ring)}
    room = [(id, bound.memories) for ring, bound in zip(rings, RINGS, strict=True) for id in ring]
    spoken = newest(room) | {pair: weight for pair, weight in links.items() if pair[1] in entity}
    memory = {id: number for number, id in enumerate(dict.fromkeys(id for id, _ in spoken), start=len(entity))}
    between = [(*pair, weight) for pair, weight in _joined(relations, entity).items()]
    across = [(memory[a], entity[b], weight) for (a, b), weight in spoken.items()]
    return Subgraph(tuple(entity), tuple(memory), (*between, *across))


def surest(links: Iterable[tuple[MemoryId, str, bool]]) -> dict[Pair, float]:
    """One edge for each memory and entity, however often it speaks of it: (memory, entity, by rule)."""
    found: dict[Pair, float] = {}
    for memory, entity, by_rule in links:
        found[memory, entity] = max(found.get((memory, entity), 0.0), BY_RULE if by_rule else 1.0)
    return found


def _in_turn(links: Iterable[Pair]) -> Iterator[str]:
    """Entities of one memory after the other, so that none that speaks of many leaves no room for the rest."""
    spoken: dict[MemoryId, list[str]] = {}
    for memory, entity in links:
        spoken.setdefault(memory, []).append(entity)
    return (entity for turn in zip_longest(*spoken.values()) for entity in turn if entity is not None)


def _rings(begin: list[str], heaviest: Heaviest) -> tuple[list[list[str]], Weights]:
    """The entities by how many hops away they are, and the relations that were seen on the way."""
    rings, seen = [begin], Weights()
    for here, beyond in pairwise(RINGS):
        found = heaviest(rings[-1], here.relations)
        seen |= found
        rings.append(_reached(found, {id for ring in rings for id in ring})[: beyond.entities])
    return rings, seen


def _joined(relations: Weights, number: Mapping[str, int]) -> dict[tuple[int, int], float]:
    """How heavily the numbered entities are joined: relations between the same two, either way, add up."""
    joined: dict[tuple[int, int], float] = {}
    for (source, target, _), weight in relations.items():
        a, b = number.get(source), number.get(target)
        if a is not None and b is not None and a != b:
            pair = (a, b) if a < b else (b, a)
            joined[pair] = joined.get(pair, 0.0) + weight
    return joined
