"""What bears on trust: whose word, what contradicts and what became of it, ties, and what crowds a memory."""

from dataclasses import replace

import pytest

from making import (
    EVERYWHERE,
    MODEL,
    START,
    a_contradiction,
    a_memory,
    a_place,
    a_run,
    a_vector,
    an_embedding,
    at,
    in_state,
    save,
    wanted,
)
from retain.domain.changes import ContradictionState
from retain.domain.claims import fingerprint
from retain.domain.graph import CAUSAL, SIMILAR, SUPPORTS, Tie
from retain.domain.memory import Kind, Memory, Provenance, Scope, Source, State
from retain.ports import Store

OPEN, RESOLVED, CONTEXT_DEPENDENT, REOPENED = ContradictionState
ADAS = replace(a_place(), agent="ada")


def saved_with(store: Store, *memories: tuple[Memory, tuple[float, ...]]) -> None:
    vectors = (an_embedding(memory.id, a_vector(*numbers)) for memory, numbers in memories)
    save(store, *(memory for memory, _ in memories), embeddings=tuple(vectors))


def crowding(store: Store, *ids: str, floor: float = 0.6, **fields) -> dict[str, list[str]]:
    found = store.crowding(ids, MODEL, wanted(**fields), floor)
    return {id: sorted(others) for id, others in found.items()}


def three(store: Store) -> None:
    save(store, a_memory("a", "one"), a_memory("b", "two"), a_memory("c", "three"))


@pytest.mark.parametrize("provenance", [*Provenance, None])
def test_whose_word_a_memory_is_survives(store, provenance):
    save(store, a_memory("m1", source=Source("Bash", provenance=provenance)))
    assert store.memories(["m1"])["m1"].memory.source == Source("Bash", provenance=provenance)


def test_the_metrics_of_a_run_survive(store):
    run = a_run("r1", metrics={"evaluated": 12, "threshold": 0.8, "by": "llm", "extended": []})
    save(store, runs=(run, a_run("r2", when=at(1))))
    assert store.run("r1") == run
    assert store.latest_run("shop").metrics == {}


@pytest.mark.parametrize("scope", Scope)
def test_what_an_agent_keeps_to_itself_is_a_place_of_its_own(store, scope):
    shared = replace(a_place(), scope=scope, session="s1" if scope is Scope.SESSION else None)
    shared = replace(shared, project=None) if scope is Scope.USER else shared
    places = [shared, replace(shared, agent="ada"), replace(shared, agent="bob")]
    kept = [a_memory(f"m{n}", place=place, session=place.session) for n, place in enumerate(places)]
    save(store, *kept)
    for memory, place in zip(kept, places, strict=True):
        assert store.memories([memory.id])[memory.id].memory == memory
        assert [found.memory for found in store.listed(wanted(places=(place,)), 9)] == [memory]
        assert store.twin(place, fingerprint(memory.text)).memory == memory


def test_lanes_look_into_the_places_of_an_agent_only_when_asked_to(store):
    saved_with(store, (a_memory("all"), (1,)), (a_memory("hers", place=ADAS), (1,)))
    for places, found in [((a_place(),), {"all"}), ((ADAS,), {"hers"}), ((a_place(), ADAS), {"all", "hers"})]:
        filtered = wanted(places=places)
        assert set(store.by_words(["deploy"], filtered, 9).scores) == found
        assert set(store.by_vector(a_vector(1), MODEL, filtered, 9).scores) == found


def test_a_contradiction_is_found_by_its_id(store):
    three(store)
    found = a_contradiction("c1", "a", "b", by_rule=False)
    save(store, contradictions=(found,))
    assert store.contradiction("c1") == found
    assert store.contradiction("c2") is None


