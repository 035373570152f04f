"""SQLite connections: a small pool, short transactions, and errors that say what happened."""

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from retain.errors import Closed, StoreBusy, StoreCorrupt, StoreDown
from retain.stores.sqlite.failures import BUSY_SECONDS, busy, explained, files_of, is_busy

MEMORY = Path(":memory:")
ELSEWHERE = "Make it writable and restart this window, or set RETAIN_HOME to another folder"
# Instructions of SQLite's machine between two looks at the deadline: about a tenth of a millisecond.
_STEPS_PER_LOOK = 10_000
# Above this the log is cut even if that takes a wait for readers. SQLite starts it anew only in a moment
# without readers, and eight busy windows may never leave one.
LOG_BYTES = 64_000_000
_LOG_WAIT = 500  # milliseconds
_RETRY = 0.005  # seconds

_pools: "weakref.WeakSet[Pool]" = weakref.WeakSet()


class Pool:
    """Hands out connections, each to one thread at a time; more are opened only while all are in use."""

    def __init__(self, path: Path, query_seconds: float = 5.0) -> None:
        # As SQLite sees it: its log lies beside the file that a link points to, and the working folder may change.
        self.path = path if path == MEMORY else path.resolve()
        self.query_seconds = query_seconds
        self.damage: str | None = None
        """What SQLite said when it met a damaged page, if it did."""
        self.is_read_only = False
        """Whether the file or its folder cannot be written to; what is asked of it then makes no other file."""
        self._idle: list[_Connection] = []
        self._file: tuple[int, ...] | None = None
        self._closed = False
        self.log_bytes = LOG_BYTES
        self.busy_seconds = BUSY_SECONDS
        self._patience = 1
        self._make_locks()
        _pools.add(self)

    @contextmanager
    def view(self) -> Iterator["_Connection"]:
        """What one thread reads within is one transaction; within another view it is that one. Errors pass as they
        are: they need not be the store's."""
        if viewed := self._viewed():
            yield viewed
            return
        with self._borrowed() as connection:
            with self._noticed():
                connection.db.execute("begin")
                _patiently(connection.db, "select 1 from sqlite_schema", time.monotonic() + self.busy_seconds)
            self._views.connection = connection
            try:
                yield connection
            finally:
                self._views.connection = None
                if connection.db.in_transaction:
                    connection.db.execute("rollback")

    @contextmanager
    def reading(self, seconds: float | None = None) -> Iterator[sqlite3.Connection]:
        """A few queries in one view of the store, cut off together at the deadline."""
        with self.view() as connection, self._noticed(), connection.until(self._late(seconds)):
            yield connection.db

    @contextmanager
    def plain(self, seconds: float | None = None) -> Iterator[sqlite3.Connection]:
        """A connection without a transaction, for what SQLite refuses to do inside one."""
        with self._borrowed() as connection, self._noticed(), connection.until(self._late(seconds)):
            yield connection.db

    @contextmanager
    def writing(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """One transaction: committed at the end of the block, rolled back when it raises.

        A durable one survives a power cut; the other only a crash of the process. The wait for other threads
        and for other processes is one wait, of `busy_seconds` at most.
        """
        if self.is_read_only:
            raise StoreDown(f"{self.path} cannot be written to, nor its folder; nothing was stored. {ELSEWHERE}")
        late = time.monotonic() + self.busy_seconds
        with self._noticed(), self._turn(), self._borrowed() as connection:
            connection.sync_fully(durable)
            connection.wait_for_others(max(late - time.monotonic(), 0.0))
            _patiently(connection.db, "begin immediate", late)
            connection.wait_for_others(BUSY_SECONDS)
            try:
                if connection.file != self._found():
                    raise StoreBusy(f"{self.path} was replaced by another file; nothing was written, try again")
                yield connection.db
                connection.db.execute("commit")
            except BaseException:
                if connection.db.in_transaction:
                    connection.db.execute("rollback")
                raise
            if self._log_is_long():
                # The write is committed: whatever goes wrong with the log now is no reason to say otherwise.
                with suppress(sqlite3.Error):
                    self._patience = 1 if _cut_log(connection.db) else self._patience * 2

    def cut_log(self) -> bool:
        """Moves the log into the file and empties it; False while a reader still needs it."""
        with self.plain() as db:
            return _cut_log(db)

    def close(self) -> None:
        # A thread may be using the one connection of an in-memory database; others are closed as they come back.
        with self._shared or nullcontext(), self._lock:
            self._closed = True
            self._let_go()

    def after_fork(self) -> None:
        """In a child process: SQLite forbids the use of a connection that the parent opened."""
        self._make_locks()
        if self.path != MEMORY:
            self._inherited, self._idle = self._idle, []

    def _viewed(self) -> "_Connection | None":
        return getattr(self._views, "connection", None)

    def _late(self, seconds: float | None) -> float:
        return time.monotonic() + (seconds or self.query_seconds)

    def _make_locks(self) -> None:
        self._lock = threading.Lock()
        # Threads of one process queue here, so that only processes ever meet at SQLite's own lock.
        self._writer = threading.RLock()
        # An in-memory database is its connection: all threads take turns with the one.
        self._shared = threading.RLock() if self.path == MEMORY else None
        # What each thread is reading in right now.
        self._views = threading.local()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """The right to write among the threads of this process."""
        if not self._writer.acquire(timeout=self.busy_seconds):
            raise busy(self.path, self.busy_seconds)
        try:
            yield
        finally:
            self._writer.release()

    @contextmanager
    def _noticed(self) -> Iterator[None]:
        try:
            with explained(self.path):
                yield
        except StoreCorrupt as error:
            self.damage = error.message
            raise

    @contextmanager
    def _borrowed(self) -> Iterator["_Connection"]:
        if self._shared:
            with self._shared:
                yield self._take()
            return
        connection = self._take()
        try:
            yield connection
        except BaseException:
            # Whatever went wrong may have left the connection in the middle of something.
            connection.db.close()
            raise
        self._give_back(connection)

    def _take(self) -> "_Connection":
        with self._lock:
            if self._closed:
                raise Closed("the store was closed; open it again")
            self._look()
            if self._idle:
                return self._idle[-1] if self._shared else self._idle.pop()
            file = self._file
        with self._noticed():
            connection = _Connection(self.path, file, self._address())
        if self._shared:
            self._idle.append(connection)
        return connection

    def _give_back(self, connection: "_Connection") -> None:
        with self._lock:
            if self._closed or len(self._idle) >= 4 or connection.file != self._file:
                connection.db.close()
            else:
                self._idle.append(connection)

    def _look(self) -> None:
        """Lets go of a file that was restored over, set aside or deleted: what is written to it is lost."""
        found = self._found()
        if found == self._file:
            return
        if found is None:
            raise StoreDown(f"{self.path} was deleted while it was in use; restart this window to begin a new store")
        if self._file is not None:
            self._let_go()
            self.damage = None  # of another file
        self._file = found

    def _address(self) -> str:
        """How SQLite is told of the file. Where nothing can be written it must not look for other writers: that takes
        a file of its own. Who has left a log does write, and then it has to."""
        if not self.is_read_only:
            return str(self.path)
        log = files_of(self.path)[1]
        alone = "" if log.exists() and log.stat().st_size else "&immutable=1"
        return f"{self.path.as_uri()}?mode=ro{alone}"

    def _found(self) -> tuple[int, ...] | None:
        """Which file is at the path now; one that is read without looking for writers is another when it changed."""
        if self._shared:
            return None
        try:
            file = self.path.stat()
        except OSError:
            return None
        changed = (file.st_mtime_ns, file.st_size) if self.is_read_only else ()
        return (file.st_dev, file.st_ino, *changed)

    def _let_go(self) -> None:
        while self._idle:
            self._idle.pop().db.close()

    def _log_is_long(self) -> bool:
        log = files_of(self.path)[1]
        # Patience grows while a reader holds on, such as a backup: it must not make every write wait.
        return not self._shared and log.exists() and log.stat().st_size > self.log_bytes * self._patience


class _Connection:
    def __init__(self, path: Path, file: tuple[int, ...] | None, address: str) -> None:
        self.deadline: float | None = None
        self.file = file
        self._durable = True
        self.db = sqlite3.connect(
            address,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            uri=address != str(path),
        )
        try:
            self._configure()
        except BaseException:
            self.db.close()
            raise

    def _configure(self) -> None:
        self.db.execute("pragma foreign_keys = on")
        self.db.execute("pragma synchronous = full")
        self.db.execute("pragma fullfsync = on")  # macOS: reach the disk, not its cache
        self.db.execute("pragma secure_delete = on")  # not every build has it on, and a purge must not leave text
        self.db.execute("pragma temp_store = memory")
        self.db.execute("pragma cache_size = -16000")
        self.db.execute("pragma journal_size_limit = 16777216")
        self.db.set_progress_handler(self._late, _STEPS_PER_LOOK)

    def sync_fully(self, durable: bool) -> None:
        if durable is not self._durable:
            self.db.execute(f"pragma synchronous = {'full' if durable else 'normal'}")
            self._durable = durable

    def wait_for_others(self, seconds: float) -> None:
        self.db.execute(f"pragma busy_timeout = {seconds * 1000:.0f}")

    @contextmanager
    def until(self, late: float) -> Iterator[None]:
        """Cuts off what runs after that moment; what stands around it keeps its own deadline."""
        before, self.deadline = self.deadline, late
        try:
            yield
        finally:
            self.deadline = before

    def _late(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline


def _patiently(db: sqlite3.Connection, statement: str, late: float) -> None:
    """Runs a statement that takes a lock. While another process recovers the log of one that crashed, SQLite
    answers "busy" at once instead of waiting."""
    while True:
        try:
            db.execute(statement).fetchone()
            return
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() >= late:
                raise
            time.sleep(_RETRY)


def _cut_log(db: sqlite3.Connection) -> bool:
    db.execute(f"pragma busy_timeout = {_LOG_WAIT}")
    (busy, _, _) = db.execute("pragma wal_checkpoint(truncate)").fetchone()
    db.execute(f"pragma busy_timeout = {BUSY_SECONDS * 1000:.0f}")
    return not busy


def _after_fork() -> None:
    for pool in list(_pools):
        pool.after_fork()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_after_fork)
