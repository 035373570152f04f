"""project and session at the terminal: what they print, what they refuse, and how they end."""

import contextlib
import re
import sqlite3

import pytest
from rich.text import Text

from surfaces.command import Command

TERMINAL = {"FORCE_COLOR": "1", "COLUMNS": "80"}
TOOL = re.compile(r"(project|session|memory)_(init|get|list|start|log|complete|abort|search|create)")


@pytest.fixture
def retain(tmp_path):
    return Command.in_folder(tmp_path)


@pytest.fixture
def elsewhere(retain):
    """Another project on the same machine."""
    folder = retain.folder / "blog"
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.fixture
def working(retain):
    """The command, once a session is active in its project."""
    assert retain("session", "start", "Fix the login", "--tag", "auth").code == 0
    return retain


def shown(ended):
    """What a terminal shows, line by line."""
    return Text.from_ansi(ended.out).plain.splitlines()


def log(retain):
    return [(row["type"], row["content"]) for row in retain("session", "show", "--json").body["progress"]]


# project


def test_a_project_gets_a_name_of_its_own(retain):
    done = retain("project", "init", "E-Commerce API", "--description", "Sells things.")
    assert done.code == 0
    assert done.out.startswith("initialised E-Commerce API  proj_")
    assert str(retain.project) in done.out
    body = retain("project", "show", "--json").body
    assert (body["name"], body["description"], body["path"]) == ("E-Commerce API", "Sells things.", str(retain.project))


def test_a_folder_of_a_project_names_the_whole_project(retain):
    (retain.project / "src").mkdir()
    retain("project", "init", "Shop", str(retain.project / "src"))
    assert retain("project", "show", "--json").body["path"] == str(retain.project)


def test_a_path_is_meant_from_where_it_was_typed(retain, elsewhere, monkeypatch):
    monkeypatch.chdir(retain.folder)
    retain("project", "init", "Diary", "./blog")
    assert retain("project", "show", "blog/", "--json").body["path"] == str(elsewhere)


def test_a_second_name_takes_the_place_of_the_first(retain):
    retain("project", "init", "Shop", "--description", "Sells things.")
    done = retain("project", "init", "Market")
    assert done.out.startswith("renamed Market") and "before: Shop" in done.out
    assert retain("project", "show", "--json").body["description"] == "Sells things."


def test_the_same_name_again_changes_nothing(retain):
    retain("project", "init", "Market")
    done = retain("project", "init", "Market")
    assert (done.code, done.out.splitlines()[0].startswith("known already: Market")) == (0, True)


@pytest.mark.parametrize("spelling", ["Diary", "diary", "blog", "{path}", "{path}/", "{id}"])
def test_a_project_is_shown_by_name_slug_path_or_id(retain, elsewhere, spelling):
    id = retain("project", "init", "Diary", str(elsewhere), "--json").body["id"]
    done = retain("project", "show", spelling.format(path=elsewhere, id=id))
    assert done.code == 0
    assert done.out.startswith(f"Diary  {id}")


def test_a_name_that_another_project_has_is_refused_and_its_holder_named(retain, elsewhere):
    retain("project", "init", "Diary", str(elsewhere))
    done = retain("project", "init", "DIARY")
    assert done.code == 2
    assert str(elsewhere) in done.err
    assert retain("project", "list", "--json").body["total"] == 1


@pytest.mark.parametrize("path", ["{home}", "/", "{home}/nowhere"])
def test_what_is_no_project_folder_cannot_be_named(retain, path):
    done = retain("project", "init", "Shop", path.format(home=retain.folder / "user"))
    assert (done.code, done.out) == (2, "")
    assert retain("project", "list").code == 1


def test_an_unknown_project_is_not_found_and_the_known_ones_are_named(retain, elsewhere):
    retain("project", "init", "Diary", str(elsewhere))
    done = retain("project", "show", "nonesuch")
    assert done.code == 3
    assert "nonesuch" in done.err and "Diary" in done.err
    assert not TOOL.search(done.err)


def test_projects_are_listed_page_by_page(retain, elsewhere):
    retain("project", "init", "Diary", str(elsewhere))
    retain("project", "init", "Market")
    first = retain("project", "list", "--limit", "1")
    assert first.out.startswith("Diary") and "1 project more; --offset 1 goes on." in first.out
    assert retain("project", "list", "--offset", "1").out.startswith("Market")
    past = retain("project", "list", "--offset", "2")
    assert (past.code, past.out) == (1, "There are 2 projects; --offset 2 is past the last.\n")


def test_a_list_of_no_projects_says_how_to_name_one(retain):
    done = retain("project", "list")
    assert (done.code, "retain project init" in done.out) == (1, True)
    assert retain("project", "list", "--json").body["projects"] == []


def test_where_there_is_no_project_the_command_says_so(retain):
    nowhere = {"RETAIN_PROJECT_DIR": str(retain.folder / "user")}
    for words in (("project", "show"), ("session", "start", "Work"), ("session", "list"), ("session", "log", "x")):
        done = retain(*words, **nowhere)
        assert done.code == 5
        assert "no project here" in done.err and "--project" in done.err


