"""What a walk found, held against what an index has."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from retain.domain.code import Mark
from retain.engine.code.reading.files import Seen, Text, is_outdated

# Why a file that was read before keeps its place in the index: it is there, and the next run will have it.
FOR_NOW = frozenset({"vanished", "changing", "unreadable"})


class Comparison:
    """Size and time tell which files need not be read. Each of the others, once read, is asked about."""

    def __init__(self, seen: Iterable[Seen], marks: Mapping[str, Mark]) -> None:
        found = {one.path: one for one in seen}
        self._marks = marks
        self.waiting = [one.path for one in found.values() if not _is_as_marked(one, marks.get(one.path))]
        self.unchanged = len(found) - len(self.waiting)
        self._moved: set[str] = set()
        self._gone = dict.fromkeys(path for path in marks if path not in found)
        self._by_digest: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for path in self._gone:
            self._by_digest[_identity(path, marks[path].digest)].append(path)

    def was_there(self, path: str) -> bool:
        return path in self._marks

    def has_moved(self, path: str) -> bool:
        return path in self._moved

    def is_touched(self, file: Text) -> bool:
        """Whether it says what it said, and only its time is another."""
        return file.path in self._marks and self._marks[file.path].digest == file.mark.digest

    def moved_from(self, file: Text) -> str | None:
        """The path from which a file has come; each is given away once."""
        if file.path in self._marks:
            return None
        candidates = self._by_digest.get(_identity(file.path, file.mark.digest))
        if not candidates:
            return None
        old = candidates.pop(0)
        del self._gone[old]
        self._moved.add(file.path)
        return old

    def left_out(self, path: str, reason: str) -> None:
        """A file that is not to be indexed goes, if it was."""
        if path in self._marks and reason not in FOR_NOW:
            self._gone[path] = None

    @property
    def gone(self) -> list[str]:
        """What the index has and the folder has not; to be asked when every file has been read."""
        return list(self._gone)


def _is_as_marked(seen: Seen, mark: Mark | None) -> bool:
    if mark is None or (seen.size, seen.modified) != (mark.size, mark.modified):
        return False
    return not is_outdated(seen.path, mark)


def _identity(path: str, digest: str) -> tuple[str, str]:
    # With another ending the same text is another language.
    return digest, PurePosixPath(path).suffix.lower()
