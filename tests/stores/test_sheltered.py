"""A store whose database goes away and comes back: real server, real socket, real files."""

import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from fakes import START, FixedClock
from making import (
    MODEL,
    a_contradiction,
    a_link,
    a_memory,
    a_project,
    a_relation,
    a_session,
    a_vector,
    an_embedding,
    an_entity,
    an_entry,
    at,
    ids,
    save,
    wanted,
)
from retain.domain.changes import ActiveWork, Applied, AtVersion, Changes, Conflict, NoTwin, TitleFree, Uncompared
from retain.domain.claims import fingerprint
from retain.domain.code import CodeFilter
from retain.domain.connection import Queued, Reach, noticing
from retain.domain.memory import Event
from retain.domain.model import BUNDLED, earlier
from retain.domain.work import Work
from retain.embedding.hashed import HashedEmbedder
from retain.engine.lifecycle.renewing import renew_some
from retain.engine.parts import Parts
from retain.errors import ConfigError, StoreDown
from retain.stores.mirror import Mirror
from retain.stores.queue import Queue
from retain.stores.sqlite.files import only_one
from retain.stores.sqlite.store import MEMORY, SqliteStore
from retain.stores.surreal.link.database import Database
from retain.stores.surreal.link.failures import LinkLost, Unanswered
from retain.stores.surreal.store import SurrealStore
from sheltering import Machine, all_sent, is_copied, now, until
from surreal_server import SurrealServer


@pytest.fixture
def server(tmp_path):
    with SurrealServer(tmp_path / "database") as running:
        yield running


@pytest.fixture
def machine(tmp_path, server):
    folder = tmp_path / "here"
    folder.mkdir()
    return Machine(folder, server)


@pytest.fixture
def store(machine):
    with machine.opened() as opened:
        yield opened


def a_new(id, text=None, **fields):
    """A plan that adds a memory, as remembering does."""
    memory = a_memory(id, text or f"{id} is about the deployment", **fields)
    return Changes(
        START,
        expects=(NoTwin(memory.place, fingerprint(memory.text)),),
        memories=(memory,),
        embeddings=(an_embedding(id, a_vector(1, 2)),),
        history=(an_entry(memory),),
    )


def an_edit(memory, text):
    new = replace(memory, text=text, version=memory.version + 1)
    return Changes(
        START,
        expects=(AtVersion(memory.id, memory.version),),
        memories=(new,),
        history=(an_entry(memory, Event.UPDATED),),
    )


def a_purge(memory):
    return Changes(START, expects=(AtVersion(memory.id, memory.version),), purged=(memory.id,))


def left_waiting(machine, *plans):
    """Plans that a process made while the database was away, and carried out in the copy."""
    with closing(machine.queue) as queue, closing(machine.mirror()) as mirror:
        for number, plan in enumerate(plans):
            keyed = replace(plan, key=f"waiting-{number}")
            queue.append(keyed, partial(mirror.store.apply, replace(keyed, expects=())))


def copied_texts(machine, *them):
    with closing(machine.mirror()) as mirror:
        return texts(mirror.store, *them)


def texts(store, *them):
    return {id: stored.memory.text for id, stored in store.memories(them).items()}


def test_a_database_that_is_there_is_read_and_written(store, machine):
    assert isinstance(store.apply(a_new("m1")), Applied)
    assert store.connection().reach is Reach.CONNECTED
    assert store.connection().queued == Queued()
    with machine.straight() as database:
        assert list(database.memories(["m1"])) == ["m1"]


def test_what_a_process_wrote_is_in_the_copy_when_it_ends(machine):
    """However soon that is: hooks, which read the copy, may be next."""
    with machine.opened() as store:
        store.apply(a_new("m1"))
    assert is_copied(machine, "m1")


class Interrupted(Queue):
    """Does something in the moment between reading memories from the database and writing them to the copy."""

    between = None

    def standing_still(self, doubting=()):
        between, self.between = self.between, None
        if between:
            between()
        return super().standing_still(doubting)


