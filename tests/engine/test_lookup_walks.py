"""Pages by offset while others add and delete."""

import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from making import a_memory, at, save, wanted
from retain.domain.changes import Changes
from retain.domain.listing import Page, Row
from retain.engine.lookup.walks import PATIENCE, Walks


class Entries:
    """A list that begins with the newest, as a store has it, where a page can be asked for by offset or by row."""

    def __init__(self, *times: int) -> None:
        self.rows = {self._row(time) for time in times}

    def _row(self, time):
        return Row(at(time), f"m{time}")

    def add(self, time):
        self.rows.add(self._row(time))

    def delete(self, time):
        self.rows.discard(self._row(time))

    def fetch(self, limit):
        def page(offset, beyond):
            ordered = sorted(self.rows, key=lambda row: (row.at, row.id), reverse=True)
            after = [row for row in ordered if beyond is None or (row.at, row.id) < (beyond.at, beyond.id)]
            some = after[offset : offset + limit]
            return Page([row.id for row in some], some[-1] if some else None, len(after))

        return page


class Hours:
    """A clock that a test sets."""

    seconds = 0.0

    def __call__(self):
        return self.seconds


def page(walks, entries, limit, offset, key="me"):
    """As a list asks for it: the size of the pages is part of who reads what."""
    return walks.page((key, limit), offset, entries.fetch(limit))


def walk(walks, entries, limit, between=lambda _: None, key="me"):
    """All that a reader sees who goes on for as long as there is more, by the totals it is told."""
    seen, offset, total = [], 0, 1
    while offset < total:
        items, total = page(walks, entries, limit, offset, key)
        seen += items
        offset += limit
        between(entries)
    return seen


def test_a_walk_sees_everything_once():
    assert walk(Walks(Hours()), Entries(1, 2, 3, 4, 5), 2) == ["m5", "m4", "m3", "m2", "m1"]


def test_what_is_added_at_the_front_does_not_push_an_entry_onto_the_next_page():
    new = iter(range(10, 99))
    assert walk(Walks(Hours()), Entries(1, 2, 3, 4), 2, lambda all: all.add(next(new))) == ["m4", "m3", "m2", "m1"]


def test_what_is_deleted_behind_the_reader_does_not_hide_an_entry():
    def delete_two(entries):
        entries.delete(5)
        entries.delete(6)

    assert walk(Walks(Hours()), Entries(1, 2, 3, 4, 5, 6), 2, delete_two) == ["m6", "m5", "m4", "m3", "m2", "m1"]


CHANGES = st.lists(st.tuples(st.sampled_from(["add", "delete"]), st.integers(0, 40)), max_size=4)


@given(st.sets(st.integers(0, 40), max_size=25), st.integers(1, 7), st.lists(CHANGES, max_size=20))
def test_what_stays_is_seen_once_and_nothing_is_seen_twice(times, limit, changes):
    entries, pending = Entries(*times), iter(changes)
    always = set(entries.rows)

    def others(entries):
        for act, time in next(pending, ()):
            getattr(entries, act)(time)
            always.intersection_update(entries.rows)

    seen = walk(Walks(Hours()), entries, limit, others)
    assert len(seen) == len(set(seen))
    assert {row.id for row in always} <= set(seen)


@given(st.sets(st.integers(0, 40), max_size=25), st.integers(1, 7), st.integers(0, 30))
def test_while_nobody_writes_an_offset_is_an_offset(times, limit, offset):
    walks, entries = Walks(Hours()), Entries(*times)
    walk(walks, entries, limit)
    plain = entries.fetch(limit)(offset, None)
    assert walks.page("me", offset, entries.fetch(limit)) == (plain.items, plain.total)


def test_the_total_is_of_all_that_was_and_will_be_seen():
    walks, entries = Walks(Hours()), Entries(1, 2, 3, 4, 5)
    assert walks.page("me", 0, entries.fetch(2)) == (["m5", "m4"], 5)
    entries.delete(5)
    entries.delete(3)
    entries.add(9)
    assert walks.page("me", 2, entries.fetch(2)) == (["m2", "m1"], 4)


def test_a_page_can_be_asked_for_again():
    walks, entries = Walks(Hours()), Entries(1, 2, 3, 4, 5)
    walks.page("me", 0, entries.fetch(2))
    once = walks.page("me", 2, entries.fetch(2))
    entries.add(9)
    assert walks.page("me", 2, entries.fetch(2)) == once


def test_from_the_start_all_is_seen_anew():
    walks, entries = Walks(Hours()), Entries(1, 2)
    walk(walks, entries, 1)
    entries.add(3)
    assert walk(walks, entries, 1) == ["m3", "m2", "m1"]


def test_a_walk_that_has_ended_says_nothing_of_what_came_after_it():
    walks, entries = Walks(Hours()), Entries(5, 6, 7)
    page(walks, entries, 9, 0)
    entries.add(8)
    assert page(walks, entries, 9, 3) == (["m5"], 4)
    page(walks, entries, 2, 0)
    page(walks, entries, 2, 2)
    entries.add(9)
    assert page(walks, entries, 2, 4) == (["m5"], 5)


