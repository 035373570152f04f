"""create_entity, create_relation, get_related: merging, errors that name the id, and walks that end."""

import re
from itertools import pairwise

import pytest

from retain.domain.changes import Changes
from retain.domain.graph import Entity, Relation
from retain.domain.ids import id_of
from retain.engine.parts import owners

NAMES = ("Alpha", "Beta", "Gamma", "Delta", "Omega")


def entity(board, name, **given):
    return board("create_entity", name=name, **given)["id"]


def relate(board, source, target, type="uses", **given):
    return board("create_relation", from_entity=source, to_entity=target, relation_type=type, **given)["id"]


def related(board, id, **given):
    return {found["name"]: found["depth"] for found in board("get_related", entity_id=id, **given)["entities"]}


def counted(board, **given):
    return board("get_status", **given)["entities_count"]


@pytest.fixture
def chain(board):
    """Alpha uses Beta, which uses Gamma, and so on; `ids` has them by name."""
    board.ids = {name: entity(board, name) for name in NAMES}
    for source, target in pairwise(board.ids.values()):
        relate(board, source, target)
    return board


# Entities


def test_an_entity_is_answered_with_its_id_alone(board):
    body = board("create_entity", name="AuthService", entity_type="service", description="Logs people in")
    assert set(body) == {"id"}
    assert re.fullmatch(r"[0-9a-z]{20}", body["id"])
    assert counted(board) == 1


@pytest.mark.parametrize("name", ["AuthService", "authservice", " AuthService ", "ＡuthService"])
def test_the_same_name_and_type_is_the_same_entity(board, name):
    id = entity(board, "AuthService", entity_type="service")
    assert entity(board, name, entity_type="Service") == id
    assert counted(board) == 1


def test_the_same_name_with_another_type_is_another_entity(board):
    assert len({entity(board, "Mercury", entity_type=type) for type in ("planet", "element", None)}) == 3
    assert counted(board) == 3


def test_a_name_without_a_type_is_the_entity_of_that_name(board):
    assert entity(board, "Redis", entity_type="database") == entity(board, "redis")
    assert counted(board) == 1


def test_an_entity_of_which_nobody_says_what_it_is_is_a_concept(board):
    assert entity(board, "Idempotence") == entity(board, "Idempotence", entity_type="concept")


def test_a_description_fills_replaces_and_is_kept_when_none_is_given(board):
    hub = entity(board, "Hub")
    told = []
    for given in ({}, {"description": "Logs people in"}, {}, {"description": "Checks tokens"}):
        relate(board, hub, entity(board, "AuthService", **given))
        told.append(board("get_related", entity_id=hub)["entities"][0]["description"])
    assert told == [None, "Logs people in", "Logs people in", "Checks tokens"]


@pytest.mark.parametrize("name", ["Größenwächter", "数据库", "مرحبا", "C++", "👩‍💻", "x" * 100])
def test_a_name_may_be_in_any_script(board, name):
    hub = entity(board, "Hub")
    relate(board, hub, entity(board, name))
    assert list(related(board, hub)) == [name]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({}, "name: is required"),
        ({"name": ""}, "name: must not be empty"),
        ({"name": " \t"}, "name: must not be empty"),
        ({"name": "x" * 101}, "name: must be at most 100 characters"),
        ({"name": "\x01\x02"}, "name: must have 1 to 100 characters"),
        ({"name": "a", "entity_type": " "}, "entity_type: must not be empty"),
        ({"name": "a", "entity_type": "x" * 101}, "entity_type: must be at most 100 characters"),
        ({"name": "a", "description": "x" * 2001}, "description: must have at most 2,000 characters"),
        ({"name": "a", "type": "service"}, "type: unknown argument; known are name, entity_type"),
    ],
)
def test_a_bad_entity_is_named_and_nothing_is_written(board, given, named):
    assert named in board.refused("create_entity", **given)
    assert counted(board) == 0


def test_an_entity_made_later_is_linked_to_memories_that_name_it(board):
    id = board.noted("the flux capacitor needs plutonium")
    entity(board, "flux capacitor")
    body = board("recall", query="flux capacitor", vector_weight=0, bm25_weight=0, ppr_weight=1)
    assert [hit["id"] for hit in body["results"]] == [id]