def test_what_was_read_before_a_write_does_not_undo_it_in_the_copy(tmp_path):
    plan = a_new("m1")
    edit = an_edit(plan.memories[0], "we deploy on Sundays")
    with (
        closing(SqliteStore(MEMORY)) as database,
        closing(Mirror(tmp_path / "copy.db", "")) as copy,
        closing(Interrupted(tmp_path / "queue.db")) as queue,
    ):
        database.apply(plan)
        queue.between = lambda: copy.take_own(queue, edit)
        copy.pull(database, queue, at_once=True)
        assert texts(copy.store, "m1") == {"m1": "we deploy on Sundays"}
        copy.take_again(database, queue, ["m1"], back=True)
        assert texts(copy.store, "m1") == {"m1": "m1 is about the deployment"}


def test_what_is_written_while_it_is_away_is_read_at_once_and_waits(store, server):
    server.stop()
    with noticing() as met:
        assert isinstance(store.apply(a_new("m1")), Applied)
        assert list(store.memories(["m1"])) == ["m1"]
        assert ids(store.by_words(["deploy"], wanted(), 5)) == ["m1"]
        assert ids(store.by_vector(a_vector(1, 2), MODEL, wanted(), 5)) == ["m1"]
    assert (met.read, met.queued) == (True, True)
    connection = met.connection()
    assert connection.reach in (Reach.RECONNECTING, Reach.DEGRADED)
    assert connection.queued == Queued(1, 0, START)
    assert connection.since and connection.why


def test_what_was_compared_while_it_went_away_does_not_wait_but_is_compared_again(store, server):
    server.stop()
    store.apply(a_new("m1"))
    with pytest.raises(StoreDown, match="compared once it is back"):
        store.apply(Changes(at=START, expects=(Uncompared("m1", 1, None),)))
    assert store.connection().queued == Queued(1, 0, START)


class Named(HashedEmbedder):
    """Goes by the name of the model in the package."""

    model = BUNDLED


def test_while_it_is_away_vectors_of_an_earlier_file_serve_and_are_not_made_anew(machine, server):
    (old,) = earlier(BUNDLED)
    with machine.opened() as store:
        save(store, a_memory("m1"), embeddings=(an_embedding("m1", a_vector(1), model=old),))
    assert is_copied(machine, "m1")
    server.stop()
    with machine.opened() as store:
        assert ids(store.by_vector(a_vector(1), BUNDLED, wanted(), 5)) == ["m1"]
        assert renew_some(Parts(store, Named(), FixedClock())) == 0
        assert store.connection().queued == Queued()


def test_all_that_waited_is_there_once_and_in_order_when_it_is_back(store, server, machine):
    server.stop()
    first = a_memory("m0", "m0 is about the deployment")
    for n in range(5):
        store.apply(a_new(f"m{n}"))
    store.apply(an_edit(first, "we deploy on Fridays"))
    server.start()
    until(lambda: all_sent(store))
    with machine.straight() as database:
        assert database.total(wanted()) == 5
        assert texts(database, "m0")["m0"] == "we deploy on Fridays"
        assert [entry.event for entry in database.history("m0")] == [Event.CREATED, Event.UPDATED]
        memories = [change.memory for change in database.changed(0, 100)]
        assert memories == ["m1", "m2", "m3", "m4", "m0"]


def test_what_waits_is_sent_without_anybody_asking(store, server, machine):
    server.stop()
    store.apply(a_new("m1"))
    server.start()
    until(lambda: not store.connection().queued.waiting)


def test_a_plan_that_arrived_before_the_answer_was_lost_is_not_written_twice(store, server, machine):
    """A relation would weigh more if it were."""
    plan = replace(
        a_new("m1"),
        entities=(an_entity("Shop"),),
        links=(a_link("m1", "Shop"),),
        key="the-key",
    )
    with machine.straight() as database:
        before = database.apply(plan)
    server.stop()
    store.apply(plan)
    server.start()
    until(lambda: all_sent(store))
    assert store.connection().queued == Queued()
    assert store.change() == before.change
    assert len(store.history("m1")) == 1


