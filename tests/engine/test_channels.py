"""Recall by channels: what each one adds, how they are weighed, and a memory that only the graph finds."""

import math
import random

import pytest

from fakes import FixedClock
from making import a_link, a_memory, a_place, a_project, a_relation, an_embedding, an_entity, save, wanted
from retain.domain.memory import State, Status
from retain.domain.model import ModelState
from retain.domain.recall import MIN_COSINE
from retain.domain.session import Caller
from retain.domain.words import query_terms, terms
from retain.embedding.hashed import HashedEmbedder
from retain.embedding.off import NoEmbedder
from retain.embedding.onnx import OnnxEmbedder
from retain.engine.engine import Engine
from retain.engine.parts import Parts
from retain.engine.recall.channels import ChannelQuestion, Weights, fuse
from retain.errors import EmbeddingFailed, InvalidInput
from retain.stores.sqlite.store import SqliteStore

HERE = Caller(project=a_project("shop"), session="now")


class Loading(HashedEmbedder):
    """A model that is not there yet."""

    def state(self):
        return ModelState("loading")

    def wait(self, seconds):
        return False


@pytest.fixture(scope="module")
def bundled():
    embedder = OnnxEmbedder()
    embedder.warm()
    assert embedder.wait(60)
    return embedder


@pytest.fixture
def opened(tmp_path):
    """Opens an engine on the store in `tmp_path` with the embedder given."""
    engines = []

    def open_one(embedder):
        engines.append(Engine(Parts(SqliteStore(tmp_path / "retain.db"), embedder, FixedClock())))
        return engines[-1]

    yield open_one
    for engine in engines:
        engine.settle(10)
        engine.close()


@pytest.fixture
def engine(opened):
    return opened(HashedEmbedder())


def tell(engine, *memories, links=(), relations=()):
    """Saves memories with their vectors and the entities that links and relations name."""
    embedder = engine.parts.embedder
    if embedder.state().name == "ready":
        vectors = [an_embedding(m.id, *embedder.embed([m.text]), model=embedder.model) for m in memories]
    else:
        vectors = []
    names = dict.fromkeys([name for _, name in links] + [name for edge in relations for name in edge[:2]])
    save(
        engine.parts.store,
        *memories,
        embeddings=tuple(vectors),
        entities=tuple(map(an_entity, names)),
        links=tuple(a_link(*link) for link in links),
        relations=tuple(a_relation(*edge) for edge in relations),
    )


def ask(engine, text, limit=10, **weights):
    return engine.recall_by_channels(ChannelQuestion(text, limit, Weights(**weights)), HERE)


def ids(answer):
    return [hit.id for hit in answer.hits]


def hit(answer, id):
    return next(hit for hit in answer.hits if hit.id == id)


QUESTION = "Why does Falcon time out?"
BILL = "The invoice is paid by direct debit each March"


def test_a_memory_without_a_word_or_the_meaning_of_the_question_is_found_over_two_hops(opened, bundled):
    engine = opened(bundled)
    tell(
        engine,
        a_memory("m1", "Falcon waits thirty seconds for its database"),
        a_memory("m2", BILL),
        a_memory("m3", "The canteen closes at two"),
        links=(("m1", "Falcon"), ("m2", "Hetzner"), ("m3", "Canteen")),
        relations=(("Falcon", "LedgerDB"), ("LedgerDB", "Hetzner")),
    )
    store = engine.parts.store
    vector = bundled.embed([QUESTION])[0]
    assert not set(terms(QUESTION)) & set(terms(BILL))
    assert "m2" not in store.by_vector(vector, bundled.model, wanted(), 50).scores
    assert "m2" not in store.by_words(query_terms(QUESTION), wanted(), 50).scores

    found = ask(engine, QUESTION)
    assert ids(found) == ["m1", "m2"]
    bill = hit(found, "m2")
    assert bill.graph > 0
    assert (bill.words, bill.vector < MIN_COSINE) == (0, True)
    assert found.nodes == 5
    assert "m2" not in ids(ask(engine, QUESTION, graph=0))
    assert ids(ask(engine, QUESTION, vector=0, words=0)) == ["m1", "m2"]


