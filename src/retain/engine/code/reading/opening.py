"""Opening a file of a folder that others wrote: never through a link, and never to wait for somebody."""

import os
import stat
from pathlib import Path
from typing import BinaryIO

_FLAGS = ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY")  # each where there is one


def opened(path: Path, *, through_links: bool = False) -> BinaryIO:
    """A regular file for reading. Raises `OSError` for anything else, as a pipe, a device or a link to one."""
    flags = (*_FLAGS, *(() if through_links else ("O_NOFOLLOW",)))
    file = os.fdopen(os.open(path, os.O_RDONLY | sum(getattr(os, flag, 0) for flag in flags)), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(f"{path} is not a regular file")
    return file
