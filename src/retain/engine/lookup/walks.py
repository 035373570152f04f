"""Walks: pages by offset that neither skip nor repeat an entry while others add and delete."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TypeVar

from retain.domain.listing import Page, Row
from retain.errors import Fault

T = TypeVar("T")
MOST = 256  # pages remembered
PATIENCE = 600.0  # seconds; who reads on does so soon


class Walks:
    """Remembers with which row each page ended, so that the next one begins after it. Safe to call from any thread.

    A walk is known by its key, who reads what in pages of which size. It begins with the first page, which ends any
    earlier one of the same key, and is over with the last. An offset that is no step of a walk under way, or of one
    that nobody went on with for minutes, is counted from the start of the list, and begins no walk. `clock` gives
    seconds that only ever grow.
    """

    def __init__(self, clock: Callable[[], float], most: int = MOST, patience: float = PATIENCE) -> None:
        self._clock, self._most, self._patience = clock, most, patience
        self._lock = threading.Lock()
        self._ends: OrderedDict[tuple[Hashable, int], tuple[Row, float]] = OrderedDict()

    def page(self, key: Hashable, offset: int, fetch: Callable[[int, Row | None], Page[T]]) -> tuple[Sequence[T], int]:
        """The entries at an offset, and how many there are in all: those walked past, and all that follow.

        So there is more exactly as long as the offset of the next page is below the total, even when some of
        those walked past have been deleted. `fetch` takes how many rows to skip, and the row to begin after.
        """
        if offset == 0:
            self._begin(key)
        beyond = self._end(key, offset) if offset else None
        found = fetch(0, beyond) if beyond else fetch(offset, None)
        reached, total = offset + len(found.items), found.total + (offset if beyond else 0)
        goes_on = offset == 0 or beyond is not None
        if goes_on and found.last and reached < total:
            self._remember(key, reached, found.last)
        return found.items, total

    def _begin(self, key: Hashable) -> None:
        """Who reads the first page anew wants the list as it is now, on all of its pages."""
        with self._lock:
            for step in [step for step in self._ends if step[0] == key]:
                del self._ends[step]

    def _end(self, key: Hashable, offset: int) -> Row | None:
        now = self._clock()
        with self._lock:
            row, used = self._ends.pop((key, offset), (None, now))
            if row is None or now - used > self._patience:
                return None
            self._ends[key, offset] = row, now
            return row

    def _remember(self, key: Hashable, offset: int, last: Row) -> None:
        now = self._clock()
        with self._lock:
            self._ends[key, offset] = last, now
            self._ends.move_to_end((key, offset))
            if len(self._ends) > self._most:
                self._ends.popitem(last=False)


def page_faults(limit: int, offset: int) -> Iterator[Fault]:
    if limit < 1:
        yield Fault("limit", str(limit), "must be at least 1")
    if offset < 0:
        yield Fault("offset", str(offset), "must be at least 0")
