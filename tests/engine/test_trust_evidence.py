"""Evidence: what counts for and against a memory, and what does not."""

from dataclasses import replace
from datetime import timedelta

import pytest

from fakes import FixedClock
from making import (
    EVERYWHERE,
    START,
    a_contradiction,
    a_memory,
    a_place,
    a_project,
    a_vector,
    an_embedding,
    at,
    in_state,
    save,
)
from retain.domain.changes import ContradictionState
from retain.domain.graph import CAUSAL, SIMILAR, SUPPORTS, Tie
from retain.domain.memory import Kind, Memory, Provenance, Source, State
from retain.domain.session import Caller
from retain.domain.trust import Evidence, confidence
from retain.embedding.hashed import HashedEmbedder
from retain.engine.parts import Parts
from retain.engine.trust.evidence import Known, weigh

HERE = Caller(project=a_project("shop"), session="now", agent="ada")
ADAS, BOBS = (replace(a_place(), agent=agent) for agent in ("ada", "bob"))


@pytest.fixture
def parts(store):
    return Parts(store, HashedEmbedder(), FixedClock())


def known(parts: Parts, id: str = "m1", caller: Caller = HERE) -> Known:
    return weigh(parts, list(parts.store.memories([id]).values()), caller)[id]


def tied(*ties: tuple[str, str, str]) -> tuple[Tie, ...]:
    return tuple(Tie(*tie, START) for tie in ties)


def near(parts: Parts, *memories: Memory, cosine: float = 0.9, ties: tuple[Tie, ...] = ()) -> None:
    """Saves m1, and the memories at this cosine to it."""
    beside = a_vector(cosine, (1 - cosine**2) ** 0.5)
    vectors = {"m1": a_vector(1)} | {memory.id: beside for memory in memories}
    embeddings = (an_embedding(id, vector, model=parts.embedder.model) for id, vector in vectors.items())
    save(parts.store, a_memory("m1"), *memories, embeddings=tuple(embeddings), ties=ties)


def test_what_is_known_of_a_memory_is_what_its_evidence_says(parts):
    memory = a_memory("m1", kind=Kind.EPISODIC, importance=0.8, reinforced=2, reinforced_at=at(3600))
    save(parts.store, replace(memory, source=Source(provenance=Provenance.TOOL_RESULT)))
    parts.clock.tick(7 * 86400)
    evidence = Evidence(Provenance.TOOL_RESULT, Kind.EPISODIC, START, 0.8, 2, 0, 0, 2, at(3600))
    found = known(parts)
    assert found.confidence == confidence(evidence, START + timedelta(days=7))
    assert found.confidence.recency == pytest.approx(0.5)
    assert (found.provenance, found.supporting, found.rivals) == (Provenance.TOOL_RESULT, 2, ())


def test_nothing_is_known_of_nothing(parts):
    assert weigh(parts, [], HERE) == {}


def test_repeating_a_memory_does_not_make_what_it_tells_of_more_recent(parts):
    again = at(30 * 86400)
    save(parts.store, replace(a_memory("m1"), reinforced=1, reinforced_at=again, updated=again))
    parts.clock.tick(30 * 86400)
    assert known(parts).confidence.recency == pytest.approx(0.5)
    assert known(parts).confidence.reinforcement > 0.2


@pytest.mark.parametrize(
    ("state", "counts"),
    [
        (State.ACTIVE, True),
        (State.DORMANT, True),
        (State.ARCHIVED, True),
        (State.FORGOTTEN, False),
        (State.INVALIDATED, False),
        (State.SUPERSEDED, False),
    ],
)
def test_evidence_counts_until_it_is_taken_back(parts, state, counts):
    sources = [a_memory(id, id, status=in_state(state)) for id in ("tied", "source")]
    save(parts.store, a_memory("m1", derived_from=("source",)), *sources, ties=tied(("tied", "m1", SUPPORTS)))
    assert known(parts).supporting == (2 if counts else 0)