def test_the_graph_changes_the_order(engine):
    chance = random.Random(5)
    memories = [a_memory(f"m{n:02}", f"redis note number {n} {'filler ' * (n % 7)}") for n in range(40)]
    names = [f"Tree{letter}" for letter in "abcdefghijklmnopqrst"]
    links = [(m.id, chance.choice(names)) for m in memories for _ in range(2)]
    relations = [tuple(chance.sample(names, 2)) for _ in range(30)]
    tell(engine, *memories, links=tuple(dict.fromkeys(links)), relations=tuple(dict.fromkeys(relations)))
    without, with_graph = (ask(engine, "redis note for Treec", 40, graph=weight) for weight in (0, 0.45))
    assert set(ids(without)) == set(ids(with_graph)) == {m.id for m in memories}
    for about in (memory for memory, name in links if name == "Treec"):
        assert ids(with_graph).index(about) < ids(without).index(about)
    assert all(hit.graph == 0 for hit in without.hits)
    assert without.nodes == 0 < with_graph.nodes


def test_what_the_lanes_find_leads_on_though_the_question_names_nothing(engine):
    tell(engine, a_memory("m1", "redis cache"), a_memory("m2", "ask Bob"), links=(("m1", "Falcon"), ("m2", "Falcon")))
    found = ask(engine, "which cache")
    assert ids(found) == ["m1", "m2"]
    assert hit(found, "m2").graph > 0
    assert ids(ask(engine, "which cache", vector=0, words=0)) == []


def test_what_the_question_names_has_half_of_the_mass_and_what_the_lanes_find_the_other(engine):
    found = [a_memory(f"m{n}", f"cache size {n}") for n in range(5)]
    links = tuple((m.id, f"Own{n}") for n, m in enumerate(found))
    tell(engine, *found, a_memory("named", "ask Bob"), links=(*links, ("named", "Falcon")))
    answer = ask(engine, "Falcon cache size")
    assert hit(answer, "named").graph == 1.0
    # Each of the five starts with a tenth and shares it with its entity; Falcon shares one half with one memory.
    assert [hit(answer, m.id).graph for m in found] == pytest.approx([0.4] * 5, abs=1e-3)


def test_a_memory_about_everything_counts_less_than_one_about_one_thing(engine):
    links = tuple(("all", f"Thing{letter}") for letter in "abcdefgh")
    tell(engine, a_memory("all", "cache here"), a_memory("one", "cache there"), links=(("one", "Falcon"), *links))
    found = ask(engine, "cache")
    assert hit(found, "one").graph == 1.0
    assert hit(found, "all").graph == pytest.approx(8**-0.5, abs=1e-3)


def test_first_in_every_channel_is_one_and_components_say_why(engine):
    tell(engine, a_memory("m1", "redis"), a_memory("m2", "a redis cache in front"), links=(("m1", "Redis"),))
    found = ask(engine, "redis")
    best, second = found.hits
    assert (best.id, best.score, best.graph) == ("m1", pytest.approx(1.0), pytest.approx(1.0))
    assert best.vector == pytest.approx(1.0, abs=1e-3)
    assert 0 < second.words < best.words < 1
    assert second.score < best.score
    assert second.graph == 0


def test_fused_ranks_are_weighed_and_a_share_of_the_best():
    scores = fuse([(0.4, ["a", "b"]), (0.1, ["b"]), (0.5, [])])
    assert scores["a"] == pytest.approx(0.4)
    assert scores["b"] == pytest.approx((0.4 / 62 + 0.1 / 61) * 61)
    assert fuse([(2.0, ["a"]), (3.0, ["a"])]) == {"a": pytest.approx(1.0)}
    assert fuse([]) == {}
    assert fuse([(1e308, ["a"]), (1e308, ["b", "a"]), (1e-320, ["a"])])["a"] == pytest.approx(0.5 + 0.5 * 61 / 62)