def test_a_project_in_which_nothing_is_kept_is_shown_with_the_way_to_name_it(retain):
    done = retain("project", "show")
    assert (done.code, done.out.splitlines()[0].startswith("shop  proj_")) == (0, True)
    assert "`retain project init NAME`" in done.out
    assert retain("project", "list").code == 1


@pytest.mark.parametrize("group", ["project", "session"])
def test_a_group_alone_shows_what_is_here(working, group):
    assert working(group).out == working(group, "show").out
    assert working("--json", group).body == working(group, "show", "--json").body


def test_the_two_commands_about_projects_point_to_each_other(retain):
    assert "`retain projects`" in retain("project", "--help").out
    assert "`retain project`" in retain("projects", "--help").out


# session


def test_a_session_starts_is_logged_to_and_ends_with_its_outcome(retain):
    begun = retain("session", "start", "Fix", "the", "login", "--description", "People are thrown out.")
    assert begun.out.startswith("started Fix the login  sess_")
    noted = retain("session", "log", "Cookies", "expire", "too", "early", "--type", "issue", "--tag", "cookies")
    assert noted.out.startswith("logged issue in Fix the login · mem_")
    ended = retain("session", "done", "Fixed", "--summary", "The clock was an hour off.")
    assert re.fullmatch(r"completed Fix the login  sess_\w{20} · took under a minute\n", ended.out)
    body = retain("session", "show", "--json").body
    assert (body["status"], body["outcome"], body["summary"]) == ("completed", "Fixed", "The clock was an hour off.")
    (entry,) = body["progress"]
    assert (entry["type"], entry["content"], entry["tags"]) == ("issue", "Cookies expire too early", ["cookies"])


def test_what_was_logged_is_remembered(working):
    working("session", "log", "Cookies expire too early", "--type", "solution")
    assert "Cookies expire too early" in working("recall", "cookies").out


def test_starting_another_session_aborts_the_active_one_and_says_so(working):
    done = working("session", "start", "Write the docs")
    assert "aborted Fix the login (sess_" in done.out
    states = {row["title"]: row["status"] for row in working("session", "list", "--json").body["sessions"]}
    assert states == {"Fix the login": "aborted", "Write the docs": "active"}


@pytest.mark.parametrize("words", [("log", "x"), ("done", "x")])
def test_without_an_active_session_the_command_says_how_to_start_one(retain, words):
    done = retain("session", *words)
    assert (done.code, done.out) == (5, "")
    assert done.err == "retain: no session is active in shop; `retain session start TITLE` begins one\n"


def test_the_active_session_of_another_project_is_not_meant(working, elsewhere):
    assert working("session", "log", "x", "--project", str(elsewhere)).code == 5
    assert log(working) == []


def test_a_session_of_another_project_can_be_named(working, elsewhere):
    id = working("session", "show", "--json").body["id"]
    assert working("session", "log", "From afar", "--in", id, "--project", str(elsewhere)).code == 0
    assert log(working) == [("info", "From afar")]


def test_a_session_can_be_named_where_there_is_no_project(working):
    id, nowhere = working("session", "show", "--json").body["id"], {"RETAIN_PROJECT_DIR": str(working.folder / "user")}
    assert working("session", "log", "From afar", "--in", id.removeprefix("sess_"), **nowhere).code == 0
    assert "From afar" in working("session", "show", id, **nowhere).out


@pytest.mark.sqlite
def test_of_several_active_sessions_one_must_be_named(working):
    working("session", "start", "Write the docs")
    with contextlib.closing(sqlite3.connect(working.home / "retain.db")) as db, db:
        db.execute("update work set state = 'active', ended = null")
    done = working("session", "log", "x")
    assert done.code == 5
    assert "2 sessions are active in shop" in done.err and "--in" in done.err
    assert "(Fix the login)" in done.err and "(Write the docs)" in done.err


def test_a_finished_session_takes_no_more_entries(working):
    id = working("session", "show", "--json").body["id"]
    working("session", "done", "Fixed")
    for words in (("log", "More", "--in", id), ("done", "Again", "--in", id)):
        done = working("session", *words)
        assert done.code == 5
        assert "completed" in done.err and "`retain session start`" in done.err
        assert not TOOL.search(done.err)
    assert working("session", "log", "More", "--in", id, "--json").body["status"] == "completed"


def test_titles_and_names_that_speak_of_tools_are_shown_as_they_were_written(retain):
    title = "Rename session_start, then call session_list"
    retain("project", "init", "About project_init")
    id = retain("session", "start", title, "--json").body["id"]
    retain("session", "done", "Renamed")
    late = retain("session", "log", "More", "--in", id)
    assert f"({title})" in late.err and "run `retain session start` to begin a new session" in late.err
    unknown = retain("project", "show", "call session_start")
    assert "there is no project call session_start; known are About project_init; run `retain project" in unknown.err


