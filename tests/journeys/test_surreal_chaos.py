"""The connection is cut and the server restarted at random under mixed load: nothing acknowledged is lost or doubled."""

import json
import os
import random
import time
from collections import Counter
from datetime import UTC, datetime

import pytest

from processes import start
from retain.stores.surreal.connection import Address, on_server
from retain.stores.surreal.database import Database
from retain.stores.surreal.store import SurrealStore
from surreal_server import SurrealServer

pytestmark = pytest.mark.slow
SECONDS = float(os.environ.get("RETAIN_TEST_CHAOS", "8"))
WINDOWS = 3


def test_no_acknowledged_write_is_lost_and_none_is_doubled(tmp_path):
    with SurrealServer(tmp_path / "data") as server:
        settings = {"url": server.url, "user": server.user, "password": server.password}
        # Two windows of one machine, which share a queue, and one of another.
        homes = [tmp_path / "here", tmp_path / "here", tmp_path / "there"]
        windows = [
            start("live", json.dumps(settings), home, f"w{n}", SECONDS) for n, home in enumerate(homes[:WINDOWS])
        ]
        cuts, restarts = _disturb(server, SECONDS)
        told = [process.communicate(timeout=SECONDS + 90) for process in windows]
        assert [err for _, err in told] == [""] * WINDOWS
        acknowledged = [json.loads(line) for out, _ in told for line in out.splitlines()]
        store = SurrealStore(Database(on_server(Address(server.url, server.user, server.password), _now)))
        texts = Counter(store.db.rows("SELECT VALUE content FROM memory"))
        faults = store.faults()
        store.close()
    lost = [each for each in acknowledged if texts[each["text"]] == 0]
    queued = sum(each["queued"] for each in acknowledged)
    print(f"{len(acknowledged)} writes, {queued} of them queued, {cuts} cuts, {restarts} restarts")
    assert lost == []
    assert {text: times for text, times in texts.items() if times > 1} == {}
    assert faults == []
    assert len(acknowledged) > 20
    assert 0 < queued < len(acknowledged), "the load met both ways"


def _disturb(server, seconds):
    chance, end = random.Random(), time.monotonic() + seconds
    cuts = restarts = 0
    time.sleep(1.5)  # the windows are up
    while time.monotonic() < end:
        time.sleep(chance.uniform(0.05, 0.6))
        if chance.random() < 0.25:
            server.stop()
            time.sleep(chance.uniform(0.0, 1.0))
            server.start()
            restarts += 1
        else:
            server.cut()
            cuts += 1
    return cuts, restarts


def _now():
    return datetime.now(UTC)
