"""Code: folders are indexed in the background, and what is indexed can be asked about."""

import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from retain.domain.code import CodeIndex, IndexStatus, index_key
from retain.domain.ids import id_of
from retain.domain.recall import Warning
from retain.domain.session import Caller, Project
from retain.engine.code.finding import search, symbols
from retain.engine.code.finding.map import CodeMap, code_map
from retain.engine.code.finding.search import CodeQuestion
from retain.engine.code.finding.which import known_project, named
from retain.engine.code.indexing.holding import as_it_is
from retain.engine.code.indexing.index import Tally
from retain.engine.code.indexing.jobs import TICK, Jobs, Told
from retain.engine.code.indexing.watch import Watcher
from retain.engine.code.reading.roots import Roots
from retain.engine.parts import Parts
from retain.errors import InvalidPath, NotFound, Refused, RetainError, invalid

CLOSING = 0.02  # seconds: a client gives a server 100 ms to end
DROPPING = 5.0  # seconds that a run is given to end before its index is dropped


@dataclass(frozen=True, slots=True)
class Indexing:
    """What indexing has come to: the index as it is, what the run did so far, and whether it is still at it."""

    index: CodeIndex
    tally: Tally = field(default_factory=Tally)
    running: bool = False
    joined: bool = False
    """Another call, or another process, had begun already."""
    watched: bool = False
    warnings: tuple[Warning, ...] = ()


