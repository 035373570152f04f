"""Copies of the store: one a day, the last few kept, and which of them still hold a memory."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from retain import run_files
from retain.domain.memory import MemoryId
from retain.errors import StoreCorrupt, StoreDown
from retain.ports import Store
from retain.stores.sqlite.failures import explained
from retain.stores.sqlite.store import SqliteStore

# A copy of more than this would cost a user with a small disk more than it is worth; `retain backup` still makes one.
LARGEST = 500_000_000
# Long enough to notice that a reset was a mistake.
KEPT_AFTER_RESET = timedelta(days=7)
_RESET, _MOMENT = "retain-before-reset-", "%Y-%m-%dT%H%M%S"


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
    """Today's copy, if it is not there yet; the oldest go once there are more than `keep`.

    A copy that turns out to be damaged is not kept, and drives no earlier one out. Code is left out, which can be
    indexed anew and would make every copy many times as large.
    """
    made = folder / f"retain-{now:%Y-%m-%d}.db"
    code = store.code_bytes() if isinstance(store, SqliteStore) else 0
    if made.exists() or store.size() - code > largest:
        return None
    make_folder(folder)
    with _explained(folder):
        drop_old_resets(folder, now)
        _copy(store, made, with_code=False)
        for old in list_backups(folder)[keep:]:
            old.unlink(missing_ok=True)
    return made


def _copy(store: Store, made: Path, *, with_code: bool = True) -> None:
    if isinstance(store, SqliteStore):
        store.backup(made, with_code=with_code)
    else:
        store.backup(made)
    if not is_sound(made):
        made.unlink()
        raise StoreCorrupt("the store is damaged: its copy does not pass a check; run `retain doctor --repair`")


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
