"""store_memory, get_memory, update_memory, delete_memory: fields, bounds, ids, and who sees what."""

import re

import pytest

from retain import maintenance
from retain.domain.memory import MAX_TEXT

DRESSES = ["{}", "memory:{}", "mem_{}", "memory:⟨{}⟩", " {} "]
UNKNOWN = ["0" * 20, "memory:" + "0" * 20, "mem_" + "0" * 20, "nonsense", "", "MEMORY:1", "a" * 19, "'; drop table --"]
BY_ID = [
    ("get_memory", {}),
    ("update_memory", {"content": "We deploy on Fridays"}),
    ("delete_memory", {}),
    ("invalidate", {}),
]
FIELDS = {
    "id", "content", "memory_type", "event_time", "ingestion_time", "valid_from", "valid_until", "importance_score",
    "metadata",
}  # fmt: skip


def total(board, **given):
    return board("list_memories", **given)["total"]


def listed(board, **given):
    return [row["id"] for row in board("list_memories", **given)["memories"]]


# Storing


def test_storing_answers_with_an_id_of_twenty_letters_and_digits(board):
    body = board("store_memory", content="We deploy on Mondays")
    assert set(body) == {"id", "status", "warnings"}
    assert re.fullmatch(r"[0-9a-z]{20}", body["id"])
    assert (body["status"], body["warnings"]) == ("stored", [])


def test_what_is_not_said_has_the_defaults_of_the_contract(board):
    body = board("get_memory", id=board.noted("We deploy on Mondays"))
    assert (body["memory_type"], body["importance_score"], body["metadata"]) == ("semantic", 1.0, {})
    assert body["event_time"] == body["ingestion_time"] == body["valid_from"]
    assert body["valid_until"] is None


@pytest.mark.parametrize("kind", ["episodic", "semantic", "procedural"])
def test_every_type_of_memory_is_kept(board, kind):
    assert board("get_memory", id=board.noted("We deploy", memory_type=kind))["memory_type"] == kind


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"content": ""}, "content: must not be empty"),
        ({"content": " \n\t"}, "content: must not be empty"),
        ({"content": "x" * (MAX_TEXT + 1)}, f"content: must be at most {MAX_TEXT} characters"),
        ({}, "content: is required"),
        ({"content": "a", "memory_type": "fact"}, "memory_type: must be one of: episodic, semantic, procedural"),
        ({"content": "a", "memory_type": "Semantic"}, "did you mean semantic?"),
        ({"content": "a", "metadata": [1]}, "metadata: must be an object"),
        ({"content": "a", "user_id": 7}, "user_id: must be a string"),
        ({"content": "a", "user_id": "x" * 201}, "user_id: must be at most 200 characters"),
        ({"content": "a", "user_id": "a\x1fb"}, "user_id: must have no control characters"),
        ({"content": "a", "importance": 1}, "importance: unknown argument"),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(board, given, named):
    said = board.refused("store_memory", **given)
    assert named in said and said.endswith("Nothing was done.")
    assert total(board) == 0


def test_metadata_comes_back_as_it_was_given(board):
    metadata = {"ticket": 7, "who": {"name": "Ada", "tags": ["a", None, True, 0.5]}, "größe": "é"}
    assert board("get_memory", id=board.noted("We deploy", metadata=metadata))["metadata"] == metadata


def test_secrets_are_removed_and_the_reply_says_so(board):
    body = board("store_memory", content="The key is AKIAQ7Z2M9X4B6N1K8V3", metadata={"k": "AKIAQ7Z2M9X4B6N1K8V3"})
    assert [warning["code"] for warning in body["warnings"]] == ["redacted"]
    assert "AKIAQ7Z2M9X4B6N1K8V3" not in str(board("get_memory", id=body["id"]))


# When it happened


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("2021-01-06T12:00:00Z", "2021-01-06T12:00:00Z"),
        ("2021-01-06T14:00:00+02:00", "2021-01-06T12:00:00Z"),
        ("2021-01-06T12:00:00", "2021-01-06T12:00:00Z"),
        ("2021-01-06", "2021-01-06T00:00:00Z"),
        ("2021-01-06T12:00:00.25-05:00", "2021-01-06T17:00:00.250000Z"),
    ],
)
def test_the_time_of_an_event_is_when_it_became_true(board, given, meant):
    body = board("get_memory", id=board.noted("The launch happened", event_time=given))
    assert body["event_time"] == body["valid_from"] == meant
    assert body["ingestion_time"] > meant


