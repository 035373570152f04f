"""Watching a folder: when something in it changes that is indexed, it is indexed again."""

import atexit
import logging
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from retain.engine.code.reading import names
from retain.engine.code.reading.ignore import GIT, OWN, Lookup
from retain.errors import MissingExtra, RetainError

logger = logging.getLogger(__name__)

DEBOUNCE = 400  # milliseconds in which changes are gathered, as when a branch is checked out
STEP = 50  # milliseconds between two looks of the library, at changes and at whether to end
LOOK = 500  # milliseconds until it says that nothing has changed
AWAY = 1.0  # seconds between two looks for a folder that has gone
FAILED = 30.0  # seconds until a watch that failed is tried again, as when the system has no more to give
ENDING = 1.0  # seconds


class Watcher:
    """Calls `changed` on a thread of its own, from the moment on when the folder is watched, until it is stopped."""

    def __init__(self, root: Path, changed: Callable[[], object]) -> None:
        """Raises `MissingExtra` where the library is not installed."""
        self._library = _library()
        self._root, self._changed = root, changed
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="retain-watch", daemon=True)
        self._thread.start()
        # The library's own code must not come back to an interpreter that has ended.
        atexit.register(self._end)

    def stop(self) -> None:
        self._stop.set()

    def _end(self) -> None:
        self.stop()
        self._thread.join(ENDING)

    def _work(self) -> None:
        while not self._stop.is_set():
            try:
                for _ in self._changes():
                    self._changed()
                if not self._root.is_dir():
                    self._stop.wait(AWAY)  # it may come back
            except (RetainError, OSError, RuntimeError) as error:  # the library's own error is a RuntimeError
                logger.warning("%s is not watched for a while: %s", self._root, error)
                self._stop.wait(FAILED)

    def _changes(self) -> Iterator[None]:
        """One once the watch has begun, for what happened before, then one for each time that something changed."""
        folder = _identity(self._root)
        if folder is None:
            return
        wanted = Wanted(self._root)
        watching = self._library.watch(
            self._root,
            watch_filter=lambda _, path: wanted(path),
            debounce=DEBOUNCE,
            step=STEP,
            stop_event=self._stop,
            rust_timeout=LOOK,
            yield_on_timeout=True,
            raise_interrupt=False,
            ignore_permission_denied=True,
        )
        is_first = True
        for changes in watching:
            # What is watched is no longer what is there. A new folder may have got the number of the old one.
            if _identity(self._root) != folder or (self._library.Change.deleted, str(self._root)) in changes:
                return
            if changes or is_first:
                wanted.forget()
                yield
            is_first = False


class Wanted:
    """Whether a change at a path may be a change of the index."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.forget()

    def forget(self) -> None:
        """Reads the ignore files anew from now on."""
        self._ignored = Lookup(self._root)

    def __call__(self, path: str) -> bool:
        try:
            steps = Path(path).relative_to(self._root).parts
        except ValueError:
            return False
        if not steps or steps[-1] in (GIT, OWN):
            return True
        is_folder = (self._root / path).is_dir()
        folders, file = (steps, None) if is_folder else (steps[:-1], steps[-1])
        if any(names.unwanted_folder(step, in_repository=True) for step in folders if not self._is_kept(step)):
            return False
        if file and names.unwanted_file(file):
            return False
        return not self._ignored.ignored("/".join(steps), is_folder=is_folder)

    def _is_kept(self, step: str) -> bool:
        """A folder that an ignore file may have brought back; better to look for nothing than to miss something."""
        return step in names.VENDORED and step not in names.NEVER


def _identity(root: Path) -> tuple[int, int] | None:
    """Which folder is at a path, if any is: a new one may have taken the place of the old."""
    try:
        there = root.stat()
    except OSError:
        return None
    return (there.st_dev, there.st_ino) if root.is_dir() else None


def _library() -> Any:  # the module, which may not be there for the type checker either
    try:
        import watchfiles
    except ImportError:
        raise MissingExtra(
            'watching for changes needs watchfiles, of the extra `code`: pip install ".[code]" in the folder of Retain'
        ) from None
    return watchfiles
