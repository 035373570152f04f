"""One run over a folder: what changed since the last one is read, cut, stored and embedded."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from retain.domain.code import CodeFile, CodeIndex, IndexStatus, Mark
from retain.domain.recall import Warning
from retain.engine.code.indexing.compare import Comparison
from retain.engine.code.indexing.vectors import embed_missing
from retain.engine.code.indexing.workers import parsed_files
from retain.engine.code.parsing.parse import missing_grammar, module_name
from retain.engine.code.reading.files import Skipped, Text, read, walk
from retain.engine.embed import PATIENCE, why_not
from retain.engine.parts import Parts
from retain.errors import EmbeddingFailed, NotFound, RetainError

logger = logging.getLogger(__name__)
T = TypeVar("T")

# Chunks that are saved together. With 1,000 a run is a tenth faster, and a writer beside it waits up to 0.3 s.
BATCH = 300
SHOWN = 3  # ignore files that a warning names
REPORT = 0.3  # seconds between two reports at least


class Cut(Exception):
    """The run is to end, or the index is no longer its own. What it has saved stays, and the next run goes on."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What one run did, in files, and how many chunks those were cut into."""

    added: int = 0
    changed: int = 0
    moved: int = 0
    removed: int = 0
    unchanged: int = 0
    """Those that were only touched are among them."""
    chunks: int = 0

    @property
    def has_changes(self) -> bool:
        return bool(self.added or self.changed or self.moved or self.removed)


