"""The store as a whole."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from retain.domain.changes import Applied, Changes, Conflict
from retain.domain.connection import Connection
from retain.domain.memory import MemoryId
from retain.ports.code import CodeSearch, CodeStore
from retain.ports.graph import GraphStore, RelationStore
from retain.ports.memories import ListingStore, MemoryStore
from retain.ports.sessions import CaptureStore, SessionStore, WorkStore
from retain.ports.transfer import TransferStore
from retain.ports.trust import TrustStore
from retain.standing import Notice


@dataclass(frozen=True, slots=True)
class Emptied:
    """How much of one user was destroyed."""

    memories: int
    entities: int
    relations: int
    code_chunks: int


class Durable(Protocol):
    """The store as a whole: one atomic write, a change number to check caches by, and its upkeep."""

    def apply(self, changes: Changes) -> Applied | Conflict: ...
    def reading(self) -> AbstractContextManager[None]:
        """All that this thread reads within sees the store at one moment, as far as the database can hold one.

        SQLite can, and what is read then is one transaction. SurrealDB can for what one call reads, not across calls.
        What the thread itself writes within is not seen there either, so a plan that has to be made anew is read anew.
        """
        ...

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
        """What a status should tell of the store: where it lies, who may write to it, and what stands."""
        ...

    def standing(self) -> list[Notice]:
        """What every reply says until it is dealt with, such as a damaged file that was set aside; quick to ask."""
        ...

    def connection(self) -> Connection:
        """How the store stands with its database."""
        ...

    def close(self) -> None: ...


class Store(
    MemoryStore,
    ListingStore,
    GraphStore,
    RelationStore,
    SessionStore,
    WorkStore,
    TrustStore,
    CaptureStore,
    CodeStore,
    CodeSearch,
    TransferStore,
    Durable,
    Protocol,
):
    """Everything an engine asks of one store."""
