"""Looking over what was captured: the list, each key and its undoing, and how far one has come."""

import json
import stat
from functools import partial

import pytest

from making import at
from retain import reviewed
from retain.domain.ids import first_id, new_id
from retain.domain.memory import Scope, State
from retain.surfaces.cli.reviewing import Key, Walk, settle, still_new
from surfaces.at_a_terminal import Seat
from surfaces.command import Command
from surfaces.reviewed_by import captured_by, opened

PNPM, PORT, GERMAN = "we use pnpm", "postgres listens on port 5433", "answer in German"


@pytest.fixture
def retain(tmp_path):
    return Command.in_folder(tmp_path)


@pytest.fixture
def app(retain):
    with opened(retain) as memory:
        yield memory


@pytest.fixture
def capture(retain):
    return partial(captured_by, retain)


def walk(app, write=lambda text: None):
    return Walk(app, still_new(app, app.engine.lookup.captured(app.caller())), write)


def listed(retain, *options):
    return [row["content"] for row in retain("review", "--json", *options).body.get("memories", [])]


class TestTheList:
    def test_it_has_what_was_captured_oldest_first_and_nothing_else(self, retain, capture):
        capture(PNPM, score=0.934, threshold=0.8)
        capture(GERMAN, scope="user")
        retain.stored("typed by hand")
        done = retain("review")
        assert done.code == 0
        assert done.out.index(PNPM) < done.out.index(GERMAN)
        assert "typed by hand" not in done.out
        assert "score 0.93 (kept from 0.80)" in done.out and "session 8f31aaaa" in done.out

    def test_as_json_it_says_where_each_comes_from(self, retain, capture):
        id = capture(PNPM, score=0.934, threshold=0.8)
        (row,) = retain("review", "--json").body["memories"]
        assert row | {"said_at": None} == {
            **{"memory_id": f"memory:{id}", "content": PNPM, "type": "architecture", "scope": "project", "new": True},
            **{"session_id": "8f31aaaa-0001", "said_by": "user", "found_by": "wish", "score": 0.934},
            **{"threshold": 0.8, "said_at": None},
        }

    def test_old_memories_have_no_score_and_wrong_ones_are_left_out(self, retain, capture):
        capture(PNPM)
        capture(PORT, score="high", threshold=True)
        assert [row["score"] for row in retain("review", "--json").body["memories"]] == [None, None]
        assert "score" not in retain("review").out

    def test_listing_is_no_review(self, retain, capture):
        capture(PNPM)
        assert listed(retain) == listed(retain) == [PNPM]

    def test_one_session_alone(self, retain, capture):
        capture(PNPM, "8f31aaaa-0001")
        capture(PORT, "9a00bbbb-0002")
        assert (listed(retain, "--session", "last"), listed(retain, "--session", "8f31")) == ([PORT], [PNPM])

    def test_a_session_that_is_not_there_is_named(self, retain, capture):
        capture(PNPM)
        done = retain("review", "--session", "zzzz")
        assert (done.code, "session zzzz" in done.err) == (3, True)

    def test_nothing_to_review_says_so(self, retain, capture, app):
        done = retain("review")
        assert (done.code, "Nothing has been captured here yet" in done.out) == (1, True)
        capture(PNPM)
        walk(app).press(Key.KEEP)
        done = retain("review")
        assert (done.code, "Nothing new to review; 1 memory reviewed before" in done.out) == (1, True)
        assert listed(retain, "--all") == [PNPM]