@pytest.mark.parametrize("off", ["vector", "words", "graph"])
def test_a_weight_of_nothing_switches_a_channel_off(engine, off):
    tell(engine, a_memory("m1", "redis cache"), a_memory("m2", "redis port"), links=(("m1", "Redis"), ("m2", "Redis")))
    found = ask(engine, "redis cache", **{off: 0})
    assert ids(found) == ["m1", "m2"]
    for name in ("vector", "words", "graph"):
        assert all((getattr(hit, name) == 0) == (name == off) for hit in found.hits)
    assert found.hits[0].score == pytest.approx(1.0)


def test_the_weights_decide_between_the_channels(engine):
    tell(
        engine,
        a_memory("said", "Falcon restarts at night"),
        a_memory("linked", "ask the vendor"),
        links=(("linked", "Falcon"),),
    )
    assert ids(ask(engine, "why does Falcon restart", vector=1, words=1, graph=0.1))[0] == "said"
    assert ids(ask(engine, "why does Falcon restart", vector=0.1, words=0.1, graph=3))[0] == "linked"


@pytest.mark.parametrize(
    ("weights", "named"),
    [
        ({"vector": -0.1}, ["vector_weight"]),
        ({"words": math.nan, "graph": math.inf}, ["bm25_weight", "ppr_weight"]),
        ({"vector": -math.inf}, ["vector_weight"]),
        ({"vector": 0, "words": 0, "graph": 0}, ["vector_weight", "bm25_weight", "ppr_weight"]),
        ({"vector": 0.0, "words": -0.0, "graph": 0}, ["vector_weight", "bm25_weight", "ppr_weight"]),
    ],
)
def test_weights_that_cannot_weigh_are_refused_by_name(engine, weights, named):
    with pytest.raises(InvalidInput) as refused:
        ask(engine, "anything", **weights)
    fields = ", ".join(fault.field for fault in refused.value.faults)
    assert fields == ", ".join(named)


@pytest.mark.parametrize("search", ["recall_by_channels", "search_by_meaning", "search_by_words"])
@pytest.mark.parametrize(("text", "limit"), [("  ", 5), ("x" * 10_001, 5), ("redis", 0), ("lone \ud800", 5)])
def test_what_cannot_be_asked_is_refused_everywhere_alike(engine, search, text, limit):
    given = (ChannelQuestion(text, limit),) if search == "recall_by_channels" else (text, limit)
    with pytest.raises(InvalidInput) as refused:
        getattr(engine, search)(*given, HERE)
    assert {fault.field for fault in refused.value.faults} <= {"query", "limit"}


def test_each_channel_looks_three_times_as_far_as_was_asked(engine):
    memories = [a_memory(f"m{n}", "redis " + "filler " * n) for n in range(9)]
    tell(engine, *memories, a_memory("far", "ask the vendor"), links=(("far", "Redis"),))
    found = ask(engine, "redis", limit=2, vector=0, words=1, graph=0.01)
    assert len(found.hits) == 2
    assert ids(ask(engine, "redis", limit=2, vector=0, words=0.01, graph=1))[0] == "far"


def test_other_places_and_forgotten_memories_stay_out_of_every_channel(engine):
    memories = (
        a_memory("here", "redis here"),
        a_memory("elsewhere", "redis there", place=a_place("site")),
        a_memory("theirs", "redis theirs", place=a_place(user="eve")),
        a_memory("gone", "redis gone", status=Status(State.FORGOTTEN)),
    )
    tell(engine, *memories, links=tuple((m.id, "Redis") for m in memories))
    assert ids(ask(engine, "redis")) == ["here"]
    assert ids(engine.search_by_words("redis", 9, HERE)) == ids(engine.search_by_meaning("redis", 9, HERE)) == ["here"]


def test_entities_of_others_are_no_seeds(engine):
    tell(engine, a_memory("m1", "ask the vendor"), links=(("m1", "Falcon"),))
    elsewhere = Caller(project=a_project("site"))
    found = engine.recall_by_channels(ChannelQuestion("Falcon"), elsewhere)
    assert (found.hits, found.nodes) == ((), 0)


