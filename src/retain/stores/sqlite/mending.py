"""Copies of a damaged database that SQLite can read: padded, with a sound first page, and with a schema that is known.

Each is another way to the same rows. What the file says of itself comes first, since an older file has fewer columns;
then the schema of this version over the pages that the file's tables begin on; then single pages to which no way leads.
"""

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from retain.stores.sqlite.connection import Pool
from retain.stores.sqlite.damaged import rows
from retain.stores.sqlite.failures import UNREADABLE, files_of
from retain.stores.sqlite.files import HEADER, opened
from retain.stores.sqlite.pages import Leaf, as_ordinary, empty_first, leaves, page_size

_SCHEMA = "insert into sqlite_master (type, name, tbl_name, rootpage, sql) values (?, ?, ?, ?, ?)"
_WAS = "create table was (type, name, tbl_name, rootpage, sql)"
_FEWEST = 33  # columns of a memory in the first version


@dataclass(frozen=True, slots=True)
class Copies:
    """A damaged file as it can be read: `own` by its own schema, `ours` by that of this version."""

    own: sqlite3.Connection
    ours: sqlite3.Connection
    leaves: Sequence[Leaf]

    def strays(self) -> Iterator[None]:
        """Makes each page of memories that `ours` has lost its way to the table `stray` there, one after the other."""
        known = len(self.ours.execute("pragma table_info(memory)").fetchall())
        for leaf in self.leaves:
            if _FEWEST <= leaf.columns <= known and not all(map(self._leads_to, leaf.numbers)):
                _point(self.ours, leaf.page)
                yield

    def _leads_to(self, number: int) -> bool:
        try:
            return self.ours.execute("select 1 from memory where num = ?", (number,)).fetchone() is not None
        except UNREADABLE:
            return False


@contextmanager
def copies_of(damaged: Path) -> Iterator[Copies]:
    """Never the file itself: SQLite would write its log into it, and its bytes are to be kept."""
    with TemporaryDirectory(dir=damaged.parent, prefix="salvage-") as folder:
        own, ours = Path(folder) / "own.db", Path(folder) / "ours.db"
        for part, to in zip(files_of(damaged)[:2], files_of(own)[:2], strict=True):
            if part.exists():
                shutil.copyfile(part, to)
        new = _new_store(Path(folder))
        _mend_header(own, new.read_bytes())
        with closing(_connected(own)) as db:
            with suppress(*UNREADABLE):
                db.execute("pragma wal_checkpoint(truncate)").fetchall()
            shutil.copyfile(own, ours)
            _give_our_schema(ours, new)
            with closing(_connected(ours)) as other:
                yield Copies(db, other, leaves(ours))


def _connected(file: Path) -> sqlite3.Connection:
    """Reads on over a schema that makes no sense in parts, and over texts that are none."""
    db = sqlite3.connect(file, isolation_level=None)
    db.text_factory = lambda text: text.decode("utf-8", "replace")
    db.execute("pragma writable_schema = on")
    return db


def _mend_header(copy: Path, new: bytes) -> None:
    """Puts the first page of a new store in place of one that is not a database's, and makes up for a lost tail.

    That page holds the header and the way to the schema, and is the same in every store made by this version.
    """
    size = int.from_bytes(new[16:18], "big")
    with copy.open("r+b") as file:
        length = file.seek(0, 2)
        file.seek(0)
        head = file.read(100)
        if head[: len(HEADER)] == HEADER and page_size(copy):
            pages = int.from_bytes(head[28:32], "big")
            wanted = pages * page_size(copy)
            # A count that is itself damaged would ask for a file of any size.
            file.truncate(max(length, wanted if wanted < 4 * length else 0))
            return
        pages = -(-length // size)
        # The counts of pages, used and free: as many as the file has, and none that is free.
        page = new[:28] + pages.to_bytes(4, "big") + bytes(8) + new[40:92] + new[24:28] + new[96:size]
        file.seek(0)
        file.write(page)
        file.truncate(max(pages, 1) * size)


def _give_our_schema(copy: Path, new: Path) -> None:
    """Replaces the schema by the one of a new store, whose tables begin where the file's do.

    The first page becomes that of a database without tables; what it was goes to the end, where it can be read as a
    table like any other. Tables that it does not name begin where they do in a new store.
    """
    size = page_size(copy)
    with copy.open("r+b") as file:
        pages = -(-file.seek(0, 2) // size)
        file.seek(0)
        first = file.read(size).ljust(size, b"\0")
        file.seek(pages * size)
        file.write(as_ordinary(first))
        file.seek(0)
        file.write(empty_first(size, pages + 1))
    with closing(_connected(copy)) as db:
        db.execute(_SCHEMA, ("table", "was", "was", pages + 1, _WAS))
    with closing(_connected(copy)) as db:
        begins = _first_pages(db, leaves(copy))
        for type, name, table, page, sql in _schema_of(new):
            db.execute(_SCHEMA, (type, name, table, begins.get(name, page) if page else page, sql))
        memory = next(sql for _, name, _, _, sql in _schema_of(new) if name == "memory")
        stray = memory.replace("memory", "stray", 1).replace(" unique", "")
        db.execute(_SCHEMA, ("table", "stray", "stray", begins.get("memory", 2), stray))


def _first_pages(db: sqlite3.Connection, pages: Sequence[Leaf]) -> dict[str, int]:
    found = rows(db, "was", "name, rootpage", pages)
    return {name: page for name, page in found if isinstance(name, str) and isinstance(page, int) and page > 0}


def _point(db: sqlite3.Connection, page: int) -> None:
    """The table `stray` is this page from now on: another number of the schema makes SQLite read it anew."""
    db.execute("update sqlite_master set rootpage = ? where name = 'stray'", (page,))
    (number,) = db.execute("pragma schema_version").fetchone()
    db.execute(f"pragma schema_version = {number + 1}")


def _schema_of(store: Path) -> list[tuple[str, str, str, int, str]]:
    with closing(sqlite3.connect(store)) as db:
        return db.execute("select type, name, tbl_name, rootpage, sql from sqlite_master order by rowid").fetchall()


def _new_store(folder: Path) -> Path:
    pool = Pool(folder / "new.db")
    opened(pool)
    pool.close()
    return pool.path
