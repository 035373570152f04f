"""Suggestions: how a question that somebody began to type could go on, from what is stored and was asked before."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from retain.domain.graph import fold
from retain.domain.listing import MAX_QUERY
from retain.domain.memory import MemoryId
from retain.domain.recall import Filter
from retain.domain.session import Caller
from retain.domain.words import query_terms
from retain.engine.drafts import line_faults
from retain.engine.lookup.fitting import Typed
from retain.engine.parts import LASTING, Parts, owners, places
from retain.errors import Fault, InvalidInput, shorten
from retain.ports import Store

MOST = 100
BY_TAG = 0.7
_NOUNS = {
    "architecture": "architecture",
    "code": "a piece of code",
    "context": "context",
    "decision": "a decision",
    "documentation": "documentation",
    "error_solution": "an error solution",
    "gotcha": "a gotcha",
    "pattern": "a pattern",
    "preference": "a preference",
    "progress": "progress",
}


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A question that could be asked, what it is, and how much stands behind it."""

    query: str
    reason: str
    confidence: float


class _Source(StrEnum):
    ASKED = "asked"
    TAG = "tag"
    ENTITY = "entity"
    TITLE = "title"


@dataclass(frozen=True, slots=True)
class _Candidate:
    """`behind` is how many memories, or times asked, stand behind it; `found` is of a question, `memory` of a title."""

    source: _Source
    query: str
    fit: float
    behind: int
    found: int = 0
    memory: MemoryId = ""

    @property
    def confidence(self) -> float:
        return round(self.fit * (self.behind + 1) / (self.behind + 2), 2)

    @property
    def order(self) -> tuple[float, int, str]:
        return -self.confidence, len(self.query), fold(self.query)


@dataclass(frozen=True, slots=True)
class _Search:
    store: Store
    typed: Typed
    wanted: Filter
    caller: Caller


def suggest(parts: Parts, partial: str, limit: int, caller: Caller) -> list[Suggestion]:
    """Past questions of this project, tags, titles and names that go on where `partial` stops, best first.

    Its confidence is fit × (n + 1) / (n + 2). Fit is 1.0 where it begins with what was typed, 0.9 where a later
    word does, and 0.7 for the title of a memory whose tag fits. n is how many memories carry or name it, or how
    often it was asked: it says how much stands behind a suggestion, and not that a search for it will reach any
    threshold. What fits nothing gives an empty list.
    """
    faults = list(_faults(partial, limit))
    if faults:
        raise InvalidInput(faults)
    wanted = Filter(places(caller, LASTING))
    search = _Search(parts.store, Typed(partial), wanted, caller)
    told: dict[str, Suggestion] = {}
    for candidate in sorted(_candidates(search), key=lambda candidate: candidate.order):
        if len(told) == limit:
            break
        if fold(candidate.query) not in told and (reason := _reason(search, candidate)):
            told[fold(candidate.query)] = Suggestion(candidate.query, reason, candidate.confidence)
    return list(told.values())


def _faults(partial: str, limit: int) -> Iterator[Fault]:
    if not partial.strip():
        yield Fault("partial_query", shorten(partial), "is empty; give the first letters of a question")
    yield from line_faults(partial, "partial_query", MAX_QUERY)
    if not 1 <= limit <= MOST:
        yield Fault("limit", str(limit), f"must be from 1 to {MOST}")


def _candidates(search: _Search) -> Iterator[_Candidate]:
    yield from _questions(search)
    yield from _named(search)
    tags = [
        _Candidate(_Source.TAG, tag, fit, behind)
        for tag, behind in search.store.tags(search.wanted).items()
        if (fit := search.typed.fit(tag))
    ]
    yield from tags
    yield from _titles(search)
    if tags:
        yield from _titles_by_tag(search, tuple(tag.query for tag in tags))


def _questions(search: _Search) -> Iterator[_Candidate]:
    project = search.caller.project.id if search.caller.project else None
    for past in search.store.past_queries(project, search.caller.user):
        if past.found and (fit := search.typed.fit(past.text)):
            yield _Candidate(_Source.ASKED, past.text, fit, past.times, found=past.found)


def _named(search: _Search) -> Iterator[_Candidate]:
    mine = owners(search.caller)
    fits = {name: fit for name in search.store.entity_names(mine) if (fit := search.typed.fit(name))}
    entities = search.store.entities_named(list(fits), mine) if fits else []
    counts = search.store.link_counts([entity.id for entity in entities], search.wanted) if entities else {}
    for entity in entities:
        if counts.get(entity.id):
            fit = search.typed.fit(entity.name)
            yield _Candidate(_Source.ENTITY, entity.name, fit, counts[entity.id])


def _titles(search: _Search) -> Iterator[_Candidate]:
    titles = search.store.titles(search.wanted)
    fits = {id: fit for id, title in titles if (fit := search.typed.fit(title))}
    behind = Counter(fold(title) for id, title in titles if id in fits)
    for id, title in titles:
        if id in fits:
            yield _Candidate(_Source.TITLE, title, fits[id], behind[fold(title)], memory=id)


def _titles_by_tag(search: _Search, tags: tuple[str, ...]) -> Iterator[_Candidate]:
    for id, title in search.store.titles(replace(search.wanted, tags=tags)):
        yield _Candidate(_Source.TITLE, title, BY_TAG, 1, memory=id)


def _reason(search: _Search, candidate: _Candidate) -> str | None:
    """What a candidate is, in words; None for a question of which no memory holds a word any more."""
    match candidate.source:
        case _Source.ASKED:
            if not search.store.by_words(query_terms(candidate.query), search.wanted, 1).scores:
                return None
            asked = "once" if candidate.behind == 1 else f"{candidate.behind} times"
            return f"Asked {asked}, found {candidate.found} the last time"
        case _Source.TAG:
            return f"Tag carried by {_memories(candidate.behind)}"
        case _Source.ENTITY:
            return f"Named in {_memories(candidate.behind)}"
        case _Source.TITLE:
            return _reason_of_title(search, candidate)


def _reason_of_title(search: _Search, candidate: _Candidate) -> str | None:
    card = search.store.cards([candidate.memory]).get(candidate.memory)
    if card is None:  # destroyed since it was listed
        return None
    one = _NOUNS.get(card.type, f"a memory of type {card.type}")
    of = one if candidate.behind == 1 else _memories(candidate.behind)
    if candidate.fit != BY_TAG:
        return f"Title of {of}"
    tag = next((tag for tag in card.tags if search.typed.fit(tag)), None)
    return f"Title of {of} tagged {tag}" if tag else None


def _memories(count: int) -> str:
    return "1 memory" if count == 1 else f"{count:,} memories"
