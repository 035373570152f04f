"""The memory: one thing worth remembering, and the values it is made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, NewType

from retain.domain import places

if TYPE_CHECKING:
    from retain.domain.standing import Standing

MemoryId = str
Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

# Little-endian float32 of unit length. Bytes, because a plan that holds them must be hashable,
# writable to a file, and readable where numpy is not loaded.
Vector = NewType("Vector", bytes)

MAX_TEXT = 100_000
MAX_LABEL = 100


class Kind(StrEnum):
    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"


class Scope(StrEnum):
    """How far a memory reaches, narrow to broad."""

    SESSION = "session"
    PROJECT = "project"
    USER = "user"

    @property
    def breadth(self) -> int:
        return list(Scope).index(self)


class State(StrEnum):
    """One lifecycle; only `active` memories are recalled unless a caller asks for more."""

    ACTIVE = "active"
    FORGOTTEN = "forgotten"
    INVALIDATED = "invalidated"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    PRUNED = "pruned"
    DORMANT = "dormant"


class Provenance(StrEnum):
    """How something came to be known, the most reliable first."""

    DIRECT_OBSERVATION = "direct-observation"
    TOLD_BY_USER = "told-by-user"
    TOOL_RESULT = "tool-result"
    INFERENCE = "inference"
    MODEL_GENERATED = "model-generated"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a memory came from."""

    tool: str | None = None
    file: str | None = None
    conversation_turn: int | None = None
    provenance: Provenance | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Whose a memory is and how far it reaches; equal texts in one place are one memory.

    With an `agent`, it is what that agent keeps to itself there.
    """

    scope: Scope
    user: str = ""
    project: str | None = None
    session: str | None = None
    agent: str | None = None

    @property
    def key(self) -> str:
        """A string that is equal exactly where the place is; a narrower scope names more of its parts."""
        return places.agent_key(self._shared_key, self.agent) if self.agent else self._shared_key

    @property
    def _shared_key(self) -> str:
        if self.scope is Scope.USER:
            return places.user_key(self.user)
        if self.scope is Scope.PROJECT:
            return places.project_key(self.user, self.project)
        return places.session_key(self.user, self.session)

    @property
    def owner(self) -> str:
        """Whose entities these are: the project's, or the user's where there is no project; never shared by people."""
        if self.project is None:
            return f"user\x1f{self.user}"
        return f"{self.project}\x1f{self.user}" if self.user else self.project


def user_of(owner: str) -> str:
    """The person to whom an owner of entities belongs, as `Place.owner` spells it; empty for the local user."""
    return owner.partition("\x1f")[2]


@dataclass(frozen=True, slots=True)
class Status:
    """Where in its life a memory is, since when and why, and what took its place."""

    state: State = State.ACTIVE
    reason: str | None = None
    since: datetime | None = None
    successor: MemoryId | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """One thing worth remembering, at its newest version; earlier ones are history.

    `session` is where it was said, whatever its scope; `consolidated` means that a summary
    speaks for it. Access counts are kept apart, since they change with every recall.
    """

    id: MemoryId
    text: str
    kind: Kind
    place: Place
    created: datetime
    updated: datetime
    event_time: datetime
    valid_from: datetime
    session: str | None = None
    title: str | None = None
    category: str | None = None
    agent: str | None = None
    tags: tuple[str, ...] = ()
    importance: float = 0.5
    source: Source = Source()
    metadata: Mapping[str, Json] = field(default_factory=dict)
    valid_until: datetime | None = None
    status: Status = Status()
    consolidated: bool = False
    derived_from: tuple[MemoryId, ...] = ()
    reinforced: int = 0
    reinforced_at: datetime | None = None
    version: int = 1
    compared: bool = field(default=True, compare=False)
    """Whether it was held against what is near it. Only a mark: to set or take it makes no new version."""

    @property
    def scope(self) -> Scope:
        return self.place.scope

    @property
    def is_active(self) -> bool:
        return self.status.state is State.ACTIVE

    @property
    def last_said(self) -> datetime:
        """When it happened, or was said again."""
        return max(self.event_time, self.reinforced_at or self.event_time)

    def said_again(self, at: datetime) -> "Memory":
        """As it is when it is said once more; what was told of an earlier time leaves the last time as it was."""
        return replace(self, reinforced=self.reinforced + 1, reinforced_at=max(at, self.reinforced_at or at))

    def is_valid_at(self, moment: datetime) -> bool:
        """Whether it was true then, as far as is known."""
        return self.valid_from <= moment and (self.valid_until is None or self.valid_until > moment)


@dataclass(frozen=True, slots=True)
class Stored:
    """A memory as a store gives it back: with how often it was used and how it is indexed."""

    memory: Memory
    accesses: int = 0
    accessed: datetime | None = None
    model: str | None = None
    """The model that made its vectors; None while it is found by keyword only."""
    standing: "Standing | None" = None
    """What disputes it and when it holds; None where nothing does, or nobody looked: recalls and lists do."""


@dataclass(frozen=True, slots=True)
class Embedding:
    """The vectors of one memory's text, chunk by chunk; `missing` chunks follow later."""

    memory: MemoryId
    model: str
    vectors: tuple[Vector, ...]
    first: int = 0
    missing: int = 0


class Event(StrEnum):
    """What a history row records."""

    CREATED = "created"
    UPDATED = "updated"
    REINFORCED = "reinforced"
    PROMOTED = "promoted"
    TAGGED = "tagged"
    FORGOTTEN = "forgotten"
    RESTORED = "restored"
    CONSOLIDATED = "consolidated"
    UNDONE = "undone"
    INVALIDATED = "invalidated"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    PRUNED = "pruned"
    DORMANT = "dormant"
    WOKEN = "woken"


@dataclass(frozen=True, slots=True)
class Rest:
    """What a memory was before a change, besides what it said."""

    kind: Kind
    status: Status
    metadata: Mapping[str, Json] = field(default_factory=dict)
    valid_until: datetime | None = None
    project: str | None = None
    session: str | None = None
    called: tuple[str | None, str | None] | None = None
    """Its title and its category; None in rows of versions that could not change them."""


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """What a memory said before a change, what the change was, and why; never edited.

    `rest` is None in the first row, and in those of earlier versions, which did not keep it.
    """

    memory: MemoryId
    version: int
    event: Event
    text: str
    importance: float
    tags: tuple[str, ...]
    scope: Scope
    at: datetime
    reason: str | None = None
    rest: Rest | None = None
