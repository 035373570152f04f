"""The way to an engine in this process: in memory, or in a folder that no other process has open."""

import os
import threading
from pathlib import Path

from surrealdb_embedded import SyncEmbeddedDB

from retain.errors import ConfigError, RetainError, StorageFull, StoreBusy, StoreDown
from retain.run_files import make_folder
from retain.stores.surreal.link import holding
from retain.stores.surreal.link.failures import FULL, is_full

_ROOM = 65_536
_WAYS_OUT = (
    "set store to sqlite, which many processes can share; or set deployment_mode to local-server "
    "and have `retain db serve` running, through which they share this one"
)


class EmbeddedLink:
    """An engine in this process. It answers while it holds the interpreter, a call in 25 µs; the one that does not
    takes 400 µs."""

    def __init__(self, url: str, folder: Path | None = None) -> None:
        self._engine = SyncEmbeddedDB(url)
        self._engine.connect()
        self._folder = folder
        self._lock = threading.Lock()

    @classmethod
    def in_memory(cls) -> "EmbeddedLink":
        return cls("mem://")

    @classmethod
    def in_folder(cls, folder: Path) -> "EmbeddedLink":
        url = folder_url(folder)
        try:
            link = cls(url, folder)
        except RuntimeError as error:
            raise unopened(folder, error) from error
        holding.sign(folder)
        return link

    def request(self, message: bytes, id: int, seconds: float) -> bytes:
        with self._lock:
            try:
                return self._engine.execute(message)
            except RuntimeError as error:
                raise StoreDown(f"the database in this process does not answer: {error}; start Retain again") from error

    def close(self) -> None:
        with self._lock:
            if self._folder:
                holding.unsign(self._folder)
            self._engine.close()


def folder_url(folder: Path) -> str:
    """What the engine calls a folder, which is made for this user alone; every commit is on the disk when it ends."""
    if "?" in str(folder):  # from there on the engine reads options, and would open another folder
        raise ConfigError(f"{folder} has a question mark in its name, which SurrealDB cannot open; set db_path")
    try:
        make_folder(str(folder.absolute()))
        _check_room(folder)
    except OSError as error:
        raise _unwritable(folder, error) from error
    return f"surrealkv://{folder.resolve()}?sync=every"


def _check_room(folder: Path) -> None:
    """Without room for its first pages the engine does not fail: it waits for ever."""
    probe = folder / f"room.{os.getpid()}"
    try:
        probe.write_bytes(bytes(_ROOM))
    finally:
        probe.unlink(missing_ok=True)


def _unwritable(folder: Path, error: OSError) -> RetainError:
    if error.errno in FULL:
        return StorageFull(f"the disk that holds {folder} is full ({error.strerror}); free some space and try again")
    return StoreDown(
        f"{folder} cannot be written: {error.strerror}. Set RETAIN_HOME or db_path to a folder that can be"
    )


def unopened(folder: Path, error: RuntimeError) -> RetainError:
    said = str(error).rpartition("datastore: ")[2]
    if "already locked" in said:
        return StoreBusy(f"{folder} is open in {holding.holder(folder)}, and only one process can have it; {_WAYS_OUT}")
    if is_full(said):
        return StorageFull(f"the disk that holds {folder} is full ({said}); free some space and try again")
    return StoreDown(f"{folder} cannot be opened as a database of SurrealDB: {said}; check db_path")
