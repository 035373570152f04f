"""Entities under one key, relations that grow, links that go stale, and walks that end."""

import pytest

from making import (
    EVERYWHERE,
    START,
    a_link,
    a_memory,
    a_relation,
    an_entity,
    at,
    save,
    wanted,
)
from retain.domain.changes import Changes
from retain.domain.graph import SAID_BY, Direction, Neighbourhood

BOTH, OUT, IN = Direction.BOTH, Direction.OUTGOING, Direction.INCOMING


def graph(store, *edges, **fields):
    """Entities and relations from pairs of names."""
    names = dict.fromkeys(name for edge in edges for name in edge[:2])
    save(store, entities=tuple(map(an_entity, names)), relations=tuple(a_relation(*e) for e in edges), **fields)


def walk(store, *seeds, direction=BOTH, relation=None, depth=3, limit=50):
    return store.neighbourhood([f"e-{seed}" for seed in seeds], direction, relation, depth, limit)


def names(found):
    return [entity.name for entity in found.entities]


def test_a_name_is_one_entity_whatever_its_case_width_and_spaces(store):
    save(store, entities=(an_entity("Auth  Service", id="e1"),))
    save(store, entities=(an_entity("auth ｓervice", "SERVICE", id="e2"),))
    (entity,) = store.entities_named(["AUTH service"], ["shop"])
    assert (entity.id, entity.name) == ("e1", "Auth  Service")


def test_another_type_or_owner_is_another_entity(store):
    save(
        store,
        entities=(an_entity("X", "file", id="1"), an_entity("X", "team", id="2"), an_entity("X", "file", "b", "3")),
    )
    assert {e.id for e in store.entities_named(["x"], ["shop"])} == {"1", "2"}
    assert {e.id for e in store.entities_named(["x", "y"], ["shop", "b"])} == {"1", "2", "3"}
    assert store.entities_named(["x"], []) == store.entities_named([], ["shop"]) == []


def test_entities_come_by_id_and_names_by_owner(store):
    save(store, entities=(an_entity("A"), an_entity("B"), an_entity("C", owner="other")))
    assert [entity.name for entity in store.entities(["e-B", "nobody", "e-A"])] == ["B", "A"]
    assert sorted(store.entity_names(["shop"])) == ["A", "B"]
    assert store.names(["e-C", "nobody", "e-A"]) == {"e-A": "A", "e-C": "C"}
    assert store.names([]) == {}


def test_a_link_to_an_entity_that_is_known_under_another_id_reaches_it(store):
    save(store, a_memory("m1"), entities=(an_entity("Redis", id="e-first"),))
    save(store, entities=(an_entity("redis", id="e-Redis"),), links=(a_link("m1", "Redis"),))
    ((link, entity),) = store.links(["m1"])
    assert link.entity == entity.id == "e-first"


def test_a_relation_between_entities_known_under_other_ids_reaches_them(store):
    save(store, entities=(an_entity("A", id="first-a"), an_entity("B", id="first-b")))
    save(store, entities=(an_entity("A"), an_entity("B")), relations=(a_relation("A", "B"),))
    (relation,) = store.neighbourhood(["first-a"], OUT, None, 1, 9).relations
    assert (relation.source, relation.target) == ("first-a", "first-b")


def test_links_come_with_their_entities(store):
    save(
        store,
        a_memory("m1"),
        a_memory("m2", "b"),
        entities=(an_entity("A"), an_entity("B")),
        links=(a_link("m1", "A", by_rule=True), a_link("m1", "B", "uses"), a_link("m2", "A")),
    )
    found = {(link.memory, entity.name, link.relationship, link.by_rule) for link, entity in store.links(["m1"])}
    assert found == {("m1", "A", "mentions", True), ("m1", "B", "uses", False)}


def test_a_link_that_somebody_states_is_no_longer_a_guess(store):
    save(store, a_memory("m1"), entities=(an_entity("A"),), links=(a_link("m1", "A", by_rule=True),))
    save(store, links=(a_link("m1", "A"),))
    save(store, links=(a_link("m1", "A", by_rule=True),))
    ((link, _),) = store.links(["m1"])
    assert not link.by_rule


def test_links_go_stale_and_fresh_again_with_their_memory(store):
    save(store, a_memory("m1"), entities=(an_entity("A"),), links=(a_link("m1", "A"),))
    for stale in (True, False):
        save(store, stale=(("m1", stale),))
        assert [link.stale for link, _ in store.links(["m1"])] == [stale]


def test_an_unlinked_entity_stays_and_the_link_goes(store):
    save(store, a_memory("m1"), entities=(an_entity("A"), an_entity("B")), links=(a_link("m1", "A"), a_link("m1", "B")))
    save(store, unlinked=(("m1", "e-A"),))
    assert [entity.name for _, entity in store.links(["m1"])] == ["B"]
    assert len(store.entities(["e-A"])) == 1


def test_linked_gives_the_newest_memories_of_an_entity(store):
    memories = [a_memory(f"m{n}", f"text {n}", when=at(n)) for n in range(4)]
    save(store, *memories, entities=(an_entity("A"),), links=tuple(a_link(m.id, "A") for m in memories))
    assert [link.memory for link in store.linked(["e-A"], wanted(), 2)] == ["m3", "m2"]
    assert store.linked([], wanted(), 2) == []


def test_speakers_are_the_entities_that_said_enough(store):
    memories = [a_memory(f"m{n}", f"text {n}") for n in range(3)]
    links = tuple(a_link(m.id, "Ada", SAID_BY) for m in memories) + (a_link("m0", "Bob", SAID_BY), a_link("m1", "Bob"))
    save(store, *memories, entities=(an_entity("Ada"), an_entity("Bob")), links=links)
    assert store.speakers(["e-Ada", "e-Bob"], 3) == {"e-Ada"}


