"""How a store stands with its database, and what one call met of that."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Reach(StrEnum):
    CONNECTED = "connected"
    RECONNECTING = "reconnecting"
    DEGRADED = "degraded"
    """All quick tries have failed; from here on there is one every thirty seconds."""


@dataclass(frozen=True, slots=True)
class Queued:
    """Writes on this machine that the database has not got: some wait for it, some it refused."""

    waiting: int = 0
    refused: int = 0
    oldest: datetime | None = None
    """When the first of those that wait was made."""


@dataclass(frozen=True, slots=True)
class Connection:
    """Of a store in this process nothing else can be said than that it is there."""

    reach: Reach = Reach.CONNECTED
    since: datetime | None = None
    """Since when it is so; None from the beginning."""
    why: str | None = None
    queued: Queued = Queued()
    is_undecided: bool = False
    """Nobody has said yet which store it is; `why` says what to do."""
    version: str | None = None
    """Of the database; None while it cannot be asked."""


@dataclass(slots=True)
class Met:
    """What one call met while the database was away."""

    read: bool = False
    """Something was read from the local copy."""
    queued: bool = False
    """Something was written that waits now."""
    connection: Callable[[], Connection] = Connection

    @property
    def is_away(self) -> bool:
        return self.read or self.queued


# Whoever answers a call is many steps above the store that knows, and other calls run beside it.
_met: ContextVar[Met | None] = ContextVar("met", default=None)


@contextmanager
def noticing() -> Iterator[Met]:
    """Within the block, what this thread meets is noted in the value that it is given."""
    met = Met()
    token = _met.set(met)
    try:
        yield met
    finally:
        _met.reset(token)


def note(connection: Callable[[], Connection], *, queued: bool) -> None:
    """Tells whoever is noticing that the local copy was read, or that a write waits."""
    if met := _met.get():
        met.connection = connection
        met.queued, met.read = met.queued or queued, met.read or not queued
