"""Looking after the files of a memory: who may read them, backups, and what to do with a damaged store."""

import os
import stat
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from retain import held, standing
from retain.app import Retain
from retain.config import Loaded, Settings
from retain.domain.memory import MemoryId
from retain.domain.session import Caller
from retain.errors import NotFound, Refused, StoreBusy, StoreCorrupt, StoreDown, Unavailable, invalid
from retain.ports import Emptied, Store
from retain.stores.sqlite import backups, files, losses, migrations, repair
from retain.stores.sqlite.connection import MEMORY
from retain.stores.sqlite.failures import files_of
from retain.stores.sqlite.store import SqliteStore
from retain.wiring import make_queue, make_store

PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
# What waits in the background may be about what is destroyed; a model that is loading is not waited for.
_SETTLE_SECONDS = 1.0
_INTO_SURREALDB = (
    "a backup is copied into SurrealDB, where nothing else is: retain copy --from sqlite:{file} --to current. Is "
    "something there, name another db_path or database first"
)
_ATTEMPTS = 5  # copies that are made until nobody has written since


def backup(app: Retain, now: datetime, to: Path | None = None) -> Path:
    """A copy of the whole store in one file; by default among the backups, under the present moment."""
    if to is None:
        backups.make_folder(app.settings.backups)
        to = app.settings.backups / f"retain-{now:%Y-%m-%dT%H%M%S}.db"
    if to.exists():
        raise Refused(f"{to} exists already; name another file, or remove that one first")
    if not to.parent.is_dir():
        raise invalid("file", to, f"there is no folder {to.parent}; make it first")
    try:
        app.engine.parts.store.backup(to)
    except OSError as error:
        raise StoreDown(f"{to} cannot be written: {error.strerror}; name another file") from error
    return to


def reset(app: Retain, now: datetime, caller: Caller) -> tuple[Emptied, Path]:
    """Destroys all that the caller has, in every project; the copy that was made first brings it back for a week.

    The copy holds the whole store, that of other users too. When it cannot be made, nothing is destroyed.
    """
    app.engine.settle(_SETTLE_SECONDS)
    app.engine.code.stop(caller)
    store = app.engine.parts.store
    for _ in range(_ATTEMPTS):
        change = store.change()
        copy = backups.backup_before_reset(store, app.settings.backups, now)
        if (gone := store.empty(caller.user, now, change)) is not None:
            return gone, copy
        copy.unlink()  # another window has written since, and that must be in the copy
    raise StoreBusy("other windows kept writing while the copy was made; nothing was deleted, try again")


@dataclass(frozen=True, slots=True)
class Restored:
    """Where the store that was replaced is kept, and what else a person should know."""

    kept: Path
    notes: tuple[str, ...] = ()


def restore(settings: Settings, file: Path) -> Restored:
    """Puts a backup in the place of the store, which is kept. Where that one was begun after a loss, what it holds is
    added: it is all that was remembered since.

    A backup from after a loss does not make it good, and the loss is told of as before.
    """
    if settings.uses_surrealdb:
        raise Refused(_INTO_SURREALDB.format(file=file))
    if not file.is_file():
        known = [str(each) for each in all_backups(settings)[:5]]
        raise NotFound(
            f"there is no file {file}; " + (f"backups are {', '.join(known)}" if known else "there are no backups")
        )
    path = _store_file(settings)
    told = losses.losses(path)
    ended = losses.ended_by(file, told, all_backups(settings))
    kept = repair.restore(file, path)
    notes = []
    if ended:
        kept, note = _add_since(settings, kept)
        notes.append(note)
        standing.settle([str(loss.file) for loss in ended if loss.takes_a_copy])
    left = [loss for loss in told if loss not in ended]
    return Restored(kept, (*notes, *(_stands(settings, loss) for loss in left)))


def all_backups(settings: Settings) -> list[Path]:
    """Newest first, those made by hand among them."""
    return backups.all_backups(settings.backups)


def backup_from_before(settings: Settings) -> Path | None:
    """The newest that may hold what is missing: made before the first loss that nobody has dealt with."""
    told = losses.losses(settings.database_file) if settings.database_file != MEMORY else []
    known = all_backups(settings)
    return losses.newest_before(known, told[0].at) if told else next(iter(known), None)


def backups_holding(settings: Settings, memory: MemoryId) -> list[Path]:
    """Copies in which a memory that was destroyed may still be read: backups, and stores that were replaced."""
    database = settings.database_file
    kept = database.parent.glob(f"{database.name}.*") if database != MEMORY else ()
    beside = [file for file in kept if file.suffix != ".lock" and not file.name.endswith(("-wal", "-shm"))]
    return [copy for copy in (*all_backups(settings), *sorted(beside)) if _may_hold(copy, memory)]


def set_aside(settings: Settings) -> list[Path]:
    """Damaged stores that were kept and not dealt with yet."""
    return files.set_aside_files(settings.database_file)


def is_known(settings: Settings) -> bool:
    """Whether there is something to tell of the store, though it may not be there."""
    path = str(settings.database_file)
    return standing.is_known(path) or bool(standing.of_store(path))


def schema(store: Store) -> tuple[int, int] | None:
    """The version of the schema of a file, and the one that this Retain knows; None where the store looks itself."""
    if not isinstance(store, SqliteStore):
        return None
    with store.pool.reading() as db:
        return migrations.version_of(db), migrations.CURRENT


def log_bytes(settings: Settings) -> int:
    """How much the write-ahead log of SQLite holds that is not in the store's own file yet."""
    log = files_of(settings.database_file)[1]
    return log.stat().st_size if log.exists() else 0