def test_a_page_of_another_size_is_no_step_of_the_walk():
    walks, entries = Walks(Hours()), Entries(1, 2, 3, 4, 5)
    page(walks, entries, 1, 0)
    entries.add(9)
    assert page(walks, entries, 3, 1) == (["m5", "m4", "m3"], 6)


def test_a_new_first_page_ends_the_walk_before():
    walks, entries = Walks(Hours()), Entries(1, 2, 3, 4, 5, 6)
    page(walks, entries, 2, 0)
    page(walks, entries, 2, 2)
    entries.add(9)
    assert page(walks, entries, 2, 0) == (["m9", "m6"], 7)
    assert page(walks, entries, 2, 4) == (["m3", "m2"], 7)


ACTS = st.lists(
    st.tuples(st.just("page"), st.tuples(st.integers(1, 3), st.integers(0, 6)))
    | st.tuples(st.sampled_from(["add", "delete"]), st.integers(0, 40)),
    max_size=25,
)


@given(st.sets(st.integers(0, 40), max_size=12), ACTS)
def test_an_offset_means_what_it_says_unless_it_goes_on_with_the_page_before_it(times, acts):
    walks, entries, steps = Walks(Hours()), Entries(*times), set()
    for act, what in acts:
        if act != "page":
            getattr(entries, act)(what)
            continue
        limit, offset = what
        if not offset:
            steps = {step for step in steps if step[0] != limit}
        got, total = page(walks, entries, limit, offset)
        if (limit, offset) not in steps:
            plain = entries.fetch(limit)(offset, None)
            assert (got, total) == (plain.items, plain.total)
        if got and offset + len(got) < total:
            steps.add((limit, offset + len(got)))


def test_readers_do_not_move_each_other():
    walks, entries = Walks(Hours()), Entries(1, 2, 3, 4)
    walks.page("me", 0, entries.fetch(2))
    entries.add(5)
    walks.page("you", 0, entries.fetch(2))
    assert walks.page("me", 2, entries.fetch(2))[0] == ["m2", "m1"]
    assert walks.page("you", 2, entries.fetch(2))[0] == ["m3", "m2"]


def test_of_many_walks_those_are_forgotten_that_nobody_went_on_with():
    walks, entries = Walks(Hours(), most=3), Entries(1, 2, 3, 4)
    walks.page("me", 0, entries.fetch(2))
    walks.page("old", 0, entries.fetch(2))
    entries.add(5)
    walks.page("me", 2, entries.fetch(2))
    for n in range(2):
        walks.page(n, 0, entries.fetch(2))
    assert walks.page("me", 2, entries.fetch(2)) == (["m2", "m1"], 4)
    assert walks.page("old", 2, entries.fetch(2)) == (["m3", "m2"], 5)


def test_after_minutes_without_use_an_offset_is_counted_from_the_start():
    clock, entries = Hours(), Entries(1, 2, 3, 4)
    walks = Walks(clock)
    walks.page("me", 0, entries.fetch(2))
    entries.add(5)
    clock.seconds = PATIENCE
    assert walks.page("me", 2, entries.fetch(2)) == (["m2", "m1"], 4)
    clock.seconds = 2 * PATIENCE
    assert walks.page("me", 2, entries.fetch(2)) == (["m2", "m1"], 4)
    clock.seconds = 3 * PATIENCE + 1
    assert walks.page("me", 2, entries.fetch(2)) == (["m3", "m2"], 5)


def test_many_threads_read_at_once():
    walks, entries, seen = Walks(Hours()), Entries(*range(40)), {}

    def read(key):
        seen[key] = walk(walks, entries, 3, key=key)

    threads = [threading.Thread(target=read, args=(key,)) for key in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(len(ids) == len(set(ids)) == 40 for ids in seen.values()) and len(seen) == 8


@pytest.mark.parametrize("limit", [1, 3, 4])
def test_a_walk_over_a_store_in_which_others_write(store, limit):
    memories = [a_memory(f"m{n}", f"text {n}", when=at(n // 2)) for n in range(9)]
    save(store, *memories)
    walks, seen, offset, total = Walks(Hours()), [], 0, 1
    while offset < total:
        cards, total = walks.page("me", offset, lambda *place: store.page(wanted(), limit, *place))
        seen += [card.id for card in cards]
        offset += limit
        save(store, replace(memories[0], id=f"new{offset}", text=f"new {offset}", event_time=at(99)))
        store.apply(Changes(at=at(60), purged=(seen[0],)))
    assert seen == [f"m{n}" for n in range(8, -1, -1)]


def test_a_page_that_is_no_first_one_begins_no_walk():
    walks, entries = Walks(Hours()), Entries(*range(12))
    assert page(walks, entries, 2, 1) == (["m10", "m9"], 12)
    entries.add(12)
    entries.add(13)
    assert page(walks, entries, 2, 3) == (["m10", "m9"], 14)
