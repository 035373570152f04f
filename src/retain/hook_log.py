"""The log of hooks and their worker, read: what ran when, how long it took, what went wrong."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from retain.quick_json import parsed
from retain.run_files import log_file, read_text

# What the worker tells: of itself, of each conversation, of each sentence that the judge kept or nearly kept, and of
# each statement of a language model that it dropped.
WORKER, CAPTURE, JUDGED, DROPPED = "worker", "capture", "judged", "dropped"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: `event` is a hook's or one of those above; the fields that only some lines have are in `facts`."""

    at: datetime
    event: str
    ms: float | None
    error: str | None
    facts: dict[str, object]


def entries(home: Path) -> list[Entry]:
    """What the log and its older files hold, oldest first; lines that are cut or strange are passed over."""
    path = log_file(os.fspath(home))
    older = (file for place in (2, 1) if os.path.exists(file := f"{path}.{place}"))
    return [entry for file in (*older, path) for entry in _of(file)]


def _of(file: str) -> Iterator[Entry]:
    try:
        lines = read_text(file).splitlines()
    except OSError:
        return
    for line in lines:
        if entry := _entry(line):
            yield entry


def _entry(line: str) -> Entry | None:
    try:
        found = parsed(line)
        if not isinstance(found, dict):
            return None
        at, ms, error = datetime.fromisoformat(str(found.pop("at"))), found.pop("ms", None), found.pop("error", None)
        event = str(found.pop("event"))
    except (ValueError, KeyError):
        return None
    if at.tzinfo is None:
        return None
    return Entry(at, event, float(ms) if isinstance(ms, int | float) else None, error and str(error), found)
