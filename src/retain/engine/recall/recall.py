"""Recall: lanes find candidates, signals tell how well each fits, and the best come back explained."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Protocol, TypeVar

from retain.domain.memory import Kind, MemoryId, Scope, State, Vector
from retain.domain.recall import FINDABLE, KEPT, SHOWN, Filter, Found, Hit, Recalled, Strategy, Warning
from retain.domain.session import Caller
from retain.domain.words import query_terms, terms
from retain.engine.drafts import string_faults
from retain.engine.embed import query_vector
from retain.engine.knowledge.walk import proximity, unaddressed
from retain.engine.parts import Parts, places
from retain.engine.recall import signals
from retain.engine.recall.scoring import broadest, relevance, scored
from retain.engine.trust.rivals import with_standings
from retain.errors import EmbeddingFailed, Fault, InvalidInput, QueryTimeout, shorten
from retain.ports import Context, Store

LANE = 30  # candidates from each lane
ADMIT = 10  # the best of each lane bring their direct neighbours along
BESIDE = 0.2  # relevance that a neighbour needs which no lane found itself; unrelated memories reach 0.15
SPARE = 5  # more than asked for are read whole: summaries may change places with what they were made from
MAX_QUESTION = 10_000
MEANT = 0.5  # relevance from which on a dormant memory is what was asked for
ASLEEP = 0.5  # of its score is what a dormant memory keeps


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and which memories may answer."""

    text: str
    scopes: tuple[Scope, ...] = ()
    kinds: tuple[Kind, ...] = ()
    strategy: Strategy = Strategy.HYBRID
    limit: int = 10
    min_importance: float = 0.0
    tags: tuple[str, ...] = ()
    after: datetime | None = None
    before: datetime | None = None
    include_forgotten: bool = False
    as_of: datetime | None = None
    """When it must have been true; then what was invalidated since is found too."""


@dataclass(slots=True)
class Lanes:
    """What the lanes found, and what one of them could not do."""

    vector: Vector | None = None
    meaning: Found = field(default_factory=Found)
    words: Found = field(default_factory=Found)
    graph: Found = field(default_factory=Found)
    warnings: list[Warning] = field(default_factory=list)
    late: int = 0

    def found(self) -> list[Found]:
        return [lane for lane in (self.meaning, self.words, self.graph) if len(lane)]


class Hearing:
    """The meaning of a question, worked out when it is first needed and once, though several searches may ask it."""

    def __init__(self, parts: Parts, text: str, caller: Caller) -> None:
        self.text = text
        self._parts, self._caller = parts, caller

    @cached_property
    def vector(self) -> tuple[Vector | None, Warning | None]:
        """Or why there is none."""
        return query_vector(self._parts.embedder, unaddressed(self._parts.store, self.text, self._caller))


def recall(parts: Parts, question: Question, caller: Caller, hearing: Hearing | None = None) -> Recalled:
    """The memories that answer a question best. Filters hold inside every lane.

    Who asks the same in several places hands on one `hearing` of it.
    """
    _check(question)
    wanted = _filter(question, caller)
    if not wanted.places:
        return Recalled((), 0, question.strategy)
    lanes = _search(parts, question, wanted, caller, hearing or Hearing(parts, question.text, caller))
    if lanes.late and not lanes.found():
        raise QueryTimeout("every search ran past its deadline; ask a shorter question or narrow it with filters")
    named = {id for lane in lanes.found() for id in lane.scores}
    ranked = _rank(parts, question, lanes, wanted, caller)
    hits = [hit for hit in ranked if hit.id in named or hit.relevance >= BESIDE]
    matched = frozenset[Hashable]().union(*(lane.keys for lane in lanes.found()))
    total = len(matched) + sum(hit.id not in named for hit in hits)
    exact = all(lane.exact for lane in lanes.found())
    return Recalled(tuple(hits[: question.limit]), total, question.strategy, tuple(lanes.warnings), exact)


