"""Where settings files are, and what is in them; nothing here judges what they say."""

import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from retain.approvals import Content
from retain.folders import root_of
from retain.settings import VARIABLES
from retain.settings_yaml import parts_of, settings_in

FOLDER, FILE = ".claude", "retain.local.md"
# The name that a contract gives to it; read where ours is not there.
OTHER_FILE = "surrealdb-memory.local.md"
CONFIG_PATH = ("RETAIN_CONFIG_PATH", "MEMORY_CONFIG_PATH")
LARGEST = 200_000  # bytes; reading YAML takes its time, and a hook waits for it


@dataclass(frozen=True, slots=True)
class Found:
    """A settings file as it was read: its settings unchecked, and what of it cannot be understood."""

    path: Path
    values: Mapping[str, Any] = field(default_factory=dict)  # Any: YAML
    faults: tuple[str, ...] = ()
    content: Content | None = None
    is_open: bool = False
    """Whether others can read it."""


def user_file(env: Mapping[str, str], home: Path) -> tuple[Path, str | None]:
    """The user's own file, and what to say when somebody named one that is not there."""
    usual = [home / FOLDER / name for name in (FILE, OTHER_FILE)]
    default = next((path for path in usual if path.exists()), usual[0])
    variable = next((name for name in CONFIG_PATH if env.get(name)), None)
    if variable is None:
        return default, None
    named = Path(env[variable]).expanduser()
    if os.path.lexists(named):
        return named, None
    # A contract's example names the usual place, whether or not there is a file.
    if named in usual:
        return default, None
    told = f"{variable} names {named}, and there is no such file: settings in it, perhaps another store, are not used"
    return named, f"{told}. Mend the path, make the file, or remove the variable"


def project_file(folder: Path, home: Path) -> Path:
    """In the folder itself, else in the root of its project: a session may begin anywhere in one."""
    here, root = folder / FOLDER / FILE, root_of(str(folder), str(home))
    return here if root is None or here.exists() else Path(root) / FOLDER / FILE


def is_of_project(path: Path, file: Path, home: Path) -> bool:
    """Whether a path leads, by whatever links, into the project that a settings file is in: its folder or its root."""
    folder, root = file.parent.parent, root_of(str(file.parent.parent), str(home))
    return any(is_in(path, each) for each in (folder, root) if each)


def is_in(path: Path, folder: Path | str) -> bool:
    """Whether it is really below the folder, wherever links lead."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def is_same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def read(path: Path) -> Found | None:
    """None when there is no such file."""
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST + 1)
            mode = os.fstat(file.fileno()).st_mode
        text = "" if len(raw) > LARGEST else raw.decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        return Found(path, faults=(f"{path} cannot be read ({error}); its settings are not used",))
    if len(raw) > LARGEST:
        told = f"{path} has more than {LARGEST:,} bytes, and is not looked through"
        return Found(path, faults=(f"{told}; its settings are not used",))
    values, problems = settings_in(text)
    faults = [*(f"{path}: {problem}" for problem in problems), *_passed_by(path, text)]
    is_open = os.name == "posix" and stat.S_ISREG(mode) and bool(mode & 0o077)
    return Found(path, values, tuple(faults), Content.of(path, raw), is_open)


def content_of(path: Path) -> Content | None:
    """What stands in it now; None where that cannot be known."""
    if path.exists() and not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            return Content.of(path, file.read(LARGEST + 1))
    except FileNotFoundError:
        return Content.of(path, None)
    except OSError:
        return None


def _passed_by(path: Path, text: str) -> Iterator[str]:
    """Settings that stand in a file outside of what is read, where nothing else does: somebody meant them."""
    names = re.compile(rf"^[ \t>*-]*[\"']?(?:{'|'.join(VARIABLES)})[\"']?[ \t]*[:=]", re.MULTILINE | re.IGNORECASE)
    if not parts_of(text) and names.search(text):
        told = f"{path} names settings, but not between two lines of --- at its beginning, nor in a ```yaml block"
        yield f"{told}; they are not used"