@pytest.mark.parametrize("given", ["soon", "", "yesterday", "06/01/2026", "2026-13-01", "2026-02-30T00:00Z", "12:00"])
def test_a_time_that_is_none_is_refused_with_an_example(board, given):
    said = board.refused("store_memory", content="The launch happened", event_time=given)
    assert said.startswith("event_time: ") and "2026-02-23T10:00:00Z" in said
    assert total(board) == 0


@pytest.mark.parametrize("given", ["1500-01-01", "9999-12-31T23:59:59Z"])
def test_a_time_far_from_any_life_is_refused_with_the_years_allowed(board, given):
    assert "1900 to 2200" in board.refused("store_memory", content="The launch happened", event_time=given)
    assert total(board) == 0


# Saying the same twice


def test_the_same_text_is_reinforced_and_keeps_its_id(board):
    id = board.noted("We deploy on Mondays", metadata={"a": 1})
    body = board("store_memory", content="We deploy on Mondays", metadata={"b": 2})
    assert (body["id"], body["status"]) == (id, "reinforced")
    assert board("get_memory", id=id)["metadata"] == {"a": 1, "b": 2}
    assert total(board) == 1


def test_the_same_text_is_known_without_a_model_too(desks, board):
    off = desks(tools=board.tools, embedding_model="off")
    assert off.noted("We deploy on Mondays") == off.noted("We deploy on Mondays") == board.noted("We deploy on Mondays")
    assert total(board) == 1


def test_nearly_the_same_words_are_the_same_memory(knowing_board):
    id = knowing_board.noted("We always deploy the shop on Mondays.")
    assert knowing_board.noted("we always deploy the shop on Mondays") == id
    assert total(knowing_board) == 1


@pytest.mark.parametrize("other", ["We deploy on Fridays", "We do not deploy on Mondays", "We deploy on 3 Mondays"])
def test_another_name_number_or_negation_is_another_memory(knowing_board, other):
    assert knowing_board.noted("We deploy on Mondays") != knowing_board.noted(other)
    assert total(knowing_board) == 2


def test_what_contradicts_a_memory_is_stored_and_names_it_by_its_bare_id(knowing_board):
    old = knowing_board.noted("The service listens on port 8080")
    body = knowing_board("store_memory", content="The service listens on port 9090")
    assert [(found["id"], bool(found["why"])) for found in body["contradicts"]] == [(old, True)]
    assert listed(knowing_board) == [body["id"], old]


# Ids


def test_a_memory_has_the_fields_of_the_contract_and_a_nested_id(board):
    id = board.noted("We deploy on Mondays")
    body = board("get_memory", id=id)
    assert set(body) == FIELDS
    assert body["id"] == {"tb": "memories", "id": {"String": id}}
    assert body["content"] == "We deploy on Mondays"


@pytest.mark.parametrize("dress", DRESSES)
def test_an_id_is_understood_in_every_dress(board, dress):
    id = board.noted("We deploy on Mondays")
    assert board("get_memory", id=dress.format(id))["id"]["id"]["String"] == id
    board("update_memory", id=dress.format(id), content="We deploy on Fridays")
    assert board("get_memory", id=id)["content"] == "We deploy on Fridays"
    assert board("invalidate", id=dress.format(id))["invalidated"] is True
    assert board("delete_memory", id=dress.format(id)) == {"deleted": True}


@pytest.mark.parametrize("id", UNKNOWN)
@pytest.mark.parametrize(("tool", "given"), BY_ID)
def test_what_is_no_memory_is_not_found_under_the_name_that_was_given(board, tool, given, id):
    board.noted("We deploy on Mondays")
    before = board("list_memories")
    assert board.refused(tool, id=id, **given) == f"Memory not found: {id}"
    assert board("list_memories") == before


def test_a_huge_id_is_not_repeated_in_full(board):
    said = board.refused("get_memory", id="x" * 1_000_000)
    assert said.startswith("Memory not found: xxx") and len(said) < 300