@pytest.mark.parametrize("state", [RESOLVED, CONTEXT_DEPENDENT, REOPENED])
def test_what_was_decided_about_a_contradiction_stays_for_the_record_when_it_is_found_again(store, state):
    three(store)
    found = a_contradiction("c1", "a", "b")
    decided = {"conditions": "on staging", "explanation": "moved", "resolved": at(5), "resolved_by": "llm"}
    decided = replace(found, state=state, winner="b", **decided)
    save(store, contradictions=(found,))
    save(store, contradictions=(decided,))
    assert [store.contradiction("c1")] == store.contradictions(["a"]) == [decided]
    save(store, contradictions=(found,))
    assert store.contradiction("c1") == replace(decided, state=REOPENED)


def test_memories_and_what_contradicts_them_are_read_at_once(store):
    three(store)
    save(store, contradictions=(a_contradiction("c1", "a", "b"),))
    found = store.with_contradictions(["b", "c", "nobody"])
    assert found == (store.memories(["b", "c"]), store.contradictions(["b", "c"]))
    assert (list(found[0]), [each.id for each in found[1]]) == (["b", "c"], ["c1"])
    assert store.with_contradictions([]) == ({}, [])


def test_one_found_again_between_the_same_two_keeps_its_id_and_when_it_was_found(store):
    three(store)
    save(store, contradictions=(a_contradiction("c1", "a", "b"),))
    save(store, contradictions=(replace(a_contradiction("c2", "a", "b", found=at(9)), detail="8080 or 9090"),))
    (known,) = store.contradictions(["b"])
    assert (known.id, known.found, known.detail) == ("c1", START, "8080 or 9090")


def test_disputes_are_listed_newest_first_by_state_in_pages_with_their_number(store):
    three(store)
    pairs = [("a", "b"), ("b", "c"), ("a", "c")]
    found = [a_contradiction(f"c{n}", *pair, found=at(n)) for n, pair in enumerate(pairs)]
    save(store, contradictions=(*found[:2], replace(found[2], state=REOPENED)))
    here = (a_place(),)
    assert store.disputes(here, (OPEN, REOPENED), 2) == ([replace(found[2], state=REOPENED), found[1]], 3)
    assert store.disputes(here, (OPEN, REOPENED), 2, 2) == ([found[0]], 3)
    assert store.disputes(here, (OPEN,), 9) == ([found[1], found[0]], 2)
    assert store.disputes(here, (), 9) == ([], 0)


def test_disputes_are_listed_where_both_memories_can_be_seen(store):
    save(store, a_memory("a"), a_memory("hers", place=ADAS), a_memory("mine", place=EVERYWHERE))
    private, wide = a_contradiction("c1", "a", "hers"), a_contradiction("c2", "a", "mine", found=at(1))
    save(store, contradictions=(private, wide))
    assert store.disputes((a_place(), EVERYWHERE), (OPEN,), 9) == ([wide], 1)
    assert store.disputes((a_place(), ADAS), (OPEN,), 9) == ([private], 1)
    assert store.disputes((a_place("site"),), (OPEN,), 9) == ([], 0)


def test_ties_are_counted_by_type_where_both_ends_can_be_seen(store):
    save(store, a_memory("a"), a_memory("b", "two"), a_memory("hers", place=ADAS))
    kinds = [("a", "b", "caused"), ("b", "a", "fixed"), ("a", "b", SUPPORTS), ("hers", "a", "led_to")]
    save(store, ties=tuple(Tie(*kind, START) for kind in kinds))
    assert store.tied(CAUSAL, (a_place(),)) == 2
    assert store.tied(CAUSAL, (a_place(), ADAS)) == 3
    assert store.tied((SUPPORTS, SIMILAR), (a_place(),)) == 1
    assert store.tied((), (a_place(),)) == store.tied(CAUSAL, (EVERYWHERE,)) == 0


