"""Moving a whole memory from one store to another, and following what changes in one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from retain.domain.changes import Contradiction, Run
from retain.domain.conversation import Cursor
from retain.domain.graph import Entity, Relation, Tie
from retain.domain.memory import MemoryId
from retain.domain.session import Profile, Project
from retain.domain.transfer import Asked, Change, Destroyed, KeptSession, Served, Sort, Whole
from retain.domain.work import Work

Record = (
    Destroyed
    | Project
    | Profile
    | KeptSession
    | Work
    | Entity
    | Whole
    | Relation
    | Tie
    | Contradiction
    | Run
    | Cursor
    | Asked
    | Served
)


@dataclass(frozen=True, slots=True)
class Portion:
    """Some records of one sort, and the mark to go on from; None when these were the last."""

    records: Sequence[Record]
    mark: str | None


class TransferStore(Protocol):
    """All that a store holds but code, which is made anew from its files. Written by `apply`, as `Changes.restored`."""

    def life(self) -> str:
        """Another one for each database, and after each restored backup: between two, change numbers say nothing."""
        ...

    def records(self, sort: Sort, after: str | None, limit: int) -> Portion:
        """At most `limit` records in a fixed order, from a mark on, or from the first.

        Memories come in the order in which they were made. What is written meanwhile may be missed.
        """
        ...

    def wholes(self, ids: Sequence[MemoryId]) -> list[Whole]:
        """Memories with all that goes with them, in the order in which they were made."""
        ...

    def changed(self, after: int, limit: int, user: str | None = None) -> list[Change]:
        """Memories that were saved or destroyed after a change number, in that order, of one user if one is given.

        What one change wrote is never divided, so there may be more than `limit` of them. A memory stands at its
        last change. Destroyed ones may be anybody's: a store need not know whose they were.
        """
        ...
