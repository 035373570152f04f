"""How far transcripts have been read: only ever further, unless one begins anew."""

from making import a_memory, at, save
from retain.domain.changes import Changes, Conflict, NoTwin
from retain.domain.claims import fingerprint
from retain.domain.conversation import Cursor


def a_cursor(transcript="/t/one.jsonl", offset=100, **fields):
    return Cursor(**{"transcript": transcript, "session": "s1", "offset": offset, "at": at(1), **fields})


def test_a_transcript_has_no_cursor_until_it_was_read(store):
    assert store.cursor("/t/one.jsonl") is None


def test_a_cursor_comes_back_whole(store):
    cursor = a_cursor(last="line-7", project="shop", user="ada", extractions=3)
    save(store, cursors=(cursor,))
    assert store.cursor(cursor.transcript) == cursor


def test_of_two_readers_the_one_that_came_further_is_right(store):
    save(store, cursors=(a_cursor(offset=900, last="far"),))
    save(store, cursors=(a_cursor(offset=300, last="near"),))
    assert (store.cursor("/t/one.jsonl").offset, store.cursor("/t/one.jsonl").last) == (900, "far")


def test_a_transcript_that_begins_anew_goes_back_to_its_start(store):
    save(store, cursors=(a_cursor(offset=900, last="far", extractions=4),))
    save(store, cursors=(a_cursor(offset=0),))
    save(store, cursors=(a_cursor(offset=20, last="new"),))
    again = store.cursor("/t/one.jsonl")
    assert (again.offset, again.last, again.extractions) == (20, "new", 4)


def test_cursors_are_found_by_the_line_at_which_they_stand(store):
    save(store, cursors=(a_cursor("/t/a.jsonl", last="x"), a_cursor("/t/b.jsonl", last="y"), a_cursor("/t/c.jsonl")))
    assert [cursor.transcript for cursor in store.cursors_at(["y", "x", "z"])] == ["/t/a.jsonl", "/t/b.jsonl"]
    assert store.cursors_at([]) == []


def test_extractions_are_counted_for_each_project_and_user(store):
    save(
        store,
        cursors=(
            a_cursor("/t/a.jsonl", project="shop", extractions=2),
            a_cursor("/t/b.jsonl", project="shop", extractions=3),
            a_cursor("/t/c.jsonl", project="shop", user="ada", extractions=7),
            a_cursor("/t/d.jsonl", extractions=1),
        ),
    )
    assert [store.extractions("shop", ""), store.extractions("shop", "ada"), store.extractions(None, "")] == [5, 7, 1]


def test_a_cursor_moves_with_what_was_read_or_not_at_all(store):
    save(store, a_memory("m1", "said already"))
    expected = NoTwin(a_memory().place, fingerprint("said already"))
    plan = Changes(at=at(1), expects=(expected,), memories=(a_memory("m2", "more"),), cursors=(a_cursor(),))
    assert isinstance(store.apply(plan), Conflict)
    assert store.cursor("/t/one.jsonl") is None
