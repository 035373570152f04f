"""Telling a client how far a long call is, and, once it has its answer, how far the work behind it."""

import asyncio
import threading
import time
from collections.abc import Callable

from retain.surfaces.mcp.subscriptions import Context

# Done, of how much, and a line for people. May be called from any thread.
Progress = Callable[[float, float, str], None]

# Seconds between two notifications; the last one, at the end of the work, is always sent.
PAUSE = 0.2


def silent(done: float, total: float, message: str) -> None:
    """For a client that did not ask for progress."""


def progress_for(ctx: Context) -> Progress:
    """Sends to the client under the token it gave with the request; silent if it gave none."""
    token = (ctx.meta or {}).get("progress_token")
    return silent if token is None else _Reports(ctx, token).tell


class _Reports:
    def __init__(self, ctx: Context, token: str | int) -> None:
        self._ctx, self._token = ctx, token
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._sent, self._next = -1.0, 0.0

    def tell(self, done: float, total: float, message: str) -> None:
        with self._lock:
            # The protocol wants every value to be above the one before.
            if done <= self._sent or (time.monotonic() < self._next and done < total):
                return
            self._sent, self._next = done, time.monotonic() + PAUSE
        sending = self._ctx.session.send_progress_notification(self._token, done, total, message)
        if self._loop.is_running():
            asyncio.run_coroutine_threadsafe(sending, self._loop)
        else:
            sending.close()  # the client has left
