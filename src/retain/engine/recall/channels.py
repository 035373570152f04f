"""Recall by channels: meaning, words and the graph, each as heavy as the caller says, fused by rank."""

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import islice

from retain.domain.memory import MemoryId, State, Stored, Vector
from retain.domain.recall import FINDABLE, Filter, Found, Warning
from retain.domain.session import Caller
from retain.domain.words import query_terms
from retain.engine.embed import query_vector
from retain.engine.knowledge.entities import runs
from retain.engine.knowledge.pagerank import pagerank, tempered
from retain.engine.knowledge.walk import unaddressed
from retain.engine.parts import Parts, owners, places
from retain.engine.recall import signals
from retain.engine.recall.cosines import cosines
from retain.engine.recall.recall import Lanes, question_faults, timely
from retain.engine.recall.scoring import lowered
from retain.engine.recall.sleeping import Crowd, below_the_awake, without_sleeping
from retain.engine.trust.order import Placed, newest_first
from retain.engine.trust.rivals import with_standings
from retain.errors import EmbeddingFailed, Fault, InvalidInput, QueryTimeout
from retain.ports import Corpus, Embedder, Store, Subgraph

FETCHED = 3  # times as many as are asked for, from each channel
K = 60  # the larger, the less the lead of the first places
MOST_SEEDS = 20
BEST = 5  # hits of each lane that the graph is walked from
# Texts that BM25 is worked out for at least: the index finds them by the rarest terms alone, and all shall count.
RANKED = 60
NOT_READY = "Embedding service not ready. Please try again."


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each channel counts beside the others; 0 switches it off. They need not sum to 1."""

    vector: float = 0.40
    words: float = 0.15
    graph: float = 0.45


@dataclass(frozen=True, slots=True)
class ChannelQuestion:
    text: str
    limit: int = 10
    weights: Weights = Weights()


@dataclass(frozen=True, slots=True)
class ChannelHit:
    """A memory with its fused score and what each channel gives it, all in 0 to 1.

    `vector` is the cosine, `words` BM25 as a share of the most that the question could reach, and `graph` the
    PageRank as a share of the best one. A channel that is switched off, or could not work, gives 0.
    """

    stored: Stored
    score: float
    vector: float = 0.0
    words: float = 0.0
    graph: float = 0.0

    @property
    def id(self) -> MemoryId:
        return self.stored.memory.id


@dataclass(frozen=True, slots=True)
class ChannelAnswer:
    """Hits best first, and how many nodes the part of the graph had that was walked."""

    hits: tuple[ChannelHit, ...]
    nodes: int = 0
    warnings: tuple[Warning, ...] = ()


@dataclass(slots=True)
class Channels(Lanes):
    """What the channels found, every score that is known, best first."""

    corpus: Corpus | None = None
    nodes: int = 0


def recall_by_channels(parts: Parts, question: ChannelQuestion, caller: Caller) -> ChannelAnswer:
    """The memories that rank best over the channels; 1.0 means first in every one that took part."""
    check_question(question)
    wanted = Filter(places(caller), states=FINDABLE)
    channels = Channels()
    weights = _search(parts, question, channels, wanted, caller)
    if channels.late and not channels.found():
        raise QueryTimeout("every search ran past its deadline; ask a shorter question")
    nobody = Crowd(frozenset(), FETCHED * question.limit, question.limit)
    crowd = timely(channels, "dormant", lambda: _sleeping(parts.store, channels, wanted, nobody), nobody)
    pairs = zip(astuple(weights), _rankings(parts, channels, crowd, wanted), strict=True)
    scores = _fused([(weight, ranking) for weight, ranking in pairs if weight], crowd.asleep)
    ranked = {id: lowered(score, asleep=id in crowd.asleep) for id, score in scores.items()}
    best = sorted(scores, key=lambda id: (-ranked[id], id))[: question.limit]
    found = below_the_awake(_in_order(parts, {id: scores[id] for id in best}, wanted, caller))
    hits = _explained(parts, channels, wanted, found[: question.limit])
    return ChannelAnswer(tuple(hits), channels.nodes, tuple(channels.warnings))


def _sleeping(store: Store, channels: Channels, wanted: Filter, nobody: Crowd) -> Crowd:
    first = dict.fromkeys(id for lane in channels.found() for id in islice(lane.scores, nobody.most))
    found = store.contexts(list(first), replace(wanted, states=(State.DORMANT,)), 0)
    return replace(nobody, asleep=frozenset(context.memory for context in found))


def _rankings(parts: Parts, channels: Channels, crowd: Crowd, wanted: Filter) -> Iterator[list[MemoryId]]:
    """The first of each channel; of one that what sleeps fills as many that are awake, too."""
    store, alone, corpus = parts.store, without_sleeping(wanted), channels.corpus

    def in_graph() -> Found:
        there = {context.memory for context in store.contexts(list(channels.graph.scores), alone, 0)}
        return Found({id: score for id, score in channels.graph.scores.items() if id in there})

    def by_words() -> Found:
        return _by_words(store, corpus, alone, crowd.most) if corpus else Found()

    lanes = (
        ("vector", channels.meaning, lambda: _by_meaning(parts, channels.vector, alone, crowd.most)),
        ("keyword", channels.words, by_words),
        ("graph", channels.graph, in_graph),
    )
    for name, lane, search in lanes:
        found = dict(islice(lane.scores.items(), crowd.most))
        if crowd.fills(lane):
            found |= islice(timely(channels, name, search, Found()).scores.items(), crowd.most)
        yield sorted(found, key=found.__getitem__, reverse=True)


def search_by_meaning(parts: Parts, text: str, limit: int, caller: Caller) -> ChannelAnswer:
    """The memories nearest in meaning, by cosine; without a model this cannot be answered."""
    check_question(ChannelQuestion(text, limit))
    vector, _ = query_vector(parts.embedder, unaddressed(parts.store, text, caller))
    if vector is None:
        raise EmbeddingFailed(NOT_READY + _why_off(parts.embedder))
    wanted, model = Filter(places(caller), states=FINDABLE), parts.embedder.model
    near = {id: max(cosine, 0.0) for id, cosine in parts.store.by_vector(vector, model, wanted, limit).scores.items()}
    found = _in_order(parts, near, wanted, caller)
    near |= cosines(parts.store, vector, [each.id for each in found if each.led], model)
    return ChannelAnswer(
        tuple(ChannelHit(each.stored, each.score, vector=near.get(each.id, 0.0)) for each in found[:limit])
    )


def search_by_words(parts: Parts, text: str, limit: int, caller: Caller) -> ChannelAnswer:
    """The memories that hold the words, by BM25; needs no model."""
    check_question(ChannelQuestion(text, limit))
    wanted = Filter(places(caller), states=FINDABLE)
    spoken = _by_words(parts.store, parts.store.corpus(query_terms(text)), wanted, limit).scores
    found = _in_order(parts, dict(islice(spoken.items(), limit)), wanted, caller)
    return ChannelAnswer(
        tuple(ChannelHit(each.stored, each.score, words=spoken.get(each.id, 0.0)) for each in found[:limit])
    )


def _in_order(parts: Parts, scores: Mapping[MemoryId, float], wanted: Filter, caller: Caller) -> list[Placed]:
    """The memories whole, best first, what holds now above what it contradicts or took the place of."""
    stored = with_standings(parts.store, list(scores), caller)
    placed = newest_first(parts, {id: (each, scores[id]) for id, each in stored.items()}, wanted, caller)
    return sorted(placed.values(), key=lambda each: -each.score)


def fuse(rankings: Sequence[tuple[float, Sequence[MemoryId]]]) -> dict[MemoryId, float]:
    """Scores ids by weighted reciprocal rank, as a share of what first place in every ranking is worth."""
    # Divided before they are added: the sum of two very large weights is no number.
    heaviest = max((weight for weight, _ in rankings), default=1.0)
    whole = sum(weight / heaviest for weight, _ in rankings)
    scores: dict[MemoryId, float] = {}
    for weight, ranking in rankings:
        for place, id in enumerate(ranking, start=1):
            scores[id] = scores.get(id, 0.0) + weight / heaviest / whole * (K + 1) / (K + place)
    return scores


def _fused(rankings: Sequence[tuple[float, Sequence[MemoryId]]], asleep: Container[MemoryId]) -> dict[MemoryId, float]:
    """What is awake has the score that it would have if nothing slept; what sleeps has its rank among all."""
    awake = [(weight, [id for id in ranking if id not in asleep]) for weight, ranking in rankings]
    return fuse(rankings) | fuse(awake)


def check_question(question: ChannelQuestion) -> None:
    faults = [*question_faults(question.text, question.limit), *_weight_faults(question.weights)]
    if faults:
        raise InvalidInput(faults)


def _weight_faults(weights: Weights) -> Iterator[Fault]:
    given = dict(zip(("vector_weight", "bm25_weight", "ppr_weight"), astuple(weights), strict=True))
    bad = {name: weight for name, weight in given.items() if not (math.isfinite(weight) and weight >= 0)}
    for name, weight in bad.items():
        yield Fault(name, str(weight), "must be a number of at least 0; 0 switches the channel off")
    if not bad and not any(given.values()):
        yield Fault(", ".join(given), "0, 0, 0", "sum to 0, so nothing would be searched; give one a weight above 0")


def _search(parts: Parts, question: ChannelQuestion, channels: Channels, wanted: Filter, caller: Caller) -> Weights:
    """Runs the channels that have a weight; says how much each counts of those that could work."""
    store, weights, most = parts.store, question.weights, FETCHED * question.limit
    if weights.vector:
        channels.vector, warning = query_vector(parts.embedder, unaddressed(store, question.text, caller))
        channels.warnings += [warning] if warning else []
    if vector := channels.vector:
        channels.meaning = timely(channels, "vector", lambda: _by_meaning(parts, vector, wanted, most), Found())
    if channels.vector is None:
        # Someone who asked for meaning alone is better served by words than by nothing.
        words = weights.words or (weights.vector if not weights.graph else 0.0)
        weights = replace(weights, vector=0.0, words=words)
    if weights.words:
        corpus = channels.corpus = store.corpus(query_terms(question.text))
        channels.words = timely(channels, "keyword", lambda: _by_words(store, corpus, wanted, most), Found())
    if weights.graph:
        channels.graph = timely(
            channels, "graph", lambda: _by_graph(parts, question.text, channels, wanted, caller), Found()
        )
    return weights


def _by_meaning(parts: Parts, vector: Vector | None, wanted: Filter, most: int) -> Found:
    return parts.store.by_vector(vector, parts.embedder.model, wanted, most) if vector else Found()


def _by_words(store: Store, corpus: Corpus, wanted: Filter, most: int) -> Found:
    """Every text that is looked at, by the BM25 of that text alone."""
    candidates = store.by_words(list(corpus.holding), wanted, max(most, RANKED))
    return Found(_bm25(store, list(candidates.scores), corpus, wanted))


def _bm25(store: Store, ids: Sequence[MemoryId], corpus: Corpus, wanted: Filter) -> dict[MemoryId, float]:
    spoken = signals.words(store.contexts(ids, wanted, 0), list(corpus.holding), corpus)
    return dict(sorted(spoken.items(), key=lambda found: (-found[1], found[0])))


def _by_graph(parts: Parts, text: str, channels: Channels, wanted: Filter, caller: Caller) -> Found:
    """Memories by how much of a walk they get that keeps returning to what the question names and finds."""
    lanes = (channels.meaning, channels.words)
    hits = list(dict.fromkeys(id for lane in lanes for id in list(lane.scores)[:BEST]))
    # The longest names first: they say most about what is meant.
    named = sorted(parts.store.entities_named(runs(text), owners(caller)), key=lambda entity: -len(entity.name))
    entities = [entity.id for entity in named[: MOST_SEEDS - len(hits)]]
    near = parts.store.around(entities, hits, wanted, parts.clock.now()) if entities or hits else Subgraph()
    channels.nodes = len(near)
    return Found(_walked(near, entities, hits))


def _walked(near: Subgraph, entities: Sequence[str], hits: Sequence[MemoryId]) -> dict[MemoryId, float]:
    node = {id: number for number, id in enumerate((*near.entities, *near.memories))}
    seeds = _shares([[node[id] for id in group if id in node] for group in (entities, hits)])
    if not seeds or not near.memories:
        return {}
    ends, others, weights = zip(*near.edges, strict=True)
    sources, targets = ends + others, others + ends
    scores = tempered(pagerank(len(near), sources, targets, weights + weights, seeds), sources)
    said = {id: float(scores[node[id]]) for id in near.memories if scores[node[id]] > 0}
    best = max(said.values(), default=1.0)
    return {id: said[id] / best for id in sorted(said, key=lambda id: (-said[id], id))}


def _shares(groups: Sequence[Sequence[int]]) -> dict[int, float]:
    """Each group that is not empty has the same mass, and each of its nodes the same share of it."""
    return {node: 1 / len(group) for group in groups for node in group}


def _explained(parts: Parts, channels: Channels, wanted: Filter, found: Sequence[Placed]) -> Iterator[ChannelHit]:
    """The hits with what each channel gives them, also where it was another that found them."""
    store, ids = parts.store, [each.id for each in found]
    vector, words = dict(channels.meaning.scores), dict(channels.words.scores)
    if channels.vector and (others := [id for id in ids if id not in vector]):
        vector |= cosines(store, channels.vector, others, parts.embedder.model)
    if channels.corpus and (others := [id for id in ids if id not in words]):
        words |= _bm25(store, others, channels.corpus, wanted)
    for each in found:
        near, spoken = max(vector.get(each.id, 0.0), 0.0), words.get(each.id, 0.0)
        yield ChannelHit(each.stored, each.score, near, spoken, channels.graph.scores.get(each.id, 0.0))


def _why_off(embedder: Embedder) -> str:
    state = embedder.state()
    return f" (The embedding model is off: {state.why})" if state.name == "off" else ""
