"""Sessions, projects, tracked work, and how far transcripts have been read."""

from collections.abc import Sequence
from typing import Protocol

from retain.domain.changes import Run
from retain.domain.conversation import Cursor
from retain.domain.listing import Page, Row
from retain.domain.session import Profile, Project, Session, Use
from retain.domain.work import Work, WorkFilter


class SessionStore(Protocol):
    """Sessions, projects and consolidation runs."""

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

    def sessions(self, user: str, project: str | None, limit: int) -> list[str]:
        """Those of a project, or of none, begun last first."""
        ...

    def finished(self, user: str, project: str | None) -> list[str]:
        """Sessions that have ended and were not reflected on since."""
        ...

    def mark_reflected(self, session: str, user: str) -> None: ...

    def run(self, id: str) -> Run | None: ...
    def latest_run(self, scope: str) -> Run | None: ...
    def runs(self, limit: int) -> list[Run]: ...


class WorkStore(Protocol):
    """Projects as people name them, and the sessions that they track by hand."""

    def profile(self, project: str, user: str) -> Profile | None:
        """A project by id: one that the user named, or has memories, work or an index in."""
        ...

    def profile_named(self, name: str, user: str) -> Profile | None:
        """The project that goes by this name, whatever its case; else the one without a name that has this slug."""
        ...

    def profiles(self, user: str, limit: int, offset: int = 0) -> tuple[list[Profile], int]:
        """In the order in which they became known, and how many there are."""
        ...

    def work(self, id: str, user: str) -> Work | None: ...
    def works(self, wanted: WorkFilter, limit: int, offset: int = 0, beyond: Row | None = None) -> Page[Work]:
        """Newest first; pages as those of `ListingStore`."""
        ...


class CaptureStore(Protocol):
    """How far transcripts have been read."""

    def cursor(self, transcript: str) -> Cursor | None: ...
    def cursors_at(self, lines: Sequence[str]) -> list[Cursor]:
        """Cursors that stand at one of these lines, in whichever transcript: a fork begins with a copy."""
        ...

    def extractions(self, project: str | None, user: str) -> int:
        """How often something was extracted there."""
        ...
