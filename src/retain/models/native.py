"""Letting native code finish before the interpreter ends."""

import atexit
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from retain.errors import Unavailable

LONGEST = 2.0  # seconds; loading takes 0.1, a batch 0.07


class NativeCalls:
    """Python ends a daemon thread that comes back from C++ after the interpreter is gone by aborting the process.

    So whatever runs outside of Python is counted, and the exit waits for the call that is under way
    and lets no other begin.
    """

    def __init__(self, failure: type[Unavailable]) -> None:
        self._failure = failure
        self._changed = threading.Condition()
        self._running = 0
        self._ended = False
        atexit.register(self.end)

    @contextmanager
    def call(self) -> Iterator[None]:
        with self._changed:
            if self._ended:
                raise self._failure("Retain is shutting down")
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def end(self) -> None:
        with self._changed:
            self._ended = True
            self._changed.wait_for(lambda: self._running == 0, LONGEST)
