"""Sessions and projects: when and where a memory was made."""

from dataclasses import dataclass
from datetime import datetime

from retain.domain.memory import MemoryId


@dataclass(frozen=True, slots=True)
class Project:
    """A folder that owns memories; `slug` is its name among all projects."""

    id: str
    slug: str
    path: str
    created: datetime


@dataclass(frozen=True, slots=True)
class Profile:
    """A project as one person knows it: by a name of its own, or by its slug until it has one."""

    project: Project
    name: str
    created: datetime
    updated: datetime
    user: str = ""
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation of an agent; open while `ended` is None."""

    id: str
    started: datetime
    project: str | None = None
    user: str = ""
    ended: datetime | None = None
    summary: str | None = None
    memory_count: int = 0
    recalls: int = 0


@dataclass(frozen=True, slots=True)
class Use:
    """Memories that were handed out; with a session, as the answer to a recall in it."""

    memories: tuple[MemoryId, ...]
    at: datetime
    session: str | None = None
    user: str = ""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is asking, and from where: decides what is seen and where writes land."""

    user: str = ""
    project: Project | None = None
    session: str | None = None
    agent: str | None = None