class Code:
    """Safe to call from any thread."""

    def __init__(self, parts: Parts, roots: Roots | None = None) -> None:
        self._parts, self._roots = parts, roots or Roots()
        self._jobs = Jobs(parts)
        self._watchers: dict[str, Watcher] = {}
        self._refreshed: deque[CodeIndex] = deque(maxlen=100)
        self._lock = threading.Lock()
        self._closing = threading.Event()

    def index(
        self,
        path: str,
        caller: Caller,
        *,
        watch: bool = False,
        patience: float | None = 3.0,
        progress: Told | None = None,
    ) -> Indexing:
        """Brings the index of a folder up to date; after `patience` seconds it goes on in the background.

        With None it is waited for. A second call while it works joins the first. With `watch`, changes are indexed
        until this is closed.
        """
        root = self._roots.folder(path)
        project = Project(id_of(str(root)), root.name, str(root), self._parts.clock.now())
        if watch:
            self._watch(project, caller.user)
        late = None if patience is None else time.monotonic() + patience
        job, joined = self._jobs.begin(project, caller.user)
        while job is None:
            other = self._elsewhere(project, caller, late, progress)
            if other.running or self._closing.is_set():
                return replace(other, watched=watch)
            job, _ = self._jobs.begin(project, caller.user)  # it may have passed what has changed since
        if progress:
            job.hear(progress)
        job.follow(None if late is None else max(late - time.monotonic(), 0.0))
        return Indexing(job.run.index, job.run.tally, not job.ended, joined, watch, job.run.warnings)

    def status(self, project: str, caller: Caller) -> CodeIndex:
        """How far the index of a project is, by its id, name or path; `pending` when it was never indexed."""
        try:
            return self._as_it_is(self._one(project, caller))
        except (NotFound, Refused):
            known = self._known(project, caller)
            if known is None:
                raise
            return CodeIndex(known, caller.user)

    def indexes(self, caller: Caller) -> list[CodeIndex]:
        return [self._as_it_is(index) for index in self._parts.store.indexes(caller.user)]

    def drop(self, project: str, caller: Caller) -> int:
        """Destroys an index, also one that is being made; says how many chunks it had. The files stay."""
        key = self._one(project, caller).key
        self._leave(key)
        return self._parts.store.drop_index(key)

    def stop(self, caller: Caller) -> None:
        """Ends the caller's runs and watchers, before all that they index is destroyed."""
        for index in self._parts.store.indexes(caller.user):
            self._leave(index.key)

    def search(self, question: CodeQuestion, caller: Caller) -> search.CodeAnswer:
        """Code about a question, best first. Files that changed since they were indexed are left out."""
        return search.search(self._parts, question, caller)

    def refresh(self, keys: Sequence[str], caller: Caller) -> None:
        """Brings indexes up to date in the background, for one that lives long enough."""
        for index in self._parts.store.indexes(caller.user):
            # Whoever asked has an answer, whatever comes of this.
            with suppress(RetainError):
                if index.key in keys and self._may_index(index.project):
                    self._jobs.begin(index.project, index.user, new=False)

    def definitions(self, asked: CodeQuestion, caller: Caller) -> symbols.Definitions:
        """Where the symbol that is asked for is defined."""
        return symbols.definitions(self._parts, asked.text, asked.project, caller, asked.limit, asked.languages)

    def references(self, asked: CodeQuestion, caller: Caller) -> symbols.References:
        """Which lines use the symbol that is asked for."""
        return symbols.references(self._parts, asked.text, asked.project, caller, asked.limit, asked.languages)

    def map(self, project: str | None, caller: Caller, *, budget: int = 2000, focus: Sequence[str] = ()) -> CodeMap:
        return code_map(self._parts, project, caller, budget=budget, focus=focus)

    def wait_while_watching(self, told: Told) -> None:
        """Tells of every index that a change has brought up to date; returns when this is closed, or interrupted."""
        while not self._closing.wait(TICK):
            while self._refreshed:
                told(self._refreshed.popleft())

    def close(self) -> None:
        """Ends what runs in the background; a run that is cut is resumed by the next."""
        self._closing.set()
        for watcher in list(self._watchers.values()):
            watcher.stop()
        self._jobs.close(CLOSING)

    def _watch(self, project: Project, user: str) -> None:
        key = index_key(project.id, user)
        with self._lock:
            if key not in self._watchers:
                self._watchers[key] = Watcher(Path(project.path), lambda: self._refresh(project, user))

    def _refresh(self, project: Project, user: str) -> None:
        """Runs once more from now on, whoever is at it now: that run may have passed the file that changed."""
        key = index_key(project.id, user)
        job = None
        while not self._closing.is_set():
            with self._lock:
                if key not in self._watchers:
                    return
                if not self._may_index(project) or not self._is_there(key, user):
                    del self._watchers[key]  # dropped, by whichever process: it is not to be made anew
                    return
                job, joined = self._jobs.begin(project, user, new=False)
            if job is None:
                self._closing.wait(TICK)
                continue
            job.follow(None)
            if not joined:
                break
        if job and job.run.tally.has_changes:
            self._refreshed.append(job.run.index)

    def _leave(self, key: str) -> None:
        with self._lock:
            watcher = self._watchers.pop(key, None)
        if watcher:
            watcher.stop()
        self._jobs.stop(key, DROPPING)

    def _is_there(self, key: str, user: str) -> bool:
        return any(index.key == key for index in self._parts.store.indexes(user))

    def _may_index(self, project: Project) -> bool:
        """Whether a folder that was indexed before is still the same, and still allowed."""
        try:
            return self._roots.folder(project.path) == Path(project.path)
        except InvalidPath:
            return False

    def _elsewhere(self, project: Project, caller: Caller, late: float | None, progress: Told | None) -> Indexing:
        """Follows the run of another process to its end, or to the end of patience."""
        while True:
            index = self._as_it_is(self._one(project.id, caller))
            running = index.status is IndexStatus.INDEXING
            if progress:
                progress(index)
            if not running or (late is not None and time.monotonic() >= late) or self._closing.wait(TICK):
                break
        warning = Warning("already_indexing", "another process is indexing this project; ask for its status")
        return Indexing(index, running=running, joined=True, warnings=(warning,) if running else ())

    def _one(self, project: str, caller: Caller) -> CodeIndex:
        found = named(self._parts.store, project, self._parts.store.indexes(caller.user), caller)
        if len(found) > 1:
            paths = ", ".join(index.project.path for index in found)
            raise invalid("project_id", project, f"the name of several projects; use the path of one: {paths}")
        return found[0]

    def _known(self, project: str, caller: Caller) -> Project | None:
        return known_project(self._parts.store, project.strip(), caller)

    def _as_it_is(self, index: CodeIndex) -> CodeIndex:
        job = self._jobs.running(index.key)
        return job.run.index if job else as_it_is(index, self._parts.clock.now())