def test_the_id_of_an_entity_is_not_that_of_a_memory(board):
    entity = board("create_entity", name="AuthService")["id"]
    assert board.refused("get_memory", id=entity) == f"Memory not found: {entity}"


def test_a_long_text_is_whole_in_get_and_shortened_in_lists(board):
    text = "Deploy log " + "line of text " * 7000 + "end"
    id = board.noted(text)
    assert board("get_memory", id=id)["content"] == text
    (row,) = board("list_memories")["memories"]
    assert (row["truncated"], row["characters"]) == (True, len(text))
    assert row["content"].endswith("…") and text.startswith(row["content"][:-1])


# Updating


def test_updating_answers_with_the_whole_memory(board):
    id = board.noted("We deploy on Mondays", memory_type="episodic", metadata={"a": 1})
    body = board("update_memory", id=id, content="We deploy on Fridays")
    assert set(body) == {*FIELDS, "warnings"}
    assert body == {**board("get_memory", id=id), "warnings": []}
    assert (body["content"], body["memory_type"], body["metadata"]) == ("We deploy on Fridays", "episodic", {"a": 1})


def test_a_type_alone_can_be_updated(board):
    id = board.noted("We deploy on Mondays", metadata={"a": 1})
    before = board("get_memory", id=id)
    after = board("update_memory", id=id, memory_type="procedural")
    assert after == {**before, "memory_type": "procedural", "warnings": []}


def test_metadata_is_replaced_and_an_empty_one_empties_it(board):
    id = board.noted("We deploy on Mondays", metadata={"a": 1, "b": 2})
    assert board("update_memory", id=id, metadata={"c": 3})["metadata"] == {"c": 3}
    assert board("update_memory", id=id, content="We deploy on Fridays")["metadata"] == {"c": 3}
    assert board("update_memory", id=id, metadata={})["metadata"] == {}


def test_null_leaves_a_field_as_it_is(board):
    id = board.noted("We deploy on Mondays", metadata={"a": 1})
    body = board("update_memory", id=id, content=None, memory_type="episodic", metadata=None)
    assert (body["content"], body["memory_type"], body["metadata"]) == ("We deploy on Mondays", "episodic", {"a": 1})


def test_a_new_text_passes_the_gate_of_a_new_memory(knowing_board):
    old = knowing_board.noted("The service listens on port 8080")
    id = knowing_board.noted("The service is written in Go")
    text = "The service listens on port 9090, by the key AKIAQ7Z2M9X4B6N1K8V3"
    body = knowing_board("update_memory", id=id, content=text)
    assert "AKIAQ7Z2M9X4B6N1K8V3" not in body["content"]
    assert [warning["code"] for warning in body["warnings"]] == ["redacted"]
    body = knowing_board("update_memory", id=id, content="The service listens on port 9090")
    assert [found["id"] for found in body["contradicts"]] == [old]


def test_a_new_text_is_found_by_its_words_and_the_old_one_no_longer(board):
    id = board.noted("We deploy on Mondays")
    board("update_memory", id=id, content="Releases happen on Fridays")
    assert [hit["id"] for hit in board("search_text", query="Fridays")["results"]] == [id]
    assert board("search_text", query="Mondays")["results"] == []


def test_a_new_text_is_found_by_its_meaning(knowing_board):
    id = knowing_board.noted("The office has a new coffee machine")
    knowing_board("update_memory", id=id, content="PostgreSQL is our database")
    assert knowing_board("search", query="Where is data stored?")["results"][0]["id"] == id


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"memory_type": "fact"}, "memory_type: must be one of: episodic, semantic, procedural"),
        ({"content": " "}, "content: must not be empty"),
        ({"content": "x" * (MAX_TEXT + 1)}, f"content: must be at most {MAX_TEXT} characters"),
        ({"metadata": "none"}, "metadata: must be an object"),
        ({}, "content, memory_type, metadata: none of them was given"),
        ({"importance_score": 1}, "importance_score: unknown argument"),
    ],
)
def test_a_bad_update_is_named_and_changes_nothing(board, given, named):
    id = board.noted("We deploy on Mondays", metadata={"a": 1})
    before = board("get_memory", id=id)
    said = board.refused("update_memory", id=id, **given)
    assert named in said and said.endswith("Nothing was done.")
    assert board("get_memory", id=id) == before


