"""SQLite's errors as ours: what happened, to which file, and what to do."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from retain.errors import QueryTimeout, RetainError, StorageFull, StoreBusy, StoreCorrupt, StoreDown

# How long a writer waits for the others. A client gives a tool call about a minute; eight busy windows need far less.
BUSY_SECONDS = 20.0
# What a damaged file makes of a read. Python itself stumbles over messages that quote damaged text, and over records
# that claim to be larger than all memory.
UNREADABLE = (sqlite3.Error, UnicodeDecodeError, MemoryError)
# Every query here is about tables that a sound store has, and JSON that was written by Python.
_NOT_OURS = (
    "no such column",
    "no such table",
    "no such fts5 table",
    "malformed JSON",
    "invalid fts5 file format",
    "vtable constructor failed",
)
_NOT_UTF_8 = "Could not decode to UTF-8"
_FULL = ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMSIZE", "SQLITE_IOERR_TRUNCATE")


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turns SQLite's errors into ours."""
    began = time.monotonic()
    try:
        yield
    except sqlite3.Error as error:
        raise _explained(error, path, time.monotonic() - began) from error
    except UnicodeDecodeError as error:
        raise _damaged(path, error) from error


def busy(path: Path, seconds: float) -> StoreBusy:
    return StoreBusy(f"{path} was locked by other writers for {seconds:.1f} s; try again")


def is_damage(error: Exception) -> bool:
    """Whether it is the file: what SQLite says, and what Python says of texts and messages whose bytes have changed."""
    name = getattr(error, "sqlite_errorname", None) or ""
    said = str(error)
    if name == "SQLITE_ERROR":
        return said.startswith(_NOT_OURS)
    is_page = name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or _NOT_UTF_8 in said
    return is_page or isinstance(error, UnicodeDecodeError)


def files_of(path: Path) -> list[Path]:
    """A database is up to three files."""
    return [path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")]


def bytes_of(path: Path) -> int:
    return sum(part.stat().st_size for part in files_of(path) if part.exists())


def is_busy(error: sqlite3.Error) -> bool:
    return (getattr(error, "sqlite_errorname", None) or "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def _explained(error: sqlite3.Error, path: Path, seconds: float) -> RetainError:
    name = getattr(error, "sqlite_errorname", None) or ""
    if is_busy(error):
        return busy(path, seconds)
    if name == "SQLITE_INTERRUPT":
        return QueryTimeout("the query ran past its deadline; narrow it with a filter or a shorter question")
    if name in _FULL:
        return _full(path)
    if is_damage(error):
        return _damaged(path, error)
    if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError | sqlite3.InterfaceError):
        return RetainError(f"a fault in Retain, not in the store: {type(error).__name__}: {error}. Nothing was written")
    return StoreDown(f"{path} cannot be used: {error}{_why(path)}; `retain doctor` tells more")


def _damaged(path: Path, error: Exception) -> StoreCorrupt:
    # Those about bytes quote all of them, and so what somebody remembers.
    is_quoting = isinstance(error, UnicodeDecodeError) or _NOT_UTF_8 in str(error)
    why = "a text in it is not UTF-8" if is_quoting else str(error)
    return StoreCorrupt(f"{path} is damaged ({why}); run `retain doctor --repair`", path=str(path))


def _why(path: Path) -> str:
    if path.is_dir():
        return " (it is a folder, not a file)"
    log = files_of(path)[1]
    if not os.access(path.parent, os.W_OK) and log.exists():
        # Taking over what a log holds means to write.
        return (
            f" (nothing can be written to {path.parent}, and {log.name} holds the last memories: copy both elsewhere)"
        )
    return ""


def _full(path: Path) -> StorageFull:
    return StorageFull(
        f"the disk that holds {path} is full, or a size limit was reached; nothing was written. "
        "Free some space and try again",
        current_size=f"{bytes_of(path)} bytes",
        limit="the free space of the disk",
    )
