"""Walking the knowledge graph: from a name to what is connected with it, and to the memories that say so."""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from retain.domain.graph import Direction, Entity, GraphOverview, Neighbourhood, Relation, fold
from retain.domain.memory import MemoryId, Stored
from retain.domain.recall import Filter, Found
from retain.domain.session import Caller
from retain.domain.words import query_terms
from retain.engine.knowledge.entities import runs
from retain.engine.parts import Parts, owners, places
from retain.engine.trust.order import listed_newest_first
from retain.engine.trust.rivals import with_standings
from retain.errors import invalid
from retain.ports import Store

MOST_MEMORIES = 50
MOST_LINKS = 4 * MOST_MEMORIES  # a memory mostly speaks of a few of the entities that are found
MOST_NEAR = 200  # entities around those that a question names
TALKATIVE = 20  # memories that begin with a name before it counts as a speaker's
# Each hop away from a named entity halves what a memory there counts.
HOP = 0.5


@dataclass(frozen=True, slots=True)
class GraphQuestion:
    entity: str | None = None
    relation: str | None = None
    direction: Direction = Direction.BOTH
    depth: int = 1
    include_memories: bool = True
    limit: int = 20


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation as one of its ends sees it."""

    type: str
    other: str
    direction: Direction
    weight: float
    stale: bool = False
    """Every memory that joins the two ends has been forgotten."""


@dataclass(frozen=True, slots=True)
class Node:
    entity: Entity
    edges: tuple[Edge, ...]
    memories: int
    hops: int


@dataclass(frozen=True, slots=True)
class GraphAnswer:
    """What a walk found: entities nearest first, memories newest first, and true totals.

    `said` are the relationships that memories were given to the entities found: (memory, type, entity's name).
    """

    nodes: tuple[Node, ...]
    memories: tuple[Stored, ...]
    seen: Neighbourhood
    said: tuple[tuple[MemoryId, str, str], ...] = ()
    overview: GraphOverview | None = None
    close_names: tuple[str, ...] = ()
    known_relations: tuple[str, ...] | None = None
    """Set when nothing has the relation that was asked for."""
    more: bool = False
    """Whether more memories speak of these entities than are attached."""


def search_graph(parts: Parts, question: GraphQuestion, caller: Caller) -> GraphAnswer:
    """The neighbourhood of an entity, found in any case and by close spelling; without one, an overview."""
    store, mine = parts.store, owners(caller)
    if question.entity is not None and not question.entity.strip():
        raise invalid("entity", question.entity, "is empty; leave it out for an overview")
    if question.relation is not None:
        # As relationships are kept: one word.
        question = replace(question, relation="_".join(question.relation.split()))
    if question.entity is None:
        seen = store.most_connected(mine, question.relation, question.limit)
        return _answer(parts, seen, question, caller, overview=store.overview(mine))
    seeds, close = named(store, question.entity, mine)
    if not seeds:
        return GraphAnswer((), (), Neighbourhood(), close_names=close)
    ids = [entity.id for entity in seeds]
    seen = store.neighbourhood(ids, question.direction, question.relation, question.depth, question.limit)
    return _answer(parts, seen, question, caller)


def named(store: Store, name: str, owners: Sequence[str]) -> tuple[list[Entity], tuple[str, ...]]:
    """Entities with this name, else with the one spelling close to it; and other close names."""
    exact = store.entities_named([name], owners)
    if exact:
        return exact, ()
    known = {fold(known): known for known in store.entity_names(owners)}
    close = difflib.get_close_matches(fold(name), known, n=4, cutoff=0.75)
    best = close[:1] if close and _alone(fold(name), close) else []
    return store.entities_named(best, owners), tuple(known[name] for name in close[len(best) :])


def proximity(store: Store, text: str, wanted: Filter, caller: Caller) -> Found:
    """Memories by how near they are to the entities that a question names: linked, or one or two hops away."""
    seeds = [entity.id for entity in store.entities_named(runs(text), owners(caller))]
    if not seeds:
        return Found()
    seen = store.neighbourhood(seeds, Direction.BOTH, None, 2, MOST_NEAR)
    strength = _strengths(seeds, seen.relations)
    missing: dict[MemoryId, float] = {}
    for link in store.linked(list(strength), wanted, 2000):
        # Several ways to a memory add up like independent hints.
        missing[link.memory] = missing.get(link.memory, 1.0) * (1 - 0.9 * strength[link.entity])
    scores = sorted(((id, 1 - rest) for id, rest in missing.items()), key=lambda found: -found[1])
    return Found(dict(scores[:MOST_MEMORIES]), missing.keys())


def unaddressed(store: Store, question: str, caller: Caller) -> str:
    """The question without the names of those who speak all the time.

    A name that begins every other memory drowns the meaning of the rest; who said it is a signal
    of its own. What is left of "When did Ada go to Rome?" is "When did go to Rome?".
    """
    known = {entity.id: entity.name for entity in store.entities_named(runs(question), owners(caller))}
    names = [known[id] for id in store.speakers(list(known), TALKATIVE)]
    if not names:
        return question
    spoken = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    left = " ".join(re.sub(rf"\b(?:{spoken})(?:['’]s)?\b", "", question, flags=re.IGNORECASE).split())
    return left if query_terms(left) else question


def _strengths(seeds: Sequence[str], relations: Sequence[Relation]) -> dict[str, float]:
    strength = dict.fromkeys(seeds, 1.0)
    frontier = set(seeds)
    for _ in range(2):
        reached: dict[str, float] = {}
        for r in relations:
            for a, b in ((r.source, r.target), (r.target, r.source)):
                if a in frontier and b not in strength:
                    reached[b] = max(reached.get(b, 0.0), strength[a] * HOP * (0.5 + 0.5 * r.weight))
        strength |= reached
        frontier = set(reached)
    return strength


def _alone(name: str, close: Sequence[str]) -> bool:
    """Whether the best spelling is clearly closer than the next."""
    ratios = [difflib.SequenceMatcher(None, name, other).ratio() for other in close[:2]]
    return len(ratios) == 1 or ratios[0] - ratios[1] > 0.05 or ratios[0] > 0.9


def _answer(
    parts: Parts, seen: Neighbourhood, question: GraphQuestion, caller: Caller, overview: GraphOverview | None = None
) -> GraphAnswer:
    store, wanted = parts.store, Filter(places(caller))
    ids = [entity.id for entity in seen.entities]
    counts = store.link_counts(ids, wanted)
    names = _names(store, seen)
    edges: dict[str, list[Edge]] = {id: [] for id in ids}
    for r in sorted(seen.relations, key=lambda r: -r.weight):
        if r.source in edges and r.target in names:
            edges[r.source].append(Edge(r.type, names[r.target], Direction.OUTGOING, r.weight, r.stale))
        if r.target in edges and r.source in names:
            edges[r.target].append(Edge(r.type, names[r.source], Direction.INCOMING, r.weight, r.stale))
    hops = seen.hops or {}
    nodes = _merged([Node(e, tuple(edges[e.id]), counts.get(e.id, 0), hops.get(e.id, 0)) for e in seen.entities])
    links = store.linked(ids, wanted, MOST_LINKS) if question.include_memories else []
    spoken = list(dict.fromkeys(link.memory for link in links))
    attached = with_standings(store, spoken[:MOST_MEMORIES], caller)
    memories = listed_newest_first(parts, list(attached.values()), wanted, caller)[:MOST_MEMORIES]
    said = tuple((k.memory, k.relationship, names[k.entity]) for k in links if not k.by_rule)
    known = None
    if question.relation and not seen.relations and question.relation not in {type for _, type, _ in said}:
        known = tuple(store.overview(owners(caller)).relation_types)
    more = len(spoken) > MOST_MEMORIES or len(links) == MOST_LINKS
    return GraphAnswer(nodes, tuple(memories), seen, said, overview, known_relations=known, more=more)


def _merged(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """One node for a thing that both the project and the user know."""
    merged: dict[tuple[str, str], Node] = {}
    for node in nodes:
        key = fold(node.entity.name), fold(node.entity.type)
        merged[key] = _joined(merged[key], node) if key in merged else node
    return tuple(merged.values())


def _joined(a: Node, b: Node) -> Node:
    edges = tuple(dict.fromkeys((*a.edges, *b.edges)))
    return Node(a.entity, edges, a.memories + b.memories, min(a.hops, b.hops))


def _names(store: Store, seen: Neighbourhood) -> dict[str, str]:
    """Names of all that the relations touch, also of entities beyond the limit."""
    known = {entity.id: entity.name for entity in seen.entities}
    ends = {end for r in seen.relations for end in (r.source, r.target)} - known.keys()
    return known | store.names(list(ends))
