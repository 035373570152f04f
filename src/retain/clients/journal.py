"""What files were like before they were edited, so that they can be given back byte for byte."""

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from retain import run_files
from retain.clients.edits import Edit, read

# Copies of each file that stay, beside the first one and those that lead back.
NEWEST = 5


@dataclass(frozen=True, slots=True)
class Journal:
    """Copies, and for each file a digest of what was written and the name of its copy, None if it was not there before.

    All in a folder that only the owner can read: other tools keep keys in such files.
    """

    folder: Path

    def copy(self, edit: Edit, now: datetime) -> str | None:
        """Keeps what an edit is about to replace; the name of the copy, None when there is nothing to keep."""
        self._make_folder()
        if edit.old is None:
            return None
        name = f"{_key(edit.path).strip('/').replace('/', '-').replace(':', '')}.{now:%Y%m%dT%H%M%S%f}"
        copy = self.folder / name[-200:]
        _write_private(copy, edit.old)
        self._thin_out(copy.name)
        return copy.name

    def note(self, edit: Edit, copy: str | None, *, had_ours: bool) -> None:
        """Notes an edit that was made.

        Of a file that already held something of ours, the copy from before that stays the one to go back to, as long
        as nobody else changed the file since; else there is no exact way back.
        """
        known = self._all()
        was = known.pop(_key(edit.path), None)
        if had_ours:
            is_as_left = was is not None and edit.old is not None and was["written"] == _digest(edit.old)
            copy = was["copy"] if was and is_as_left else None
            if not is_as_left:
                self._save(known)
                return
        known[_key(edit.path)] = {"written": _digest(edit.new or ""), "copy": copy}
        self._save(known)

    def before(self, path: Path, text: str) -> Edit | None:
        """The way back to the file of before, if it is still as it was written then."""
        was = self._all().get(_key(path))
        if was is None or was["written"] != _digest(text):
            return None
        if was["copy"] is None:
            return Edit(path, text, None)
        copy = read(self.folder / was["copy"])
        return None if copy is None else Edit(path, text, copy)

    def knows(self, path: Path) -> bool:
        """Whether the file was edited here."""
        return _key(path) in self._all()

    def made(self, path: Path) -> bool:
        """Whether the file was not there before."""
        was = self._all().get(_key(path))
        return was is not None and was["copy"] is None

    def forget(self, path: Path) -> None:
        known = self._all()
        if known.pop(_key(path), None) is not None:
            self._save(known)

    def note_folders(self, folders: Iterable[Path]) -> None:
        """Notes folders that were made for a file."""
        made = self._made_folders()
        if new := [key for folder in folders if (key := _key(folder)) not in made]:
            self._put("folders.json", [*made, *new])

    def clear_folders(self, path: Path) -> None:
        """Removes those folders around a file that were made for it and are empty now."""
        made = self._made_folders()
        count = len(made)
        for folder in path.expanduser().absolute().parents:
            if _key(folder) not in made or not _is_removed(folder):
                break
            made.remove(_key(folder))
        if len(made) < count:
            self._put("folders.json", made)

    def _thin_out(self, name: str) -> None:
        """Of one file's copies the first stays, the newest, and the one that leads back."""
        of_file = name.rpartition(".")[0]
        copies = sorted(each.name for each in self.folder.iterdir() if each.name.rpartition(".")[0] == of_file)
        leading_back = {was.get("copy") for was in self._all().values()}
        for copy in copies[1:-NEWEST]:
            if copy not in leading_back:
                (self.folder / copy).unlink(missing_ok=True)

    def _make_folder(self) -> None:
        run_files.make_folder(str(self.folder))

    def _all(self) -> dict[str, dict[str, Any]]:
        """What is noted; nothing when the list is not there or damaged, since it only makes the way back exact."""
        found = self._get("journal.json")
        return found if isinstance(found, dict) else {}

    def _made_folders(self) -> list[str]:
        found = self._get("folders.json")
        return found if isinstance(found, list) else []

    def _save(self, known: dict[str, dict[str, Any]]) -> None:
        self._put("journal.json", known)

    def _get(self, name: str) -> Any:
        try:
            return json.loads((self.folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def _put(self, name: str, noted: object) -> None:
        self._make_folder()
        temporary = self.folder / f"{name}.{os.getpid()}.tmp"
        _write_private(temporary, json.dumps(noted, indent=2))
        temporary.replace(self.folder / name)


def _is_removed(folder: Path) -> bool:
    """Whether an empty folder could be removed; another stays."""
    try:
        folder.rmdir()
    except OSError:
        return False
    return True


def _write_private(path: Path, text: str) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(text.encode("utf-8"))


def _key(path: Path) -> str:
    return path.expanduser().absolute().as_posix()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
