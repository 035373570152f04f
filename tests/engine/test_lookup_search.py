"""Explained search: what matches, in which order, what is counted, and what is said when meaning cannot be compared."""

import random
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes import START, FixedClock
from making import EVERYWHERE, a_memory, a_place, a_project, a_session_place, a_vector, an_embedding, save
from retain.domain.category import CATEGORIES
from retain.domain.listing import Card
from retain.domain.memory import Kind, Source, State, Status
from retain.domain.model import ModelState
from retain.domain.recall import MIN_COSINE
from retain.domain.session import Caller
from retain.embedding.hashed import HashedEmbedder
from retain.embedding.onnx import OnnxEmbedder
from retain.engine.lookup.explaining import CONTENT
from retain.engine.lookup.facets import facets
from retain.engine.lookup.matching import JUDGED, Search, Sort, SortField, search
from retain.engine.parts import Parts
from retain.engine.recall.scoring import MEANING
from retain.errors import EmbeddingFailed, InvalidInput

HERE = Caller(project=a_project("shop"), session="now")


class Off(HashedEmbedder):
    """No model on this machine."""

    def state(self):
        return ModelState("off", "it was switched off")

    def wait(self, seconds):
        return False


class Loading(Off):
    """A model that is not there yet."""

    def state(self):
        return ModelState("loading", "")


class Pointing(HashedEmbedder):
    """A model for which every question points along the first axis, so that tests choose the cosines."""

    model = "tiny"

    def embed(self, texts):
        return [a_vector(1.0) for _ in texts]


def at_cosine(memory, cosine):
    return an_embedding(memory.id, a_vector(cosine, (1 - cosine**2) ** 0.5))


def tell(store, *memories, embedder=HashedEmbedder()):  # noqa: B008 - has no state
    """Saves memories with vectors of their texts and titles."""
    texts = {m.id: [m.text, m.title] if m.title else [m.text] for m in memories}
    vectors = [an_embedding(id, *embedder.embed(said), model=embedder.model) for id, said in texts.items()]
    save(store, *memories, embeddings=tuple(vectors))


def look(store, text, embedder=None, caller=HERE, **asked):
    return search(Parts(store, embedder or HashedEmbedder(), FixedClock()), Search(text, **asked), caller)


def ids(found):
    return [match.stored.memory.id for match in found.hits]


def codes(found):
    return [warning.code for warning in found.warnings]


@pytest.fixture
def shelf(store):
    """Memories whose cosines to any question of `Pointing` are known."""
    cosines = {"far": 0.1, "low": 0.3, "half": 0.5, "near": 0.9}
    memories = [a_memory(id, f"{id} redis") for id in cosines]
    save(store, *memories, embeddings=tuple(at_cosine(m, cosines[m.id]) for m in memories))
    return store


@pytest.mark.parametrize(
    ("threshold", "matched"), [(0.95, []), (0.5, ["near", "half"]), (0.3, ["near", "half", "low"])]
)
def test_a_match_has_at_least_the_cosine_asked_for(shelf, threshold, matched):
    threshold -= 0.001  # vectors are kept in half precision
    found = look(shelf, "whatever", Pointing(), threshold=threshold, sort=Sort(SortField.SIMILARITY))
    assert ids(found) == matched
    assert all(match.similarity >= threshold for match in found.hits)
    assert found.total == len(matched)


def test_below_what_counts_as_a_hit_a_match_must_hold_a_word_of_the_question(shelf):
    assert MIN_COSINE > 0.1
    assert "far" not in ids(look(shelf, "elephants", Pointing(), threshold=0.0))
    assert "far" in ids(look(shelf, "redis", Pointing(), threshold=0.0))
    assert "far" not in ids(look(shelf, "redis", Pointing(), threshold=0.2))


