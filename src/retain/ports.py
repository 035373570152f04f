"""What the engine needs from the outside, as small protocols; a store implements the first four together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from retain.domain.changes import Applied, Changes, Conflict, Contradiction, Run
from retain.domain.graph import Direction, Entity, GraphOverview, Link, Neighbourhood
from retain.domain.memory import HistoryEntry, Kind, Memory, MemoryId, Place, Scope, Stored, Vector
from retain.domain.model import CacheStats, ModelState
from retain.domain.recall import Filter, Found
from retain.domain.session import Project, Session, Use


@dataclass(frozen=True, slots=True)
class Counts:
    """How much one user has stored, everywhere."""

    total: int
    by_scope: Mapping[str, int]
    by_kind: Mapping[str, int]
    by_state: Mapping[str, int]
    entities: int
    relations: int
    unembedded: int


@dataclass(frozen=True, slots=True)
class Context:
    """A candidate as it was said: what scoring looks at, and its neighbours in the session as (distance, id, words).

    Words are the normalised terms of a text in one string: most are looked at only to see that a
    term is not in them.
    """

    memory: MemoryId
    text: str
    words: str
    neighbours: Sequence[tuple[int, MemoryId, str]]
    kind: Kind
    scope: Scope
    importance: float
    last_said: datetime
    consolidated: bool


@dataclass(frozen=True, slots=True)
class Corpus:
    """What BM25 needs to know of all texts: how many, how long, and how many hold each term."""

    documents: int
    average_length: float
    holding: Mapping[str, int]


class MemoryStore(Protocol):
    """Memories and the lanes that find them. Ids that are not there are left out, never an error."""

    def memories(self, ids: Sequence[MemoryId]) -> dict[MemoryId, Stored]: ...
    def twin(self, place: Place, fingerprint: str) -> Stored | None: ...
    def listed(self, wanted: Filter, limit: int, offset: int = 0) -> list[Stored]:
        """Newest first."""
        ...

    def by_words(self, terms: Sequence[str], wanted: Filter, limit: int, *, counted: bool = False) -> Found:
        """BM25 over normalised terms; any of them may match. All that match are counted only when asked for."""
        ...

    def by_vector(self, vector: Vector, model: str, wanted: Filter, limit: int) -> Found:
        """Cosine of the best chunk."""
        ...

    def contexts(self, ids: Sequence[MemoryId], wanted: Filter, reach: int) -> list[Context]:
        """Those of the memories that pass the filter, with what was said up to `reach` steps before and after."""
        ...

    def corpus(self, terms: Sequence[str]) -> Corpus: ...
    def vectors(self, ids: Sequence[MemoryId], model: str) -> dict[MemoryId, list[Vector]]: ...
    def history(self, id: MemoryId) -> list[HistoryEntry]: ...
    def unembedded(
        self, model: str, limit: int, *, by_others: bool, user: str | None = None
    ) -> list[tuple[Memory, int]]:
        """Memories without (all of) their vectors by this model, each with the number of chunks it has.

        Those that another model has embedded are among them only when asked for.
        """
        ...

    def counts(self, user: str, model: str) -> Counts: ...


class GraphStore(Protocol):
    """Entities, the memories that speak of them, and their relations."""

    def entities(self, ids: Sequence[str]) -> list[Entity]: ...
    def entities_named(self, names: Sequence[str], owners: Sequence[str]) -> list[Entity]: ...
    def entity_names(self, owners: Sequence[str]) -> list[str]: ...
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


class SessionStore(Protocol):
    """Sessions, projects, consolidation runs and contradictions."""

    def session(self, id: str, user: str) -> Session | None: ...
    def project(self, name: str) -> Project | None:
        """By id, slug or path."""
        ...

    def projects(self) -> list[Project]: ...
    def note_uses(self, uses: Sequence[Use]) -> None:
        """Count accesses and recalls. May be lost in a power cut; nothing else may."""
        ...

    def served(self, session: str, user: str) -> int:
        """How many different memories were served in a session."""
        ...

    def finished(self, user: str, project: str | None) -> list[str]:
        """Sessions that have ended and were not reflected on since."""
        ...

    def mark_reflected(self, session: str, user: str) -> None: ...

    def run(self, id: str) -> Run | None: ...
    def latest_run(self, scope: str) -> Run | None: ...
    def runs(self, limit: int) -> list[Run]: ...
    def contradictions(self, memories: Sequence[MemoryId]) -> list[Contradiction]: ...


class Durable(Protocol):
    """The store as a whole: one atomic write, a change number to check caches by, and its upkeep."""

    def apply(self, changes: Changes) -> Applied | Conflict: ...
    def change(self) -> int:
        """Grows with every committed `apply`, whichever process made it."""
        ...

    def size(self) -> int: ...
    def backup(self, to: Path) -> None: ...
    def faults(self) -> list[str]:
        """What an integrity check finds; empty when the store is sound."""
        ...

    def notices(self) -> list[str]:
        """What everyone should be told until it is dealt with, such as a damaged file that was set aside."""
        ...

    def close(self) -> None: ...


class Store(MemoryStore, GraphStore, SessionStore, Durable, Protocol):
    """Everything an engine asks of one store."""


class Embedder(Protocol):
    """Turns text into vectors; may be slow to load, and may be off."""

    @property
    def model(self) -> str: ...
    @property
    def dimensions(self) -> int: ...
    def state(self) -> ModelState: ...
    def warm(self) -> None: ...
    def wait(self, seconds: float) -> bool: ...
    def chunks(self, text: str) -> list[str]: ...
    def embed(self, texts: Sequence[str]) -> list[Vector]: ...
    def stats(self) -> CacheStats: ...


class Clock(Protocol):
    def now(self) -> datetime: ...
