"""What all parts of the store stand on: the database that they read and write."""

from retain.stores.surreal.database import Database


class Tables:
    """An open store, of which each subclass reads and writes some tables."""

    def __init__(self, db: Database) -> None:
        self.db = db