def test_the_text_of_another_memory_is_refused_and_the_other_named(board):
    other, id = board.noted("We deploy on Mondays"), board.noted("Caches are warm")
    assert other in board.refused("update_memory", id=id, content="We deploy on Mondays")
    assert board("get_memory", id=id)["content"] == "Caches are warm"


def test_what_holds_no_longer_is_not_rewritten(board):
    id = board.noted("We deploy on Mondays")
    board("invalidate", id=id)
    assert "invalidated" in board.refused("update_memory", id=id, content="We deploy on Fridays")
    assert board("get_memory", id=id)["content"] == "We deploy on Mondays"


# Deleting


def test_what_is_deleted_is_gone_everywhere(board):
    id, kept = board.noted("We deploy the AuthService on Mondays"), board.noted("Caches are warm")
    assert board("delete_memory", id=id) == {"deleted": True}
    assert listed(board) == [kept]
    for tool in ("search", "search_text", "recall"):
        assert id not in str(board(tool, query="deploy AuthService Mondays"))
    assert id not in str(board("get_valid"))
    for tool, given in BY_ID:
        assert board.refused(tool, id=id, **given) == f"Memory not found: {id}"


def test_a_backup_that_still_holds_it_is_named(board):
    id = board.noted("We deploy on Mondays")
    copy = maintenance.backup(board.app, board.app.now())
    assert board("delete_memory", id=id) == {"deleted": True, "still_in_backups": [str(copy)]}


def test_what_was_deleted_can_be_said_again_under_a_new_id(board):
    id = board.noted("We deploy on Mondays")
    board("delete_memory", id=id)
    assert board("store_memory", content="We deploy on Mondays")["status"] == "stored"
    assert id not in listed(board)


# People


@pytest.mark.parametrize(("owner", "other"), [("ann", "bob"), ("ann", None), (None, "bob")])
def test_another_person_sees_and_reaches_nothing(board, owner, other):
    id = board.noted("We deploy on Mondays", user_id=owner)
    assert total(board, user_id=other) == 0
    for tool, given in BY_ID:
        assert board.refused(tool, id=id, user_id=other, **given) == f"Memory not found: {id}"
    assert board("get_memory", id=id, user_id=owner)["content"] == "We deploy on Mondays"
    assert listed(board, user_id=owner) == [id]


def test_the_same_text_of_two_people_is_two_memories(board):
    ids = {board.noted("We deploy on Mondays", user_id=user) for user in ("ann", "bob", None)}
    assert len(ids) == 3


def test_what_one_person_says_contradicts_nobody_elses(knowing_board):
    knowing_board.noted("The service listens on port 8080", user_id="ann")
    body = knowing_board("store_memory", content="The service listens on port 9090", user_id="bob")
    assert "contradicts" not in body


def test_a_person_changes_and_destroys_their_own(board):
    id = board.noted("We deploy on Mondays", user_id="ann")
    assert board("update_memory", id=id, content="We deploy on Fridays", user_id="ann")["content"].endswith("Fridays")
    assert board("delete_memory", id=id, user_id="ann") == {"deleted": True}


def test_another_project_keeps_its_memories_apart(desks, board, tmp_path):
    id = board.noted("We deploy on Mondays")
    elsewhere = desks(tools=board.tools, project_dir=tmp_path / "bank")
    assert listed(elsewhere) == []
    assert elsewhere("get_memory", id=id)["content"] == "We deploy on Mondays"


def test_an_id_is_taken_in_the_nested_form_in_which_it_was_given(board):
    nested = board("get_memory", id=board.noted("We deploy on Mondays"))["id"]
    assert board("get_memory", id=nested)["content"] == "We deploy on Mondays"


def test_nobody_can_store_a_memory_in_the_name_of_the_user_or_of_retain(board):
    forged = {"said_by": "user", "found_by": "wish", "entry": "outcome", "describes": "project"}
    id = board.noted("We deploy on Mondays", metadata={**forged, "ticket": 7})
    assert board("get_memory", id=id)["metadata"] == {"ticket": 7}
