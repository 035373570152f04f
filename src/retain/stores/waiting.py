"""A store for as long as nobody has decided where memories belong: writes wait, and only they are read."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, cast

from retain.domain.changes import Applied, Changes, Conflict
from retain.domain.connection import Connection, Reach, note
from retain.domain.ids import new_id
from retain.errors import StoreDown
from retain.ports import Emptied, Store
from retain.standing import Notice
from retain.stores.mirror import NOT_COPIED
from retain.stores.queue import Queue
from retain.stores.sqlite.store import SqliteStore


@dataclass(frozen=True, slots=True)
class Why:
    """What a store waits for, in words for people, since when, and what time it is."""

    decision: str
    since: datetime
    now: Callable[[], datetime]


def waiting(copy: SqliteStore, queue: Queue, why: Why) -> Store:
    # What is not written out below is looked up by name in the copy.
    return cast(Store, Waiting(copy, queue, why))


class Waiting:
    """Implements `ports.Store`. Safe to use from any thread, and shared by processes as its files are.

    The queue has every plan in order, as it is written later to the store that is decided on. The copy has the same,
    carried out, so that whoever wrote something reads it. What stores hold already is in neither.
    """

    def __init__(self, copy: SqliteStore, queue: Queue, why: Why) -> None:
        self._copy, self._queue, self._why = copy, queue, why

    def apply(self, changes: Changes) -> Applied | Conflict:
        plan = changes if changes.key else replace(changes, key=new_id(self._why.now()))
        outcome = self._queue.append(plan, lambda: self._copy.apply(plan))
        if isinstance(outcome, Applied):
            note(self.connection, queued=True)
        return outcome

    def empty(self, user: str, at: datetime, change: int) -> Emptied | None:
        raise self._undecided()

    def connection(self) -> Connection:
        why = self._why
        return Connection(Reach.DEGRADED, why.since, why.decision, self._queue.state(), is_undecided=True)

    def notices(self) -> list[str]:
        return []

    def standing(self) -> list[Notice]:
        return self._queue.standing()

    def close(self) -> None:
        self._copy.close()
        self._queue.close()

    def __getattr__(self, name: str) -> Callable[..., Any]:  # Any: as the method of that name has it
        if name.startswith("_") or not hasattr(Store, name):
            raise AttributeError(name)
        if name in NOT_COPIED:
            raise self._undecided()
        return partial(self._asked, name)

    def _asked(self, name: str, *args: Any, **named: Any) -> Any:
        note(self.connection, queued=False)
        return getattr(self._copy, name)(*args, **named)

    def _undecided(self) -> StoreDown:
        return StoreDown(f"this needs the store, and {self._why.decision}: code, backups and copies cannot wait for it")
