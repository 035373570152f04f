"""Hooks and the worker beside SurrealDB: what they read, whom they ask, and what waits while a folder is held."""

import json
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from retain.app import Retain
from retain.config import Settings, apart, load
from retain.stores.sqlite.glance import CannotRead, opened
from retain.surfaces.hooks.answering import Answering
from retain.surfaces.hooks.injecting import ONLY_BY_SERVER
from retain.whereabouts import name_of, readable_file
from surfaces.hooking import Client
from surfaces.waiting import until
from surfaces.working import work
from surreal_server import SurrealServer
from talking import answer, prompt, write

WEBHOOK = "The Stripe webhook route needs the raw body"
PROMPT = "the stripe webhook gets the wrong body"
BLUE = "Remember that the staging database is called blue."
FOLDER = {"store": "surrealdb"}


@pytest.fixture
def database(tmp_path):
    with SurrealServer(tmp_path / "database") as running:
        yield running


def on_server(database):
    login = {"remote_user": database.user, "remote_pass": database.password}
    return {"deployment_mode": "remote", "remote_url": database.url, **login}


def variables(settings):
    return {f"RETAIN_{name.upper()}": value for name, value in settings.items()}


@contextmanager
def hooked(folder, settings):
    """A client whose hooks and worker have these settings."""
    client = Client.in_folder(folder / "machine", **variables(settings))
    yield client
    client.settle()


@contextmanager
def opened_by(client, settings, session="earlier"):
    """A memory in this process, as a living server has it."""
    given = {"home": client.home, "project_dir": client.shop, "session_id": session, "embedding_model": "hashed"}
    with Retain(load({**given, **settings}, apart(client.home))) as app:
        yield app


def context(ended):
    return ended.answer.get("hookSpecificOutput", {}).get("additionalContext", "")


def started(client):
    return context(client("SessionStart", client.sample("SessionStart.startup")))


def prompted(client):
    return context(client("UserPromptSubmit", client.sample("UserPromptSubmit", prompt=PROMPT, session_id="one")))


def handed_over(client, event):
    path = client.folder / "projects" / "s1.jsonl"
    write(path, prompt(BLUE, 1), answer("Noted.", 2), prompt("thanks", 3), answer("You are welcome.", 4))
    client(event, client.sample(event if event == "Stop" else "SessionEnd.other", transcript_path=str(path)))


def is_copied(app):
    """Whether the copy on this machine has a memory."""
    try:
        db = opened(str(readable_file(app.settings)), 5.0)
    except CannotRead:
        return False
    return db.execute("select count(*) from memory").fetchone()[0] > 0


def texts(app):
    return [memory.text for memory in app.memories()]


def test_hooks_read_the_copy_of_a_database_on_a_server_and_no_other_file(tmp_path, database):
    with hooked(tmp_path, on_server(database)) as client:
        with opened_by(client, {}) as other:
            other.remember("The Stripe webhook of another store wants nothing")
        with opened_by(client, on_server(database)) as app:
            app.remember(WEBHOOK)
            until(lambda: is_copied(app))
        assert WEBHOOK in started(client)
        database.stop()
        shown = prompted(client)
    assert WEBHOOK in shown
    assert "another store" not in shown


def test_hooks_know_a_server_of_the_same_database_by_its_name(tmp_path, database):
    with hooked(tmp_path, on_server(database)) as client, opened_by(client, on_server(database)) as app:
        answers = Answering(app)
        answers.start()
        prompted(client)
        (kept,) = (client.home / "run" / "settings").glob("*.json")
        assert json.loads(kept.read_text())["settings"]["store_name"] == json.loads(answers.file.read_text())["store"]
        assert database.password not in kept.read_text() + answers.file.read_text()
        answers.close()


def test_the_worker_captures_into_a_server_and_into_the_queue_while_that_is_away(tmp_path, database):
    with hooked(tmp_path, on_server(database)) as client:
        database.stop()
        handed_over(client, "Stop")
        client.settle()
        assert client.spooled() == []
        database.start()
        with opened_by(client, on_server(database)) as app:
            until(lambda: app.engine.parts.store.connection().queued.waiting == 0)
            assert any("blue" in text for text in texts(app))


