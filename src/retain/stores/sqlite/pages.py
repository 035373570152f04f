"""Pages of SQLite's file format, as far as a repair has to know them: https://www.sqlite.org/fileformat2.html."""

import sqlite3
from array import array
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

LEAF = b"\r"  # the first byte of a page with rows of a table
_HEADER = 100  # bytes before the first page's own content
_SIZES = {1: 65_536} | {1 << n: 1 << n for n in range(9, 16)}
_FEWEST_BYTES = 6  # that a row takes, with the pointer to it
_MOST = 1 << 62
_BRANCH = 5  # the first byte of a page that leads to others


@dataclass(frozen=True, slots=True)
class Leaf:
    """A page with rows of a table: how many columns most of those have that make sense, and the numbers of these."""

    page: int
    columns: int
    numbers: "array[int]"


def page_size(file: Path) -> int:
    """0 when the header names a size that there is not."""
    with file.open("rb") as opened:
        return _SIZES.get(int.from_bytes(opened.read(18)[16:18], "big"), 0)


def empty_first(size: int, pages: int) -> bytes:
    """The first page of a database without tables that has so many pages."""
    with TemporaryDirectory() as folder:
        with closing(sqlite3.connect(Path(folder) / "empty.db", isolation_level=None)) as db:
            db.execute(f"pragma page_size = {size}")
            db.execute("pragma user_version = 1")
        page = (Path(folder) / "empty.db").read_bytes()[:size]
    return page[:28] + pages.to_bytes(4, "big") + page[32:]


def as_ordinary(first: bytes) -> bytes:
    """The first page as it would be anywhere else: there is no header before its content."""
    cells = int.from_bytes(first[_HEADER + 3 : _HEADER + 5], "big")
    length = min((12 if first[_HEADER] == _BRANCH else 8) + 2 * cells, len(first) - _HEADER)
    return first[_HEADER : _HEADER + length] + first[length:]


def leaves(file: Path) -> list[Leaf]:
    """All pages with rows that make sense, whether a way leads to them or not."""
    size, found = page_size(file), []
    with file.open("rb") as opened:
        for number, page in enumerate(iter(lambda: opened.read(size), b""), start=1):
            if page[:1] == LEAF and (leaf := _leaf(number, page)):
                found.append(leaf)
    return found


def _leaf(number: int, page: bytes) -> Leaf | None:
    cells = min(int.from_bytes(page[3:5], "big"), len(page) // _FEWEST_BYTES)
    widths, numbers = Counter[int](), array("q")
    for cell in range(cells):
        with suppress(IndexError):
            row, wide = _row(page, page[8 + 2 * cell : 10 + 2 * cell])
            if 0 < row < _MOST:
                widths[wide] += 1
                numbers.append(row)
    return Leaf(number, widths.most_common(1)[0][0], numbers) if numbers else None


def _row(page: bytes, pointer: bytes) -> tuple[int, int]:
    """The number of a row and how many columns it has; IndexError where it makes no sense."""
    _, place = _number(page, int.from_bytes(pointer, "big"))
    row, place = _number(page, place)
    length, begin = _number(page, place)
    columns, end = 0, place + length
    while begin < end:
        _, begin = _number(page, begin)
        columns += 1
    return row, columns


def _number(page: bytes, place: int) -> tuple[int, int]:
    """A number of up to nine bytes, and the place after it."""
    number = 0
    for length in range(9):
        byte = page[place + length]
        if length == 8:
            return number << 8 | byte, place + 9
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, place + length + 1
    raise IndexError(place)
