"""search_knowledge_graph: overview, neighbourhoods, directions, and totals that tell the truth."""

from dataclasses import replace
from itertools import pairwise

import pytest

from retain.domain.changes import Changes

CHAIN = ("Alpha", "Beta", "Gamma", "Delta", "Omega")


def entity(name, relationship="uses", type="service"):
    return {"name": name, "type": type, "relationship": relationship}


def names(body):
    return [found["name"] for found in body["entities"]]


@pytest.fixture
def chain(desk):
    """AlphaService depends on BetaService, which depends on GammaService, and so on."""
    for source, target in pairwise(CHAIN):
        desk.stored(f"{source}Service depends on {target}Service")
    return desk


def test_an_entity_is_reported_as_the_contract_says(chain):
    body = chain("search_knowledge_graph", entity="BetaService")
    assert set(body) == {"entities", "memories", "graph_stats", "warnings"}
    first = body["entities"][0]
    assert set(first) == {"name", "type", "relationships", "memory_count"}
    assert (first["name"], first["memory_count"]) == ("BetaService", 2)
    assert {(r["type"], r["target"], r["direction"]) for r in first["relationships"]} == {
        ("depends_on", "GammaService", "outgoing"),
        ("depends_on", "AlphaService", "incoming"),
    }
    assert body["graph_stats"] == {"entities_traversed": 3, "relationships_found": 2, "depth_reached": 1}
    assert {memory["content"] for memory in body["memories"]} >= {"BetaService depends on GammaService"}


@pytest.mark.parametrize(("depth", "reached"), [(1, 2), (2, 3), (3, 4)])
def test_depth_is_how_far_a_walk_goes(chain, depth, reached):
    body = chain("search_knowledge_graph", entity="AlphaService", depth=depth)
    assert names(body) == [f"{name}Service" for name in CHAIN[:reached]]
    assert body["graph_stats"]["depth_reached"] == depth


@pytest.mark.parametrize("depth", [0, 4])
def test_depth_goes_from_1_to_3(desk, depth):
    assert "between 1 and 3" in desk.refused("search_knowledge_graph", depth=depth)["message"]


@pytest.mark.parametrize("limit", [0, 101])
def test_limit_goes_from_1_to_100(desk, limit):
    assert "between 1 and 100" in desk.refused("search_knowledge_graph", limit=limit)["message"]


@pytest.mark.parametrize(
    ("direction", "others"),
    [("outgoing", {"GammaService"}), ("incoming", {"AlphaService"}), ("both", {"AlphaService", "GammaService"})],
)
def test_direction_is_honoured(chain, direction, others):
    assert set(names(chain("search_knowledge_graph", entity="BetaService", direction=direction))) == {
        "BetaService",
        *others,
    }


def test_only_relationships_of_a_type_are_followed(desk):
    desk.stored("AuthService depends on TokenValidator")
    desk.stored("AuthService was written by Maria Lopez")
    found = desk("search_knowledge_graph", entity="AuthService", relationship_type="depends_on")
    assert "TokenValidator" in names(found) and "Maria Lopez" not in names(found)
    assert desk("search_knowledge_graph", entity="AuthService", relationship_type="depends on") == found


@pytest.mark.parametrize("name", ["AuthService", "authservice", "AUTHSERVICE", " AuthService ", "AuthSerivce"])
def test_an_entity_is_found_in_any_case_and_by_close_spelling(desk, name):
    desk.stored("AuthService depends on TokenValidator")
    assert "AuthService" in names(desk("search_knowledge_graph", entity=name))


def test_an_unknown_entity_is_a_warning_and_no_failure(desk):
    desk.stored("AuthService depends on TokenValidator")
    body = desk("search_knowledge_graph", entity="Nobody")
    assert (body["entities"], [w["code"] for w in body["warnings"]]) == ([], ["unknown_entity"])


def test_a_huge_name_is_not_repeated_in_full(desk):
    assert len(str(desk("search_knowledge_graph", entity="x" * 1_000_000))) < 1000


@pytest.mark.parametrize("name", ["", "   "])
def test_a_blank_name_is_refused(desk, name):
    assert desk.refused("search_knowledge_graph", entity=name)["faults"][0]["field"] == "entity"


def test_without_an_entity_the_whole_graph_is_told(chain):
    body = chain("search_knowledge_graph")
    assert set(names(body)) == {f"{name}Service" for name in CHAIN}
    assert body["overview"]["relationship_types"]["depends_on"] == 4
    assert sum(body["overview"]["entity_types"].values()) == body["graph_stats"]["entities_traversed"] == 5


def test_an_empty_graph_is_an_empty_overview(desk):
    body = desk("search_knowledge_graph")
    assert (body["entities"], body["memories"], body["overview"]["entity_types"]) == ([], [], {})


def test_memories_are_attached_unless_not_wanted(chain):
    assert chain("search_knowledge_graph", entity="AlphaService")["memories"] != []
    assert chain("search_knowledge_graph", entity="AlphaService", include_memories=False)["memories"] == []


def test_the_limit_holds_while_the_totals_stay_true(desk):
    for number in range(30):
        desk.stored(f"HubService depends on Spoke{number}Service")
    body = desk("search_knowledge_graph", entity="HubService", limit=5)
    assert len(body["entities"]) == 5
    assert body["graph_stats"]["entities_traversed"] == 31
    assert body["graph_stats"]["relationships_found"] >= 30
    assert len(body["memories"]) == 30
    # The hub has 30 edges; its memories are all there.
    assert [w["message"].split(" the ")[0] for w in body["warnings"]] == ["of HubService"]


def test_memories_that_are_not_attached_are_spoken_of(desk):
    first = desk.app.remember("HubService was restarted on day 0").memory
    (link,) = [link for link, entity in desk.store.links([first.id]) if entity.name == "HubService"]
    ids = [f"{n:020}" for n in range(60)]
    more = tuple(replace(first, id=id, text=f"HubService was restarted, {id}") for id in ids)
    links = tuple(replace(link, memory=id) for id in ids)
    desk.store.apply(Changes(at=first.updated, memories=more, links=links))
    body = desk("search_knowledge_graph", entity="HubService", limit=1)
    assert len(body["memories"]) == 50
    assert [(w["code"], "50 memories" in w["message"]) for w in body["warnings"]] == [("truncated", True)]


def test_given_entities_keep_their_type_and_name(desk):
    desk.stored("Caches are warm", related_entities=[entity("Größenwächter", type="component"), entity("数据库")])
    found = {e["name"]: e["type"] for e in desk("search_knowledge_graph")["entities"]}
    assert found == {"Größenwächter": "component", "数据库": "service"}


def test_an_entity_made_later_is_linked_to_earlier_memories(desk):
    desk.stored("the flux capacitor needs plutonium")
    desk.stored("Power comes from elsewhere", related_entities=[entity("flux capacitor")])
    assert desk("search_knowledge_graph", entity="flux capacitor")["entities"][0]["memory_count"] == 2


def test_two_projects_with_the_same_name_never_meet(desks, tmp_path):
    shop, bank = desks(), desks(project_dir=tmp_path / "bank")
    shop.stored("AuthService depends on ShopLedger")
    bank.stored("AuthService depends on BankLedger")
    assert "BankLedger" not in names(shop("search_knowledge_graph", entity="AuthService"))
    assert "ShopLedger" not in names(bank("search_knowledge_graph"))
