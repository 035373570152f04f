"""update_memory, tag_memory, promote_memory and forget_memory: what they answer, and the history they leave."""

import pytest

from retain.domain.memory import Event


def events(desk, id):
    return [entry.event for entry in desk.store.history(id.removeprefix("memory:"))]


def links(desk, id):
    return {entity.name: link.stale for link, entity in desk.store.links([id.removeprefix("memory:")])}


def test_an_update_says_what_it_changed(desk):
    id = desk.stored("We deploy on Mondays")
    assert desk("update_memory", memory_id=id, content="We deploy on Tuesdays", importance=0.9) == {
        "memory_id": id,
        "updated_fields": ["content", "importance"],
        "re_embedded": True,
        "version": 2,
        "warnings": [],
    }


def test_an_updated_text_is_found_and_the_old_one_is_not(desk):
    id = desk.stored("We deploy on Mondays")
    desk("update_memory", memory_id=id, content="We ship every Thursday")
    assert desk.found("Thursday", strategy="keyword") == ["We ship every Thursday"]
    assert desk.found("Mondays", strategy="keyword") == []


def test_only_a_new_text_is_embedded_again(desk):
    id = desk.stored("We deploy on Mondays")
    assert desk("update_memory", memory_id=id, importance=0.1)["re_embedded"] is False
    assert desk("update_memory", memory_id=id, content="We deploy on Mondays")["updated_fields"] == []


def test_an_update_that_changes_nothing_leaves_no_version(desk):
    id = desk.stored("We deploy on Mondays", importance=0.5)
    assert desk("update_memory", memory_id=id, importance=0.5)["version"] == 1
    assert events(desk, id) == [Event.CREATED]


def test_tags_are_added_and_removed_by_an_update(desk):
    id = desk.stored("We deploy on Mondays", tags=["a", "b"])
    assert desk("update_memory", memory_id=id, tags={"add": ["c"], "remove": ["A"]})["updated_fields"] == ["tags"]
    assert desk("get_memory", id=id)["tags"] == ["b", "c"]


def test_metadata_is_merged(desk):
    id = desk.stored("We deploy on Mondays")
    desk("update_memory", memory_id=id, metadata={"a": 1, "deep": {"list": [1, None, "é"]}})
    desk("update_memory", memory_id=id, metadata={"a": 2, "b": True})
    assert desk("get_memory", id=id)["metadata"] == {"a": 2, "b": True, "deep": {"list": [1, None, "é"]}}


def test_entities_are_linked_and_unlinked_by_an_update(desk):
    redis = {"name": "Redis", "type": "library", "relationship": "depends on"}
    id = desk.stored("Sessions are cached", related_entities=[{**redis, "name": "Memcached"}])
    body = desk("update_memory", memory_id=id, related_entities={"add": [redis], "remove": ["memcached"]})
    assert body["updated_fields"] == ["related_entities"]
    assert links(desk, id) == {"Redis": False}


def test_a_relationship_is_written_the_same_way_by_store_and_update(desk):
    entity = {"name": "Redis", "type": "library", "relationship": "depends on"}
    stored, updated = (
        desk.stored("Sessions are cached", related_entities=[entity]),
        desk.stored("Queues are cached too"),
    )
    desk("update_memory", memory_id=updated, related_entities={"add": [entity]})
    found = desk.store.links([id.removeprefix("memory:") for id in (stored, updated)])
    assert {link.relationship for link, _ in found} == {"depends_on"}


def test_removing_an_entity_that_is_not_linked_changes_nothing(desk):
    id = desk.stored("Sessions are cached")
    body = desk("update_memory", memory_id=id, related_entities={"remove": ["Nobody"]})
    assert body["updated_fields"] == []
    assert [(w["code"], "Nobody" in w["message"]) for w in body["warnings"]] == [("not_linked", True)]


