"""Parsing beside the thread that stores, and where a grammar that crashes or never ends does no harm."""

import logging
import os
import pickle
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from itertools import islice
from queue import SimpleQueue

from retain.domain.code import CodeFile
from retain.engine.code.indexing.clean import parsed_file
from retain.engine.code.reading.files import Text

logger = logging.getLogger(__name__)

BATCH = 8  # files that go to a process together
MORE = 300  # files for which one more process is worth its start
MOST = 4
SECONDS = 30.0  # for a batch; a megabyte of ordinary code takes about one
ENDING = 0.5

Batch = list[Text]
Answer = Future[list[CodeFile]]


def parsed_files(texts: Iterable[Text], seconds: float = SECONDS) -> Iterator[CodeFile]:
    """Each file parsed, in order, by other processes; this one is free to store.

    Threads would take turns with each other, and grammars are native code: some input crashes one or keeps it busy
    for minutes. Such a file is cut by paragraphs instead.
    """
    crew = Crew(max(1, min(MOST, (os.cpu_count() or 1) - 1)), seconds)
    try:
        yield from crew.parse(texts)
    finally:
        crew.end()


class Crew:
    """Some processes, each with a thread that waits for its answers; started as files come.

    Not the standard library's pool: that one makes the interpreter wait at its end for all that was begun.
    """

    def __init__(self, size: int, seconds: float = SECONDS) -> None:
        self._size, self._seconds = size, seconds
        self._todo: SimpleQueue[tuple[Batch, Answer] | None] = SimpleQueue()
        self._parsers: list[Parser] = []

    def parse(self, texts: Iterable[Text]) -> Iterator[CodeFile]:
        waiting: deque[Answer] = deque()
        for sent, batch in enumerate(_batches(texts)):
            if len(self._parsers) < self._size and sent * BATCH >= len(self._parsers) * MORE:
                self._hire()
            waiting.append(Future())
            self._todo.put((batch, waiting[-1]))
            if len(waiting) > 2 * self._size:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()

    def end(self) -> None:
        """Also when not all answers were waited for."""
        for _ in self._parsers:
            self._todo.put(None)
        for parser in self._parsers:
            parser.end()

    def _hire(self) -> None:
        parser = Parser(self._seconds)
        self._parsers.append(parser)
        threading.Thread(target=self._work, args=(parser,), name="retain-parse", daemon=True).start()

    def _work(self, parser: "Parser") -> None:
        while (item := self._todo.get()) is not None:
            batch, answer = item
            try:
                answer.set_result(parser.parse(batch))
            except BaseException as error:  # noqa: BLE001 - raised where the answer is waited for
                answer.set_exception(error)


class Parser:
    """One process that parses, and another one in its place when it is no more."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._ended = False
        self.process: subprocess.Popen[bytes] | None = None

    def parse(self, batch: Batch) -> list[CodeFile]:
        """All of the batch; where that fails, one by one, and what fails even alone by paragraphs."""
        parsed = self._asked(batch)
        if parsed is not None:
            return parsed
        if len(batch) > 1:
            return [file for text in batch for file in self.parse([text])]
        if not self._ended:
            logger.warning("%s cannot be parsed, and is cut by paragraphs", batch[0].path)
        return [parsed_file(text, plainly=True) for text in batch]

    def end(self) -> None:
        self._ended = True
        if process := self.process:
            process.kill()
            with suppress(subprocess.TimeoutExpired):
                process.wait(ENDING)

    def _asked(self, batch: Batch) -> list[CodeFile] | None:
        """What the process makes of a batch; None when it died of it, or had to be ended."""
        process = self._running()
        if process is None or process.stdin is None or process.stdout is None:
            return None
        late = threading.Timer(self._seconds, process.kill)
        late.start()
        try:
            pickle.dump(batch, process.stdin, pickle.HIGHEST_PROTOCOL)
            process.stdin.flush()
            answer: list[CodeFile] = pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError, ValueError, LookupError, AttributeError, ImportError):
            # It was ended or died: an answer that was cut off may be anything.
            process.kill()
            process.wait()
            return None
        finally:
            late.cancel()
        return answer

    def _running(self) -> "subprocess.Popen[bytes] | None":
        if self._ended or (self.process is not None and self.process.poll() is None):
            return None if self._ended else self.process
        # -P: the folder that this process happens to be in may be the project, and must not be imported from.
        command = [sys.executable, "-P", "-m", "retain.engine.code.indexing.worker"]
        pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
        try:
            self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere)
        except OSError as error:
            logger.warning("no process to parse with (%s); code is cut by paragraphs", error)
            self.process = None
        return self.process


def _batches(texts: Iterable[Text]) -> Iterator[Batch]:
    texts = iter(texts)
    while batch := list(islice(texts, BATCH)):
        yield batch
