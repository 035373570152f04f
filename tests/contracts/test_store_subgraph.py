"""The part of the graph around a question: what is near, what is left out, and that it stays small."""

import pytest

from making import START, a_link, a_memory, a_place, a_relation, an_entity, at, save, wanted
from retain.domain.memory import State, Status

NOW = at(60)


def known(store, *memories, links=(), relations=(), **fields):
    """Saves memories with the entities that links and relations name."""
    names = dict.fromkeys([name for _, name, *_ in links] + [name for edge in relations for name in edge[:2]])
    save(
        store,
        *memories,
        entities=tuple(map(an_entity, names)),
        links=tuple(a_link(*link) for link in links),
        relations=tuple(a_relation(*edge[:2], weight=edge[2] if len(edge) > 2 else 1.0) for edge in relations),
        **fields,
    )


def around(store, entities=(), memories=(), now=NOW, **fields):
    return store.around([f"e-{name}" for name in entities], list(memories), wanted(**fields), now)


def edges(found):
    """{(end, end): weight}, by id, each pair in order."""
    nodes = (*found.entities, *found.memories)
    return {tuple(sorted((nodes[a], nodes[b]))): weight for a, b, weight in found.edges}


def test_a_memory_leads_over_two_relations_to_another(store):
    known(
        store,
        a_memory("m1", "one"),
        a_memory("m2", "two"),
        links=(("m1", "A"), ("m2", "C")),
        relations=(("A", "B"), ("C", "B"), ("C", "D")),
    )
    found = around(store, memories=["m1"])
    assert set(found.entities) == {"e-A", "e-B", "e-C"}
    assert set(found.memories) == {"m1", "m2"}
    assert edges(found).keys() == {("e-A", "m1"), ("e-C", "m2"), ("e-A", "e-B"), ("e-B", "e-C")}
    assert len(found) == 5
    assert len(around(store, entities=["A"])) == 5


def test_what_is_three_hops_away_is_not_near(store):
    known(store, a_memory("far", "far"), links=(("far", "D"),), relations=(("A", "B"), ("B", "C"), ("C", "D")))
    assert around(store, entities=["A"]).memories == ()
    assert around(store, entities=["B"]).memories == ("far",)


def test_nothing_is_near_what_is_not_there(store):
    known(store, a_memory("m1", "one"), a_memory("alone", "alone"), links=(("m1", "A"),))
    assert len(around(store)) == len(around(store, ["nobody"], ["nobody"])) == 0
    assert len(around(store, memories=["alone"])) == 0
    assert around(store, entities=["A"]).memories == ("m1",)


def test_an_entity_without_anything_is_a_node(store):
    save(store, entities=(an_entity("A"),))
    found = around(store, entities=["A"])
    assert (found.entities, found.edges, len(found)) == (("e-A",), (), 1)


def test_memories_that_the_filter_keeps_out_are_no_nodes(store):
    memories = (
        a_memory("here", "here"),
        a_memory("elsewhere", "elsewhere", place=a_place("site")),
        a_memory("gone", "gone", status=Status(State.FORGOTTEN)),
    )
    known(store, *memories, links=tuple((m.id, "A") for m in memories))
    assert around(store, entities=["A"]).memories == ("here",)
    assert len(around(store, memories=["elsewhere", "gone"])) == 0


def test_stale_links_lead_nowhere(store):
    known(store, a_memory("m1", "one"), a_memory("m2", "two"), links=(("m1", "A"), ("m2", "A")))
    save(store, stale=(("m2", True),))
    assert around(store, entities=["A"]).memories == ("m1",)
    assert len(around(store, memories=["m2"])) == 0


def test_relations_that_only_forgotten_memories_speak_of_lead_nowhere(store):
    known(store, a_memory("m1", "one"), links=(("m1", "A"), ("m1", "B")), relations=(("B", "C"),))
    save(store, relations=(a_relation("A", "B", by_rule=True),), stale=(("m1", True),))
    assert around(store, entities=["A"]).entities == ("e-A",)
    assert set(around(store, entities=["B"]).entities) == {"e-B", "e-C"}
    save(store, stale=(("m1", False),))
    assert set(around(store, entities=["A"]).entities) == {"e-A", "e-B", "e-C"}


def test_a_relation_that_somebody_stated_needs_no_memory(store):
    known(store, a_memory("m1", "one"), links=(("m1", "A"), ("m1", "B")), relations=(("A", "B"),))
    save(store, stale=(("m1", True),))
    assert set(around(store, entities=["A"]).entities) == {"e-A", "e-B"}