class Unheard(SurrealStore):
    """Its answers are lost, after another process of the machine has copied what was written."""

    def __init__(self, database, machine):
        super().__init__(database)
        self.machine = machine

    def apply(self, plan):
        super().apply(plan)
        with closing(self.machine.queue) as queue, closing(self.machine.mirror()) as mirror:
            mirror.pull(self, queue, at_once=True)
        raise LinkLost("the cable was cut")


@pytest.mark.parametrize("second", [an_edit, lambda memory, _: a_purge(memory)], ids=["edited", "destroyed"])
def test_a_plan_is_not_in_its_own_way_when_the_copy_has_it_before_the_answer_was_lost(machine, second):
    first = a_new("m1")
    for plan in (first, second(first.memories[0], "we deploy on Sundays")):
        with machine.opened(partial(Unheard, machine=machine)) as store:
            assert isinstance(store.apply(plan), Applied)
            assert store.connection().queued.waiting == 1
        with machine.opened() as store:
            until(lambda: all_sent(store))
            assert store.connection().queued == Queued()
    with machine.straight() as database:
        assert database.change() == 2


class Overheard(Unheard):
    """As it, after somebody else has gone on from what was written."""

    def apply(self, plan):
        SurrealStore.apply(self, plan)
        with self.machine.straight() as other:
            other.apply(an_edit(plan.memories[0], "we deploy never"))
        return super().apply(plan)


def test_a_plan_that_others_went_on_from_is_no_conflict_when_its_answer_was_lost(machine):
    first = a_new("m1")
    with machine.straight() as database:
        database.apply(first)
    with machine.opened(partial(Overheard, machine=machine)) as store:
        assert isinstance(store.apply(an_edit(first.memories[0], "we deploy on Sundays")), Applied)
    with machine.opened() as store:
        until(lambda: all_sent(store))
        assert store.connection().queued == Queued()
        assert texts(store, "m1") == {"m1": "we deploy never"}
        assert [entry.version for entry in store.history("m1")] == [1, 1, 2]


def test_a_session_that_was_begun_is_not_in_its_own_way_when_the_answer_was_lost(machine):
    work = Work("w1", "mend the deployment", "shop", START)
    begun = Changes(START, (ActiveWork("shop", "", frozenset()),), projects=(a_project("shop"),), works=(work,))
    with machine.opened(partial(Unheard, machine=machine)) as store:
        assert isinstance(store.apply(begun), Applied)
    with machine.opened() as store:
        until(lambda: all_sent(store))
        assert store.connection().queued == Queued()
        assert store.work("w1", "") == work


class Late:
    """A way to a database that does what it is asked, and says so too late."""

    def __init__(self, link):
        self._link = link

    def request(self, message, id, seconds):
        answer = self._link.request(message, id, seconds)
        if b"COMMIT" in message:
            raise Unanswered("it did not answer within 61 s")
        return answer

    def close(self):
        self._link.close()


def test_a_write_that_the_database_may_still_do_is_not_told_as_failed_and_not_done_twice(machine):
    with machine.opened(lambda database: SurrealStore(Database(Late(database._link)))) as store:
        assert isinstance(store.apply(a_new("m1")), Applied)
        assert store.connection().queued.waiting == 1
        assert texts(store, "m1")
    with machine.opened() as store:
        until(lambda: all_sent(store))
        assert store.connection().queued == Queued()
        assert (store.change(), len(store.history("m1"))) == (1, 1)


def test_keys_of_plans_are_forgotten_by_the_clock_of_the_database_alone(machine, server):
    with machine.straight() as database:
        for key, moment in (("old", now()), ("behind", now() - timedelta(days=400)), ("ahead", now() + timedelta(400))):
            database.apply(replace(a_new(key), at=moment, key=key))
        database.db.run("UPDATE applied:old SET at -= 31d")
        database._forget_keys()
        assert sorted(database.db.rows("SELECT VALUE id FROM applied")) == ["ahead", "behind"]
        server.stop()
        database._forget_keys()  # the plan before it is written, so this must not fail it


