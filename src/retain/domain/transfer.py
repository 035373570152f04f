"""Values of a whole memory on its way from one store to another: each as it is, with what is kept beside it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from retain.domain.graph import Link
from retain.domain.listing import PastQuery
from retain.domain.memory import Embedding, HistoryEntry, Memory, MemoryId
from retain.domain.session import Session


class Sort(StrEnum):
    """What there is in a store, in the order in which it can be written: what others refer to comes first."""

    DESTROYED = "destroyed"
    PROJECTS = "projects"
    PROFILES = "profiles"
    SESSIONS = "sessions"
    WORKS = "works"
    ENTITIES = "entities"
    MEMORIES = "memories"
    RELATIONS = "relations"
    TIES = "ties"
    CONTRADICTIONS = "contradictions"
    RUNS = "runs"
    CURSORS = "cursors"
    QUESTIONS = "questions"
    SERVED = "served"


@dataclass(frozen=True, slots=True)
class Kept:
    """What a store keeps beside a memory: where in its session it was said, and how often it was used."""

    memory: MemoryId
    position: int
    accesses: int = 0
    accessed: datetime | None = None


@dataclass(frozen=True, slots=True)
class Whole:
    """A memory with all that goes with it. History is oldest first; links are by entity and relationship."""

    memory: Memory
    kept: Kept
    embedding: Embedding | None = None
    history: tuple[HistoryEntry, ...] = ()
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class KeptSession:
    """A session, and whether it was reflected on since it ended; how many memories it has is left out."""

    session: Session
    reflected: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A past question, and whose it is; `project` is empty outside of projects."""

    query: PastQuery
    project: str
    user: str


@dataclass(frozen=True, slots=True)
class Served:
    """A memory that was handed out in a session."""

    session: str
    user: str
    memory: MemoryId


@dataclass(frozen=True, slots=True)
class Destroyed:
    """A memory that was purged: all that is left of it."""

    memory: MemoryId
    at: datetime


@dataclass(frozen=True, slots=True)
class Change:
    """A memory that was saved or destroyed by the change with this number."""

    number: int
    memory: MemoryId
    destroyed: bool = False
