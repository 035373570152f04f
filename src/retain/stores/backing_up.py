"""A copy of any store in one file of SQLite, which `retain copy` puts back."""

from contextlib import closing
from pathlib import Path

from retain.errors import StoreBusy
from retain.ports import Store
from retain.stores.copying import copied
from retain.stores.part_files import made_whole
from retain.stores.sqlite.store import SqliteStore
from retain.stores.sqlite.upkeep import opened_alone


def back_up(store: Store, to: Path) -> None:
    """All but code, which is indexed anew; in one file that is there whole or not at all."""
    with made_whole(to, store) as part:
        with closing(SqliteStore(part)) as copy:
            done = copied(store, copy)
        if any(one.extra for one in done.sorts.values()):
            raise StoreBusy("others destroyed what was being copied; no backup was made, try again")
        with opened_alone(part) as db:
            # A copy with a log of its own would be two files.
            db.execute("pragma journal_mode = delete")
