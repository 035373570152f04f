"""A change of one file: shown as a diff, and written so that nothing is lost."""

import difflib
import os
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from retain.clients.faults import Unfit
from retain.engine.lifecycle.redact import redact

# A line that holds a whole file is not worth a screen.
_LONGEST_LINE = 240


@dataclass(frozen=True, slots=True)
class Edit:
    """From one text to another; None is a file that is not there. `private` ones are made for their owner alone."""

    path: Path
    old: str | None
    new: str | None
    private: bool = False

    @property
    def changes(self) -> bool:
        return self.old != self.new

    def diff(self) -> str:
        """As `diff -u` has it. Secrets in it are covered, since diffs are passed on."""
        one, other = (os.devnull if text is None else str(self.path) for text in (self.old, self.new))
        before, after = ((text or "").splitlines() for text in (self.old, self.new))
        lines = difflib.unified_diff(before, after, one, other, lineterm="")
        return redact("\n".join(map(_short, lines))).text


def read(path: Path) -> str | None:
    """The text with its line ends and its mark, None when there is no such file."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise Unfit(f"{path} is not UTF-8 (byte {error.start}); save it as UTF-8 first") from None
    except IsADirectoryError:
        raise Unfit(f"{path} is a folder, not a file") from None
    except OSError as error:
        raise Unfit(f"{path} cannot be read ({error.strerror})") from None


def names_us(path: Path) -> bool:
    """Whether a file, broken or not, may hold something of ours."""
    try:
        return b"retain" in path.read_bytes()
    except FileNotFoundError:
        return False
    except OSError:
        return True


def check(path: Path) -> None:
    """Raises `Unfit` when the file could not be written, as far as that can be told without trying."""
    target = _target(path)
    folder = next(folder for folder in target.parents if folder.exists())
    if not os.access(folder, os.W_OK):
        raise Unfit(f"{path} cannot be written: {folder} is read-only")


def write(edit: Edit) -> None:
    """Writes through symbolic links and keeps the file's mode. Raises `Unfit` when it changed meanwhile."""
    target = _target(edit.path)
    if read(target) != edit.old:
        raise Unfit(f"{edit.path} changed while this was at it; nothing in it was changed, run the command again")
    try:
        if edit.new is None:
            target.unlink(missing_ok=True)
        else:
            _make_folders(target.parent, private=edit.private)
            _replace(target, edit.new, _mode(target, private=edit.private))
    except PermissionError:
        raise Unfit(
            f"{edit.path} cannot be written: it belongs to somebody else, or another program has it open"
        ) from None
    except OSError as error:
        raise Unfit(f"{edit.path} cannot be written ({error.strerror})") from None


def _target(path: Path) -> Path:
    try:
        target = path.resolve()
    except (OSError, RuntimeError):
        raise Unfit(f"{path} is a link that leads round in a circle") from None
    if path.is_symlink() and not target.parent.is_dir():
        raise Unfit(f"{path} is a link to {target}, whose folder is not there")
    if target.exists() and not target.stat().st_mode & stat.S_IWUSR:
        raise Unfit(f"{path} is read-only; `chmod u+w {target}` allows it")
    return target


def _mode(target: Path, *, private: bool) -> int:
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    return 0o600 if private else 0o644


def _make_folders(folder: Path, *, private: bool) -> None:
    """No more open than their files, and never for others to write in, whatever the umask lets through."""
    for each in reversed([one for one in (folder, *folder.parents) if not one.exists()]):
        each.mkdir(mode=0o700 if private else 0o755, exist_ok=True)


def _replace(target: Path, text: str, mode: int) -> None:
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(mode)
        _keep_owner(target, temporary)
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _keep_owner(target: Path, temporary: str) -> None:
    """Somebody who sets up another's files as root leaves them theirs."""
    if os.name == "posix" and target.exists():
        was = target.stat()
        with suppress(PermissionError):
            os.chown(temporary, was.st_uid, was.st_gid)


def _short(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + " …"