def test_what_happened_later_and_is_near_enough_crowds_a_memory(store):
    numbers = {"old": (1, 0), "near": (1, 1), "far": (1, 3), "older": (1, 0.1), "same_time": (1, 0.1)}
    times = {"old": 5, "near": 6, "far": 7, "older": 4, "same_time": 5}
    saved_with(store, *((a_memory(id, id, when=at(times[id])), numbers[id]) for id in numbers))
    assert crowding(store, "old", "near") == {"old": ["near"], "near": ["far"]}
    assert crowding(store, "old", floor=0.8) == {"old": []}
    assert crowding(store, "older", floor=0.3) == {"older": ["far", "near", "old", "same_time"]}


def test_what_was_made_from_a_memory_does_not_crowd_it(store):
    made = a_memory("made", when=at(2), derived_from=("old", "other"))
    saved_with(store, (a_memory("old"), (1,)), (a_memory("unheard", when=at(1)), (1,)), (made, (1,)))
    assert crowding(store, "old", "unheard") == {"old": ["unheard"], "unheard": ["made"]}


def test_only_what_passes_the_filter_crowds(store):
    later = {
        "elsewhere": a_memory("elsewhere", place=a_place("site"), when=at(1)),
        "hers": a_memory("hers", place=ADAS, when=at(1)),
        "gone": a_memory("gone", status=in_state(State.FORGOTTEN), when=at(1)),
        "episode": a_memory("episode", kind=Kind.EPISODIC, when=at(1)),
    }
    saved_with(store, (a_memory("old"), (1,)), *((memory, (1,)) for memory in later.values()))
    assert crowding(store, "old") == {"old": ["episode"]}
    assert crowding(store, "old", kinds=(Kind.SEMANTIC,)) == {"old": []}
    assert crowding(store, "old", places=(a_place(), ADAS)) == {"old": ["episode", "hers"]}


def test_a_memory_of_any_state_or_place_may_be_asked_about(store):
    gone = a_memory("gone", place=a_place("site"), status=in_state(State.DORMANT))
    saved_with(store, (gone, (1,)), (a_memory("new", when=at(1)), (1,)))
    assert crowding(store, "gone") == {"gone": ["new"]}


def test_what_has_no_vectors_by_the_model_is_left_out(store):
    save(store, a_memory("bare"), a_memory("other"), embeddings=(an_embedding("other", a_vector(1), model="large"),))
    assert crowding(store, "bare", "other", "unknown") == {}
    saved_with(store, (a_memory("m1"), (1,)))
    assert crowding(store, "bare", "other", "m1") == {"m1": []}
    assert crowding(store) == {}


def test_a_long_memory_is_asked_about_by_its_first_chunk_and_crowds_once_by_any(store):
    long = an_embedding("long", a_vector(0, 1), a_vector(1, 0.1), a_vector(1, 0.2))
    save(store, a_memory("long", when=at(1)), embeddings=(long,))
    saved_with(store, (a_memory("old"), (1, 0)), (a_memory("new", when=at(2)), (1, 0)))
    assert crowding(store, "old", "long") == {"old": ["long", "new"], "long": []}


def test_crowding_sees_what_another_process_has_just_changed(two_stores):
    mine, theirs = two_stores
    saved_with(mine, (a_memory("old"), (1,)))
    assert crowding(mine, "old") == {"old": []}
    saved_with(theirs, (a_memory("new", when=at(1)), (1,)))
    assert crowding(mine, "old") == {"old": ["new"]}
    save(theirs, a_memory("new", when=at(1), status=in_state(State.SUPERSEDED)))
    assert crowding(mine, "old") == {"old": []}


@pytest.mark.parametrize(("state", "there"), [(State.SUPERSEDED, 1), (State.FORGOTTEN, 0), (State.INVALIDATED, 0)])
def test_one_that_is_open_again_may_have_a_side_that_was_superseded_but_none_that_was_given_up(store, state, there):
    save(store, a_memory("a", status=in_state(state)), a_memory("b", "two"))
    save(store, contradictions=(a_contradiction("c1", "a", "b", state=REOPENED),))
    assert store.disputes((a_place(),), (REOPENED,), 10)[1] == there
