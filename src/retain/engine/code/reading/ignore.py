"""Which paths are left out: git's ignore rules, and `.memoryignore` with the same syntax and the last word."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from retain.engine.code.reading.globs import WILD, Malformed, translate
from retain.engine.code.reading.opening import opened

GIT = ".gitignore"
OWN = ".memoryignore"

# Ignore files come with a repository, and whoever wrote it may wish us ill. Long lists of plain names cost next to
# nothing; a wildcard is translated (about 20 µs a byte) and tried on every path.
LARGEST = 1 << 20  # bytes of a file
LONGEST = 1000  # bytes of a pattern
WILDCARDS = 1 << 16  # bytes of all patterns of a file that have a wildcard: some 2,000 of them
# No match gives other threads a turn before it ends, so patterns are tried in portions of so many characters.
_PORTION = 4000


class TooMuch(ValueError):
    """An ignore file over the bounds, with the reason."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of an ignore file; `by_path` ones are matched from the file's folder, others by name at any depth."""

    glob: str
    negated: bool
    only_folders: bool
    by_path: bool

    @property
    def is_wild(self) -> bool:
        return WILD.search(self.glob) is not None


class Table:
    """Patterns that are all matched by name, or all by path: which of them was the last to match?"""

    def __init__(self, patterns: list[tuple[int, Pattern]]) -> None:
        self._plain = {pattern.glob: place for place, pattern in patterns if not pattern.is_wild}
        self._portions = list(_portions(patterns))

    def last(self, text: str) -> int:
        """The place of the last pattern that matches; -1 if none does."""
        place = self._plain.get(text, -1)
        for portion in self._portions:
            # One look with all of them tells for most paths that none matches.
            if portion.places[0] > place and portion.any.fullmatch(text):
                return max(place, portion.last(text))
        return place


class Portion:
    """Some patterns with wildcards, the last one first."""

    def __init__(self, patterns: list[tuple[int, str]]) -> None:
        self.places = [place for place, _ in patterns]
        self._regexes = [regex for _, regex in patterns]
        self.any = re.compile("|".join(f"(?:{regex})" for regex in self._regexes), re.DOTALL)

    @cached_property
    def _each(self) -> list[re.Pattern[str]]:
        return [re.compile(regex, re.DOTALL) for regex in self._regexes]

    def last(self, text: str) -> int:
        return next(place for place, regex in zip(self.places, self._each, strict=True) if regex.fullmatch(text))


class Tables:
    """Patterns that are matched by name, and those that are matched by path."""

    def __init__(self, patterns: list[tuple[int, Pattern]]) -> None:
        self._names = Table([(place, one) for place, one in patterns if not one.by_path])
        self._paths = Table([(place, one) for place, one in patterns if one.by_path])

    def last(self, path: str, name: str) -> int:
        return max(self._names.last(name), self._paths.last(path))


class Rules:
    """The patterns of one ignore file. The last one that matches a path decides about it."""

    def __init__(self, data: bytes, *, above: str = "", below: str = "") -> None:
        """The file lies in `below` the root of the walk, or in a folder from which `above` leads to that root.

        Raises `TooMuch` for a file over the bounds.
        """
        self._above, self._skip = above, len(below)
        self._patterns = _within_bounds(data)
        placed = list(enumerate(self._patterns))
        self._for_all = Tables([(place, one) for place, one in placed if not one.only_folders])
        self._for_folders = Tables([(place, one) for place, one in placed if one.only_folders])

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def verdict(self, path: str, name: str, *, is_folder: bool) -> bool | None:
        """True: ignored; False: expressly not; None: nothing is said about it."""
        path = self._above + path[self._skip :]
        place = self._for_all.last(path, name)
        if is_folder:
            place = max(place, self._for_folders.last(path, name))
        return None if place < 0 else not self._patterns[place].negated


