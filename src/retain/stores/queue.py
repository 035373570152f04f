"""Writes that wait for a database that is away: a small file that every process of this machine shares."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from sqlite3 import Connection

from retain.domain.changes import Applied, Changes, Conflict
from retain.domain.connection import Queued
from retain.domain.memory import MemoryId
from retain.errors import NotFound
from retain.stores.forgetting import nothing_left, without
from retain.stores.plans import plan_of, text_of
from retain.stores.sqlite.connection import Pool
from retain.stores.sqlite.files import make_private, only_one

_TABLE = """create table if not exists plan (
    number integer primary key autoincrement, key text not null unique, at text not null, changes text not null,
    why text)"""
_ENTRY = "select number, key, at, changes, why from plan"


@dataclass(frozen=True, slots=True)
class Entry:
    """A plan that waits, or, where there is a `why`, one that the database refused."""

    number: int
    key: str
    at: datetime
    changes: Changes
    why: str | None


class Queue:
    """In the order in which they came. What `append` has taken is on the disk, and survives whatever ends a process."""

    def __init__(self, path: Path) -> None:
        make_private(path)
        self.path = path
        self._pool = Pool(path)
        with self._pool.plain() as db:
            db.execute("pragma journal_mode = wal")
            db.execute(_TABLE)

    def append(self, changes: Changes, carry_out: Callable[[], Applied | Conflict]) -> Applied | Conflict:
        """Adds a plan that has a key, if `carry_out` can do locally what it says: both, or neither.

        Others who append wait for it, so that the plans are in the order in which they were carried out.
        """
        try:
            with self._pool.writing() as db:
                if changes.purged:
                    changes = _purging(changes, _forget(db, changes.purged))
                row = (changes.key, changes.at.isoformat(), text_of(changes))
                db.execute("insert into plan (key, at, changes) values (?, ?, ?)", row)
                outcome = carry_out()
                if isinstance(outcome, Conflict):
                    raise _Declined(outcome)
        except _Declined as declined:
            return declined.conflict
        if changes.purged:
            self._pool.cut_log()
        return outcome

    def state(self) -> Queued:
        query = "select count(*) - count(why), count(why), min(iif(why is null, at, null)) from plan"
        with self._pool.reading() as db:
            waiting, refused, oldest = db.execute(query).fetchone()
        return Queued(waiting, refused, datetime.fromisoformat(oldest) if oldest else None)

    def first(self) -> Entry | None:
        """The one that waits longest."""
        return next(iter(self._entries(f"{_ENTRY} where why is null order by number limit 1")), None)

    def entries(self) -> list[Entry]:
        return self._entries(f"{_ENTRY} order by number")

    @contextmanager
    def sending(self) -> Iterator[bool]:
        """Whether nobody else sends what waits, another thread or process: two would send everything twice."""
        with only_one(self.path.with_suffix(".sending")) as mine:
            yield mine

    @contextmanager
    def standing_still(self) -> Iterator[set[MemoryId]]:
        """Within the block nobody appends; it is given the memories that plans which wait would write."""
        with self._pool.writing() as db:
            waiting = [plan_of(row[0]) for row in db.execute("select changes from plan where why is null")]
            yield {memory.id for plan in waiting for memory in plan.memories}

    def done(self, entry: Entry) -> None:
        """The database has it. Another process may have found that out before."""
        # After a power cut it may be sent again, and its key says that it is in.
        with self._pool.writing(durable=False) as db:
            db.execute("delete from plan where key = ?", (entry.key,))

    def refuse(self, entry: Entry, why: str) -> None:
        """It stays for a person to look at, and no longer holds up the others."""
        with self._pool.writing() as db:
            db.execute("update plan set why = ? where key = ?", (why, entry.key))

    def retry(self, number: int) -> None:
        with self._pool.writing() as db:
            _found(number, db.execute("update plan set why = null where number = ?", (number,)).rowcount)

    def drop(self, number: int) -> None:
        with self._pool.writing() as db:
            _found(number, db.execute("delete from plan where number = ?", (number,)).rowcount)
        self._pool.cut_log()

    def forget(self, ids: Collection[MemoryId]) -> None:
        """Takes memories that are destroyed out of every plan, with all that was said of them."""
        with self._pool.writing() as db:
            forgotten = _forget(db, ids)
        if forgotten:
            self._pool.cut_log()

    def forget_user(self, user: str) -> None:
        plans = (entry.changes for entry in self.entries())
        self.forget({memory.id for plan in plans for memory in plan.memories if memory.place.user == user})

    def close(self) -> None:
        self._pool.close()

    def _entries(self, query: str) -> list[Entry]:
        with self._pool.reading() as db:
            return [_entry(*row) for row in db.execute(query)]


class _Declined(Exception):
    """Undoes an append whose plan cannot be carried out."""

    def __init__(self, conflict: Conflict) -> None:
        super().__init__()
        self.conflict = conflict


def _entry(number: int, key: str, at: str, changes: str, why: str | None) -> Entry:
    return Entry(number, key, datetime.fromisoformat(at), plan_of(changes), why)


def _found(number: int, rows: int) -> None:
    if not rows:
        raise NotFound(f"no write {number} waits here; `retain db queue` lists those that do")


def _forget(db: Connection, ids: Collection[MemoryId]) -> set[MemoryId]:
    """Takes memories out of all plans; says which of them were in any."""
    found: set[MemoryId] = set()
    for number, text in db.execute("select number, changes from plan").fetchall():
        named = {id for id in ids if id in text}
        plan = without(plan_of(text), named) if named else None
        if plan is not None:
            found |= named
            _replace(db, number, plan)
    return found


def _replace(db: Connection, number: int, plan: Changes) -> None:
    if nothing_left(plan):
        db.execute("delete from plan where number = ?", (number,))
    else:
        db.execute("update plan set changes = ? where number = ?", (text_of(plan), number))


def _purging(changes: Changes, forgotten: Collection[MemoryId]) -> Changes:
    """What was taken out of the queue never gets to the version at which it was destroyed."""
    return replace(changes, expects=without(Changes(changes.at, changes.expects), forgotten).expects)