def test_a_plan_that_others_were_before_is_planned_again_though_its_answer_was_lost(machine):
    with machine.straight() as database:
        save(database, a_memory("theirs", "we deploy on Mondays"))
    with machine.opened(partial(Unheard, machine=machine)) as store:
        assert isinstance(store.apply(a_new("mine", "we deploy on Mondays")), Conflict)
        assert store.connection().queued == Queued()


def test_a_cut_cable_loses_and_doubles_nothing(store, server, machine):
    for n in range(20):
        if n % 5 == 2:
            server.cut()
        assert isinstance(store.apply(a_new(f"m{n}")), Applied)
    until(lambda: all_sent(store))
    with machine.straight() as database:
        assert database.total(wanted()) == 20
        assert all(len(database.history(f"m{n}")) == 1 for n in range(20))


def test_the_same_text_from_another_machine_is_no_conflict_to_show(machine):
    with machine.straight() as database:
        save(database, a_memory("theirs", "we deploy on Mondays"))
        left_waiting(machine, a_new("mine", "we deploy on Mondays"))
        with machine.opened() as store:
            until(lambda: all_sent(store))
            assert store.connection().queued == Queued()
            assert ids(database.listed(wanted(), 5)) == ["theirs"]
            until(lambda: is_copied(machine, "theirs") and not is_copied(machine, "mine"))


def test_what_cannot_be_written_any_more_is_kept_for_a_person_and_holds_up_nobody(machine):
    plan = a_new("m1")
    with machine.straight() as database:
        database.apply(plan)
        database.apply(an_edit(plan.memories[0], "we deploy on Sundays"))
    left_waiting(machine, an_edit(plan.memories[0], "we deploy on Fridays"), a_new("m2"))
    with machine.opened() as store:
        until(lambda: all_sent(store))
        assert store.connection().queued == Queued(0, 1)
        assert any("refused" in notice for notice in store.notices())
        (refused,) = machine.queue.entries()
        assert refused.changes.memories[0].text == "we deploy on Fridays"
        assert "nobody has changed it" in refused.why
        assert texts(store, "m1", "m2") == {"m1": "we deploy on Sundays", "m2": "m2 is about the deployment"}
        until(lambda: copied_texts(machine, "m1") == {"m1": "we deploy on Sundays"})


def test_what_was_refused_goes_when_it_is_tried_again_and_nothing_is_in_its_way(machine):
    plan = a_new("m1")
    left_waiting(machine, an_edit(plan.memories[0], "we deploy on Fridays"))
    with machine.opened() as store:
        until(lambda: store.connection().queued == Queued(0, 1))
        with machine.straight() as database:
            database.apply(plan)
        with closing(machine.queue) as queue:
            queue.retry(queue.entries()[0].number)
        store.apply(a_new("m2"))
        assert store.connection().queued == Queued()
        assert texts(store, "m1") == {"m1": "we deploy on Fridays"}


def test_a_plan_that_is_broken_on_this_machine_is_planned_again_at_once(store, server):
    server.stop()
    store.apply(a_new("m1", title="Deployment"))
    plan = replace(a_new("m2"), expects=(TitleFree(a_memory().place, "Deployment"),))
    assert isinstance(store.apply(plan), Conflict)
    assert store.connection().queued.waiting == 1


def test_two_that_send_the_same_queue_write_everything_once(server, machine):
    server.stop()
    with machine.opened() as first, machine.opened() as second:
        for n in range(10):
            (first if n % 2 else second).apply(a_new(f"m{n}"))
        server.start()
        until(lambda: all_sent(first) and all_sent(second))
        assert first.change() == 10
        assert all(len(second.history(f"m{n}")) == 1 for n in range(10))


def test_a_database_that_was_never_reached_is_waited_for(tmp_path, server, machine):
    server.stop()
    with machine.opened() as store:
        assert store.total(wanted()) == 0
        assert "never been at it" in store.connection().why
        store.apply(a_new("m1"))
        server.start()
        until(lambda: all_sent(store))
        assert list(store.memories(["m1"])) == ["m1"]
    server.stop()
    with machine.opened() as later:
        assert "never been at it" not in later.connection().why


