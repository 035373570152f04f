"""Whether files are still what they were when they were indexed."""

from collections.abc import Mapping
from pathlib import Path

from retain.domain.code import CodeIndex, Mark
from retain.engine.code.reading.files import Text, read
from retain.engine.code.reading.secrets import without_secrets


class Disk:
    """Looks at each file once, for one answer; remembers which were not as indexed."""

    def __init__(self, indexes: Mapping[str, CodeIndex]) -> None:
        self._roots = {key: Path(index.project.path) for key, index in indexes.items()}
        self._unchanged: dict[tuple[str, str], bool] = {}
        self._lines: dict[tuple[str, str], list[str] | None] = {}

    def is_unchanged(self, index: str, path: str, mark: Mark) -> bool:
        """At a glance when size and time are the same, else by what it says."""
        file = (index, path)
        if file not in self._unchanged:
            self._unchanged[file] = _at_a_glance(self._roots[index] / path, mark) or self._says(file, mark) is not None
        return self._unchanged[file]

    def lines(self, index: str, path: str, mark: Mark) -> list[str] | None:
        """The lines of a file, without secrets, or None when it has changed."""
        file = (index, path)
        if file not in self._lines:
            text = self._says(file, mark)
            self._unchanged[file] = text is not None
            self._lines[file] = without_secrets(text.text).split("\n") if text else None
        return self._lines[file]

    @property
    def changed(self) -> list[tuple[str, str]]:
        return [file for file, unchanged in self._unchanged.items() if not unchanged]

    def _says(self, file: tuple[str, str], mark: Mark) -> Text | None:
        index, path = file
        found = read(self._roots[index], path)
        return found if isinstance(found, Text) and found.mark.digest == mark.digest else None


def _at_a_glance(file: Path, mark: Mark) -> bool:
    try:
        there = file.lstat()
    except OSError:
        return False
    return (there.st_size, there.st_mtime_ns) == (mark.size, mark.modified)
