"""Bringing a database to this version: steps that are recorded in it, each run once, whoever starts first."""

import time

from retain.errors import RetainError, SchemaNewer, StoreBusy
from retain.stores.surreal.link.database import Database
from retain.stores.surreal.link.failures import Overtaken
from retain.stores.surreal.schema import STEPS

_TRIES = 20
_VERSION = "SELECT VALUE number FROM migration"


def migrate(db: Database) -> None:
    """In one call where nothing is to be done: every connection to a server begins with it."""
    _, numbers = db.run(f"DEFINE TABLE IF NOT EXISTS migration SCHEMALESS; {_VERSION}")
    found = max(numbers, default=0)
    for number, (name, step) in enumerate(STEPS[found:], start=found + 1):
        _run(db, number, name, step)
    check_version(found if found >= len(STEPS) else version(db))


def version(db: Database) -> int:
    return max(db.rows(_VERSION), default=0)


def check_version(found: int) -> None:
    if is_newer(found):
        raise SchemaNewer(newer(found))


def is_newer(found: int) -> bool:
    return found > len(STEPS)


def newer(found: int) -> str:
    return (
        f"a newer Retain has written this database (version {found}, this one knows {len(STEPS)}); "
        "update this one: pip install --upgrade retain-mcp"
    )


def _run(db: Database, number: int, name: str, step: str) -> None:
    """All of a step or nothing of it; another process may be at it too, and then only one of them commits."""
    recording = "CREATE type::record('migration', $number) SET number = $number, name = $name, at = time::now()"
    for attempt in range(_TRIES):
        try:
            db.run(f"BEGIN; {recording}; {step} COMMIT", number=number, name=name)
            return
        except Overtaken:
            time.sleep(0.02 * (attempt + 1))
        except RetainError:
            if version(db) < number:
                raise
            return
        if version(db) >= number:
            return
    raise StoreBusy("other processes kept changing the schema of this database; try again in a moment")
