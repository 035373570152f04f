"""A connection that is cut again and again under load: nothing that was acknowledged is lost, nothing is doubled."""

import random
import threading
import time
from dataclasses import replace

import pytest

from fakes import START
from making import a_memory, an_entry, wanted
from processes import LONG
from retain.domain.changes import Applied, AtVersion, Changes, NoTwin
from retain.domain.claims import fingerprint
from retain.domain.connection import Queued
from retain.domain.memory import Event
from sheltering import Machine, all_sent, until
from surreal_server import SurrealServer

pytestmark = pytest.mark.slow
SECONDS = 60.0 if LONG else 6.0
WRITERS = 3


class Writer(threading.Thread):
    """Adds memories and edits its own, and keeps account of the version that each has been acknowledged at."""

    def __init__(self, name, store, ended):
        super().__init__(daemon=True)
        self.name, self.store, self.ended = name, store, ended
        self.versions = {}
        self.error = None

    def run(self):
        try:
            while not self.ended.is_set():
                if self.versions and random.random() < 0.4:
                    self.edit(random.choice(list(self.versions)))
                else:
                    self.add(f"{self.name}-{len(self.versions)}")
                self.store.total(wanted())
        except Exception as error:  # noqa: BLE001 - told by the test, in the thread that can fail it
            self.error = error

    def add(self, id):
        memory = a_memory(id, f"{id} is about the deployment")
        expects = (NoTwin(memory.place, fingerprint(memory.text)),)
        outcome = self.store.apply(Changes(START, expects, (memory,), history=(an_entry(memory),)))
        assert isinstance(outcome, Applied), outcome
        self.versions[id] = 1

    def edit(self, id):
        old = self.store.memories([id])[id].memory
        assert old.version == self.versions[id], "somebody reads what they did not write"
        new = replace(old, version=old.version + 1, importance=random.random())
        expects = (AtVersion(id, old.version),)
        outcome = self.store.apply(Changes(START, expects, (new,), history=(an_entry(old, Event.UPDATED),)))
        assert isinstance(outcome, Applied), outcome
        self.versions[id] = new.version


def trouble(server, seconds):
    """Cuts connections and stops the server for a moment, at random."""
    late, pause = time.monotonic() + seconds, threading.Event()
    while time.monotonic() < late:
        pause.wait(random.uniform(0.1, 0.8))
        if random.random() < 0.3:
            server.stop()
            pause.wait(random.uniform(0.0, 0.5))
            server.start()
        else:
            server.cut()


def test_no_acknowledged_write_is_lost_and_none_is_doubled(tmp_path):
    ended = threading.Event()
    (tmp_path / "here").mkdir()
    with SurrealServer(tmp_path / "database") as server:
        machine = Machine(tmp_path / "here", server)
        with machine.opened() as one, machine.opened() as other:
            writers = [Writer(f"w{n}", one if n % 2 else other, ended) for n in range(WRITERS)]
            for writer in writers:
                writer.start()
            trouble(server, SECONDS)
            ended.set()
            for writer in writers:
                writer.join(60)
            assert [writer.error for writer in writers] == [None] * WRITERS
            until(lambda: all_sent(one) and all_sent(other), 180)
            assert one.connection().queued == Queued()
        acknowledged = {id: version for writer in writers for id, version in writer.versions.items()}
        with machine.straight() as database:
            found = {id: stored.memory.version for id, stored in database.memories(list(acknowledged)).items()}
            assert found == acknowledged
            assert database.total(wanted()) == len(acknowledged)
            assert {id: len(database.history(id)) for id in acknowledged} == acknowledged