def _check(question: Question) -> None:
    faults = list(question_faults(question.text, question.limit))
    if question.after and question.before and question.after > question.before:
        faults.append(Fault("time_range", "", "`after` is later than `before`; nothing could match"))
    if faults:
        raise InvalidInput(faults)


def question_faults(text: str, limit: int) -> Iterator[Fault]:
    """What is wrong with a question, whatever it is put to."""
    yield from string_faults(text, "query")
    if not text.strip():
        yield Fault("query", shorten(text), "is empty; say in plain words what you want to know")
    if len(text) > MAX_QUESTION:
        yield Fault("query", f"{len(text):,} characters", f"longer than {MAX_QUESTION:,} characters")
    if limit < 1:
        yield Fault("limit", str(limit), "must be at least 1")


def _filter(question: Question, caller: Caller) -> Filter:
    return Filter(
        places=places(caller, question.scopes),
        kinds=question.kinds,
        tags=question.tags,
        after=question.after,
        before=question.before,
        min_importance=question.min_importance,
        states=_states(question),
        valid_at=question.as_of,
    )


def _states(question: Question) -> tuple[State, ...]:
    if question.include_forgotten:
        return SHOWN
    return FINDABLE if question.as_of is None else KEPT


def _search(parts: Parts, question: Question, wanted: Filter, caller: Caller, hearing: Hearing) -> Lanes:
    """Runs the lanes that the strategy names; one that is late leaves the answer to the others."""
    lanes = Lanes()
    store, most = parts.store, max(LANE, question.limit)
    if question.strategy in (Strategy.VECTOR, Strategy.HYBRID):
        lanes.vector, warning = hearing.vector
        lanes.warnings += [warning] if warning else []
    vector = lanes.vector
    if vector:
        model = parts.embedder.model
        lanes.meaning = timely(lanes, "vector", lambda: store.by_vector(vector, model, wanted, most), Found())
    keyword = question.strategy in (Strategy.KEYWORD, Strategy.HYBRID)
    if keyword or (question.strategy is Strategy.VECTOR and not vector):
        asked = query_terms(question.text)
        lanes.words = timely(lanes, "keyword", lambda: store.by_words(asked, wanted, most, counted=True), Found())
    if question.strategy is Strategy.GRAPH:
        lanes.graph = timely(lanes, "graph", lambda: proximity(store, question.text, wanted, caller), Found())
    return lanes


class Searching(Protocol):
    """What several searches of one question have come to."""

    vector: Vector | None
    warnings: list[Warning]
    late: int


F = TypeVar("F")


def timely(lanes: Searching, name: str, search: Callable[[], F], nothing: F) -> F:
    """What a lane finds; nothing, with a warning, when it is late or its vectors cannot be compared."""
    try:
        return search()
    except QueryTimeout:
        lanes.late += 1
        lanes.warnings.append(Warning("query_timeout", f"the {name} search ran past its deadline; results are partial"))
    except EmbeddingFailed as error:
        lanes.vector = None
        lanes.warnings.append(Warning("partial_results", f"Vector search unavailable ({error.message})"))
    return nothing


def _rank(parts: Parts, question: Question, lanes: Lanes, wanted: Filter, caller: Caller) -> list[Hit]:
    """Scores every candidate, then reads the best ones whole."""
    contexts = _contexts(parts.store, question, lanes, wanted)
    asked = query_terms(question.text)
    meaning = _meaning(parts, lanes, [context.memory for context in contexts])
    by_words = question.strategy is not Strategy.VECTOR or lanes.vector is None
    spoken = signals.words(contexts, asked, lanes.words.corpus or parts.store.corpus(asked)) if by_words else {}
    named, pairs = frozenset(terms(question.text)), signals.pairs(question.text)
    now, widest = parts.clock.now(), broadest(contexts)
    scores = []
    for context in contexts:
        found = _signals(question.strategy, context.memory, lanes, meaning, spoken)
        if question.strategy is Strategy.HYBRID:
            found["subject"] = signals.subject(context.text, named)
            found["phrase"] = signals.phrase(context.words, pairs)
            found["asking"] = signals.asking(context.text)
        scores.append(scored(context, relevance(found), widest, now))
    best = sorted(scores, key=lambda score: (-score.total, score.memory))[: question.limit + SPARE]
    memories = with_standings(parts.store, [score.memory for score in best], caller)
    hits = [Hit(memories[s.memory], s.total, s.relevance, s.terms) for s in best if s.memory in memories]
    return sorted(_below_the_awake(_below_summaries(hits)), key=lambda hit: -hit.score)


