"""Writes that wait for a database that is away: a small file that every process of this machine shares."""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from sqlite3 import Connection

from retain.domain.changes import Applied, Changes, Conflict
from retain.domain.connection import Queued
from retain.domain.memory import MemoryId
from retain.errors import NotFound, StoreCorrupt
from retain.standing import Notice
from retain.stores.forgetting import nothing_left, without
from retain.stores.plans import plan_of, text_of
from retain.stores.sqlite.connection import Pool
from retain.stores.sqlite.failures import BUSY_SECONDS, busy
from retain.stores.sqlite.files import alone, make_private, only_one, put_away, set_aside_files

logger = logging.getLogger(__name__)

_TABLES = (
    """create table if not exists plan (
    number integer primary key autoincrement, key text not null unique, at text not null, changes text not null,
    why text)""",
    "create table if not exists about (number integer primary key, of text not null)",
    """create table if not exists doubtful (
    number integer primary key autoincrement, memory text not null unique, back integer not null)""",
)
_ENTRY = "select number, key, at, changes, why from plan"
# Instead of a reason: a plan that is being carried out locally, or was when its process ended.
_UNDECIDED = ""
_WAITS = "(why is null or why = '')"
# Anew each time, with a number of its own: whoever settles an earlier doubt leaves this one.
_DOUBT = """insert or replace into doubtful (memory, back)
    values (?1, max(?2, coalesce((select back from doubtful where memory = ?1), 0)))"""
_RETRY = 0.005  # seconds
_UNREADABLE = "this version of Retain cannot read it; if a newer one has written it, that one can try it again"


@dataclass(frozen=True, slots=True)
class Entry:
    """A plan that waits, or, where there is a `why`, one that was refused."""

    number: int
    key: str
    at: datetime
    changes: Changes
    why: str | None


@dataclass(frozen=True, slots=True)
class Doubts:
    """Memories that a local copy may have otherwise than the database; of `ahead` maybe in a version it never saw."""

    number: int
    behind: frozenset[MemoryId]
    ahead: frozenset[MemoryId]


