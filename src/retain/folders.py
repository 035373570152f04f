"""Which project a folder belongs to, without running git."""

from datetime import datetime
from pathlib import Path

from retain.domain.ids import id_of
from retain.domain.session import Project


def project_of(folder: Path, home: Path, now: datetime) -> Project | None:
    """The project around a folder: its git root, the main checkout of a worktree, else the folder itself.

    The home folder and the root of the file system are no project.
    """
    folder = folder.expanduser().resolve()
    root = _git_root(folder) or folder
    if root in (home.resolve(), Path(root.anchor)):
        return None
    return Project(id_of(str(root)), root.name, str(root), now)


def _git_root(folder: Path) -> Path | None:
    for candidate in (folder, *folder.parents):
        marker = candidate / ".git"
        if marker.is_dir():
            return candidate
        if marker.is_file():
            return _main_checkout(marker) or candidate
    return None


def _main_checkout(marker: Path) -> Path | None:
    """Where a worktree's repository has its main checkout; None for a submodule, which is a project of its own."""
    try:
        git_dir = (marker.parent / marker.read_text().removeprefix("gitdir:").strip()).resolve()
        common = (git_dir / (git_dir / "commondir").read_text().strip()).resolve()
    except OSError:
        return None
    return common.parent if common.name == ".git" else None
