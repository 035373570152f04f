"""Explained search: everything that matches a question, counted by facets, the best of it with reasons."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from heapq import nsmallest
from typing import Any

from retain.domain.category import CATEGORIES
from retain.domain.graph import fold
from retain.domain.listing import Card
from retain.domain.memory import MemoryId, Stored
from retain.domain.recall import FINDABLE, Filter, Warning
from retain.domain.session import Caller
from retain.domain.words import query_terms
from retain.engine.drafts import label_faults, labels
from retain.engine.embed import query_vector
from retain.engine.knowledge.walk import unaddressed
from retain.engine.lookup.candidates import Question, candidates
from retain.engine.lookup.explaining import PLACES, Asking, Explanation, Likeness, asking, breakdown, explain, relevance
from retain.engine.lookup.facets import Facets, facets
from retain.engine.parts import LASTING, Parts, places
from retain.engine.recall import signals
from retain.engine.recall.cosines import cosines
from retain.engine.recall.recall import question_faults
from retain.engine.trust.order import newest_first
from retain.engine.trust.rivals import with_standings
from retain.errors import Fault, InvalidInput, shorten
from retain.ports import Corpus

# Matches whose words are compared one by one: the most similar, and those that hold the rarest words of the question,
# which meaning alone may overlook. The others rank below them by similarity alone.
JUDGED = 500
HOLDERS = 200
NEWER = "Newer than something like it that it contradicts or takes the place of"
OLDER = "Something newer contradicts it or has taken its place"


class SortField(StrEnum):
    RELEVANCE = "relevance"
    SIMILARITY = "similarity"
    TITLE = "title"
    TYPE = "type"
    CREATED = "created_at"
    UPDATED = "updated_at"


@dataclass(frozen=True, slots=True)
class Sort:
    """Without a direction: the best and the newest first, titles and types from A on."""

    field: SortField = SortField.RELEVANCE
    descending: bool | None = None

    @property
    def falls(self) -> bool:
        return self.field not in (SortField.TITLE, SortField.TYPE) if self.descending is None else self.descending


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for. A tag, or a type, is enough of several; the threshold is a cosine."""

    text: str
    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    min_length: int = 0
    threshold: float = 0.5
    limit: int = 10
    sort: Sort = Sort()


@dataclass(frozen=True, slots=True)
class Match:
    stored: Stored
    similarity: float
    relevance: float
    why: Explanation

    @property
    def id(self) -> MemoryId:
        return self.stored.memory.id


@dataclass(frozen=True, slots=True)
class Matches:
    """The best matches in the order asked for; the total and the facets count all there are.

    `by_words` when there was no model: then the threshold was not applied, and a similarity is a share of words.
    """

    hits: tuple[Match, ...]
    total: int
    facets: Facets
    warnings: tuple[Warning, ...] = ()
    by_words: bool = False


@dataclass(slots=True)
class _Ranking:
    """All that matched, and what was found out about the best of it."""

    corpus: Corpus
    asked: Asking
    wanted: Filter
    now: datetime
    likeness: dict[MemoryId, Likeness]
    cards: dict[MemoryId, Card]
    breakdowns: dict[MemoryId, dict[str, float]] = field(default_factory=dict)


def search(parts: Parts, asked: Search, caller: Caller) -> Matches:
    """What a project and its user know about a question."""
    if faults := search_faults(asked):
        raise InvalidInput(faults)
    corpus = parts.store.corpus(query_terms(asked.text))
    wanted = _filter(asked, caller)
    question = Question(asked.text, asking(asked.text, corpus), asked.threshold, wanted)
    matching = candidates(parts, question, caller)
    cards = parts.store.cards(list(matching.found))
    ranking = _Ranking(corpus, question.asked, wanted, parts.clock.now(), dict(matching.found), cards)
    hits = _explained(ranking, with_standings(parts.store, _best(parts, ranking, asked), caller))
    if asked.sort.field is SortField.RELEVANCE:
        hits = _newest_first(parts, ranking, asked, hits, caller)[: asked.limit]
    every = list(ranking.cards.values())
    return Matches(tuple(hits), len(every), facets(every), matching.warnings, matching.by_words)


def search_faults(asked: Search) -> list[Fault]:
    """What is wrong with a search, whatever it is to look through."""
    return [*question_faults(asked.text, asked.limit), *_filter_faults(asked)]


def _filter_faults(asked: Search) -> Iterator[Fault]:
    if not (math.isfinite(asked.threshold) and 0 <= asked.threshold <= 1):
        yield Fault("threshold", str(asked.threshold), "must be between 0.0 and 1.0")
    for place, type in enumerate(asked.types):
        if type not in CATEGORIES:
            yield Fault(f"types[{place}]", shorten(type), f"must be one of: {', '.join(CATEGORIES)}")
    yield from label_faults(asked.tags, "tags")
    if asked.min_length < 0:
        yield Fault("min_length", str(asked.min_length), "must be at least 0")