def test_a_memory_written_later_is_linked_to_an_entity_that_it_names(board):
    entity(board, "flux capacitor")
    id = board.noted("the flux capacitor needs plutonium")
    body = board("recall", query="flux capacitor", vector_weight=0, bm25_weight=0, ppr_weight=1)
    assert [hit["id"] for hit in body["results"]] == [id]


def test_an_entity_that_was_stated_stays_when_the_memory_that_names_it_goes(board):
    entity(board, "flux capacitor")
    board("delete_memory", id=board.noted("the flux capacitor needs plutonium"))
    assert counted(board) == 1


# Relations


def test_a_relation_is_answered_with_its_id_alone(board):
    body = board(
        "create_relation", from_entity=entity(board, "A"), to_entity=entity(board, "B"), relation_type="works_on"
    )
    assert set(body) == {"id"}
    assert re.fullmatch(r"[0-9a-z]{20}", body["id"])


def test_the_same_relation_keeps_its_id_and_takes_the_new_weight(board):
    a, b = entity(board, "A"), entity(board, "B")
    first = relate(board, a, b, "works on", weight=0.25)
    assert relate(board, a, b, "works_on", weight=0.75) == first
    (found,) = board("get_related", entity_id=a)["relations"]
    assert (found["id"], found["relation_type"], found["weight"]) == (first, "works_on", 0.75)


def test_another_type_or_direction_is_another_relation(board):
    a, b = entity(board, "A"), entity(board, "B")
    ids = {relate(board, a, b), relate(board, b, a), relate(board, a, b, "knows")}
    assert len(ids) == 3
    assert board("get_related", entity_id=a, direction="both")["relation_count"] == 3


def test_a_weight_is_1_unless_given_and_may_be_0(board):
    a, b, c = (entity(board, name) for name in "ABC")
    relate(board, a, b)
    relate(board, a, c, weight=0)
    found = board("get_related", entity_id=a)["relations"]
    assert {each["to_entity"]: each["weight"] for each in found} == {b: 1, c: 0}


@pytest.mark.parametrize("weight", [-0.01, 1.01, 5])
def test_a_weight_goes_from_0_to_1(board, weight):
    a, b = entity(board, "A"), entity(board, "B")
    said = board.refused("create_relation", from_entity=a, to_entity=b, relation_type="uses", weight=weight)
    assert "weight: must be between 0 and 1" in said
    assert board("get_related", entity_id=a)["relations"] == []


@pytest.mark.parametrize("end", ["from_entity", "to_entity"])
@pytest.mark.parametrize("id", ["0" * 20, "nonsense", ""])
def test_an_unknown_entity_is_named(board, end, id):
    a, b = entity(board, "A"), entity(board, "B")
    given = {"from_entity": a, "to_entity": b, "relation_type": "uses", end: id}
    said = board.refused("create_relation", **given)
    assert said.startswith(f"{end}: ") and id in said and "create_entity" in said
    assert board("get_related", entity_id=a, direction="both")["relations"] == []


def test_a_memory_is_no_entity(board):
    a, memory = entity(board, "A"), board.noted("We deploy on Mondays")
    assert memory in board.refused("create_relation", from_entity=a, to_entity=memory, relation_type="uses")


def test_an_entity_does_not_relate_to_itself(board):
    a = entity(board, "A")
    said = board.refused("create_relation", from_entity=a, to_entity=f"entity:{a}", relation_type="uses")
    assert said.startswith("to_entity: is the same as from_entity")


@pytest.mark.parametrize(("type", "named"), [(" ", "must not be empty"), ("x" * 101, "must be at most 100 characters")])
def test_a_relation_has_a_type(board, type, named):
    a, b = entity(board, "A"), entity(board, "B")
    said = board.refused("create_relation", from_entity=a, to_entity=b, relation_type=type)
    assert f"relation_type: {named}" in said


# Walks


