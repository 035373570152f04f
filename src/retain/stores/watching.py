"""Knowing a store again: that it has held memories, so that an empty one in its place is not taken for a new one."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from retain import standing


class Watch:
    """Leaves a mark beside a store with its first memory; without a path it leaves none."""

    def __init__(self, path: Path | None, holds: Callable[[], bool]) -> None:
        self._path = path
        self._is_noted = path is None or str(path) == ":memory:" or standing.is_known(str(path))
        if not self._is_noted and holds():  # made before there were such marks
            self.note()

    def note(self) -> None:
        if not self._is_noted:
            standing.know(str(self._path))
            self._is_noted = True


def look_for_loss(path: Path) -> None:
    """Where a store with memories was and is none, somebody deleted or emptied it: the one that is begun now is not
    the whole, and that is told from now on."""
    if is_gone(path):
        standing.note_loss(str(path), now_stamp())


def now_stamp() -> str:
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}"


def is_gone(path: Path) -> bool:
    if not standing.is_known(str(path)):
        return False
    if path.is_dir():
        return not any(path.iterdir())
    # SQLite's log counts too: all of a young store may be in it.
    return not any(file.exists() and file.stat().st_size for file in (path, path.with_name(path.name + "-wal")))
