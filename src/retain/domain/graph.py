"""The knowledge graph: named things, what memories say about them, and how they relate."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from unicodedata import normalize

from retain.domain.ids import id_of
from retain.domain.memory import MemoryId

MENTIONS = "mentions"
RELATED = "related_to"
SAID_BY = "said_by"
SIMILAR = "similar_to"
SUPERSEDES = "supersedes"
SUPPORTS = "supports"
CAUSAL = ("caused", "fixed", "led_to")


class Direction(StrEnum):
    OUTGOING = "outgoing"
    INCOMING = "incoming"
    BOTH = "both"


def fold(name: str) -> str:
    """The key under which a name is looked up: case, width and runs of space do not matter."""
    return " ".join(normalize("NFKC", name).casefold().split())


@dataclass(frozen=True, slots=True)
class Entity:
    """A named thing. The key is (owner, folded name, type): two projects' `AuthService` never meet.

    `stated` means that somebody made it by hand; then it does not go with the last memory that names it.
    """

    id: str
    name: str
    type: str
    owner: str
    created: datetime
    description: str | None = None
    stated: bool = False

    @property
    def key(self) -> tuple[str, str, str]:
        return (self.owner, fold(self.name), fold(self.type))


@dataclass(frozen=True, slots=True)
class Link:
    """A memory speaks of an entity; `stale` once that memory was forgotten, `by_rule` when nobody said so."""

    memory: MemoryId
    entity: str
    relationship: str
    created: datetime
    by_rule: bool = False
    stale: bool = False


@dataclass(frozen=True, slots=True)
class Relation:
    """One entity relates to another; heavier the more often it was seen.

    `stale` once every memory that speaks of both was forgotten; it is worked out by the store, never written.
    It has one time of validity: one that ended and was stated again is valid from then on. What a rule read has ended
    `by_rule` when no text says it any more, and holds again when one does; what a person ended is theirs, not a
    rule's, and stays ended until somebody states it.
    """

    source: str
    target: str
    type: str
    created: datetime
    weight: float = 1.0
    by_rule: bool = False
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    stale: bool = False

    @property
    def key(self) -> tuple[str, str, str]:
        return self.source, self.target, self.type

    @property
    def id(self) -> str:
        return relation_id(*self.key)


def relation_id(source: str, target: str, type: str) -> str:
    """Equal relations have equal ids, whoever states them."""
    return id_of("\x1f".join((source, target, type)))


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """What a walk over the graph saw; the totals count all of it, the lists may be cut."""

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    hops: dict[str, int] | None = None
    entities_traversed: int = 0
    relationships_found: int = 0
    depth_reached: int = 0


@dataclass(frozen=True, slots=True)
class Steps:
    """How to walk: how far, which way, along which relations.

    `at` is when the relations must have held; without it, those count that nobody has ended.
    """

    depth: int = 1
    direction: Direction = Direction.OUTGOING
    relation: str | None = None
    at: datetime | None = None
    most_entities: int = 1000
    most_relations: int = 5000


@dataclass(frozen=True, slots=True)
class Related:
    """What an entity is connected with, nearest first and without itself; `hops` says how far each is.

    The relations are those that led there, with both ends among the entities or at the start. `truncated` when
    there was more than was asked for.
    """

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    hops: Mapping[str, int] = field(default_factory=dict)
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class GraphOverview:
    """The whole graph in numbers."""

    entities: int
    relations: int
    entity_types: dict[str, int]
    relation_types: dict[str, int]

    @property
    def density(self) -> float:
        """Relations there are, as a share of those there could be between two entities each."""
        possible = self.entities * (self.entities - 1)
        return self.relations / possible if possible else 0.0


@dataclass(frozen=True, slots=True)
class Tie:
    """How one memory relates to another."""

    source: MemoryId
    target: MemoryId
    type: str
    created: datetime
    strength: float = 1.0
