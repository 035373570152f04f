"""Recall by trust: what is like the question, weighed by how far each memory can be relied on."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from retain.domain.memory import Kind, MemoryId, State, Stored
from retain.domain.recall import Filter, Found, Warning
from retain.domain.session import Caller
from retain.domain.standing import Standing
from retain.domain.words import query_terms
from retain.engine.embed import query_vector
from retain.engine.knowledge.walk import unaddressed
from retain.engine.parts import Parts, places
from retain.engine.recall import signals
from retain.engine.recall.cosines import cosines
from retain.engine.recall.recall import Lanes, question_faults, timely
from retain.engine.trust.evidence import Known, weigh
from retain.engine.trust.order import newest_first
from retain.engine.trust.rivals import with_standings
from retain.errors import Fault, InvalidInput, QueryTimeout

MOST = 50  # hits that may be asked for
NEAREST, TIMES = 50, 5  # candidates by meaning: trust may lift what is less alike far up
WORDED = 20  # and by words
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
    score: float
    """Similarity × confidence, unless what it contradicts, or what contradicts it, has moved it."""

    @property
    def id(self) -> MemoryId:
        return self.stored.memory.id


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
    shown = tuple(hits[: question.limit]), len(hits), tuple(asleep[:ASLEEP])
    return TrustAnswer(*shown, tuple(dict.fromkeys(lanes.warnings)))


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
    found = _weighed(parts, alike, with_standings(parts.store, sorted(alike), caller), caller)
    enough = [each for each in found if each.known.confidence.total >= question.min_confidence]
    placed = newest_first(parts, {each.id: (_denied(each), each.score) for each in enough}, wanted, caller)
    along = {id: each.stored for id, each in placed.items() if each.led}
    near = cosines(parts.store, lanes.vector, list(along), parts.embedder.model) if lanes.vector and along else {}
    beside = _weighed(parts, {id: near.get(id, 0.0) for id in along}, along, caller)
    enough += [each for each in beside if each.known.confidence.total >= question.min_confidence]
    known = {each.id: each for each in enough}
    in_order = [replace(known[id], score=each.score) for id, each in placed.items() if id in known]
    return sorted(in_order, key=lambda each: -each.score)


def _weighed(
    parts: Parts, alike: Mapping[MemoryId, float], stored: Mapping[MemoryId, Stored], caller: Caller
) -> list[Trusted]:
    known = weigh(parts, list(stored.values()), caller)
    return [Trusted(each, alike[id], known[id], alike[id] * known[id].confidence.total) for id, each in stored.items()]


def _denied(each: Trusted) -> Stored:
    """The memory with all that contradicts it: what is denied in one wording is denied in all."""
    stands = each.stored.standing or Standing()
    return replace(each.stored, standing=replace(stands, rivals=(*stands.rivals, *each.known.against)))


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
