"""Recall: lanes find candidates, signals tell how well each fits, and the best come back explained."""

from collections.abc import Callable, Hashable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, partial
from typing import Protocol, TypeVar

from retain.domain.memory import Kind, MemoryId, Scope, State, Vector
from retain.domain.periods import periods
from retain.domain.recall import FINDABLE, KEPT, SHOWN, Filter, Found, Hit, Recalled, Strategy, Warning
from retain.domain.session import Caller
from retain.domain.words import query_terms, terms
from retain.engine.drafts import string_faults
from retain.engine.embed import query_vector
from retain.engine.knowledge.walk import proximity, unaddressed
from retain.engine.parts import Parts, places
from retain.engine.recall import signals
from retain.engine.recall.cosines import cosines
from retain.engine.recall.scoring import Score, best_first, broadest, relevance, scored, weighted, weights
from retain.engine.recall.second_look import looked_at_again, reread
from retain.engine.recall.sleeping import Crowd, below_the_awake, without_sleeping
from retain.engine.recall.standing_rules import is_task, nearest, with_rules
from retain.engine.trust.order import newest_first
from retain.engine.trust.rivals import with_standings
from retain.errors import EmbeddingFailed, Fault, InvalidInput, QueryTimeout, shorten
from retain.ports import Context, Store

LANE = 30  # candidates from each lane
ADMIT = 10  # the best of each lane bring their direct neighbours along
BESIDE = relevance(0.2)  # that a neighbour needs which no lane found itself; unrelated memories reach a sum of 0.15
SPARE = 5  # more than asked for are read whole: summaries may change places with what they were made from
MAX_QUESTION = 10_000
MEANT = relevance(0.5)  # from which on a dormant memory is what was asked for


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
    second_look: bool = True
    """Whether the judge may take its time; who answers within a deadline, or ranks anew, goes without."""
    rules: bool = True
    """Whether a task finds the rules that it calls for; who shows only what is near goes without."""


@dataclass(slots=True)
class Lanes:
    """What the lanes found, and what one of them could not do."""

    vector: Vector | None = None
    meaning: Found = field(default_factory=Found)
    words: Found = field(default_factory=Found)
    graph: Found = field(default_factory=Found)
    rules: tuple[MemoryId, ...] = ()
    """What a task may call for; no lane, for it is not found by what it says."""
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
    # What takes long lies outside of the views: one that stays open keeps SQLite from starting its log anew.
    lanes = _heard(question, hearing or Hearing(parts, question.text, caller))
    with parts.store.reading():
        contexts = _candidates(parts, question, wanted, caller, lanes)
        scores = _scores(parts, question, lanes, contexts)
        if not _is_read_again(parts, question):
            return _answer(parts, question, lanes, scores, wanted, caller)
    texts = {context.memory: context.text for context in contexts}
    scores = looked_at_again(question.text, scores, texts, partial(reread, parts.judge))
    with parts.store.reading():
        # What changed meanwhile comes back only if it still passes.
        still = {each.memory for each in parts.store.contexts([score.memory for score in scores], wanted, 0)}
        scores = [score for score in scores if score.memory in still]
        return _answer(parts, question, lanes, scores, wanted, caller)


def candidates(parts: Parts, question: Question, caller: Caller) -> list[Score]:
    """Every memory that is weighed for a question, best first as the signals have it, before any of them is read."""
    wanted = _filter(question, caller)
    lanes = _heard(question, Hearing(parts, question.text, caller))
    with parts.store.reading():
        return _scores(parts, question, lanes, _candidates(parts, question, wanted, caller, lanes))


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


def _heard(question: Question, hearing: Hearing) -> Lanes:
    """The lanes of a question before any of them is run, with its meaning where they ask for it."""
    if question.strategy not in (Strategy.VECTOR, Strategy.HYBRID):
        return Lanes()
    vector, warning = hearing.vector
    return Lanes(vector, warnings=[warning] if warning else [])


