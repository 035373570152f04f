"""Files that are there whole or not at all: made beside their place under another name, and moved there at the end."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from retain.errors import RetainError

# What SQLite has beside a file while it writes to it.
_BESIDE = ("", "-journal", "-wal", "-shm")


@contextmanager
def made_whole(to: Path, maker: object) -> Iterator[Path]:
    """The file to write to, private and empty; `maker` tells it from those of others in this process."""
    clear_unfinished(to.parent, to.name)
    part = to.with_name(f"{to.name}.{os.getpid()}-{id(maker):x}.part")
    part.touch(0o600)
    try:
        yield part
        part.replace(to)
    except (RetainError, OSError):
        for suffix in _BESIDE:
            part.with_name(part.name + suffix).unlink(missing_ok=True)
        raise


def clear_unfinished(folder: Path, name: str = "") -> None:
    """Removes what processes that are gone have left of copies to this folder: each is as large as the store.

    A copy that is checked before it gets its name is made beside a file that is itself unfinished.
    """
    ours = re.compile(
        rf"(?:retain-.+?\.db|{re.escape(name)})(?:\.\d+-[0-9a-f]+\.part)?\.(\d+)-[0-9a-f]+\.part(?:-journal|-wal|-shm)?"
    )
    for file in folder.glob("*.part*"):
        found = ours.fullmatch(file.name)
        if found and not _is_running(int(found[1])):
            # Windows refuses to remove a file that is in use.
            with suppress(OSError):
                file.unlink()


def _is_running(process: int) -> bool:
    if os.name != "posix":  # there signal 0 is not a question
        return process == os.getpid()
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True
