"""Work: a session that somebody started by hand, with a title, a log and an end."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from retain.domain.memory import Memory

SESSION = "sess"  # the dress that the ids of such sessions have everywhere
ENTRY = "entry"  # what the metadata of a memory calls its type in the log


class WorkState(StrEnum):
    ACTIVE = "active"
    COMPLETED = "completed"
    ABORTED = "aborted"


class EntryType(StrEnum):
    """What a line of the log says; the last two are said once, at the end."""

    INFO = "info"
    MILESTONE = "milestone"
    ISSUE = "issue"
    SOLUTION = "solution"
    OUTCOME = "outcome"
    SUMMARY = "summary"


LOGGED = (EntryType.INFO, EntryType.MILESTONE, EntryType.ISSUE, EntryType.SOLUTION)


def entry_of(memory: Memory) -> EntryType | None:
    """What a memory is in the log of its session; None for what was merely said there."""
    named = memory.metadata.get(ENTRY)
    return EntryType(named) if isinstance(named, str) and named in list(EntryType) else None


@dataclass(frozen=True, slots=True)
class Work:
    """What is tracked, apart from what is said in it: its log and its outcome are memories of this session."""

    id: str
    title: str
    project: str
    started: datetime
    user: str = ""
    description: str | None = None
    tags: tuple[str, ...] = ()
    state: WorkState = WorkState.ACTIVE
    ended: datetime | None = None

    @property
    def is_active(self) -> bool:
        return self.state is WorkState.ACTIVE

    @property
    def minutes(self) -> int | None:
        """How long it took; None while it goes on."""
        return None if self.ended is None else max(round((self.ended - self.started).total_seconds() / 60), 0)


@dataclass(frozen=True, slots=True)
class WorkFilter:
    user: str
    project: str | None = None
    state: WorkState | None = None
