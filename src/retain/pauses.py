"""Pauses of capture, by project or everywhere. What was said in one is never captured, not even after it.

`paused.json` in RETAIN_HOME has them: {"pauses": [{"project": ID or "*", "path", "from", "to": null while it lasts}]}.
There is no such file until somebody pauses, so a hook finds out with one stat. Those that are over stay in it: a
conversation may be read on long after it was had. Hooks import this, so it imports next to nothing.
"""

import os

from retain.quick_json import parsed, written
from retain.run_files import Lock, read_text, write_private

EVERYWHERE = "*"
_ATTEMPTS = 50


class Unreadable(Exception):
    """There is a file and nobody can say what is paused, so everything is."""


class Pause:
    """From one moment to another, which is None while it lasts; seconds since 1970."""

    __slots__ = ("path", "project", "since", "until")

    def __init__(self, project: str, path: str, since: float, until: "float | None" = None) -> None:
        self.project = project
        self.path = path
        self.since = since
        self.until = until

    @property
    def lasts(self) -> bool:
        return self.until is None

    def is_for(self, project: "str | None") -> bool:
        """Where there is no project, only a pause everywhere counts."""
        return self.project in (EVERYWHERE, project)

    def covers(self, moment: float) -> bool:
        return self.since <= moment and (self.until is None or moment <= self.until)


def file(home: str) -> str:
    return os.path.join(home, "paused.json")


def has_any(home: str) -> bool:
    """Whether anybody ever paused anything; False is all that most hooks need to know."""
    return os.path.exists(file(home))


def pauses(home: str) -> "list[Pause]":
    """All that there were, the first one first. Raises `Unreadable`."""
    if not has_any(home):
        return []
    try:
        found = parsed(read_text(file(home)))
        rows = found["pauses"] if isinstance(found, dict) else None
        if isinstance(rows, list):
            return [_pause(row) for row in rows]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Unreadable(f"{file(home)} cannot be read ({type(error).__name__}), so nothing is captured") from error
    raise Unreadable(f"{file(home)} holds no list of pauses, so nothing is captured")


def paused_since(home: str, project: "str | None") -> "float | None":
    """Since when nothing is captured there; None when it is. Where that cannot be read, it is taken to be paused."""
    try:
        lasting = [pause.since for pause in pauses(home) if pause.lasts and pause.is_for(project)]
    except Unreadable:
        return 0.0
    return min(lasting, default=None)


def begin(home: str, project: str, path: str, now: float) -> Pause:
    """Pauses a project, or everything; the pause that lasts already, where there is one."""
    lock = _locked(home)
    try:
        known = pauses(home)
        for pause in known:
            if pause.lasts and pause.project == project:
                return pause
        begun = Pause(project, path, now)
        _keep(home, [*known, begun])
        return begun
    finally:
        lock.release()


def end(home: str, project: str, now: float) -> "list[Pause]":
    """Ends the pause of a project, or all pauses; gives those that ended."""
    lock = _locked(home)
    try:
        known = pauses(home)
        ended = [pause for pause in known if pause.lasts and project in (EVERYWHERE, pause.project)]
        for pause in ended:
            pause.until = max(now, pause.since)
        if ended:
            _keep(home, known)
        return ended
    finally:
        lock.release()


def _pause(row: object) -> Pause:
    if not isinstance(row, dict):
        raise TypeError
    until = row["to"]
    return Pause(str(row["project"]), str(row["path"]), float(row["from"]), None if until is None else float(until))


def _keep(home: str, them: "list[Pause]") -> None:
    rows = [{"project": one.project, "path": one.path, "from": one.since, "to": one.until} for one in them]
    write_private(file(home), written({"pauses": rows}))


def _locked(home: str) -> Lock:
    """In vain only while another process hangs, and then this one goes on without."""
    lock = Lock(os.path.join(home, "run", "paused.lock"))
    lock.take(_ATTEMPTS)
    return lock