@pytest.mark.parametrize("question", ["payments", "gateway"])
def test_a_tag_with_a_word_of_the_question_counts_as_holding_it(store, question):
    memory = a_memory("m1", "Kong", tags=("ops", "PaymentGateway"))
    save(store, memory, a_memory("m2", "Redis", tags=("ops",)), embeddings=(at_cosine(memory, 0.1),))
    assert ids(look(store, question, Pointing(), threshold=0.0)) == ["m1"]
    (match,) = look(store, question, Off()).hits
    assert (match.stored.memory.id, match.similarity) == ("m1", 1.0)


def test_a_tag_is_looked_at_within_the_filters_only(store):
    save(store, a_memory("m1", "Kong", tags=("gateway", "ops")), a_memory("m2", "Nginx", tags=("gateway",)))
    save(store, a_memory("m3", "Envoy", tags=("gateway",), place=a_place("other")))
    assert ids(look(store, "gateway", Off(), tags=("OPS",))) == ["m1"]


def test_a_word_is_enough_at_threshold_zero_even_against_the_meaning(store):
    memory = a_memory("m1", "redis")
    save(store, memory, embeddings=(at_cosine(memory, -0.5),))
    assert [match.similarity for match in look(store, "redis", Pointing(), threshold=0.0).hits] == [0.0]


def test_a_question_is_compared_with_titles_too(store):
    tell(store, a_memory("m1", "words about something else entirely", title="Rotate webhook secrets"))
    assert look(store, "rotate webhook secrets", threshold=0.9).hits[0].similarity == pytest.approx(1, abs=0.01)


def test_nothing_above_the_threshold_says_what_lies_below_it(shelf):
    found = look(shelf, "redis", Pointing(), threshold=0.97)
    assert (found.hits, found.total, codes(found)) == ((), 0, ["below_threshold"])
    assert "4 memories lie below it, the best at 0.90" in found.warnings[0].message


def test_nothing_anywhere_needs_no_warning(store):
    tell(store, a_memory("m1", "deploy on Mondays"))
    assert look(store, "zebra").warnings == ()


def test_only_the_project_and_its_user_are_searched(store):
    tell(
        store,
        a_memory("here", "redis port"),
        a_memory("mine", "redis port", place=EVERYWHERE),
        a_memory("session", "redis port", place=a_session_place("now"), session="now"),
        a_memory("elsewhere", "redis port", place=a_place("other")),
        a_memory("theirs", "redis port", place=a_place(user="ben")),
        a_memory("gone", "redis port", status=Status(State.FORGOTTEN)),
    )
    assert ids(look(store, "redis port")) == ["here", "mine"]
    assert ids(look(store, "redis port", caller=Caller())) == ["mine"]


def test_filters_hold_before_anything_is_counted(store):
    tell(
        store,
        a_memory("a", "redis port " + "x" * 50, category="decision", tags=("Cache",)),
        a_memory("b", "redis port", category="pattern", tags=("cache", "ops")),
        a_memory("c", "redis port", kind=Kind.PROCEDURAL),
    )
    assert ids(look(store, "redis port", types=("pattern",))) == ["b", "c"]
    assert ids(look(store, "redis port", tags=("CACHE",), threshold=0.3)) == ["b", "a"]
    only = look(store, "redis port", min_length=30, threshold=0.3)
    assert (ids(only), only.total, only.facets.types) == (["a"], 1, {"decision": 1})


def test_total_and_facets_count_all_matches_whatever_the_limit(store):
    texts = {"s": "redis", "m": "redis " * 50, "l": "redis " * 200}
    tell(store, *(a_memory(f"{size}{n}", text, tags=("ops",)) for size, text in texts.items() for n in range(4)))
    found = look(store, "redis", limit=2)
    assert (len(found.hits), found.total) == (2, 12)
    assert found.facets.lengths == {"short": 4, "medium": 4, "long": 4}
    assert (found.facets.types, found.facets.tags) == ({"documentation": 12}, {"ops": 12})