def _filter(asked: Search, caller: Caller) -> Filter:
    seen = places(caller, LASTING)
    labelled = labels(asked.tags)
    return Filter(seen, types=asked.types, tags=labelled, min_length=asked.min_length, states=FINDABLE)


def _best(parts: Parts, ranking: _Ranking, asked: Search) -> list[MemoryId]:
    """The first ones in the order asked for; each of them is judged whole, wherever it stood before."""
    likeliest = nsmallest(JUDGED, ranking.cards, key=lambda id: (-ranking.likeness[id].similarity, id))
    _judge(parts, ranking, list(dict.fromkeys([*likeliest, *_telling(parts, ranking)])))
    first = _sorted(ranking, ranking.cards, asked.sort)[: asked.limit]
    _judge(parts, ranking, [id for id in first if id not in ranking.breakdowns])
    return _sorted(ranking, first, asked.sort)


def _telling(parts: Parts, ranking: _Ranking) -> list[MemoryId]:
    """Matches that hold the rarest words of the question, as long as not too many hold one."""
    found: dict[MemoryId, None] = {}
    if len(ranking.cards) > JUDGED:
        for term, _ in sorted(ranking.asked.rarity.items(), key=lambda rare: (-rare[1], rare[0])):
            holders = parts.store.holding([term], ranking.wanted) & ranking.cards.keys()
            if len(found.keys() | holders) > HOLDERS:
                break
            found |= dict.fromkeys(sorted(holders))
    return list(found)


def _judge(parts: Parts, ranking: _Ranking, ids: Sequence[MemoryId]) -> None:
    asked, now = ranking.asked, ranking.now
    contexts = parts.store.contexts(ids, ranking.wanted, 0) if ids else []
    spoken = signals.words(contexts, list(asked.rarity), ranking.corpus)
    for id in ids:
        scored = breakdown(asked, ranking.cards[id], ranking.likeness[id], spoken.get(id, 0.0), now)
        ranking.breakdowns[id] = scored


def _sorted(ranking: _Ranking, ids: Iterable[MemoryId], sort: Sort) -> list[MemoryId]:
    """What ties stands in the order of ids, whichever way the rest is sorted."""
    return sorted(sorted(ids), key=lambda id: _key(ranking, id, sort.field), reverse=sort.falls)


def _key(ranking: _Ranking, id: MemoryId, field: SortField) -> Any:  # any: fields of one sort compare
    card = ranking.cards[id]
    match field:
        case SortField.RELEVANCE:
            judged = ranking.breakdowns.get(id)
            return (True, relevance(judged)) if judged else (False, ranking.likeness[id].similarity)
        case SortField.SIMILARITY:
            return ranking.likeness[id].similarity
        case SortField.TITLE:
            return fold(card.heading)
        case SortField.TYPE:
            return card.type
        case SortField.CREATED:
            return card.created
        case SortField.UPDATED:
            return card.updated


def _newest_first(parts: Parts, ranking: _Ranking, asked: Search, hits: Sequence[Match], caller: Caller) -> list[Match]:
    """What holds now above what it contradicts or took the place of. What comes along with that matches, too."""
    scores = {hit.id: (hit.stored, hit.relevance) for hit in hits}
    placed = newest_first(parts, scores, ranking.wanted, caller)
    along = {id: each.stored for id, each in placed.items() if each.led}
    _add(parts, ranking, asked, [id for id in along if id not in ranking.breakdowns], caller)
    every = (*hits, *_explained(ranking, along))
    # In the order in which they were placed: of what is rounded to the same score the newer is first.
    moved = sorted((_moved(hit, placed[hit.id].score) for hit in every), key=lambda hit: list(placed).index(hit.id))
    return sorted(moved, key=lambda hit: hit.relevance, reverse=asked.sort.falls)


def _add(parts: Parts, ranking: _Ranking, asked: Search, ids: Sequence[MemoryId], caller: Caller) -> None:
    """Judges what did not match by itself, or was not among the best."""
    if ids:
        vector, _ = query_vector(parts.embedder, unaddressed(parts.store, asked.text, caller))
        near = cosines(parts.store, vector, ids, parts.embedder.model) if vector else {}
        ranking.likeness.update({id: Likeness(near.get(id, 0.0)) for id in ids if id not in ranking.likeness})
        ranking.cards.update(parts.store.cards(ids))
        _judge(parts, ranking, ids)


def _moved(hit: Match, score: float) -> Match:
    by = round(score - hit.relevance, PLACES)
    if not by:
        return hit
    breakdown = {**hit.why.breakdown, "newest_first": by}
    why = replace(hit.why, breakdown=breakdown, reasons=(*hit.why.reasons, NEWER if by > 0 else OLDER))
    return replace(hit, relevance=relevance(breakdown), why=why)


def _explained(ranking: _Ranking, found: Mapping[MemoryId, Stored]) -> list[Match]:
    hits = []
    for id, stored in found.items():
        scored, likeness = ranking.breakdowns[id], ranking.likeness[id]
        why = explain(ranking.asked, stored.memory, scored, likeness, ranking.now)
        hits.append(Match(stored, round(likeness.similarity, PLACES), relevance(scored), why))
    return hits