def test_a_corrected_memory_leaves_no_old_relation_in_the_graph(desk):
    id = desk.stored("PaymentHub depends on LedgerCore")
    desk("update_memory", memory_id=id, content="PaymentHub depends on NovaCore")
    (entity,) = [
        e for e in desk("search_knowledge_graph", entity="PaymentHub")["entities"] if e["name"] == "PaymentHub"
    ]
    assert [(edge["type"], edge["target"]) for edge in entity["relationships"]] == [("depends_on", "NovaCore")]


def test_an_update_without_anything_to_change_is_refused(desk):
    id = desk.stored("We deploy on Mondays")
    assert desk.refused("update_memory", memory_id=id)["error"] == "invalid_input"
    refused = desk.refused("tag_memory", memory_id=id)
    assert (refused["error"], refused["faults"][0]["field"]) == ("invalid_input", "add, remove")


def test_an_update_never_merges_with_another_memory(desk):
    holder, id = desk.stored("We deploy on Mondays"), desk.stored("We deploy on Tuesdays")
    refused = desk.refused("update_memory", memory_id=id, content="We deploy on Mondays")
    assert refused["error"] == "refused"
    assert holder in refused["message"]


def test_an_update_passes_the_gate_for_secrets(desk):
    id = desk.stored("The token is kept in the vault")
    body = desk("update_memory", memory_id=id, content="The token is ghp_16C7e42F292c6912E7710c838347Ae178B4a")
    assert [warning["code"] for warning in body["warnings"]] == ["redacted"]
    assert "ghp_" not in desk("get_memory", id=id)["content"]


@pytest.mark.parametrize("part", ["metadata", "reason"])
def test_secrets_are_taken_out_of_everything_that_is_kept(desk, part):
    secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    id = desk.stored("The token is kept in the vault")
    if part == "metadata":
        desk("update_memory", memory_id=id, metadata={"deep": [{"token": f"it is {secret}"}]})
    else:
        desk("forget_memory", memory_id=id, reason=f"it was {secret}")
    assert desk.keeps("in the vault") and not desk.keeps(secret)


def test_an_update_that_contradicts_says_so(knowing):
    old, id = knowing.stored("We use tabs for indentation"), knowing.stored("We indent somehow")
    body = knowing("update_memory", memory_id=id, content="We do not use tabs for indentation")
    assert [rival["memory_id"] for rival in body["contradicts"]] == [old]


def test_every_change_leaves_its_version_in_the_history(desk):
    id = desk.stored("We deploy on Mondays", scope="session")
    desk("update_memory", memory_id=id, content="We deploy on Tuesdays")
    desk("tag_memory", memory_id=id, add=["deploy"])
    desk("promote_memory", memory_id=id, target_scope="project", reason="holds for all")
    desk("forget_memory", memory_id=id, reason="outdated")
    desk("forget_memory", memory_id=id, restore=True)
    assert events(desk, id) == ["created", "updated", "tagged", "promoted", "forgotten", "restored"]
    assert desk("get_memory", id=id)["version"] == 6


def test_history_keeps_what_was_said_before_and_why_it_changed(desk):
    id = desk.stored("We deploy on Mondays", importance=0.3, tags=["a"], scope="session")
    desk("update_memory", memory_id=id, content="We deploy on Tuesdays", importance=0.4)
    desk("promote_memory", memory_id=id, target_scope="user", reason="everywhere")
    _, updated, promoted = desk.store.history(id.removeprefix("memory:"))
    assert (updated.text, updated.importance, updated.tags, updated.version) == ("We deploy on Mondays", 0.3, ("a",), 1)
    assert (promoted.text, promoted.scope, promoted.reason) == ("We deploy on Tuesdays", "session", "everywhere")


def test_tagging_answers_with_all_tags(desk):
    id = desk.stored("We deploy on Mondays", tags=["a", "b"])
    assert desk("tag_memory", memory_id=id, add=["c", "a"], remove=["b"]) == {
        "memory_id": id,
        "tags": ["a", "c"],
        "warnings": [],
    }