labels = st.sampled_from(["auth", "Auth", "AUTH", "ops", "Ops ", "billing"])
cards = st.builds(
    Card,
    *(st.just(""), st.none(), st.just(""), st.integers(0, 3000), st.sampled_from(Kind)),
    *(st.sampled_from([None, *CATEGORIES]), st.lists(labels, max_size=4).map(tuple), st.just(START), st.just(START)),
)


@given(st.lists(cards, max_size=30))
def test_facets_sum_to_what_there_is(shown):
    found = facets(shown)
    assert sum(found.types.values()) == sum(found.lengths.values()) == len(shown)
    assert list(found.lengths) == ["short", "medium", "long"]
    for counted in (found.types, found.tags):
        assert list(counted.values()) == sorted(counted.values(), reverse=True)
    for tag, count in found.tags.items():
        assert count == sum(tag.strip().lower() in {t.strip().lower() for t in card.tags} for card in shown)


def test_a_tag_is_shown_in_its_commonest_spelling():
    tagged = [("auth",), ("Auth",), ("Auth", "auth"), ("Auth",), ("ops",)]
    shown = [Card("", None, "", 199, Kind.SEMANTIC, None, tags, START, START) for tags in tagged]
    assert facets(shown).tags == {"Auth": 4, "ops": 1}


def test_lengths_are_counted_by_their_bounds():
    shown = [Card("", None, "", size, Kind.SEMANTIC, None, (), START, START) for size in (199, 200, 1000, 1001)]
    assert facets(shown).lengths == {"short": 1, "medium": 2, "long": 1}


@pytest.mark.parametrize(
    ("field", "first"),
    [(SortField.TITLE, "b"), (SortField.TYPE, "c"), (SortField.CREATED, "d"), (SortField.UPDATED, "a")],
)
def test_matches_are_sorted_as_asked(store, field, first):
    def made(id, title, category, created, updated):
        times = {"created": START + timedelta(days=created), "updated": START + timedelta(days=updated)}
        return a_memory(id, "redis", title=title, category=category, **times)

    tell(
        store,
        made("a", "the port", "decision", 0, 9),
        made("b", "A port", "pattern", 1, 1),
        made("c", "redis port", "code", 2, 2),
        made("d", "Zebra", "progress", 3, 3),
    )
    found, turned = (
        ids(look(store, "redis", sort=Sort(field, descending)))
        for descending in (None, field in (SortField.TITLE, SortField.TYPE))
    )
    assert found[0] == first
    assert turned == found[::-1]


def test_what_ties_stands_in_the_order_of_ids_either_way(store):
    tell(store, *(a_memory(id, "redis") for id in ("c", "a", "b")))
    for descending in (None, True, False):
        assert ids(look(store, "redis", sort=Sort(SortField.TYPE, descending))) == ["a", "b", "c"]


def test_the_most_relevant_come_first_with_parts_that_add_up(store):
    tell(
        store,
        a_memory("plain", "we keep the webhook secret in the vault"),
        a_memory("titled", "we keep the webhook secret in the vault", title="Webhook secret", tags=("webhook",)),
    )
    found = look(store, "webhook secret", threshold=0.2)
    assert ids(found) == ["titled", "plain"]
    for match in found.hits:
        assert round(sum(match.why.breakdown.values()), 4) == match.relevance
        assert list(match.why.breakdown) == ["title_match", "content_similarity", "tag_alignment", "recency_boost"]
        assert match.why.reasons
        assert "**webhook** **secret**" in match.why.highlight


@pytest.fixture
def crowd(store):
    """More matches than are judged, of which a few say no more than was asked."""
    tell(store, *(a_memory(f"m{n:04}", "redis " + "pad " * (n % 40), title=f"T{n:04}") for n in range(JUDGED + 60)))
    return store


def test_the_most_similar_are_judged_where_not_all_are(crowd):
    found = look(crowd, "redis", threshold=0.0, limit=5)
    assert found.total == JUDGED + 60
    assert all(match.similarity > 0.99 for match in found.hits)


