"""A local copy of one user's memories, to be read while the database that has them is away."""

import json
import time
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from retain.domain.changes import Changes, Restored
from retain.domain.memory import MemoryId
from retain.domain.transfer import Change, Sort
from retain.ports import CodeSearch, CodeStore, Store, TransferStore
from retain.stores.forgetting import without
from retain.stores.gathering import gathered
from retain.stores.queue import Queue
from retain.stores.sqlite.failures import files_of
from retain.stores.sqlite.files import HEADER, alone, make_private, only_one
from retain.stores.sqlite.store import SqliteStore

# What cannot be done without the database: code and whole stores are not in a copy.
NOT_COPIED = {name for port in (CodeStore, CodeSearch, TransferStore) for name in vars(port)} | {"backup"}
MOST = 20_000  # memories, the ones that were changed last
EVERY = 30.0  # seconds, where nobody on this machine has written
_PORTION = 50
_RECORDS = 1000
_BESIDE = (Sort.PROFILES, Sort.WORKS, Sort.CURSORS, Sort.RUNS)
# Between two portions: whoever waits for the same database, or this process, goes first.
_PAUSE = 0.02
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Note:
    """How far the copy has come: which database it is of, its change number, and when somebody last looked."""

    life: str = ""
    mark: int = 0
    at: float = 0.0
    beside: float = 0.0
    copy: str = ""
    """Which file the copy is: another one in its place has nothing yet."""
    reached: bool = False
    """Whether any process of this machine has ever been at the database."""


