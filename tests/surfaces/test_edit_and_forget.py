"""`retain edit`, and `retain forget` for all that was captured in a session."""

from functools import partial

import pytest

from surfaces.at_a_terminal import Seat
from surfaces.command import Command
from surfaces.reviewed_by import captured_by

PNPM, PORT, RED = "we use pnpm", "postgres listens on port 5433", "the staging database is called red"


@pytest.fixture
def retain(tmp_path):
    return Command.in_folder(tmp_path)


@pytest.fixture
def capture(retain):
    return partial(captured_by, retain)


@pytest.fixture
def editor(tmp_path):
    """A program that makes of a file what a test says."""

    def one(script):
        path = tmp_path / "editor"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o700)
        return str(path)

    return one


def text_of(retain, id):
    return retain("show", id, "--json").body["content"]


def remembered(retain):
    return {row["content"] for row in retain("list", "--json").body["results"]}


class TestEdit:
    def test_with_a_text_it_replaces_what_was_said(self, retain):
        id = retain.stored(PNPM)
        done = retain("edit", id, "we", "use", "pnpm", "9")
        assert (done.code, "changed" in done.out, text_of(retain, id)) == (0, True, "we use pnpm 9")
        assert PNPM in retain("history", id).out

    def test_as_json_it_answers_as_the_tool_does(self, retain):
        body = retain("edit", retain.stored(PNPM), "we use pnpm 9", "--json").body
        assert (body["updated_fields"], body["version"]) == (["content"], 2)

    def test_the_same_text_changes_nothing_and_says_so(self, retain):
        id = retain.stored(PNPM)
        done = retain("edit", id, PNPM)
        assert (done.code, done.out) == (0, "nothing was changed\n")
        assert retain("edit", id, PNPM, "--json").body["updated_fields"] == []

    def test_what_a_person_words_anew_is_the_users_word(self, retain, capture):
        id = capture(PNPM, said_by="assistant")
        retain("edit", id, "we use pnpm 9")
        assert retain("show", id, "--json").body["metadata"] == {"said_by": "user"}

    @pytest.mark.parametrize(
        ("words", "code", "said"),
        [
            (("0mwi0000000000000000", "x"), 3, "there is no memory"),
            (("nonsense", "x"), 2, "not an id"),
            ((), 2, "Missing argument"),
        ],
    )
    def test_errors_are_those_of_other_commands(self, retain, words, code, said):
        retain.stored(PNPM)
        done = retain("edit", *words)
        assert (done.code, said in done.err) == (code, True)

    def test_an_empty_text_is_refused(self, retain):
        id = retain.stored(PNPM)
        assert (retain("edit", id, "").code, text_of(retain, id)) == (2, PNPM)

    def test_what_was_forgotten_is_not_edited(self, retain):
        id = retain.stored(PNPM)
        retain("forget", id)
        assert retain("edit", id, "x").code == 5

    def test_a_text_that_another_memory_has_is_refused(self, retain):
        id = retain.stored(PNPM)
        retain.stored(PORT)
        done = retain("edit", id, PORT)
        assert (done.code, "already says exactly this" in done.err) == (5, True)

    @pytest.mark.parametrize("options", [(), ("--json",)])
    def test_without_a_text_or_a_terminal_it_says_what_is_missing(self, retain, options):
        done = retain("edit", retain.stored(PNPM), *options)
        assert (done.code, "no new text was given" in done.out + done.err) == (2, True)

    def test_without_a_text_the_editor_is_opened_on_a_private_file(self, retain, editor, tmp_path):
        id = retain.stored(PNPM)
        chosen = editor('stat -c %a "$1" > "$0.seen"; cat "$1" >> "$0.seen"; echo "we use pnpm 9" > "$1"')
        code, shown = Seat(retain, "edit", id, EDITOR=chosen).end()
        assert (code, "changed" in shown, text_of(retain, id)) == (0, True, "we use pnpm 9")
        assert (tmp_path / "editor.seen").read_text().split("\n")[:2] == ["600", PNPM]

    @pytest.mark.parametrize("script", ["true", 'touch "$1"', ': > "$1"', 'echo " " > "$1"'])
    def test_a_file_that_is_empty_or_as_it_was_changes_nothing(self, retain, editor, script):
        id = retain.stored(PNPM)
        code, shown = Seat(retain, "edit", id, EDITOR=editor(script)).end()
        assert (code, "nothing was changed" in shown, text_of(retain, id)) == (0, True, PNPM)

    def test_an_editor_that_fails_is_told(self, retain, editor):
        id = retain.stored(PNPM)
        code, shown = Seat(retain, "edit", id, EDITOR=editor("exit 3")).end()
        assert (code, "Editing failed" in shown, text_of(retain, id)) == (2, True, PNPM)


class TestForgetASession:
    def test_it_forgets_what_was_captured_there_and_nothing_else(self, retain, capture):
        capture(PNPM, "8f31aaaa"), capture(RED, "8f31aaaa", scope="user"), capture(PORT, "9a00bbbb")
        retain("remember", "typed by hand", "--session", "8f31aaaa")
        done = retain("forget", "--session", "8f31", "--yes")
        assert (done.code, "forgotten 2 memories of session 8f31aaaa" in done.out) == (0, True)
        assert PNPM in done.out and "retain forget --restore --session 8f31aaaa" in done.out
        assert remembered(retain) == {PORT, "typed by hand"}

    def test_the_last_one(self, retain, capture):
        capture(PNPM, "8f31aaaa"), capture(PORT, "9a00bbbb")
        body = retain("forget", "--session", "last", "--yes", "--json").body
        assert (body["session_id"], body["count"], body["memories"][0]["status"]) == ("9a00bbbb", 1, "forgotten")

    def test_all_of_it_comes_back_and_not_what_was_forgotten_alone(self, retain, capture):
        alone = capture(PNPM, "8f31aaaa")
        capture(PORT, "8f31aaaa")
        retain("forget", alone)
        retain("forget", "--session", "last", "--yes", "--reason", "a try")
        done = retain("forget", "--restore", "--session", "last")
        assert (done.code, "brought back 1 memory" in done.out, remembered(retain)) == (0, True, {PORT})
        assert retain("forget", "--restore", "--session", "8f31aaaa").code == 3

    def test_without_a_terminal_it_takes_yes(self, retain, capture):
        capture(PNPM)
        done = retain("forget", "--session", "last")
        assert (done.code, "1 memory of session" in done.err, remembered(retain)) == (5, True, {PNPM})

    @pytest.mark.parametrize(("reply", "code", "left"), [("y\n", 0, set()), ("n\n", 5, {PNPM})])
    def test_a_person_is_shown_the_texts_and_asked(self, retain, capture, reply, code, left):
        capture(PNPM)
        seat = Seat(retain, "forget", "--session", "last").until(PNPM).until("Forget 1 memory captured in session")
        seat.say(reply)
        assert seat.end()[0] == code
        assert remembered(retain) == left

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            ((), "name one memory"),
            (("0mwi0000000000000000", "--session", "last"), "name one memory"),
            (("--session", "last", "--purge"), "--purge takes the ID"),
            (("0mwi0000000000000000", "--restore", "--purge"), "exclude each other"),
        ],
    )
    def test_what_does_not_go_together_is_said(self, retain, words, said):
        done = retain("forget", *words)
        assert (done.code, said in done.err) == (2, True)

    @pytest.mark.parametrize("session", ["last", "nowhere"])
    def test_a_session_of_which_nothing_was_captured_is_not_found(self, retain, session):
        retain.stored("typed by hand")
        assert retain("forget", "--session", session, "--yes").code == 3
