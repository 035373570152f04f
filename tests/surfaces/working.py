"""The worker for tests: as a process of its own on a client's home, and what it left in the store."""

import os
import resource
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from retain.domain.memory import State
from retain.domain.recall import Filter
from retain.domain.session import Caller
from retain.engine.parts import places
from retain.folders import project_of
from retain.stores.sqlite.store import SqliteStore
from retain.surfaces.hooks import spool, start_worker

COMMAND = (sys.executable, "-I", "-S", "-B", start_worker.__file__)


def hand_over(client, transcript, event="Stop", session="s1", message="", **item):
    """Puts a conversation into the spool as a hook does, and starts nobody."""
    given = {"event": event, "session": session, "transcript": str(transcript), "last_assistant_message": message}
    return spool.put(str(client.home), given | {"cwd": str(client.shop), "project_dir": str(client.shop)} | item)


def start(client, limit=None, **env):
    """A worker; `limit` is how many bytes it may write to a file. It writes no bytecode, which would be cut too."""
    limited = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))} if limit else {}
    given = {name: value for name, value in client.env.items() if not name.startswith("CLAUDE")} | env
    return subprocess.Popen([*COMMAND, str(client.home)], env=given, cwd=client.folder, **limited)


def work(client, **options):
    """Runs a worker to its end."""
    client.home.mkdir(exist_ok=True)
    assert start(client, **options).wait(timeout=120) in (0, -25 if options.get("limit") else 0)


def captured(client, transcript, *arguments, **options):
    """What is remembered once a conversation was handed over and worked on."""
    hand_over(client, transcript, *arguments, **options)
    work(client)
    return texts(client)


def memories(client, *states, folder=None):
    """What a project of the client remembers, oldest first."""
    project = project_of(folder or client.shop, Path(client.env["HOME"]), None)
    wanted = Filter(places(Caller(project=project)), states=states or (State.ACTIVE,))
    if not (client.home / "retain.db").exists():
        return []
    with closing(SqliteStore(client.home / "retain.db")) as store:
        return [stored.memory for stored in reversed(store.listed(wanted, 1000))]


def texts(client, *states, **options):
    return [memory.text for memory in memories(client, *states, **options)]


def cursor(client, transcript):
    with closing(SqliteStore(client.home / "retain.db")) as store:
        return store.cursor(str(transcript))


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
