"""The commands that start this very installation, with absolute paths: a client has another PATH."""

import shutil
import sys
from pathlib import Path, PurePath

# Folders of runners that install for one run and clean up when they like.
_PASSING = ("uv/archive-v0", "uv/builds-v0", "uv/environments-v2", "pipx/.cache", ".cache/pipx")


def command() -> list[str]:
    beside = [Path(sys.executable).with_name(name) for name in ("retain", "retain.exe")]
    found = shutil.which(sys.argv[0])
    for candidate in (Path(found) if found else None, *beside):
        if candidate and candidate.stem == "retain" and candidate.is_file():
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


def passing_folder() -> str | None:
    """The folder of a runner such as `uvx` that this runs from and that will be gone one day; None in an install."""
    here = PurePath(sys.prefix).as_posix()
    return here if any(part in here for part in _PASSING) else None
