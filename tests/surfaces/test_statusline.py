"""`retain statusline`: one short line whatever is on standard input, quickly, and always with exit code 0."""

import json
import sys
import time

import pytest

from retain import pauses, reviewed
from retain.domain.places import project_key
from retain.surfaces.hooks import entry
from surfaces.at_a_terminal import Seat
from surfaces.command import Command
from surfaces.hooking import Client
from surfaces.reviewed_by import captured_by, opened
from surfaces.test_hook_frame import BROKEN, HEAVY, TELLING

ENTRY = (sys.executable, "-I", "-S", entry.__file__)


@pytest.fixture
def client(tmp_path):
    made = Client.in_folder(tmp_path)
    del made.env["CLAUDE_PROJECT_DIR"]  # the client says it on standard input
    return made


def shown(client, said=None, **options):
    done = client("statusline", told(client) if said is None else said, **options)
    assert (done.code, done.err) == (0, b"")
    (line,) = done.out.decode().splitlines()
    return line


def told(client):
    """As the client says it."""
    folders = {"current_dir": str(client.shop / ".git"), "project_dir": str(client.shop)}
    return {"hook_event_name": "Status", "session_id": "s1", "cwd": folders["current_dir"], "workspace": folders}


def test_it_counts_what_is_remembered_here_and_what_is_new(client):
    assert shown(client) == "retain: nothing remembered yet"
    id = captured_by(client, "we use pnpm")
    captured_by(client, "answer in German", scope="user")
    Command(client.folder).stored("typed by hand")
    assert shown(client) == "retain: 3 memories · 2 new"
    with opened(client) as app:
        project = app.caller().project.id
    reviewed.mark(str(client.home), project_key("", project), id)
    assert shown(client) == "retain: 3 memories · 1 new"


def test_another_project_sees_its_own(client):
    captured_by(client, "we use pnpm")
    Command(client.folder).stored("typed by hand", "--scope", "user")
    assert shown(client, {"cwd": str(client.folder / "user")}) == "retain: 1 memory"


def test_it_says_that_capture_is_paused_or_off(client):
    Command(client.folder).stored("typed by hand")
    pauses.begin(str(client.home), pauses.EVERYWHERE, "", time.time())
    assert shown(client) == "retain: 1 memory · paused"
    assert shown(client, env={"RETAIN_CAPTURE": "false"}) == "retain: 1 memory · capture off"


@pytest.mark.parametrize("said", BROKEN.values(), ids=BROKEN)
def test_whatever_the_client_says_there_is_a_line(client, said):
    Command(client.folder).stored("typed by hand", "--scope", "user")
    assert shown(client, said).startswith("retain: 1 memory")


def test_a_client_that_never_closes_its_end_gets_its_line(client):
    running = client.start("statusline")
    running.stdin.write(json.dumps(told(client)).encode())
    running.stdin.flush()
    assert running.stdout.readline() == b"retain: nothing remembered yet\n"
    assert running.wait(timeout=30) == 0
    running.communicate()


def test_a_client_that_says_nothing_is_not_waited_for(client):
    running = client.start("statusline")
    assert running.stdout.readline() == b"retain\n"
    assert running.wait(timeout=30) == 0
    running.communicate()


def test_a_store_that_cannot_be_read_is_said(client):
    client.home.mkdir()
    (client.home / "retain.db").write_bytes(b"no database" * 1000)
    assert shown(client) == "retain: the store cannot be read"


def test_writes_that_wait_for_a_server_are_counted(client):
    import sqlite3

    away = {"RETAIN_DEPLOYMENT_MODE": "remote", "RETAIN_REMOTE_URL": "ws://127.0.0.1:1"}
    assert "pending" not in shown(client, env=away)
    (snapshot,) = (client.home / "run" / "settings").glob("*.json")
    copy = json.loads(snapshot.read_text())["settings"]["readable_file"]
    queue = client.home / "queue" / copy.rpartition("/")[2]
    queue.parent.mkdir()
    with sqlite3.connect(queue) as db:
        db.execute("create table plan (number integer primary key, why text)")
        db.execute("insert into plan (why) values (null), (''), ('refused: no')")
    db.close()
    assert shown(client, env=away) == "retain: nothing remembered yet · 2 pending writes"


def test_the_command_does_it_too_and_explains_itself(client):
    command = (sys.executable, "-m", "retain")
    assert shown(client, command=command) == "retain: nothing remembered yet"
    done = client("--help", command=(*command, "statusline"))
    assert (done.code, b"retain setup --statusline" in done.out) == (0, True)


def test_a_person_at_a_terminal_is_not_asked_for_json(client):
    code, line = Seat(Command(client.folder), "statusline").end()
    assert (code, line.strip()) == (0, "retain: nothing remembered yet")


def test_it_imports_as_little_as_a_hook(client):
    captured_by(client, "we use pnpm")
    shown(client)
    modules = client.folder / "modules"
    command = (sys.executable, "-I", "-S", "-c", TELLING, str(modules), entry.__file__)
    assert shown(client, command=command) == "retain: 1 memory · 1 new"
    assert set(modules.read_text().split()).isdisjoint((*HEAVY, "retain.config", "retain.app", "json"))