class Queue:
    """In the order in which they came. What `append` has taken is on the disk, and survives whatever ends a process.

    `of` names the database that they wait for, to people.
    """

    def __init__(self, path: Path, of: str = "") -> None:
        make_private(path)
        self.path, self._of = path, of
        self._appending = path.with_suffix(".appending")
        self._pool = Pool(path)
        try:
            self._prepare()
        except StoreCorrupt as error:
            self._set_aside(error)

    def append(self, changes: Changes, carry_out: Callable[[], Applied | Conflict]) -> Applied | Conflict:
        """Adds a plan that has a key, if `carry_out` can do locally what it says: both, or neither.

        Others who append wait for it, so that the plans are in the order in which they were carried out. The plan is
        on the disk before: of what is done locally, nothing may ever be missing here.
        """
        with self._turn():
            self._take_up()
            self._announce(changes)
            outcome = self._decided(changes, carry_out)
        if changes.purged:
            self._pool.cut_log()
        return outcome

    @contextmanager
    def _turn(self) -> Iterator[None]:
        late = time.monotonic() + BUSY_SECONDS
        while True:
            with only_one(self._appending) as mine:
                if mine:
                    yield
                    return
            if time.monotonic() > late:
                raise busy(self.path, BUSY_SECONDS)
            time.sleep(_RETRY)

    def _announce(self, changes: Changes) -> None:
        row = (changes.key, changes.at.isoformat(), text_of(changes), _UNDECIDED)
        with self._pool.writing() as db:
            db.execute("insert into plan (key, at, changes, why) values (?, ?, ?, ?)", row)

    def _decided(self, changes: Changes, carry_out: Callable[[], Applied | Conflict]) -> Applied | Conflict:
        is_done = False
        try:
            with self._pool.writing() as db:
                if changes.purged:
                    plan = _purging(changes, _forget(db, changes.purged, but=changes.key))
                    db.execute("update plan set changes = ? where key = ?", (text_of(plan), changes.key))
                db.execute("update plan set why = null where key = ?", (changes.key,))
                outcome = carry_out()
                if isinstance(outcome, Conflict):
                    raise _Declined(outcome)
                is_done = True
            return outcome
        except _Declined as declined:
            return declined.conflict
        finally:
            # What was carried out stays, even if this could not be noted: whoever comes next takes it up.
            if not is_done:
                self._withdraw(changes)

    def _withdraw(self, changes: Changes) -> None:
        with self._pool.writing() as db:
            db.execute("delete from plan where key = ?", (changes.key,))

    def _take_up(self) -> None:
        """What a process left undecided waits from now on. Only for whoever appends: nobody else does so then."""
        with self._pool.reading() as db:
            left = db.execute("select 1 from plan where why = ?", (_UNDECIDED,)).fetchone()
        if left:
            with self._pool.writing() as db:
                db.execute("update plan set why = null where why = ?", (_UNDECIDED,))

    def state(self) -> Queued:
        query = f"select count(*), count(iif({_WAITS}, 1, null)), min(iif({_WAITS}, at, null)) from plan"
        with self._pool.reading() as db:
            number, waiting, oldest = db.execute(query).fetchone()
        return Queued(waiting, number - waiting, datetime.fromisoformat(oldest) if oldest else None)

    def first(self) -> Entry | None:
        """The one that waits longest, of those that can be read; the others no longer hold up anybody."""
        query = f"{_ENTRY} where {_WAITS} order by number limit 1"
        while entry := next(iter(self._entries(query)), None):
            if entry.why is None:
                return entry
            if entry.why != _UNDECIDED:
                self.refuse(entry, entry.why)
            elif not self._took_up():
                return None
        return None

    def _took_up(self) -> bool:
        """Not what somebody is just appending: then nothing waits before it."""
        with only_one(self._appending) as mine:
            if mine:
                self._take_up()
        return mine

    @property
    def of(self) -> str:
        with self._pool.reading() as db:
            found = db.execute("select of from about").fetchone()
        return found[0] if found else "another database"

    def adopt(self, other: "Queue") -> int:
        """Takes over all that waits for another database, and what that refused; says how many plans that were.

        In order, and each is here before it is gone there: its key sees to it that it is written once.
        """
        with other._pool.reading() as db:
            plans = db.execute("select number, key, at, changes from plan order by number").fetchall()
        for number, *row in plans:
            with self._turn(), self._pool.writing() as db:
                db.execute("insert or ignore into plan (key, at, changes) values (?, ?, ?)", row)
            with suppress(NotFound):  # another process was faster
                other.drop(number)
        return len(plans)

    def take_over(self, plans: Iterable[Changes]) -> None:
        """Adds plans, each with a key, that were carried out before; one that is here already stays as it is."""
        rows = [(plan.key, plan.at.isoformat(), text_of(plan)) for plan in plans]
        with self._turn(), self._pool.writing() as db:
            db.executemany("insert or ignore into plan (key, at, changes) values (?, ?, ?)", rows)

    def entries(self) -> list[Entry]:
        return self._entries(f"{_ENTRY} order by number")

    @contextmanager
    def sending(self) -> Iterator[bool]:
        """Whether nobody else sends what waits, another thread or process: two would send everything twice."""
        with only_one(self.path.with_suffix(".sending")) as mine:
            yield mine

    @contextmanager
    def standing_still(self, doubting: Iterable[MemoryId] = ()) -> Iterator[set[MemoryId]]:
        """Within the block nobody appends; it is given the memories that plans which wait would write.

        Those that it makes doubtful are so when the block has ended.
        """
        with self._pool.writing(durable=False) as db:
            waiting = [_read(row[0]) for row in db.execute(f"select changes from plan where {_WAITS}")]
            yield {memory.id for plan in waiting if plan for memory in plan.memories}
            _doubt(db, doubting)

    def doubts(self) -> Doubts:
        with self._pool.reading() as db:
            rows = db.execute("select number, memory, back from doubtful").fetchall()
        ahead = frozenset(memory for _, memory, back in rows if back)
        return Doubts(max((row[0] for row in rows), default=0), frozenset(row[1] for row in rows) - ahead, ahead)

    def settle(self, doubts: Doubts) -> None:
        """The copy is as the database in these; what was doubted since stays so."""
        with self._pool.writing(durable=False) as db:
            db.execute("delete from doubtful where number <= ?", (doubts.number,))

    def done(self, entry: Entry) -> None:
        """The database has it, or the same from somebody else. Another process may have found that out before."""
        # After a power cut it may be sent again, and its key says that it is in.
        with self._pool.writing(durable=False) as db:
            db.execute("delete from plan where key = ?", (entry.key,))
            _doubt(db, (memory.id for memory in entry.changes.memories))

    def refuse(self, entry: Entry, why: str) -> None:
        """It stays for a person to look at, and no longer holds up the others."""
        with self._pool.writing() as db:
            db.execute("update plan set why = ? where key = ?", (why, entry.key))
            _doubt(db, (memory.id for memory in entry.changes.memories), back=True)

    def retry(self, number: int) -> None:
        with self._pool.writing() as db:
            _found(number, db.execute("update plan set why = null where number = ?", (number,)).rowcount)

    def drop(self, number: int) -> None:
        with self._pool.writing() as db:
            texts = db.execute("select changes from plan where number = ?", (number,)).fetchall()
            _found(number, db.execute("delete from plan where number = ?", (number,)).rowcount)
            dropped = (_read(text) for (text,) in texts)
            _doubt(db, [memory.id for plan in dropped if plan for memory in plan.memories], back=True)
        self._pool.cut_log()

    def forget(self, ids: Collection[MemoryId]) -> None:
        """Takes memories that are destroyed out of every plan, with all that was said of them."""
        with self._pool.writing() as db:
            forgotten = _forget(db, ids)
        if forgotten:
            self._pool.cut_log()

    def forget_user(self, user: str) -> None:
        entries = self.entries()
        for entry in entries:
            if not entry.changes.memories and _is_of(entry.changes, user):
                with suppress(NotFound):  # another process has sent it
                    self.drop(entry.number)
        plans = (entry.changes for entry in entries)
        self.forget({memory.id for plan in plans for memory in plan.memories if memory.place.user == user})

    def standing(self) -> list[Notice]:
        return [
            Notice(
                "queue_damaged",
                f"the queue of writes was damaged and is kept as {file}; what waited in it is not sent. "
                "`retain doctor --settle` goes on without it",
            )
            for file in set_aside_files(self.path)
        ]

    def close(self) -> None:
        self._pool.close()

    def _prepare(self) -> None:
        with self._pool.plain() as db:
            db.execute("pragma journal_mode = wal")
            for table in _TABLES:
                db.execute(table)
            if self._of and not db.execute("select 1 from about").fetchone():
                db.execute("insert or ignore into about (number, of) values (1, ?)", (self._of,))

    def _set_aside(self, error: StoreCorrupt) -> None:
        """A damaged file must not keep anybody from a database that is there."""
        with alone(self.path):
            try:
                self._prepare()  # another process may have dealt with it
            except StoreCorrupt:
                kept = put_away(self.path)
                make_private(self.path)
                self._prepare()
                logger.warning("%s; set aside as %s", error.message, kept)

    def _entries(self, query: str) -> list[Entry]:
        with self._pool.reading() as db:
            return [_entry(*row) for row in db.execute(query)]


