"""Schema steps: an older file is brought up to date beside running windows, and a crash between steps is no harm."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import pytest

from making import a_memory, a_relation, ids, insert_as_before, save, wanted
from processes import said, start
from retain.domain.graph import relation_id
from retain.domain.words import query_terms
from retain.stores.sqlite import migrations
from retain.stores.sqlite.rows import marks
from retain.stores.sqlite.store import SqliteStore


def older(path, steps, count=20):
    """A store as the first steps made it, with memories in it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("pragma journal_mode = wal")
        for number, step in enumerate(migrations.STEPS[:steps], start=1):
            db.execute("begin")
            step(db)
            db.execute(f"pragma user_version = {number}")
            db.execute("commit")
        for n in range(count):
            insert(db, f"m{n}", f"memory about thing{n}")
    return path


def insert(db, id, text):
    insert_as_before(db, a_memory(id, text, title="An old title"))


def version(path):
    with closing(sqlite3.connect(path)) as db:
        return migrations.version_of(db)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "retain.db"


def test_a_new_file_is_at_the_newest_version(path):
    SqliteStore(path).close()
    assert version(path) == migrations.CURRENT == len(migrations.STEPS)


@pytest.mark.parametrize("steps", [1])
def test_an_older_file_keeps_its_memories_and_they_are_found(path, steps):
    with closing(SqliteStore(older(path, steps))) as store:
        assert len(store.listed(wanted(), 50)) == 20
        assert ids(store.by_words(query_terms("thing7"), wanted(), 1)) == ["m7"]
        assert store.by_words(query_terms("title"), wanted(), 5).matched == 20
        assert len(store.unembedded("model", 50, by_others=True)) == 20
        save(store, a_memory("new", "written after the migration"))
        assert store.faults() == []
    assert version(path) == migrations.CURRENT


def test_what_a_person_ended_in_an_older_file_stays_ended_whatever_a_text_says(path):
    with closing(sqlite3.connect(older(path, 11), isolation_level=None)) as db:
        row = ("e-A", "e-B", "uses", 0, 0.5, 1, 0, 10, relation_id("e-A", "e-B", "uses"))
        columns = "source, target, type, created, weight, by_rule, valid_from, valid_until, id"
        db.execute(f"insert into relation ({columns}) values ({marks(row)})", row)
    with closing(SqliteStore(path)) as store:
        save(store, relations=(a_relation("A", "B", "uses", by_rule=True),))
        (relation,) = store.relations([relation_id("e-A", "e-B", "uses")])
        assert relation.valid_until is not None


def test_relations_of_an_older_file_have_the_ids_that_they_would_get_now(path):
    with closing(sqlite3.connect(older(path, 5), isolation_level=None)) as db:
        for name in "AB":
            db.execute(f"insert into entity values (null, 'e-{name}', 'shop', '{name}', '{name}', 't', 't', 1)")
        db.execute("insert into relation values ('e-A', 'e-B', 'uses', 1, 0.5, 1, null, null)")
        db.execute("insert into history values ('m1', 1, 'updated', 'before', 0.5, '[]', 'project', 1, null)")
    with closing(SqliteStore(path)) as store:
        (relation,) = store.relations([relation_id("e-A", "e-B", "uses")])
        assert (relation.source, relation.target, relation.weight) == ("e-A", "e-B", 0.5)
        assert [(entity.description, entity.stated) for entity in store.entities(["e-A"])] == [(None, False)]
        assert [(row.text, row.rest) for row in store.history("m1")] == [("before", None)]


def test_a_migrated_schema_is_that_of_a_new_store(path, tmp_path):
    def schema(file):
        with closing(sqlite3.connect(file)) as db:
            return set(db.execute("select type, name, sql from sqlite_master"))

    SqliteStore(older(path, 1)).close()
    SqliteStore(tmp_path / "new.db").close()
    assert schema(path) == schema(tmp_path / "new.db")


def test_a_migration_waits_for_a_running_write(path):
    older(path, 1)
    began, opened = threading.Event(), []

    def migrate():
        began.set()
        with closing(SqliteStore(path)) as store:
            opened.append(len(store.listed(wanted(), 50)))

    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("begin immediate")
        insert(writer, "running", "a write that was running")
        migrating = threading.Thread(target=migrate)
        migrating.start()
        began.wait()
        assert version(path) == 1
        writer.execute("commit")
        migrating.join()
    assert opened == [21]


def test_many_processes_migrate_one_file_once(path):
    older(path, 1, count=300)
    assert [said(process) for process in [start("open", path) for _ in range(4)]] == [[""]] * 4
    with closing(SqliteStore(path)) as store:
        assert (len(store.listed(wanted(), 500)), store.faults()) == (300, [])


@pytest.mark.parametrize("step", range(migrations.CURRENT))
def test_a_migration_killed_in_any_step_is_taken_up_again(path, step):
    older(path, 1)
    script = f"""
import os, signal
from pathlib import Path
from retain.stores.sqlite import migrations
from retain.stores.sqlite.store import SqliteStore
original = migrations.STEPS[{step}]
def killed(db):
    original(db)
    os.kill(os.getpid(), signal.SIGKILL)
migrations.STEPS[{step}] = killed
SqliteStore(Path({str(path)!r}))
"""
    process = subprocess.run([sys.executable, "-c", script], check=False, env=os.environ)
    assert process.returncode == (-signal.SIGKILL if step else 0)
    assert version(path) == (step or migrations.CURRENT)
    with closing(SqliteStore(path)) as store:
        assert ids(store.by_words(query_terms("thing7"), wanted(), 1)) == ["m7"]
        assert (len(store.listed(wanted(), 50)), store.faults()) == (20, [])
