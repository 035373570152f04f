"""A conversation as it was had: who said what, which tools ran, and how far it has been read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from retain.domain.memory import Json, Scope
from retain.domain.sentences import Span


class Speaker(StrEnum):
    """Where something in a conversation came from; only what the user typed is the user's word."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Said:
    """Something that the user or the assistant said."""

    speaker: Speaker
    text: str
    at: datetime | None = None
    id: str = ""


@dataclass(frozen=True, slots=True)
class ToolRun:
    """A tool that the assistant used, and how it went. Its output is data from outside, never anybody's word."""

    name: str
    input: Mapping[str, Json] = field(default_factory=dict)
    output: str = ""
    failed: bool = False
    at: datetime | None = None
    id: str = ""


Turn = Said | ToolRun


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns in order. In an aside the "user" is another agent, which is nobody's wish."""

    session: str
    turns: tuple[Turn, ...]
    aside: bool = False


@dataclass(frozen=True, slots=True)
class Extracted:
    """Something in a conversation that is worth remembering, and on whose word."""

    text: str
    category: str
    speaker: Speaker
    found_by: str
    """`judge`, `asked` (in so many words), `fix`, or `llm`."""
    tags: tuple[str, ...] = ()
    scope: Scope = Scope.PROJECT
    at: datetime | None = None
    replaces: str | None = None
    """What it takes the place of, in the words in which that may have been stored."""
    file: str | None = None
    spans: tuple[Span, ...] = ()
    """Where in its turn the words stand that it was made from."""
    score: float | None = None
    threshold: float | None = None
    """How sure the judge was that it is worth keeping, and from which score on that is enough."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A sentence that was judged, kept or nearly so; for whoever wants to know why."""

    text: str
    category: str
    score: float
    threshold: float
    kept: bool


@dataclass(frozen=True, slots=True)
class Dropped:
    """A statement of a language model that is not kept, and why; without secrets."""

    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a transcript has been read: so many bytes, up to the line with this id."""

    transcript: str
    session: str
    offset: int
    at: datetime
    last: str | None = None
    project: str | None = None
    user: str = ""
    extractions: int = 0