def test_a_walk_has_the_fields_of_the_contract(board):
    a, b = entity(board, "A"), entity(board, "B", entity_type="service", description="The second")
    relation = relate(board, a, b, weight=0.5)
    body = board("get_related", entity_id=a)
    assert set(body) == {"entities", "relations", "entity_count", "relation_count", "truncated"}
    assert (body["entity_count"], body["relation_count"], body["truncated"]) == (1, 1, False)
    assert body["entities"] == [
        {"id": b, "name": "B", "entity_type": "service", "description": "The second", "depth": 1}
    ]
    (found,) = body["relations"]
    assert set(found) == {
        "id", "from_entity", "to_entity", "relation_type", "weight", "valid_from", "valid_until", "by_rule",
    }  # fmt: skip
    assert (found["id"], found["from_entity"], found["to_entity"]) == (relation, a, b)
    assert (found["relation_type"], found["weight"], found["by_rule"]) == ("uses", 0.5, False)
    assert found["valid_from"] is not None and found["valid_until"] is None


def test_an_entity_without_relations_has_an_empty_walk(board):
    body = board("get_related", entity_id=entity(board, "A"), depth=3, direction="both")
    assert body == {"entities": [], "relations": [], "entity_count": 0, "relation_count": 0, "truncated": False}


@pytest.mark.parametrize(("depth", "reached"), [({}, 1), ({"depth": 1}, 1), ({"depth": 2}, 2), ({"depth": 3}, 3)])
def test_depth_is_how_far_a_walk_goes(chain, depth, reached):
    assert related(chain, chain.ids["Alpha"], **depth) == {NAMES[n]: n for n in range(1, reached + 1)}


@pytest.mark.parametrize(
    ("direction", "found"),
    [
        ({}, {"Delta": 1, "Omega": 2}),
        ({"direction": "outgoing"}, {"Delta": 1, "Omega": 2}),
        ({"direction": "incoming"}, {"Beta": 1, "Alpha": 2}),
        ({"direction": "both"}, {"Beta": 1, "Delta": 1, "Alpha": 2, "Omega": 2}),
    ],
)
def test_direction_is_honoured(chain, direction, found):
    assert related(chain, chain.ids["Gamma"], depth=2, **direction) == found


@pytest.mark.parametrize("dress", ["{}", "entity:{}", " {} "])
def test_an_entity_is_understood_in_every_dress(chain, dress):
    assert related(chain, dress.format(chain.ids["Alpha"])) == {"Beta": 1}


def test_a_circle_is_walked_once(chain):
    relate(chain, chain.ids["Gamma"], chain.ids["Alpha"])
    body = chain("get_related", entity_id=chain.ids["Alpha"], depth=3)
    assert {found["name"]: found["depth"] for found in body["entities"]} == {"Beta": 1, "Gamma": 2, "Delta": 3}
    assert (body["entity_count"], body["relation_count"]) == (3, 4)


def test_the_shorter_of_two_ways_counts(chain):
    relate(chain, chain.ids["Alpha"], chain.ids["Gamma"], "knows")
    assert related(chain, chain.ids["Alpha"], depth=3) == {"Beta": 1, "Gamma": 1, "Delta": 2, "Omega": 3}


def test_every_relation_has_both_ends_in_the_answer(chain):
    body = chain("get_related", entity_id=chain.ids["Gamma"], depth=3, direction="both")
    inside = {found["id"] for found in body["entities"]} | {chain.ids["Gamma"]}
    assert all({found["from_entity"], found["to_entity"]} <= inside for found in body["relations"])


@pytest.mark.parametrize("depth", [0, 4, -1])
def test_depth_goes_from_1_to_3(chain, depth):
    assert "depth: must be between 1 and 3" in chain.refused("get_related", entity_id=chain.ids["Alpha"], depth=depth)


def test_a_direction_is_one_of_three(chain):
    said = chain.refused("get_related", entity_id=chain.ids["Alpha"], direction="out")
    assert "direction: must be one of: outgoing, incoming, both" in said


@pytest.mark.parametrize("id", ["0" * 20, "nonsense", ""])
def test_a_walk_from_nowhere_names_the_id(board, id):
    said = board.refused("get_related", entity_id=id)
    assert said.startswith("entity_id: ") and id in said


