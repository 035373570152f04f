"""`retain sleep`: what it shows, what it says to programs, and that a worker does the same once a day."""

import sqlite3
from contextlib import closing

import pytest

from retain.app import Retain
from retain.config import load
from retain.domain.memory import Kind, State
from retain.engine.drafts import Draft
from surfaces.command import Command
from surfaces.working import captured, memories
from talking import answer, prompt, write

SAME = "The nightly import of orders failed on the {} host with a timeout"
LONG_AGO = 60 * 86_400 * 1_000_000  # in microseconds, as the store keeps moments


@pytest.fixture
def retain(tmp_path):
    return Command.in_folder(tmp_path)


def say_through(home, project):
    """Three events about one thing, and one that nobody has spoken of for two months."""
    with Retain(load({"home": home, "project_dir": project, "embedding_model": "hashed"}, {})) as app:
        for text in (*map(SAME.format, ("first", "second", "third")), "Somebody watered the plants"):
            app.engine.remember(Draft(text, Kind.EPISODIC), app.caller())
    with closing(sqlite3.connect(home / "retain.db")) as db, db:
        times = ", ".join(f"{name} = {name} - {LONG_AGO}" for name in ("created", "updated", "event_time"))
        db.execute(f"update memory set {times} where text like '%plants%'")


def test_it_says_what_it_did_and_how_that_is_undone(retain):
    say_through(retain.home, retain.project)
    done = retain("sleep")
    assert (done.code, "rests on 3 memories" in done.out, "1 memory went to sleep" in done.out) == (0, True, True)
    runs = [line.split()[-1] for line in done.out.splitlines() if line.startswith("Undo it with")]
    assert [retain("undo", run).code for run in runs] == [0, 0]
    assert "Somebody watered" in retain("list").out


def test_a_dry_run_tells_programs_what_would_happen(retain):
    say_through(retain.home, retain.project)
    shown = retain("sleep", "--dry-run", "--json").body
    assert (shown["dry_run"], shown["run_id"], shown["undo"], shown["episodes_evaluated"]) == (True, None, [], 4)
    assert [len(shown[name]) for name in ("principles", "extended", "dormant")] == [1, 0, 1]
    done = retain("sleep", "--json").body
    assert (done["dormant"], done["principles"][0]["content"]) == (shown["dormant"], shown["principles"][0]["content"])
    assert (len(done["undo"]), done["pruned"], done["warnings"]) == (2, 0, [])


def test_a_dry_run_lists_what_would_go_to_sleep(retain):
    say_through(retain.home, retain.project)
    out = retain("sleep", "--dry-run").out
    assert ("1 memory would go to sleep" in out, "Somebody watered the plants" in out, "Undo" in out) == (
        True,
        True,
        False,
    )


def test_with_nothing_to_do_it_says_so(retain):
    done = retain("sleep")
    assert (done.code, "no new principle" in done.out, "Nothing has faded" in done.out) == (0, True, True)


def test_what_sleeps_is_brought_back_with_forget_restore(retain):
    say_through(retain.home, retain.project)
    (asleep,) = retain("sleep", "--json").body["dormant"]
    assert retain("forget", "--restore", asleep["memory_id"]).code == 0
    assert retain("sleep", "--json").body["dormant"] == []


def test_the_worker_sleeps_once_a_day_when_a_session_ends(client):
    client.home.mkdir(exist_ok=True)
    say_through(client.home, client.shop)
    path = client.folder / "projects" / "s1.jsonl"
    write(path, prompt("Remember that the staging database is called blue.", 1), answer("Noted.", 2))
    captured(client, path, "SessionEnd")
    assert [memory.text for memory in memories(client, State.DORMANT)] == ["Somebody watered the plants"]
    assert (client.log()[-1]["principles"], client.log()[-1]["dormant"]) == (1, 1)
    write(path.with_name("s2.jsonl"), prompt("Remember that the cache is called green.", 9), answer("Noted.", 10))
    captured(client, path.with_name("s2.jsonl"), "SessionEnd", "s2")
    assert "principles" not in client.log()[-1]
