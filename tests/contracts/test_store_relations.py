"""What is stated by hand, relations by id, and what was related to an entity at a moment."""

from dataclasses import replace

from making import START, a_link, a_memory, a_relation, an_entity, at, save
from retain.domain.changes import Changes
from retain.domain.graph import Direction, Steps, relation_id
from retain.domain.recall import Filter

OUT, IN, BOTH = Direction.OUTGOING, Direction.INCOMING, Direction.BOTH


def graph(store, *edges, **fields):
    names = dict.fromkeys(name for edge in edges for name in edge[:2])
    save(store, entities=tuple(map(an_entity, names)), relations=tuple(a_relation(*e, **fields) for e in edges))


def walk(store, start, depth=3, direction=OUT, **fields):
    return store.related(f"e-{start}", Steps(depth, direction, **fields))


def names(found):
    return [entity.name for entity in found.entities]


def pairs(found):
    return {(r.source[2:], r.target[2:]) for r in found.relations}


def test_a_stated_entity_keeps_its_description_and_its_id(store):
    first = replace(an_entity("A"), description="the first", stated=True)
    save(store, stated=(first,))
    assert store.entities(["e-A"]) == [first]
    save(store, stated=(replace(first, id="another", description="the second"),))
    save(store, stated=(replace(first, description=None),))
    save(store, entities=(an_entity("a"), replace(an_entity("A"), description="a guess")))
    assert store.entities(["e-A", "another"]) == [replace(first, description="the second")]


def test_stating_an_entity_that_is_known_makes_it_stated(store):
    save(store, entities=(an_entity("A"),))
    save(store, stated=(replace(an_entity("A", id="another"), description="told"),))
    assert store.entities_named(["a"], ["shop"]) == [replace(an_entity("A"), description="told", stated=True)]


def test_a_stated_entity_stays_when_the_last_memory_that_names_it_goes(store):
    for name, stated in (("Kept", True), ("Gone", False)):
        save(store, a_memory(name, f"about {name}"), entities=(an_entity(name),), links=(a_link(name, name),))
        save(store, stated=(an_entity(name),) if stated else ())
        store.apply(Changes(at=START, purged=(name,)))
    assert store.entity_names(["shop"]) == ["Kept"]
    assert store.faults() == []


def test_links_reach_an_entity_that_was_stated_under_another_id(store):
    save(store, a_memory("m1"), stated=(an_entity("A", id="first"),))
    save(store, stated=(an_entity("A"),), links=(a_link("m1", "A"),))
    assert [link.entity for link, _ in store.links(["m1"])] == ["first"]


def test_relations_come_by_id(store):
    graph(store, ("A", "B"), ("B", "C", "uses"))
    known = [relation_id("e-B", "e-C", "uses"), "nobody", relation_id("e-A", "e-B", "related_to")]
    found = store.relations(known)
    assert {(r.source, r.target, r.type, r.id) for r in found} == {
        ("e-A", "e-B", "related_to", known[2]),
        ("e-B", "e-C", "uses", known[0]),
    }
    assert store.relations([]) == []


def test_the_id_is_that_of_the_entities_as_they_are_known(store):
    save(store, entities=(an_entity("A", id="first-a"), an_entity("B", id="first-b")))
    save(store, entities=(an_entity("A"), an_entity("B")), relations=(a_relation("A", "B", "uses"),))
    assert len(store.relations([relation_id("first-a", "first-b", "uses")])) == 1
    assert store.relations([relation_id("e-A", "e-B", "uses")]) == []


def test_a_stated_relation_is_as_it_is_stated(store):
    graph(store, ("A", "B"))
    stated = a_relation("A", "B", weight=0.3, valid_from=at(50))
    save(store, stated=(stated,))
    (found,) = store.relations([stated.id])
    assert (found.weight, found.valid_from, found.by_rule) == (0.3, START, False)


