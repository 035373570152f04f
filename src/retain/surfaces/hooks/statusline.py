"""`retain statusline`: one short line for the status line of Claude Code, within milliseconds, always with exit code 0.

The client runs it again and again, with JSON on standard input that says where it is; without that, it is here.
"""

import _thread
import os
import sys
import time

from retain.surfaces.hooks.standard_streams import Answer, given, silence

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping, Sequence
    from typing import NoReturn

    from retain.surfaces.hooks.call import Call

SECONDS = 4.0  # the first time in a folder its settings are read, which a busy machine takes long for
NAME = "retain"
HELP = """Usage: retain statusline

  Prints one line for the status line of Claude Code: how much is remembered in
  this project, what is new since the last review, and whether capture is
  paused. Reads the client's JSON from standard input, if there is any, and
  always ends with exit code 0. `retain setup --statusline` registers it.
"""


def main(arguments: "Sequence[str]") -> "NoReturn":
    if {"-h", "--help"} & set(arguments):
        sys.stdout.write(HELP)
        sys.stdout.flush()
        os._exit(0)
    silence()
    answer, deadline = Answer(), time.monotonic() + SECONDS
    _thread.start_new_thread(_give_up, (answer, deadline))
    try:
        text = line(_told(), deadline)
    except Exception:  # noqa: BLE001 - the client shows whatever comes; a trace would fill its line
        text = NAME
    answer.give(f"{text}\n")
    os._exit(0)


def line(payload: "Mapping[str, object]", deadline: float) -> str:
    from retain.surfaces.hooks.call import Call
    from retain.surfaces.hooks.snapshot import settings_for

    folder = _folder(payload)
    settings, _ = settings_for(folder)
    call = Call("statusline", {**payload, "cwd": folder}, settings, deadline)
    return f"{NAME}: {' · '.join(parts)}" if (parts := list(_parts(call))) else NAME


def _parts(call: "Call") -> "Iterator[str]":
    from retain.surfaces.hooks.call import SERVERS

    yield from _counts(call)
    if not call.settings.get("capture"):
        yield "capture off"
    elif call.paused is not None:
        yield "paused"
    if call.settings.get("deployment_mode") in SERVERS and (waiting := _pending(call)):
        yield f"{waiting:,} pending write{'s' if waiting > 1 else ''}"
    if call.standing or call.settings.get("fault") or call.settings.get("undecided"):
        yield "see retain doctor"


def _counts(call: "Call") -> "Iterator[str]":
    """How much is remembered here and how much of it is new; nothing where no hook can read the store."""
    if call.readable is None:
        return
    import sqlite3

    from retain.surfaces.hooks import reading

    try:
        db = reading.opened_for(call)
        if db is None:
            yield "nothing remembered yet"
            return
        count, new = reading.held_in(db, _places(call)), _new(call, db)
    except (reading.CannotRead, sqlite3.Error):
        yield "the store cannot be read"
        return
    yield "1 memory" if count == 1 else f"{count:,} memories"
    if new:
        yield f"{new:,} new"


def _new(call: "Call", db: "sqlite3.Connection") -> int:
    from retain import reviewed
    from retain.surfaces.hooks import reading

    new, now = 0, time.time()
    for place in _places(call):
        known = reviewed.reviewed(call.home, place)
        new += sum(not known.has(id) for id in reading.captured(db, place, known.floor, now))
    return new


def _places(call: "Call") -> "list[str]":
    from retain.domain.places import seen_from

    return seen_from(call.user, call.project_id, None)


def _pending(call: "Call") -> int:
    """Writes that wait for a database on a server: the copy of it and the queue have the same name."""
    from retain.surfaces.hooks import reading

    return reading.pending(os.path.join(call.home, "queue", os.path.basename(call.readable or "")))


def _told() -> "dict[str, object]":
    """What the client says; nothing where nobody does, or nobody can read it."""
    if os.isatty(0):
        return {}
    try:
        return given()
    except (OSError, ValueError):
        return {}


def _folder(payload: "Mapping[str, object]") -> str:
    """The project's folder rather than the one that the client is in just now."""
    workspace = payload.get("workspace")
    named = workspace if isinstance(workspace, dict) else {}
    for value in (named.get("project_dir"), payload.get("cwd"), named.get("current_dir")):
        if isinstance(value, str) and value and "\0" not in value:
            return value.encode("utf-8", "replace").decode()
    return os.getcwd()


def _give_up(answer: Answer, deadline: float) -> None:
    """Ends the process at the deadline, whatever the other thread is waiting for."""
    time.sleep(max(0.0, deadline - time.monotonic()))
    answer.give(f"{NAME}\n")
    os._exit(0)
