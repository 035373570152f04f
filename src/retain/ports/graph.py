"""Entities, what memories say of them, and how they relate."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from retain.domain.graph import Direction, Entity, GraphOverview, Link, Neighbourhood, Related, Relation, Steps
from retain.domain.memory import MemoryId
from retain.domain.recall import Filter


@dataclass(frozen=True, slots=True)
class Subgraph:
    """A part of the graph: entities, memories that speak of them, and what joins any two of these.

    Nodes are numbered, entities first and memories after them. An edge is (node, node, weight), can be walked both
    ways, and stands once for each two nodes.
    """

    entities: tuple[str, ...] = ()
    memories: tuple[MemoryId, ...] = ()
    edges: tuple[tuple[int, int, float], ...] = ()

    def __len__(self) -> int:
        return len(self.entities) + len(self.memories)


class GraphStore(Protocol):
    """Entities, the memories that speak of them, and their relations."""

    def entities(self, ids: Sequence[str]) -> list[Entity]: ...
    def entities_named(self, names: Sequence[str], owners: Sequence[str]) -> list[Entity]: ...
    def entity_names(self, owners: Sequence[str]) -> list[str]: ...
    def names(self, entities: Sequence[str]) -> dict[str, str]:
        """By id; a walk ends at many entities of which nothing else is told."""
        ...

    def neighbourhood(
        self, seeds: Sequence[str], direction: Direction, relation: str | None, depth: int, limit: int
    ) -> Neighbourhood: ...
    def most_connected(self, owners: Sequence[str], relation: str | None, limit: int) -> Neighbourhood: ...
    def overview(self, owners: Sequence[str]) -> GraphOverview: ...
    def links(self, memories: Sequence[MemoryId]) -> list[tuple[Link, Entity]]: ...
    def linked(self, entities: Sequence[str], wanted: Filter, limit: int) -> list[Link]:
        """Links from memories that pass the filter, newest memory first."""
        ...

    def speakers(self, entities: Sequence[str], at_least: int) -> set[str]:
        """Those of the entities that said at least so many memories."""
        ...

    def link_counts(self, entities: Sequence[str], wanted: Filter) -> dict[str, int]: ...
    def around(self, entities: Sequence[str], memories: Sequence[MemoryId], wanted: Filter, now: datetime) -> Subgraph:
        """What is near the given: the entities that the memories speak of, those up to two relations further on,
        and memories that pass the filter and speak of any of these.

        Relations count that hold `now`; stale links do not, nor stale relations unless somebody stated them. Every
        step is bounded: the heaviest relations and the newest memories of an entity come first. A memory that speaks
        of nothing is no node.
        """
        ...


class RelationStore(Protocol):
    """Relations that have a time: by id, and as they held around an entity."""

    def relations(self, ids: Sequence[str]) -> list[Relation]: ...
    def relations_among(self, entities: Sequence[str]) -> list[Relation]:
        """Every relation with both ends among the entities, those that have ended too."""
        ...

    def together(self, one: str, other: str, limit: int) -> list[MemoryId]:
        """Memories that stand and speak of both entities, as many as are asked for."""
        ...

    def related(self, start: str, steps: Steps) -> Related:
        """Breadth first along relations that held, the heaviest first where there are too many.

        What only rules have read is passed over once every memory that speaks of both ends was forgotten.
        """
        ...
