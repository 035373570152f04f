"""What bears on how far memories can be trusted: contradictions, ties, and what crowds them."""

from collections.abc import Sequence
from typing import Protocol

from retain.domain.changes import Contradiction, ContradictionState
from retain.domain.memory import MemoryId, Place, Stored
from retain.domain.recall import Filter


class TrustStore(Protocol):
    def contradictions(self, memories: Sequence[MemoryId]) -> list[Contradiction]:
        """Those to which any of the memories is a party, oldest first."""
        ...

    def with_contradictions(self, ids: Sequence[MemoryId]) -> tuple[dict[MemoryId, Stored], list[Contradiction]]:
        """The memories, as `memories` gives them, and their contradictions, read at once."""
        ...

    def contradiction(self, id: str) -> Contradiction | None: ...
    def disputes(
        self, places: Sequence[Place], states: Sequence[ContradictionState], limit: int, offset: int = 0
    ) -> tuple[list[Contradiction], int]:
        """Newest first, between memories in these places, and how many there are."""
        ...

    def crowding(
        self, ids: Sequence[MemoryId], model: str, wanted: Filter, floor: float
    ) -> dict[MemoryId, list[MemoryId]]:
        """For each memory that has vectors, those that happened later with at least this cosine.

        Only what passes the filter and was not made from it. Very few may be missed.
        """
        ...

    def tied(self, types: Sequence[str], places: Sequence[Place]) -> int:
        """How many ties of these types there are between memories in these places."""
        ...
