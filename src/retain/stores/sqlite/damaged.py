"""Reading a damaged database: whatever SQLite can still reach, around the pages it cannot."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from retain.stores.sqlite.failures import UNREADABLE
from retain.stores.sqlite.pages import Leaf

Row = tuple[Any, ...]
_ROWS_AT_ONCE = 256
_GAP = 200  # numbers without a row, or with one that is damaged, after each other
_ADDED = 6  # columns that a table may have got since its first version


def rows(db: sqlite3.Connection, table: str, columns: str, leaves: Sequence[Leaf]) -> Iterator[Row]:
    """The rows of a table that can be read, in order. `leaves` are all pages with rows in the file, whosever they are.

    Each row is asked for by its number: where a page is damaged, SQLite ends a walk over many of them early, with an
    error or without a word.
    """
    numbers = _numbers(db, table, leaves)
    query = f"select rowid, {columns} from {table} where rowid between ? and ?"
    for start in range(0, len(numbers), _ROWS_AT_ONCE):
        some = numbers[start : start + _ROWS_AT_ONCE]
        # More than one may have the same number where a page is damaged.
        found: dict[int, list[Row]] = {}
        with suppress(*UNREADABLE):
            for row in db.execute(query, (some[0], some[-1])):
                found.setdefault(row[0], []).append(row[1:])
        for number in some:
            yield from found.get(number) or _one(db, table, columns, number)


def _one(db: sqlite3.Connection, table: str, columns: str, number: int) -> Iterator[Row]:
    try:
        yield from db.execute(f"select {columns} from {table} where rowid = ?", (number,)).fetchall()
    except UNREADABLE:
        yield from _in_pieces(db, table, columns, number)


def _in_pieces(db: sqlite3.Connection, table: str, columns: str, number: int) -> Iterator[Row]:
    """A row of which the end lies on a page that is lost, as a long one does on several: nothing for what is lost."""
    found: list[Any] = []
    for column in columns.split(", "):
        try:
            row = db.execute(f"select {column} from {table} where rowid = ?", (number,)).fetchone()
        except UNREADABLE:
            row = None
        if row is None and not found:  # no way leads there at all
            return
        found.append(row[0] if row else None)
    yield tuple(found)


def rows_for(db: sqlite3.Connection, query: str, keys: list[str]) -> Iterator[Row]:
    """Rows looked up by key, leaving out the keys that lead to a damaged page."""
    for key in keys:
        try:
            yield from db.execute(query, (key,)).fetchall()
        except UNREADABLE:
            continue


def rows_from_both_ends(db: sqlite3.Connection, query: str, key: str) -> list[Row]:
    """For tables without row numbers: forwards to the first damaged page, and backwards to the last."""
    found: dict[Row, None] = {}
    for order in ("asc", "desc"):
        try:
            for row in db.execute(f"{query} order by {key} {order}"):
                found[row] = None
        except UNREADABLE:
            continue
        break
    return list(found)


def count_of(db: sqlite3.Connection, table: str) -> int | None:
    """How many rows there were, if an index that knows it can still be read."""
    try:
        return int(db.execute(f"select count(*) from {table}").fetchone()[0])
    except UNREADABLE:
        return None


def _numbers(db: sqlite3.Connection, table: str, leaves: Sequence[Leaf]) -> list[int]:
    """The numbers that rows of this table may have: those on pages with rows as wide as its own."""
    try:
        width = len(db.execute("select name from pragma_table_info(?)", (table,)).fetchall())
    except UNREADABLE:
        return []
    # Rows that were written before a column was added are shorter.
    there = sorted({number for leaf in leaves if width - _ADDED <= leaf.columns <= width for number in leaf.numbers})
    found: list[int] = []
    for number in there:
        # Where a page is damaged, SQLite may find a row whose number nobody else can read.
        before = found[-1] if found else max(number - _GAP, 0)
        found += range(before + 1 if number - before <= _GAP else number, number + 1)
    return found + [found[-1] + more for more in range(1, _GAP) if found]