def test_a_tag_is_one_tag_whatever_its_case(desk):
    id = desk.stored("We deploy on Mondays", tags=["Deploy", "deploy", "ci"])
    assert desk("get_memory", id=id)["tags"] == ["Deploy", "ci"]
    assert desk("tag_memory", memory_id=id, add=["CI", "DEPLOY"])["tags"] == ["Deploy", "ci"]
    assert desk("tag_memory", memory_id=id, remove=["deploy"])["tags"] == ["ci"]


def test_a_tag_cannot_be_added_and_removed_at_once(desk):
    id = desk.stored("We deploy on Mondays", tags=["ci"])
    refused = desk.refused("tag_memory", memory_id=id, add=["new", "Ops"], remove=["ops"])
    assert (refused["error"], refused["faults"][0]["field"]) == ("invalid_input", "add[1]")
    assert desk("get_memory", id=id)["tags"] == ["ci"]


def test_tags_are_bounded_however_they_come(desk):
    id = desk.stored("We deploy on Mondays", tags=[f"t{n}" for n in range(30)])
    more = [f"u{n}" for n in range(30)]
    assert desk.refused("tag_memory", memory_id=id, add=more)["error"] == "invalid_input"
    assert desk.refused("update_memory", memory_id=id, tags={"add": more})["error"] == "invalid_input"


def test_faults_in_tags_are_named_as_the_tool_calls_them(desk):
    id = desk.stored("We deploy on Mondays")
    assert desk.refused("tag_memory", memory_id=id, add=[""])["faults"][0]["field"] == "add[0]"
    assert desk.refused("update_memory", memory_id=id, tags={"add": [""]})["faults"][0]["field"] == "tags.add[0]"


@pytest.mark.parametrize(("scope", "target"), [("session", "project"), ("session", "user"), ("project", "user")])
def test_a_memory_is_promoted_to_a_broader_scope(desk, scope, target):
    id = desk.stored("We deploy on Mondays", scope=scope)
    assert desk("promote_memory", memory_id=id, target_scope=target, reason="reusable") == {
        "memory_id": id,
        "previous_scope": scope,
        "new_scope": target,
        "reason": "reusable",
        "warnings": [],
    }
    assert desk("get_memory", id=id)["scope"] == target


@pytest.mark.parametrize(("scope", "target"), [("project", "project"), ("user", "project"), ("user", "user")])
def test_promotion_only_broadens(desk, scope, target):
    id = desk.stored("We deploy on Mondays", scope=scope)
    refused = desk.refused("promote_memory", memory_id=id, target_scope=target)
    assert (refused["error"], scope in refused["message"]) == ("refused", True)


def test_promotion_detaches_the_session_and_other_sessions_see_it(desks):
    one, other = desks(session_id="s1"), desks(session_id="s2")
    id = one.stored("We deploy on Mondays", scope="session")
    assert other.found("deploy Mondays") == []
    one("promote_memory", memory_id=id, target_scope="project")
    assert other.found("deploy Mondays") == ["We deploy on Mondays"]
    assert one("get_memory", id=id)["session_id"] is None


def test_promotion_onto_the_same_text_is_refused_with_its_holder(desk):
    holder = desk.stored("We deploy on Mondays", scope="project")
    id = desk.stored("We deploy on Mondays", scope="session")
    assert holder in desk.refused("promote_memory", memory_id=id, target_scope="project")["message"]


def test_forgetting_hides_and_says_why(desk):
    id = desk.stored("We deploy on Mondays")
    assert desk("forget_memory", memory_id=id, reason="moved to Fridays") == {
        "memory_id": id,
        "status": "forgotten",
        "reason": "moved to Fridays",
        "warnings": [],
    }
    assert desk.found("deploy Mondays") == []
    assert desk("get_memory", id=id)["reason"] == "moved to Fridays"


