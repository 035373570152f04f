"""get_valid, get_valid_at, invalidate: what holds, what held, and since when no longer."""

import pytest

ROW = {
    "id", "content", "memory_type", "event_time", "ingestion_time", "valid_from", "valid_until", "importance_score",
    "metadata",
}  # fmt: skip
NOON = "2021-01-06T12:00:00Z"


def valid(board, **given):
    return [row["id"] for row in board("get_valid", **given)["results"]]


def valid_at(board, timestamp, **given):
    return [row["id"] for row in board("get_valid_at", timestamp=timestamp, **given)["results"]]


# What holds now


def test_what_holds_has_the_fields_of_the_contract(board):
    assert board("get_valid") == {"results": [], "count": 0}
    id = board.noted("We deploy on Mondays")
    body = board("get_valid")
    assert (set(body), body["count"]) == ({"results", "count"}, 1)
    assert set(body["results"][0]) == ROW
    assert body["results"][0] == {**board("get_memory", id=id), "id": id}


def test_the_newest_comes_first_and_twenty_unless_told_otherwise(board):
    ids = [board.noted(f"Deploy number {number} went well") for number in range(101)][::-1]
    assert valid(board) == valid_at(board, "2199-01-01") == ids[:20]
    assert valid(board, limit=100) == valid_at(board, "2199-01-01", limit=100) == ids[:100]
    assert valid(board, limit=1) == ids[:1]


@pytest.mark.parametrize(("tool", "given"), [("get_valid", {}), ("get_valid_at", {"timestamp": NOON})])
@pytest.mark.parametrize("limit", [0, 101])
def test_limit_goes_from_1_to_100(board, tool, given, limit):
    assert "limit: must be between 1 and 100" in board.refused(tool, **given, limit=limit)


def test_what_holds_no_longer_and_what_does_not_hold_yet_is_left_out(board):
    gone, kept = board.noted("We deploy on Mondays"), board.noted("Caches are warm")
    later = board.noted("The price doubles", event_time="2199-01-01")
    board("invalidate", id=gone)
    assert valid(board) == [kept]
    assert valid_at(board, "2199-01-01") == [later, kept]


# What held then


def test_an_answer_repeats_the_moment_in_utc(board):
    assert board("get_valid_at", timestamp=NOON) == {"results": [], "count": 0, "timestamp": NOON}
    id = board.noted("The launch happened", event_time="2021-01-01")
    body = board("get_valid_at", timestamp="2021-01-06T14:00:00+02:00")
    assert (body["timestamp"], body["count"]) == (NOON, 1)
    assert set(body["results"][0]) == ROW
    assert body["results"][0]["id"] == id


def test_a_memory_holds_from_its_first_moment_on(board):
    id = board.noted("The launch happened", event_time=NOON)
    assert valid_at(board, NOON) == [id]
    assert valid_at(board, "2021-01-06T11:59:59.999999Z") == []


def test_a_memory_holds_until_its_last_moment_and_not_in_it(board):
    id = board.noted("We deploy on Mondays", event_time="2021-01-06")
    until = board("invalidate", id=id)["valid_until"]
    assert valid_at(board, until) == []
    assert valid_at(board, board("get_memory", id=id)["ingestion_time"]) == [id]


@pytest.mark.parametrize(
    ("timestamp", "meant", "holds"),
    [
        ("2021-01-06T12:00:00+00:00", NOON, True),
        ("2021-01-06T07:00:00-05:00", NOON, True),
        ("2021-01-06T13:59:59+02:00", "2021-01-06T11:59:59Z", False),
        ("2021-01-06T12:00:00", NOON, True),
        ("2021-01-06T12:00", NOON, True),
        ("2021-01-06", "2021-01-06T00:00:00Z", False),
        ("2021-01-07", "2021-01-07T00:00:00Z", True),
        ("20210107T000000Z", "2021-01-07T00:00:00Z", True),
    ],
)
def test_zones_and_days_without_a_time_are_understood(board, timestamp, meant, holds):
    id = board.noted("The launch happened", event_time=NOON)
    body = board("get_valid_at", timestamp=timestamp)
    assert body["timestamp"] == meant
    assert [row["id"] for row in body["results"]] == [id] * holds


@pytest.mark.parametrize("timestamp", ["soon", "", "yesterday", "06/01/2026", "2026-13-01", "1767700800", "12:00"])
def test_nonsense_is_refused_with_an_example(board, timestamp):
    said = board.refused("get_valid_at", timestamp=timestamp)
    assert said.startswith("timestamp: ") and "ISO 8601" in said and "2026-02-2" in said


@pytest.mark.parametrize(("given", "named"), [({}, "is required"), ({"timestamp": 5}, "must be a string")])
def test_a_moment_is_required(board, given, named):
    assert f"timestamp: {named}" in board.refused("get_valid_at", **given)


