"""Recall by trust: what is like the question, weighed by how far each memory can be relied on."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from retain.domain.memory import Kind, MemoryId, State, Stored
from retain.domain.recall import Filter, Found, Warning
from retain.domain.session import Caller
from retain.domain.standing import Rival
from retain.domain.trust import RELIABILITY
from retain.domain.words import query_terms
from retain.engine.embed import query_vector
from retain.engine.knowledge.walk import unaddressed
from retain.engine.parts import Parts, places
from retain.engine.recall import signals
from retain.engine.recall.recall import Lanes, cosines, question_faults, timely
from retain.engine.trust.evidence import Known, weigh
from retain.engine.trust.rivals import standing
from retain.errors import Fault, InvalidInput, QueryTimeout

MOST = 50  # hits that may be asked for
NEAREST, TIMES = 50, 5  # candidates by meaning: trust may lift what is less alike far up
WORDED = 20  # and by words
BELOW = 0.999  # of the score of what leads is the most that its rival gets
WEAKER = 0.15  # by which a word may be less reliable and still replace another: a tool's, after the user's own
ASLEEP = 3  # dormant memories that are shown where few others answer


@dataclass(frozen=True, slots=True)
class TrustQuestion:
    text: str
    limit: int = 10
    kinds: tuple[Kind, ...] = ()
    min_confidence: float = 0.0


@dataclass(frozen=True, slots=True)
class Trusted:
    """A memory that was found: how like the question it is, in 0 to 1, and how far it can be trusted."""

    stored: Stored
    similarity: float
    known: Known
    ceiling: float = 1.0
    """Just below what contradicts it and was said later on as good a word, if that was found too."""

    @property
    def id(self) -> MemoryId:
        return self.stored.memory.id

    @property
    def score(self) -> float:
        return min(self.similarity * self.known.confidence.total, self.ceiling)


@dataclass(frozen=True, slots=True)
class TrustAnswer:
    """Hits best first, and how many of the candidates can be trusted as far as was asked.

    `dormant` are the best of those that sleep, where fewer than were asked for are awake.
    """

    hits: tuple[Trusted, ...]
    matched: int
    dormant: tuple[Trusted, ...] = ()
    warnings: tuple[Warning, ...] = ()


def recall_by_trust(parts: Parts, question: TrustQuestion, caller: Caller) -> TrustAnswer:
    """The memories with the highest similarity × confidence: an old or disputed one must be much more alike to lead.

    Similarity is the cosine; of what has no vector, and without a model of everything, the share of the question's
    words that it holds.
    """
    _check(question)
    lanes = Lanes()
    lanes.vector, warning = query_vector(parts.embedder, unaddressed(parts.store, question.text, caller))
    lanes.warnings += [warning] if warning else []
    wanted = Filter(places(caller), kinds=question.kinds)
    hits = _trusted(parts, question, lanes, wanted, caller)
    if lanes.late and not lanes.found():
        raise QueryTimeout("every search ran past its deadline; ask a shorter question")
    asleep: list[Trusted] = []
    if len(hits) < question.limit:
        asleep = _trusted(parts, question, lanes, replace(wanted, states=(State.DORMANT,)), caller)
    told = _standing(parts, hits[: question.limit], caller), len(hits), _standing(parts, asleep[:ASLEEP], caller)
    return TrustAnswer(*told, tuple(dict.fromkeys(lanes.warnings)))


def _standing(parts: Parts, found: Sequence[Trusted], caller: Caller) -> tuple[Trusted, ...]:
    stored = standing(parts.store, [each.stored for each in found], caller)
    return tuple(replace(each, stored=one) for each, one in zip(found, stored, strict=True))


def _check(question: TrustQuestion) -> None:
    faults = [*question_faults(question.text, question.limit), *_bounds(question)]
    if faults:
        raise InvalidInput(faults)


def _bounds(question: TrustQuestion) -> Iterator[Fault]:
    if question.limit > MOST:
        yield Fault("limit", str(question.limit), f"must be at most {MOST}; ask again more narrowly for the rest")
    if not (math.isfinite(question.min_confidence) and 0 <= question.min_confidence <= 1):
        yield Fault("min_confidence", str(question.min_confidence), "must be a number from 0 to 1; 0 lets all through")


def _trusted(parts: Parts, question: TrustQuestion, lanes: Lanes, wanted: Filter, caller: Caller) -> list[Trusted]:
    """Every candidate that can be trusted far enough, best first."""
    alike = _alike(parts, question, lanes, wanted)
    stored = parts.store.memories(list(alike))
    known = weigh(parts, list(stored.values()), caller)
    found = [Trusted(each, alike[id], known[id]) for id, each in stored.items()]
    enough = [each for each in found if each.known.confidence.total >= question.min_confidence]
    return sorted(_below_what_came_later(enough), key=lambda each: (-each.score, each.id))


def _below_what_came_later(found: Sequence[Trusted]) -> list[Trusted]:
    """Of two that cannot both be true the later one leads, unless it is a much weaker word."""
    placed: dict[MemoryId, Trusted] = {}
    for each in sorted(found, key=lambda each: each.stored.memory.last_said, reverse=True):
        above = [placed[rival.memory].score for rival in _as_reliable(each) if rival.memory in placed]
        placed[each.id] = replace(each, ceiling=BELOW * min(above)) if above else each
    return list(placed.values())


def _as_reliable(each: Trusted) -> list[Rival]:
    least = RELIABILITY[each.known.provenance] - WEAKER
    return [rival for rival in each.known.against if RELIABILITY[rival.provenance] >= least]


def _alike(parts: Parts, question: TrustQuestion, lanes: Lanes, wanted: Filter) -> dict[MemoryId, float]:
    """How like the question each candidate is, by meaning as far as that can be told."""
    store, model, most = parts.store, parts.embedder.model, max(NEAREST, TIMES * question.limit)
    lanes.meaning = Found()
    if vector := lanes.vector:
        lanes.meaning = timely(lanes, "vector", lambda: store.by_vector(vector, model, wanted, most), Found())
    asked = query_terms(question.text)
    worded = WORDED if lanes.vector else most
    lanes.words = timely(lanes, "keyword", lambda: store.by_words(asked, wanted, worded), Found())
    alike = dict(lanes.meaning.scores)
    others = [id for id in lanes.words.scores if id not in alike]
    if lanes.vector and others:
        alike |= cosines(store, lanes.vector, others, model)
    if unread := [id for id in others if id not in alike]:
        alike |= signals.words(store.contexts(unread, wanted, 0), asked, lanes.words.corpus or store.corpus(asked))
    return {id: min(max(similarity, 0.0), 1.0) for id, similarity in alike.items()}  # half precision may overshoot
