"""Memories that were stored without a type. They are noted in `run/untyped/` until a process with a judge files them.

A command would wait half a second for the judge, so it only notes; servers and the worker file, in the background. A
note that is lost costs nothing but a category.
"""

import logging
import os
from collections import deque
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from retain.config import Loaded
from retain.domain.ids import id_of
from retain.domain.memory import MemoryId
from retain.engine.engine import Engine
from retain.engine.lifecycle.filing import can_file, file
from retain.engine.remember import Remembered
from retain.run_files import PRIVATE_FILE, is_alive, make_folder, read_text, remove
from retain.whereabouts import name_of

logger = logging.getLogger(__name__)

LOADING_SECONDS = 20.0
BATCH = 50  # memories at a time, so that what somebody waits for has its turn in between
_TAKEN = ".taken"


class Untyped:
    """The notes about one store. Nothing is noted where none could be read: without a judge, or a store that stays."""

    def __init__(self, loaded: Loaded) -> None:
        settings = loaded.settings
        is_kept = settings.judge and settings.deployment_mode != "embedded-memory" and not loaded.is_held
        folder = settings.home.expanduser().absolute() / "run" / "untyped"
        self._file = folder / f"{id_of(name_of(settings))}.ids" if is_kept else None
        self._serves = False
        self._taken: deque[MemoryId] = deque()

    def note(self, done: Remembered, engine: Engine) -> None:
        """What was stored just now; filed soon where this process serves."""
        if self._file is None or done.reinforced or done.memory.category is not None:
            return
        try:
            make_folder(str(self._file.parent))
            handle = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE_FILE)
            try:
                os.write(handle, f"{done.memory.id}\n".encode())
            finally:
                os.close(handle)
        except OSError as error:
            logger.debug("%s stays without a category: %s", done.memory.id, error)
            return
        if self._serves:
            engine.later(partial(self._file_some, engine))

    def serve(self, engine: Engine) -> None:
        """From now on this process files what is noted, also what others left."""
        self._serves = True
        if self._file is not None:
            engine.later(partial(self._file_some, engine))

    def _file_some(self, engine: Engine) -> None:
        judge = engine.parts.judge
        if judge is None or not (self._taken or any(self._noted())) or not can_file(engine.parts):
            return  # a server that stores nothing never loads the judge
        if not judge.wait(LOADING_SECONDS):
            return
        self._take()
        some = [self._taken.popleft() for _ in range(min(BATCH, len(self._taken)))]
        try:
            file(engine.parts, judge, some)
        finally:
            self._finish(engine)

    def _finish(self, engine: Engine) -> None:
        if self._taken:
            engine.later(partial(self._file_some, engine))
        elif self._file is not None:
            remove(str(self._own()))

    def _noted(self) -> Iterator[Path]:
        """The notes, and those that a process had taken which is no more."""
        if self._file is None:
            return
        if self._file.exists():
            yield self._file
        for path in self._file.parent.glob(f"{self._file.stem}.*{_TAKEN}"):
            pid = path.name.split(".")[1]
            if pid.isdecimal() and int(pid) != os.getpid() and not is_alive(int(pid)):
                yield path

    def _take(self) -> None:
        """Renamed first, so that of two servers one has them; kept as a file until the last one is filed."""
        for path in list(self._noted()) if not self._taken else ():
            try:
                path.replace(self._own())
                self._taken.extend(line for line in read_text(str(self._own())).splitlines() if line)
            except OSError as error:
                logger.debug("%s is left to others: %s", path, error)

    def _own(self) -> Path:
        assert self._file is not None
        return self._file.with_name(f"{self._file.stem}.{os.getpid()}{_TAKEN}")