def test_a_wrong_password_is_no_database_that_is_away(machine):
    machine.address = replace(machine.address, password="wrong")
    with pytest.raises(ConfigError, match="remote_pass"), machine.opened():
        pass


def test_what_needs_the_database_says_so(store, server, tmp_path):
    server.stop()
    for needing in (
        lambda: store.indexes(""),
        lambda: store.code_by_words(["x"], CodeFilter(("shop",)), 5),
        lambda: store.backup(tmp_path / "copy.db"),
        lambda: store.empty("", START, 1),
    ):
        with pytest.raises(StoreDown, match="away"):
            needing()


# The copy


def test_a_relation_that_ended_elsewhere_ends_in_the_copy(tmp_path):
    names = ("A", "B")
    spoken = {"entities": tuple(map(an_entity, names)), "links": tuple(a_link("m1", name) for name in names)}
    with (
        closing(SqliteStore(MEMORY)) as database,
        closing(Mirror(tmp_path / "copy.db", "")) as copy,
        closing(Queue(tmp_path / "queue.db")) as queue,
    ):
        memory = a_memory("m1", "A uses B")
        save(database, memory, relations=(a_relation("A", "B", "uses", by_rule=True),), **spoken)
        copy.pull(database, queue, at_once=True)
        assert copy.store.relations_among(["e-A", "e-B"])[0].valid_until is None
        ended = tuple(database.relations_among(["e-A", "e-B"]))
        edited = replace(memory, text="A is fast", version=2)
        save(database, edited, unlinked=(("m1", "e-B"),), ended=ended)
        copy.pull(database, queue, at_once=True)
        assert copy.store.relations_among(["e-A", "e-B"])[0].valid_until == START


def test_the_clock_being_set_back_does_not_keep_the_copy_from_what_is_new(machine):
    with machine.straight() as database, closing(machine.queue) as queue, closing(machine.mirror()) as copy:
        copy.pull(database, queue, at_once=True)
        noted = copy._noted()
        copy._write(replace(noted, at=noted.at + 86400, beside=noted.beside + 86400))
        database.apply(a_new("m1"))
        assert copy.pull(database, queue, at_once=False) == {"m1"}


def test_a_database_that_was_restored_from_a_backup_begins_a_new_copy(tmp_path, server, machine):
    def restart(moving):
        server.stop()
        moving()
        server.start()

    with machine.straight() as database:
        database.apply(a_new("m1"))
    restart(lambda: shutil.copytree(server.folder, tmp_path / "backup"))
    with machine.straight() as database, closing(machine.queue) as queue, closing(machine.mirror()) as copy:
        for n in range(2, 5):
            database.apply(a_new(f"m{n}"))
        copy.pull(database, queue, at_once=True)
    restart(lambda: (shutil.rmtree(server.folder), shutil.copytree(tmp_path / "backup", server.folder)))
    with machine.straight() as database, closing(machine.queue) as queue, closing(machine.mirror()) as copy:
        database.apply(a_new("later"))
        copy.pull(database, queue, at_once=True)
        assert set(copy.store.memories(["m1", "m2", "m3", "m4", "later"])) == {"m1", "later"}


@pytest.mark.parametrize("damage", [lambda file: file.unlink(), lambda file: file.write_bytes(b"nonsense" * 1000)])
def test_a_copy_that_is_lost_or_damaged_is_made_anew_and_whole(machine, damage):
    with machine.straight() as database, closing(machine.queue) as queue:
        database.apply(a_new("m1"))
        with closing(machine.mirror()) as copy:
            copy.pull(database, queue, at_once=True)
        for file in machine.folder.glob("mirror.db*"):
            damage(file)
        with closing(machine.mirror()) as copy:
            copy.pull(database, queue, at_once=True)
            assert list(copy.store.memories(["m1"])) == ["m1"]


def pulled(machine):
    """What another process does that brings the copy up to date."""
    with machine.straight() as database, closing(machine.queue) as queue, closing(machine.mirror()) as copy:
        copy._taken_over(database, queue, copy._noted())


