"""Standing notices: what every reply says until a person has dealt with it, such as a damaged store that was set aside.

A part that knows of something gives a probe; looking costs the names in one folder, every few seconds. Hooks import
this, so it imports next to nothing, and no dataclasses.
"""

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Probe = Callable[[], Iterable["Notice"]]

LOOK_SECONDS = 2.0
SETTINGS = "settings_not_used"
SALVAGED, UNREADABLE, SETTLED = ".salvaged", ".unreadable", ".settled"
DAMAGED, _LOST, _KNOWN = ".damaged-", ".lost-", ".known"
_LOGS = ("-wal", "-shm")
_PARTIAL = ("store_damaged", "store_unreadable", "store_gone")
_SETTLE = "`retain doctor --settle` goes on without"
# Said to agents before notes, and to people when a session begins.
_MISSING = "Memories are missing here: the store {}. `retain doctor` says what to do."


class Notice:
    """One thing that stands. `message` says what to do about it; `brief` is for where there is room for one line."""

    __slots__ = ("brief", "code", "message")

    def __init__(self, code: str, message: str, brief: str = "") -> None:
        self.code = code
        self.message = message
        self.brief = brief or message

    def __repr__(self) -> str:
        return f"Notice({self.code!r}, {self.message!r})"


class Notices:
    """What stands now, by several probes, looked for again after some seconds."""

    def __init__(self, *probes: "Probe", seconds: float = LOOK_SECONDS) -> None:
        self._probes = probes
        self._seconds = seconds
        self._found: tuple[Notice, ...] = ()
        self._until = float("-inf")

    def __call__(self) -> "tuple[Notice, ...]":
        if time.monotonic() >= self._until:
            told = [notice for probe in self._probes for notice in probe()]
            self._found = tuple({notice.message: notice for notice in told}.values())
            self._until = time.monotonic() + self._seconds
        return self._found


def is_whole(notices: "Iterable[Notice]") -> bool:
    """Whether the store has all that it ever had, as far as anybody knows."""
    return not any(notice.code in _PARTIAL for notice in notices)


def of_settings(problems: "Iterable[str]") -> "list[Notice]":
    """Settings that somebody gave and that are not used: another store than the one that was meant may answer."""
    # A project's file may hold anything: an agent is told that there is something, and a reply what it is.
    brief = "A setting is not used here. `retain config` says which."
    return [Notice(SETTINGS, " ".join(problem.split()), brief) for problem in problems]


def of_judge(why: str) -> "list[Notice]":
    """That nothing is judged, and why; nothing where there is a judge."""
    told = (
        f"Conversations are not read for what is worth keeping: {why}. They wait, for 30 days at most; `retain doctor`"
    )
    return [Notice("judge_away", f"{told} says more", "New memories wait: `retain doctor` says why.")] if why else []


def of_store(path: str) -> "list[Notice]":
    """What is known of the store at a path from the names beside it, whether it can be opened or not."""
    damaged = [_of_damaged(os.path.basename(file)) for file in damaged_files(path)]
    return damaged + [_of_lost(path, file) for file in lost_files(path)]


def damaged_files(path: str) -> "list[str]":
    """Damaged stores that were set aside and not dealt with yet, oldest first."""
    return [file for file in _beside(path, DAMAGED) if not file.endswith((*_LOGS, SALVAGED, SETTLED))]


def lost_files(path: str) -> "list[str]":
    """A record for each time that a store with memories was found to be gone."""
    return [file for file in _beside(path, _LOST, ".") if not file.endswith(SETTLED)]


def damaged_name(path: str, stamp: str) -> str:
    return f"{path}{DAMAGED}{stamp}"


def know(path: str) -> None:
    """Notes beside a store that it has held memories: should it ever be empty or gone, that is no new store."""
    try:
        os.close(os.open(_hidden(path, _KNOWN), os.O_CREAT | os.O_WRONLY, 0o600))
    except OSError:
        pass  # a folder that cannot be written to keeps its store as well


def is_known(path: str) -> bool:
    return os.path.exists(_hidden(path, _KNOWN))


def unknow(path: str) -> None:
    """The next store at this path is a new one: of the one that was there something else is told."""
    try:
        os.unlink(_hidden(path, _KNOWN))
    except OSError:
        pass


def note_loss(path: str, stamp: str) -> None:
    """Tells of a store that is gone, from now on until it is settled."""
    os.replace(_hidden(path, _KNOWN), _hidden(path, f"{_LOST}{stamp}"))


def settle(files: "Sequence[str]") -> "list[str]":
    """Ends the notices of these files, whose bytes stay; says by which names they go now."""
    done = []
    for file in files:
        for end in (*_LOGS, ""):  # the log first: beside another file it would be taken for that one's
            if os.path.exists(file + end):
                os.replace(file + end, f"{file}{SETTLED}{end}")
        done.append(os.path.basename(f"{file}{SETTLED}"))
    return done


def _beside(path: str, mark: str, before: str = "") -> "list[str]":
    if path in ("", ":memory:"):
        return []
    folder, name = os.path.split(os.path.realpath(path))  # they lie beside the file that a link points to
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [os.path.join(folder, each) for each in sorted(names) if each.startswith(f"{before}{name}{mark}")]


def _hidden(path: str, end: str) -> str:
    folder, name = os.path.split(os.path.realpath(path))
    return os.path.join(folder, f".{name}{end}")


def _of_damaged(name: str) -> Notice:
    brief = _MISSING.format("was damaged")
    if name.endswith(UNREADABLE):
        why = f"the store was damaged, and nothing in {name} can be read"
        return Notice("store_unreadable", f"{why}: `retain restore` brings back a backup, {_SETTLE} it", brief)
    why = f"the store was damaged and is kept as {name}; memories in it are not found until `retain doctor --repair`"
    return Notice("store_damaged", f"{why} has read them; {_SETTLE} them", brief)


def _of_lost(path: str, file: str) -> Notice:
    day = file.rpartition(_LOST)[2]
    when = f"{day[:4]}-{day[4:6]}-{day[6:8]}"
    why = f"the store that was at {path} was gone or empty on {when}, and a new one was begun"
    return Notice(
        "store_gone", f"{why}: `retain restore` brings back a backup, {_SETTLE} it", _MISSING.format("is gone")
    )
