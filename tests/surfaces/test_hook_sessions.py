"""Which session a client is in: what SessionStart records, and how a living server sees it change."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from retain.app import Retain
from retain.config import load
from retain.run_files import ClientSession, client_file, record_client, session_of_client
from surfaces.working import texts
from talking import prompt, write


@pytest.fixture
def app(client, monkeypatch):
    """A server that the client of these tests, this process, has started."""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "from-the-environment")
    monkeypatch.setenv("CLAUDE_PID", str(os.getpid()))
    monkeypatch.delenv("RETAIN_SESSION_ID", raising=False)
    opened = Retain(load({"home": client.home, "project_dir": client.shop}))
    yield opened
    opened.close()


def record(client, session, pid=None):
    told = {"session": session, "project_dir": str(client.shop), "transcript": str(client.folder / f"{session}.jsonl")}
    return record_client(str(client.home), pid or os.getpid(), told)


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact", "fork"])
def test_every_start_of_a_session_is_recorded(client, source):
    payload = client.sample(f"SessionStart.{source}")
    client("SessionStart", payload)
    path = client.home / "run" / "clients" / f"{os.getpid()}.json"
    recorded = json.loads(path.read_text())
    assert (recorded["session"], recorded["project_dir"]) == (payload["session_id"], str(client.shop))
    assert path.stat().st_mode & 0o777 == 0o600


def test_without_a_name_the_process_that_started_the_hook_is_the_client(client):
    client("SessionStart", client.sample("SessionStart.startup"), env={"CLAUDE_PID": ""})
    assert session_of_client(str(client.home), os.getpid())


def test_a_server_follows_its_client_from_session_to_session(client, app):
    assert app.caller().session == "from-the-environment"
    record(client, "first")
    assert app.caller().session == "first"
    record(client, "after-clear")
    assert app.caller().session == "after-clear"


def test_an_argument_and_a_setting_come_first(client, app):
    record(client, "recorded")
    chosen = Retain(load({"home": client.home, "project_dir": client.shop, "session_id": "chosen"}))
    assert app.caller("given").session == "given"
    assert chosen.caller("given").session == "given"
    assert chosen.caller().session == "chosen"
    chosen.close()


def test_what_ended_clients_left_goes_with_the_next_start(client):
    ended = subprocess.Popen([sys.executable, "-I", "-S", "-c", ""])
    ended.wait(timeout=30)
    record(client, "old", ended.pid)
    (left,) = record(client, "new")
    assert left["session"] == "old"
    assert [path.name for path in (client.home / "run" / "clients").iterdir()] == [f"{os.getpid()}.json"]


def test_a_conversation_whose_client_was_killed_is_captured_at_the_next_start(client):
    transcript = write(client.folder / "killed.jsonl", prompt("Remember that the staging database is called blue."))
    killed = subprocess.Popen([sys.executable, "-I", "-S", "-c", ""])
    killed.wait(timeout=30)
    payload = client.sample("SessionStart.startup", session_id="killed", transcript_path=str(transcript))
    client("SessionStart", payload, env={"CLAUDE_PID": str(killed.pid)})
    client("SessionStart", client.sample("SessionStart.startup", session_id="next"))
    client.settle()
    assert ["staging database is called blue" in text for text in texts(client)] == [True]


def test_a_session_that_ended_as_it_should_leaves_no_record(client):
    client("SessionStart", client.sample("SessionStart.startup", session_id="s1"))
    client("SessionEnd", client.sample("SessionEnd.other", session_id="s1"))
    assert list((client.home / "run" / "clients").iterdir()) == []


def test_the_end_of_one_session_leaves_the_record_of_the_next(client):
    client("SessionStart", client.sample("SessionStart.clear", session_id="after"))
    client("SessionEnd", client.sample("SessionEnd.clear", session_id="before"))
    assert session_of_client(str(client.home), os.getpid()) == "after"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"session": 7}', '{"session": ""}'])
def test_a_damaged_record_is_none(client, content):
    record(client, "s1")
    Path(client_file(str(client.home), os.getpid())).write_text(content)
    assert ClientSession(str(client.home), os.getpid()).current() is None


def test_a_record_that_goes_is_no_longer_believed(client):
    record(client, "s1")
    seen = ClientSession(str(client.home), os.getpid())
    assert seen.current() == "s1"
    Path(client_file(str(client.home), os.getpid())).unlink()
    assert seen.current() is None
