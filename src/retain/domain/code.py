"""Code: files cut into chunks that can be found, the names they use, and the index of a folder."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from retain.domain.memory import Place, Scope
from retain.domain.session import Project


class ChunkKind(StrEnum):
    """What a chunk is; `module` is what stands in a file outside of everything else, `text` has no grammar."""

    FUNCTION = "function"
    METHOD = "method"
    CLASS = "class"
    INTERFACE = "interface"
    STRUCT = "struct"
    ENUM = "enum"
    TRAIT = "trait"
    TYPE = "type"
    MODULE = "module"
    SECTION = "section"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a file that is found as one. Lines count from 1, the last one included.

    `parent` is the qualified name of the class or module around it. What is too long for one chunk is cut
    between statements; the pieces share their name and count in `part`.
    """

    kind: ChunkKind
    name: str
    start_line: int
    end_line: int
    text: str
    parent: str = ""
    signature: str = ""
    doc: str = ""
    part: int = 0

    @property
    def qualified(self) -> str:
        return f"{self.parent}.{self.name}" if self.parent else self.name


@dataclass(frozen=True, slots=True)
class Reference:
    """A name that a file uses, once for each line."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a file consists of."""

    language: str
    chunks: tuple[Chunk, ...] = ()
    references: tuple[Reference, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """By what a file is known to be unchanged: size and time at a glance, the digest of its bytes for certain."""

    digest: str
    size: int
    modified: int
    """Nanoseconds since 1970."""


@dataclass(frozen=True, slots=True)
class CodeFile:
    """A parsed file at its path, relative to the folder that was indexed, with `/` between its steps."""

    path: str
    mark: Mark
    parsed: Parsed


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as a store gives it back; `index` is the key of its index, `mark` that of its file when it was read."""

    id: str
    index: str
    path: str
    language: str
    mark: Mark
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A line that uses a name, and the chunk around it."""

    index: str
    path: str
    line: int
    within: str
    """Qualified name of the innermost chunk there."""


@dataclass(frozen=True, slots=True)
class CodeFilter:
    """Which chunks may be found at all: those of these indexes, in these languages (empty: in all)."""

    indexes: tuple[str, ...]
    languages: tuple[str, ...] = ()


class IndexStatus(StrEnum):
    PENDING = "pending"
    INDEXING = "indexing"
    COMPLETED = "completed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class CodeIndex:
    """The index of one folder, how far it is, and who is at work on it.

    `holder` names the process that indexes, `beat` is its last sign of life: an index whose holder died is
    taken over by the next one.
    """

    project: Project
    user: str = ""
    status: IndexStatus = IndexStatus.PENDING
    total_files: int = 0
    indexed_files: int = 0
    total_chunks: int = 0
    embedded_chunks: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    """How many files were left out, by reason."""
    started: datetime | None = None
    completed: datetime | None = None
    error: str | None = None
    holder: str | None = None
    beat: datetime | None = None

    @property
    def key(self) -> str:
        """Whose index of which folder this is, in one string."""
        return index_key(self.project.id, self.user)


def index_key(project: str, user: str) -> str:
    return Place(Scope.PROJECT, user, project).owner
