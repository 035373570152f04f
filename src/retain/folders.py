"""Which project a folder belongs to, without running git."""

import os

from retain.domain.ids import id_of

_LONGEST = 10_000  # characters of a file that holds one path
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


def real_path(path: str, beside: "Path") -> str | None:
    """Where a path leads that is given from a folder on, without detours and links; None for what can be no path."""
    try:
        return os.path.realpath(os.path.join(beside, os.path.expanduser(path.strip()))) if path.strip() else None
    except ValueError:  # a NUL, or half of a surrogate pair
        return None


def why_no_folder(real: str | None) -> str | None:
    """What is wrong with a path that should be that of a folder; None when it is."""
    if real is None or not os.path.exists(real):
        return "there is no such folder"
    return None if os.path.isdir(real) else "this is a file"


def spellings(named: str, beside: "Path", home: "Path") -> list[str]:
    """What a project may be known by, likeliest first, that somebody names by a path or by a name.

    A folder that is there stands for the project around it. One that is gone may still be the path of a project.
    """
    text = named.strip()
    if os.sep not in text and text not in (".", "..", "~"):
        return [text]
    real = real_path(text, beside)
    paths = [] if real is None else [root_of(real, str(home)) if os.path.isdir(real) else None, real]
    paths.append(os.path.normpath(os.path.join(beside, os.path.expanduser(text))))
    is_name = not text.startswith((".", "~")) and not os.path.isabs(text)
    found = [text, *paths] if is_name else [*paths, text]
    return list(dict.fromkeys(each for each in found if each))


def is_no_project(named: str, beside: "Path", home: "Path") -> bool:
    """Whether somebody names a folder by its path that is there and no project: the home folder, or the root."""
    text = named.strip()
    real = real_path(text, beside) if os.sep in text or text in (".", "..", "~") else None
    return real is not None and os.path.isdir(real) and root_of(real, str(home)) is None


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
    """Where a worktree's repository has its main checkout; None for a submodule, which is a project of its own.

    The repository must know of the worktree: a `.git` file that came in an archive can name any, to read its memories.
    """
    try:
        named = _read(marker).removeprefix("gitdir:").strip()
        git_dir = os.path.realpath(os.path.join(os.path.dirname(marker), named))
        common = os.path.realpath(os.path.join(git_dir, _read(os.path.join(git_dir, "commondir")).strip()))
        known = os.path.realpath(os.path.join(git_dir, _read(os.path.join(git_dir, "gitdir")).strip()))
    except (OSError, ValueError):  # a NUL in a path
        return None
    is_known = os.path.dirname(git_dir) == os.path.join(common, "worktrees") and known == os.path.realpath(marker)
    return os.path.dirname(common) if is_known and os.path.basename(common) == ".git" else None


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read(_LONGEST)
