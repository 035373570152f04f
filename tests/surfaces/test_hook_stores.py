"""Hooks when the store, the disk or the home is in a bad way: the session goes on, in time, and the log has it."""

import os
import resource
import sqlite3
import sys

import pytest

from retain.surfaces.hooks import entry
from retain.surfaces.hooks.runner import OTHER_SECONDS, SECONDS

SAMPLES = ("SessionStart.startup", "UserPromptSubmit", "PostToolUse.Write", "PostToolUseFailure.Bash", "Stop")
# Half of a compiled module would be left for all others that use this source.
UNCOMPILED = (sys.executable, "-I", "-S", "-B", entry.__file__)
LATE = 30.0  # a busy machine; what matters is that nothing hangs


@pytest.fixture(params=SAMPLES)
def run(client, request):
    """Runs one of the events and says whether it was answered as it must be."""

    def run(**options):
        payload = client.sample(request.param)
        event = payload["hook_event_name"]
        ended = client(event, payload, **options)
        assert ended.answer == {} or ended.answer["hookSpecificOutput"]["hookEventName"] == event
        assert ended.seconds < SECONDS.get(event, OTHER_SECONDS) + LATE
        return ended

    return run


def database(client):
    client.home.mkdir(exist_ok=True)
    return client.home / "retain.db"


def test_no_store_yet(client, run):
    run()
    assert not (client.home / "retain.db").exists()


@pytest.mark.parametrize("content", [b"", b"not a database, and long enough to be looked at" * 40, os.urandom(8192)])
def test_a_damaged_store(client, run, content):
    database(client).write_bytes(content)
    run()
    assert database(client).read_bytes() == content


def test_a_folder_in_the_place_of_the_store(client, run):
    database(client).mkdir()
    run()


def test_a_store_that_somebody_holds_locked(client, run):
    db = sqlite3.connect(database(client), isolation_level=None)
    db.execute("create table memory (id)")
    db.execute("begin exclusive")
    run()
    db.close()


def test_a_store_of_a_newer_retain(client, run):
    with sqlite3.connect(database(client)) as db:
        db.execute("create table memory (something_else)")
        db.execute("pragma user_version = 99999")
    run()
    with sqlite3.connect(database(client)) as db:
        assert db.execute("pragma user_version").fetchone() == (99999,)


def test_a_store_that_hangs(client, run):
    client.home.mkdir()
    os.mkfifo(client.home / "retain.db")
    run()


def test_a_home_that_is_a_file(client, run):
    client.home.write_text("in the way")
    run()
    assert client.home.read_text() == "in the way"
    client.home.unlink()


def test_a_home_that_cannot_be_made(client, run):
    run(env={"RETAIN_HOME": "/proc/no/such/place"})


@pytest.mark.skipif(os.geteuid() == 0, reason="for root every folder can be written to")
def test_a_home_that_is_read_only(client, run):
    client.home.mkdir(mode=0o500)
    run()
    client.home.chmod(0o700)


@pytest.mark.parametrize("allowed", [0, 100])
def test_a_disk_that_is_full(run, allowed):
    """What a process may write to a file is limited, so that every write of a hook fails, or fails half-way."""
    run(command=UNCOMPILED, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (allowed, allowed)))


def test_a_disk_that_is_full_leaves_no_half_of_an_item(client):
    full = {"command": UNCOMPILED, "preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))}
    client("Stop", client.sample("Stop"), **full)
    assert list((client.home / "spool").glob("*")) == []
    client("Stop", client.sample("Stop.again"))
    assert len(client.spooled()) == 1


def test_no_file_can_be_opened_any_more(client):
    few = client("Stop", client.sample("Stop"), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (6, 6)))
    assert few.answer == {}


def test_a_working_folder_that_was_deleted(client):
    gone = client.folder / "gone"
    gone.mkdir()
    running = client.start("Stop", preexec_fn=lambda: (os.chdir(gone), gone.rmdir()))
    out, err = running.communicate(b"{}", timeout=30)
    assert (running.returncode, out, err) == (0, b"{}", b"")
