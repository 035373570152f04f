"""Repair: memories are brought back from a damaged file, the word index is made anew, a backup is restored."""

import os
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace

import pytest

from making import (
    MODEL,
    START,
    a_contradiction,
    a_link,
    a_memory,
    a_project,
    a_relation,
    a_run,
    a_session,
    a_vector,
    an_embedding,
    an_entity,
    an_entry,
    at,
    ids,
    insert_as_before,
    save,
    wanted,
)
from retain.config import Settings
from retain.domain.changes import Changes
from retain.domain.conversation import Cursor
from retain.domain.graph import SIMILAR, Direction, Steps, Tie
from retain.domain.memory import State
from retain.domain.session import Profile
from retain.domain.words import query_terms
from retain.domain.work import Work, WorkState
from retain.errors import SchemaNewer, StoreBusy, StoreCorrupt
from retain.maintenance import mend
from retain.stores.sqlite import migrations, repair
from retain.stores.sqlite.files import set_aside_files
from retain.stores.sqlite.repair import rebuild_words, restore, salvage, set_aside
from retain.stores.sqlite.store import SqliteStore
from retain.stores.sqlite.writing import write

COUNT = 240
PAGE = 4096
READ = Cursor("/t/one.jsonl", "s1", 4711, START, "line-9", "p1", extractions=3)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "retain.db"
    with closing(SqliteStore(path)) as store:
        memories = [a_memory(f"m{n}", f"memory number{n} " * 30, session="s1") for n in range(COUNT)]
        save(
            store,
            *memories,
            history=tuple(an_entry(memory) for memory in memories),
            embeddings=tuple(an_embedding(memory.id, a_vector(1, 77)) for memory in memories),
            entities=(an_entity("A"), an_entity("B")),
            links=tuple(a_link(memory.id, "A") for memory in memories),
            relations=(a_relation("A", "B"),),
            sessions=(a_session("s1", summary="a summary"),),
            projects=(a_project("p1"),),
            runs=(a_run("r1"),),
            contradictions=(a_contradiction("c1", "m1", "m2"),),
            cursors=(READ,),
        )
    return path


def overwrite(path, page, count=1):
    with path.open("r+b") as file:
        file.seek(PAGE * page)
        file.write(b"\xaa" * PAGE * count)


def reopened(path):
    """A new store in the place of the damaged one, and the file that was set aside."""
    store = SqliteStore(path)
    (kept,) = set_aside_files(path)
    return store, kept


def test_everything_comes_back_from_a_file_that_lost_its_first_page(path):
    overwrite(path, 0)
    store, kept = reopened(path)
    result = salvage(kept, store)
    assert (result.memories, result.lost) == (COUNT, 0)
    assert ids(store.by_words(query_terms("number77"), wanted(), 1)) == ["m77"]
    assert store.by_vector(a_vector(1, 77), MODEL, wanted(), 1).matched == COUNT
    assert len(store.history("m77")) == 1
    assert [entity.name for _, entity in store.links(["m77"])] == ["A"]
    assert len(store.neighbourhood(["e-A"], Direction.OUTGOING, None, 1, 9).relations) == 1
    assert (store.session("s1", "").summary, store.project("p1").slug) == ("a summary", "shop")
    assert (store.run("r1"), store.contradictions(["m1"])) == (a_run("r1"), [a_contradiction("c1", "m1", "m2")])
    assert store.unembedded(MODEL, 9, by_others=True) == store.faults() == []
    assert store.cursor(READ.transcript) == READ
    store.close()


def test_the_damaged_file_is_kept_and_no_longer_announced(path):
    overwrite(path, 0)
    damaged = path.read_bytes()
    store, kept = reopened(path)
    assert len(store.notices()) == 1
    result = salvage(kept, store)
    assert store.notices() == []
    assert kept.with_name(kept.name + ".salvaged").read_bytes() == damaged
    assert f"{kept.name}.salvaged" in result.note
    assert [file for file in path.parent.iterdir() if file.is_dir()] == []
    store.close()


