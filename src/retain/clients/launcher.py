"""The command that the plugin starts: noted for its launcher (plugin/scripts/retain.sh), and found as that finds it."""

import os
import shutil
from pathlib import Path

from retain import run_files
from retain.clients import edits, this_install
from retain.clients.edits import Edit
from retain.clients.faults import Unfit
from retain.clients.journal import Journal
from retain.clients.known import Machine
from retain.installed import NAME, starts_retain

_MODULE = " -m retain"
_FOLDERS = (
    "~/.local/bin",
    "/opt/homebrew/bin",
    "/usr/local/bin",
    f"~/.local/share/uv/tools/{NAME}/bin",
    f"~/.local/share/pipx/venvs/{NAME}/bin",
    "~/.local/share/uv/tools/retain/bin",
    "~/.local/share/pipx/venvs/retain/bin",
)


def file(machine: Machine) -> Path:
    """Where the launcher looks; it reads no settings file, so one that moves `home` does not move this."""
    return machine.folder("RETAIN_HOME", machine.home / ".retain") / "command"


def is_noted(machine: Machine) -> bool:
    """Whether the launcher would start this installation by what is noted."""
    return _noted(machine) == _line().rstrip()


def note(machine: Machine, journal: Journal) -> None:
    """Notes this installation; a file that says so already stays whoever's it is."""
    path, line = file(machine), _line()
    if is_noted(machine):
        return
    try:
        run_files.write_private(str(path), line)
    except OSError as error:
        raise Unfit(f"{path} cannot be written ({error.strerror}); the plugin needs it") from None
    journal.note(Edit(path, None, line), None, had_ours=False)


def forget(machine: Machine, journal: Journal) -> None:
    """Removes the note, if it is as it was written here."""
    path = file(machine)
    try:
        text = edits.read(path)
        if text is not None and journal.before(path, text):
            edits.write(Edit(path, text, None))
            journal.forget(path)
    except Unfit:
        return


def found(machine: Machine) -> str | None:
    """What the launcher would start; None when it finds nothing.

    A virtual environment on the PATH does not count: it is there in this shell, and clients are started elsewhere. Nor
    does a stranger's `retain`, wherever it is.
    """
    named = machine.variables.get("RETAIN_COMMAND", "")
    if _can_run(named):
        return named
    folders = [folder.replace("~", str(machine.home), 1) for folder in _FOLDERS]
    places = [f"{folder}/{name}" for name in (NAME, "retain") for folder in folders]
    for command in (_noted(machine), *(_on_path(machine, name) for name in (NAME, "retain")), *places):
        if _can_run(command) and (command.endswith(_MODULE) or starts_retain(Path(command))):
            return command
    return None


def _can_run(command: str) -> bool:
    program = Path(command.removesuffix(_MODULE))
    return bool(command) and program.is_file() and os.access(program, os.X_OK)


def _line() -> str:
    return " ".join(this_install.command()) + "\n"


def _noted(machine: Machine) -> str:
    try:
        return (edits.read(file(machine)) or "").partition("\n")[0]
    except Unfit:
        return ""


def _on_path(machine: Machine, name: str) -> str:
    command = shutil.which(name, path=machine.variables.get("PATH") or "")
    return "" if command is None or (Path(command).parents[1] / "pyvenv.cfg").exists() else command
