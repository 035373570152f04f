"""A marked section in somebody else's text: found, replaced, added and removed without touching a byte around it."""

import re
from dataclasses import dataclass

from retain.domain.echo import CLAUDE_MD
from retain.errors import Refused

START, END = (marker.encode() for marker in CLAUDE_MD)
BOM = b"\xef\xbb\xbf"
_MARKER = re.compile(rb"<!--\s*MEMORY:(START|END)\s*-->")
_QUOTED = re.compile(rb"(`+)(?:(?!\1).)*\1")
_FENCE = re.compile(rb"\s*(?:>\s*)*(?:[-+*]\s+|\d+[.)]\s+)?(`{3,}|~{3,})(.*)")


@dataclass(frozen=True, slots=True)
class Found:
    """Where a section lies: bytes up to and with the line of its first marker, and from that of its last one on."""

    before: bytes
    between: bytes
    after: bytes


def replaced(raw: bytes, section: str) -> bytes:
    """The text with this in its section, which is added at the end if there is none and there is something to say.

    The same object comes back when nothing changes: also when the section differs in blank lines only, as it does
    once a formatter has passed over it.
    """
    found = find(raw)
    if found is None:
        return _with_new(raw, section) if section else raw
    if _said(found.between) == _said(section.encode()):
        return raw
    newline = _newline(found.before)
    return found.before + _lines(section, newline) + found.after


def removed(raw: bytes) -> bytes:
    """The text as it was before a section was added, or without the one that was moved elsewhere in it."""
    found = find(raw)
    if found is None:
        return raw
    *before, marker = found.before.splitlines(keepends=True)
    last, *after = found.after.splitlines(keepends=True)
    if marker.startswith(BOM):
        return BOM + b"".join(after)
    if before and not before[-1].strip() and not (after and after[0].strip()):
        before.pop()
    text = b"".join(before + after)
    return text if last.endswith((b"\n", b"\r")) else text.removesuffix(_newline(found.before))


def find(raw: bytes) -> Found | None:
    """The section, if there is one; refused when its markers are not one pair, each alone on its line."""
    if b"\0" in raw or not _is_text(raw):
        raise Refused("it is not UTF-8 text")
    lines = raw.splitlines(keepends=True)
    marks = _marks(lines)
    if not marks:
        return None
    kinds = [kind for kind, _ in marks]
    if kinds != ["START", "END"]:
        raise Refused(_fault(marks))
    first, last = (number - 1 for _, number in marks)
    return Found(b"".join(lines[: first + 1]), b"".join(lines[first + 1 : last]), b"".join(lines[last:]))


def _marks(lines: list[bytes]) -> list[tuple[str, int]]:
    """Markers with the numbers of their lines; those in code are only spoken of."""
    marks: list[tuple[str, int]] = []
    fence, opened, inside = b"", 0, False
    for number, line in enumerate(lines, start=1):
        kind = _marker(line, number) if not fence else None
        if kind:
            marks.append((kind, number))
            inside = kind == "START"
        elif not inside:
            fence, opened = _fenced(line, fence, opened, number)
    if fence and (not marks or any(map(_MARKER.search, lines[opened:]))):
        raise Refused(f"the code block that begins in line {opened} is never closed, and would swallow the section")
    return marks


def _marker(line: bytes, number: int) -> str | None:
    """Which marker a line is; one that shares its line with other text is refused, unless it is quoted as code."""
    bare = line.removeprefix(BOM).strip()
    if alone := _MARKER.fullmatch(bare):
        return alone[1].decode()
    if _MARKER.search(_QUOTED.sub(b"", bare)):
        raise Refused(f"the marker in line {number} is not alone on its line")
    return None


def _fenced(line: bytes, fence: bytes, opened: int, number: int) -> tuple[bytes, int]:
    """The fence of the code block that the next line is in, if any, and where that began."""
    found = _FENCE.match(line.rstrip())
    if found is None:
        return fence, opened
    marks, rest = found[1], found[2].strip()
    if not fence:
        # A line of backticks with others after them is code in a sentence.
        return (b"", 0) if marks[:1] == b"`" and b"`" in rest else (marks, number)
    closes = marks[:1] == fence[:1] and len(marks) >= len(fence) and not rest
    return (b"", 0) if closes else (fence, opened)


def _fault(marks: list[tuple[str, int]]) -> str:
    lines = {kind: [number for each, number in marks if each == kind] for kind in ("START", "END")}
    for kind, other in (("START", "END"), ("END", "START")):
        if not lines[other]:
            return f"it has {_at(kind, lines[kind])} and no MEMORY:{other}"
    if len(marks) == 2:
        return f"{_at('END', lines['END'])} comes before {_at('START', lines['START'])}"
    return f"it has {_at('START', lines['START'])} and {_at('END', lines['END'])}, where there must be one pair"


def _at(kind: str, numbers: list[int]) -> str:
    return f"MEMORY:{kind} in line{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"


def _with_new(raw: bytes, section: str) -> bytes:
    """After a blank line; whether the text ends with a newline stays as it was."""
    newline = _newline(raw)
    block = START + newline + _lines(section, newline) + END
    if not raw.removeprefix(BOM):
        return raw + block + newline
    ends = raw.endswith((b"\n", b"\r"))
    return raw + newline + block + newline if ends else raw + 2 * newline + block


def _lines(section: str, newline: bytes) -> bytes:
    return b"".join(line.encode() + newline for line in section.split("\n")) if section else b""


def _newline(raw: bytes) -> bytes:
    """How its last line ends that does."""
    endings = re.findall(rb"\r\n|\n|\r", raw)
    return endings[-1] if endings else b"\n"


def _said(section: bytes) -> list[bytes]:
    return [line.strip() for line in section.splitlines() if line.strip()]


def _is_text(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
