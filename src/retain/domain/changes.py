"""A plan of changes: what a store is asked to write at once, and what it must find to be true first."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from enum import StrEnum
from typing import Literal

from retain.domain import places
from retain.domain.conversation import Cursor
from retain.domain.graph import Entity, Link, Relation, Tie
from retain.domain.memory import Embedding, HistoryEntry, Json, Memory, MemoryId, Place
from retain.domain.session import Profile, Project, Session
from retain.domain.transfer import Asked, Destroyed, Kept, KeptSession, Served
from retain.domain.work import Work


@dataclass(frozen=True, slots=True)
class NoTwin:
    """No active memory with this text is in this place (`but`: other than this one)."""

    place: Place
    fingerprint: str
    but: MemoryId | None = None


@dataclass(frozen=True, slots=True)
class AtVersion:
    """The memory is there and nobody has changed it since it was read."""

    memory: MemoryId
    version: int


@dataclass(frozen=True, slots=True)
class Uncompared:
    """The memory is there as it was read, and nobody has compared it since. It may be filed under a category without a
    new version, so that is named, too."""

    memory: MemoryId
    version: int
    category: str | None


@dataclass(frozen=True, slots=True)
class RunFree:
    """No consolidation has been applied to this owner since the plan was made."""

    scope: str
    latest: str | None


@dataclass(frozen=True, slots=True)
class TitleFree:
    """No active memory in this place has this title (`but`: other than this one)."""

    place: Place
    title: str
    but: MemoryId | None = None


@dataclass(frozen=True, slots=True)
class NameFree:
    """No other project of this user has this name, or is known by it."""

    name: str
    user: str
    but: str


@dataclass(frozen=True, slots=True)
class ProfileStill:
    """The user knows the project as it was read, or still does not know it."""

    project: str
    user: str
    profile: Profile | None


@dataclass(frozen=True, slots=True)
class ActiveWork:
    """Exactly these sessions are active in the project."""

    project: str
    user: str
    sessions: frozenset[str]


@dataclass(frozen=True, slots=True)
class WorkActive:
    """This session is still active."""

    id: str
    user: str


class ContradictionState(StrEnum):
    OPEN = "open"
    RESOLVED = "resolved"
    CONTEXT_DEPENDENT = "context_dependent"
    REOPENED = "reopened"


@dataclass(frozen=True, slots=True)
class StillSo:
    """Nobody has decided about the contradiction, or reopened it, since it was read."""

    contradiction: str
    state: ContradictionState
    resolved: datetime | None = None


Expectation = (
    NoTwin | AtVersion | Uncompared | RunFree | TitleFree | NameFree | ProfileStill | ActiveWork | WorkActive | StillSo
)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two memories that cannot both be true, how that was found, and what became of it."""

    id: str
    older: MemoryId
    newer: MemoryId
    kind: str
    detail: str
    found: datetime
    by_rule: bool = True
    """Without a language model: by the judge in the package, or by what a few words and values say."""
    state: ContradictionState = ContradictionState.OPEN
    winner: MemoryId | None = None
    """Which of the two holds, once that is decided."""
    conditions: str | None = None
    """When the one holds and when the other, where both do."""
    explanation: str | None = None
    resolved: datetime | None = None
    resolved_by: str | None = None

    @property
    def is_open(self) -> bool:
        return self.state in (ContradictionState.OPEN, ContradictionState.REOPENED)

    @property
    def found_by(self) -> Literal["rule", "judge", "llm"]:
        if not self.by_rule:
            return "llm"
        return "judge" if self.kind == "meaning" else "rule"

    def other(self, memory: MemoryId) -> MemoryId:
        return self.newer if memory == self.older else self.older


@dataclass(frozen=True, slots=True)
class Run:
    """One consolidation, with enough to undo it."""

    id: str
    scope: str
    strategy: str
    at: datetime
    made: tuple[MemoryId, ...]
    sources: tuple[MemoryId, ...]
    analysed: int
    undone: datetime | None = None
    metrics: Mapping[str, Json] = field(default_factory=dict)

    @property
    def user(self) -> str:
        return places.user_in(self.scope)


@dataclass(frozen=True, slots=True)
class Restored:
    """What a plan takes over from another store exactly as it is there, whatever is here.

    `memories` are among those of the plan: what is here of their history and links goes first, and no tombstone is
    left. An entity makes one of another id with the same key go, with its links and relations. Of what was
    `destroyed` the tombstones are written; it is the plan that purges.
    """

    memories: tuple[Kept, ...] = ()
    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    sessions: tuple[KeptSession, ...] = ()
    cursors: tuple[Cursor, ...] = ()
    questions: tuple[Asked, ...] = ()
    served: tuple[Served, ...] = ()
    destroyed: tuple[Destroyed, ...] = ()


@dataclass(frozen=True, slots=True)
class Changes:
    """Everything one act writes. All of it is applied, or none.

    `memories` are whole new versions, added or replaced by id. Entities are matched by key and
    relations by (source, target, type): the store keeps the one that is there and adds the weight.
    What is `stated` was given by hand and is taken as it is: the description of an entity, unless there is
    none, the weight of a relation and until when it holds.
    `purged` memories are destroyed with everything that holds their text.
    """

    at: datetime
    expects: tuple[Expectation, ...] = ()
    memories: tuple[Memory, ...] = ()
    embeddings: tuple[Embedding, ...] = ()
    history: tuple[HistoryEntry, ...] = ()
    entities: tuple[Entity, ...] = ()
    links: tuple[Link, ...] = ()
    unlinked: tuple[tuple[MemoryId, str], ...] = ()
    stale: tuple[tuple[MemoryId, bool], ...] = ()
    relations: tuple[Relation, ...] = ()
    ended: tuple[Relation, ...] = ()
    """Relations that rules had read and no memory says any more, as they were read. They end now, unless somebody has
    seen them since or the plan itself says them; with what is purged they are destroyed."""
    stated: tuple[Entity | Relation, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    ties: tuple[Tie, ...] = ()
    projects: tuple[Project, ...] = ()
    profiles: tuple[Profile, ...] = ()
    works: tuple[Work, ...] = ()
    sessions: tuple[Session, ...] = ()
    runs: tuple[Run, ...] = ()
    cursors: tuple[Cursor, ...] = ()
    purged: tuple[MemoryId, ...] = ()
    restored: Restored | None = None
    """What comes from another store, and is taken over as it is there."""
    key: str | None = None
    """Names the plan, where it may be sent twice and must be written once: to a database on a server. A file is there
    or not, and pays no heed to it."""

    def joined(self, other: "Changes") -> "Changes":
        """Both plans as one, at the moment of the first."""
        single = ("at", "restored", "key")
        both = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self) if f.name not in single}
        return replace(self, **both)


@dataclass(frozen=True, slots=True)
class Applied:
    """It is committed; `change` is the store's number for it."""

    change: int


@dataclass(frozen=True, slots=True)
class Conflict:
    """Nothing was written, because this expectation did not hold."""

    broken: Expectation
