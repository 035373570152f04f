"""The queue of writes that wait for a database that is away."""

import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from dataclasses import replace

import pytest

from fakes import START
from making import a_link, a_memory, a_relation, a_session, a_vector, an_embedding, an_entity, an_entry, at
from retain.domain.changes import Applied, AtVersion, Changes, Conflict, NoTwin
from retain.domain.claims import fingerprint
from retain.domain.connection import Queued
from retain.domain.memory import Event
from retain.errors import NotFound, StorageFull
from retain.stores.queue import Queue

DONE = Applied(1)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "queue" / "shop.db"


@pytest.fixture
def queue(file):
    with closing(Queue(file)) as opened:
        yield opened


def a_plan(key, *memories, **fields):
    return Changes(fields.pop("at", START), memories=memories or (a_memory(key),), key=key, **fields)


def put(queue, *plans):
    for plan in plans:
        assert queue.append(plan, lambda: DONE) == DONE


def keys(queue):
    return [entry.key for entry in queue.entries()]


def everything(file):
    """All bytes that are kept of a queue, its log included."""
    return b"".join(part.read_bytes() for part in file.parent.iterdir())


def test_plans_come_out_as_they_went_in_and_in_that_order(queue):
    plans = [a_plan(f"k{n}", at=at(n), expects=(AtVersion("m", n),)) for n in range(3)]
    put(queue, *plans)
    assert [entry.changes for entry in queue.entries()] == plans
    assert queue.state() == Queued(3, 0, at(0))
    assert queue.first().key == "k0"


def test_what_is_done_is_gone_and_a_second_time_changes_nothing(queue):
    put(queue, a_plan("k1"), a_plan("k2"))
    first = queue.first()
    queue.done(first)
    queue.done(first)
    assert keys(queue) == ["k2"]


def test_a_plan_that_cannot_be_carried_out_is_not_queued(queue):
    conflict = Conflict(AtVersion("m", 1))
    assert queue.append(a_plan("k1"), lambda: conflict) == conflict
    assert queue.entries() == []


def test_nothing_is_queued_when_carrying_it_out_fails(queue):
    def full():
        raise StorageFull("the disk is full")

    with pytest.raises(StorageFull):
        queue.append(a_plan("k1"), full)
    assert queue.entries() == []


def test_what_was_refused_stays_and_holds_up_nobody(queue):
    put(queue, a_plan("k1"), a_plan("k2", at=at(5)))
    queue.refuse(queue.first(), "somebody else has changed it")
    assert queue.first().key == "k2"
    assert queue.state() == Queued(1, 1, at(5))
    assert queue.entries()[0].why == "somebody else has changed it"


def test_what_waits_for_one_database_can_be_sent_to_another(queue, file):
    put(queue, a_plan("k0"))
    with closing(Queue(file.with_name("other.db"), "ws://elsewhere")) as other:
        put(other, a_plan("k1"), a_plan("k2"), a_plan("k3"))
        other.refuse(other.entries()[0], "it is full")
        assert (other.of, queue.adopt(other)) == ("ws://elsewhere", 3)
        assert other.state() == Queued()
        put(other, a_plan("k3"))  # as one is left that was killed between the two
        assert queue.adopt(other) == 1
    assert keys(queue) == ["k0", "k1", "k2", "k3"]
    assert queue.state().waiting == 4


def test_what_was_refused_can_be_tried_again_in_its_old_place_or_dropped(queue):
    put(queue, a_plan("k1"), a_plan("k2"))
    refused = queue.first()
    queue.refuse(refused, "no")
    queue.retry(refused.number)
    assert queue.first().key == "k1"
    queue.drop(refused.number)
    assert keys(queue) == ["k2"]
    with pytest.raises(NotFound, match="no write 7"):
        queue.drop(7)


def test_every_process_of_the_machine_sees_one_queue_that_nobody_else_can_read(queue, file):
    put(queue, a_plan("k1"))
    with closing(Queue(file)) as other:
        assert keys(other) == ["k1"]
        other.done(other.first())
    assert queue.state() == Queued()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_only_one_sends_at_a_time(queue, file):
    with closing(Queue(file)) as other:
        with queue.sending() as mine, other.sending() as theirs:
            assert (mine, theirs) == (True, False)
        with other.sending() as theirs:
            assert theirs


def test_whoever_brings_the_copy_up_to_date_knows_which_memories_still_wait(queue):
    put(queue, a_plan("k1", a_memory("m1"), a_memory("m2")), a_plan("k2", a_memory("m3")))
    queue.refuse(queue.entries()[1], "no")
    with queue.standing_still() as waiting:
        assert waiting == {"m1", "m2"}


def test_what_the_copy_may_have_otherwise_than_the_database_is_known_until_somebody_has_looked(queue, file):
    put(queue, a_plan("k1", a_memory("m1")), a_plan("k2", a_memory("m2")), a_plan("k3", a_memory("m3")))
    queue.done(queue.first())
    queue.refuse(queue.first(), "no")
    queue.drop(3)
    with closing(Queue(file)) as later:
        doubts = later.doubts()
        assert (doubts.behind, doubts.ahead) == ({"m1"}, {"m2", "m3"})
        with queue.standing_still(doubting=["m1"]):
            pass
        later.settle(doubts)
        assert later.doubts().behind == {"m1"}, "it was doubted again since"