class TestTheKeys:
    def test_keep_leaves_it_and_goes_on(self, app, capture):
        capture(PNPM), capture(PORT)
        steps = walk(app)
        assert steps.press(Key.KEEP) == "kept"
        assert steps.current.text == PORT
        assert [memory.text for memory in walk(app).memories] == [PORT]

    def test_what_was_kept_is_new_again_once_that_is_undone(self, app, capture):
        capture(PNPM)
        steps = walk(app)
        steps.press(Key.KEEP)
        assert (steps.press(Key.UNDO), steps.current.text, len(walk(app).memories)) == ("undone", PNPM, 1)

    def test_forget_hides_it_and_undo_brings_it_back(self, app, capture):
        id = capture(PNPM)
        steps = walk(app)
        steps.press(Key.FORGET)
        assert app.get(id).memory.status.state is State.FORGOTTEN
        steps.press(Key.UNDO)
        assert (app.get(id).memory.is_active, steps.current.id) == (True, id)

    def test_an_edit_is_the_users_word_and_its_undoing_is_as_before(self, app, capture):
        id = capture(PNPM, said_by="assistant")
        steps = walk(app, lambda text: "we use pnpm 9")
        assert steps.press(Key.EDIT) == "changed"
        assert (steps.current.text, dict(app.get(id).memory.metadata)) == ("we use pnpm 9", {"said_by": "user"})
        steps.press(Key.UNDO)
        assert (app.get(id).memory.text, app.get(id).memory.metadata["said_by"]) == (PNPM, "assistant")

    def test_an_editor_that_changes_nothing_is_no_step(self, app, capture):
        capture(PNPM)
        steps = walk(app)
        assert (steps.press(Key.EDIT), steps.steps) == ("nothing was changed", [])

    @pytest.mark.parametrize(("scope", "other"), [("project", "user"), ("user", "project")])
    def test_scope_changes_both_ways_and_back(self, app, capture, scope, other):
        id = capture(PNPM, scope=scope)
        steps = walk(app)
        assert steps.press(Key.SCOPE) == f"now has scope {other}"
        assert (app.get(id).memory.scope.value, walk(app).memories) == (other, [])
        steps.press(Key.UNDO)
        assert (app.get(id).memory.scope.value, len(walk(app).memories)) == (scope, 1)

    def test_several_steps_on_one_memory_are_undone_one_by_one(self, app, capture):
        id = capture(PNPM)
        steps = walk(app, lambda text: "we use pnpm 9")
        for key in (Key.SCOPE, Key.EDIT, Key.FORGET, Key.UNDO, Key.UNDO, Key.UNDO):
            steps.press(key)
        memory = app.get(id).memory
        assert (memory.text, memory.scope, memory.is_active) == (PNPM, Scope.PROJECT, True)
        assert (steps.press(Key.UNDO), len(walk(app).memories)) == ("there is nothing to undo", 1)

    def test_what_cannot_be_done_is_said_and_the_walk_goes_on(self, app, capture):
        capture(PNPM)
        capture(PNPM, "8f31aaaa-0002", scope="user")
        steps = walk(app)
        assert "already says exactly this" in steps.press(Key.SCOPE)
        assert (steps.current.text, steps.steps) == (PNPM, [])

    def test_what_another_window_forgot_meanwhile_is_said(self, app, capture):
        id = capture(PNPM)
        steps = walk(app, lambda text: "we use pnpm 9")
        app.forget(id)
        assert "is forgotten" in steps.press(Key.EDIT)


