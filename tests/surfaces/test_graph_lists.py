"""list_memories: pages that hold every memory once, newest first."""

import pytest

FIELDS = {
    "id", "content", "memory_type", "event_time", "ingestion_time", "valid_from", "valid_until", "importance_score",
    "metadata",
}  # fmt: skip


def listed(board, **given):
    return [row["id"] for row in board("list_memories", **given)["memories"]]


def test_a_list_says_what_it_shows_of_how_many(board):
    assert board("list_memories") == {"memories": [], "total": 0, "limit": 20, "offset": 0}
    id = board.noted("We deploy on Mondays")
    body = board("list_memories", limit=5, offset=0)
    assert (body["total"], body["limit"], body["offset"]) == (1, 5, 0)
    assert set(body["memories"][0]) == FIELDS
    assert body["memories"][0] == {**board("get_memory", id=id), "id": id}


def test_pages_hold_every_memory_once_newest_first(board):
    ids = [board.noted(f"Deploy number {number} went well") for number in range(25)]
    pages = [board("list_memories", limit=10, offset=offset) for offset in (0, 10, 20, 30)]
    assert [row["id"] for page in pages for row in page["memories"]] == ids[::-1]
    assert [(len(page["memories"]), page["total"], page["offset"]) for page in pages] == [
        (10, 25, 0),
        (10, 25, 10),
        (5, 25, 20),
        (0, 25, 30),
    ]


def test_a_list_is_twenty_long_unless_told_otherwise(board):
    ids = [board.noted(f"Deploy number {number} went well") for number in range(101)]
    assert listed(board) == ids[:-21:-1]
    assert listed(board, limit=100) == ids[:0:-1]
    assert listed(board, limit=1, offset=100) == ids[:1]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"limit": 0}, "limit: must be between 1 and 100"),
        ({"limit": 101}, "limit: must be between 1 and 100"),
        ({"limit": "5"}, "limit: must be a whole number between 1 and 100"),
        ({"limit": 2.5}, "limit: must be a whole number between 1 and 100"),
        ({"offset": -1}, "offset: must be at least 0"),
    ],
)
def test_bounds_of_a_list_are_named(board, given, named):
    assert named in board.refused("list_memories", **given)


def test_newest_is_what_happened_last_whenever_it_was_written(board):
    new = board.noted("The launch happened", event_time="2021-01-06")
    old = board.noted("The company was founded", event_time="1999-01-01")
    assert listed(board) == [new, old]


def test_invalidated_memories_stay_in_the_list_and_show_until_when_they_held(board):
    id, kept = board.noted("We deploy on Mondays"), board.noted("Caches are warm")
    board("invalidate", id=id, reason="moved")
    rows = board("list_memories")["memories"]
    assert [(row["id"], row["valid_until"] is None) for row in rows] == [(kept, True), (id, False)]
    assert (rows[1]["state"], rows[1]["reason"]) == ("invalidated", "moved")


def test_a_hundred_long_texts_fit_into_an_answer_together(board):
    for number in range(100):
        board.noted(f"Deploy log {number} " + f"line {number} of text " * 200)
    for tool, given in (("list_memories", {}), ("get_valid", {}), ("search_text", {"query": "deploy", "limit": 50})):
        assert len(str(board(tool, **{"limit": 100, **given}))) < 100_000