def test_a_memory_that_nothing_links_has_no_part_in_the_graph(engine):
    tell(engine, a_memory("m1", "redis cache"))
    found = ask(engine, "redis")
    assert (ids(found), found.hits[0].graph, found.nodes) == (["m1"], 0, 0)


def test_nothing_known_is_an_empty_answer(engine):
    found = ask(engine, "anything at all")
    assert (found.hits, found.nodes, found.warnings) == ((), 0, ())


def test_words_are_ranked_by_plain_bm25(engine):
    turns = [
        a_memory("long", "redis " + "and many other words besides " * 6, session="s1"),
        a_memory("short", "redis it is", session="s1"),
        a_memory("often", "redis redis redis it is", session="s1"),
        a_memory("alone", "redis is it"),
        *(a_memory(f"x{n}", f"something else {n}") for n in range(20)),
    ]
    tell(engine, *turns)
    found = engine.search_by_words("redis", 10, HERE)
    assert ids(found) == ["often", "alone", "short", "long"]
    assert hit(found, "alone").score == hit(found, "short").score
    assert all(0 < hit.score == hit.words <= 1 for hit in found.hits)
    assert [hit.words for hit in ask(engine, "redis", vector=0, graph=0).hits] == [hit.words for hit in found.hits]


def test_all_words_of_a_question_count_also_the_common_ones(engine):
    common = [a_memory(f"c{n}", f"port number {n}") for n in range(450)]
    tell(engine, *common, a_memory("m1", "redis port"), *(a_memory(f"n{n}", "redis host") for n in range(9)))
    assert ids(engine.search_by_words("redis port", 1, HERE)) == ["m1"]


def test_meaning_is_ranked_by_cosine(engine):
    tell(engine, a_memory("m1", "redis cache port"), a_memory("m2", "redis"), a_memory("m3", "tabs or spaces"))
    found = engine.search_by_meaning("redis", 5, HERE)
    assert ids(found) == ["m2", "m1"]
    assert all(hit.score == hit.vector for hit in found.hits)
    assert len(engine.search_by_meaning("redis", 1, HERE).hits) == 1


def test_without_a_model_meaning_is_an_error_and_the_rest_answers(opened):
    engine = opened(NoEmbedder("RETAIN_EMBEDDING_MODEL is none"))
    tell(engine, a_memory("m1", "redis cache"), a_memory("m2", "ask the vendor"), links=(("m2", "Redis"),))
    with pytest.raises(EmbeddingFailed, match=r"^Embedding service not ready\. Please try again\. .*is none"):
        engine.search_by_meaning("redis", 5, HERE)
    assert ids(engine.search_by_words("redis", 5, HERE)) == ["m1"]
    found = ask(engine, "redis")
    assert (set(ids(found)), [warning.code for warning in found.warnings]) == ({"m1", "m2"}, ["partial_results"])
    assert all(hit.vector == 0 for hit in found.hits)
    assert ids(ask(engine, "redis", vector=1, words=0, graph=0)) == ["m1"]


def test_while_the_model_loads_the_error_is_the_contract_s_to_the_letter(opened):
    engine = opened(Loading())
    with pytest.raises(EmbeddingFailed) as late:
        engine.search_by_meaning("redis", 5, HERE)
    assert late.value.message == "Embedding service not ready. Please try again."


@pytest.mark.parametrize("search", ["recall_by_channels", "search_by_meaning", "search_by_words"])
def test_what_is_served_counts_as_used(engine, search):
    tell(engine, a_memory("m1", "redis cache"))
    given = (ChannelQuestion("redis"),) if search == "recall_by_channels" else ("redis", 5)
    getattr(engine, search)(*given, HERE)
    assert engine.settle(10)
    assert engine.parts.store.memories(["m1"])["m1"].accesses == 1


def test_memories_without_vectors_are_remarked_on(engine):
    save(engine.parts.store, a_memory("m1", "redis cache"))
    found = ask(engine, "redis")
    assert (ids(found), [warning.code for warning in found.warnings]) == (["m1"], ["keyword_only"])