class Mirror:
    """A SQLite store that all processes of this machine share, and whichever of them finds it stale brings up to date.

    Entities and relations that no memory of the user speaks of are not in it, nor is code.
    """

    def __init__(self, path: Path, user: str) -> None:
        self._path, self._user = path, user
        _remove_what_is_none(path)
        self.store = SqliteStore(path)

    @property
    def was_reached(self) -> bool:
        """Whether this machine has ever been at the database."""
        note = self._noted()
        return note.reached or bool(note.life)

    def note_reached(self) -> None:
        """Unless it is noted, or another process is about to."""
        with only_one(self._path.with_suffix(".pulling")) as mine:
            if mine and not self.was_reached:
                self._write(replace(self._noted(), reached=True))

    def pull(self, source: Store, queue: Queue, *, at_once: bool) -> set[MemoryId] | None:
        """Takes over what changed since the last time, and says which memories that was. What waits in the queue stays.

        None, and nothing is done, while another process is at it, and, unless it must be at once, shortly after one
        was.
        """
        with only_one(self._path.with_suffix(".pulling")) as mine:
            note = self._noted()
            if not mine or (not at_once and _is_recent(note.at)):
                return None
            return self._taken_over(source, queue, note)

    def take_again(self, source: Store, queue: Queue, ids: Collection[MemoryId], *, back: bool) -> None:
        """Makes these memories what they are in the source, or makes them go; back to an earlier version if need be."""
        for portion in _portions(sorted(ids)):
            self._take(source, queue, portion, back=back)

    def take_own(self, queue: Queue, plan: Changes) -> None:
        """What this process has written to the source; what is here already, or further, is left as it is.

        Others may have copied it before, and that it was destroyed since: it is compared with the source again.
        """
        with queue.standing_still(doubting=[memory.id for memory in plan.memories]):
            self.store.apply(without(replace(plan, expects=()), self._further(plan) | self._same(plan)))

    def purge(self, ids: Collection[MemoryId]) -> None:
        here = tuple(self.store.memories(list(ids)))
        if here:
            self.store.apply(Changes(_LONG_AGO, purged=here))

    def empty(self, user: str, at: datetime) -> None:
        self.store.empty(user, at, self.store.change())

    def close(self) -> None:
        self.store.close()

    def _take(self, source: Store, queue: Queue, ids: Sequence[MemoryId], *, back: bool = False) -> None:
        """A memory that somebody changes here at this moment is left alone: the source has not seen that yet.

        So is one that is further here: since it was read from the source it was changed there, and what the one who
        did so must find again is here already, because the way was lost meanwhile.
        """
        plan = gathered(source, ids, [entity.id for _, entity in self.store.links(ids)])
        there = {memory.id for memory in plan.memories}
        with queue.standing_still() as waiting:
            self.purge([id for id in ids if id not in there and id not in waiting])
            self.store.apply(without(plan, waiting if back else waiting | self._further(plan)))

    def _further(self, plan: Changes) -> set[MemoryId]:
        """The memories of which the copy has a later version than the plan."""
        here = self.store.memories([memory.id for memory in plan.memories])
        return {m.id for m in plan.memories if m.id in here and here[m.id].memory.version > m.version}

    def _same(self, plan: Changes) -> set[MemoryId]:
        here = self.store.memories([memory.id for memory in plan.memories])
        return {m.id for m in plan.memories if m.id in here and here[m.id].memory == m}

    def _taken_over(self, source: Store, queue: Queue, note: _Note) -> set[MemoryId] | None:
        life = source.life()
        if note.life and (note.life != life or source.change() < note.mark):
            with queue.standing_still() as waiting:
                if waiting:  # they are read here until they are sent
                    return None
                self._begin_anew()
            note = _Note()
        note = replace(note, life=life)
        changes = _changes(source, note.mark, self._user)
        for portion in _portions(changes):
            self._take(source, queue, [change.memory for change in portion])
            # Before it is noted: nobody comes back to what is.
            queue.forget([change.memory for change in portion if change.destroyed])
            # What one change wrote may go on in the next portion.
            note = replace(note, mark=portion[-1].number - 1)
            self._write(note)
            time.sleep(_PAUSE)
        if changes:
            note = replace(note, mark=changes[-1].number)
        if not _is_recent(note.beside):
            self._take_beside(source)
            note = replace(note, beside=time.time())
        self._write(replace(note, at=time.time()))
        return {change.memory for change in changes}

    def _take_beside(self, source: Store) -> None:
        """What is kept beside memories. There is little of it, so it is read whole."""
        own = {sort: self._own(_records(source, sort)) for sort in _BESIDE}
        self.store.apply(
            Changes(
                _LONG_AGO,
                projects=tuple(_records(source, Sort.PROJECTS)),
                profiles=own[Sort.PROFILES],
                works=own[Sort.WORKS],
                runs=own[Sort.RUNS],
                restored=Restored(cursors=own[Sort.CURSORS]),
            )
        )

    def _own(self, records: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(record for record in records if record.user == self._user)

    def _begin_anew(self) -> None:
        """The database is another one, or was set back: nothing that is here can be compared with it.

        Other processes that have the copy open notice that its file is another one.
        """
        new = self._path.with_suffix(".empty")
        with alone(self._path):
            SqliteStore(new).close()
            self.store.close()
            for log in files_of(self._path)[1:]:
                log.unlink(missing_ok=True)
            new.replace(self._path)
            self.store = SqliteStore(self._path)

    @property
    def _note_file(self) -> Path:
        return self._path.with_suffix(".json")

    def _noted(self) -> _Note:
        try:
            note = _Note(**json.loads(self._note_file.read_text()))
        except (OSError, ValueError, TypeError):  # none yet, or not one that this version can read
            return _Note()
        return note if note.copy in ("", self.store.life()) else _Note()

    def _write(self, note: _Note) -> None:
        new = self._note_file.with_suffix(".new")
        make_private(new)
        new.write_text(json.dumps(asdict(replace(note, copy=self.store.life()))))
        new.replace(self._note_file)


def _remove_what_is_none(path: Path) -> None:
    """A copy whose beginning is damaged is made anew, and is not worth a question."""
    if _begins_well(path):
        return
    with alone(path):
        if not _begins_well(path):  # another process may have been faster
            for file in reversed(files_of(path)):
                file.unlink(missing_ok=True)


def _begins_well(path: Path) -> bool:
    if not path.exists():
        return True
    with path.open("rb") as file:
        return file.read(len(HEADER)) in (HEADER, b"")


def _is_recent(at: float) -> bool:
    """A moment that is still to come was noted before the clock was set back."""
    return 0 <= time.time() - at < EVERY


def _changes(source: Store, after: int, user: str) -> Sequence[Change]:
    """What changed, of which the newest are enough where there is too much."""
    found: deque[Change] = deque(maxlen=MOST)
    while changes := source.changed(after, _RECORDS, user):
        found.extend(changes)
        after = changes[-1].number
    return list(found)


def _records(source: Store, sort: Sort) -> Iterator[Any]:  # Any: the sort says which records they are
    mark: str | None = None
    while True:
        portion = source.records(sort, mark, _RECORDS)
        yield from portion.records
        mark = portion.mark
        if mark is None:
            return


def _portions(them: Iterable[Any]) -> Iterator[list[Any]]:
    rest = iter(them)
    while portion := list(islice(rest, _PORTION)):
        yield portion
