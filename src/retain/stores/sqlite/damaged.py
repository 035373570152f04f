"""Reading a damaged database: whatever SQLite can still reach, around the pages it cannot."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from retain.stores.sqlite.connection import Pool
from retain.stores.sqlite.failures import files_of
from retain.stores.sqlite.files import HEADER, opened

Row = tuple[Any, ...]
_ROWS_AT_ONCE = 256


@contextmanager
def copy_of(damaged: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a copy: SQLite would write its log into the file itself, whose bytes are to be kept."""
    with TemporaryDirectory(dir=damaged.parent, prefix="salvage-") as folder:
        copy = Path(folder) / "copy.db"
        for part, to in zip(files_of(damaged)[:2], files_of(copy)[:2], strict=True):
            if part.exists():
                shutil.copyfile(part, to)
        _mend_first_page(copy)
        with closing(sqlite3.connect(copy, isolation_level=None)) as db:
            yield db


def rows(db: sqlite3.Connection, table: str, columns: str) -> Iterator[Row]:
    """The rows of a table that can be read, in order. Ranges that cannot are halved until single rows remain."""
    waiting = [(1, _last(db, table))]
    query = f"select {columns} from {table} where rowid between ? and ? order by rowid"
    while waiting:
        first, last = waiting.pop()
        if last - first >= _ROWS_AT_ONCE:
            waiting += [(first + _ROWS_AT_ONCE, last), (first, first + _ROWS_AT_ONCE - 1)]
            continue
        try:
            yield from db.execute(query, (first, last)).fetchall()
        except sqlite3.DatabaseError:
            if first < last:
                middle = (first + last) // 2
                waiting += [(middle + 1, last), (first, middle)]


def rows_for(db: sqlite3.Connection, query: str, keys: list[str]) -> Iterator[Row]:
    """Rows looked up by key, leaving out the keys that lead to a damaged page."""
    for key in keys:
        try:
            yield from db.execute(query, (key,)).fetchall()
        except sqlite3.DatabaseError:
            continue


def rows_from_both_ends(db: sqlite3.Connection, query: str, key: str) -> list[Row]:
    """For tables without row numbers: forwards to the first damaged page, and backwards to the last."""
    found: dict[Row, None] = {}
    for order in ("asc", "desc"):
        try:
            for row in db.execute(f"{query} order by {key} {order}"):
                found[row] = None
        except sqlite3.DatabaseError:
            continue
        break
    return list(found)


def count_of(db: sqlite3.Connection, table: str) -> int | None:
    """How many rows there were, if an index that knows it can still be read."""
    try:
        return int(db.execute(f"select count(*) from {table}").fetchone()[0])
    except sqlite3.DatabaseError:
        return None


def _last(db: sqlite3.Connection, table: str) -> int:
    try:
        return int(db.execute(f"select max(rowid) from {table}").fetchone()[0] or 0)
    except sqlite3.DatabaseError:
        pass
    try:
        # No row takes less than a few dozen bytes, so no more of them than this can have been there.
        return int(db.execute("pragma page_count").fetchone()[0]) * 100
    except sqlite3.DatabaseError:
        return 0


def _mend_first_page(copy: Path) -> None:
    """Puts the first page of a new store in place of one that is not a database's.

    It holds the header and the way to the schema, and is the same in every store made by this version.
    """
    with copy.open("r+b") as file:
        if file.read(len(HEADER)) == HEADER:
            return
        new = _new_store(copy.parent)
        size = int.from_bytes(new[16:18], "big")
        pages = copy.stat().st_size // size
        # The counts of pages, used and free: as many as the file has, and none that is free.
        page = new[:28] + pages.to_bytes(4, "big") + bytes(8) + new[40:92] + new[24:28] + new[96:size]
        file.seek(0)
        file.write(page)


def _new_store(folder: Path) -> bytes:
    pool = Pool(folder / "new.db")
    opened(pool)
    pool.close()
    return pool.path.read_bytes()
