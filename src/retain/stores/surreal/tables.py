"""What all parts of the store stand on: the database that they read and write."""

from functools import cached_property

from retain.domain.connection import Connection
from retain.stores.surreal.link.database import Database


class Tables:
    """An open store, of which each subclass reads and writes some tables."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def connection(self) -> Connection:
        """Of one that may be away, `stores.sheltered` tells."""
        return Connection(version=self._version)

    @cached_property
    def _version(self) -> str:
        return str(self.db.call("version")).removeprefix("surrealdb-")

    def _check_room(self) -> None:
        """Before what takes room: raises StorageFull where there is none. The store says how much there is."""
