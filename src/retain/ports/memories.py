"""Memories and the lanes that find them, and listings of all that passes a filter."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from retain.domain.graph import Tie
from retain.domain.listing import Card, Page, PastQuery, Row
from retain.domain.memory import HistoryEntry, Kind, Memory, MemoryId, Place, Scope, State, Stored, Vector
from retain.domain.recall import Corpus, Filter, Found


@dataclass(frozen=True, slots=True)
class Counts:
    """How much one user has stored, everywhere."""

    total: int
    by_scope: Mapping[str, int]
    by_kind: Mapping[str, int]
    by_state: Mapping[str, int]
    entities: int
    relations: int
    unembedded: int
    dimensions: int
    """How long the vectors are that memories have here; 0 while there are none."""
    code_chunks: int
    uncompared: int = 0
    """Active memories that nobody has held against what is near them yet."""


@dataclass(frozen=True, slots=True)
class Context:
    """A candidate as it was said: what scoring looks at, and its neighbours in the session as (distance, id, words).

    Words are the normalised terms of a text in one string: most are looked at only to see that a
    term is not in them.
    """

    memory: MemoryId
    text: str
    words: str
    neighbours: Sequence[tuple[int, MemoryId, str]]
    kind: Kind
    scope: Scope
    importance: float
    happened: datetime
    last_said: datetime
    consolidated: bool
    asleep: bool


class MemoryStore(Protocol):
    """Memories and the lanes that find them. Ids that are not there are left out, never an error."""

    def memories(self, ids: Sequence[MemoryId]) -> dict[MemoryId, Stored]: ...
    def twin(self, place: Place, fingerprint: str, *, states: Sequence[State] = (State.ACTIVE,)) -> Stored | None:
        """The memory with this text in one of the states: an active one, else the one that ended last."""
        ...

    def listed(self, wanted: Filter, limit: int, offset: int = 0) -> list[Stored]:
        """Newest first."""
        ...

    def total(self, wanted: Filter) -> int: ...
    def by_words(self, terms: Sequence[str], wanted: Filter, limit: int, *, counted: bool = False) -> Found:
        """BM25 over normalised terms; any of them may match. All that match are counted only when asked for.

        It comes with the `corpus` of the terms.
        """
        ...

    def by_vector(self, vector: Vector, model: str, wanted: Filter, limit: int) -> Found:
        """Cosine of the best chunk."""
        ...

    def contexts(
        self, ids: Sequence[MemoryId], wanted: Filter, reach: int, beside: Collection[MemoryId] = ()
    ) -> list[Context]:
        """Those of the memories that pass the filter, with what was said up to `reach` steps before and after.

        After them the direct neighbours of those that are named in `beside`, as far as they pass the filter too.
        """
        ...

    def corpus(self, terms: Sequence[str]) -> Corpus: ...
    def vectors(self, ids: Sequence[MemoryId], model: str) -> dict[MemoryId, list[Vector]]: ...
    def history(self, *ids: MemoryId) -> list[HistoryEntry]:
        """Of all the memories together, oldest first."""
        ...

    def unembedded(
        self, model: str, limit: int, *, by_others: bool, earlier: bool = False, user: str | None = None
    ) -> list[tuple[Memory, int]]:
        """Memories without (all of) their vectors by this model, each with the number of chunks it has.

        Those that another model has embedded are among them only when asked for, and so are those of an earlier file
        of the same model, which searches find meanwhile (`domain.model.earlier`).
        """
        ...

    def uncompared(self, limit: int, *, user: str | None = None) -> list[Memory]:
        """Active memories that nobody has held against what is near them yet, in the order in which they came."""
        ...

    def counts(self, user: str, model: str) -> Counts: ...


class ListingStore(Protocol):
    """All that passes a filter, whatever its number: pages, counts and matches that leave nothing out."""

    def page(self, wanted: Filter, limit: int, offset: int = 0, beyond: Row | None = None) -> Page[Card]:
        """Newest first, `offset` rows after the start or after the row `beyond`, which need not be there any more."""
        ...

    def cards(self, ids: Sequence[MemoryId]) -> dict[MemoryId, Card]: ...
    def near(self, vector: Vector, model: str, wanted: Filter, floor: float) -> dict[MemoryId, float]:
        """Every memory whose best chunk has at least this cosine."""
        ...

    def holding(self, terms: Sequence[str], wanted: Filter) -> set[MemoryId]:
        """Every memory that holds any of these normalised terms, or carries a tag that does."""
        ...

    def titled(self, place: Place, title: str) -> Stored | None:
        """The active memory with this title, whatever its case."""
        ...

    def titles(self, wanted: Filter) -> list[tuple[MemoryId, str]]:
        """Of memories that somebody gave a title, newest first."""
        ...

    def tags(self, wanted: Filter) -> dict[str, int]:
        """How many memories carry each tag."""
        ...

    def ties(self, memories: Sequence[MemoryId]) -> list[Tie]:
        """Those that begin or end at one of the memories."""
        ...

    def past_queries(self, project: str | None, user: str) -> list[PastQuery]: ...
    def note_query(self, query: PastQuery, project: str | None, user: str) -> None:
        """Counts a question that found something. Only the newest are kept. May be lost in a power cut."""
        ...