def test_a_relation_ends_and_holds_again_from_when_it_was_stated(store):
    relation = a_relation("A", "B", valid_from=at(1))
    save(store, entities=(an_entity("A"), an_entity("B")), stated=(relation,))
    save(store, stated=(replace(relation, valid_until=at(5)),))
    (ended,) = store.relations([relation.id])
    assert (ended.valid_from, ended.valid_until) == (at(1), at(5))
    store.apply(Changes(at=at(9), stated=(replace(relation, valid_from=at(9)),)))
    (again,) = store.relations([relation.id])
    assert (again.valid_from, again.valid_until, again.weight) == (at(9), None, 1.0)


def test_what_somebody_ended_is_not_revived_by_what_a_rule_reads(store):
    relation = a_relation("A", "B", weight=0.5, valid_from=at(1), valid_until=at(5))
    save(store, entities=(an_entity("A"), an_entity("B")), stated=(relation,))
    save(store, relations=(replace(relation, created=at(9), valid_from=None, valid_until=None, by_rule=True),))
    (seen,) = store.relations([relation.id])
    assert (seen.valid_from, seen.valid_until, seen.weight) == (at(1), at(5), 0.5)


def test_what_no_text_says_any_more_ends_and_holds_again_when_one_does(store):
    graph(store, ("A", "B", "uses"), ("A", "C", "uses"), weight=0.5, by_rule=True)
    relation, other = store.relations_among(["e-A", "e-B", "e-C"])
    store.apply(Changes(at=at(5), ended=(relation, replace(other, weight=0.4))))
    (ended, seen_since) = (store.relations([one.id])[0] for one in (relation, other))
    assert (ended.valid_until, ended.by_rule, seen_since.valid_until) == (at(5), True, None)
    assert names(walk(store, "A")) == [seen_since.target[2:]]
    store.apply(Changes(at=at(9), relations=(replace(relation, created=at(9)),)))
    (again,) = store.relations([relation.id])
    assert (again.valid_from, again.valid_until, again.weight) == (at(9), None, 0.5)


def test_a_plan_does_not_end_what_it_says_itself_nor_what_somebody_stated(store):
    graph(store, ("A", "B", "uses"), weight=0.5, by_rule=True)
    graph(store, ("A", "C", "uses"), weight=0.5)
    ended = tuple(store.relations_among(["e-A", "e-B", "e-C"]))
    store.apply(Changes(at=at(5), relations=(a_relation("A", "B", "uses", weight=0.5, by_rule=True),), ended=ended))
    assert [r.valid_until for r in store.relations_among(["e-A", "e-B", "e-C"])] == [None, None]


def test_a_plan_that_destroys_destroys_relations_too(store):
    graph(store, ("A", "B", "uses"), weight=0.5, by_rule=True)
    save(store, a_memory("m1"))
    assert store.around(["e-A"], [], Filter(()), at(1)).edges
    store.apply(Changes(at=at(5), purged=("m1",), ended=tuple(store.relations_among(["e-A", "e-B"]))))
    assert store.relations_among(["e-A", "e-B"]) == []
    assert not store.around(["e-A"], [], Filter(()), at(6)).edges


def test_memories_that_stand_and_speak_of_two_things(store):
    for id, spoken in (("m1", "AB"), ("m2", "A"), ("m3", "AB"), ("m4", "B")):
        save(store, a_memory(id, id), entities=tuple(map(an_entity, spoken)), links=[a_link(id, n) for n in spoken])
    assert sorted(store.together("e-A", "e-B", 9)) == sorted(store.together("e-B", "e-A", 9)) == ["m1", "m3"]
    assert len(store.together("e-A", "e-B", 1)) == 1
    save(store, stale=(("m1", True),))
    assert store.together("e-A", "e-B", 9) == ["m3"]
    assert store.together("e-A", "e-C", 9) == []


def test_what_was_ended_is_in_no_walk_and_no_number(store):
    graph(store, ("A", "B"), ("B", "C"))
    save(store, stated=(a_relation("B", "C", valid_until=at(5)),))
    found = store.neighbourhood(["e-A"], BOTH, None, 3, 9)
    assert (names(found), found.relationships_found) == (["A", "B"], 1)
    top = store.most_connected(["shop"], None, 9)
    assert (len(top.relations), top.relationships_found, store.overview(["shop"]).relations) == (1, 1, 1)


