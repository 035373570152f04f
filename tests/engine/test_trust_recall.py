"""Recall by trust: similarity × confidence decides, and both are said."""

import math
from dataclasses import replace

import pytest

from fakes import FixedClock
from making import (
    START,
    a_contradiction,
    a_memory,
    a_place,
    a_project,
    a_session_place,
    an_embedding,
    at,
    in_state,
    save,
)
from retain.domain.changes import ContradictionState
from retain.domain.memory import Kind, Memory, Provenance, Source, State
from retain.domain.recall import MIN_COSINE
from retain.domain.session import Caller
from retain.embedding.hashed import HashedEmbedder
from retain.embedding.off import NoEmbedder
from retain.embedding.onnx import OnnxEmbedder
from retain.engine.parts import Parts
from retain.engine.trust.recalling import TrustAnswer, TrustQuestion, recall_by_trust
from retain.errors import InvalidInput, QueryTimeout

HERE = Caller(project=a_project("shop"), session="now", agent="ada")
DORMANT = in_state(State.DORMANT)


class Late:
    """A store whose searches are not ready in time, but for those given."""

    def __init__(self, store, *ready):
        self._store, self._ready = store, ready

    def __getattr__(self, name):
        late = name in ("by_vector", "by_words") and name not in self._ready
        return self._late if late else getattr(self._store, name)

    def _late(self, *_):
        raise QueryTimeout("too late")


@pytest.fixture
def parts(store):
    return Parts(store, HashedEmbedder(), FixedClock())


def tell(parts: Parts, *memories: Memory) -> None:
    """Saves memories with their vectors, where there is a model to make them."""
    embedder, vectors = parts.embedder, []
    if embedder.wait(0):
        vectors = [an_embedding(m.id, *embedder.embed([m.text]), model=embedder.model) for m in memories]
    save(parts.store, *memories, embeddings=tuple(vectors))


def by(provenance: Provenance) -> Source:
    return Source(provenance=provenance)


def ask(parts: Parts, text: str = "redis", caller: Caller = HERE, **given) -> TrustAnswer:
    return recall_by_trust(parts, TrustQuestion(text, **given), caller)


def ids(hits) -> list[str]:
    return [hit.id for hit in hits]


def test_of_two_that_are_as_alike_the_more_reliable_word_comes_first(parts):
    guess = a_memory("a", "redis port", source=by(Provenance.MODEL_GENERATED))
    seen = a_memory("b", "redis host", source=by(Provenance.DIRECT_OBSERVATION))
    tell(parts, guess, seen)
    found = ask(parts)
    assert ids(found.hits) == ["b", "a"]
    assert found.hits[0].similarity == pytest.approx(found.hits[1].similarity)


def test_a_doubtful_memory_leads_only_when_it_is_much_more_alike(parts):
    doubtful, sound = by(Provenance.MODEL_GENERATED), by(Provenance.TOLD_BY_USER)
    tell(parts, a_memory("a", "redis cache", source=doubtful), a_memory("b", "redis host", source=sound))
    assert ids(ask(parts, "redis").hits) == ["b", "a"]
    assert ids(ask(parts, "redis cache").hits) == ["a", "b"]


def test_the_score_is_similarity_times_confidence_and_all_three_are_within_bounds(parts):
    tell(parts, *(a_memory(f"m{n}", "redis " + "cache " * n, importance=n / 4, when=at(n)) for n in range(5)))
    hits = ask(parts, "redis cache").hits
    assert len(hits) == 5
    for hit in hits:
        assert hit.score == hit.similarity * hit.known.confidence.total
        assert 0 <= hit.score <= hit.similarity <= 1
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_equals_come_in_the_order_of_their_ids(parts):
    tell(
        parts, *(a_memory(id, f"redis {place}", place=a_place()) for id, place in (("c", "x"), ("a", "y"), ("b", "z")))
    )
    assert ids(ask(parts).hits) == ["a", "b", "c"]


def test_what_is_not_trusted_as_far_as_was_asked_is_left_out_before_the_limit(parts):
    doubtful = [a_memory(f"a{n}", "redis", source=by(Provenance.MODEL_GENERATED)) for n in range(3)]
    tell(parts, *doubtful, a_memory("b", "redis host", source=by(Provenance.DIRECT_OBSERVATION)))
    assert ask(parts, limit=1).matched == 4
    found = ask(parts, limit=1, min_confidence=0.75)
    assert (ids(found.hits), found.matched) == (["b"], 1)
    assert ask(parts, min_confidence=1.0).hits == ()