def test_what_was_not_judged_is_explained_when_it_is_shown(crowd):
    last = Sort(SortField.TITLE, descending=True)
    found = look(crowd, "redis", threshold=0.0, sort=last, limit=40)
    assert ids(found)[:2] == [f"m{JUDGED + 59:04}", f"m{JUDGED + 58:04}"]
    for match in found.hits:
        assert match.why.breakdown["content_similarity"] > CONTENT * MEANING * match.similarity


@pytest.fixture
def many(store):
    """More matches than are judged, all of them nearer to every question than the one that has the name."""
    near = [a_memory(f"m{n:04}", f"redis note {n}", title="Redis" if n % 2 else None) for n in range(JUDGED + 60)]
    named = a_memory("named", "ERR_POOL_7731 means that redis ran out of connections")
    cosines = {memory.id: 0.45 - n / 5000 for n, memory in enumerate(near)} | {named.id: 0.05}
    memories = [*near, named]
    save(store, *memories, embeddings=tuple(at_cosine(m, cosines[m.id]) for m in memories))
    return store


def test_an_identifier_is_found_first_among_any_number_of_entries(many):
    for text in ("ERR_POOL_7731", "what does ERR_POOL_7731 mean for redis?"):
        assert "named" in ids(look(many, text, Pointing(), threshold=0.0, limit=3))


def test_the_least_relevant_come_first_when_asked_for_though_they_were_not_judged_before(many):
    worst = look(many, "redis", Pointing(), threshold=0.3, limit=20, sort=Sort(SortField.RELEVANCE, descending=False))
    scores = [match.relevance for match in worst.hits]
    assert scores == sorted(scores) and len(set(scores)) > 1


def test_results_are_the_same_whenever_they_are_asked_for(store):
    words = ["redis", "port", "cache", "token", "deploy", "queue"]
    chance = random.Random(5)
    tell(store, *(a_memory(f"m{n}", " ".join(chance.choices(words, k=6))) for n in range(60)))
    first, second = (look(store, "redis cache token", threshold=0.0, limit=60) for _ in range(2))
    assert first == second


def test_without_a_model_everything_that_holds_a_word_matches_and_it_is_said(store):
    save(store, a_memory("all", "redis port"), a_memory("one", "redis host"), a_memory("none", "deploys"))
    found = look(store, "redis port", Off(), threshold=0.99)
    assert (ids(found), found.total, found.by_words) == (["all", "one"], 2, True)
    assert (found.hits[0].similarity, 0 < found.hits[1].similarity < 1) == (1.0, True)
    assert codes(found) == ["partial_results", "threshold_not_applied"]
    assert all(match.why.reasons for match in found.hits)


def test_without_a_model_and_without_a_word_it_fails_with_a_reason(store):
    with pytest.raises(EmbeddingFailed, match=r"has no word to search for. Ask in words$") as failed:
        look(store, "?!", Off())
    assert not failed.value.retry_possible


def test_while_the_model_loads_a_question_without_words_may_be_asked_again(store):
    with pytest.raises(EmbeddingFailed, match="try again once the model is ready") as failed:
        look(store, "?!", Loading())
    assert failed.value.retry_possible


def test_vectors_of_another_length_are_no_reason_to_find_nothing(store):
    save(store, a_memory("m1", "redis port"), embeddings=(an_embedding("m1", a_vector(1.0), model="hashed-384@1"),))
    found = look(store, "redis port")
    assert (ids(found), found.by_words) == (["m1"], True)
    assert "threshold_not_applied" in codes(found)


def test_memories_without_vectors_are_compared_by_words_and_it_is_said(store):
    tell(store, a_memory("known", "redis port"))
    save(store, a_memory("whole", "the redis port"), a_memory("part", "a redis host"), a_memory("other", "deploys"))
    found = look(store, "redis port", threshold=0.6)
    assert sorted(ids(found)) == ["known", "whole"]
    assert codes(found) == ["keyword_only"]
    assert "3 memories have no vectors" in found.warnings[0].message
    reasons = next(match.why.reasons for match in found.hits if match.stored.memory.id == "whole")
    assert any("Has 100% of the question's words" in reason for reason in reasons)
    assert not any("meaning" in reason for reason in reasons)


