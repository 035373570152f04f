"""The files of a folder that are worth indexing: finding them, and reading them as text."""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from retain.domain.code import Mark
from retain.engine.code.parsing.languages import language_of
from retain.engine.code.parsing.parse import missing_grammar
from retain.engine.code.reading import names
from retain.engine.code.reading.ignore import GIT, OWN, Ignoring, around, repository
from retain.engine.code.reading.opening import opened

# Stands in every mark. With another number, every file that was indexed before is read and cut anew.
CUT_BY = "2"
WITHOUT_GRAMMAR = "-"
MAX_BYTES = 1_000_000
HEAD = 8192
REFUSED = "ignore_file"  # the reason for a folder whose ignore file is over the bounds
# Lines of hand-written code are 30 to 40 characters long on average, of the densest below 120.
LONG_LINES = 300
_CONTROL = bytes({*range(32), 127} - set(b"\t\n\r\f\v\b\x1b"))
# In a comment at the top only: a program that writes such files has the words further down, in a string.
_GENERATED = re.compile(
    rb"^[ \t]*(?://|#|/?\*|--|;|%|<!--|\"{3})[^\n]*?(?:@generated\b|\bDO NOT (?:EDIT|MODIFY)\b|\bauto-?generated\b"
    rb"|\bgenerated (?:by|from|automatically)\b)",
    re.IGNORECASE | re.MULTILINE,
)
_TOP = 20  # lines
_CODING = re.compile(rb"(?:file)?(?:en)?coding[:=][ \t]*([-\w.]+)")
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as it was when the walk passed it; the path is from the root, with `/` between its steps."""

    path: str
    size: int
    modified: int


@dataclass(frozen=True, slots=True)
class Text:
    """What a file says, with `\\n` at the end of every line, and by what it is known again."""

    path: str
    mark: Mark
    text: str


class Skipped(Counter[str]):
    """How much a walk left out, by reason; a folder counts as one."""

    def __init__(self) -> None:
        super().__init__()
        self.refused: list[str] = []
        """Why an ignore file was not taken, and its folder was left out instead, for each of those."""

    def refuse(self, why: str) -> None:
        self[REFUSED] += 1
        self.refused.append(why)


def walk(root: Path, skipped: Skipped, beat: Callable[[], object] = lambda: None) -> Iterator[Seen]:
    """The files below a root in a fixed order; `beat` is called before each folder, also where nothing is found.

    No link is followed: what it leads to inside of the root is met under its own name, the rest is not asked for.
    Raises `OSError` when the root itself cannot be read.
    """
    outer = around(root)
    in_repository = repository(root) is not None
    folders = [("", outer)]
    while folders:
        beat()
        folder, rules = folders.pop()
        entries = _entries(root, folder, skipped)
        if any(entry.name == "pyvenv.cfg" for entry in entries):
            skipped["vendored"] += 1
            continue
        if any(entry.name in (GIT, OWN) for entry in entries):
            rules = rules.within(root, folder)
        if rules.refused:
            skipped.refuse(rules.refused)
            continue
        below = []
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            found = _look(entry, path, rules, in_repository=in_repository)
            if isinstance(found, Seen):
                yield found
            elif found is None:
                below.append((path, rules))
            elif entry.name not in names.HISTORY:  # of which nobody asks why it is left out
                skipped[found] += 1
        folders.extend(reversed(below))


def read(root: Path, path: str) -> Text | str:
    """The text of a file, or the reason why it is left out. What changes meanwhile is left to the next run."""
    try:
        with opened(root / path) as file:
            before = os.fstat(file.fileno())
            head = file.read(HEAD)
            reason = unwanted(path, head, before.st_size)
            if reason:
                return reason
            data = head + file.read(MAX_BYTES + 1)
            after = os.fstat(file.fileno())
    except FileNotFoundError:
        return "vanished"
    except OSError:
        return "unreadable"
    if len(data) != after.st_size or before.st_mtime_ns != after.st_mtime_ns:
        return "changing"
    if b"\0" in data and not _byte_order(data):
        return "binary"
    text = decoded(data)
    digest = f"{_cut_by(path, text)}:{blake2b(data, digest_size=16).hexdigest()}"
    return Text(path, Mark(digest, after.st_size, after.st_mtime_ns), text)


def is_outdated(path: str, mark: Mark) -> bool:
    """Whether the same file would be cut in another way today."""
    cut_by = mark.digest.partition(":")[0]
    return cut_by != CUT_BY and (cut_by != CUT_BY + WITHOUT_GRAMMAR or not missing_grammar(language_of(path)))


def _cut_by(path: str, text: str) -> str:
    is_missing = missing_grammar(language_of(path, text[:200].partition("\n")[0]))
    return CUT_BY + WITHOUT_GRAMMAR if is_missing else CUT_BY


def unwanted(path: str, head: bytes, size: int) -> str | None:
    """Why a file that begins like this is left out."""
    if size > MAX_BYTES:
        return "too_large"
    if _byte_order(head):
        return None
    if b"\0" in head or len(head.translate(None, _CONTROL)) < 0.95 * len(head):
        return "binary"
    if names.is_prose(path):  # where a paragraph may be one line, and talk of what is generated
        return None
    if _GENERATED.search(b"\n".join(head[:4096].split(b"\n", _TOP)[:_TOP])):
        return "generated"
    if len(head) > 2 * LONG_LINES and len(head) > LONG_LINES * (head.count(b"\n") + 1):
        return "minified"
    return None


def decoded(data: bytes) -> str:
    """Bytes as text, whatever they are: by their byte order mark, as UTF-8, as they declare, else as Western."""
    encoding = _byte_order(data)
    readings = [data.decode(encoding, "replace")] if encoding else _readings(data)
    text = next(text for text in readings if text is not None)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _readings(data: bytes) -> Iterator[str | None]:
    yield _decoded_as("utf-8", data)
    for name in _CODING.findall(b"\n".join(data[:2000].split(b"\n")[:2]) + data[-500:]):
        yield _decoded_as(name.decode("latin-1"), data)
    yield _decoded_as("cp1252", data)
    yield data.decode("latin-1")


def _decoded_as(encoding: str, data: bytes) -> str | None:
    try:
        # The way through UTF-8 sifts out what a declared encoding may make of lone surrogates.
        return data.decode(encoding).encode("utf-8", "replace").decode()
    except (LookupError, UnicodeError, ValueError):
        return None


def _byte_order(data: bytes) -> str | None:
    return next((encoding for mark, encoding in _MARKS if data.startswith(mark)), None)


def _entries(root: Path, folder: str, skipped: Skipped) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(root / folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        if not folder:
            raise
        skipped["vanished" if isinstance(error, FileNotFoundError) else "unreadable"] += 1
        return []


def _look(entry: os.DirEntry[str], path: str, rules: Ignoring, *, in_repository: bool) -> Seen | str | None:
    """A file, the reason why it is left out, or None for a folder to go into."""
    try:
        if entry.is_symlink():
            return "link"
        is_folder = entry.is_dir(follow_symlinks=False)
        verdict = rules.verdict(path, is_folder=is_folder)
        reason = "ignored" if verdict else _unwanted_name(entry.name, is_folder, verdict, in_repository)
        if reason or is_folder:
            return reason
        if not entry.is_file(follow_symlinks=False):
            return "unreadable"
        there = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return "vanished"
    except OSError:
        return "unreadable"
    if there.st_size > MAX_BYTES:
        return "too_large"
    if names.is_bulky(entry.name, there.st_size):
        return "data"
    return Seen(path, there.st_size, there.st_mtime_ns)


def _unwanted_name(name: str, is_folder: bool, verdict: bool | None, in_repository: bool) -> str | None:
    if not name.isascii() and name != name.encode("utf-8", "replace").decode():
        return "unreadable"  # bytes that are no UTF-8: no store can keep such a path
    reason = names.unwanted_folder(name, in_repository=in_repository) if is_folder else names.unwanted_file(name)
    # An ignore file may say `!vendor/`; a secret stays out whatever it says.
    return None if verdict is False and reason != "secret" and name not in names.NEVER else reason
