"""A store that goes on while its database is away: it reads a local copy, and what is written waits in a queue."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, cast

from retain.domain.changes import Applied, Changes, Conflict, Uncompared
from retain.domain.connection import Connection, Reach, note
from retain.domain.ids import new_id
from retain.domain.memory import MemoryId
from retain.errors import RetainError, StoreDown, Unavailable
from retain.ports import Emptied, Store
from retain.standing import Notice
from retain.stores.forgetting import nothing_left, without
from retain.stores.mirror import EVERY, NOT_COPIED, Mirror
from retain.stores.queue import Entry, Queue
from retain.stores.sending import has, send
from retain.stores.surreal.link.failures import LinkLost
from retain.stores.surreal.link.reconnecting import Reconnecting

logger = logging.getLogger(__name__)

# A call waits so long for what it finds in the queue; the rest is sent in the background.
_FLUSH_SECONDS = 0.1
_PATIENT_SECONDS = 600.0
# After a write, for others that may follow it.
_GATHER = 0.5
# A command is over before; only what stays keeps the copy.
_FIRST = 2.0
_MOST_UNSEEN = 1000


@dataclass(frozen=True, slots=True)
class Away:
    """A database that may be away: how it stands, and how its store is opened while it is there."""

    line: Reconnecting
    opening: Callable[[], Store]
    """LinkLost while it is away."""
    now: Callable[[], datetime]


def sheltered(database: Away, mirror: Mirror, queue: Queue) -> Store:
    # What is not written out below is looked up by name in one store or the other.
    return cast(Store, Sheltered(database, mirror, queue))


class Sheltered:
    """Implements `ports.Store`. Safe to use from any thread.

    A plan is sent with a key: when the way is lost under it nobody knows whether it was written, and it is sent
    again by that key. While something waits, what follows waits behind it, and is read from the copy, so that
    everybody reads what they wrote.
    """

    def __init__(self, database: Away, mirror: Mirror, queue: Queue) -> None:
        self._database, self._mirror, self._queue = database, mirror, queue
        self._store: Store | None = None
        self._opening, self._appending = threading.Lock(), threading.Lock()
        self._behind = queue.state().waiting > 0
        self._stuck: str | None = None
        # Plans that are in the database and maybe not in the copy yet.
        self._unseen: deque[Changes] = deque(maxlen=_MOST_UNSEEN)
        self._seeing = threading.Lock()
        self._wake, self._closing = threading.Event(), threading.Event()
        if self._is_connected:
            with suppress(LinkLost):
                self._reached()
        if self._behind:
            self._wake.set()
        database.line.on_back(self._wake.set)
        threading.Thread(target=self._look_after, name="retain-shelter", daemon=True).start()

    # What is done in its own way

    def apply(self, changes: Changes) -> Applied | Conflict:
        plan = changes if changes.key else replace(changes, key=new_id(self._database.now()))
        on_its_way = False
        try:
            if self._is_connected and self._flushed():
                on_its_way = True
                return self._applied(plan)
        except LinkLost:
            pass
        return self._put_off(plan, maybe_written=on_its_way)

    def empty(self, user: str, at: datetime, change: int) -> Emptied | None:
        if not self._flushed(_PATIENT_SECONDS):
            raise self._needed()
        gone = self._reached().empty(user, at, change)
        if gone is not None:
            self._queue.forget_user(user)
            self._mirror.empty(user, at)
        return gone

    def connection(self) -> Connection:
        state = self._database.line.state()
        why = state.error or self._stuck
        if why and state.status is not Reach.CONNECTED and not self._mirror.was_reached:
            why = f"{why}; this machine has never been at it, so check the address too"
        return Connection(state.status, state.since, why, self._queue.state(), version=self._version())

    def _version(self) -> str | None:
        """Known for as long as the store is open, and while the database is there."""
        try:
            return self._reached().connection().version if self._is_connected else None
        except (LinkLost, Unavailable):
            return None

    def notices(self) -> list[str]:
        return [*self._asked("notices"), *(notice.message for notice in self.standing())]

    def standing(self) -> list[Notice]:
        """What was written here and is not in the database; the copy is made anew when it is damaged."""
        refused = self._queue.state().refused
        told = f"{refused} writes were refused; `retain db queue` shows them"
        return [*([Notice("writes_refused", told)] if refused else []), *self._queue.standing()]

    def close(self) -> None:
        self._closing.set()
        self._wake.set()
        # A command or a worker is over before it is copied in the background, and hooks read nothing but the copy.
        try:
            self._see_own_writes()
        except (RetainError, OSError) as error:
            logger.info("the local copy is not up to date: %s", error)
        if self._store is not None:
            self._store.close()
        self._database.line.close()
        self._mirror.close()
        self._queue.close()

    def __getattr__(self, name: str) -> Callable[..., Any]:  # Any: as the method of that name has it
        if name.startswith("_") or not hasattr(Store, name):
            raise AttributeError(name)
        return partial(self._asked, name)

    def _asked(self, name: str, *args: Any, **named: Any) -> Any:
        try:
            if self._is_connected and (not self._behind or self._flushed()):
                return getattr(self._reached(), name)(*args, **named)
        except LinkLost:
            pass
        if name in NOT_COPIED:
            raise self._needed()
        self._see_own_writes()
        note(self.connection, queued=False)
        return getattr(self._mirror.store, name)(*args, **named)

    # The database while it is there

    @property
    def _is_connected(self) -> bool:
        return self._database.line.state().status is Reach.CONNECTED

    def _reached(self) -> Store:
        """The store in the database, opened when it is first reached; LinkLost while it is away."""
        with self._opening:
            if self._store is None:
                self._store = self._database.opening()
                self._mirror.note_reached()
            return self._store

    def _applied(self, plan: Changes) -> Applied | Conflict:
        outcome = self._reached().apply(plan)
        if isinstance(outcome, Applied):
            self._unseen.append(plan)
            if plan.purged:
                self._forget(plan.purged)
            self._wake.set()
        return outcome

    def _forget(self, ids: tuple[MemoryId, ...]) -> None:
        """At once. Should that fail, whoever brings the copy up to date next learns of it from the database."""
        try:
            self._queue.forget(ids)
            self._mirror.purge(ids)
        except RetainError as error:
            logger.warning("what was destroyed is still in the local copy for a moment: %s", error.message)

    def _needed(self) -> StoreDown:
        state = self._database.line.state()
        return StoreDown(
            f"this needs the database, which is away since {state.since:%Y-%m-%d %H:%M} UTC "
            f"({state.error or self._stuck}): code, backups, copies and emptying cannot wait for it as writes do. "
            "Try again when `retain status` says connected"
        )

    # The copy and the queue while it is away

    def _put_off(self, plan: Changes, *, maybe_written: bool) -> Applied | Conflict:
        if any(isinstance(expected, Uncompared) for expected in plan.expects):
            raise StoreDown("the database is away; what waits to be compared is compared once it is back")
        self._see_own_writes()
        with self._appending:
            outcome = self._queue.append(plan, lambda: self._carried_out(plan, maybe_written))
            self._behind = self._behind or isinstance(outcome, Applied)
        if isinstance(outcome, Applied):
            note(self.connection, queued=True)
            self._wake.set()  # the database may be back already
        return outcome

    def _carried_out(self, plan: Changes, maybe_written: bool) -> Applied | Conflict:
        """The plan in the copy. One that the database had may be there already, by a process that copied it since."""
        copy = self._mirror.store
        outcome = copy.apply(plan)
        if maybe_written and isinstance(outcome, Conflict) and has(copy, plan):
            return Applied(copy.change())
        return outcome

    def _see_own_writes(self) -> None:
        """Brings the copy up to what this process wrote just before the database went away."""
        with self._seeing:
            while self._unseen:
                self._mirror.take_own(self._queue, self._unseen[0])
                self._unseen.popleft()

    # The way back

    def _flushed(self, seconds: float = _FLUSH_SECONDS) -> bool:
        """Sends what waits, in order; False when some of it still does. LinkLost when the database is away again."""
        late = time.monotonic() + seconds
        if self._next() is None:
            return True
        with self._queue.sending() as mine:
            while entry := self._next():
                if not mine or time.monotonic() > late or not self._sent(entry):
                    self._wake.set()
                    return False
        self._stuck = None
        return True

    def _next(self) -> Entry | None:
        """The first that waits. When there is none, this process is up to date, unless it appends one right now."""
        with self._appending:
            entry = self._queue.first()
            self._behind = entry is not None
            return entry

    def _sent(self, entry: Entry) -> bool:
        """Whether the database has it now, or never will. Each is written once, whoever else sends it too."""
        try:
            send(self._queue, entry, self._reached(), entry.changes)
        except LinkLost:
            raise
        except Unavailable as error:
            self._stuck = error.message
            return False
        return True

    # In the background

    def _look_after(self) -> None:
        pause = _FIRST
        while not self._closing.is_set():
            woken = self._wake.wait(pause)
            pause = EVERY
            if self._closing.wait(_GATHER):
                return
            self._wake.clear()
            try:
                if self._is_connected and self._flushed(_PATIENT_SECONDS):
                    self._pull(at_once=woken)
            except (RetainError, OSError) as error:
                logger.info("the local copy is not up to date: %s", error)

    def _pull(self, *, at_once: bool) -> None:
        seen, doubts = list(self._unseen), self._queue.doubts()
        store = self._reached()
        taken = self._mirror.pull(store, self._queue, at_once=at_once)
        if taken is None:
            return
        self._mirror.take_again(store, self._queue, doubts.behind - taken, back=False)
        self._mirror.take_again(store, self._queue, doubts.ahead, back=True)
        self._queue.settle(doubts)
        with self._seeing:
            for plan in seen:
                # Otherwise the database was away meanwhile, and the copy has it for that.
                if self._unseen and self._unseen[0] is plan:
                    self._see_the_rest(plan)
                    self._unseen.popleft()

    def _see_the_rest(self, plan: Changes) -> None:
        """What a plan of this process wrote beside memories, which were copied."""
        rest = without(plan, {memory.id for memory in plan.memories})
        if not nothing_left(rest):
            self._mirror.take_own(self._queue, rest)