def test_what_others_copied_before_a_process_ends_is_not_there_twice(machine):
    with only_one(machine.folder / "mirror.pulling"), machine.opened() as store:
        store.apply(a_new("m1"))
        pulled(machine)
    with closing(machine.mirror()) as copy:
        assert len(copy.store.history("m1")) == 1


def test_what_others_destroyed_before_a_process_ends_does_not_come_back_for_good(machine):
    with only_one(machine.folder / "mirror.pulling"), machine.opened() as store:
        store.apply(a_new("m1"))
        pulled(machine)
        with machine.straight() as database:
            database.apply(Changes(at(1), purged=("m1",)))
        pulled(machine)
    with machine.opened() as store:
        store.apply(a_new("m2"))
        until(lambda: is_copied(machine, "m2") and not is_copied(machine, "m1"))


def test_a_twin_that_was_never_written_leaves_the_copy_though_the_process_that_sent_it_is_over(machine):
    with machine.straight() as database:
        save(database, a_memory("theirs", "we deploy on Mondays"))
    left_waiting(machine, a_new("mine", "we deploy on Mondays"))
    with machine.opened() as store:
        store.change()
        assert store.connection().queued == Queued()
    with machine.opened() as store:
        store.apply(a_new("m2"))
        until(lambda: is_copied(machine, "theirs") and not is_copied(machine, "mine"))


def test_a_purge_that_is_done_is_not_told_as_failed_when_the_copy_is_locked(machine):
    with machine.opened() as store:
        store.apply(a_new("m1"))
        until(lambda: is_copied(machine, "m1"))
        store._mirror.store.pool.busy_seconds = 0.1
        with closing(sqlite3.connect(machine.folder / "mirror.db", isolation_level=None)) as other:
            other.execute("begin immediate")
            assert isinstance(store.apply(Changes(at(1), purged=("m1",))), Applied)
            other.execute("rollback")
        store.apply(a_new("m2"))
        until(lambda: is_copied(machine, "m2") and not is_copied(machine, "m1"))


def test_what_others_wrote_is_read_while_the_database_is_away(server, machine):
    with machine.straight() as database:
        for n in range(3):
            database.apply(a_new(f"m{n}"))
    with machine.opened() as store:
        store.apply(a_new("mine"))
        until(lambda: is_copied(machine, "m0", "m1", "m2", "mine"))
        server.stop()
        assert store.total(wanted()) == 4
        assert ids(store.by_vector(a_vector(1, 2), MODEL, wanted(), 9)) != []
    with machine.opened() as store:
        assert store.total(wanted()) == 4, "the copy is there for those who start while the database is away"


def test_what_was_written_just_before_is_read_too(store, server):
    store.apply(a_new("m1"))
    server.stop()
    assert list(store.memories(["m1"])) == ["m1"]


def test_what_was_written_beside_memories_is_in_the_copy_too(store, server, machine):
    store.apply(a_new("m1"))
    store.apply(a_new("m2"))
    until(lambda: is_copied(machine, "m1", "m2"))
    store.apply(Changes(START, contradictions=(a_contradiction("c1", "m1", "m2"),), sessions=(a_session("s1"),)))
    store.apply(a_new("m3"))
    until(lambda: is_copied(machine, "m3"))
    server.stop()
    assert [one.id for one in store.contradictions(["m1"])] == ["c1"]
    assert store.session("s1", "").id == "s1"


def test_what_was_destroyed_elsewhere_leaves_the_copy_and_the_queue(store, server, machine):
    store.apply(a_new("m1"))
    until(lambda: is_copied(machine, "m1"))
    with machine.straight() as database:
        database.apply(Changes(at(1), purged=("m1",)))
    store.apply(a_new("m2"))
    until(lambda: is_copied(machine, "m2"))
    assert not is_copied(machine, "m1")


def test_what_is_destroyed_here_leaves_the_copy_at_once(store, server, machine):
    store.apply(a_new("m1"))
    until(lambda: is_copied(machine, "m1"))
    store.apply(Changes(at(1), purged=("m1",)))
    assert not is_copied(machine, "m1")


