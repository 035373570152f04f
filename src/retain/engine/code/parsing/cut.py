"""Lines cut into pieces that fit: between statements, else between lines, else inside of a line."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from retain.engine.code.parsing.source import Rows, Source

if TYPE_CHECKING:
    from tree_sitter import Node

# A vector is made of 256 tokens, which is about 1,000 characters of code; a piece of twice that is still one
# thought, and search by words reads all of it.
LIMIT = 2_000

# What is left at the end is no piece of its own below this share of the limit: it is mostly a closing brace.
_CRUMB = 10

# Statements within statements are looked into this deep, then lines decide; each step is a call.
_DEPTH = 40

Size = Callable[[int, int], int]


@dataclass(frozen=True, slots=True)
class Piece:
    """Some of the lines of a file, counted from 0, and what they say."""

    first: int
    last: int
    text: str


def cut_code(source: Source, rows: Rows, node: Node, dropped: Collection[int] = ()) -> list[Piece]:
    """Pieces of the code in `rows`, cut where a statement inside of `node` begins. `dropped` lines are left out."""
    size = _sizes(source.lines, rows, dropped)
    parts = [rows] if size(*rows) <= LIMIT else _statements(source, rows, node, size, _DEPTH)
    return _packed(source.lines, parts, size, dropped)


def cut_text(lines: Sequence[str], rows: Rows) -> list[Piece]:
    """Pieces of the text in `rows`, cut between paragraphs."""
    return _packed(lines, _paragraphs(lines, rows), _sizes(lines, rows, ()), ())


def _sizes(lines: Sequence[str], rows: Rows, dropped: Collection[int]) -> Size:
    first, last = rows
    lengths = (0 if row in dropped else len(lines[row]) + 1 for row in range(first, last + 1))
    sums = list(accumulate(lengths, initial=0))
    return lambda start, end: sums[end + 1 - first] - sums[start - first]


def _statements(source: Source, rows: Rows, node: Node, size: Size, depth: int) -> Iterator[Rows]:
    for part, child in _split(source, rows, node):
        if child is None or depth == 0 or size(*part) <= LIMIT:
            yield part
        else:
            yield from _statements(source, part, child, size, depth - 1)


def _split(source: Source, rows: Rows, node: Node) -> Iterator[tuple[Rows, Node | None]]:
    """The rows at each child that begins a line, with the largest child that begins there.

    A child alone on all rows is replaced by its own children. A comment stays with what follows it.
    """
    start, largest, comment_end = rows[0], None, -1
    for child in node.named_children:
        row, end = source.row(child), source.end_row(child)
        if end < rows[0]:
            continue
        if start < row <= rows[1] and row != comment_end + 1:
            yield (start, row - 1), largest
            start, largest = row, None
        if row <= rows[1] and (largest is None or _length(child) > _length(largest)):
            largest = child
        if "comment" in child.type and source.has_line(child):
            comment_end = end
    yield (start, rows[1]), largest


def _length(node: Node) -> int:
    return node.end_byte - node.start_byte


def _paragraphs(lines: Sequence[str], rows: Rows) -> Iterator[Rows]:
    start, blank = rows[0], False
    for row in range(rows[0], rows[1] + 1):
        empty = not lines[row].strip()
        if blank and not empty:
            yield start, row - 1
            start = row
        blank = empty
    yield start, rows[1]


def _packed(lines: Sequence[str], parts: Iterable[Rows], size: Size, dropped: Collection[int]) -> list[Piece]:
    pieces: list[Piece] = []
    for first, last in _groups(_small(parts, size), size):
        if size(first, last) > LIMIT * (_CRUMB + 1) // _CRUMB:
            pieces += (Piece(first, last, text) for text in _slices(lines[first]))
        else:
            pieces += _piece(lines, [row for row in range(first, last + 1) if row not in dropped])
    return pieces


def _small(parts: Iterable[Rows], size: Size) -> Iterator[Rows]:
    """The parts, those that are too long line by line."""
    for first, last in parts:
        if size(first, last) <= LIMIT:
            yield first, last
        else:
            yield from ((row, row) for row in range(first, last + 1))


def _groups(parts: Iterable[Rows], size: Size) -> list[Rows]:
    """Neighbours put together as far as they fit."""
    groups: list[Rows] = []
    for first, last in parts:
        if groups and size(groups[-1][0], last) <= LIMIT:
            groups[-1] = (groups[-1][0], last)
        else:
            groups.append((first, last))
    if len(groups) > 1 and _is_crumb(groups[-2], groups[-1], size):
        groups[-2:] = [(groups[-2][0], groups[-1][1])]
    return groups


def _is_crumb(before: Rows, last: Rows, size: Size) -> bool:
    return size(*last) <= LIMIT // _CRUMB and size(*before) <= LIMIT


def _piece(lines: Sequence[str], rows: list[int]) -> list[Piece]:
    """One piece of these rows without the blank ones at both ends; none if all are blank."""
    full = [index for index, row in enumerate(rows) if lines[row].strip()]
    if not full:
        return []
    kept = rows[full[0] : full[-1] + 1]
    return [Piece(kept[0], kept[-1], "\n".join(lines[row] for row in kept))]


def _slices(line: str) -> list[str]:
    return [line[start : start + LIMIT] for start in range(0, len(line), LIMIT)]
