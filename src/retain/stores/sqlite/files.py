"""Opening the store's file: private, migrated, and set aside with its bytes kept when it is damaged."""

import os
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from retain import standing
from retain.domain.visible import marked
from retain.errors import StoreBusy, StoreCorrupt, StoreDown
from retain.run_files import make_folder
from retain.standing import Notice
from retain.stores.sqlite import migrations
from retain.stores.sqlite.connection import ELSEWHERE, MEMORY, Pool
from retain.stores.sqlite.failures import files_of
from retain.stores.watching import is_gone, look_for_loss, now_stamp

HEADER = b"SQLite format 3\x00"
_NETWORK = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "afpfs", "9p", "ceph", "glusterfs")
_MIGRATION_SECONDS = 600.0
_LOCK_SECONDS = 60.0


def opened(pool: Pool, *, watched: bool = False) -> list[str]:
    """Makes the store ready to use; says what everyone should know about where it lies.

    Of one that is watched it is noted when it is gone or empty and has held memories.
    """
    if pool.path == MEMORY:
        _prepare(pool)
        return []
    if watched and is_gone(pool.path):
        with alone(pool.path):
            look_for_loss(pool.path)
    make_private(pool.path)
    pool.is_read_only = not is_writable(pool.path)
    try:
        notices = _prepared_in_time(pool)
    except StoreCorrupt as error:
        if pool.is_read_only:
            raise
        _refuse_foreign(pool.path)
        notices = _set_aside(pool, error)
    return _network_notice(pool.path) + notices


def is_writable(path: Path) -> bool:
    """Whether the file can be written to, and others be made beside it."""
    return path == MEMORY or all(os.access(each, os.W_OK) for each in (path, path.parent))


def standing_notices(pool: Pool) -> list[Notice]:
    """Damage that nobody has dealt with: of files that were set aside, and of the one in use."""
    notices = standing.of_store(str(pool.path))
    if pool.is_read_only:
        notices.append(
            Notice(
                "read_only",
                f"{pool.path} cannot be written to: memories are read, and nothing is stored. {ELSEWHERE}",
                "Nothing can be stored here: the store cannot be written to.",
            )
        )
    if pool.damage:
        notices.append(Notice("store_damaged", f"{pool.damage}. What lies on undamaged pages is still found"))
    return notices


def newer_notice(pool: Pool) -> list[str]:
    with pool.reading() as db:
        if migrations.version_of(db) <= migrations.CURRENT:
            return []
    return [f"{pool.path} was migrated by a newer Retain; this process only reads. Restart this window"]


def set_aside_files(path: Path) -> list[Path]:
    """Damaged files that were kept and not dealt with yet, oldest first."""
    return [Path(file) for file in standing.damaged_files(str(path))]


def dismiss(damaged: Path) -> Path:
    """Marks a damaged file as dealt with, so that nobody is told of it any more; its bytes stay."""
    return _called(damaged, standing.SALVAGED)


def give_up(damaged: Path) -> Path:
    """Marks a damaged file as one of which nothing can be read: what is advised is not to try it again."""
    was_announced = damaged in set_aside_files(Path(str(damaged).partition(standing.DAMAGED)[0]))
    return _called(damaged, standing.UNREADABLE) if was_announced else damaged


def _called(damaged: Path, end: str) -> Path:
    named = damaged.with_name(damaged.name.removesuffix(standing.UNREADABLE) + end)
    if named != damaged:
        move(damaged, named)
    return named


def put_away(path: Path) -> Path:
    """Renames a damaged store, whole; the caller is `alone`."""
    kept = Path(standing.damaged_name(str(path), now_stamp()))
    try:
        move(path, kept)
        standing.unknow(str(path))
    except OSError as error:  # Windows: another process has it open
        raise StoreCorrupt(
            f"{path} is damaged and cannot be set aside ({error.strerror}); close the other windows that use it"
        ) from error
    return kept


