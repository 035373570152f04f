"""The keyword lane: it ranks as BM25 does, and no text that is searched for can break it."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from making import a_memory, ids, save, wanted
from retain.domain.words import query_terms, terms


def found(store, question, limit=10):
    return store.by_words(query_terms(question), wanted(), limit, counted=True)


def texts(store, **named):
    save(store, *(a_memory(id, text) for id, text in named.items()))


def test_any_of_the_terms_may_match(store):
    texts(store, a="the red door", b="the blue door", c="a window")
    assert set(found(store, "red door").scores) == {"a", "b"}


def test_more_occurrences_rank_higher_in_texts_of_one_length(store):
    texts(
        store, once="cache server client proxy", twice="cache server cache proxy", filler="unrelated words stand here"
    )
    assert list(found(store, "cache").scores) == ["twice", "once"]


def test_a_short_text_ranks_higher_than_a_long_one(store):
    texts(store, long="cache " + "other words follow on and on " * 10, short="cache server")
    assert list(found(store, "cache").scores) == ["short", "long"]


def test_a_rare_term_weighs_more_than_a_common_one(store):
    common = {f"c{n}": f"deploy number{n}" for n in range(20)}
    texts(store, rare="kafka number99", **common)
    assert next(iter(found(store, "deploy kafka").scores)) == "rare"


def test_scores_fall_and_are_positive(store):
    texts(store, a="red green blue", b="red green", c="red", d="none", e="of", f="these")
    scores = list(found(store, "red green blue").scores.values())
    assert scores == sorted(scores, reverse=True)
    assert all(score > 0 for score in scores)


def test_the_limit_cuts_the_answer_and_not_the_count(store):
    texts(store, **{f"m{n}": f"cache entry number{n}" for n in range(30)})
    result = found(store, "cache", limit=4)
    assert (len(result), result.matched) == (4, 30)


def test_a_term_is_counted_anew_once_anybody_has_written(two_stores):
    here, there = two_stores
    texts(here, a="the red door")
    assert [here.corpus(["red"]).holding["red"], here.corpus(["red"]).holding["red"]] == [1, 1]
    texts(there, b="a red window")
    assert (here.corpus(["red"]).holding, set(found(here, "red").scores)) == ({"red": 2}, {"a", "b"})


def test_what_nobody_said_is_not_found(store):
    texts(store, a="red")
    for question in ("purple", "", "   ", "?!"):
        assert (dict(found(store, question).scores), found(store, question).matched) == ({}, 0)


def test_a_common_term_alone_still_finds(store):
    save(store, *(a_memory(f"m{n}", f"shared word{n}") for n in range(1900)))
    assert (found(store, "shared", limit=5).matched, found(store, "shared").exact) == (1900, True)
    assert next(iter(found(store, "shared word7").scores)) == "m7"


def test_a_rare_term_decides_and_the_texts_with_common_ones_are_counted(store):
    save(store, *(a_memory(f"m{n}", f"shared word{n}") for n in range(450)))
    answer = found(store, "shared word7", limit=2000)
    assert (next(iter(answer.scores)), answer.matched, answer.exact) == ("m7", 450, True)


def test_of_common_terms_those_that_stand_together_win(store):
    texts = [("red" if n % 2 else "blue") + f" paint {n}" for n in range(1000)] + ["red blue stripes"]
    save(store, *(a_memory(f"m{n}", text) for n, text in enumerate(texts)))
    assert next(iter(found(store, "red blue").scores)) == "m1000"


def test_a_count_of_very_many_is_a_lower_bound_and_says_so(store):
    save(store, *(a_memory(f"m{n}", f"shared word{n}") for n in range(2100)))
    answer = found(store, "shared", limit=5)
    assert answer.matched < 2100
    assert not answer.exact


@pytest.mark.parametrize(
    "term",
    [
        '"',
        '"foo" OR NEAR( *',
        "foo*",
        "words:foo",
        "^foo",
        "foo AND bar",
        "NOT",
        "'; drop table memory; --",
        "\0",
        "",
        "%",
        "-1",
    ],
)
def test_query_syntax_in_a_term_is_only_text(store, term):
    texts(store, a="foo bar")
    assert store.by_words([term], wanted(), 5).matched == 0
    assert ids(store.by_words([term, "foo"], wanted(), 5)) == ["a"]
    assert store.corpus([term]).holding == {term: 0}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80))
def test_every_text_is_found_by_its_own_terms(store, text):
    save(store, a_memory("m1", text))
    assert ids(store.by_words(terms(text), wanted(), 5)) == (["m1"] if terms(text) else [])