def garbled(queue, was, becomes):
    """What another version of Retain might have written."""
    with queue._pool.writing() as db:
        db.execute("update plan set changes = replace(changes, ?, ?)", (was, becomes))


def test_a_plan_that_this_version_cannot_read_is_kept_and_holds_up_nobody(queue, file):
    put(queue, a_plan("k1", expects=(AtVersion("m", 1),)))
    garbled(queue, "AtVersion", "AtMidnight")
    put(queue, a_plan("k2"))
    with queue.standing_still() as waiting:
        assert waiting == {"k2"}
    assert queue.first().key == "k2"
    (kept, _) = queue.entries()
    assert "cannot read it" in kept.why
    assert queue.state() == Queued(1, 1, START)
    queue.forget(["m"])
    assert keys(queue) == ["k2"], "nobody can take the memory out of it"


def test_a_damaged_queue_is_set_aside_and_told(file):
    file.parent.mkdir()
    file.write_bytes(b"nonsense" * 1000)
    with closing(Queue(file)) as queue:
        put(queue, a_plan("k1"))
        notice = queue.standing()[0].message
        assert "damaged" in notice
    (kept,) = file.parent.glob("shop.db.damaged-*")
    assert kept.read_bytes() == b"nonsense" * 1000


def test_a_full_disk_is_told_and_nothing_is_half_queued(queue, file):
    put(queue, a_plan("k1"))
    with queue._pool.plain() as db:
        db.execute("pragma max_page_count = 1")
        with pytest.raises(sqlite3.OperationalError):
            db.execute("insert into plan (key, at, changes) values ('x', 'x', ?)", ("x" * 1_000_000,))
    with pytest.raises(StorageFull):
        queue.append(a_plan("k2", a_memory("m2", "x" * 1_000_000)), lambda: DONE)
    assert keys(queue) == ["k1"]


def test_a_purge_takes_the_memory_out_of_every_plan_that_waits(queue, file):
    said = "the secret of the shop"
    secret = a_memory("secret", said, session="s1")
    other = a_memory("other", "we deploy on Mondays", derived_from=("secret", "m0"))
    edited = replace(secret, version=2, text=f"{said}!")
    put(
        queue,
        a_plan(
            "made",
            secret,
            other,
            expects=(NoTwin(secret.place, fingerprint(said)), NoTwin(other.place, fingerprint(other.text))),
            embeddings=(an_embedding("secret", a_vector(1)),),
            history=(an_entry(secret),),
            entities=(an_entity("Vault"), an_entity("Shop")),
            links=(a_link("secret", "Vault"), a_link("secret", "Shop"), a_link("other", "Shop")),
            relations=(a_relation("Vault", "Shop"),),
            sessions=(a_session("s1", summary=said),),
        ),
        a_plan("edited", edited, expects=(AtVersion("secret", 1),), history=(an_entry(secret, Event.UPDATED),)),
        Changes(at(9), expects=(AtVersion("secret", 2), AtVersion("m5", 1)), purged=("secret", "m5"), key="purge"),
    )
    made, purge = queue.entries()
    assert made.changes == Changes(
        START,
        expects=(NoTwin(other.place, fingerprint(other.text)),),
        memories=(replace(other, derived_from=("m0",)),),
        entities=(an_entity("Shop"),),
        links=(a_link("other", "Shop"),),
        sessions=(a_session("s1"),),
        key="made",
    )
    assert purge.changes.purged == ("secret", "m5")
    assert purge.changes.expects == (AtVersion("m5", 1),)
    assert said.encode() not in everything(file)
    assert b"Vault" not in everything(file)


def test_what_was_refused_is_forgotten_too(queue, file):
    put(queue, a_plan("k1", a_memory("m1", "the secret of the shop")))
    queue.refuse(queue.first(), "no")
    queue.forget(["m1"])
    assert queue.entries() == []
    assert b"secret" not in everything(file)


def test_all_of_a_user_can_be_forgotten(queue):
    mine, ours = a_memory("m1"), a_memory("m2")
    put(queue, a_plan("k1", replace(mine, place=replace(mine.place, user="ada"))), a_plan("k2", ours))
    put(queue, Changes(START, sessions=(a_session("s1", user="ada", summary="all of it"),), key="k3"))
    queue.forget_user("ada")
    assert keys(queue) == ["k2"]


APPENDING = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from making import a_memory
from fakes import START
from retain.domain.changes import Applied, Changes
from retain.stores.queue import Queue
queue = Queue(Path(sys.argv[1]))
for n in range(100_000):
    queue.append(Changes(START, memories=(a_memory(f"m{n}"),), key=f"k{n}"), lambda: Applied(1))
    print(n, flush=True)
"""


def test_what_was_acknowledged_survives_the_end_of_the_process(file):
    script = [sys.executable, "-c", APPENDING, str(file), str(__file__).rsplit("/", 2)[0]]
    with subprocess.Popen(script, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if int(line) == 20:
                process.send_signal(signal.SIGKILL)
        process.wait()
    with closing(Queue(file)) as queue:
        found = keys(queue)
        assert found == [f"k{n}" for n in range(len(found))]
        assert len(found) >= 21
        put(queue, a_plan("next"))