def _contexts(store: Store, question: Question, lanes: Lanes, wanted: Filter) -> list[Context]:
    """Of the candidates, and of the direct neighbours of each lane's best: an answer often stands next to the words
    of the question."""
    best = {id for lane in lanes.found() for id in list(lane.scores)[:ADMIT]}
    beside = best if question.strategy is Strategy.HYBRID else ()
    return store.contexts(_candidates(lanes, question.limit), wanted, signals.REACH, beside)


def _signals(
    strategy: Strategy, id: MemoryId, lanes: Lanes, meaning: dict[MemoryId, float], spoken: dict[MemoryId, float]
) -> dict[str, float]:
    if strategy is Strategy.GRAPH:
        return {"graph": lanes.graph.scores.get(id, 0.0)}
    found = {"meaning": meaning.get(id, 0.0)} if lanes.vector else {}
    return found if strategy is Strategy.VECTOR and lanes.vector else found | {"words": spoken.get(id, 0.0)}


def _candidates(lanes: Lanes, limit: int) -> list[MemoryId]:
    most = max(LANE, limit)
    return list(dict.fromkeys(id for lane in lanes.found() for id in list(lane.scores)[:most]))


def _meaning(parts: Parts, lanes: Lanes, ids: Sequence[MemoryId]) -> dict[MemoryId, float]:
    """Cosine of every candidate, also of those that another lane found."""
    known = {id: max(cosine, 0.0) for id, cosine in lanes.meaning.scores.items()}
    others = [id for id in ids if id not in known]
    if lanes.vector is None or not others:
        return known
    return known | cosines(parts.store, lanes.vector, others, parts.embedder.model)


def cosines(store: Store, vector: Vector, ids: Sequence[MemoryId], model: str) -> dict[MemoryId, float]:
    """Cosine of the best chunk of each memory that has vectors, at least 0."""
    import numpy as np

    found = [(id, chunk) for id, chunks in store.vectors(ids, model).items() for chunk in chunks]
    if not found:
        return {}
    matrix = np.frombuffer(b"".join(chunk for _, chunk in found), dtype="<f4").reshape(len(found), -1)
    best: dict[MemoryId, float] = {}
    for (id, _), cosine in zip(found, (matrix @ np.frombuffer(vector, dtype="<f4")).tolist(), strict=True):
        best[id] = max(cosine, best.get(id, 0.0))
    return best


def _below_summaries(hits: Sequence[Hit]) -> list[Hit]:
    """What a summary was made from stays findable, below it."""
    ceiling: dict[MemoryId, float] = {}
    for hit in hits:
        for source in hit.stored.memory.derived_from:
            ceiling[source] = min(ceiling.get(source, hit.score), hit.score)
    return [
        replace(hit, score=min(hit.score, 0.999 * ceiling[hit.id]))
        if hit.stored.memory.consolidated and hit.id in ceiling
        else hit
        for hit in hits
    ]


def _below_the_awake(hits: Sequence[Hit]) -> list[Hit]:
    sleeping = State.DORMANT
    return [
        replace(hit, score=ASLEEP * hit.score) if hit.stored.memory.status.state is sleeping else hit for hit in hits
    ]


def is_meant(hit: Hit) -> bool:
    """Whether a hit counts as used: what sleeps is often only there because little else was found."""
    return hit.stored.memory.is_active or hit.relevance >= MEANT