def test_a_folder_that_a_server_has_open_is_read_through_that_server(tmp_path):
    with hooked(tmp_path, FOLDER) as client, opened_by(client, FOLDER) as app:
        app.remember(WEBHOOK)
        assert prompted(client) == ""
        answers = Answering(app)
        answers.start()
        until(lambda: WEBHOOK in prompted(client))
        answers.close()


def test_without_one_hooks_say_nothing_and_the_log_says_why_once_a_session(tmp_path):
    with hooked(tmp_path, FOLDER) as client:
        with opened_by(client, FOLDER) as app:
            app.remember(WEBHOOK)
        assert started(client) == prompted(client) == ""
        assert [line.get("note") for line in client.log() if "note" in line] == [ONLY_BY_SERVER]
        assert not any("error" in line for line in client.log())


def test_what_cannot_be_captured_while_a_server_has_the_folder_waits_and_is_captured_later(tmp_path):
    with hooked(tmp_path, FOLDER) as client:
        with opened_by(client, FOLDER) as app:
            app.remember(WEBHOOK)
            handed_over(client, "Stop")
            client.settle()
            assert len(client.spooled()) == 1
            (refused,) = [line for line in client.log() if line["event"] == "capture"]
            assert refused["error"].startswith("StoreBusy")
            for _ in range(4):  # waiting is no failure, however often
                work(client)
            assert len(client.spooled()) == 1
            assert texts(app) == [WEBHOOK]
        work(client)
        assert client.spooled() == []
        with opened_by(client, FOLDER) as app:
            assert any("blue" in text for text in texts(app))


def test_at_the_end_of_a_session_the_worker_waits_a_moment_for_its_server_to_leave(tmp_path):
    with hooked(tmp_path, FOLDER) as client:
        with opened_by(client, FOLDER) as app:
            app.remember(WEBHOOK)
            handed_over(client, "SessionEnd")
            until(lambda: not client.is_quiet())
        client.settle()
        assert client.spooled() == []
        with opened_by(client, FOLDER) as app:
            assert any("blue" in text for text in texts(app))


def test_a_worker_without_the_password_of_a_session_leaves_its_conversation_to_one_that_has_it(tmp_path, database):
    login = on_server(database)
    with hooked(tmp_path, login) as client:
        client.home.mkdir()
        (client.home / "spool").mkdir()
        without = Client(client.folder, {k: v for k, v in client.env.items() if k != "RETAIN_REMOTE_PASS"})
        handed_over(without, "Stop")
        without.settle()
        for _ in range(3):
            work(without)
        assert len(client.spooled()) == 1
        work(client)
        assert client.spooled() == []


def test_each_memory_has_a_name_of_its_own():
    here = Settings(home=Path("/h"))
    remote = replace(here, deployment_mode="remote", remote_url="ws://db:8000")
    others = (
        replace(here, store="surrealdb"),
        replace(here, store="surrealdb", database="other"),
        replace(here, deployment_mode="local-server"),
        remote,
        replace(remote, remote_url="ws://other:8000"),
        replace(remote, namespace="team"),
        replace(remote, database="other"),
        replace(remote, user_id="ada"),
    )
    assert len({name_of(settings) for settings in (here, *others)}) == len(others) + 1
    assert name_of(replace(remote, db_path=Path("/elsewhere.db"))) == name_of(remote)


@pytest.mark.parametrize(
    ("settings", "readable"),
    [
        ({}, "/h/retain.db"),
        ({"store": "surrealdb"}, None),
        ({"deployment_mode": "embedded-memory"}, None),
    ],
)
def test_only_files_of_sqlite_can_be_read_by_anybody(settings, readable):
    found = readable_file(Settings(home=Path("/h"), **settings))
    assert (found and str(found)) == readable
