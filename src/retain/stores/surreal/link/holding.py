"""Who has the folder of a database open: a note in it, since the engine's own lock does not say."""

import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from retain.quick_json import written
from retain.run_files import is_alive, read_object, remove, write_private

NOTE = "holder.json"


def sign(folder: Path) -> None:
    """For the process that has opened it."""
    note = {"pid": os.getpid(), "command": _command(sys.argv), "since": time.time()}
    write_private(str(folder / NOTE), written(note))


def unsign(folder: Path) -> None:
    remove(str(folder / NOTE))


def holder(folder: Path) -> str:
    """The process that has it open, in words; one that has ended without a word has left a note that means nothing."""
    note = read_object(str(folder / NOTE))
    pid, since = note.get("pid"), note.get("since")
    if not isinstance(pid, int) or not isinstance(since, float) or not is_alive(pid):
        return "another process"
    return f"process {pid} (`{note.get('command')}`, since {datetime.fromtimestamp(since, UTC):%Y-%m-%d %H:%M} UTC)"


def _command(words: list[str]) -> str:
    """The program and what it was told to do, without options and what may be private."""
    program = Path(words[0])
    name = program.parent.name if program.name == "__main__.py" else program.name
    verbs = [word for word in words[1:3] if word.isalpha()]
    return " ".join((name, *verbs))