def test_forgetting_twice_is_forgetting_once(desk):
    id = desk.stored("We deploy on Mondays")
    desk("forget_memory", memory_id=id, reason="first")
    assert desk("forget_memory", memory_id=id, reason="second")["reason"] == "first"
    assert events(desk, id) == ["created", "forgotten"]


def test_a_forgotten_memory_leaves_stale_edges_until_it_is_restored(desk):
    entity = {"name": "Redis", "type": "library", "relationship": "uses"}
    id = desk.stored("Sessions are cached", related_entities=[entity])
    desk("forget_memory", memory_id=id)
    assert links(desk, id) == {"Redis": True}
    assert desk("search_knowledge_graph", entity="Redis")["memories"] == []
    desk("forget_memory", memory_id=id, restore=True)
    assert links(desk, id) == {"Redis": False}
    assert len(desk("search_knowledge_graph", entity="Redis")["memories"]) == 1


def test_a_restored_memory_is_active_and_found(desk):
    id = desk.stored("We deploy on Mondays")
    desk("forget_memory", memory_id=id)
    assert desk("forget_memory", memory_id=id, restore=True)["status"] == "active"
    assert desk.found("deploy Mondays") == ["We deploy on Mondays"]


def test_restoring_beside_the_same_text_is_refused(desk):
    id = desk.stored("We deploy on Mondays")
    desk("forget_memory", memory_id=id)
    holder = desk.stored("We deploy on Mondays")
    assert holder in desk.refused("forget_memory", memory_id=id, restore=True)["message"]


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("update_memory", {"content": "new"}),
        ("tag_memory", {"add": ["a"]}),
        ("promote_memory", {"target_scope": "user"}),
    ],
)
def test_a_forgotten_memory_is_not_changed_and_the_way_back_is_named(desk, tool, given):
    id = desk.stored("We deploy on Mondays")
    desk("forget_memory", memory_id=id)
    refused = desk.refused(tool, memory_id=id, **given)
    assert (refused["error"], "restore: true" in refused["message"]) == ("refused", True)


@pytest.mark.parametrize("dress", ["memory:{}", "mem_{}", "{}", " memory:{} "])
def test_every_dress_of_an_id_is_accepted(desk, dress):
    id = desk.stored("We deploy on Mondays")
    dressed = dress.format(id.removeprefix("memory:"))
    assert desk("get_memory", id=dressed)["id"] == id
    assert desk("tag_memory", memory_id=dressed, add=["a"])["memory_id"] == id
    assert desk("update_memory", memory_id=dressed, importance=0.9)["memory_id"] == id
    assert desk("promote_memory", memory_id=dressed, target_scope="user")["memory_id"] == id
    assert desk("forget_memory", memory_id=dressed)["memory_id"] == id


@pytest.mark.parametrize("tool", ["forget_memory", "tag_memory", "promote_memory", "update_memory", "get_memory"])
@pytest.mark.parametrize(
    ("id", "error"), [("memory:" + "0" * 20, "not_found"), ("nonsense", "invalid_input"), ("", "invalid_input")]
)
def test_an_id_that_is_not_there_is_an_error(desk, tool, id, error):
    more = {"tag_memory": {"add": ["a"]}, "promote_memory": {"target_scope": "user"}, "update_memory": {"content": "a"}}
    refused = desk.refused(tool, **{"id" if tool == "get_memory" else "memory_id": id}, **more.get(tool, {}))
    assert refused["error"] == error
    assert refused["retry_possible"] is False


def test_a_reason_is_a_sentence_and_not_a_book(desk):
    id = desk.stored("We deploy on Mondays", scope="session")
    for tool, more in (("forget_memory", {}), ("promote_memory", {"target_scope": "user"})):
        refused = desk.refused(tool, memory_id=id, reason="x" * 1_000_000, **more)
        assert [fault["field"] for fault in refused["faults"]] == ["reason"]