def test_relations_count_while_they_hold(store):
    save(store, entities=tuple(map(an_entity, "ABCD")))
    save(
        store,
        relations=(
            a_relation("A", "B", valid_from=at(10), valid_until=at(20)),
            a_relation("A", "C", valid_until=at(20)),
            a_relation("D", "A", valid_from=at(20)),
        ),
    )
    assert set(around(store, entities=["A"], now=START).entities) == {"e-A", "e-C"}
    assert set(around(store, entities=["A"], now=at(10)).entities) == {"e-A", "e-B", "e-C"}
    assert set(around(store, entities=["A"], now=at(20)).entities) == {"e-A", "e-D"}


def test_relations_between_two_add_up_and_a_loop_is_none(store):
    save(store, entities=(an_entity("A"), an_entity("B")))
    save(
        store,
        relations=(
            a_relation("A", "B", "uses", weight=0.5),
            a_relation("B", "A", "tests", weight=0.25),
            a_relation("A", "B", "owns", weight=0.0),
            a_relation("A", "A", weight=0.9),
        ),
    )
    assert edges(around(store, entities=["A"])) == {("e-A", "e-B"): pytest.approx(0.75)}


def test_a_relation_of_no_weight_leads_nowhere(store):
    known(store, relations=(("A", "B", 0.0),))
    assert around(store, entities=["A"]).entities == ("e-A",)


def test_a_link_is_one_edge_and_weighs_less_when_a_rule_made_it(store):
    save(
        store,
        a_memory("m1", "one"),
        a_memory("m2", "two"),
        entities=(an_entity("A"),),
        links=(a_link("m1", "A", by_rule=True), a_link("m2", "A", by_rule=True), a_link("m2", "A", "uses")),
    )
    found = edges(around(store, entities=["A"]))
    assert 0 < found["e-A", "m1"] < found["e-A", "m2"] == 1.0


def test_of_many_relations_the_heaviest_are_walked(store):
    spokes = [("hub", f"s{n:03}", (n + 1) / 301) for n in range(150)]
    spokes += [(f"s{n:03}", "hub", (n + 1) / 301) for n in range(150, 300)]
    known(store, relations=tuple(spokes))
    reached = around(store, entities=["hub"]).entities
    assert reached[1] == "e-s299"
    assert 5 <= len(reached) - 1 < 100
    assert set(reached[1:]) == {f"e-s{n:03}" for n in range(301 - len(reached), 300)}


def test_of_many_memories_of_an_entity_the_newest_are_near(store):
    memories = [a_memory(f"m{n:03}", f"text {n}", when=at(n)) for n in range(80)]
    hidden = [a_memory(f"n{n:03}", f"text {n}", place=a_place("site")) for n in range(80)]
    known(store, *memories, *hidden, links=tuple((m.id, "A") for m in (*memories, *hidden)))
    found = set(around(store, entities=["A"]).memories)
    assert 5 <= len(found) < 80
    assert found == {f"m{n:03}" for n in range(80 - len(found), 80)}


def test_a_given_memory_is_near_however_old_it_is(store):
    memories = [a_memory(f"m{n:03}", f"text {n}", when=at(n)) for n in range(80)]
    known(store, *memories, links=tuple((m.id, "A") for m in memories))
    assert "m000" in around(store, memories=["m000"]).memories


def test_a_memory_that_speaks_of_many_leaves_room_for_the_others(store):
    many = tuple(("m1", f"T{n:02}") for n in range(90))
    known(store, a_memory("m1", "one"), a_memory("m2", "two"), links=(*many, ("m2", "A")))
    assert "e-A" in around(store, memories=["m1", "m2"]).entities


def test_it_stays_small_where_everything_is_joined(store):
    names = [f"n{n:02}" for n in range(70)]
    joined = tuple((a, b) for a in names for b in names if a < b)
    memories = [a_memory(f"m{n:04}", f"text {n}") for n in range(700)]
    links = tuple((m.id, names[n % 70]) for n, m in enumerate(memories))
    known(store, *memories, links=links, relations=joined)
    found = around(store, entities=names[:20], memories=[m.id for m in memories[:10]])
    assert len(found.entities) <= 70
    assert len(found) < 1000
    assert all(0 <= a < len(found) and 0 <= b < len(found) and a != b for a, b, _ in found.edges)
    assert len(edges(found)) == len(found.edges)