@pytest.mark.parametrize("share", [0.2, 0.4, 0.6, 0.8])
def test_pages_that_cannot_be_read_cost_only_what_was_on_them(path, tmp_path, share):
    overwrite(path, int(path.stat().st_size // PAGE * share), 3)
    with closing(SqliteStore(tmp_path / "new.db")) as store:
        result = salvage(path, store)
        assert result.memories >= COUNT - 60
        assert result.lost is None or result.lost == COUNT - result.memories
        assert (store.counts("", MODEL).total, store.faults()) == (result.memories, [])


def test_what_a_truncated_file_still_holds_comes_back(path, tmp_path):
    os.truncate(path, path.stat().st_size // PAGE * PAGE // 2)
    with closing(SqliteStore(tmp_path / "new.db")) as store:
        result = salvage(path, store)
        assert store.counts("", MODEL).total == result.memories
        assert store.faults() == []


def test_a_file_of_noise_is_said_to_be_hopeless_and_stays_announced(tmp_path):
    path = tmp_path / "retain.db"
    path.write_bytes(os.urandom(40_000))
    store, kept = reopened(path)
    result = salvage(kept, store)
    assert (result.memories, result.lost) == (0, None)
    assert "retain restore" in result.note
    assert set_aside_files(path) == [kept.with_name(f"{kept.name}.unreadable")]
    store.close()


def test_salvage_adds_only_what_is_not_there_and_was_not_purged(path):
    overwrite(path, 0)
    store, kept = reopened(path)
    save(store, a_memory("m1", "a newer version", version=9), a_memory("m2", "to be purged"))
    store.apply(Changes(at=START, purged=("m2",)))
    assert salvage(kept, store).memories == COUNT - 2
    assert store.memories(["m1", "m2"])["m1"].memory.text == "a newer version"
    assert "m2" not in store.memories(["m2"])
    store.close()


def test_a_text_that_was_said_again_since_is_not_there_twice(path):
    overwrite(path, 0)
    store, kept = reopened(path)
    save(store, a_memory("again", "memory number7 " * 30, when=at(60)))
    salvage(kept, store)
    old = store.memories(["m7"])["m7"].memory
    assert (old.status.state, old.status.successor, old.valid_until) == (State.SUPERSEDED, "again", at(60))
    store.close()


def test_what_was_stated_by_hand_comes_back(path):
    ended = a_relation("A", "Alone", "uses", weight=0.5, valid_from=at(1), valid_until=at(2))
    told = replace(an_entity("Alone"), description="told", stated=True)
    with closing(SqliteStore(path)) as store:
        save(store, stated=(told, replace(an_entity("Bare"), stated=True), ended))
    overwrite(path, 0)
    store, kept = reopened(path)
    salvage(kept, store)
    assert store.entities(["e-Alone"]) == [told]
    assert [entity.stated for entity in store.entities(["e-Bare"])] == [True]
    assert store.relations([ended.id]) == [ended]
    store.close()


NAMED = Profile(a_project("p1"), "The Shop", at(1), at(2), "ada", "sells things")
DONE = Work("sess_1", "Fix it", "p1", START, "ada", "told", ("a",), WorkState.COMPLETED, at(60))
GOING_ON = Work("sess_2", "Fix more", "p1", at(61), "ada")
TIED = Tie("m1", "m2", SIMILAR, at(1), 0.9)


@pytest.fixture
def tracked(path):
    """A damaged store with names, work and ties, as it was set aside, and the new one in its place."""
    with closing(SqliteStore(path)) as store:
        save(store, profiles=(NAMED,), works=(DONE, GOING_ON), ties=(TIED,))
    overwrite(path, 0)
    store, kept = reopened(path)
    yield store, kept
    store.close()


def test_names_of_projects_tracked_work_and_ties_come_back(tracked):
    store, kept = tracked
    salvage(kept, store)
    assert store.profile("p1", "ada") == NAMED
    assert [store.work(work.id, "ada") for work in (DONE, GOING_ON)] == [DONE, GOING_ON]
    assert (store.ties(["m2"]), store.faults()) == ([TIED], [])


def test_what_was_named_started_and_tied_since_the_damage_stays(tracked):
    store, kept = tracked
    renamed, stronger = replace(NAMED, name="Market"), replace(TIED, strength=1.0)
    again = replace(GOING_ON, id="sess_3", started=at(500))
    save(store, a_memory("m1"), a_memory("m2", "two"), projects=(NAMED.project,), profiles=(renamed,), ties=(stronger,))
    save(store, works=(again, replace(DONE, title="Another")))
    salvage(kept, store)
    assert (store.profile("p1", "ada"), store.ties(["m1"])) == (renamed, [stronger])
    assert store.work("sess_1", "ada").title == "Another"
    assert store.work("sess_2", "ada") == replace(GOING_ON, state=WorkState.ABORTED, ended=at(500))


@pytest.mark.parametrize("name", ["the shop", "slug"])
def test_a_name_that_another_project_has_by_now_is_not_taken_from_it(tracked, name):
    store, kept = tracked
    other = replace(NAMED, project=a_project("p9", "slug"), name=name)
    save(store, projects=(other.project,), profiles=(other,))
    salvage(kept, store)
    assert store.profile("p9", "ada") == other
    assert store.profile("p1", "ada").name == ("shop" if name == "the shop" else "The Shop")


def test_names_work_and_ties_on_pages_that_cannot_be_read_cost_nothing_else(path, tmp_path):
    with closing(SqliteStore(path)) as store:
        save(store, profiles=(NAMED,), works=(DONE,), ties=(TIED,))
        query = "select rootpage from sqlite_master where name in ('profile', 'work', 'tie', 'tie_target')"
        with store.pool.reading() as db:
            pages = [page for (page,) in db.execute(query)]
    for page in pages:
        overwrite(path, page - 1)
    with closing(SqliteStore(tmp_path / "new.db")) as store:
        assert salvage(path, store).memories == COUNT
        assert (store.work("sess_1", "ada"), store.ties(["m1"]), store.faults()) == (None, [], [])


def test_a_file_of_an_earlier_version_gives_back_all_it_has(tmp_path):
    older = tmp_path / "older.db"
    with closing(sqlite3.connect(older, isolation_level=None)) as db:
        for step in migrations.STEPS[:5]:
            step(db)
        insert_as_before(db, a_memory("m1"))
        for name in "AB":
            db.execute(f"insert into entity values (null, 'e-{name}', 'shop', '{name}', '{name}', 't', 't', 1)")
        db.execute("insert into relation values ('e-A', 'e-B', 'uses', 1, 0.5, 1, null, null)")
        db.execute("insert into history values ('m1', 1, 'updated', 'before', 0.5, '[]', 'project', 1, null)")
    with closing(SqliteStore(tmp_path / "retain.db")) as store:
        assert salvage(older, store).memories == 1
        assert [row.text for row in store.history("m1")] == ["before"]
        assert [entity.name for entity in store.related("e-A", Steps()).entities] == ["B"]


def test_a_store_with_damage_in_the_middle_is_repaired_while_a_window_is_open(path):
    with closing(SqliteStore(path)) as window:
        save(window, a_memory("last", "said just before the repair"))
        overwrite(path, int(path.stat().st_size // PAGE * 0.5), 3)
        kept = set_aside(path)
        with closing(SqliteStore(path)) as store:
            result = salvage(kept, store)
            assert result.memories >= COUNT - 60
            assert len(store.memories(["last"])) == 1
            save(window, a_memory("after", "said after the repair"))
            assert (len(store.memories(["after"])), store.faults(), store.notices()) == (1, [], [])


def test_a_text_whose_bytes_have_changed_is_damage(path):
    damaged = path.read_bytes().replace(b"memory number77", b"memory \xff\xffmber77")
    path.write_bytes(damaged)
    with closing(SqliteStore(path)) as store, pytest.raises(StoreCorrupt, match="doctor --repair"):
        store.memories(["m77"])


def test_the_word_index_is_made_anew(path):
    with closing(SqliteStore(path)) as store:
        with store.pool.writing() as db:
            db.execute("delete from memory_words_data where id > 10")
            db.execute("delete from memory_words_docsize where id < 50")
        assert store.faults()
        rebuild_words(store)
        assert store.faults() == []
        assert ids(store.by_words(query_terms("number77"), wanted(), 1)) == ["m77"]


def test_a_restored_backup_is_seen_by_windows_that_are_open(path, tmp_path):
    with closing(SqliteStore(path)) as open_window:
        open_window.backup(tmp_path / "backup.db")
        save(open_window, a_memory("later", "said later"), embeddings=(an_embedding("later", a_vector(-1)),))
        assert ids(open_window.by_vector(a_vector(-1), MODEL, wanted(), 1)) == ["later"]
        change = open_window.change()
        kept = restore(tmp_path / "backup.db", path)
        assert ids(open_window.by_vector(a_vector(-1), MODEL, wanted(), 1)) == []
        assert ids(open_window.by_words(query_terms("later"), wanted(), 1)) == []
        assert open_window.change() > change
        save(open_window, a_memory("after", "said after"))
        assert len(open_window.memories(["m1", "after"])) == 2
        assert open_window.faults() == []
    with closing(SqliteStore(kept)) as before:
        assert list(before.memories(["later", "m1"])) == ["later", "m1"]


def test_a_backup_takes_the_place_of_a_damaged_store(path, tmp_path):
    with closing(SqliteStore(path)) as store:
        store.backup(tmp_path / "backup.db")
    overwrite(path, 0)
    restore(tmp_path / "backup.db", path)
    with closing(SqliteStore(path)) as store:
        assert (store.counts("", MODEL).total, store.faults()) == (COUNT, [])
    assert len(set_aside_files(path)) == 1


def test_a_backup_that_is_damaged_or_newer_is_refused_and_nothing_changes(path, tmp_path):
    backup = tmp_path / "backup.db"
    with closing(SqliteStore(path)) as store:
        store.backup(backup)
        with closing(SqliteStore(backup)) as copy, copy.pool.writing() as db:
            db.execute("pragma user_version = 999")
        with pytest.raises(SchemaNewer):
            restore(backup, path)
        overwrite(backup, 5, 4)
        with pytest.raises(StoreCorrupt, match="another backup"):
            restore(backup, path)
        assert store.counts("", MODEL).total == COUNT


def test_doctor_waits_for_a_running_write_before_it_sets_a_store_aside(tmp_path):
    settings = Settings(home=tmp_path)
    with closing(SqliteStore(settings.database_file)) as store:
        save(store, a_memory("before"))
        with store.pool.writing() as db:
            db.execute("insert into tag values ('of nothing', 99)")
        mending = threading.Thread(target=mend, args=(settings, lambda _: False))
        with store.pool.writing() as db:
            write(db, Changes(at=START, memories=(a_memory("running", "a write that was running"),)))
            mending.start()
            mending.join(0.5)
            assert mending.is_alive()
        mending.join(30)
        assert store.memories(["before", "running"]).keys() == {"before", "running"}
        assert store.faults() == []


def test_a_store_that_stays_locked_is_not_set_aside(path, monkeypatch):
    monkeypatch.setattr(repair, "BUSY_SECONDS", 0.05)
    with closing(SqliteStore(path)) as store, store.pool.writing(), pytest.raises(StoreBusy):
        set_aside(path)
    assert set_aside_files(path) == []
