"""Something slow to get ready, made once in the background and shared by every thread."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from retain.domain.model import ModelState
from retain.errors import RetainError, Unavailable, shorten

RETRY_AFTER = 60.0  # seconds: long enough that a broken model costs nothing, short enough to notice its repair

T = TypeVar("T")


class Loading(Generic[T]):
    """Runs `load` in a daemon thread; a failure is remembered with its reason and tried again a minute later."""

    def __init__(
        self, load: Callable[[], T], clock: Callable[[], float], failure: type[Unavailable], name: str
    ) -> None:
        """`failure` is what is raised where it cannot be had, and `name` what it is called there."""
        self._load = load
        self._clock = clock
        self._failure, self._name = failure, name
        self._changed = threading.Condition()
        self._state = ModelState("idle")
        self._loaded: T | None = None
        self._failed_at = 0.0

    def state(self) -> ModelState:
        return self._state

    def start(self) -> None:
        with self._changed:
            if self._state.name == "idle" or self._may_retry():
                self._state = ModelState("loading")
                threading.Thread(target=self._run, name="retain-model", daemon=True).start()

    def wait(self, seconds: float | None = None) -> bool:
        """True once it is ready; None waits for as long as loading takes."""
        if self._state.name != "ready":
            self.start()
            with self._changed:
                self._changed.wait_for(lambda: self._state.name != "loading", seconds)
        return self._state.name == "ready"

    def value(self) -> T:
        """What was loaded, however long that takes."""
        while self.wait():
            loaded = self._loaded
            if loaded is not None:  # else it was let go at this moment
                return loaded
        raise self._failure(self._state.why)

    def let_go(self) -> None:
        """Gives up what was loaded; whoever needs it next has it loaded again."""
        with self._changed:
            if self._state.name == "ready":
                self._loaded, self._state = None, ModelState("idle")

    def fail(self, why: str) -> None:
        with self._changed:
            self._failed_at = self._clock()
            self._state = ModelState("off", why)
            self._changed.notify_all()

    def _may_retry(self) -> bool:
        return self._state.name == "off" and self._clock() - self._failed_at >= RETRY_AFTER

    def _run(self) -> None:
        try:
            loaded = self._load()
        except RetainError as error:
            self.fail(error.message)
        # Nobody is above a thread to catch it, and tokenizers and onnxruntime raise nothing more precise.
        except Exception as error:  # noqa: BLE001
            self.fail(f"{self._name} cannot be loaded: {shorten(f'{type(error).__name__}: {error}', 200)}")
        else:
            with self._changed:
                self._loaded = loaded
                self._state = ModelState("ready")
                self._changed.notify_all()
