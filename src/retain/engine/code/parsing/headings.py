"""Markdown cut by its headings."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from retain.domain.code import Chunk, ChunkKind
from retain.engine.code.parsing.cut import LIMIT, cut_text

# A section below this size is put together with the ones that follow it under the same heading.
_TINY = 200

_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})(.*)$")
_ATX = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r"^ {0,3}(=+|-{2,})[ \t]*$")
_PARAGRAPH = re.compile(r"^ {0,3}(?![#>|<=`~+*-]|\d+[.)]\s)\S")


@dataclass(frozen=True, slots=True)
class _Section:
    """Lines from a heading to the one before the next, counted from 0; `empty` when nothing stands below it."""

    name: str
    level: int
    above: tuple[str, ...]
    first: int
    last: int
    size: int
    empty: bool


def sections(lines: Sequence[str], file_name: str) -> Iterator[Chunk]:
    """One chunk for each section, named by its heading; its parent is what stands above, joined by dots.

    A heading without text goes with the first section below it, tiny neighbours go together under the name of
    the first, and what is long is cut between paragraphs. What comes before all headings is named by the file.
    """
    for section in _packed(list(_sections(lines, file_name))):
        for part, piece in enumerate(cut_text(lines, (section.first, section.last))):
            yield Chunk(
                ChunkKind.SECTION,
                section.name,
                piece.first + 1,
                piece.last + 1,
                piece.text,
                parent=".".join(section.above),
                part=part,
            )


def _sections(lines: Sequence[str], file_name: str) -> Iterator[_Section]:
    headings = [(0, 0, 0, file_name), *_headings(lines)]
    above: list[tuple[int, str]] = []
    for place, (row, below, level, name) in enumerate(headings):
        last = headings[place + 1][0] - 1 if place + 1 < len(headings) else len(lines) - 1
        above = [(depth, title) for depth, title in above if depth < level]
        size = sum(len(line) + 1 for line in lines[row : last + 1])
        empty = not any(line.strip() for line in lines[below : last + 1])
        if level or not empty:
            yield _Section(name, level, tuple(title for _, title in above), row, last, size, empty)
        if level:
            above.append((level, name))


def _headings(lines: Sequence[str]) -> Iterator[tuple[int, int, int, str]]:
    """Row of each heading, row below it, level and text."""
    fence = ""
    for row in range(_front_matter(lines), len(lines)):
        line = lines[row]
        mark = _FENCE.match(line)
        if mark:
            fence = _after(fence, mark[1], mark[2])
        elif not fence:
            yield from _heading(lines, row)


def _after(fence: str, mark: str, rest: str) -> str:
    """The fence that is open after a line of marks: a longer or equal one of its kind, and nothing else, closes it."""
    if not fence:
        return "" if mark[0] == "`" and "`" in rest else mark
    return "" if mark.startswith(fence) and not rest.strip() else fence


def _heading(lines: Sequence[str], row: int) -> Iterator[tuple[int, int, int, str]]:
    atx = _ATX.match(lines[row])
    if atx:
        yield row, row + 1, len(atx[1]), (atx[2] or "").strip() or atx[1]
        return
    below = _SETEXT.match(lines[row + 1]) if row + 1 < len(lines) else None
    alone = row == 0 or not _PARAGRAPH.match(lines[row - 1])
    if below and alone and _PARAGRAPH.match(lines[row]):
        yield row, row + 2, 1 if below[1][0] == "=" else 2, lines[row].strip()


def _front_matter(lines: Sequence[str]) -> int:
    """The row after the block of settings that a file may begin with."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    return next((row + 1 for row in range(1, len(lines)) if lines[row].rstrip() in ("---", "...")), 0)


def _packed(sections: list[_Section]) -> Iterator[_Section]:
    held: _Section | None = None
    for section in sections:
        joined = _joined(held, section) if held else section
        if joined is None and held:
            yield held
        held = joined or section
    if held:
        yield held


def _joined(held: _Section, next: _Section) -> _Section | None:
    size = held.size + next.size
    if size > LIMIT or not held.level:
        return None
    if held.empty and next.level > held.level:
        return _Section(next.name, next.level, next.above, held.first, next.last, size, next.empty)
    if max(held.size, next.size) <= _TINY and next.level == held.level and next.above == held.above:
        return _Section(held.name, held.level, held.above, held.first, next.last, size, held.empty and next.empty)
    return None