def too_open(settings: Settings, settings_files: Iterable[Path]) -> list[tuple[Path, int]]:
    """What others on this machine may read, each with the mode that it should have."""
    if os.name != "posix":
        return []
    database = settings.database_file
    home = settings.home.expanduser()
    beside = (home / "cache", home / "queue")
    folders = {home, settings.backups, *beside, database.parent if database != MEMORY else settings.backups}
    private = {home / "db.password", *all_backups(settings), *set_aside(settings), *settings_files}
    private |= {file for folder in beside for file in folder.glob("*")}
    if settings.uses_surrealdb:
        folders.add(database)  # the engine's files in it are as it makes them; nobody gets that far
    else:
        private.update(files_of(database))
    wanted = [(path, PRIVATE_FOLDER) for path in sorted(folders)] + [(path, PRIVATE_FILE) for path in sorted(private)]
    return [(path, mode) for path, mode in wanted if path.exists() and stat.S_IMODE(path.stat().st_mode) & ~mode]


def not_writable(settings: Settings) -> list[Path]:
    """The store's file, or the folder it is in, where this user may not write."""
    database = settings.database_file
    if database == MEMORY:
        return []
    return [path for path in (database, database.parent) if path.exists() and not os.access(path, os.W_OK)]


def may_be_opened(path: Path) -> bool:
    """Whether it is for a mode to say that nothing can be written: a disk that is mounted read-only does not ask it."""
    return not hasattr(os, "statvfs") or not os.statvfs(path).f_flag & os.ST_RDONLY


def close_up(settings: Settings, settings_files: Iterable[Path]) -> list[str]:
    found = too_open(settings, settings_files)
    for path, mode in found:
        path.chmod(mode)
    return [f"{path} is private now" for path, _ in found]


def mend(settings: Settings, may_restore: Callable[[Path], bool]) -> list[str]:
    """Does what is safe about a damaged store, and says what that was. Nothing is deleted.

    The full-text index is made anew; a file with other faults is set aside and what it holds goes into a new
    store; where nothing can be read, the newest backup is restored, if `may_restore` agrees. With a database of
    SurrealDB nothing of this can be done.
    """
    if settings.uses_surrealdb:
        return []
    path = _store_file(settings)
    done = _rebuild(settings)
    for damaged in files.set_aside_files(path):
        with closing(_sqlite(settings)) as store:
            salvaged = repair.salvage(damaged, store)
        done.append(salvaged.note)
        if salvaged.kept.suffix == standing.UNREADABLE:
            done += _from_backup(settings, salvaged.kept, may_restore)
    return done


def settle(loaded: Loaded) -> list[str]:
    """Goes on without what is missing: nobody is told of it any more, and says what that was. All bytes stay."""
    settings = loaded.settings
    if settings.is_on_server:
        with closing(make_queue(settings)) as queue:
            path = str(queue.path)
    else:
        path = str(settings.database_file)
    damaged, lost = standing.damaged_files(path), standing.lost_files(path)
    kept = [f"{name} is kept and no longer told of" for name in standing.settle(damaged)]
    kept += held.settle(loaded.project_file.kept_in if loaded.project_file else settings.home)
    return kept + ["a store that is gone is no longer told of" for _ in standing.settle(lost)]


def _may_hold(copy: Path, memory: MemoryId) -> bool:
    try:
        return backups.holds(copy, memory)
    except Unavailable:  # damaged: nobody can tell
        return True


def _rebuild(settings: Settings) -> list[str]:
    done = []
    with closing(_sqlite(settings)) as store:
        faults = store.faults()
        if faults and all("full-text" in fault or fault.startswith("words") for fault in faults):
            kept = repair.keep_bytes(store)
            # Where the damage goes further than the index, the whole file is set aside below.
            with suppress(StoreCorrupt):
                repair.rebuild_words(store)
                faults = store.faults()
                done.append(f"the full-text index was made anew; the file as it was is kept as {kept.name}")
    if faults:
        kept = repair.set_aside(settings.database_file)
        done.append(f"the damaged store was set aside as {kept.name}")
    return done


def _from_backup(settings: Settings, damaged: Path, may_restore: Callable[[Path], bool]) -> list[str]:
    """Restores the newest backup from before the damage, and adds what was remembered since."""
    newest = losses.newest_before(all_backups(settings), losses.lost_at(damaged))
    if newest is None or not may_restore(newest):
        return []
    _add_since(settings, repair.restore(newest, settings.database_file))
    standing.settle([str(damaged)])
    return [f"{newest.name} was restored, and what was remembered since is there too"]


def _add_since(settings: Settings, kept: Path) -> tuple[Path, str]:
    """Adds what a store that was replaced holds; says by which name that one goes now."""
    with closing(_sqlite(settings)) as store:
        added = repair.salvage(kept, store)
    return added.kept, f"memories from since the loss that were added: {added.memories}"


def _stands(settings: Settings, loss: losses.Loss) -> str:
    before = losses.newest_before(all_backups(settings), loss.at)
    way = f"`retain restore {before}` does" if before else "no backup here is from before it"
    return f"this backup does not bring back what was lost on {loss.at:%Y-%m-%d %H:%M} UTC: {way}"


def _store_file(settings: Settings) -> Path:
    if settings.database_file == MEMORY:
        raise Refused("the store is in memory only (deployment_mode embedded-memory); there is no file to put right")
    return settings.database_file


def _sqlite(settings: Settings) -> SqliteStore:
    store = make_store(settings)
    assert isinstance(store, SqliteStore)  # the settings say so
    return store