def test_what_is_destroyed_while_it_waits_never_arrives(store, server, machine):
    server.stop()
    store.apply(a_new("m1", "the secret of the shop"))
    store.apply(Changes(at(1), purged=("m1",)))
    assert store.memories(["m1"]) == {}
    kept = b"".join(file.read_bytes() for file in machine.folder.iterdir() if file.name.startswith("queue"))
    assert b"secret" not in kept
    server.start()
    until(lambda: all_sent(store))
    with machine.straight() as database:
        assert database.memories(["m1"]) == {}


def test_the_copy_has_only_what_is_the_users(server, machine):
    mine, theirs = a_new("mine"), a_new("theirs")
    place = replace(a_memory().place, user="bob")
    with machine.straight() as database:
        save(database, *mine.memories, *(replace(memory, place=place) for memory in theirs.memories))
    with machine.opened() as store:
        store.apply(a_new("m1"))
        until(lambda: is_copied(machine, "mine", "m1"))
        assert not is_copied(machine, "theirs")


def test_another_database_at_the_same_address_begins_a_new_copy(tmp_path, server, machine):
    with machine.opened() as store:
        store.apply(a_new("m1"))
        until(lambda: is_copied(machine, "m1"))
    server.stop()
    with SurrealServer(tmp_path / "other", port=server.port), machine.opened() as store:
        store.apply(a_new("m2"))
        until(lambda: is_copied(machine, "m2"))
        assert not is_copied(machine, "m1")


def test_emptying_empties_the_copy_and_the_queue_too(store, machine):
    store.apply(a_new("m1"))
    until(lambda: is_copied(machine, "m1"))
    assert store.empty("", at(1), store.change()).memories == 1
    assert not is_copied(machine, "m1")


HALF = """
import os
import sys
from pathlib import Path
sys.path[:0] = sys.argv[1:3]
from dataclasses import replace
from retain.stores.mirror import Mirror
from retain.stores.queue import Queue
from test_sheltered import a_new
folder, plan = Path(sys.argv[3]), replace(a_new("m1"), key="half")
copy = Mirror(folder / "mirror.db", "")
Queue(folder / "queue.db").append(plan, lambda: copy.store.apply(plan) and os._exit(9))
"""


def test_what_was_carried_out_when_the_process_was_killed_is_sent(server, machine):
    """Whoever says the same again is told that it is there already, so it has to get there."""
    server.stop()
    here = Path(__file__).parent
    subprocess.run([sys.executable, "-c", HALF, str(here), str(here.parent), str(machine.folder)], check=False)
    assert is_copied(machine, "m1")
    with machine.opened() as store:
        assert isinstance(store.apply(a_new("m2", a_new("m1").memories[0].text)), Conflict)
        server.start()
        until(lambda: all_sent(store))
        assert store.connection().queued == Queued()
    with machine.straight() as database:
        assert list(database.memories(["m1"])) == ["m1"]


WRITING = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[1:3]
from retain.stores.surreal.link.failures import LinkLost
from retain.stores.surreal.store import SurrealStore
from sheltering import Machine
from surreal_server import SurrealServer
from test_sheltered import a_new
server = SurrealServer(port=int(sys.argv[4]))
with Machine(Path(sys.argv[3]), server).opened() as store:
    for n in range(100_000):
        store.apply(a_new(f"m{n}"))
        print(n, flush=True)
"""


def test_what_waits_survives_the_end_of_the_process(server, machine):
    server.stop()
    here = Path(__file__).parent
    script = [sys.executable, "-c", WRITING, str(here), str(here.parent), str(machine.folder), str(server.port)]
    with subprocess.Popen(script, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if int(line) == 15:
                process.send_signal(signal.SIGKILL)
                break
        told = 16 + len(process.stdout.read().split())
    server.start()
    with machine.opened() as store:
        until(lambda: all_sent(store))
        found = store.total(wanted())
        assert found >= told
        assert len(store.memories([f"m{n}" for n in range(found)])) == found
