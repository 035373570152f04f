"""The one module of the surfaces that reads a store past the engine: what loads the engine is too slow for a hook."""

from retain.domain.places import seen_from
from retain.stores.sqlite.glance import (
    CannotRead,
    Sight,
    captured,
    fixes,
    for_summary,
    held_in,
    naming,
    opened,
    pending,
    relevant,
    texts,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from retain.surfaces.hooks.call import Call

__all__ = [
    "CannotRead",
    "Sight",
    "captured",
    "fixes",
    "for_summary",
    "held_in",
    "naming",
    "opened_for",
    "pending",
    "relevant",
    "said",
    "sight_of",
    "texts",
]

SECONDS = 0.3  # for all queries together


def opened_for(call: "Call") -> "sqlite3.Connection | None":
    """The store, to be read; None while there is none, or none that is a file. Raises `CannotRead`."""
    import os

    file = call.readable
    if call.store is None and file and os.path.isfile(file):
        call.store = opened(file, min(SECONDS, call.left()))
    return call.store


def sight_of(call: "Call", lost: "float | None" = None) -> Sight:
    return Sight(seen_from(call.user, call.project_id, call.session), call.session or None, lost)


def said(database: str, ids: "Iterable[str]", user: str) -> "dict[str, tuple[str, str]]":
    """What memories say and their states, by id; nothing where the store cannot be read."""
    import sqlite3

    try:
        db = opened(database, SECONDS)
        try:
            return texts(db, ids, user)
        finally:
            db.close()
    except (CannotRead, sqlite3.Error, UnicodeDecodeError):
        return {}
