"""Listings: light rows of many memories, and where a page of them ends."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from retain.domain.category import shown_as
from retain.domain.memory import Kind, MemoryId

T = TypeVar("T")
OPENING = 200  # characters of a text that a card has
MAX_QUERY = 200  # characters of a question that is kept for suggestions; a longer one is none
_MOST_TITLE = 80


@dataclass(frozen=True, slots=True)
class Card:
    """What a list shows of a memory: all but its text, of which it has the opening and the length."""

    id: MemoryId
    title: str | None
    opening: str
    length: int
    kind: Kind
    category: str | None
    tags: tuple[str, ...]
    created: datetime
    updated: datetime

    @property
    def type(self) -> str:
        return shown_as(self.category, self.kind.value)

    @property
    def heading(self) -> str:
        return heading(self.title, self.opening)


@dataclass(frozen=True, slots=True)
class Row:
    """Where a row stands in a list that begins with the newest: its time, and its id among those of that time."""

    at: datetime
    id: str


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some of a list, the row that they end with, and how many there are in all after the row it was to begin after."""

    items: Sequence[T]
    last: Row | None
    total: int


@dataclass(frozen=True, slots=True)
class PastQuery:
    """A question that found something: how often it was asked, and how much it found the last time."""

    text: str
    times: int
    found: int
    last: datetime


def heading(title: str | None, text: str) -> str:
    """The title of a memory; for one without, as much of its first line as a title would have."""
    if title:
        return title
    line = " ".join(text.strip().partition("\n")[0].split())
    if len(line) <= _MOST_TITLE:
        return line
    whole = line[:_MOST_TITLE].rpartition(" ")[0] or line[: _MOST_TITLE - 1]
    return f"{whole}…"