def test_only_the_kinds_that_were_asked_for_are_found(parts):
    tell(parts, *(a_memory(kind.value, "redis", kind=kind) for kind in Kind))
    assert set(ids(ask(parts).hits)) == set(Kind)
    assert ids(ask(parts, kinds=(Kind.EPISODIC,)).hits) == ["episodic"]
    assert set(ids(ask(parts, kinds=(Kind.SEMANTIC, Kind.PROCEDURAL)).hits)) == {"semantic", "procedural"}


@pytest.mark.parametrize("state", [state for state in State if state not in (State.ACTIVE, State.DORMANT)])
def test_what_has_ended_never_appears(parts, state):
    tell(parts, a_memory("m1", "redis", status=in_state(state)))
    found = ask(parts)
    assert (found.hits, found.dormant, found.matched) == ((), (), 0)


def test_a_caller_finds_what_it_can_see_and_an_agent_what_it_keeps_to_itself(parts):
    places = {
        "project": a_place(),
        "session": a_session_place("now"),
        "own": replace(a_place(), agent="ada"),
        "another_agent": replace(a_place(), agent="bob"),
        "another_session": a_session_place("then"),
        "another_project": a_place("site"),
        "another_user": a_place(user="eve"),
    }
    tell(parts, *(a_memory(id, "redis", place=place, session=place.session) for id, place in places.items()))
    assert set(ids(ask(parts).hits)) == {"project", "session", "own"}
    assert set(ids(ask(parts, caller=replace(HERE, agent=None)).hits)) == {"project", "session"}


def test_where_few_are_awake_the_best_that_sleep_are_shown_apart(parts):
    tell(parts, a_memory("awake", "redis host"))
    tell(parts, *(a_memory(f"m{n}", "redis " + "cache " * n, status=DORMANT) for n in range(5)))
    found = ask(parts, limit=2)
    assert (ids(found.hits), found.matched) == (["awake"], 1)
    assert ids(found.dormant) == ["m0", "m1", "m2"]
    assert ask(parts, limit=1).dormant == ()


def test_what_sleeps_must_match_and_be_trusted_as_what_is_awake(parts):
    guess = by(Provenance.MODEL_GENERATED)
    tell(parts, a_memory("m1", "redis", status=DORMANT, source=guess), a_memory("m2", "postgres", status=DORMANT))
    assert ids(ask(parts).dormant) == ["m1"]
    assert ask(parts, min_confidence=0.7).dormant == ask(parts, kinds=(Kind.EPISODIC,)).dormant == ()


def test_words_find_what_meaning_does_not_and_it_ranks_by_its_cosine(parts):
    tell(parts, a_memory("m1", "redis " + " ".join(f"word{n}" for n in range(30))))
    (hit,) = ask(parts, "redis").hits
    assert 0 < hit.similarity < MIN_COSINE


def test_what_has_no_vector_yet_is_found_by_its_words(parts):
    save(parts.store, a_memory("bare", "redis port"), a_memory("other", "postgres port"))
    found = ask(parts, "redis")
    assert (ids(found.hits), found.warnings) == (["bare"], ())
    assert 0 < found.hits[0].similarity <= 1


def test_without_a_model_words_answer_and_the_reply_says_so(store):
    parts = Parts(store, NoEmbedder("switched off"), FixedClock())
    tell(parts, a_memory("m1", "redis port"), a_memory("m2", "postgres port"), a_memory("m3", "redis", status=DORMANT))
    found = ask(parts, "redis port")
    assert ids(found.hits) == ["m1", "m2"]
    assert found.hits[0].similarity > found.hits[1].similarity > 0
    assert ids(found.dormant) == ["m3"]
    assert [warning.code for warning in found.warnings] == ["partial_results"]


def test_a_search_that_is_late_is_an_error_when_nothing_else_answers(parts):
    tell(parts, a_memory("m1", "redis"))
    with pytest.raises(QueryTimeout):
        ask(replace(parts, store=Late(parts.store)))


def test_a_search_that_is_late_leaves_the_answer_to_the_other(parts):
    tell(parts, a_memory("m1", "redis"))
    late = replace(parts, store=Late(parts.store, "by_words"))
    found = ask(late)
    assert (ids(found.hits), [warning.code for warning in found.warnings]) == (["m1"], ["query_timeout"])
    assert ask(late, min_confidence=1.0).hits == ()


def test_nothing_is_found_where_nothing_is(parts):
    assert ask(parts) == TrustAnswer((), 0)


