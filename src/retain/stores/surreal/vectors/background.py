"""What a process does beside its searches."""

import logging
import threading
from collections.abc import Callable

from retain.errors import RetainError
from retain.stores.surreal.link.failures import Overtaken

logger = logging.getLogger(__name__)


class Background:
    """One job of each name at a time; what fails is begun again by whoever asks next."""

    def __init__(self) -> None:
        self._running: dict[str, threading.Timer] = {}
        self._lock = threading.Lock()

    def start(self, name: str, job: Callable[[], None], after: float = 0.0) -> None:
        with self._lock:
            if name in self._running:
                return
            self._running[name] = timer = threading.Timer(after, self._run, (name, job))
            timer.daemon = True
            timer.start()

    def wait(self) -> None:
        """Until all that has been started is done."""
        with self._lock:
            started = list(self._running.values())
        for timer in started:
            timer.join()

    def _run(self, name: str, job: Callable[[], None]) -> None:
        try:
            job()
        except Overtaken:
            logger.info("%s: another process was first", name)
        except RetainError as error:
            logger.info("%s: %s", name, error.message)
        finally:
            with self._lock:
                self._running.pop(name, None)
