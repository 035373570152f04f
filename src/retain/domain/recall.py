"""Recall: what is asked for, what a lane found, and why a hit ranks where it does."""

from collections.abc import Hashable, Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from retain.domain.memory import Kind, MemoryId, Place, Scope, State, Stored


class Strategy(StrEnum):
    VECTOR = "vector"
    KEYWORD = "keyword"
    HYBRID = "hybrid"
    GRAPH = "graph"


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories may be found at all. Applied inside every lane, never after a top-k."""

    places: tuple[Place, ...]
    kinds: tuple[Kind, ...] = ()
    categories: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    """Categories as they are shown: a memory without one counts as what its kind stands for."""
    tags: tuple[str, ...] = ()
    min_length: int = 0
    after: datetime | None = None
    before: datetime | None = None
    min_importance: float = 0.0
    states: tuple[State, ...] = (State.ACTIVE,)
    session: str | None = None
    valid_at: datetime | None = None
    stored_by: datetime | None = None
    """Only what was stored at that moment already."""

    @property
    def place_keys(self) -> tuple[str, ...]:
        return tuple(place.key for place in self.places)


@dataclass(frozen=True, slots=True)
class Corpus:
    """What BM25 needs to know of all texts: how many, how long, and how many hold each term."""

    documents: int
    average_length: float
    holding: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Found:
    """What one lane found: the best with their scores, best first, and a key for everything that it matched.

    Keys say nothing but whether two lanes of one store mean the same memory. A lane over very many
    memories stops looking; then what it matched is not `exact`. A lane of words also tells of the `corpus`
    what it had to know of the terms.
    """

    scores: Mapping[MemoryId, float] = field(default_factory=dict)
    keys: Set[Hashable] = frozenset()
    exact: bool = True
    corpus: Corpus | None = None

    @property
    def matched(self) -> int:
        return len(self.keys)

    def __len__(self) -> int:
        return len(self.scores)


@dataclass(frozen=True, slots=True)
class Warning:
    """A caveat on a result that is otherwise good."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that was found, its final score, and every term of that score by name."""

    stored: Stored
    score: float
    relevance: float
    terms: Mapping[str, float] = field(default_factory=dict)

    @property
    def id(self) -> MemoryId:
        return self.stored.memory.id


@dataclass(frozen=True, slots=True)
class Recalled:
    """The answer to a question: hits best first, how many matched in all, and what was missing."""

    hits: tuple[Hit, ...]
    matched: int
    strategy: Strategy
    warnings: tuple[Warning, ...] = ()
    exact: bool = True
    """Whether `matched` counts all; else there are more."""


# Across scopes, what was said in this conversation is the likeliest to be meant.
SCOPE_WEIGHT = {Scope.SESSION: 1.5, Scope.PROJECT: 1.0, Scope.USER: 0.7}

# All that any list or search shows: what was pruned is there only to be brought back.
SHOWN = tuple(state for state in State if state is not State.PRUNED)
# All but what somebody wanted out of sight.
KEPT = tuple(state for state in SHOWN if state is not State.FORGOTTEN)
# What sleeps is found as well: whoever asks in so many words has not forgotten it.
FINDABLE = (State.ACTIVE, State.DORMANT)

# Below this a vector hit is no hit: unrelated sentences of one project often reach 0.2.
MIN_COSINE = 0.25
