"""A link that comes back: while it is away every request is told so at once, and a thread tries to reach it."""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain, repeat
from typing import Protocol

from retain.domain.connection import Reach
from retain.errors import Closed, QueryTimeout, RetainError
from retain.stores.surreal.link.failures import Expired, LinkLost

logger = logging.getLogger(__name__)

PAUSES = (1.0, 2.0, 4.0, 8.0)
EVERY = 30.0
# A reply in degraded mode takes at most 200 ms; signing in to a database that has just restarted takes 50.
_PATIENCE = 0.15


@dataclass(frozen=True, slots=True)
class LinkState:
    status: Reach
    since: datetime
    """When the connection was made or lost."""
    error: str | None = None
    next_try: datetime | None = None


class Breakable(Protocol):
    """A `Link` that knows when its other end has gone."""

    @property
    def is_lost(self) -> bool: ...

    def request(self, message: bytes, id: int, seconds: float) -> bytes: ...

    def close(self) -> None: ...


class Reconnecting:
    """Safe to use from any thread. `opening` makes a link that is signed in and ready for queries."""

    def __init__(
        self, opening: Callable[[], Breakable], *, now: Callable[[], datetime], pauses: Sequence[float] = PAUSES
    ) -> None:
        self._opening, self._now, self._pauses = opening, now, pauses
        self._lock = threading.Lock()
        self._link: Breakable | None = None
        self._state = LinkState(Reach.RECONNECTING, now())
        self._patient_until = 0.0
        self._tried, self._closing = threading.Event(), threading.Event()
        self._on_back: list[Callable[[], None]] = []

    def open(self, *, may_be_away: bool = False) -> None:
        """The first connection. What can never work is raised; so is a database that is away, unless it may be."""
        try:
            link = self._opening()
        except (LinkLost, QueryTimeout) as error:
            if not may_be_away:
                raise
            self._state = LinkState(Reach.RECONNECTING, self._now(), error.message)
            self._tried.set()
            self._try_in_background(self._pauses)
        else:
            self._link, self._state = link, LinkState(Reach.CONNECTED, self._now())

    def state(self) -> LinkState:
        return self._state

    def on_back(self, call: Callable[[], None]) -> None:
        """Is called, by a thread of its own, when the connection is there again."""
        self._on_back.append(call)

    def request(self, message: bytes, id: int, seconds: float) -> bytes:
        """LinkLost while the connection is away, and when it breaks under way: then nobody knows what was written."""
        link = self._current()
        try:
            return link.request(message, id, seconds)
        except Expired as error:
            # Nothing was done, so it can be asked again; the server is there, and signing in takes a moment.
            self._lose(link, error.message)
            self._tried.wait(seconds)
            return self._current().request(message, id, seconds)
        except LinkLost as error:
            self._lose(link, error.message)
            self._wait_for_first_try()
            raise

    def close(self) -> None:
        with self._lock:
            self._closing.set()
            link, self._link = self._link, None
        if link:
            link.close()

    def _current(self) -> Breakable:
        if self._closing.is_set():
            raise Closed("this store was closed; open it again")
        link = self._link
        if link is not None and not link.is_lost:
            return link
        if link is not None:
            # Nothing was under way, so the request can go to the next connection.
            self._lose(link, "the server has closed the connection")
        self._wait_for_first_try()
        link, state = self._link, self._state
        if link is None:
            raise LinkLost(f"the database is away since {state.since:%H:%M:%S} UTC ({state.error}); it is tried again")
        return link

    def _wait_for_first_try(self) -> None:
        """Until a moment after the loss; after that it costs nothing."""
        self._tried.wait(max(0.0, self._patient_until - time.monotonic()))

    def _lose(self, link: Breakable, why: str) -> None:
        """Begins to reconnect, unless another thread has noticed first."""
        with self._lock:
            if self._link is not link or self._closing.is_set():
                return
            self._link, self._state = None, LinkState(Reach.RECONNECTING, self._now(), why, self._now())
            self._patient_until = time.monotonic() + _PATIENCE
            self._tried.clear()
        logger.warning("the connection to the database is lost: %s", why)
        self._try_in_background((0.0, *self._pauses))

    def _try_in_background(self, pauses: Sequence[float]) -> None:
        tries = chain(((pause, Reach.RECONNECTING) for pause in pauses), repeat((EVERY, Reach.DEGRADED)))
        threading.Thread(target=self._reconnect, args=(tries,), name="surreal-reconnect", daemon=True).start()

    def _reconnect(self, tries: Iterator[tuple[float, Reach]]) -> None:
        for pause, status in tries:
            self._state = replace(self._state, status=status, next_try=self._now() + timedelta(seconds=pause))
            if self._closing.wait(pause):
                return
            try:
                link = self._opening()
            except (RetainError, OSError, RuntimeError) as error:
                # Also a wrong password: somebody may be about to set it right. And a machine that has no more threads.
                self._state = replace(self._state, error=str(error))
                self._tried.set()
            else:
                self._come_back(link)
                return

    def _come_back(self, link: Breakable) -> None:
        with self._lock:
            if not self._closing.is_set():
                self._link, self._state = link, LinkState(Reach.CONNECTED, self._now())
        self._tried.set()
        if self._closing.is_set():
            link.close()
            return
        logger.warning("the connection to the database is back")
        _tell(self._on_back)


def _tell(calls: Sequence[Callable[[], None]]) -> None:
    for call in calls:
        try:
            call()
        except RetainError as error:
            logger.warning("after a change of the connection: %s", error.message)
