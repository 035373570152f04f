"""Hooks and their worker in a project whose settings file nobody has approved: real processes, from event to store."""

import json
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from approving import approve
from retain.app import Retain
from retain.config import load
from retain.hook_health import look
from surfaces.command import SOURCES
from surfaces.working import hand_over, memories, work
from talking import answer, prompt, write

pytestmark = pytest.mark.sqlite
BLUE = "Remember that the staging database is called blue."


def asks(client, text):
    file = client.shop / ".claude" / "retain.local.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"---\n{text}\n---\n")
    return file


def opened(client, folder=None, **env):
    return Retain(load(environment=client.env | env, folder=folder or client.shop), own_session=False)


def starting(client):
    """What a client says when a session begins."""
    return {"hook_event_name": "SessionStart", "session_id": "s1", "cwd": str(client.shop), "source": "startup"}


def texts(app):
    with app:
        return [memory.text for memory in app.memories()]


@pytest.fixture
def transcript(client):
    path = client.folder / "projects" / "s1.jsonl"
    return write(path, prompt(BLUE, 1), answer("Noted.", 2), prompt("thanks", 3), answer("You are welcome.", 4))


def test_what_a_hook_captures_waits_until_it_is_decided_where_it_belongs(client, transcript):
    file = asks(client, f"db_path: {client.folder / 'theirs.db'}")
    client("Stop", client.sample("Stop", transcript_path=str(transcript), session_id="s1"))
    client.settle()
    assert (client.spooled(), memories(client), (client.folder / "theirs.db").exists()) == ([], [], False)
    assert ["staging database is called blue" in text for text in texts(opened(client))] == [True]
    approve(file, client.home)
    assert ["staging database is called blue" in text for text in texts(opened(client))] == [True]
    assert (memories(client), (client.folder / "theirs.db").exists()) == ([], True)


def test_a_conversation_that_waits_for_its_worker_goes_where_it_was_decided_meanwhile(client, transcript):
    file = asks(client, "user_id: ada")
    hand_over(client, transcript, is_held=True, environment=client.env, project_dir=str(client.shop))
    approve(file, client.home)
    work(client)
    assert memories(client) == []
    with opened(client) as app:
        (memory,) = app.memories()
        assert memory.place.user == "ada"


def test_a_session_begins_with_what_waits_and_a_word_to_the_user(client):
    with opened(client) as app:
        app.remember("Only in the default store", scope="project")
    file = asks(client, f"db_path: {client.folder / 'theirs.db'}")
    with opened(client) as app:
        app.remember("Decided to write releases by hand", scope="project")
    for _ in range(2):  # the second time from the snapshot
        said = client("SessionStart", starting(client)).answer
        told = said["systemMessage"]
        assert all(part in told for part in (str(file), "db_path", "`retain trust`"))
        shown = json.dumps(said["hookSpecificOutput"])
        assert ("releases by hand" in shown, "default store" in shown) == (True, False)
    errors = [line["error"] for line in client.log() if "error" in line]
    assert len(errors) == 2 and all("db_path" in error and "`retain trust`" in error for error in errors)
    (remark,) = [each for each in look(client.home, datetime.now(UTC)) if str(file) in each.note]
    assert ("failed" in remark.note, "`retain trust`" in remark.repair) == (False, True)


def test_approval_and_its_end_count_with_the_next_hook(client):
    with opened(client) as app:
        app.remember("Only in the default store", scope="project")
    file = asks(client, f"db_path: {client.folder / 'theirs.db'}")
    sample = starting(client)
    assert "systemMessage" in client("SessionStart", sample).answer
    approve(file, client.home)
    assert client("SessionStart", sample).answer == {}
    for decision in (client.home / "trust").iterdir():
        decision.unlink()
    assert "systemMessage" in client("SessionStart", sample).answer


def test_no_memories_of_another_project_come_to_one_that_names_it(client):
    other = client.folder / "other"
    (other / ".git").mkdir(parents=True)
    named = {"CLAUDE_PROJECT_DIR": str(other)}
    with opened(client, other, **named) as app:
        app.remember("The launch of the secret product is on Friday", scope="project")
    asks(client, f"project_dir: {other}")
    env = {"CLAUDE_PROJECT_DIR": ""}
    started = client("SessionStart", starting(client), env=env)
    asked = client(
        "UserPromptSubmit", client.sample("UserPromptSubmit", prompt="When is the launch on Friday?"), env=env
    )
    assert b"secret product" not in started.out + asked.out


def test_no_summary_is_written_because_a_project_asks_for_it(client, transcript):
    asks(client, "claude_md: true\nagents_md: true")
    hand_over(client, transcript, environment=client.env)
    work(client)
    assert len(memories(client)) == 1
    assert not (client.shop / "CLAUDE.md").exists() and not (client.shop / "AGENTS.md").exists()


# What a terminal obeys, what turns the direction of writing, and letters that nobody sees.
UNSEEN = "\x1b[31m\u202e\U000e0041"


def test_the_name_of_a_folder_gives_no_orders_to_a_terminal(client):
    folder = client.folder / f"shop{UNSEEN}\nend"
    (folder / ".git").mkdir(parents=True)
    (folder / ".claude").mkdir()
    (folder / ".claude" / "retain.local.md").write_text("---\nuser_id: bob\n---\n")
    env = {"CLAUDE_PROJECT_DIR": str(folder)}
    told = client("SessionStart", client.sample("SessionStart.startup", cwd=str(folder)), env=env).answer[
        "systemMessage"
    ]
    assert "retain trust" in told and not set(told) & set(UNSEEN[0] + UNSEEN[-2:] + "\n")
    server = [sys.executable, "-m", "retain", "serve"]
    pythonpath = {"PYTHONPATH": str(SOURCES)}
    done = subprocess.run(
        server,
        cwd=folder,
        env={**client.env, **env, **pythonpath},
        input=b"",
        capture_output=True,
        timeout=60,
        check=True,
    )
    said = done.stderr.decode()
    assert "retain trust" in said and not set(said) & set(UNSEEN[0] + UNSEEN[-2:])
