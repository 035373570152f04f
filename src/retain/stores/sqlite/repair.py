"""Repair: what a damaged file still holds goes into the present store, or a backup takes the store's place."""

import shutil
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from retain import standing
from retain.errors import StoreCorrupt
from retain.stores.sqlite import code_writing, migrations
from retain.stores.sqlite.backups import is_sound, read_only
from retain.stores.sqlite.damaged import count_of
from retain.stores.sqlite.failures import BUSY_SECONDS, explained, files_of
from retain.stores.sqlite.files import alone, dismiss, give_up, put_away
from retain.stores.sqlite.mending import Copies, copies_of
from retain.stores.sqlite.remains import Remains
from retain.stores.sqlite.store import SqliteStore
from retain.stores.watching import now_stamp

_RESTORE_SECONDS = 600.0
# Said where there were indexes of code.
_MADE_ANEW = ("", ". Its indexes of code are not taken over: index those projects again")


@dataclass(frozen=True, slots=True)
class Salvaged:
    """Memories that came out of a damaged file, those that are known not to have, and what to tell."""

    memories: int
    lost: int | None
    note: str
    kept: Path
    """The damaged file, by the name that it has now."""


def salvage(damaged: Path, into: SqliteStore) -> Salvaged:
    """Adds what can still be read to the present store, unless it is there already or was purged there.

    The damaged file stays, byte for byte, under a name that is no longer announced; one of which nothing
    could be read is announced as that, so that it is not forgotten. Indexes of code stay behind: they are made
    anew from the files.
    """
    with copies_of(damaged) as copies:
        there, code = (max(filter(None, _counts(copies, table)), default=None) for table in ("memory", "code_index"))
        read, added = _read(copies, into)
    if not read:
        kept = give_up(damaged)
        return Salvaged(
            0, there or None, f"nothing in {kept.name} can be read; `retain restore` brings back a backup", kept
        )
    lost = None if there is None else max(there - read, 0)
    kept = dismiss(damaged)
    return Salvaged(added, lost, _note(added, read, lost, kept) + _MADE_ANEW[bool(code)], kept)


def _counts(copies: Copies, table: str) -> list[int | None]:
    return [count_of(db, table) for db in (copies.own, copies.ours)]


def _read(copies: Copies, into: SqliteStore) -> tuple[int, int]:
    """How many memories could be read in any way, and how many of them were not there yet."""
    own, ours = Remains(copies.own, copies.leaves), Remains(copies.ours, copies.leaves)
    read = {memory.id for remains in (own, ours) for memory in remains.memories}
    strays = (changes for _ in copies.strays() for changes in ours.strays(into))
    added = 0
    for changes in chain(own.plans(into), ours.plans(into), strays):
        into.apply(changes)
        added += len(changes.memories)
        read |= {memory.id for memory in changes.memories}
    return len(read), added


def set_aside(path: Path) -> Path:
    """Takes a damaged store that still opens out of use; the next to open the path begins a new one.

    Running writes are waited for, and those that come later go to the new store.
    """
    path = path.resolve()
    with alone(path), closing(sqlite3.connect(path, isolation_level=None, timeout=BUSY_SECONDS)) as db:
        # Too damaged to be locked is too damaged to be written.
        with suppress(StoreCorrupt), explained(path):
            db.execute("begin immediate")
        return put_away(path)


def keep_bytes(store: SqliteStore) -> Path:
    """A copy of the file as it is, before a repair writes to it; of no copy anybody is told later."""
    kept = Path(standing.damaged_name(str(store.path), now_stamp()) + standing.SALVAGED)
    with store.pool.writing():  # nobody else writes meanwhile
        for part, to in zip(files_of(store.path)[:2], files_of(kept)[:2], strict=True):
            if part.exists() and part.stat().st_size:
                to.touch(0o600)
                shutil.copyfile(part, to)
    return kept


def rebuild_words(store: SqliteStore) -> None:
    """Makes the full-text indexes anew, from the memories and from the chunks of code."""
    with store.pool.writing() as db:
        migrations.check_version(db)
        db.execute("drop table memory_terms")
        db.execute("drop table memory_words")
        migrations.m002_words(db)
        db.execute("update counter set value = value + 1 where name = 'change'")
        db.execute("drop table code_terms")
        db.execute("drop table code_words")
        migrations.make_code_words(db)
        code_writing.add_words(db)


def restore(backup: Path, path: Path) -> Path:
    """Puts a backup in the place of the store; returns where a copy of the present one is kept.

    Written over the present one in a single transaction, so that windows that have it open go on with the
    restored memories.
    """
    if not is_sound(backup):
        raise StoreCorrupt(f"{backup} is damaged itself; nothing was changed. Choose another backup")
    with explained(backup), closing(read_only(backup)) as db:
        migrations.check_ours(db, backup)
        migrations.check_version(db)
    path = path.resolve()
    kept = path.with_name(f"{path.name}.replaced-{now_stamp()}")
    with closing(SqliteStore(path)) as store, alone(path), TemporaryDirectory(dir=path.parent) as folder:
        store.backup(kept)
        ready = Path(folder) / "ready.db"
        shutil.copyfile(backup, ready)
        _begin_another_life(ready, store.change())
        with store.pool.plain(_RESTORE_SECONDS) as live, closing(sqlite3.connect(ready)) as copy:
            copy.backup(live)
    return kept


def _begin_another_life(ready: Path, change: int) -> None:
    """Migrates the copy, and makes sure that no process takes what it has cached for what is there."""
    with closing(SqliteStore(ready)) as store, store.pool.writing() as db:
        db.execute("update counter set value = max(value, ?) + 1 where name = 'change'", (change,))
        db.execute("update counter set value = random() where name = 'life'")


def _note(added: int, read: int, lost: int | None, kept: Path) -> str:
    known = "how many were lost is not known" if lost is None else f"{lost} could not be read"
    return f"{read} memories were read, {added} of them new here; {known}. The damaged file is kept as {kept.name}"
