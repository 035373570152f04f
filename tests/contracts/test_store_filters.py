"""Every condition of a filter holds inside every lane that finds memories."""

from dataclasses import replace
from datetime import timedelta

import pytest

from making import (
    EVERYWHERE,
    MODEL,
    START,
    a_link,
    a_memory,
    a_place,
    a_session_place,
    a_vector,
    an_embedding,
    an_entity,
    at,
    ids,
    in_state,
    save,
    wanted,
)
from retain.domain.memory import Kind, State


def by_list(store, filter):
    return ids(store.listed(filter, 50))


def by_words(store, filter):
    return ids(store.by_words(["common"], filter, 50))


def by_vector(store, filter):
    return ids(store.by_vector(a_vector(1, 1), MODEL, filter, 50))


def by_entity(store, filter):
    return [link.memory for link in store.linked(["e-Thing"], filter, 50)]


def by_page(store, filter):
    return [card.id for card in store.page(filter, 50).items]


def by_holding(store, filter):
    return sorted(store.holding(["common"], filter))


def by_nearness(store, filter):
    return list(store.near(a_vector(1, 1), MODEL, filter, 0.5))


def by_title(store, filter):
    return [id for id, _ in store.titles(filter)]


LANES = pytest.mark.parametrize(
    "lane", [by_list, by_words, by_vector, by_entity, by_page, by_holding, by_nearness, by_title]
)

HOUR = timedelta(hours=1)
KEPT, OTHER = "kept", "other"
CASES = {
    "place": (a_memory(place=a_place("a")), a_memory(place=a_place("b")), {"places": (a_place("a"),)}),
    "user": (
        a_memory(place=a_place(user="ada")),
        a_memory(place=a_place(user="eve")),
        {"places": (a_place(user="ada"),)},
    ),
    "scope": (a_memory(place=EVERYWHERE), a_memory(), {"places": (EVERYWHERE,)}),
    "session scope": (
        a_memory(place=a_session_place("s1"), session="s1"),
        a_memory(place=a_session_place("s2"), session="s2"),
        {"places": (a_session_place("s1"),)},
    ),
    "kind": (a_memory(kind=Kind.PROCEDURAL), a_memory(), {"kinds": (Kind.PROCEDURAL, Kind.EPISODIC)}),
    "category": (a_memory(category="decision"), a_memory(category="code"), {"categories": ("decision", "pattern")}),
    "type": (a_memory(category="decision"), a_memory(category="code"), {"types": ("decision", "pattern")}),
    "type of what has no category": (
        a_memory(kind=Kind.PROCEDURAL),
        a_memory(kind=Kind.PROCEDURAL, category="code"),
        {"types": ("pattern",)},
    ),
    "type that no kind stands for": (a_memory(category="gotcha"), a_memory(), {"types": ("gotcha",)}),
    "any tag, in any case": (a_memory(tags=("x", "STRASSE")), a_memory(tags=("y",)), {"tags": ("straße", "z")}),
    "after": (a_memory(when=START), a_memory(when=START - HOUR), {"after": START}),
    "before": (a_memory(when=START - HOUR), a_memory(when=START), {"before": START - HOUR}),
    "before 1970": (
        a_memory(when=START.replace(year=1950)),
        a_memory(when=START),
        {"before": START.replace(year=1960)},
    ),
    "importance": (a_memory(importance=0.8), a_memory(importance=0.7), {"min_importance": 0.8}),
    "active unless asked": (a_memory(), a_memory(status=in_state(State.FORGOTTEN)), {}),
    "states": (
        a_memory(status=in_state(State.SUPERSEDED)),
        a_memory(),
        {"states": (State.SUPERSEDED, State.ARCHIVED)},
    ),
    "session": (a_memory(session="s1"), a_memory(session="s2"), {"session": "s1"}),
    "valid then": (a_memory(), a_memory(valid_until=at(10)), {"valid_at": at(10)}),
    "not valid yet": (a_memory(), a_memory(when=at(20)), {"valid_at": at(10)}),
    "stored by then": (a_memory(created=at(10)), a_memory(created=at(11)), {"stored_by": at(10)}),
}