def test_what_is_related_comes_nearest_first_without_the_start(store):
    graph(store, ("A", "B"), ("B", "C"), ("C", "D"), ("D", "E"))
    found = walk(store, "A")
    assert (names(found), found.hops) == (["B", "C", "D"], {"e-B": 1, "e-C": 2, "e-D": 3})
    assert pairs(found) == {("A", "B"), ("B", "C"), ("C", "D")}
    assert not found.truncated


def test_cycles_and_loops_end(store):
    graph(store, ("A", "B"), ("B", "C"), ("C", "A"), ("A", "A"), ("B", "A"))
    found = walk(store, "A")
    assert (set(names(found)), len(found.relations)) == ({"B", "C"}, 5)
    assert walk(store, "nobody") == walk(store, "nobody", 1, BOTH)
    assert walk(store, "nobody").entities == ()


def test_direction_and_type_hold_at_every_step(store):
    graph(store, ("A", "B", "uses"), ("B", "C", "owns"), ("C", "D", "uses"), ("X", "A", "uses"))
    assert names(walk(store, "A", relation="uses")) == ["B"]
    assert names(walk(store, "A", direction=IN)) == ["X"]
    assert set(names(walk(store, "B", 1, BOTH))) == {"A", "C"}


def test_both_ends_of_every_relation_are_there(store):
    graph(store, ("A", "B"), ("A", "C"), ("B", "C"), ("C", "D"))
    assert pairs(walk(store, "A", 1)) == {("A", "B"), ("A", "C")}
    assert pairs(walk(store, "A", 2)) == {("A", "B"), ("A", "C"), ("B", "C"), ("C", "D")}


def test_a_relation_leads_on_only_while_it_holds(store):
    save(
        store,
        entities=tuple(map(an_entity, "ABC")),
        stated=(a_relation("A", "B", valid_from=at(10)), a_relation("B", "C", valid_from=at(20), valid_until=at(30))),
    )
    reached = {second: names(walk(store, "A", at=at(second))) for second in (5, 10, 20, 29, 30)}
    assert reached == {5: [], 10: ["B"], 20: ["B", "C"], 29: ["B", "C"], 30: ["B"]}
    assert names(walk(store, "A")) == ["B"]


def test_one_without_a_beginning_holds_from_when_it_was_seen(store):
    graph(store, ("A", "B"), by_rule=True)
    assert names(walk(store, "A", at=at(-1))) == []
    assert names(walk(store, "A", at=at(0))) == ["B"]


def test_too_many_are_cut_to_the_heaviest_and_marked(store):
    edges = [("hub", f"spoke{n:02}") for n in range(20)]
    graph(store, *edges[:17], weight=0.5)
    graph(store, *edges[17:], weight=0.9)
    found = walk(store, "hub", 1, most_entities=3)
    assert (names(found), found.truncated) == (["spoke17", "spoke18", "spoke19"], True)
    assert len(found.relations) == 3
    assert not walk(store, "hub", 1, most_entities=20).truncated


def test_what_lies_beyond_the_last_that_fits_is_marked_too(store):
    graph(store, ("A", "B"), ("B", "C"))
    assert walk(store, "A", 2, most_entities=1).truncated
    assert not walk(store, "A", 1, most_entities=1).truncated


def test_too_many_relations_are_cut_to_the_heaviest_and_marked(store):
    graph(store, ("A", "B", "uses"), ("A", "B", "owns"), weight=0.2)
    save(store, relations=(a_relation("A", "B", "knows", weight=0.8),))
    found = walk(store, "A", most_relations=1)
    assert ([r.type for r in found.relations], found.truncated) == (["knows"], True)
    assert not walk(store, "A", most_relations=3).truncated


def test_what_rules_read_in_forgotten_memories_leads_nowhere(store):
    graph(store, ("A", "B"), by_rule=True)
    graph(store, ("A", "C"))
    links = tuple(a_link("m1", name) for name in "ABC")
    save(store, a_memory("m1"), links=links, stale=())
    save(store, stale=(("m1", True),))
    assert names(walk(store, "A")) == ["C"]
    assert set(names(walk(store, "A", at=at(1)))) == {"B", "C"}
    save(store, stale=(("m1", False),))
    assert set(names(walk(store, "A"))) == {"B", "C"}