class Run:
    """One run. `index`, `tally` and `warnings` can be read from any thread while it works."""

    def __init__(
        self,
        parts: Parts,
        index: CodeIndex,
        stop: threading.Event,
        told: Callable[[], object] = lambda: None,
        turn: "threading.Lock | None" = None,
    ) -> None:
        """`index` is one that has been claimed for this run; `told` is called whenever there is news.

        Of the runs that share a `turn` one at a time makes vectors, so that a question gets its own in between.
        """
        self.index, self.tally = index, Tally()
        self.warnings: tuple[Warning, ...] = ()
        self._parts, self._stop, self._told = parts, stop, told
        self._turn = turn or threading.Lock()
        self._root = Path(index.project.path)
        self._skipped = Skipped()
        self._moved: list[tuple[str, str]] = []
        self._marks: dict[str, Mark] = {}
        self._reported = time.monotonic()

    def work(self) -> None:
        """Brings the index up to date. However it ends, the claim is given back."""
        status, error = IndexStatus.FAILED, "the run ended with a fault of its own; the log has it"
        try:
            self._index_files()
            self._embed()
            status, error = IndexStatus.COMPLETED, ""
        except (Cut, NotFound):  # not found: the index was dropped
            status, error = IndexStatus.PENDING, ""
        except RetainError as failure:
            # One that was to end anyway may have had its store closed under it.
            status = IndexStatus.PENDING if self._stop.is_set() else status
            error = "" if self._stop.is_set() else failure.message
        except OSError as failure:
            error = f"{self._root} cannot be read: {failure}"
        finally:
            self._end(status, error)

    def _index_files(self) -> None:
        seen = list(self._while_wanted(walk(self._root, self._skipped, self._report)))
        self._warn_of_ignore_files()
        todo = Comparison(seen, self._parts.store.marks(self.index.key))
        self._count(unchanged=todo.unchanged)
        self._report(total_files=len(seen), indexed_files=todo.unchanged, now=True)
        languages: set[str] = set()
        for batch in _batches(parsed_files(self._to_parse(todo))):
            self._save(batch, todo)
            languages.update(file.parsed.language for file in batch)
        self._save([], todo)
        if gone := todo.gone:
            self._parts.store.save_code(self.index.key, (), (), gone)
            self._count(removed=len(gone))
        self._warn_of_grammars(languages)
        self._recount()

    def _to_parse(self, todo: Comparison) -> Iterator[Text]:
        """The files whose text is new; others find their place on the way."""
        for path in self._while_wanted(todo.waiting):
            file = read(self._root, path)
            if isinstance(file, str):
                self._skipped[file] += 1
                todo.left_out(path, file)
                self.index = replace(self.index, total_files=self.index.total_files - 1)
            elif todo.is_touched(file):
                self._marks[path] = file.mark
                self._count(unchanged=1)
            elif old := todo.moved_from(file):
                self._moved.append((old, path))
                self._marks[path] = file.mark
                self._count(moved=1)
                if module_name(old) != module_name(path):
                    yield file  # what stands outside of everything is called after the file
            else:
                yield file

    def _save(self, files: list[CodeFile], todo: Comparison) -> None:
        store, key = self._parts.store, self.index.key
        moved, marks = self._moved, self._marks
        self._moved, self._marks = [], {}
        if moved:
            store.save_code(key, (), moved, ())
        if files:
            store.save_code(key, files, (), ())
        if marks:
            store.mark_code(key, marks)
        read = [file for file in files if not todo.has_moved(file.path)]
        known = sum(todo.was_there(file.path) for file in read)
        chunks = sum(len(file.parsed.chunks) for file in read)
        self._count(added=len(read) - known, changed=known, chunks=chunks)
        done = self.index.indexed_files + len(read) + len(marks)
        self._report(indexed_files=done, total_chunks=self.index.total_chunks + chunks)

    def _embed(self) -> None:
        embedder = self._parts.embedder
        if not embedder.wait(PATIENCE):
            self._warn("embedding_failed", f"{why_not(embedder)}; without vectors code is found by words only")
            return

        def told(embedded: int) -> None:
            # Chunks that another model had embedded are counted already.
            self._report(embedded_chunks=min(self.index.embedded_chunks + embedded, self.index.total_chunks))

        while not self._turn.acquire(timeout=REPORT):
            self._report()
        try:
            embed_missing(self._parts, self.index.key, told)
        except EmbeddingFailed as error:
            self._warn("embedding_failed", f"{error.message}; the code without vectors is found by words only")
        finally:
            self._turn.release()

    def _while_wanted(self, items: Iterable[T]) -> Iterator[T]:
        for item in items:
            self._report()
            yield item

    def _report(self, *, now: bool = False, **news: Any) -> None:
        """Notes the news, and writes it down if the last time was a while ago; ends the run when it should end."""
        if news:
            self.index = replace(self.index, **news)
        if self._stop.is_set():
            raise Cut
        if now or time.monotonic() - self._reported >= REPORT:
            self.index = replace(self.index, beat=self._parts.clock.now(), skipped=dict(self._skipped))
            if not self._parts.store.report_index(self.index):
                raise Cut
            self._reported = time.monotonic()
            self._told()

    def _recount(self) -> None:
        """Which chunks took the place of others is known to the store only."""
        counted = self._parts.store.recount_index(self.index)
        if counted is None:
            raise Cut
        self.index = replace(counted, skipped=dict(self._skipped))
        self._report(now=True)

    def _end(self, status: IndexStatus, error: str) -> None:
        now = self._parts.clock.now()
        completed = now if status is IndexStatus.COMPLETED else None
        ended = replace(self.index, status=status, error=error or None, completed=completed, beat=now)
        self.index = replace(ended, skipped=dict(self._skipped))
        if error:
            logger.warning("indexing %s failed: %s", self._root, error)
        try:
            self._parts.store.report_index(self.index)
        except RetainError as failure:
            # The store was closed or is away. The next run sees that nobody is at it any more.
            logger.info("the end of indexing %s could not be noted: %s", self._root, failure.message)
        self._told()

    def _count(self, **more: int) -> None:
        self.tally = replace(self.tally, **{name: getattr(self.tally, name) + n for name, n in more.items()})

    def _warn(self, code: str, message: str) -> None:
        self.warnings = (*self.warnings, Warning(code, message))

    def _warn_of_ignore_files(self) -> None:
        if refused := self._skipped.refused:
            more = [f"{len(refused) - SHOWN} more"] if len(refused) > SHOWN else []
            why = "what it wants left out is not known, so its folder is not indexed"
            self._warn("ignore_file", f"{'; '.join(refused[:SHOWN] + more)}: {why}; make it shorter, then index again")

    def _warn_of_grammars(self, languages: set[str]) -> None:
        if missing := sorted(filter(missing_grammar, languages)):
            cure = 'they come with the extra `code`: pip install ".[code]" in the folder of Retain, then index again'
            self._warn("missing_extra", f"no grammar for {', '.join(missing)}: cut by paragraphs only; {cure}")


def _batches(files: Iterable[CodeFile]) -> Iterator[list[CodeFile]]:
    """In portions of about so many chunks, so that search soon works on what is there."""
    batch: list[CodeFile] = []
    chunks = 0
    for file in files:
        batch.append(file)
        chunks += len(file.parsed.chunks)
        if chunks >= BATCH or len(batch) >= BATCH:
            yield batch
            batch, chunks = [], 0
    if batch:
        yield batch
