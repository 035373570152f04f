"""What the engine needs from the outside, as small protocols; a store implements all but the last three."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from retain.domain.changes import Applied, Changes, Conflict, Contradiction, Run
from retain.domain.code import CodeFile, CodeFilter, CodeIndex, Mark, Occurrence, StoredChunk
from retain.domain.conversation import Cursor
from retain.domain.graph import Direction, Entity, GraphOverview, Link, Neighbourhood, Related, Relation, Steps
from retain.domain.llm import Completion, Prompt
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
    dimensions: int
    """How long the vectors are that memories have here; 0 while there are none."""
    code_chunks: int


@dataclass(frozen=True, slots=True)
class Emptied:
    """How much of one user was destroyed."""

    memories: int
    entities: int
    relations: int
    code_chunks: int


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


class MemoryStore(Protocol):
    """Memories and the lanes that find them. Ids that are not there are left out, never an error."""

    def memories(self, ids: Sequence[MemoryId]) -> dict[MemoryId, Stored]: ...
    def twin(self, place: Place, fingerprint: str, *, ended: bool = False) -> Stored | None:
        """The active memory with this text; or, asked for what has `ended`, the one that did so last."""
        ...

    def listed(self, wanted: Filter, limit: int, offset: int = 0) -> list[Stored]:
        """Newest first."""
        ...

    def total(self, wanted: Filter) -> int: ...
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
    def history(self, *ids: MemoryId) -> list[HistoryEntry]:
        """Of all the memories together, oldest first."""
        ...

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
    def related(self, start: str, steps: Steps) -> Related:
        """Breadth first along relations that held, the heaviest first where there are too many.

        What only rules have read is passed over once every memory that speaks of both ends was forgotten.
        """
        ...


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


class CaptureStore(Protocol):
    """How far transcripts have been read."""

    def cursor(self, transcript: str) -> Cursor | None: ...
    def cursors_at(self, lines: Sequence[str]) -> list[Cursor]:
        """Cursors that stand at one of these lines, in whichever transcript: a fork begins with a copy."""
        ...

    def extractions(self, project: str | None, user: str) -> int:
        """How often something was extracted there."""
        ...


class CodeStore(Protocol):
    """Indexes of code. They can be made anew from the files, so a write here is atomic, and not forced to disk."""

    def indexes(self, user: str) -> list[CodeIndex]:
        """By name of the project."""
        ...

    def claim_index(self, index: CodeIndex, dead_since: datetime, *, new: bool = True) -> CodeIndex | None:
        """Makes `index.holder` the one who indexes; None while another is at it who was alive after `dead_since`.

        The answer has the counts of what is there already. What is not `new` is None also once it was dropped.
        """
        ...

    def recount_index(self, index: CodeIndex) -> CodeIndex | None:
        """The index with the counts of what is there, for its holder; None when that is no longer who asks."""
        ...

    def report_index(self, index: CodeIndex) -> bool:
        """Writes how far the holder is; False, and nothing is written, when it is no longer the holder."""
        ...

    def drop_index(self, key: str) -> int:
        """Destroys an index with all of its chunks; says how many there were."""
        ...

    def marks(self, key: str) -> dict[str, Mark]:
        """The files that an index has, by path."""
        ...

    def save_code(
        self, key: str, files: Sequence[CodeFile], moved: Sequence[tuple[str, str]], gone: Sequence[str]
    ) -> None:
        """Replaces files by path, gives others a new path, and removes others, all at once.

        A chunk that is the same as before keeps its id and its vectors.
        """
        ...

    def mark_code(self, key: str, marks: Mapping[str, Mark]) -> None:
        """Gives files new marks that say what they said; paths that an index has not are passed over."""
        ...

    def code_unembedded(self, key: str, model: str, limit: int) -> list[StoredChunk]:
        """Chunks without vectors by this model."""
        ...

    def save_code_vectors(self, model: str, vectors: Mapping[str, Sequence[Vector]]) -> None:
        """Vectors of chunks by id; a chunk that has gone meanwhile is passed over."""
        ...


class CodeSearch(Protocol):
    """Finding code that was indexed."""

    def code_by_words(self, terms: Sequence[str], wanted: CodeFilter, limit: int) -> dict[str, float]:
        """BM25 over names, doc comments and bodies; best first."""
        ...

    def code_by_vector(self, vector: Vector, model: str, wanted: CodeFilter, limit: int) -> dict[str, float]:
        """Cosine of the best part of a chunk; best first."""
        ...

    def code_named(self, names: Sequence[str], wanted: CodeFilter, limit: int) -> list[StoredChunk]:
        """Chunks with one of these names, or qualified names, in any case."""
        ...

    def code_chunks(self, ids: Sequence[str]) -> dict[str, StoredChunk]: ...
    def occurrences(self, name: str, wanted: CodeFilter, limit: int) -> list[Occurrence]:
        """Lines that use a name, by file and line."""
        ...

    def symbols(self, key: str) -> list[StoredChunk]:
        """All that is defined in an index, without its texts: the first part of each named chunk."""
        ...

    def uses(self, key: str) -> list[tuple[str, str, int]]:
        """Which file uses which name on how many lines, as (path, name, lines)."""
        ...


class Durable(Protocol):
    """The store as a whole: one atomic write, a change number to check caches by, and its upkeep."""

    def apply(self, changes: Changes) -> Applied | Conflict: ...
    def change(self) -> int:
        """Grows with every committed `apply`, whichever process made it."""
        ...

    def empty(self, user: str, at: datetime, change: int) -> Emptied | None:
        """Destroys all that one user has, in every project, as thoroughly as a purge.

        None, and nothing is destroyed, when somebody has changed the store since it had that change number.
        """
        ...

    def destroyed(self, ids: Sequence[MemoryId]) -> set[MemoryId]:
        """Those of the ids that were purged here."""
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


class Store(
    MemoryStore, GraphStore, RelationStore, SessionStore, CaptureStore, CodeStore, CodeSearch, Durable, Protocol
):
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


class LLM(Protocol):
    """A language model that somebody chose; it may fail at any time, and then a rule does its work."""

    @property
    def name(self) -> str:
        """Provider and model, as a person would say it."""
        ...

    def why_not(self) -> str | None:
        """Why it cannot be asked now: no key, the day's budget spent; None when it can."""
        ...

    def complete(self, prompt: Prompt, seconds: float) -> Completion:
        """The answer within so many seconds, retries included; else LLMFailed."""
        ...

    def stream(self, prompt: Prompt, seconds: float) -> Iterator[str]:
        """The answer in pieces, as they come."""
        ...


class Clock(Protocol):
    def now(self) -> datetime: ...
