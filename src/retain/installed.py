"""Whose installation this is: the package index has a stranger's `retain`, which deletes files.

The distribution is called retain-mcp; before, it was called as the command is. So a distribution or a command of the
name `retain` may be an older one of ours or the stranger's, and only its files tell them apart.
"""

import sys
import zipfile
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

NAME = "retain-mcp"
OLD_NAME = "retain"
# In an editable install the package lies elsewhere, and the entry point is all there is of it.
_OUR_MODULE, _OUR_MAIN = "retain/domain/memory.py", "retain.__main__"


def is_ours(found: metadata.Distribution) -> bool:
    if any(file.as_posix() == _OUR_MODULE for file in found.files or ()):
        return True
    return any(point.module == _OUR_MAIN for point in found.entry_points if point.group == "console_scripts")


def namesakes(path: Iterable[str] | None = None) -> Iterator[tuple[metadata.Distribution, bool]]:
    """What is installed under the old name, and whether it is ours."""
    for found in metadata.distributions(name=OLD_NAME, path=list(sys.path if path is None else path)):
        yield found, is_ours(found)


def current() -> metadata.Distribution | None:
    """The distribution that this package came with, by whichever name; None when it runs from source."""
    named = next(iter(metadata.distributions(name=NAME)), None)
    return named or next((found for found, ours in namesakes() if ours), None)


def starts_retain(command: Path) -> bool:
    """Whether a command of our name is ours: an installer writes into it what it starts."""
    try:
        if command.stem == NAME or _OUR_MAIN.encode() in command.read_bytes():
            return True
        with zipfile.ZipFile(command) as launcher:  # on Windows it is behind a program
            return _OUR_MAIN.encode() in launcher.read("__main__.py")
    except (OSError, KeyError, zipfile.BadZipFile):
        return False
