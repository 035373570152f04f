"""Opening a store's file: new, private, damaged, newer, or not a store at all."""

import os
import sqlite3
import stat
from contextlib import closing

import pytest

from making import START, a_memory, ids, save, wanted
from processes import said, start
from retain.domain.changes import Changes
from retain.domain.session import Use
from retain.errors import SchemaNewer, StoreCorrupt, StoreDown
from retain.stores.sqlite import migrations
from retain.stores.sqlite.files import set_aside_files
from retain.stores.sqlite.store import SqliteStore


def filled(path, count=300):
    """A store with memories in it, closed again."""
    with closing(SqliteStore(path)) as store:
        save(store, *(a_memory(f"m{n:03}", f"memory number {n} " * 20) for n in range(count)))
    return path


def overwrite(path, at, data):
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "home" / "retain.db"


def test_folders_and_files_are_private(path):
    with closing(SqliteStore(path)) as store:
        save(store, a_memory())
        modes = {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert (modes, stat.S_IMODE(path.parent.stat().st_mode)) == ({0o600}, 0o700)


def test_a_file_of_zero_bytes_is_a_new_store(path):
    path.parent.mkdir()
    path.touch()
    with closing(SqliteStore(path)) as store:
        save(store, a_memory())
        assert (store.faults(), store.notices()) == ([], [])


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b"not a database at all"),
        lambda path: path.write_bytes(os.urandom(50_000)),
        lambda path: overwrite(path, 0, b"garbage header!!" * 4),
        lambda path: os.truncate(path, path.stat().st_size // 2),
        lambda path: os.truncate(path, 1000),
        lambda path: overwrite(path, 100, b"\xff" * 4000),
    ],
    ids=["text", "noise", "header", "half", "stump", "schema"],
)
def test_a_damaged_file_is_set_aside_whole_and_everyone_is_told(path, capsys, damage):
    damage(filled(path))
    bytes_before = path.read_bytes()
    with closing(SqliteStore(path)) as store:
        (kept,) = set_aside_files(path)
        assert kept.read_bytes() == bytes_before
        assert kept.name in capsys.readouterr().err
        assert [kept.name in notice and "doctor --repair" in notice for notice in store.notices()] == [True]
        save(store, a_memory())
        assert store.faults() == []
    with closing(SqliteStore(path)) as again:
        assert ids(again.listed(wanted(), 5)) == ["m1"]
        assert len(again.notices()) == 1


