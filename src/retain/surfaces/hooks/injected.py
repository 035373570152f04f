"""What was put in front of an agent, session by session: one line for each memory, so that none comes twice.

`injected/<session>.jsonl` in the home folder. It has ids and scores and a piece of the prompt without its secrets,
never the text of a memory: what is purged must leave nothing behind.
"""

import os
import time

from retain.quick_json import parsed, written
from retain.run_files import Lock, make_folder, names_in, read_text, remove

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Entry = dict[str, object]

DAYS = 30
PROMPT = 200  # characters of a prompt that are kept
AT_START = "SessionStart"
_ENDING = ".jsonl"
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
_ATTEMPTS = 15


class Earlier:
    """What a session has been shown that it still knows, how many tokens its prompts have had, and since when."""

    __slots__ = ("lost", "seen", "spent")

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.spent = 0
        self.lost: float | None = None
        """When the conversation was last cut, if it was."""

    def add(self, entry: "Entry") -> None:
        memory, tokens = entry.get("memory"), entry.get("tokens")
        if isinstance(memory, str):
            self.seen.add(memory)
            if isinstance(tokens, int) and entry.get("event") != AT_START:
                self.spent += tokens
        elif entry.get("lost"):
            self.seen.clear()
            at = entry.get("at")
            self.lost = at if isinstance(at, float) else None


def earlier(home: str, session: str) -> Earlier:
    found = Earlier()
    for entry in _entries(_file(home, session)):
        found.add(entry)
    return found


def record(home: str, session: str, entries: "Sequence[Entry]") -> list[str]:
    """Writes them down, all but those that another hook was quicker with; the ids of those that were written.

    Raises OSError when nothing can be written.
    """
    path = _file(home, session)
    lock = Lock(path)
    lock.take(_ATTEMPTS)  # in vain only while another hook hangs, and then this one goes on without
    try:
        known = earlier(home, session).seen
        new = [entry for entry in entries if entry["memory"] not in known]
        _append(path, new)
    finally:
        lock.release()
    return [str(entry["memory"]) for entry in new]


def repeat(home: str, session: str, entries: "Sequence[Entry]", *, lost: bool) -> None:
    """Writes down what a session begins with, also if it had it before; `lost`: nothing from before is known to it."""
    cut: list[Entry] = [{"at": time.time(), "event": AT_START, "lost": True}] if lost else []
    if cut or entries:
        _append(_file(home, session), [*cut, *entries])


def everything(home: str) -> "list[Entry]":
    """Every line there is, oldest first, each with the name of its session."""
    folder = _folder(home)
    found = [
        {"session": name.removesuffix(_ENDING), **entry}
        for name in names_in(folder, _ENDING)
        for entry in _entries(os.path.join(folder, name))
        if isinstance(entry.get("memory"), str) and isinstance(entry.get("at"), float)
    ]
    return sorted(found, key=lambda entry: str(entry["at"]))


def prune(home: str, now: float) -> None:
    """Drops what nobody will ask about any more."""
    folder = _folder(home)
    for name in names_in(folder, _ENDING):
        path = os.path.join(folder, name)
        try:
            is_old = os.stat(path).st_mtime < now - DAYS * 86_400
        except OSError:
            continue
        if is_old:
            remove(path)


def _folder(home: str) -> str:
    return os.path.join(home, "injected")


def _file(home: str, session: str) -> str:
    return os.path.join(_folder(home), name_of(session) + _ENDING)


def name_of(session: str) -> str:
    """Ids of sessions are mostly fit to be the name of a file; for others there is one that is made from them."""
    if 0 < len(session) <= 100 and _SAFE.issuperset(session):
        return session
    from retain.domain.ids import id_of

    return f"session-{id_of(session)}"


def _entries(path: str) -> "list[Entry]":
    """The lines of a file; one that is broken, as a full disk leaves it, is passed over."""
    try:
        lines = read_text(path).splitlines()
    except OSError:
        return []
    found: list[Entry] = []
    for line in lines:
        try:
            entry = parsed(line) if line else None
        except ValueError:
            continue
        if isinstance(entry, dict):
            found.append(entry)
    return found


def _append(path: str, entries: "Sequence[Entry]") -> None:
    if not entries:
        return
    make_folder(os.path.dirname(path))
    text = "".join(f"{written(entry)}\n" for entry in entries)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
    try:
        rest = text.encode()
        while rest:
            rest = rest[os.write(file, rest) :]
    finally:
        os.close(file)