class TestHowFarOneHasCome:
    def test_quitting_leaves_the_rest_for_the_next_time(self, retain, app, capture):
        capture(PNPM), capture(PORT)
        walk(app).press(Key.KEEP)
        capture(GERMAN)
        assert listed(retain) == [PORT, GERMAN]

    def test_reviewing_a_later_session_leaves_an_earlier_one_new(self, retain, app, capture):
        capture(PNPM, "8f31aaaa-0001")
        capture(PORT, "9a00bbbb-0002")
        lookup, caller = app.engine.lookup, app.caller()
        Walk(app, lookup.captured(caller, "9a00bbbb-0002"), lambda text: None).press(Key.KEEP)
        settle(app, lookup.captured(caller))
        assert listed(retain) == [PNPM]

    def test_what_is_the_users_is_reviewed_once_for_all_projects(self, retain, app, capture, tmp_path):
        capture(GERMAN, scope="user")
        walk(app).press(Key.KEEP)
        (tmp_path / "blog").mkdir()
        assert listed(retain, "--project", str(tmp_path / "blog")) == []

    def test_the_notes_are_private_and_hold_ids_alone(self, retain, app, capture):
        id = capture(PNPM)
        walk(app).press(Key.KEEP)
        (file,) = (retain.home / "review").glob("*.json")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        assert json.loads(file.read_text()) == {"floor": "", "seen": [id]}

    def test_broken_notes_make_everything_new_again(self, retain, app, capture):
        capture(PNPM)
        walk(app).press(Key.KEEP)
        (file,) = (retain.home / "review").glob("*.json")
        for broken in ("", "[]", '{"floor": 7, "seen": "x"}', '{"seen": [1, null]}'):
            file.write_text(broken)
            assert listed(retain) == [PNPM]

    def test_notes_of_long_ago_become_one(self, tmp_path):
        home, day = str(tmp_path), 86_400.0
        ids = [new_id(at(days * day)) for days in range(0, 100, 10)]
        for id in ids:
            if id != ids[2]:
                reviewed.mark(home, "here", id)
        reviewed.compact(home, "here", [ids[2]], at(100 * day).timestamp())
        assert reviewed.reviewed(home, "here").floor == ids[1]
        reviewed.mark(home, "here", ids[2])
        reviewed.compact(home, "here", [], at(100 * day).timestamp())
        found = reviewed.reviewed(home, "here")
        assert (found.floor, sorted(found.seen)) == (ids[6], ids[7:])
        assert all(map(found.has, ids)) and first_id(0) < ids[0]

    def test_a_home_that_cannot_be_written_to_is_told(self, retain, app, capture):
        capture(PNPM)
        (retain.home / "review").write_text("in the way")
        assert "cannot be noted" in walk(app).press(Key.KEEP)


class TestAtATerminal:
    def test_one_memory_after_the_other_waits_for_a_key(self, retain, capture):
        capture(PNPM), capture(PORT), capture(GERMAN, scope="user")
        seat = Seat(retain, "review")
        seat.until("1 of 3").until(PNPM).until("? help").type("k")
        seat.until(PORT).until("? help").type("f").until(GERMAN).until("only this project").until("? help").type("q")
        code, shown = seat.end()
        assert (code, "1 kept, 1 forgotten; 1 memory left" in shown) == (0, True)
        assert listed(retain) == [GERMAN]

    def test_help_undo_and_the_end(self, retain, capture):
        capture(PNPM)
        seat = Seat(retain, "review").until("? help").type("?").until("undo the last step").until("? help")
        seat.type("f").until("That was all").type("u").until(PNPM).until("? help").type("k").until("That was all")
        code, shown = seat.type(" ").end()
        assert (code, shown.rstrip().endswith("1 kept")) == (0, True)

    def test_the_editor_is_the_persons_own(self, retain, capture, tmp_path):
        capture(PNPM)
        editor = tmp_path / "editor"
        editor.write_text('#!/bin/sh\nstat -c %a "$1" > "$0.mode"\necho "we use pnpm 9" > "$1"\n')
        editor.chmod(0o700)
        seat = Seat(retain, "review", VISUAL=str(editor)).until("? help").type("e").until("we use pnpm 9")
        assert seat.until("? help").type("q").end()[0] == 0
        assert (tmp_path / "editor.mode").read_text().strip() == "600"
        assert listed(retain, "--all") == ["we use pnpm 9"]

    def test_an_interruption_keeps_what_was_decided(self, retain, capture):
        capture(PNPM), capture(PORT)
        seat = Seat(retain, "review").until("? help").type("k").until(PORT).until("? help").type("\x03")
        assert seat.end()[0] == 130
        assert listed(retain) == [PORT]
