"""Asking again when it may help, and never for longer than there is time."""

import queue
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from retain.domain.llm import Completion, Prompt
from retain.errors import LLMFailed, RetainError
from retain.llm.provider import Passing, Pieces, Provider, broke_off, for_good, late

TRIES = 5
FIRST_PAUSE = 0.5  # seconds, doubled each time
LONGEST_PAUSE = 20.0
REST = 60.0  # after a question that was given up; until then one try has to do
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Timing:
    """The time that passes, for tests to stand in for."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random


class Retrying:
    """A provider that is asked again after failures that may pass, all within the seconds that were given.

    One that has just failed so is asked only once for a while: whoever writes several memories while it is down should
    not wait for each of them.
    """

    def __init__(self, provider: Provider, timing: Timing | None = None) -> None:
        self.provider = provider
        self._timing = timing or Timing()
        self._down_until = float("-inf")

    def complete(self, prompt: Prompt, seconds: float) -> Completion:
        return self._tried(lambda left: _whole(self._asked(prompt, left)), seconds)

    def pieces(self, prompt: Prompt, seconds: float) -> Pieces:
        """Once words have come, a failure is final: they cannot be taken back."""
        first, rest = self._tried(lambda left: _begun(self._asked(prompt, left)), seconds)
        yield first
        yield from rest

    def _asked(self, prompt: Prompt, left: float) -> Pieces:
        return within(left, self.provider.pieces(prompt, left), self.provider.name)

    def _tried(self, attempt: Callable[[float], T], seconds: float) -> T:
        began = self._timing.now()
        deadline, tries = began + seconds, TRIES if began >= self._down_until else 1
        for tried in range(1, tries + 1):
            try:
                answer = attempt(deadline - self._timing.now())
            except Passing as failure:
                pause = self._pause(tried, failure)
                if tried == tries or self._timing.now() + pause >= deadline:
                    self._down_until = self._timing.now() + REST
                    raise _after(failure, tried) from None
                self._timing.sleep(pause)
            else:
                self._down_until = began
                return answer
        raise AssertionError("the last try returns or raises")

    def _pause(self, tried: int, failure: Passing) -> float:
        """Longer each time and never the same for two that failed together; what the provider asks for is obeyed."""
        longest: float = min(FIRST_PAUSE * 2 ** (tried - 1), LONGEST_PAUSE)
        return (failure.retry_after or 0.0) + longest * (0.5 + 0.5 * self._timing.chance())


def within(seconds: float, pieces: Pieces, provider: str) -> Pieces:
    """The pieces, for as long as there is time.

    They are made in a thread: looking up a name, and a server that sends a byte now and then, outlast
    any time-out of a socket. A thread that is given up ends with its next piece.
    """
    arrived: queue.SimpleQueue[str | Completion | RetainError | None] = queue.SimpleQueue()
    unwanted = threading.Event()
    deadline = time.monotonic() + seconds
    threading.Thread(target=_relay, args=(pieces, arrived, unwanted, provider), daemon=True).start()
    try:
        while True:
            try:
                piece = arrived.get(timeout=max(deadline - time.monotonic(), 0.0))
            except queue.Empty:
                raise late(provider, seconds) from None
            if piece is None:
                return
            if isinstance(piece, RetainError):
                raise piece
            yield piece
    finally:
        unwanted.set()


def _relay(
    pieces: Pieces,
    arrived: "queue.SimpleQueue[str | Completion | RetainError | None]",
    unwanted: threading.Event,
    provider: str,
) -> None:
    outcome: RetainError | None = broke_off(provider, "its reader failed")
    try:
        for piece in pieces:
            arrived.put(piece)
            if unwanted.is_set():
                break
        outcome = None
    except RetainError as error:
        outcome = error
    finally:  # whatever happens, nobody is left waiting
        arrived.put(outcome)
        pieces.close()  # type: ignore[attr-defined]  # they are generators


def _whole(pieces: Pieces) -> Completion:
    for piece in pieces:
        if isinstance(piece, Completion):
            if not piece.text.strip():
                raise for_good("the language model answered with nothing")
            return piece
    raise for_good("the language model ended without an answer")


def _begun(pieces: Pieces) -> tuple[str | Completion, Pieces]:
    return next(pieces), pieces


def _after(failure: Passing, tried: int) -> LLMFailed:
    if tried == 1:
        return failure
    return Passing(f"{failure.message} (tried {tried} times)", failure.retry_after, **failure.details)
