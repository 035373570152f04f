"""Indexing in the background: one run for a folder at a time, on a thread of its own."""

import threading
import time
from collections.abc import Callable

from retain.domain.code import CodeIndex, IndexStatus, index_key
from retain.domain.session import Project
from retain.engine.code.indexing.holding import claimed, new_holder
from retain.engine.code.indexing.index import Run
from retain.engine.parts import Parts

Told = Callable[[CodeIndex], None]

TICK = 0.25  # seconds between two looks at a run of another process
MODEL = 60.0  # seconds that a finished run waits for a model that is still loading


class Job:
    """A run on its thread; begins at once."""

    def __init__(self, parts: Parts, index: CodeIndex, after: Callable[[Run], object], turn: threading.Lock) -> None:
        self._stop, self._ended, self._after = threading.Event(), threading.Event(), after
        self._hearing: list[Told] = []
        self.run = Run(parts, index, self._stop, self._tell, turn)
        self._thread = threading.Thread(target=self._work, name="retain-index", daemon=True)
        self._thread.start()

    @property
    def ended(self) -> bool:
        return self._ended.is_set()

    def hear(self, told: Told) -> None:
        """Is told how far the run is, now and until it ends, on whichever thread works on it."""
        self._hearing.append(told)
        told(self.run.index)

    def follow(self, seconds: float | None) -> bool:
        """Waits for the end, for so long at most if that is limited; says whether it came."""
        return self._ended.wait(seconds)

    def stop(self) -> None:
        self._stop.set()

    def _work(self) -> None:
        try:
            self.run.work()
        finally:
            self._ended.set()
        self._after(self.run)

    def _tell(self) -> None:
        for told in self._hearing:
            told(self.run.index)


class Jobs:
    """The runs of this process."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}
        self._turn = threading.Lock()
        self._closed = False

    def begin(self, project: Project, user: str, *, new: bool = True) -> tuple[Job | None, bool]:
        """The run for a folder, and whether it had begun already; None while another process is at it.

        What is not `new` is None also when there is no index any more.
        """
        with self._lock:
            job = self.running(index_key(project.id, user))
            if job or self._closed:
                return job, True
            now = self._parts.clock.now()
            wanted = CodeIndex(project, user, IndexStatus.INDEXING, started=now, holder=new_holder(), beat=now)
            index = claimed(self._parts.store, wanted, now, new=new)
            if index is None:
                return None, True
            job = self._jobs[index.key] = Job(self._parts, index, self._after, self._turn)
            return job, False

    def running(self, key: str) -> Job | None:
        job = self._jobs.get(key)
        return None if job is None or job.ended else job

    def stop(self, key: str, seconds: float) -> None:
        """Ends the run of an index; what it has saved stays."""
        if job := self.running(key):
            job.stop()
            job.follow(seconds)

    def close(self, seconds: float) -> None:
        """Ends all; one that takes longer than that is left to the end of the process, and resumed by the next."""
        self._closed = True
        running = [job for job in list(self._jobs.values()) if not job.ended]
        for job in running:
            job.stop()
        late = time.monotonic() + seconds
        for job in running:
            job.follow(max(late - time.monotonic(), 0.0))

    def _after(self, run: Run) -> None:
        """A model that took longer to load than the files is not forgotten."""
        embedder = self._parts.embedder
        is_late = run.index.status is IndexStatus.COMPLETED and embedder.state().name == "loading"
        if is_late and embedder.wait(MODEL) and not self._closed:
            self.begin(run.index.project, run.index.user, new=False)