def move(path: Path, to: Path) -> None:
    """Renames a database with its log. The log goes first: beside another file it would be taken for that one's."""
    for part, new in reversed(list(zip(files_of(path), files_of(to), strict=True))):
        if part.exists():
            part.rename(new)


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Holds the lock under which a store's file may be replaced; waits for another holder."""
    try:
        file = os.open(path.with_name(path.name + ".lock"), os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        raise StoreDown(f"{path} needs a repair and its folder cannot be written: {error.strerror}") from error
    try:
        _lock(file, path)
        yield
    finally:
        os.close(file)


@contextmanager
def only_one(lock: Path) -> Iterator[bool]:
    """Whether the block is run by nobody else at this moment; it is for whoever comes first."""
    file = os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        yield _try_lock(file)
    finally:
        os.close(file)


def _prepared_in_time(pool: Pool) -> list[str]:
    """As `_prepare`, through a moment in which another process recovers the log: SQLite does not wait for that."""
    late = time.monotonic() + pool.busy_seconds
    while True:
        try:
            return _prepare(pool)
        except StoreBusy:
            if time.monotonic() >= late:
                raise
            time.sleep(0.01)


def _prepare(pool: Pool) -> list[str]:
    """Migrates, and reads something from each part, so that damage shows now and not in the middle of a call."""
    with pool.plain(_MIGRATION_SECONDS) as db:
        # Before anything is written to it: the path may be a wrong one.
        migrations.check_ours(db, pool.path)
        if pool.is_read_only:
            _check_readable(db, pool.path)
        else:
            mode = db.execute("pragma journal_mode = wal").fetchone()[0]
            migrations.migrate(db)
    with pool.reading() as db:
        db.execute("select count(*) from (select num from memory limit 10)").fetchone()
        db.execute("select block from memory_words_data where id = 1").fetchone()
    if not pool.is_read_only and mode not in ("wal", "memory"):
        return [f"{pool.path} is on a file system without write-ahead logging; several writers will be slow"]
    return []


def _check_readable(db: sqlite3.Connection, path: Path) -> None:
    if (found := migrations.version_of(db)) < migrations.CURRENT:
        raise StoreDown(
            f"{path} has schema {found} and has to be brought to {migrations.CURRENT}, and it cannot be written to. "
            f"{ELSEWHERE}"
        )


def make_private(path: Path) -> None:
    try:
        make_folder(str(path.parent.absolute()))
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise StoreDown(
            f"{path} cannot be made: {error.strerror}. Set RETAIN_HOME to a folder that can be written"
        ) from error


def _refuse_foreign(path: Path) -> None:
    """A file that never was a store, such as a text, is no damaged one: the path is wrong."""
    if not _was_a_store(path):
        raise StoreDown(f"{path} is a file of another kind, no store; it was left as it is. Choose another path")


def _was_a_store(path: Path) -> bool:
    """A store whose first page is damaged is known by its name, or by what only a store has beside it."""
    # Beside a queue lies the copy in which what waits is carried out.
    beside = (path.with_name(name) for name in (f"{path.name}-wal", f"{path.name}.lock", "queue.appending"))
    copies = (f"{path.name}.damaged-*", f"{path.name}.replaced-*", "backups/retain-*.db")
    if path.name == "retain.db" or standing.is_known(str(path)) or any(file.exists() for file in beside):
        return True
    if any(file for pattern in copies for file in path.parent.glob(pattern)):
        return True
    try:
        with path.open("rb") as file:
            page = file.read(100)
    except FileNotFoundError:  # another process is setting it aside
        return True
    # Bytes 68 to 71 are the mark of the program that made it.
    return page.startswith(HEADER) and int.from_bytes(page[68:72], "big") in (0, migrations.APPLICATION)


def _set_aside(pool: Pool, error: StoreCorrupt) -> list[str]:
    """Renames a damaged file, with its log, and starts an empty store in its place."""
    with alone(pool.path):
        try:
            notices = _prepare(pool)  # another process may have dealt with it while this one waited
        except StoreCorrupt:
            _refuse_newer(pool, error)
            kept = put_away(pool.path)
            make_private(pool.path)
            notices = _prepare(pool)
            sys.stderr.write(marked(f"retain: {error}; set aside as {kept}\n"))
    pool.damage = None
    return notices


def _refuse_newer(pool: Pool, error: StoreCorrupt) -> None:
    """A schema that this SQLite is too old to understand looks damaged to it, and is not."""
    with suppress(sqlite3.Error, UnicodeDecodeError, StoreCorrupt), closing(sqlite3.connect(pool.path)) as db:
        if migrations.version_of(db) > migrations.CURRENT:
            raise StoreDown(f"{pool.path} was made by a newer Retain and cannot be read by this one: {error}")


def _network_notice(path: Path) -> list[str]:
    kind = _file_system(path)
    if kind not in _NETWORK:
        return []
    return [f"{path} is on a network file system ({kind}), where SQLite's locks cannot be trusted; use a local folder"]


def _file_system(path: Path) -> str:
    mounts = Path("/proc/mounts")
    if not mounts.exists():
        return ""
    try:
        rows = [line.split()[1:3] for line in mounts.read_text().splitlines()]
    except OSError:
        return ""
    real = str(path.parent.resolve())
    under = [(mount, kind) for mount, kind in rows if real == mount or real.startswith(mount.rstrip("/") + "/")]
    return max(under, key=lambda row: len(row[0]), default=("", ""))[1]


def _lock(file: int, path: Path) -> None:
    """An exclusive lock on an open file; the system lets go of it when the process ends, however it ends."""
    late = time.monotonic() + _LOCK_SECONDS
    while not _try_lock(file):
        if time.monotonic() > late:
            raise StoreBusy(f"another process has been repairing {path} for {_LOCK_SECONDS:.0f} s; try again")
        time.sleep(0.02)


def _try_lock(file: int) -> bool:
    try:
        try:
            import fcntl
        except ImportError:
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]  # Windows only
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
