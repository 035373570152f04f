"""The summary in CLAUDE.md and AGENTS.md: written between its markers, and only when it says something else."""

import contextlib
import os
import secrets
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from retain import errors
from retain.app import Retain
from retain.clients import registered
from retain.clients.known import Machine
from retain.standing import is_whole
from retain.surfaces import section as sections
from retain.surfaces.mcp.instructions import finding

FILES = {"claude_md": "CLAUDE.md", "agents_md": "AGENTS.md"}
LARGEST = 5_000_000
# An editor may be between emptying a file and filling it: one that was written so many seconds ago is left alone.
QUIET = 0.1
ATTEMPTS = 20
_STALE = 3600  # seconds after which a temporary file is one that a killed process left


@dataclass(frozen=True, slots=True)
class Written:
    path: Path


@dataclass(frozen=True, slots=True)
class Unchanged:
    path: Path


@dataclass(frozen=True, slots=True)
class Refused:
    """The file was left as it is."""

    path: Path
    why: str

    def __str__(self) -> str:
        return f"{self.path} was not changed: {self.why}"


Outcome = Written | Unchanged | Refused


def sync_project(app: Retain) -> list[Outcome]:
    """Brings the files in the project's root up to date that the settings name; elsewhere there are none.

    A worktree belongs to the project of its main checkout, and so does the summary: each branch would have another.
    While nobody has decided which store it is, or what to do about a damaged one, what is known cannot be summarised,
    and what stands there stays.
    """
    caller = app.caller()
    project = caller.project
    names = [name for setting, name in FILES.items() if getattr(app.settings, setting)]
    if project is None or not names or app.loaded.is_held:
        return []
    if not is_whole(app.notices()):
        why = "the store has lost memories, and what it says may be lost too; `retain doctor` says what to do"
        return [Refused(Path(project.path) / name, why) for name in names]
    text = summary(app)
    return [sync(Path(project.path) / name, text) for name in names]


def summary(app: Retain) -> str:
    """What the files say between their markers; the tools in it are those that agents of this project have."""
    caller = app.caller()
    root = Path(caller.project.path) if caller.project else Path.cwd()
    sets = registered.toolsets(root, Machine.here(), app.settings.toolset)
    return app.engine.digest(caller, app.settings.claude_md_lines, finding(sets)).markdown


def sync(path: Path, section: str) -> Outcome:
    """Puts the section between its markers; a file that is missing is made, unless there is nothing to say."""
    return edit(path, lambda raw: sections.replaced(raw, section))


def remove(path: Path) -> Outcome:
    """Takes the section and its markers out; a file in which nothing else stands goes too."""
    return edit(path, sections.removed)


def planned(path: Path, change: Callable[[bytes], bytes]) -> tuple[bytes | None, bytes]:
    """What a file says, None if there is none, and what `edit` would make of it; raises where that would refuse."""
    target = _target(path)
    raw = _read(target)
    changed = change(raw or b"")
    if raw is not None and changed != raw:
        _check_replaceable(target.stat())
    return raw, changed


def edit(path: Path, change: Callable[[bytes], bytes]) -> Outcome:
    """Replaces what a file says by what `change` makes of it; asked again when somebody else was faster."""
    try:
        for _ in range(ATTEMPTS):
            target = _target(path)
            raw = _read(target)
            changed = change(raw or b"")
            if changed == (raw or b""):
                return Unchanged(path)
            if _is_quiet(target) and _replace(target, raw, changed):
                return Written(path)
            time.sleep(QUIET)
    except errors.Refused as error:
        return Refused(path, error.message)
    except OSError as error:
        return Refused(path, error.strerror or str(error))
    return Refused(path, "somebody keeps changing it; the next time will do")


def _target(path: Path) -> Path:
    """The file that is meant: links are followed, as long as they stay in the project."""
    try:
        target = path.resolve()
    except RuntimeError:  # a loop, until Python 3.13
        raise errors.Refused("its symbolic link leads to itself") from None
    root = path.parent.resolve()
    if path.is_symlink() and not target.is_relative_to(root):
        raise errors.Refused(f"it is a symbolic link to {target}, outside of the project")
    return target


def _read(target: Path) -> bytes | None:
    """What the file says; None when there is none. Refused is what must not, or cannot safely, be replaced."""
    try:
        known = target.stat()
    except FileNotFoundError:
        if not target.parent.is_dir():
            raise errors.Refused(f"there is no folder {target.parent}") from None
        return None
    if not stat.S_ISREG(known.st_mode):
        raise errors.Refused("it is no regular file")
    if known.st_size > LARGEST:
        raise errors.Refused(f"it has {known.st_size:,} bytes, and more than {LARGEST:,} are not looked through")
    return target.read_bytes()


def _check_replaceable(known: os.stat_result) -> None:
    if not known.st_mode & 0o222:
        raise errors.Refused("it is read-only")
    if known.st_nlink > 1:
        raise errors.Refused("it has a second name (a hard link), which would be left behind; use a symbolic link")


def _is_quiet(target: Path) -> bool:
    try:
        return abs(time.time() - target.stat().st_mtime) >= QUIET
    except FileNotFoundError:
        return True


def _replace(target: Path, raw: bytes | None, changed: bytes) -> bool:
    """Writes all of it or nothing; False when the file says something else by now than what was read."""
    known = target.stat() if raw is not None else None
    if known:
        _check_replaceable(known)
    _clear_away(target)
    temporary = target.with_name(f".{target.name}.retain-{secrets.token_hex(6)}.tmp")
    try:
        _write(temporary, changed, known)
        if _now(target) != raw or (raw is None and not _made(temporary, target)):
            return False
        if raw is not None and changed.removeprefix(sections.BOM):
            temporary.replace(target)
        elif raw is not None:
            target.unlink()
    finally:
        temporary.unlink(missing_ok=True)
    _flush_folder(target.parent)
    return True


def _write(temporary: Path, text: bytes, like: os.stat_result | None) -> None:
    # Private until it has the mode of the file whose text it holds; a new one is as open as new files are here.
    with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, 0o600 if like else 0o666)) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    if like:
        temporary.chmod(stat.S_IMODE(like.st_mode))
    if like and os.name == "posix" and (like.st_uid, like.st_gid) != (os.geteuid(), os.getegid()):
        _give(temporary, like)


def _made(temporary: Path, target: Path) -> bool:
    """Gives a new file its name; False when somebody made one meanwhile, which stays."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        temporary.replace(target)
    return True


def _give(temporary: Path, like: os.stat_result) -> None:
    try:
        os.chown(temporary, like.st_uid, like.st_gid)
    except PermissionError:
        if like.st_uid != os.geteuid():
            raise errors.Refused("it belongs to another user") from None


def _now(target: Path) -> bytes | None:
    try:
        return target.read_bytes()
    except FileNotFoundError:
        return None


def _clear_away(target: Path) -> None:
    """Removes what a killed process left; others' fresh ones stay."""
    for left in target.parent.glob(f".{target.name}.retain-*.tmp"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > _STALE:
                left.unlink()


def _flush_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
