"""Which project a folder belongs to, without running git."""

import os

from retain.domain.ids import id_of

TYPE_CHECKING = False  # hooks import this, and wait for every import
if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from retain.domain.session import Project


def project_of(folder: "Path", home: "Path", now: "datetime") -> "Project | None":
    """The project around a folder, under an id that every process works out alike."""
    from retain.domain.session import Project

    root = root_of(str(folder), str(home))
    return Project(id_of(root), os.path.basename(root), root, now) if root else None


def root_of(folder: str, home: str) -> str | None:
    """The git root around a folder, the main checkout of a worktree, else the folder itself.

    The home folder and the root of the file system are no project.
    """
    folder = os.path.realpath(os.path.expanduser(folder))
    root = _git_root(folder) or folder
    return None if root in (os.path.realpath(home), os.path.dirname(root)) else root


def _git_root(folder: str) -> str | None:
    while True:
        marker = os.path.join(folder, ".git")
        if os.path.isdir(marker):
            return folder
        if os.path.isfile(marker):
            return _main_checkout(marker) or folder
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def _main_checkout(marker: str) -> str | None:
    """Where a worktree's repository has its main checkout; None for a submodule, which is a project of its own."""
    try:
        named = _read(marker).removeprefix("gitdir:").strip()
        git_dir = os.path.realpath(os.path.join(os.path.dirname(marker), named))
        common = os.path.realpath(os.path.join(git_dir, _read(os.path.join(git_dir, "commondir")).strip()))
    except OSError:
        return None
    return os.path.dirname(common) if os.path.basename(common) == ".git" else None


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()