def test_a_relation_seen_again_grows_towards_one_and_keeps_its_beginning(store):
    graph(store, ("A", "B"))
    save(store, entities=(an_entity("C"),), relations=(a_relation("A", "C", weight=0.5, by_rule=True),))
    save(store, relations=(a_relation("A", "C", weight=0.5),))
    grown = {r.target: r for r in walk(store, "A", depth=1).relations}
    assert grown["e-C"].weight == pytest.approx(0.75)
    assert grown["e-B"].weight == 1.0
    assert (grown["e-C"].by_rule, grown["e-C"].created) == (False, START)


def test_a_walk_goes_as_deep_as_it_is_told(store):
    graph(store, ("A", "B"), ("B", "C"), ("C", "D"))
    assert names(walk(store, "A", depth=0)) == ["A"]
    assert names(walk(store, "A", depth=1)) == ["A", "B"]
    found = walk(store, "A", depth=2)
    assert (names(found), found.hops["e-C"], found.depth_reached) == (["A", "B", "C"], 2, 2)
    assert walk(store, "A", depth=9).depth_reached == 3


def test_a_walk_goes_in_the_direction_it_is_told(store):
    graph(store, ("A", "B"), ("C", "A"))
    assert names(walk(store, "A", direction=OUT)) == ["A", "B"]
    assert names(walk(store, "A", direction=IN)) == ["A", "C"]
    assert set(names(walk(store, "A"))) == {"A", "B", "C"}


def test_a_walk_follows_one_type_of_relation(store):
    graph(store, ("A", "B", "uses"), ("A", "C", "owns"), ("B", "D", "uses"))
    assert names(walk(store, "A", relation="uses")) == ["A", "B", "D"]
    assert names(walk(store, "A", relation="eats")) == ["A"]


def test_a_walk_through_cycles_and_loops_ends(store):
    graph(store, ("A", "B"), ("B", "C"), ("C", "A"), ("A", "A"), ("B", "A"))
    found = walk(store, "A", depth=50)
    assert (set(names(found)), found.relationships_found) == ({"A", "B", "C"}, 5)


def test_the_limit_cuts_the_list_and_not_the_numbers(store):
    graph(store, *(("hub", f"spoke{n:02}") for n in range(20)))
    found = walk(store, "hub", limit=5)
    assert len(found.entities) == 5
    assert names(found)[0] == "hub"
    assert (found.entities_traversed, found.relationships_found) == (21, 20)


def test_a_walk_from_nowhere_finds_nothing(store):
    graph(store, ("A", "B"))
    found = walk(store, "nobody")
    assert (found.entities, found.relations, found.entities_traversed, found.relationships_found) == ((), (), 0, 0)
    assert walk(store).entities == ()


def test_the_most_connected_come_first_and_the_numbers_are_of_all(store):
    graph(store, ("hub", "a"), ("hub", "b"), ("hub", "c"), ("a", "b"))
    found = store.most_connected(["shop"], None, 2)
    assert isinstance(found, Neighbourhood)
    assert names(found)[0] == "hub"
    assert (len(found.entities), found.entities_traversed, found.relationships_found) == (2, 4, 4)
    assert store.most_connected(["another"], None, 2).entities == ()


def test_the_most_connected_by_one_type_of_relation(store):
    graph(store, ("A", "B", "uses"), ("C", "D", "owns"), ("C", "E", "owns"))
    assert set(names(store.most_connected(["shop"], "uses", 9))) == {"A", "B"}


def test_the_overview_counts_types(store):
    save(
        store,
        entities=(an_entity("A", "file"), an_entity("B", "file"), an_entity("C", "team"), an_entity("D", owner="x")),
    )
    save(store, relations=(a_relation("A", "B", "uses"), a_relation("A", "C", "owns")))
    overview = store.overview(["shop"])
    assert (overview.entities, overview.relations) == (3, 2)
    assert overview.entity_types == {"file": 2, "team": 1}
    assert overview.relation_types == {"uses": 1, "owns": 1}


def test_a_link_to_a_memory_that_is_not_there_is_left_out(store):
    save(store, a_memory("m1", place=EVERYWHERE), entities=(an_entity("A"),), links=(a_link("nobody", "A"),))
    assert store.links(["nobody"]) == []
    assert store.apply(Changes(at=START)).change
    assert store.faults() == []


def test_a_relation_is_stale_once_every_memory_that_speaks_of_both_ends_is(store):
    graph(store, ("A", "B"), ("B", "C"), ("C", "D"))
    linked = [("m1", "A"), ("m1", "B"), ("m2", "A"), ("m2", "B"), ("m1", "C"), ("m3", "C"), ("m3", "B")]
    save(
        store,
        *(a_memory(id, f"text {id}") for id in ("m1", "m2", "m3")),
        links=tuple(a_link(*pair) for pair in linked),
    )

    def stale():
        found = walk(store, "A").relations
        assert store.most_connected(["shop"], None, 9).relations == found
        return {relation.source[2:] + relation.target[2:] for relation in found if relation.stale}

    assert stale() == set()
    save(store, stale=(("m1", True),))
    assert stale() == set()
    save(store, stale=(("m2", True),))
    assert stale() == {"AB"}
    save(store, stale=(("m3", True),))
    assert stale() == {"AB", "BC"}
    save(store, stale=(("m1", False),))
    assert stale() == set()


def test_what_a_plan_unlinks_and_links_again_is_linked(store):
    save(store, a_memory("m1"), entities=(an_entity("Auth"),), links=(a_link("m1", "Auth"),))
    save(store, unlinked=(("m1", "e-Auth"),), links=(a_link("m1", "Auth"),))
    assert [link.entity for link, _ in store.links(["m1"])] == ["e-Auth"]
