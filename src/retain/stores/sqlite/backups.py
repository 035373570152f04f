"""Copies of the store: one a day, the last few kept, and which of them still hold a memory."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path

from retain.domain.memory import MemoryId
from retain.errors import StoreCorrupt, StoreDown
from retain.stores.sqlite.failures import explained
from retain.stores.sqlite.store import SqliteStore

# A copy of more than this would cost a user with a small disk more than it is worth; `retain backup` still makes one.
LARGEST = 500_000_000


def daily_backup(store: SqliteStore, folder: Path, now: datetime, keep: int = 7, largest: int = LARGEST) -> Path | None:
    """Today's copy, if it is not there yet; the oldest go once there are more than `keep`.

    A copy that turns out to be damaged is not kept, and drives no earlier one out.
    """
    made = folder / f"retain-{now:%Y-%m-%d}.db"
    if made.exists() or store.size() > largest:
        return None
    make_folder(folder)
    with _explained(folder):
        store.backup(made)
        if not is_sound(made):
            made.unlink()
            raise StoreCorrupt(f"{store.path} is damaged: its copy does not pass a check; run `retain doctor --repair`")
        for old in list_backups(folder)[keep:]:
            old.unlink(missing_ok=True)
    return made


def make_folder(folder: Path) -> None:
    with _explained(folder):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)


def list_backups(folder: Path) -> list[Path]:
    """The daily ones, newest first."""
    return sorted(folder.glob("retain-????-??-??.db"), reverse=True)


def all_backups(folder: Path) -> list[Path]:
    """Those made by hand too, newest first."""
    return sorted(folder.glob("retain-*.db"), key=lambda file: (file.stat().st_mtime, file.name), reverse=True)


def holding(folder: Path, memory: MemoryId) -> list[Path]:
    """Backups in which a memory can still be found: a purge does not reach into them."""
    return [backup for backup in all_backups(folder) if holds(backup, memory)]


def is_sound(backup: Path) -> bool:
    with explained(backup), closing(read_only(backup)) as db:
        try:
            return bool(db.execute("pragma quick_check(1)").fetchone()[0] == "ok")
        except sqlite3.DatabaseError:
            return False


def read_only(file: Path) -> sqlite3.Connection:
    """A finished copy, opened without leaving a log or a lock beside it."""
    return sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True)


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreDown(
            f"no backup can be written to {folder}: {error.strerror}; it must be a folder of yours"
        ) from error


def holds(backup: Path, memory: MemoryId) -> bool:
    with explained(backup), closing(read_only(backup)) as db:
        said = "select 1 from memory where id = ?1 union all select 1 from history where memory = ?1"
        return db.execute(said, (memory,)).fetchone() is not None