@dataclass(frozen=True, slots=True)
class Ignoring:
    """The rules that hold in one folder; those of deeper files come later and count first."""

    git: tuple[Rules, ...] = ()
    own: tuple[Rules, ...] = ()
    refused: str = ""
    """Which file is over the bounds, and why. Nobody can tell what it wants left out, so all of its folder is."""

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """About a path from the root of the walk. Whoever ignores a folder must not look into it."""
        if self.refused:
            return True
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
        return self.joined(root / folder, below=below)

    def joined(self, folder: Path, *, above: str = "", below: str = "") -> "Ignoring":
        try:
            git, own = (_rules(folder / name, above=above, below=below) for name in (GIT, OWN))
        except TooMuch as error:
            return replace(self, refused=str(error))
        return replace(self, git=(*self.git, *git), own=(*self.own, *own)) if git or own else self


def repository(root: Path) -> Path | None:
    """The checkout that a folder is in, if any."""
    return next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), None)


def around(root: Path) -> Ignoring:
    """What holds at a root before its own files: the excludes of its repository, and the files above it in there."""
    top = repository(root)
    if top is None:
        return Ignoring()
    steps = root.relative_to(top).parts
    try:
        excludes, above = _git_dir(top) / "info" / "exclude", "".join(f"{step}/" for step in steps)
        found = Ignoring(_rules(excludes, above=above, through_links=True))
    except TooMuch as error:
        return Ignoring(refused=str(error))
    for depth in range(len(steps)):
        found = found.joined(top.joinpath(*steps[:depth]), above="".join(f"{step}/" for step in steps[depth:]))
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


def _rules(file: Path, *, above: str = "", below: str = "", through_links: bool = False) -> tuple[Rules, ...]:
    """Those of a file; none if it cannot be read. Git follows no link to an ignore file of a checkout either."""
    try:
        with opened(file, through_links=through_links) as readable:
            data = readable.read(LARGEST + 1)
    except OSError:
        return ()
    above, below = (os.fsencode(part).decode("latin-1") for part in (above, below))
    try:
        rules = Rules(data, above=above, below=below)
    except TooMuch as error:
        raise TooMuch(f"{file} {error}") from None
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


def _within_bounds(data: bytes) -> list[Pattern]:
    """The patterns of a file; raises `TooMuch` when they are more than can be matched in good time."""
    if len(data) > LARGEST:
        raise TooMuch(f"is larger than {LARGEST:,} bytes")
    patterns = list(_patterns(data))
    if any(len(pattern.glob) > LONGEST for pattern in patterns):
        raise TooMuch(f"has a pattern of more than {LONGEST:,} bytes")
    if sum(len(pattern.glob) for pattern in patterns if pattern.is_wild) > WILDCARDS:
        raise TooMuch(f"has more than {WILDCARDS:,} bytes of patterns with wildcards")
    return patterns


def _portions(patterns: list[tuple[int, Pattern]]) -> Iterator[Portion]:
    portion: list[tuple[int, str]] = []
    size = 0
    for place, pattern in reversed(patterns):
        if not pattern.is_wild:
            continue
        try:
            regex = translate(pattern.glob, by_path=pattern.by_path)
        except Malformed:
            continue
        if portion and size + len(regex) > _PORTION:
            yield Portion(portion)
            portion, size = [], 0
        portion.append((place, regex))
        size += len(regex)
    if portion:
        yield Portion(portion)


def _patterns(data: bytes) -> Iterator[Pattern]:
    text = data.removeprefix(b"\xef\xbb\xbf").decode("latin-1")
    for line in text.split("\n"):
        if line and not line.startswith("#"):
            pattern = _pattern(_without_trailing_spaces(line.removesuffix("\r")))
            if pattern is not None:
                yield pattern


def _pattern(line: str) -> Pattern | None:
    negated = line.startswith("!")
    line = line.removeprefix("!")
    only_folders = line.endswith("/")
    line = line.removesuffix("/")
    return Pattern(line.removeprefix("/"), negated, only_folders, by_path="/" in line) if line else None


def _without_trailing_spaces(line: str) -> str:
    """Spaces at the end mean nothing, unless the first of them is escaped."""
    kept = line.rstrip(" ")
    backslashes = len(kept) - len(kept.rstrip("\\"))
    return kept + " " if backslashes % 2 and kept != line else kept