def _candidates(parts: Parts, question: Question, wanted: Filter, caller: Caller, lanes: Lanes) -> list[Context]:
    """What the lanes find. Where what sleeps crowds one of them, what is awake is searched for alone as well."""
    _search(parts, question, wanted, caller, lanes)
    if lanes.late and not lanes.found():
        raise QueryTimeout("every search ran past its deadline; ask a shorter question or narrow it with filters")
    contexts = _contexts(parts.store, question, lanes, wanted)
    asleep = frozenset(context.memory for context in contexts if context.asleep)
    crowd = Crowd(asleep, max(LANE, question.limit), question.limit)
    if lanes.late or not any(crowd.fills(lane) for lane in lanes.found()):
        return contexts
    awake, alone = Lanes(lanes.vector, warnings=lanes.warnings), without_sleeping(wanted)
    _search(parts, replace(question, rules=False), alone, caller, awake)
    known = {context.memory for context in contexts}
    further = [each for each in _contexts(parts.store, question, awake, alone) if each.memory not in known]
    lanes.meaning, lanes.words = _joined(lanes.meaning, awake.meaning), _joined(lanes.words, awake.words)
    lanes.graph = _joined(lanes.graph, awake.graph)
    return contexts + further


def _joined(lane: Found, awake: Found) -> Found:
    """A lane with what it found among the awake alone; what it matched in all, it has known before."""
    return replace(lane, scores={**lane.scores, **awake.scores})


def _search(parts: Parts, question: Question, wanted: Filter, caller: Caller, lanes: Lanes) -> None:
    """Runs the lanes that the strategy names; one that is late leaves the answer to the others."""
    store, most = parts.store, max(LANE, question.limit)
    vector = lanes.vector
    if vector:
        model = parts.embedder.model
        lanes.meaning = timely(lanes, "vector", lambda: store.by_vector(vector, model, wanted, most), Found())
    is_comparable = lanes.vector is not None  # the search may have found that this vector is not
    if vector and is_comparable and question.strategy is Strategy.HYBRID and question.rules and is_task(question.text):
        lanes.rules = timely(lanes, "rules", lambda: nearest(parts, vector, wanted, question.limit), ())
    keyword = question.strategy in (Strategy.KEYWORD, Strategy.HYBRID)
    if keyword or (question.strategy is Strategy.VECTOR and not is_comparable):
        asked = query_terms(question.text)
        lanes.words = timely(lanes, "keyword", lambda: store.by_words(asked, wanted, most, counted=True), Found())
    if question.strategy is Strategy.GRAPH:
        lanes.graph = timely(lanes, "graph", lambda: proximity(store, question.text, wanted, caller), Found())


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


def _scores(parts: Parts, question: Question, lanes: Lanes, contexts: Sequence[Context]) -> list[Score]:
    """Every candidate with its score, best first."""
    asked = query_terms(question.text)
    meaning = _meaning(parts, lanes, [context.memory for context in contexts])
    by_words = question.strategy is not Strategy.VECTOR or lanes.vector is None
    spoken = signals.words(contexts, asked, lanes.words.corpus or parts.store.corpus(asked)) if by_words else {}
    now, widest = parts.clock.now(), broadest(contexts)
    named, pairs = frozenset(terms(question.text)), signals.pairs(question.text)
    times, weighing = periods(question.text, now), weights(question.text)
    scores = []
    for context in contexts:
        found = _signals(question.strategy, context.memory, lanes, meaning, spoken)
        if question.strategy is Strategy.HYBRID:
            found["subject"] = signals.subject(context.text, named)
            found["phrase"] = signals.phrase(context.words, pairs)
            found["asking"] = signals.asking(context.text)
            found["length"] = signals.length(context.text)
            found["time"] = signals.time(context, times)
        scores.append(scored(context, weighted(found, weighing), widest, now))
    return best_first(scores)


def _is_read_again(parts: Parts, question: Question) -> bool:
    return question.strategy is Strategy.HYBRID and question.second_look and parts.second_look and bool(parts.judge)