def test_what_has_vectors_is_never_compared_by_words_instead(shelf):
    save(shelf, a_memory("new", "near redis"))
    assert sorted(ids(look(shelf, "redis", Pointing(), threshold=0.6))) == ["near", "new"]


def test_vectors_missing_elsewhere_are_nobodys_concern_here(store):
    tell(store, a_memory("known", "redis port"))
    save(store, a_memory("away", "redis port", place=a_place("other")))
    assert look(store, "redis port").warnings == ()


def test_a_memory_found_by_its_file_alone_says_so(store):
    save(store, a_memory("m1", "keeps people out", source=Source(file="src/auth/login.py")))
    (match,) = look(store, "login", Off()).hits
    assert "Its file matches 'login'" in match.why.reasons


def test_meaning_finds_what_shares_no_word(store):
    embedder = OnnxEmbedder()
    embedder.warm()
    assert embedder.wait(60)
    tell(store, a_memory("car", "The automobile needs new tyres"), a_memory("tea", "Tea is at four"), embedder=embedder)
    (match,) = look(store, "fix the wheels of my car", embedder, threshold=0.35).hits
    assert match.stored.memory.id == "car"
    assert "in meaning" in match.why.reasons[0]
    assert "**" not in match.why.highlight


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"text": " "}, "query"),
        ({"text": "x" * 10_001}, "query"),
        ({"threshold": 1.01}, "threshold"),
        ({"threshold": -0.1}, "threshold"),
        ({"threshold": float("nan")}, "threshold"),
        ({"limit": 0}, "limit"),
        ({"types": ("decision", "invented")}, "types[1]"),
        ({"tags": ("",)}, "tags[0]"),
        ({"min_length": -1}, "min_length"),
    ],
)
def test_what_cannot_be_searched_for_is_refused_by_name(store, asked, field):
    with pytest.raises(InvalidInput) as refused:
        look(store, **{"text": "redis", **asked})
    assert [fault.field for fault in refused.value.faults] == [field]


def test_all_that_is_wrong_is_said_at_once(store):
    with pytest.raises(InvalidInput) as refused:
        look(store, "", threshold=2, limit=0, types=("x",), tags=("",), min_length=-1)
    assert len(refused.value.faults) == 6


def test_a_very_long_question_is_answered(store):
    tell(store, a_memory("m1", "redis port"))
    text = " ".join(f"word{n}" for n in range(1200)) + " redis"
    assert ids(look(store, text[-9000:], threshold=0.0)) == ["m1"]
    assert ids(look(store, text[-9000:], Off())) == ["m1"]


words = st.lists(st.sampled_from(["redis", "port", "cache", "token", "the", "webhookSecret"]), min_size=1, max_size=5)


@given(st.lists(words, max_size=12), words.map(" ".join), st.sampled_from([0.0, 0.1, 0.3, 0.6]), st.booleans())
def test_every_match_is_explained_and_every_page_is_the_beginning_of_the_next(texts, question, threshold, off):
    from retain.stores.sqlite.store import MEMORY, SqliteStore

    store = SqliteStore(MEMORY)
    tell(store, *(a_memory(f"m{n}", " ".join(text)) for n, text in enumerate(texts)))
    embedder = Off() if off else HashedEmbedder()
    whole = look(store, question, embedder, threshold=threshold, limit=100)
    assert whole.total == len(whole.hits) == sum(whole.facets.types.values())
    assert all(match.why.reasons and 0 <= match.similarity <= 1 for match in whole.hits)
    assert [m.relevance for m in whole.hits] == sorted((m.relevance for m in whole.hits), reverse=True)
    assert look(store, question, embedder, threshold=threshold, limit=3).hits == whole.hits[:3]
    store.close()
