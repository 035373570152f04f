"""What a glob of an ignore file means to git, as a regular expression that no path makes slow."""

import re

# Git matches bytes, so `?` is one byte of an `é`. Latin-1 gives every byte a character of its own.
_CLASSES = {
    "alnum": str.isalnum,
    "alpha": str.isalpha,
    "blank": lambda c: c in " \t",
    "cntrl": lambda c: ord(c) < 32 or ord(c) == 127,
    "digit": str.isdigit,
    "graph": lambda c: 32 < ord(c) < 127,
    "lower": str.islower,
    "print": lambda c: 32 <= ord(c) < 127,
    "punct": lambda c: 32 < ord(c) < 127 and not c.isalnum(),
    "space": lambda c: c in " \t\n\r",
    "upper": str.isupper,
    "xdigit": lambda c: c in "0123456789abcdefABCDEF",
}
_ASCII = [chr(n) for n in range(128)]
WILD = re.compile(r"[*?\[\\]")
_TOKEN = re.compile(r"\*+|\\.|[^\\]", re.DOTALL)
_STAR, _ALL = "[^/]*?", ".*"
_FOLDERS, _SOME_FOLDERS = "(?:[^/]*+/)*?", "(?:[^/]*+/)+?"


class Malformed(ValueError):
    """A pattern that git reads without complaint and that matches nothing."""


def translate(glob: str, *, by_path: bool) -> str:
    """A regular expression for a glob. By path, only `**` between slashes matches a slash.

    No path makes it slow: what follows a star, or `**/`, is taken where it is found first, and is not tried elsewhere
    once the next star, or the next `**/`, is reached. What comes later has the more room the earlier that was, so no
    match is lost.
    """
    parts: list[str] = []
    star: int | None = None  # where the last star of this step of the path is
    folders: int | None = None  # where the last `**/` is
    position = 0
    while position < len(glob):
        piece, length = _piece(glob, position, by_path=by_path)
        if piece == _STAR:
            _settle(parts, star)
            star = len(parts)
        elif piece in (_FOLDERS, _SOME_FOLDERS):
            _settle(parts, folders)
            star, folders = None, len(parts)
        elif piece in ("/", _ALL):
            star = None
        parts.append(piece)
        position += length
    return "".join(parts)


def _settle(parts: list[str], since: int | None) -> None:
    """Makes what was found for the parts from a place on final."""
    if since is not None:
        parts[since] = "(?>" + parts[since]
        parts.append(")")


def _piece(glob: str, position: int, *, by_path: bool) -> tuple[str, int]:
    """What stands at a position, as a regular expression, and how long it is in the glob."""
    match = _TOKEN.match(glob, position)
    if match is None:
        raise Malformed(glob)  # a backslash with nothing behind it
    token = match[0]
    if token[0] == "*":
        return _stars(glob, position, token) if by_path else (_STAR, len(token))
    if token == "?":
        return "[^/]", 1
    if token == "[":
        return _set(glob, position)
    return re.escape(token[-1]), len(token)


def _stars(glob: str, position: int, stars: str) -> tuple[str, int]:
    after = position + len(stars)
    # Git takes what stands before the first wildcard off the pattern, so behind that `**` is at its beginning too.
    begins = position == 0 or glob[position - 1] == "/" or not WILD.search(glob, 0, position)
    if len(stars) < 2 or not begins or not (after == len(glob) or glob.startswith(("/", "\\/"), after)):
        return _STAR, len(stars)
    if after == len(glob):
        return _ALL, len(stars)
    return (_FOLDERS, len(stars) + 1) if glob[after] == "/" else (_SOME_FOLDERS, len(stars) + 2)


def _set(glob: str, start: int) -> tuple[str, int]:
    """`[a-z]`, `[!a]`, `[[:digit:]]`: as a set that never holds a slash."""
    position = start + 1
    negated = glob[position : position + 1] in ("!", "^")
    position += negated
    chosen: set[str] = set()
    previous = ""
    first = position
    while position == first or glob[position : position + 1] != "]":
        previous, position = _member(glob, position, previous, chosen)
    if negated:
        return f"[^{_listed(chosen | {'/'})}]", position + 1 - start
    listed = _listed(chosen - {"/"})
    return (f"[{listed}]" if listed else "(?!)"), position + 1 - start


def _listed(chosen: set[str]) -> str:
    """Characters as in a set of a regular expression, neighbours as a range: six bytes may name all there are."""
    ranges: list[list[int]] = []
    for code in sorted(map(ord, chosen)):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"\\x{first:02x}-\\x{last:02x}" for first, last in ranges)


def _member(glob: str, position: int, previous: str, chosen: set[str]) -> tuple[str, int]:
    """Adds what stands at a position of a set; answers what a range could begin with, and where it goes on."""
    one = glob[position : position + 1]
    if one == "[" and glob.startswith("[:", position):
        close = glob.find("]", position + 2)
        if close < 0:
            raise Malformed(glob)
        if glob[close - 1] == ":" and close - position > 2:
            return "", _add_class(glob[position + 2 : close - 1], close, chosen)
    if one == "-" and previous and glob[position + 1 : position + 2] not in ("", "]"):
        end, position = _escaped(glob, position + 1)
        chosen.update(map(chr, range(ord(previous), ord(end) + 1)))
        return "", position
    one, position = _escaped(glob, position)
    chosen.add(one)
    return one, position


def _add_class(name: str, close: int, chosen: set[str]) -> int:
    if name not in _CLASSES:
        raise Malformed(name)
    chosen.update(filter(_CLASSES[name], _ASCII))
    return close + 1


def _escaped(glob: str, position: int) -> tuple[str, int]:
    """One character of a set, and what is behind it."""
    position += glob.startswith("\\", position)
    if position >= len(glob):
        raise Malformed(glob)
    return glob[position], position + 1
