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
    record_client(str(client.home), pid or os.getpid(), session, str(client.shop))


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
    record(client, "new")
    assert [path.name for path in (client.home / "run" / "clients").iterdir()] == [f"{os.getpid()}.json"]


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