def test_what_a_memory_has_taken_the_place_of_still_speaks_for_it(parts):
    replaced = in_state(State.SUPERSEDED, successor="m1")
    save(parts.store, a_memory("m1", derived_from=("old",)), a_memory("old", "old", status=replaced))
    assert known(parts).supporting == 1


def test_an_episode_that_a_principle_was_made_from_and_is_tied_to_counts_once(parts):
    save(parts.store, a_memory("m1", derived_from=("e1", "e2")), a_memory("e1", "one"), a_memory("e2", "two"))
    save(parts.store, ties=tied(("e1", "m1", SUPPORTS), ("e2", "m1", SUPPORTS)))
    assert known(parts).supporting == 2


def test_later_evidence_that_also_counted_as_a_repetition_counts_once(parts):
    save(parts.store, a_memory("m1", reinforced=3, reinforced_at=START), a_memory("e1", "one"))
    save(parts.store, ties=tied(("e1", "m1", SUPPORTS)))
    assert known(parts).supporting == 3
    save(parts.store, a_memory("e1", "one", status=in_state(State.FORGOTTEN)))
    assert known(parts).supporting == 2


def test_ties_of_other_kinds_are_no_support(parts):
    save(parts.store, a_memory("m1"), a_memory("m2", "two"))
    save(parts.store, ties=tied(("m2", "m1", SIMILAR), ("m2", "m1", CAUSAL[0])))
    assert known(parts).supporting == 0


def test_two_that_agree_speak_for_each_other(parts):
    save(parts.store, a_memory("m1"), a_memory("m2", "two"))
    save(parts.store, ties=tied(("m1", "m2", SUPPORTS)))
    assert (known(parts, "m1").supporting, known(parts, "m2").supporting) == (1, 1)


def test_a_principle_does_not_speak_for_what_it_was_made_from(parts):
    save(parts.store, a_memory("m1"), a_memory("m2", "two", derived_from=("m1",)))
    save(parts.store, ties=tied(("m1", "m2", SUPPORTS)))
    assert (known(parts, "m1").supporting, known(parts, "m2").supporting) == (0, 1)


def test_evidence_that_was_destroyed_is_none(parts):
    save(parts.store, a_memory("m1", derived_from=("gone",)))
    assert known(parts).supporting == 0


@pytest.mark.parametrize(
    ("state", "counts"),
    [
        (ContradictionState.OPEN, True),
        (ContradictionState.REOPENED, True),
        (ContradictionState.RESOLVED, False),
        (ContradictionState.CONTEXT_DEPENDENT, False),
    ],
)
def test_a_contradiction_counts_against_what_was_said_before_until_it_is_decided(parts, state, counts):
    save(parts.store, a_memory("m1", reinforced=1, reinforced_at=START), a_memory("m2", "We deploy on Fridays."))
    save(parts.store, contradictions=(a_contradiction("c1", "m1", "m2", state=state),))
    assert known(parts, "m1").confidence.agreement == (0.5 if counts else 1.0)
    assert known(parts, "m2").confidence.agreement == 1.0
    assert [rival.text for rival in known(parts).rivals] == (["We deploy on Fridays."] if counts else [])
    assert [rival.memory for rival in known(parts, "m2").rivals] == (["m1"] if counts else [])


def test_what_was_said_again_since_counts_against_the_newer_one(parts):
    again = {"reinforced": 1, "reinforced_at": at(60)}
    save(parts.store, a_memory("m1", **again), a_memory("m2", "We deploy on Fridays.", when=at(30)))
    save(parts.store, contradictions=(a_contradiction("c1", "m1", "m2"),))
    assert (known(parts, "m1").confidence.agreement, known(parts, "m2").confidence.agreement) == (1.0, 0.0)