class _Declined(Exception):
    """Undoes an append whose plan cannot be carried out."""

    def __init__(self, conflict: Conflict) -> None:
        super().__init__()
        self.conflict = conflict


def _entry(number: int, key: str, at: str, changes: str, why: str | None) -> Entry:
    plan, moment = _read(changes), datetime.fromisoformat(at)
    return Entry(number, key, moment, plan or Changes(moment), _UNREADABLE if why is None and not plan else why)


def _read(text: str) -> Changes | None:
    """None for what another version has written and this one does not know."""
    try:
        return plan_of(text)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _doubt(db: Connection, ids: Iterable[MemoryId], *, back: bool = False) -> None:
    db.executemany(_DOUBT, [(id, back) for id in ids])


def _is_of(plan: Changes, user: str) -> bool:
    users = {work.user for work in plan.works} | {profile.user for profile in plan.profiles}
    return user in users | {session.user for session in plan.sessions}


def _found(number: int, rows: int) -> None:
    if not rows:
        raise NotFound(f"no write {number} waits here; `retain db queue` lists those that do")


def _forget(db: Connection, ids: Collection[MemoryId], but: str | None = None) -> set[MemoryId]:
    """Takes memories out of all plans but one; says which of them were in any."""
    found: set[MemoryId] = set()
    for number, text in db.execute("select number, changes from plan where key is not ?", (but,)).fetchall():
        named = {id for id in ids if id in text}
        if named:
            plan = _read(text)
            found |= named
            _replace(db, number, plan and without(plan, named))
    return found


def _replace(db: Connection, number: int, plan: Changes | None) -> None:
    """One that cannot be read goes whole: nobody can take out of it what must not stay."""
    if plan is None or nothing_left(plan):
        db.execute("delete from plan where number = ?", (number,))
    else:
        db.execute("update plan set changes = ? where number = ?", (text_of(plan), number))


def _purging(changes: Changes, forgotten: Collection[MemoryId]) -> Changes:
    """What was taken out of the queue never gets to the version at which it was destroyed."""
    return replace(changes, expects=without(Changes(changes.at, changes.expects), forgotten).expects)
