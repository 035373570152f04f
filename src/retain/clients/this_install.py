"""The commands that start this very installation, with absolute paths: a client has another PATH."""

import shlex
import shutil
import sys
from pathlib import Path, PurePath

from retain.installed import NAME, starts_retain

_NAMES = (NAME, f"{NAME}.exe", "retain", "retain.exe")

# Folders of runners that install for one run and clean up when they like.
_PASSING = ("uv/archive-v0", "uv/builds-v0", "uv/environments-v2", "pipx/.cache", ".cache/pipx")


def command() -> list[str]:
    """By the name that is ours alone: a stranger's `retain` in the same place would be started in a project's folder,
    and deletes what is there."""
    started = shutil.which(sys.argv[0])
    places = [Path(started)] if started and Path(started).stem in (NAME, "retain") else []
    for candidate in (place.with_name(name) for place in (*places, Path(sys.executable)) for name in _NAMES):
        if candidate.is_file() and starts_retain(candidate):
            return [str(candidate.absolute())]
    return [sys.executable, "-m", "retain"]


def server() -> list[str]:
    return [*command(), "serve"]


def hook_entry() -> Path:
    """The program that a hook runs; it finds the package by its own place."""
    return Path(__file__).absolute().parents[1] / "surfaces" / "hooks" / "entry.py"


def hook(event: str) -> tuple[str, list[str]]:
    """Without site packages (-S) and the user's Python settings (-I): they cost most of a hook's time."""
    return sys.executable, ["-I", "-S", str(hook_entry()), event]


def status_line() -> str:
    """For a shell, since a status line has no other form."""
    return shlex.join([sys.executable, "-I", "-S", str(hook_entry()), "statusline"])


def passing_folder() -> str | None:
    """The folder of a runner such as `uvx` that this runs from and that will be gone one day; None in an install."""
    here = PurePath(sys.prefix).as_posix()
    return here if any(part in here for part in _PASSING) else None