def keep_both(store, kept, other):
    memories = (
        replace(kept, id=KEPT, text="common kept", title="One"),
        replace(other, id=OTHER, text="common other", title="Another"),
    )
    save(
        store,
        *memories,
        embeddings=tuple(an_embedding(m.id, a_vector(1, 1)) for m in memories),
        entities=(an_entity("Thing"),),
        links=tuple(a_link(m.id, "Thing") for m in memories),
    )


@LANES
@pytest.mark.parametrize("case", CASES)
def test_a_filter_leaves_out_what_it_does_not_want(store, lane, case):
    kept, other, conditions = CASES[case]
    keep_both(store, kept, other)
    assert lane(store, wanted(**conditions)) == [KEPT]


@LANES
def test_without_states_all_of_them_are_found(store, lane):
    keep_both(store, a_memory(), a_memory(status=in_state(State.FORGOTTEN)))
    assert set(lane(store, wanted(states=()))) == {KEPT, OTHER}


@LANES
def test_without_places_nothing_is_found(store, lane):
    keep_both(store, a_memory(), a_memory())
    assert lane(store, wanted(places=())) == []


@LANES
def test_conditions_hold_together(store, lane):
    keep_both(store, a_memory(tags=("a",), importance=0.9), a_memory(tags=("a",), importance=0.1))
    assert lane(store, wanted(tags=("a",), min_importance=0.5, valid_at=at(1))) == [KEPT]


@LANES
@pytest.mark.parametrize(("least", "found"), [(11, {KEPT, OTHER}), (12, {OTHER}), (13, set())])
def test_a_text_is_as_long_as_it_has_characters(store, lane, least, found):
    keep_both(store, a_memory(), a_memory())
    assert set(lane(store, wanted(min_length=least))) == found


@LANES
def test_a_change_of_what_is_filtered_by_is_seen_at_once(store, lane):
    keep_both(store, a_memory(), a_memory())
    assert set(lane(store, wanted())) == {KEPT, OTHER}
    changed = a_memory(OTHER, "common other", title="Another", status=in_state(State.ARCHIVED), version=2)
    save(store, changed)
    assert lane(store, wanted()) == [KEPT]


@LANES
def test_a_change_by_another_process_is_seen_at_once(two_stores, lane):
    one, other = two_stores
    keep_both(one, a_memory(), a_memory())
    assert set(lane(other, wanted())) == {KEPT, OTHER}
    save(one, a_memory(OTHER, "common other", place=a_place("elsewhere"), version=2))
    assert lane(other, wanted()) == [KEPT]


def test_a_session_is_listed_newest_first_over_its_places_and_states(store):
    forgotten = in_state(State.FORGOTTEN)
    save(store, a_memory("m1", session="s1", when=at(1)), a_memory("m2", session="s2", when=at(2)))
    save(store, a_memory("m3", session="s1", when=at(3), status=forgotten))
    save(store, a_memory("m4", session="s1", when=at(4), place=EVERYWHERE))
    filter = wanted(places=(a_place(), EVERYWHERE), states=(State.ACTIVE, State.FORGOTTEN), session="s1")
    assert by_list(store, filter) == ["m4", "m3", "m1"]
    assert ids(store.listed(filter, 1, 1)) == ["m3"]


def test_link_counts_are_of_memories_that_pass_the_filter(store):
    keep_both(store, a_memory(), a_memory(status=in_state(State.FORGOTTEN)))
    assert store.link_counts(["e-Thing", "e-None"], wanted()) == {"e-Thing": 1}
    assert store.link_counts(["e-Thing"], wanted(states=())) == {"e-Thing": 2}