@pytest.mark.parametrize("timestamp", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_moment_that_no_calendar_has_in_utc_is_refused(board, timestamp):
    assert board.refused("get_valid_at", timestamp=timestamp).startswith("timestamp: ")


def test_what_is_known_today_counts_also_for_then(board):
    id = board.noted("The company was founded", event_time="1999-01-01")
    assert valid_at(board, "2005-01-01") == [id]


def test_what_is_destroyed_never_held(board):
    id = board.noted("The launch happened", event_time=NOON)
    board("delete_memory", id=id)
    assert valid_at(board, "2021-02-01") == []


# Invalidating


def test_invalidating_ends_a_memory_now(board):
    id = board.noted("We deploy on Mondays", event_time=NOON)
    body = board("invalidate", id=id)
    assert set(body) == {"invalidated", "valid_until", "reason", "superseded_by"}
    assert (body["invalidated"], body["reason"], body["superseded_by"]) == (True, None, None)
    shown = board("get_memory", id=id)
    assert (shown["valid_until"], shown["state"]) == (body["valid_until"], "invalidated")
    assert shown["ingestion_time"] < body["valid_until"]
    assert valid(board) == [] and valid_at(board, "2021-02-01") == [id]


def test_a_reason_is_kept_without_its_secrets(board):
    id = board.noted("We deploy on Mondays")
    body = board("invalidate", id=id, reason=" moved, see AKIAQ7Z2M9X4B6N1K8V3 ")
    assert body["reason"].startswith("moved") and "AKIAQ7Z2M9X4B6N1K8V3" not in body["reason"]
    assert board("get_memory", id=id)["reason"] == body["reason"]


def test_a_reason_that_is_too_long_is_refused_and_nothing_ends(board):
    id = board.noted("We deploy on Mondays")
    assert "reason: must have at most 1,000 characters" in board.refused("invalidate", id=id, reason="x" * 1001)
    assert valid(board) == [id]


@pytest.mark.parametrize("dress", ["{}", "memory:{}", "mem_{}"])
def test_a_successor_is_named_bare_whatever_dress_it_was_given_in(board, dress):
    old, new = board.noted("We deploy on Mondays"), board.noted("Releases happen on Fridays")
    body = board("invalidate", id=old, reason="moved", superseded_by=dress.format(new))
    assert (body["reason"], body["superseded_by"]) == ("moved", new)
    shown = board("get_memory", id=old)
    assert (shown["state"], shown["reason"], shown["superseded_by"]) == ("superseded", "moved", new)
    assert valid(board) == [new]


@pytest.mark.parametrize("successor", ["0" * 20, "nonsense", ""])
def test_a_successor_must_exist(board, successor):
    id = board.noted("We deploy on Mondays")
    said = board.refused("invalidate", id=id, superseded_by=successor)
    assert said.startswith("superseded_by: ") and successor in said
    assert valid(board) == [id]


def test_a_memory_does_not_follow_itself(board):
    id = board.noted("We deploy on Mondays")
    assert "is the memory itself" in board.refused("invalidate", id=id, superseded_by=f"memory:{id}")
    assert valid(board) == [id]


def test_what_ended_itself_is_no_successor(board):
    first, second, third = (board.noted(f"We deploy on {day}") for day in ("Mondays", "Fridays", "Sundays"))
    board("invalidate", id=second, superseded_by=third)
    said = board.refused("invalidate", id=first, superseded_by=second)
    assert "superseded_by: is superseded itself" in said and third in said
    assert first in valid(board)


def test_an_entity_is_no_successor(board):
    id, entity = board.noted("We deploy on Mondays"), board("create_entity", name="A")["id"]
    assert entity in board.refused("invalidate", id=id, superseded_by=entity)


def test_invalidating_twice_changes_nothing_but_a_successor_can_still_be_named(board):
    old, new = board.noted("We deploy on Mondays"), board.noted("Releases happen on Fridays")
    first = board("invalidate", id=old, reason="moved")
    assert board("invalidate", id=old) == first
    assert board("invalidate", id=old, superseded_by=new) == {**first, "superseded_by": new}


def test_what_was_invalidated_can_be_said_again_as_a_new_memory(board):
    id = board.noted("We deploy on Mondays")
    board("invalidate", id=id)
    body = board("store_memory", content="We deploy on Mondays")
    assert body["status"] == "stored" and body["id"] != id
    assert valid(board) == [body["id"]]


def test_a_relation_has_no_successor(board):
    a, b = (board("create_entity", name=name)["id"] for name in "AB")
    relation = board("create_relation", from_entity=a, to_entity=b, relation_type="uses")["id"]
    memory = board.noted("We deploy on Mondays")
    assert board.refused("invalidate", id=relation, superseded_by=memory).startswith("superseded_by: is for memories")
    assert board("get_related", entity_id=a)["relation_count"] == 1
    body = board("invalidate", id=relation)
    assert body["invalidated"] is True and body["valid_until"]


def test_an_entity_cannot_be_invalidated(board):
    entity = board("create_entity", name="A")["id"]
    assert board.refused("invalidate", id=entity) == f"Memory not found: {entity}"


# People


@pytest.mark.parametrize(("owner", "other"), [("ann", "bob"), ("ann", None), (None, "bob")])
def test_another_person_neither_sees_nor_ends_a_memory(board, owner, other):
    id = board.noted("We deploy on Mondays", user_id=owner, event_time=NOON)
    assert valid(board, user_id=other) == valid_at(board, "2021-02-01", user_id=other) == []
    assert board.refused("invalidate", id=id, user_id=other) == f"Memory not found: {id}"
    assert valid(board, user_id=owner) == valid_at(board, "2021-02-01", user_id=owner) == [id]


def test_what_another_person_said_is_no_successor(board):
    mine, theirs = board.noted("We deploy on Mondays"), board.noted("We deploy on Fridays", user_id="ann")
    assert theirs in board.refused("invalidate", id=mine, superseded_by=theirs)
    assert valid(board) == [mine]


def test_what_was_invalidated_can_be_made_to_hold_again(board):
    id = board.noted("We deploy on Mondays")
    board("invalidate", id=id, reason="a slip")
    assert board("invalidate", id=id, restore=True) == {"invalidated": False, "id": id, "state": "active"}
    assert [row["id"] for row in board("get_valid")["results"]] == [id]
    assert board("get_memory", id=id)["valid_until"] is None
