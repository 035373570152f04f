"""A full disk, a slow query, a busy file: each named for what it is, with nothing half written."""

import os
import random
import resource
import shutil
import sqlite3
import subprocess
import threading
import time
from contextlib import closing, contextmanager

import pytest

from making import MODEL, START, a_memory, a_vector, an_embedding, at, ids, save, wanted
from processes import start
from retain.domain.changes import Changes
from retain.errors import QueryTimeout, RetainError, StorageFull, StoreBusy, StoreDown
from retain.stores.sqlite.connection import Pool
from retain.stores.sqlite.failures import files_of
from retain.stores.sqlite.store import MEMORY, SqliteStore
from retain.stores.sqlite.vectors import memory_signs


@contextmanager
def tiny_disk(folder):
    """A disk of two megabytes, where this user may mount one."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("mounting needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(store):
    """Writes until there is no room; the ids that were acknowledged, and the error."""
    written = []
    try:
        for n in range(10_000):
            save(store, a_memory(f"m{n}", f"{n} " + "filler " * 2000))
            written.append(f"m{n}")
    except StorageFull as error:
        return written, error
    raise AssertionError("it never got full")


def test_a_full_disk_is_said_with_the_size_and_nothing_is_half_written(tmp_path):
    with tiny_disk(tmp_path) as disk:
        (disk / "ballast").write_bytes(b"x" * 500_000)
        with closing(SqliteStore(disk / "retain.db")) as store:
            written, error = fill(store)
            assert "full" in error.message
            assert int(error.details["current_size"].split()[0]) > 500_000
            assert ids(store.listed(wanted(), 1000)) == written[::-1]
            (disk / "ballast").unlink()
            save(store, a_memory("after", "there is room again"))
            assert (len(store.memories([*written, "after"])), store.faults()) == (len(written) + 1, [])


def test_a_disk_that_became_read_only_is_read_and_said(tmp_path):
    with tiny_disk(tmp_path) as disk:
        path = disk / "retain.db"
        with closing(SqliteStore(path)) as store:
            save(store, a_memory("m1"))
        with closing(SqliteStore(disk / "left.db")) as store:
            save(store, a_memory())
            for end in ("", "-wal"):  # as a process leaves it that was killed
                shutil.copyfile(disk / f"left.db{end}", disk / f"killed.db{end}")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with closing(SqliteStore(path)) as store:
            assert list(store.memories(["m1"])) == ["m1"]
            assert [notice.code for notice in store.standing()] == ["read_only"]
            with pytest.raises(StoreDown, match=r"cannot be written to.*RETAIN_HOME"):
                save(store, a_memory("m2", "another"))
        with pytest.raises(StoreDown, match=r"killed\.db-wal holds the last memories"):
            SqliteStore(disk / "killed.db")
        with pytest.raises(StoreDown, match="cannot be made: Read-only file system"):
            SqliteStore(disk / "new" / "retain.db")


def test_a_file_size_limit_is_a_full_disk(tmp_path):
    path = tmp_path / "retain.db"
    limit = 3_000_000
    process = start(
        "write", path, "w", 100_000, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    )
    *acknowledged, error = process.communicate(timeout=120)[0].splitlines()
    assert error.startswith("error: StorageFull: the disk that holds")
    with closing(SqliteStore(path)) as store:
        assert store.memories(acknowledged).keys() == set(acknowledged)
        save(store, a_memory("after", "no limit here"))
        assert store.faults() == []


def test_a_limit_of_ones_own_is_kept_and_destroying_makes_room(tmp_path):
    with closing(SqliteStore(tmp_path / "retain.db", max_bytes=1_000_000)) as store:
        written, error = fill(store)
        assert "max_storage_mb allows 1,000,000" in error.message
        assert error.details["limit"] == "1000000 bytes"
        store.apply(Changes(at=START, purged=tuple(written[: len(written) // 2])))
        save(store, a_memory("after", "there is room again"))
        assert store.faults() == []


def test_a_query_past_its_deadline_is_cut_off_and_the_next_one_works(tmp_path):
    endless = "with recursive n(x) as (select 1 union all select x + 1 from n) select count(*) from n"
    for path in (tmp_path / "retain.db", MEMORY):
        pool = Pool(path, query_seconds=0.05)
        with pytest.raises(QueryTimeout, match="deadline"), pool.reading() as db:
            db.execute(endless)
        with pool.writing() as db:
            db.execute("create table t (x)")
        with pool.reading() as db:
            assert db.execute("select count(*) from t").fetchone() == (0,)
        pool.close()


def test_loading_vectors_goes_on_where_the_deadline_cut_it_short(sqlite_file):
    for first in range(0, 240, 20):
        many = [a_memory(f"m{n}", f"text {n}") for n in range(first, first + 20)]
        save(sqlite_file, *many, embeddings=tuple(an_embedding(m.id, a_vector(1)) for m in many))
    index, cuts = memory_signs(MODEL, (1,), 64), 0
    index.rows_at_once = 50
    with closing(sqlite3.connect(sqlite_file.path)) as db:
        for patience in range(100):
            looks = iter([False] * patience * 4)
            db.set_progress_handler(lambda looks=looks: next(looks, True), 700)
            try:
                found = index.search(db, a_vector(1), wanted(), 500)
                break
            except sqlite3.OperationalError:
                cuts += 1
        db.set_progress_handler(None, 0)
        assert (found.matched, cuts > 1) == (240, True)
        save(sqlite_file, a_memory("m0", "changed", version=2))
        assert index.search(db, a_vector(1), wanted(), 500).matched == 239


def test_a_writer_that_waits_too_long_is_told_so(sqlite_file):
    sqlite_file.pool.busy_seconds = 0.05
    with closing(sqlite3.connect(sqlite_file.path, isolation_level=None)) as other:
        other.execute("begin immediate")
        with pytest.raises(StoreBusy, match="try again"):
            save(sqlite_file, a_memory())
        assert sqlite_file.listed(wanted(), 5) == []
        other.execute("rollback")
        save(sqlite_file, a_memory())


def test_writers_behind_a_lock_of_another_process_all_give_up_at_the_same_time(sqlite_file):
    sqlite_file.pool.busy_seconds = 1.5
    ended = []

    def write():
        began = time.monotonic()
        with pytest.raises(StoreBusy, match=r"for \d\.\d s"):
            save(sqlite_file, a_memory())
        ended.append(time.monotonic() - began)

    with closing(sqlite3.connect(sqlite_file.path, isolation_level=None)) as other:
        other.execute("begin immediate")
        writers = [threading.Thread(target=write) for _ in range(4)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        other.execute("rollback")
    assert len(ended) == 4
    assert max(ended) < 4.5, "one after the other they take 6 s"


def test_a_number_that_is_none_is_our_fault_and_not_the_stores(sqlite_file):
    with pytest.raises(RetainError, match="a fault in Retain") as raised:
        save(sqlite_file, a_memory(importance=float("nan")))
    assert not isinstance(raised.value, StoreDown)
    assert sqlite_file.listed(wanted(), 5) == []


def test_the_log_stays_bounded_while_readers_overlap_without_a_gap(sqlite_file):
    done, largest = threading.Event(), 0
    sqlite_file.pool.log_bytes = 5_000_000
    save(sqlite_file, a_memory())

    def read_all_the_time():
        with closing(SqliteStore(sqlite_file.path)) as other:
            while not done.is_set():
                with other.pool.reading() as db:
                    db.execute("select count(*) from memory").fetchone()
                    done.wait(0.03)

    readers = [threading.Thread(target=read_all_the_time) for _ in range(3)]
    for reader in readers:
        reader.start()
    for n in range(200):
        save(sqlite_file, a_memory("m1", f"{n} {random.randbytes(150_000).hex()}"))
        largest = max(largest, files_of(sqlite_file.path)[1].stat().st_size)
    done.set()
    for reader in readers:
        reader.join()
    # Without a bound it grows to 70 MB. How soon readers make way depends on how busy the machine is.
    assert largest < 35_000_000


def test_a_store_used_before_a_fork_works_in_the_child(sqlite_file):
    save(sqlite_file, a_memory("parent"))
    child = os.fork()
    if child == 0:
        try:
            save(sqlite_file, a_memory("child", "written after the fork"))
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    save(sqlite_file, a_memory("again", "and the parent goes on", when=at(9)))
    assert set(ids(sqlite_file.listed(wanted(), 5))) == {"parent", "child", "again"}
    assert sqlite_file.faults() == []
