"""Which paths are left out: git's ignore rules, and `.memoryignore` with the same syntax and the last word."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

GIT = ".gitignore"
OWN = ".memoryignore"

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
_TOKEN = re.compile(r"\*+|\\.|[^\\]", re.DOTALL)
_STAR, _FOLDERS, _ALL = "[^/]*?", "(?:.*/)?", ".*"


class Malformed(ValueError):
    """A pattern that git reads without complaint and that matches nothing."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of an ignore file; `by_path` ones are matched from the file's folder, others by name at any depth."""

    regex: str
    negated: bool
    only_folders: bool
    by_path: bool


class Rules:
    """The patterns of one ignore file. The last one that matches a path decides about it."""

    def __init__(self, data: bytes, *, above: str = "", below: str = "") -> None:
        """The file lies in `below` the root of the walk, or in a folder from which `above` leads to that root."""
        self._above, self._skip = above, len(below)
        patterns = list(_patterns(data))
        self._each = [(one, re.compile(one.regex, re.DOTALL)) for one in reversed(patterns)]
        # One look with all of them tells for most paths that none matches.
        self._names = _any_of([one.regex for one in patterns if not one.by_path])
        self._paths = _any_of([one.regex for one in patterns if one.by_path])

    def __bool__(self) -> bool:
        return bool(self._each)

    def verdict(self, path: str, name: str, *, is_folder: bool) -> bool | None:
        """True: ignored; False: expressly not; None: nothing is said about it."""
        path = self._above + path[self._skip :]
        if not (self._names and self._names.fullmatch(name)) and not (self._paths and self._paths.fullmatch(path)):
            return None
        for pattern, regex in self._each:
            if (is_folder or not pattern.only_folders) and regex.fullmatch(path if pattern.by_path else name):
                return not pattern.negated
        return None


@dataclass(frozen=True, slots=True)
class Ignoring:
    """The rules that hold in one folder; those of deeper files come later and count first."""

    git: tuple[Rules, ...] = ()
    own: tuple[Rules, ...] = ()

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """About a path from the root of the walk. Whoever ignores a folder must not look into it."""
        path = path if path.isascii() else os.fsencode(path).decode("latin-1")
        name = path[path.rfind("/") + 1 :]
        for rules in (*reversed(self.own), *reversed(self.git)):
            said = rules.verdict(path, name, is_folder=is_folder)
            if said is not None:
                return said
        return None

    def within(self, root: Path, folder: str) -> "Ignoring":
        """With the ignore files of a folder, given from the root; one that cannot be read says nothing."""
        below = f"{folder}/" if folder else ""
        git, own = _rules(root / folder / GIT, below=below), _rules(root / folder / OWN, below=below)
        return Ignoring((*self.git, *git), (*self.own, *own)) if git or own else self


def repository(root: Path) -> Path | None:
    """The checkout that a folder is in, if any."""
    return next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), None)


def around(root: Path) -> Ignoring:
    """What holds at a root before its own files: the excludes of its repository, and the files above it in there."""
    top = repository(root)
    if top is None:
        return Ignoring()
    steps = root.relative_to(top).parts
    found = Ignoring(_rules(_git_dir(top) / "info" / "exclude", above="".join(f"{step}/" for step in steps)))
    for depth in range(len(steps)):
        folder, above = top.joinpath(*steps[:depth]), "".join(f"{step}/" for step in steps[depth:])
        found = replace(
            found,
            git=(*found.git, *_rules(folder / GIT, above=above)),
            own=(*found.own, *_rules(folder / OWN, above=above)),
        )
    return found


class Lookup:
    """Answers for single paths; each folder's files are read once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folders: dict[str, Ignoring] = {}

    @cached_property
    def _around(self) -> Ignoring:
        return around(self._root)

    def ignored(self, path: str, *, is_folder: bool = False) -> bool:
        """Whether a path, or a folder on the way to it, is ignored."""
        steps = path.split("/")
        for depth in range(1, len(steps) + 1):
            part = "/".join(steps[:depth])
            rules = self._in("/".join(steps[: depth - 1]))
            if rules.verdict(part, is_folder=is_folder or depth < len(steps)):
                return True
        return False

    def _in(self, folder: str) -> Ignoring:
        if folder not in self._folders:
            outer = self._in(folder.rpartition("/")[0]) if folder else self._around
            self._folders[folder] = outer.within(self._root, folder)
        return self._folders[folder]


def _rules(file: Path, *, above: str = "", below: str = "") -> tuple[Rules, ...]:
    try:
        data = file.read_bytes()
    except OSError:
        return ()
    above, below = (os.fsencode(part).decode("latin-1") for part in (above, below))
    rules = Rules(data, above=above, below=below)
    return (rules,) if rules else ()


def _git_dir(top: Path) -> Path:
    """Where a checkout has its repository: a worktree names it in a file, and shares it with the main checkout."""
    marker = top / ".git"
    try:
        own = (top / marker.read_text().removeprefix("gitdir:").strip()).resolve() if marker.is_file() else marker
        shared = own / "commondir"
        return (own / shared.read_text().strip()).resolve() if shared.is_file() else own
    except (OSError, UnicodeDecodeError):
        return marker


def _patterns(data: bytes) -> Iterator[Pattern]:
    text = data.removeprefix(b"\xef\xbb\xbf").decode("latin-1")
    for line in text.split("\n"):
        if line and not line.startswith("#"):
            try:
                yield _pattern(_without_trailing_spaces(line.removesuffix("\r")))
            except Malformed:
                continue


def _pattern(line: str) -> Pattern:
    negated = line.startswith("!")
    line = line.removeprefix("!")
    only_folders = line.endswith("/")
    line = line.removesuffix("/")
    if not line:
        raise Malformed
    by_path = "/" in line
    return Pattern(translate(line.removeprefix("/"), by_path=by_path), negated, only_folders, by_path)


def _without_trailing_spaces(line: str) -> str:
    """Spaces at the end mean nothing, unless the first of them is escaped."""
    kept = line.rstrip(" ")
    backslashes = len(kept) - len(kept.rstrip("\\"))
    return kept + " " if backslashes % 2 and kept != line else kept


def translate(glob: str, *, by_path: bool) -> str:
    """A regular expression for a glob. By path, only `**` between slashes matches a slash.

    No name makes it slow: between two stars of one step, what is found first is taken, and not tried elsewhere.
    """
    parts: list[str] = []
    star: int | None = None  # where the last star of this step of the path is
    position = 0
    while position < len(glob):
        piece, length = _piece(glob, position, by_path=by_path)
        if piece == _STAR:
            if star is not None:
                parts[star] = "(?>" + _STAR
                parts.append(")")
            star = len(parts)
        elif piece in ("/", _FOLDERS, _ALL):
            star = None
        parts.append(piece)
        position += length
    return "".join(parts)


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
    begins = position == 0 or glob[position - 1] == "/"
    if len(stars) < 2 or not begins or not (after == len(glob) or glob.startswith(("/", "\\/"), after)):
        return _STAR, len(stars)
    return (_FOLDERS, len(stars) + 1) if glob.startswith("/", after) else (_ALL, len(stars))


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
    chosen = {chr(n) for n in range(256)} - chosen if negated else chosen
    listed = "".join(re.escape(c) for c in sorted(chosen - {"/"}))
    return (f"[{listed}]" if listed else "(?!)"), position + 1 - start


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


def _any_of(regexes: list[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(f"(?:{regex})" for regex in regexes), re.DOTALL) if regexes else None
