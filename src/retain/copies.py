"""When the store is copied: once a day, again while a new store fills, and before housekeeping destroys something."""

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

from retain.config import Settings
from retain.errors import RetainError
from retain.ports import Store

LOOK_SECONDS = 60.0


class Copies:
    """Those of the store that the settings name. Nothing is copied where others do that."""

    def __init__(self, settings: Settings, now: Callable[[], datetime]) -> None:
        self._folder, self._now = settings.backups, now
        # A server's database is for whoever runs the server to back up; `retain db serve` is this user's own.
        self._are_ours = settings.deployment_mode == "embedded-file" or settings.is_served_here

    def daily(self, store: Store) -> None:
        from retain.stores.sqlite.backups import daily_backup

        if self._are_ours:
            daily_backup(store, self._folder, self._now())

    def before_housekeeping(self, store: Store) -> None:
        """Raises where no copy can be made: then nothing is to be destroyed."""
        from retain.stores.sqlite.backups import backup_before_housekeeping

        if self._are_ours:
            backup_before_housekeeping(store, self._folder, self._now())

    def keep_up(self, look: Callable[[], None], ending: threading.Event) -> None:
        """Looks now and every minute until the end: a store gets its memories while a server runs, and a client gives
        that no time when it ends."""

        def look_again() -> None:
            while not ending.wait(LOOK_SECONDS):
                with suppress(RetainError):  # whoever calls next is told what is wrong with the store
                    look()

        look()
        if self._are_ours:
            threading.Thread(target=look_again, name="retain-copies", daemon=True).start()
