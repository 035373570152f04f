"""Work that nobody should wait for: counting accesses, making vectors that are missing."""

import logging
import queue
import threading
from collections.abc import Callable

from retain.domain.changes import Applied, AtVersion, Changes
from retain.domain.memory import Embedding, Memory
from retain.engine.parts import Parts
from retain.errors import EmbeddingFailed, RetainError

logger = logging.getLogger(__name__)

BATCH = 16
Job = Callable[[], object]


class Upkeep:
    """One background thread, started with the first job; it sleeps while there is none."""

    def __init__(self) -> None:
        self._jobs: queue.Queue[Job] = queue.Queue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._idle = threading.Event()
        self._idle.set()

    def later(self, job: Job) -> None:
        with self._lock:
            self._idle.clear()
            self._jobs.put(job)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._work, name="retain-upkeep", daemon=True)
                self._thread.start()

    def settle(self, seconds: float) -> bool:
        """Waits until everything is done; False when that took longer."""
        return self._idle.wait(seconds)

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            try:
                job()
            except RetainError as error:
                logger.warning("background work failed: %s", error.message)
            with self._lock:
                if self._jobs.empty():
                    self._idle.set()


def embed_missing(parts: Parts, progress: Callable[[int], None] | None = None) -> int:
    """Makes the vectors that are missing, or were made by another model; says for how many memories.

    Any process may do this at any time: a memory that changed meanwhile is left for the next round.
    """
    done: set[str] = set()
    model = parts.embedder.model
    while True:
        waiting = [(m, have) for m, have in parts.store.unembedded(model, BATCH + len(done)) if m.id not in done]
        if not waiting:
            return len(done)
        for memory, have in waiting[:BATCH]:
            _embed(parts, memory, have)
            done.add(memory.id)
        if progress:
            progress(len(done))


def _embed(parts: Parts, memory: Memory, have: int) -> None:
    chunks = parts.embedder.chunks(memory.text)
    vectors = tuple(parts.embedder.embed(chunks[have:]))
    embedding = Embedding(memory.id, parts.embedder.model, vectors, first=have)
    expects = (AtVersion(memory.id, memory.version),)
    outcome = parts.store.apply(Changes(at=parts.clock.now(), expects=expects, embeddings=(embedding,)))
    if not isinstance(outcome, Applied):
        logger.info("memory %s changed while its vectors were made", memory.id)


def embed_if_ready(parts: Parts) -> int:
    """As `embed_missing`, but does nothing while there is no model."""
    if parts.embedder.state().name != "ready":
        return 0
    try:
        return embed_missing(parts)
    except EmbeddingFailed as error:
        logger.warning("vectors are still missing: %s", error.message)
        return 0
