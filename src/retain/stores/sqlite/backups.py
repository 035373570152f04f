"""Copies of the store: one a day and one before housekeeping destroys, the last few kept, and what each holds."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from retain import run_files
from retain.domain.memory import MemoryId
from retain.domain.transfer import Sort
from retain.errors import StoreCorrupt, StoreDown
from retain.ports import Store
from retain.standing import is_whole
from retain.stores.copy_notes import CopyNotes
from retain.stores.part_files import clear_unfinished
from retain.stores.sqlite.failures import UNREADABLE, explained
from retain.stores.sqlite.store import SqliteStore

# A copy of more than this would cost a user with a small disk more than it is worth; `retain backup` still makes one.
LARGEST = 500_000_000
# Long enough to notice that a reset was a mistake.
KEPT_AFTER_RESET = timedelta(days=7)
KEPT_BEFORE = 3  # copies that were made before housekeeping
_RESET, _BEFORE, _MOMENT = "retain-before-reset-", "retain-before-housekeeping-", "%Y-%m-%dT%H%M%S"


def backup_before_reset(store: Store, folder: Path, now: datetime) -> Path:
    """A copy of all that is about to be destroyed, checked; earlier ones of this kind go after a week."""
    make_folder(folder)
    drop_old_resets(folder, now)
    name = f"{_RESET}{now.astimezone(UTC):{_MOMENT}}"
    free = (folder / f"{name}{'' if n == 1 else f'-{n}'}.db" for n in count(1))
    made = next(file for file in free if not file.exists())
    with _explained(folder):
        _copy(store, made)
    return made


def drop_old_resets(folder: Path, now: datetime) -> None:
    """Removes copies that were made before a reset more than a week ago, by the moment in their name."""
    for file in folder.glob(f"{_RESET}*.db"):
        said = file.stem.removeprefix(_RESET)[:17]
        with suppress(ValueError):  # a file that somebody named alike
            if now - datetime.strptime(said, _MOMENT).replace(tzinfo=UTC) > KEPT_AFTER_RESET:
                file.unlink(missing_ok=True)


def daily_backup(store: Store, folder: Path, now: datetime, keep: int = 7, largest: int = LARGEST) -> Path | None:
    """Today's copy, if there is something to copy and it is not there yet, or too little of today is in it; the
    oldest go once there are more than `keep`.

    A copy that turns out to be damaged is not kept, and drives no earlier one out. Code is left out, which can be
    indexed anew and would make every copy many times as large. While a damaged store waits to be dealt with, none goes.
    """
    clear_unfinished(folder)
    made = folder / f"retain-{now:%Y-%m-%d}.db"
    notes = CopyNotes(folder)
    if not _is_worth_copying(store, largest) or (made.exists() and not notes.is_stale(made, store, now)):
        return None
    make_folder(folder)
    with _explained(folder):
        drop_old_resets(folder, now)
        with notes.of(made, store, now):
            _copy(store, made, with_code=False)
        # Until somebody has dealt with a damaged store, its copies are all that there is of it.
        for old in list_backups(folder)[keep:] if is_whole(store.standing()) else ():
            old.unlink(missing_ok=True)
    return made


def backup_before_housekeeping(store: Store, folder: Path, now: datetime, keep: int = KEPT_BEFORE) -> Path | None:
    """A copy that holds all that there is now, before some of it is destroyed; the oldest of this kind go.

    One that holds it already will do, of whichever kind. None where there is nothing to copy, or too much.
    """
    if not _is_worth_copying(store, LARGEST):
        return None
    notes = CopyNotes(folder)
    if current := notes.current(store):
        return current
    make_folder(folder)
    made = folder / f"{_BEFORE}{now.astimezone(UTC):{_MOMENT}}.db"
    with _explained(folder):
        with notes.of(made, store, now):
            _copy(store, made, with_code=False)
        for old in sorted(folder.glob(f"{_BEFORE}*.db"), reverse=True)[keep:] if is_whole(store.standing()) else ():
            old.unlink(missing_ok=True)
    return made


def _is_worth_copying(store: Store, largest: int) -> bool:
    """An empty copy would be of no use, and keep a better one of the same day away."""
    code = store.code_bytes() if isinstance(store, SqliteStore) else 0
    return store.size() - code <= largest and bool(store.records(Sort.MEMORIES, None, 1).records)


def _copy(store: Store, made: Path, *, with_code: bool = True) -> None:
    """Checked before it takes the place of what may be there."""
    new = made.with_name(f"{made.name}.{os.getpid()}-0.part")
    try:
        if isinstance(store, SqliteStore):
            store.backup(new, with_code=with_code)
        else:
            store.backup(new)
        if not is_sound(new):
            raise StoreCorrupt("the store is damaged: its copy does not pass a check; run `retain doctor --repair`")
        new.replace(made)
    finally:
        new.unlink(missing_ok=True)


def make_folder(folder: Path) -> None:
    with _explained(folder):
        run_files.make_folder(str(folder.absolute()))


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
        except UNREADABLE:
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