@pytest.mark.parametrize(("spokes", "truncated"), [(1000, False), (1001, True)])
def test_a_walk_ends_at_a_thousand_entities_and_says_so(board, spokes, truncated):
    hub = entity(board, "Hub")
    (whole,) = board.store.entities([hub])
    now = board.app.now()
    around = [Entity(id_of(f"spoke {n}"), f"Spoke {n}", "concept", whole.owner, now) for n in range(spokes)]
    joined = [Relation(hub, each.id, "uses", now, n / spokes, valid_from=now) for n, each in enumerate(around)]
    board.store.apply(Changes(at=now, stated=(*around, *joined)))
    body = board("get_related", entity_id=hub)
    assert (body["entity_count"], body["relation_count"], body["truncated"]) == (1000, 1000, truncated)
    # The lightest is left out.
    assert ("Spoke 0" in {found["name"] for found in body["entities"]}) is not truncated


def test_what_rules_read_in_memories_is_marked(board):
    board.noted("AuthService depends on TokenValidator")
    (found,) = board.store.entities_named(["AuthService"], owners(board.app.caller()))
    (relation,) = board("get_related", entity_id=found.id)["relations"]
    assert (relation["relation_type"], relation["by_rule"]) == ("depends_on", True)


# Relations in time


def test_a_relation_that_was_ended_held_until_then(board):
    a, b = entity(board, "A"), entity(board, "B")
    before = board.app.now().isoformat()
    id = relate(board, a, b)
    between = board.app.now().isoformat()
    ended = board("invalidate", id=id)
    assert ended["invalidated"] is True and ended["valid_until"] > between[:19]
    assert related(board, a) == related(board, a, at=before) == related(board, a, at=ended["valid_until"]) == {}
    assert related(board, a, at=between) == {"B": 1}
    (found,) = board("get_related", entity_id=a, at=between)["relations"]
    assert found["valid_until"] == ended["valid_until"]


def test_ending_a_relation_twice_changes_nothing(board):
    a, b = entity(board, "A"), entity(board, "B")
    id = relate(board, a, b)
    assert board("invalidate", id=id) == board("invalidate", id=id)


def test_a_relation_that_is_stated_again_holds_again(board):
    a, b = entity(board, "A"), entity(board, "B")
    id = relate(board, a, b)
    ended = board("invalidate", id=id)["valid_until"]
    assert relate(board, a, b) == id
    (found,) = board("get_related", entity_id=a)["relations"]
    assert found["valid_until"] is None and found["valid_from"] >= ended


def test_a_moment_may_have_any_zone(board):
    a, b = entity(board, "A"), entity(board, "B")
    relate(board, a, b)
    assert related(board, a, at="2999-01-01") == related(board, a, at="2999-01-01T00:00:00+09:00") == {"B": 1}
    assert related(board, a, at="2001-01-01T12:00:00-05:00") == {}


@pytest.mark.parametrize("at", ["soon", "", "2026-13-01"])
def test_a_moment_that_is_none_is_refused_with_an_example(board, at):
    said = board.refused("get_related", entity_id=entity(board, "A"), at=at)
    assert said.startswith("at: ") and "2026-02-23T10:00:00Z" in said


# People


@pytest.mark.parametrize(("owner", "other"), [("ann", "bob"), ("ann", None), (None, "bob")])
def test_the_entities_of_another_person_do_not_exist(board, owner, other):
    theirs = [entity(board, name, user_id=owner) for name in "AB"]
    relation = relate(board, *theirs, user_id=owner)
    mine = entity(board, "A", user_id=other)
    assert mine not in theirs
    assert f"there is no entity {theirs[0]}" in board.refused("get_related", entity_id=theirs[0], user_id=other)
    for ends in ((mine, theirs[1]), (theirs[1], mine)):
        given = dict(zip(("from_entity", "to_entity"), ends, strict=True))
        said = board.refused("create_relation", **given, relation_type="uses", user_id=other)
        assert f"there is no entity {theirs[1]}" in said
    assert board.refused("invalidate", id=relation, user_id=other) == f"Memory not found: {relation}"
    assert (counted(board, user_id=owner), counted(board, user_id=other)) == (2, 1)
    assert related(board, theirs[0], user_id=owner) == {"B": 1}


def test_the_entities_of_two_projects_never_meet(desks, board, tmp_path):
    elsewhere = desks(tools=board.tools, project_dir=tmp_path / "bank")
    assert entity(board, "AuthService") != entity(elsewhere, "AuthService")