def test_processes_that_meet_the_same_damage_set_it_aside_once(path):
    overwrite(filled(path), 0, b"garbage header!!" * 4)
    processes = [start("open", path) for _ in range(4)]
    outputs = [process.communicate(timeout=60) for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    assert len(set_aside_files(path)) == 1
    assert sum("set aside" in err for _, err in outputs) == 1


def test_a_damaged_page_in_the_middle_is_said_and_the_rest_is_still_found(path):
    filled(path)
    # A page that holds the text of memories: most of the file is index, and which part of it changes with the schema.
    page = path.read_bytes().index(b"memory number 150 memory number 150") // 4096
    overwrite(path, 4096 * page, b"\xaa" * 4096)
    with closing(SqliteStore(path)) as store:
        assert store.faults()
        broken = [n for n in range(300) if not readable(store, f"m{n:03}")]
        assert 0 < len(broken) < 300
        assert any("doctor --repair" in notice for notice in store.notices())
    assert set_aside_files(path) == []


def readable(store, id):
    try:
        return bool(store.memories([id]))
    except StoreCorrupt:
        return False


def test_a_folder_in_place_of_the_file_is_said(path):
    path.mkdir(parents=True)
    with pytest.raises(StoreDown, match="it is a folder"):
        SqliteStore(path)


def test_a_path_below_a_file_is_said(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreDown, match=r"cannot be made: .* Set RETAIN_HOME"):
        SqliteStore(tmp_path / "file" / "retain.db")


@pytest.mark.parametrize(
    "made",
    [
        "create table theirs (x)",
        "create table theirs (x); pragma user_version = 1",
        f"create table theirs (x); pragma user_version = {migrations.CURRENT}",
        f"create table theirs (x); pragma user_version = {migrations.CURRENT + 1}",
        "create table counter (x); pragma user_version = 3",
        "create table counter (name, value); pragma user_version = 3",
        "pragma user_version = 4",
        "pragma application_id = 7",
    ],
)
def test_the_database_of_another_program_is_left_alone(tmp_path, made):
    path = tmp_path / "theirs.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(made)
    before = path.read_bytes()
    with pytest.raises(StoreDown, match="another program"):
        SqliteStore(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_store_made_before_there_was_a_mark_is_known_by_its_counter(path):
    filled(path, 3)
    with closing(sqlite3.connect(path)) as db:
        db.execute("pragma application_id = 0")
    with closing(SqliteStore(path)) as store:
        assert len(store.listed(wanted(), 5)) == 3


@pytest.mark.parametrize("written", [b"My thesis. Chapter one.", b"x" * 9000], ids=["short", "long"])
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path, written):
    path = tmp_path / "thesis.txt"
    path.write_bytes(written)
    with pytest.raises(StoreDown, match="left as it is"):
        SqliteStore(path)
    assert path.read_bytes() == written
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("beside", ["work.db-wal", "work.db.lock", "work.db.damaged-1", "backups/retain-2026-01-01.db"])
def test_a_store_of_another_name_that_lost_its_header_is_set_aside(tmp_path, beside):
    path = filled(tmp_path / "work.db", 3)
    overwrite(path, 0, b"garbage header!!" * 4)
    (tmp_path / beside).parent.mkdir(exist_ok=True)
    (tmp_path / beside).touch()
    with closing(SqliteStore(path)) as store:
        assert store.listed(wanted(), 5) == []
    assert [file for file in set_aside_files(path) if file.stat().st_size]


def test_a_file_deleted_in_use_is_noticed_before_a_write_is_acknowledged(path):
    with closing(SqliteStore(path)) as store:
        save(store, a_memory())
        path.unlink()
        with pytest.raises(StoreDown, match="deleted while it was in use"):
            save(store, a_memory("m2", "lost"))


def test_a_process_goes_over_to_the_new_file_when_another_sets_the_old_one_aside(path):
    with closing(SqliteStore(path)) as old:
        save(old, a_memory("before"))
        path.rename(path.with_name("elsewhere.db"))
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).rename(path.with_name("elsewhere.db" + suffix))
        with closing(SqliteStore(path)) as new:
            save(old, a_memory("after", "written by the older process"))
            assert ids(new.listed(wanted(), 5)) == ids(old.listed(wanted(), 5)) == ["after"]


def newer(path):
    with closing(sqlite3.connect(path)) as db:
        db.execute("alter table memory add column of_the_future text")
        db.execute(f"pragma user_version = {migrations.CURRENT + 1}")


def test_a_newer_schema_is_read_and_never_written(path):
    newer(filled(path, 3))
    with closing(SqliteStore(path)) as store:
        assert len(store.listed(wanted(), 5)) == 3
        assert any("newer Retain" in notice for notice in store.notices())
        for write in (
            lambda: store.apply(Changes(at=START, memories=(a_memory("m9"),))),
            lambda: store.note_uses([Use(("m000",), START)]),
            lambda: store.note_uses([Use(("m000",), START, "s1")]),
        ):
            with pytest.raises(SchemaNewer, match="Nothing was written"):
                write()
        assert len(store.listed(wanted(), 5)) == 3
        assert store.memories(["m000"])["m000"].accesses == 0


def test_a_window_that_was_open_during_the_upgrade_stops_writing(path):
    with closing(SqliteStore(filled(path, 3))) as store:
        assert store.notices() == []
        newer(path)
        with pytest.raises(SchemaNewer):
            save(store, a_memory("m9"))
        assert len(store.listed(wanted(), 5)) == 3
        assert any("newer Retain" in notice for notice in store.notices())


def test_a_newer_schema_that_looks_damaged_is_not_set_aside(path):
    filled(path, 3)
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"pragma user_version = {migrations.CURRENT + 1}")
        db.execute("pragma writable_schema = on")
        db.execute("update sqlite_master set sql = 'create table memory (num future syntax, ' where name = 'memory'")
        db.commit()
    with pytest.raises(StoreDown, match="newer Retain"):
        SqliteStore(path)
    assert set_aside_files(path) == []


def test_other_processes_open_and_close_without_leaving_anything(path):
    filled(path, 1)
    assert said(start("open", path)) == [""]
    assert sorted(file.name for file in path.parent.iterdir()) == ["retain.db"]
