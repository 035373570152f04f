"""The knowledge graph as a part of the store."""

from collections.abc import Sequence
from datetime import datetime

from retain.domain.graph import Direction, Entity, GraphOverview, Link, Neighbourhood, Related, Relation, Steps
from retain.domain.memory import MemoryId
from retain.domain.recall import Filter
from retain.ports import Subgraph
from retain.stores.surreal.graph import graph, mentions, relations, subgraph
from retain.stores.surreal.graph.kept_edges import KeptEdges
from retain.stores.surreal.link.database import Database
from retain.stores.surreal.tables import Tables


class GraphTables(Tables):
    """`ports.GraphStore` and `ports.RelationStore`."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._edges = KeptEdges()

    def entities(self, ids: Sequence[str]) -> list[Entity]:
        return list(graph.entities(self.db, ids))

    def entities_named(self, names: Sequence[str], owners: Sequence[str]) -> list[Entity]:
        return graph.entities_named(self.db, names, owners) if names and owners else []

    def entity_names(self, owners: Sequence[str]) -> list[str]:
        return graph.entity_names(self.db, owners) if owners else []

    def names(self, entities: Sequence[str]) -> dict[str, str]:
        return graph.names(self.db, entities) if entities else {}

    def neighbourhood(
        self, seeds: Sequence[str], direction: Direction, relation: str | None, depth: int, limit: int
    ) -> Neighbourhood:
        return graph.neighbourhood(self.db, seeds, direction, relation, depth, limit)

    def most_connected(self, owners: Sequence[str], relation: str | None, limit: int) -> Neighbourhood:
        return graph.most_connected(self.db, owners, relation, limit)

    def overview(self, owners: Sequence[str]) -> GraphOverview:
        return graph.overview(self.db, owners)

    def links(self, memories: Sequence[MemoryId]) -> list[tuple[Link, Entity]]:
        return mentions.links(self.db, memories) if memories else []

    def linked(self, entities: Sequence[str], wanted: Filter, limit: int) -> list[Link]:
        return mentions.linked(self.db, entities, wanted, limit) if entities else []

    def speakers(self, entities: Sequence[str], at_least: int) -> set[str]:
        return mentions.speakers(self.db, entities, at_least) if entities else set()

    def link_counts(self, entities: Sequence[str], wanted: Filter) -> dict[str, int]:
        return mentions.link_counts(self.db, entities, wanted) if entities else {}

    def around(self, entities: Sequence[str], memories: Sequence[MemoryId], wanted: Filter, now: datetime) -> Subgraph:
        return subgraph.around(self._edges.seen(self.db), entities, memories, wanted, now)

    def relations(self, ids: Sequence[str]) -> list[Relation]:
        return relations.by_ids(self.db, ids) if ids else []

    def together(self, one: str, other: str, limit: int) -> list[MemoryId]:
        return relations.together(self.db, one, other, limit)

    def related(self, start: str, steps: Steps) -> Related:
        return relations.related(self.db, start, steps)
