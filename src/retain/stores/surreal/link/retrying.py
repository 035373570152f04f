"""Writes that others may come before: they are made anew, and tried again."""

import random
import time
from collections.abc import Callable
from typing import TypeVar

from retain.errors import StoreBusy
from retain.stores.surreal.link.database import Batch, Database
from retain.stores.surreal.link.failures import Overtaken

T = TypeVar("T")
_TRIES = 12
# Of two writers one commits at every try, so this many tries are enough for as many writers at once.
_MOST_TRIES = 60
_FIRST_PAUSE = 0.002
_LONGEST_PAUSE = 0.1


def committed(db: Database, batch: Batch) -> bool:
    """Commits a batch that goes by nothing that was read, such as counts, which are not worth an error.

    False, and nothing was written, when others came first a dozen times.
    """
    for attempt in range(_TRIES):
        try:
            db.commit(batch)
            return True
        except Overtaken:
            _pause(attempt)
    return False


def insisting(write: Callable[[], T]) -> T:
    """What a write gives that reads, plans and commits; all of that is done again each time that others came first."""
    for attempt in range(_MOST_TRIES):
        try:
            return write()
        except Overtaken:
            _pause(attempt)
    raise StoreBusy("other writers were faster sixty times; nothing was written. Try again in a moment")


def _pause(attempt: int) -> None:
    """Of random length, so that those who met do not meet again."""
    time.sleep(random.uniform(0.5, 1.0) * min(_FIRST_PAUSE * 2**attempt, _LONGEST_PAUSE))