def test_a_disputed_hit_names_its_rival_and_a_decided_one_its_conditions(parts):
    tell(parts, a_memory("a", "redis listens on 6379"), a_memory("b", "redis listens on 6380", when=at(1)))
    found = a_contradiction("c1", "a", "b")
    save(parts.store, contradictions=(found,))
    assert {hit.id: hit.known.rivals[0].memory for hit in ask(parts).hits} == {"a": "b", "b": "a"}
    decided = replace(found, state=ContradictionState.CONTEXT_DEPENDENT, conditions="6380 in the tests")
    save(parts.store, contradictions=(decided,))
    for hit in ask(parts).hits:
        assert (hit.known.rivals, hit.stored.standing.conditions) == ((), ("6380 in the tests",))


@pytest.mark.parametrize("newer_is_first", [True, False])
def test_the_present_truth_comes_before_the_one_that_it_disputes(store, newer_is_first):
    embedder = OnnxEmbedder()
    embedder.warm()
    assert embedder.wait(60)
    parts = Parts(store, embedder, FixedClock())
    texts = ["The API listens on port 8080", "The API listens on port 9090"]
    old, new = reversed(texts) if newer_is_first else texts
    tell(parts, a_memory("old", old), a_memory("new", new, when=at(20 * 86400)))
    save(parts.store, contradictions=(a_contradiction("c1", "old", "new"),))
    parts.clock.tick(30 * 86400)
    found = ask(parts, "which port does the API listen on?")
    assert ids(found.hits) == ["new", "old"]
    assert (found.hits[0].known.crowding, found.hits[1].known.crowding) == (0, 1)


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        ({"text": "  "}, ["query"]),
        ({"limit": 0}, ["limit"]),
        ({"limit": 51}, ["limit"]),
        ({"min_confidence": 1.01}, ["min_confidence"]),
        ({"min_confidence": math.nan}, ["min_confidence"]),
        ({"text": "", "limit": -1, "min_confidence": -0.1}, ["query", "limit", "min_confidence"]),
    ],
)
def test_what_cannot_be_asked_is_refused_with_every_fault_at_once(parts, given, fields):
    with pytest.raises(InvalidInput) as refused:
        ask(parts, **{"text": "redis", **given})
    assert [fault.field for fault in refused.value.faults] == fields


def test_as_many_as_may_be_asked_for_are_given(parts):
    tell(parts, *(a_memory(f"m{n:02}", f"redis {'cache ' * (n % 9)}", when=START) for n in range(60)))
    found = ask(parts, "redis", limit=50)
    assert (len(found.hits), found.matched) == (50, 60)


PORTS = {"old": "redis listens on 6379", "new": "redis listens on 7000 these days, as we agreed last week"}


def disputed(parts, old, new):
    """Two that cannot both be true; the old one is more like the question."""
    tell(
        parts, a_memory("old", PORTS["old"], source=by(old)), a_memory("new", PORTS["new"], source=by(new), when=at(60))
    )
    save(parts.store, contradictions=(a_contradiction("c1", "old", "new"),))
    return [(hit.id, hit.score) for hit in ask(parts, "redis listens on").hits]


@pytest.mark.parametrize("new", [Provenance.TOLD_BY_USER, Provenance.TOOL_RESULT])
def test_of_two_that_cannot_both_be_true_the_later_one_leads(parts, new):
    first, second = disputed(parts, Provenance.DIRECT_OBSERVATION, new)
    assert (first[0], second[0]) == ("new", "old") and second[1] < first[1]


def test_a_much_weaker_word_does_not_replace_a_better_one(parts):
    assert [id for id, _ in disputed(parts, Provenance.TOLD_BY_USER, Provenance.MODEL_GENERATED)] == ["old", "new"]


def test_what_leads_comes_along_though_it_was_not_found_itself(parts):
    tell(parts, a_memory("old", PORTS["old"]), a_memory("new", "quite something else", when=at(60)))
    parts.clock.tick(3600)
    (alone,) = ask(parts, "redis listens on").hits
    save(parts.store, contradictions=(a_contradiction("c1", "old", "new"),))
    new, old = ask(parts, "redis listens on").hits
    assert (new.id, old.id) == ("new", "old")
    assert old.score < new.score <= alone.score and new.similarity < old.similarity


def test_what_cannot_be_trusted_far_enough_does_not_come_along(parts):
    old = a_memory("old", PORTS["old"], importance=1.0)
    tell(parts, old, a_memory("new", "something else", when=at(60), importance=0.0))
    save(parts.store, contradictions=(a_contradiction("c1", "old", "new"),))
    parts.clock.tick(3600)
    least = ask(parts, "redis listens on").hits[-1].known.confidence.total
    assert ids(ask(parts, "redis listens on", min_confidence=least).hits) == ["old"]
