"""Code in an SQLite file: a dropped index leaves no trace, and damage is found and put right."""

import sqlite3
from contextlib import closing

import pytest

from making import MODEL, a_chunk, a_code_file, a_code_index, a_memory, a_vector, at, ids, in_code, save, wanted
from retain.errors import StorageFull
from retain.stores.code_portions import Portion, portions
from retain.stores.code_wording import Wording
from retain.stores.sqlite import code_writing, repair
from retain.stores.sqlite.failures import files_of
from retain.stores.sqlite.store import SqliteStore

MARKER = "zanzibarquux"


def indexed(store, *files, project="shop"):
    index = a_code_index(project)
    store.claim_index(index, at(-60))
    store.save_code(index.key, files, (), ())
    return index.key


def crowd(count):
    return [a_code_file(f"f{n}.py", a_chunk(f"f{n}", f"return {n} of somebody else")) for n in range(count)]


def embedded(store, *names):
    for stored in store.code_named(names, in_code(), 1000):
        store.save_code_vectors(MODEL, {stored.id: [a_vector(1)]})


def bytes_on_disk(store):
    return b"".join(part.read_bytes() for part in files_of(store.path) if part.exists()).lower()


def test_no_word_of_a_dropped_index_is_left_in_the_file_or_the_log(sqlite_file):
    indexed(sqlite_file, *crowd(150), project="other")
    files = [
        a_code_file(f"{MARKER}{n}.py", a_chunk(f"f{n}", f"{MARKER} " * 30, doc=MARKER), uses={MARKER: [1]})
        for n in range(150)
    ]
    key = indexed(sqlite_file, *files)
    assert MARKER.encode() in bytes_on_disk(sqlite_file)
    assert sqlite_file.drop_index(key) == 150
    assert MARKER.encode() not in bytes_on_disk(sqlite_file)
    assert (len(sqlite_file.symbols("other")), sqlite_file.faults()) == (150, [])


def test_a_copy_that_missed_the_list_of_the_destroyed_is_read_anew(sqlite_file):
    key = indexed(sqlite_file, *crowd(20))
    embedded(sqlite_file, *(f"f{n}" for n in range(20)))
    everything = in_code(), 100
    with closing(SqliteStore(sqlite_file.path)) as theirs:
        assert len(theirs.code_by_vector(a_vector(1), MODEL, *everything)) == 20
        sqlite_file.save_code(key, (), (), [f"f{n}.py" for n in range(12)])
        with sqlite_file.pool.writing() as db:
            (change,) = db.execute("select max(changed) from code_gone").fetchone()
            code_writing.shorten_gone(db, change, most=5)
            assert db.execute("select count(*) from code_gone").fetchone() == (0,)
        assert len(theirs.code_by_vector(a_vector(1), MODEL, *everything)) == 8


DAMAGE = {
    "delete from code_words where rowid = 1": "chunks of code and the full-text index disagree",
    "delete from code_index": "files of no code index",
    "delete from code_file": "chunks of no file",
    "delete from code_chunk": "vectors of no chunk",
    "delete from code_sign": "marked as embedded and have no vectors",
    "delete from code_vector": "sign bits of code and no numbers",
    "delete from project": "code indexes of no project",
    "update code_reference set file = 99": "names used in no file",
}


@pytest.mark.parametrize("statement", DAMAGE)
def test_a_check_finds_damaged_code(sqlite_file, statement):
    indexed(sqlite_file, a_code_file("a.py", a_chunk("connect"), uses={"pool": [2]}))
    embedded(sqlite_file, "connect")
    assert sqlite_file.faults() == []
    with sqlite_file.pool.writing() as db:
        db.execute(statement)
    assert any(DAMAGE[statement] in fault for fault in sqlite_file.faults())


def test_the_full_text_index_of_code_is_made_anew(sqlite_file):
    indexed(sqlite_file, *crowd(30))
    with sqlite_file.pool.writing() as db:
        db.execute("delete from code_words")
    repair.rebuild_words(sqlite_file)
    assert len(sqlite_file.code_by_words(["somebodi"], in_code(), 50)) == 30
    assert sqlite_file.faults() == []


def test_salvage_leaves_code_behind_and_says_so(sqlite_file, tmp_path):
    save(sqlite_file, a_memory("m1"))
    indexed(sqlite_file, *crowd(3))
    damaged = tmp_path / "copy.damaged-1"
    sqlite_file.backup(damaged)
    with closing(SqliteStore(tmp_path / "new.db")) as fresh:
        assert "index those projects again" in repair.salvage(damaged, fresh).note
        assert (ids(fresh.listed(wanted(), 5)), fresh.indexes(""), fresh.faults()) == (["m1"], [], [])


def test_a_backup_has_the_code_and_a_restored_one_is_seen_by_who_has_it_open(sqlite_file, tmp_path):
    key = indexed(sqlite_file, a_code_file("a.py", a_chunk("connect")))
    embedded(sqlite_file, "connect")
    sqlite_file.backup(tmp_path / "backup.db")
    sqlite_file.drop_index(key)
    assert sqlite_file.code_by_vector(a_vector(1), MODEL, in_code(), 5) == {}
    repair.restore(tmp_path / "backup.db", sqlite_file.path)
    assert len(sqlite_file.code_by_vector(a_vector(1), MODEL, in_code(), 5)) == 1


def test_a_killed_drop_leaves_an_index_that_can_be_dropped_again(sqlite_file):
    key = indexed(sqlite_file, *crowd(250))
    with sqlite_file.pool.writing() as db:
        assert code_writing.drop_some(db, key) == 50
    assert ([index.key for index in sqlite_file.indexes("")], sqlite_file.faults()) == ([key], [])
    assert sqlite_file.drop_index(key) == 200


def test_a_store_without_room_takes_no_code(tmp_path):
    with closing(SqliteStore(tmp_path / "retain.db", max_bytes=1)) as store:
        store.claim_index(a_code_index(), at(-60))
        with pytest.raises(StorageFull):
            store.save_code("shop", crowd(1), (), ())
        assert store.marks("shop") == {}


def test_portions_keep_files_whole_and_moves_that_hang_together():
    files = [a_code_file(f"f{n}.py", *(a_chunk(f"c{m}") for m in range(400))) for n in range(5)]
    assert [len(portion.files) for portion in portions(files, (), (), 1000)] == [2, 2, 1]
    moved = [("a", "b"), ("b", "c"), *((f"x{n}", f"y{n}") for n in range(150))]
    first, *rest = portions((), moved, (), 1000)
    assert first == Portion(moved=[("a", "b"), ("b", "c")])
    assert [len(portion.moved) for portion in rest] == [50, 50, 50]


def test_a_save_that_is_cut_short_leaves_the_files_as_they_were(sqlite_file):
    key = indexed(sqlite_file, *crowd(5))
    with closing(sqlite3.connect(sqlite_file.path, isolation_level=None)) as other:
        other.execute("begin immediate")
        code_writing.save(other, key, Portion(crowd(9), (), ["f1.py"]), Wording())
    assert len(sqlite_file.marks(key)) == len(sqlite_file.symbols(key)) == 5
    assert sqlite_file.faults() == []
