"""Work that nobody should wait for: counting accesses, making vectors that are missing."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable

from retain.domain.changes import Applied, AtVersion, Changes
from retain.domain.memory import Embedding, Memory
from retain.engine.embed import pieces
from retain.engine.parts import Parts
from retain.errors import Closed, EmbeddingFailed, RetainError

logger = logging.getLogger(__name__)

BATCH = 16
# Seconds for which small bookkeeping is gathered, so that it neither competes with a row of calls nor takes the
# write lock for each of them.
GATHER = 0.25
Job = Callable[[], object]


class Upkeep:
    """One background thread, started with the first job; it sleeps while there is none, and ends with `end`."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._jobs: deque[Job] = deque()
        self._gathering: dict[Job, float] = {}
        self._busy = False
        self._hurry = self._ended = False
        self._thread: threading.Thread | None = None

    def later(self, job: Job) -> None:
        """Runs a job after those that wait already."""
        with self._changed:
            if not self._ended:
                self._jobs.append(job)
                self._wake()

    def soon(self, job: Job) -> None:
        """Runs a job once, a moment after it was first asked for, however often that was."""
        with self._changed:
            if not self._ended:
                self._gathering.setdefault(job, time.monotonic() + GATHER)
                self._wake()

    def settle(self, seconds: float) -> bool:
        """Waits until everything is done, without gathering any longer; False when that took longer."""
        with self._changed:
            self._hurry = True
            self._changed.notify_all()
            done = self._changed.wait_for(lambda: not (self._jobs or self._gathering or self._busy), seconds)
            self._hurry = False
            return done

    def end(self) -> None:
        """Gives up what waits, and ends the thread after the job that is under way. What comes later is never run."""
        with self._changed:
            self._ended = True
            self._jobs.clear()
            self._gathering.clear()
            self._changed.notify_all()

    def _wake(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._work, name="retain-upkeep", daemon=True)
            self._thread.start()
        self._changed.notify_all()

    def _work(self) -> None:
        while job := self._next():
            try:
                job()
            except Closed as error:
                logger.debug("background work was given up: %s", error)
            except (RetainError, OSError) as error:
                logger.warning("background work failed: %s", error)
            finally:
                del job  # whatever it works for may go while this thread sleeps
                with self._changed:
                    self._busy = False
                    self._changed.notify_all()

    def _next(self) -> Job | None:
        with self._changed:
            while not self._ended:
                ready = self._ready()
                if ready:
                    self._busy = True
                    return ready
                due = min(self._gathering.values(), default=None)
                self._changed.wait(None if due is None else max(due - time.monotonic(), 0.0))
            return None

    def _ready(self) -> Job | None:
        if self._jobs:
            return self._jobs.popleft()
        now = time.monotonic()
        due = next((job for job, at in self._gathering.items() if self._hurry or at <= now), None)
        if due:
            del self._gathering[due]
        return due


def embed_missing(parts: Parts, progress: Callable[[int], None] | None = None, *, all_anew: bool) -> int:
    """Makes the vectors that are missing; says for how many memories.

    Any process may do this at any time: a memory that changed meanwhile is left for the next round. What another
    model, or an earlier file of this one, has embedded is done again only when asked for: two windows with two models
    would never end.
    """
    done = 0
    passed_over: set[str] = set()
    model = parts.embedder.model
    while True:
        found = parts.store.unembedded(model, BATCH + len(passed_over), by_others=all_anew, earlier=all_anew)
        waiting = [(memory, have) for memory, have in found if memory.id not in passed_over]
        if not waiting:
            return done
        for memory, have in waiting[:BATCH]:
            if embed(parts, memory, have):
                done += 1
            else:
                passed_over.add(memory.id)
        if progress:
            progress(done)


def embed(parts: Parts, memory: Memory, have: int) -> bool:
    """Makes the vectors that a memory lacks; whether that went through: not when it changed meanwhile."""
    chunks = pieces(parts.embedder, memory.text, memory.title)
    vectors = tuple(parts.embedder.embed(chunks[have:]))
    embedding = Embedding(memory.id, parts.embedder.model, vectors, first=have)
    expects = (AtVersion(memory.id, memory.version),)
    outcome = parts.store.apply(Changes(at=parts.clock.now(), expects=expects, embeddings=(embedding,)))
    return isinstance(outcome, Applied)


def embed_if_ready(parts: Parts) -> int:
    """As `embed_missing`, but does nothing while there is no model."""
    if parts.embedder.state().name != "ready":
        return 0
    try:
        return embed_missing(parts, all_anew=False)
    except EmbeddingFailed as error:
        logger.warning("vectors are still missing: %s", error.message)
        return 0