def test_an_unknown_session_is_not_found(working):
    for words in (("log", "x", "--in", "sess_" + "0" * 20), ("show", "nonsense")):
        done = working("session", *words)
        assert done.code == 3
        assert words[-1] in done.err
        assert not TOOL.search(done.err)


def test_an_aborted_session_keeps_its_log(working):
    working("session", "log", "Half of it")
    assert working("session", "abort").out.startswith("aborted Fix the login  sess_")
    assert log(working) == [("info", "Half of it")]
    again = working("session", "abort")
    assert (again.code, again.out) == (1, "No session is active in shop, so none was aborted.\n")


def test_show_means_the_active_session_and_else_the_newest(working):
    working("session", "done", "Fixed")
    working("session", "start", "Write the docs")
    assert working("session", "show").out.startswith("Write the docs  active")
    working("session", "abort")
    assert working("session", "show").out.startswith("Write the docs  aborted")


def test_show_without_any_session_says_how_to_start_one(retain):
    done = retain("session", "show")
    assert (done.code, "`retain session start TITLE`" in done.err) == (3, True)


def test_sessions_are_listed_by_state_and_page(working):
    working("session", "done", "Fixed")
    working("session", "start", "Write the docs")
    assert [line for line in working("session", "list", "--status", "active").out.splitlines() if "  sess_" in line]
    assert "Fix the login" not in working("session", "list", "--status", "active").out
    first = working("session", "list", "--limit", "1").out
    assert first.startswith("Write the docs  active") and "1 session more; --offset 1" in first
    assert working("session", "list", "--offset", "1").out.startswith("Fix the login  completed")
    assert working("session", "list", "--status", "aborted").code == 1


def test_sessions_of_all_projects_are_listed_with_the_names_of_those(working, elsewhere):
    working("project", "init", "Diary", str(elsewhere))
    working("session", "start", "Write about it", "--project", str(elsewhere))
    assert "Write about it" not in working("session", "list").out
    everywhere = working("session", "list", "--all-projects").out
    assert "· Diary" in everywhere and "Fix the login" in everywhere


def test_secrets_are_removed_from_a_log_and_said_so(working):
    done = working("session", "log", "The database is postgres://shop:hunter2-staging@db.internal/shop")
    assert "removed before storing" in done.out
    assert "hunter2" not in working("session", "show").out


@pytest.mark.parametrize(
    "words",
    [
        ("start", " "),
        ("start", "x" * 5000),
        ("start", "Work", "--tag", "x" * 500),
        ("log", " "),
        ("done", " "),
        ("log", "x", "--type", "opinion"),
        ("log", "x", "--type", "outcome"),
        ("list", "--status", "paused"),
        ("list", "--limit", "0"),
        ("list", "--offset", "-1"),
    ],
)
def test_wrong_input_is_refused_and_nothing_is_written(working, words):
    done = working("session", *words)
    assert (done.code, done.out) == (2, "")
    assert log(working) == [] and working("session", "list", "--json").body["total"] == 1


def test_another_persons_sessions_and_projects_are_not_there(working):
    working("project", "init", "Market")
    id = working("session", "show", "--json").body["id"]
    assert working("session", "list", "--user", "eve").code == 1
    assert working("session", "show", id, "--user", "eve").code == 3
    assert working("project", "list", "--user", "eve").code == 1


# On a terminal


@pytest.mark.parametrize(
    "words",
    [
        ("project", "list"),
        ("project", "show"),
        ("session", "list", "--all-projects"),
        ("session", "show"),
        ("session", "log", "more"),
        ("search", "everything", "--explain", "--facets"),
    ],
)
def test_lines_fit_a_terminal_of_80_columns(retain, words):
    long = "A title that goes on about everything " * 4
    retain("project", "init", long, "--description", long * 5)
    retain("session", "start", long, "--description", long * 5, *(f"--tag=label-number-{n}" for n in range(9)))
    retain("session", "log", long * 10, *(f"--tag=label-number-{n}" for n in range(19)))
    lines = shown(retain(*words, **TERMINAL))
    assert lines and max(map(len, lines)) <= 80


@pytest.mark.parametrize("settings", [{}, TERMINAL])
def test_what_was_written_cannot_take_over_the_terminal(retain, settings):
    odd = "owned\x1b]0;title\x07 and\x9b31m red"
    outs = [
        retain(*words, **settings)
        for words in (
            ("project", "init", odd, "--description", odd),
            ("session", "start", odd, "--description", odd),
            ("session", "log", odd, "--tag", "odd"),
            ("session", "show"),
            ("session", "list", "--all-projects"),
            ("project", "show"),
            ("search", "owned", "--explain", "--facets"),
            ("session", "log", "x", "--in", odd),
            ("session", "done", odd),
        )
    ]
    for done in outs:
        text = done.out + done.err
        assert "owned" in text and not {"\x07", "\x9b"} & set(text) and "\x1b]" not in text