def _answer(
    parts: Parts, question: Question, lanes: Lanes, scores: Sequence[Score], wanted: Filter, caller: Caller
) -> Recalled:
    """What there is to say, of candidates that come best first."""
    named = {id for lane in lanes.found() for id in lane.scores}
    most = question.limit + SPARE
    best = [*scores[:most], *(score for score in scores[most:] if score.memory in lanes.rules)]
    read = _read(parts.store, best, caller)
    fitting = [hit for hit in read if hit.id in named or hit.id in lanes.rules or hit.relevance >= BESIDE]
    hits = _newest_first(parts, fitting, wanted, caller)
    total, exact = _matched(lanes, named, {hit.id for hit in hits})
    shown = with_rules(hits, lanes.rules, question.limit)
    return Recalled(tuple(shown), total, question.strategy, tuple(lanes.warnings), exact)


def _matched(lanes: Lanes, named: Set[MemoryId], found: Set[MemoryId]) -> tuple[int, bool]:
    """How many memories the lanes matched or were found beside those that they named; and whether that is all.

    A lane does not say which those are that it matched and did not name: what was found beside may be among them.
    """
    matched = len(frozenset[Hashable]().union(*(lane.keys for lane in lanes.found())))
    exact = all(lane.exact for lane in lanes.found()) and (matched == len(named) or found <= named)
    return max(matched, len(named | found)), exact


def _read(store: Store, best: Sequence[Score], caller: Caller) -> list[Hit]:
    """The best ones whole."""
    memories = with_standings(store, [score.memory for score in best], caller)
    hits = [Hit(memories[s.memory], s.total, s.relevance, s.terms) for s in best if s.memory in memories]
    return _below_summaries(hits)


def _contexts(store: Store, question: Question, lanes: Lanes, wanted: Filter) -> list[Context]:
    """Of the candidates, and of the direct neighbours of each lane's best: an answer often stands next to the words
    of the question."""
    best = {id for lane in lanes.found() for id in list(lane.scores)[:ADMIT]}
    beside = best if question.strategy is Strategy.HYBRID else ()
    return store.contexts(_first(lanes, question.limit), wanted, signals.REACH, beside)


def _signals(
    strategy: Strategy, id: MemoryId, lanes: Lanes, meaning: dict[MemoryId, float], spoken: dict[MemoryId, float]
) -> dict[str, float]:
    if strategy is Strategy.GRAPH:
        return {"graph": lanes.graph.scores.get(id, 0.0)}
    found = {"meaning": meaning.get(id, 0.0)} if lanes.vector else {}
    return found if strategy is Strategy.VECTOR and lanes.vector else found | {"words": spoken.get(id, 0.0)}


def _first(lanes: Lanes, limit: int) -> list[MemoryId]:
    most = max(LANE, limit)
    found = (id for lane in lanes.found() for id in list(lane.scores)[:most])
    return list(dict.fromkeys((*found, *lanes.rules)))


def _meaning(parts: Parts, lanes: Lanes, ids: Sequence[MemoryId]) -> dict[MemoryId, float]:
    """Cosine of every candidate, also of those that another lane found."""
    known = {id: max(cosine, 0.0) for id, cosine in lanes.meaning.scores.items()}
    others = [id for id in ids if id not in known]
    if lanes.vector is None or not others:
        return known
    return known | cosines(parts.store, lanes.vector, others, parts.embedder.model)


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


def _newest_first(parts: Parts, hits: Sequence[Hit], wanted: Filter, caller: Caller) -> list[Hit]:
    """Best first, and what holds now above what it contradicts or took the place of. What comes along with a hit is as
    relevant as that."""
    found = {hit.id: hit for hit in hits}
    scores = {hit.id: (hit.stored, hit.score) for hit in hits}
    placed = []
    for id, each in newest_first(parts, scores, wanted, caller).items():
        hit = found[id] if each.led is None else Hit(each.stored, 0.0, found[each.led].relevance)
        moved = {"newest_first": each.score - hit.score} if each.score != hit.score else {}
        placed.append(replace(hit, score=each.score, terms={**hit.terms, **moved}))
    return below_the_awake(placed)


def is_meant(hit: Hit) -> bool:
    """Whether a hit counts as used: what sleeps is often only there because little else was found."""
    return hit.stored.memory.is_active or hit.relevance >= MEANT