def test_what_is_denied_in_one_wording_is_denied_in_all(parts):
    save(parts.store, a_memory("m1"), a_memory("m2", "Monday is for deploys."))
    save(parts.store, a_memory("m3", "We deploy on Fridays.", when=at(60)), ties=tied(("m2", "m1", SUPPORTS)))
    save(parts.store, contradictions=(a_contradiction("c1", "m2", "m3"),))
    assert ([rival.memory for rival in known(parts).against], known(parts).rivals) == (["m3"], ())
    assert known(parts).confidence.agreement == 0.5


def test_a_rival_that_has_ended_disputes_nothing(parts):
    save(parts.store, a_memory("m1"), a_memory("m2", "two", status=in_state(State.SUPERSEDED)))
    save(parts.store, contradictions=(a_contradiction("c1", "m1", "m2"),))
    assert (known(parts).confidence.agreement, known(parts).rivals) == (1.0, ())


def test_later_memories_about_the_same_thing_crowd_a_memory(parts):
    near(parts, a_memory("a", "a", when=at(1)), a_memory("b", "b", place=EVERYWHERE, when=at(2)), cosine=0.61)
    found = known(parts)
    assert found.crowding == 2
    assert found.confidence.interference == pytest.approx(1 / 1.2)
    assert (known(parts, "a").crowding, known(parts, "b").crowding) == (1, 0)


@pytest.mark.parametrize(
    "other",
    [
        {"when": at(-1)},
        {"status": in_state(State.DORMANT)},
        {"place": a_place("site")},
        {"place": a_place(user="eve")},
        {"place": BOBS},
        {"derived_from": ("m1",)},
    ],
)
def test_what_is_earlier_asleep_out_of_sight_or_made_from_it_does_not_crowd(parts, other):
    near(parts, a_memory("other", "other", **{"when": at(1), **other}))
    assert known(parts).crowding == 0


def test_what_is_about_something_else_does_not_crowd(parts):
    near(parts, a_memory("other", "other", when=at(1)), cosine=0.58)
    assert known(parts).crowding == 0


def test_the_same_said_of_another_environment_or_component_does_not_crowd(parts):
    near(parts, a_memory("other", "On staging the limit is 20 requests", when=at(1)))
    save(parts.store, a_memory("m1", "In production the limit is 10 requests"))
    assert known(parts).crowding == 0


def test_what_an_agent_keeps_to_itself_crowds_for_that_agent_alone(parts):
    near(parts, a_memory("own", "own", place=ADAS, when=at(1)))
    assert known(parts).crowding == 1
    assert known(parts, caller=replace(HERE, agent="bob")).crowding == 0
    assert known(parts, caller=replace(HERE, agent=None)).crowding == 0


@pytest.mark.parametrize(
    "tie", [("a", "m1", SUPPORTS), ("m1", "a", SUPPORTS), ("a", "m1", SIMILAR), ("m1", "a", SIMILAR)]
)
def test_what_supports_or_resembles_a_memory_does_not_crowd_it(parts, tie):
    near(parts, a_memory("a", "a", when=at(1)), a_memory("b", "b", when=at(1)), ties=tied(tie, ("b", "m1", "caused")))
    assert known(parts).crowding == 1


def test_what_a_memory_was_made_from_does_not_crowd_it(parts):
    near(parts, a_memory("source", "source", when=at(1)))
    save(parts.store, a_memory("m1", derived_from=("source",)))
    assert known(parts).crowding == 0


def test_a_memory_without_vectors_is_not_known_to_be_crowded(parts):
    near(parts, a_memory("a", "a", when=at(2)))
    save(parts.store, a_memory("bare", "bare", when=at(1)))
    assert known(parts, "bare").crowding == 0


def test_many_are_weighed_as_each_is_alone(parts):
    near(parts, a_memory("a", "a", when=at(1)), a_memory("b", "b", when=at(2), reinforced=1, reinforced_at=at(2)))
    save(parts.store, contradictions=(a_contradiction("c1", "m1", "b"),), ties=tied(("a", "b", SUPPORTS)))
    together = weigh(parts, list(parts.store.memories(["b", "m1", "a"]).values()), HERE)
    assert together == {id: known(parts, id) for id in ("m1", "a", "b")}
