"""A memory on a real server that can be stopped, with its shelter, as two processes on one machine have it."""

import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime

from retain.domain.connection import Reach
from retain.stores.mirror import Mirror
from retain.stores.queue import Queue
from retain.stores.sheltered import Away, sheltered
from retain.stores.surreal.link.connection import Address, signed_in
from retain.stores.surreal.link.database import Database
from retain.stores.surreal.link.reconnecting import Reconnecting
from retain.stores.surreal.store import SurrealStore

SECONDS = 30
# So that nobody waits for a server that is there again.
PAUSES = (0.02,) * 2000


def now():
    return datetime.now(UTC)


def until(met, seconds=SECONDS):
    """Asks again and again until there is an answer, and gives it."""
    late, pause = time.monotonic() + seconds, threading.Event()
    while not (found := met()):
        assert time.monotonic() < late, "it never came true"
        pause.wait(0.02)
    return found


class Machine:
    """One of those that use a server: its folder has a queue and a copy, which all that it opens share."""

    def __init__(self, folder, server, user=""):
        self.folder, self.server, self.user = folder, server, user
        self.address = Address(server.url, server.user, server.password)

    @property
    def queue(self):
        return Queue(self.folder / "queue.db")

    def mirror(self):
        return Mirror(self.folder / "mirror.db", self.user)

    @contextmanager
    def opened(self, kind=SurrealStore):
        """A store as the engine has it, which goes on while the server is away."""
        link = Reconnecting(lambda: signed_in(self.address), now=now, pauses=PAUSES)
        link.open(may_be_away=True)
        store = sheltered(Away(link, lambda: kind(Database(link)), now), self.mirror(), self.queue)
        try:
            yield store
        finally:
            store.close()

    @contextmanager
    def straight(self):
        """The store in the database, without a shelter."""
        store = SurrealStore(Database(signed_in(self.address)))
        try:
            yield store
        finally:
            store.close()


def is_back(store):
    return store.connection().reach is Reach.CONNECTED


def all_sent(store):
    """Whether nothing waits any more; asking for something sends it."""
    store.change()
    return is_back(store) and not store.connection().queued.waiting


def is_copied(machine, *ids):
    """Whether the copy has these memories."""
    mirror = machine.mirror()
    try:
        return set(mirror.store.memories(ids)) == set(ids)
    finally:
        mirror.close()
