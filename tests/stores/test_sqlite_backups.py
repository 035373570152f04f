"""Daily copies: one a day, the last few kept, and known for what they hold."""

import os
import stat
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from making import START, a_chunk, a_code_file, a_code_index, a_memory, an_entry, at, in_code, save
from retain.domain.changes import Changes
from retain.errors import StoreCorrupt, StoreDown
from retain.stores.sqlite.backups import (
    backup_before_housekeeping,
    backup_before_reset,
    daily_backup,
    holding,
    list_backups,
)
from retain.stores.sqlite.losses import Loss, ended_by, made_at
from retain.stores.sqlite.store import SqliteStore

DAY = timedelta(days=1)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "backups"


@pytest.fixture
def sqlite_file(sqlite_file):
    """A store with something to copy."""
    save(sqlite_file, a_memory("first", "the first of all"))
    return sqlite_file


def copies(folder):
    return {file for file in folder.iterdir() if file.name != "copies.json"}


def test_the_daily_copy_leaves_code_out_and_is_a_whole_store(sqlite_file, folder):
    save(sqlite_file, a_memory("m1"))
    index = sqlite_file.claim_index(a_code_index(), at(-60))
    sqlite_file.save_code(index.key, [a_code_file("a.py", a_chunk("zanzibarquux"))], (), ())
    made = daily_backup(sqlite_file, folder, START)
    assert b"zanzibarquux" not in made.read_bytes()
    with closing(SqliteStore(made)) as copy:
        assert (copy.faults(), list(copy.memories(["m1"])), copy.indexes("")) == ([], ["m1"], [])
        again = copy.claim_index(a_code_index(), at(-60))
        copy.save_code(again.key, [a_code_file("a.py", a_chunk("zanzibarquux"))], (), ())
        assert copy.code_by_words(["zanzibarquux"], in_code("shop"), 5)


def test_one_backup_a_day_is_made(sqlite_file, folder):
    made = daily_backup(sqlite_file, folder, START)
    assert made.name == "retain-2026-03-02.db"
    assert daily_backup(sqlite_file, folder, at(3600)) is None
    assert daily_backup(sqlite_file, folder, START + DAY)
    assert copies(folder) == set(list_backups(folder))
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_the_last_few_are_kept_newest_first(sqlite_file, folder):
    (folder / "retain-of-my-own.db").parent.mkdir()
    (folder / "retain-of-my-own.db").touch()
    for day in range(5):
        daily_backup(sqlite_file, folder, START + day * DAY, keep=3)
    assert [file.name for file in list_backups(folder)] == [f"retain-2026-03-0{n}.db" for n in (6, 5, 4)]
    assert (folder / "retain-of-my-own.db").exists()


def test_a_very_large_store_is_not_copied_every_day(sqlite_file, folder):
    assert daily_backup(sqlite_file, folder, START, largest=1000) is None
    assert list_backups(folder) == []


def test_a_folder_that_cannot_be_written_is_said(sqlite_file, folder):
    folder.write_text("a file of somebody")
    with pytest.raises(StoreDown, match=r"no backup can be written to .*backups"):
        daily_backup(sqlite_file, folder, START)
    assert folder.read_text() == "a file of somebody"


def test_what_dead_processes_left_of_a_copy_is_removed(sqlite_file, folder):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    folder.mkdir()
    mine = folder / f"retain-2026-03-01.db.{os.getppid()}-ab.part"
    theirs = folder / f"film.{dead.pid}-ab.part"
    left = [folder / f"retain-2026-03-01.db.{dead.pid}-ab.part{end}" for end in ("", "-journal")]
    for file in (mine, theirs, *left):
        file.touch()
    made = daily_backup(sqlite_file, folder, START)
    assert copies(folder) == {made, mine, theirs}


def test_also_where_the_copy_of_the_day_is_made_already(sqlite_file, folder):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    made = daily_backup(sqlite_file, folder, START)
    unchecked = f"{made.name}.{dead.pid}-0.part"
    for name in (unchecked, f"{unchecked}.{dead.pid}-7f00ab.part", f"{unchecked}.{dead.pid}-7f00ab.part-wal"):
        (folder / name).touch()
    assert daily_backup(sqlite_file, folder, at(60)) is None
    assert copies(folder) == {made}


def test_a_copy_of_a_damaged_store_drives_no_good_one_out(sqlite_file, folder):
    save(sqlite_file, *(a_memory(f"m{n}", f"text {n} " * 50) for n in range(200)))
    good = daily_backup(sqlite_file, folder, START, keep=1)
    sqlite_file.close()
    with sqlite_file.path.open("r+b") as file:
        file.seek(-4096 * 10, 2)
        file.write(b"\xaa" * 4096 * 5)
    with closing(SqliteStore(sqlite_file.path)) as store, pytest.raises(StoreCorrupt, match="doctor --repair"):
        daily_backup(store, folder, START + DAY, keep=1)
    assert copies(folder) == {good}


def test_backups_that_still_hold_a_purged_memory_are_named(sqlite_file, folder):
    memory = a_memory("m1")
    before = daily_backup(sqlite_file, folder, START)
    save(sqlite_file, memory, history=(an_entry(memory),))
    during = daily_backup(sqlite_file, folder, START + DAY)
    sqlite_file.apply(Changes(at=START, purged=("m1",)))
    after = daily_backup(sqlite_file, folder, START + 2 * DAY)
    assert holding(folder, "m1") == [during]
    assert list_backups(folder) == [after, during, before]
    assert len(copies(folder)) == 3


def test_a_copy_before_a_reset_is_kept_for_a_week(sqlite_file, folder):
    first = backup_before_reset(sqlite_file, folder, START)
    assert first.name == "retain-before-reset-2026-03-02T093000.db"
    assert backup_before_reset(sqlite_file, folder, START).name == "retain-before-reset-2026-03-02T093000-2.db"
    alike = folder / "retain-before-reset-of-my-own.db"
    alike.touch()
    second = backup_before_reset(sqlite_file, folder, START + 7 * DAY)
    assert first.exists() and second.exists()
    third = backup_before_reset(sqlite_file, folder, START + 7 * DAY + timedelta(seconds=1))
    assert copies(folder) == {second, third, alike}
    assert stat.S_IMODE(third.stat().st_mode) == 0o600


def test_the_backup_of_the_day_removes_old_copies_before_a_reset(sqlite_file, folder):
    backup_before_reset(sqlite_file, folder, START)
    daily = daily_backup(sqlite_file, folder, START + 8 * DAY)
    assert copies(folder) == set(list_backups(folder)) == {daily}


def held(copy):
    with closing(SqliteStore(copy)) as store:
        return set(store.memories(["first", "m1", "m2"]))


def test_an_empty_store_is_not_copied(tmp_path, folder):
    with closing(SqliteStore(tmp_path / "empty.db")) as empty:
        assert daily_backup(empty, folder, START) is None
        assert backup_before_housekeeping(empty, folder, START) is None
    assert not folder.exists()


def test_what_a_store_gets_later_on_its_first_day_is_in_the_copy_of_the_day(sqlite_file, folder):
    daily_backup(sqlite_file, folder, START)
    save(sqlite_file, a_memory("m1", "said a minute later"))
    again = daily_backup(sqlite_file, folder, at(60))
    assert (held(again), list_backups(folder)) == ({"first", "m1"}, [again])
    assert daily_backup(sqlite_file, folder, at(120)) is None


def test_the_copy_of_the_day_is_made_again_an_hour_later_if_something_was_said(sqlite_file, folder):
    for n in range(9):
        save(sqlite_file, a_memory(f"old{n}", f"text {n}"))
    daily_backup(sqlite_file, folder, START)
    save(sqlite_file, a_memory("m1", "said a minute later"))
    assert daily_backup(sqlite_file, folder, at(3599)) is None
    assert held(daily_backup(sqlite_file, folder, at(3600))) == {"first", "m1"}
    assert daily_backup(sqlite_file, folder, at(7300)) is None


def test_a_store_in_the_place_of_a_damaged_one_leaves_the_copy_of_the_day_alone(sqlite_file, tmp_path, folder):
    made = daily_backup(sqlite_file, folder, START)
    with closing(SqliteStore(tmp_path / "new.db")) as other:
        for n in range(9):
            save(other, a_memory(f"new{n}", f"text {n}"))
        assert daily_backup(other, folder, at(7200)) is None
    assert held(made) == {"first"}


def test_before_housekeeping_a_copy_holds_all_that_there_is(sqlite_file, folder):
    daily = daily_backup(sqlite_file, folder, START)
    assert backup_before_housekeeping(sqlite_file, folder, at(1)) == daily
    save(sqlite_file, a_memory("m1"))
    before = backup_before_housekeeping(sqlite_file, folder, at(2))
    assert (before.name, held(before)) == ("retain-before-housekeeping-2026-03-02T093002.db", {"first", "m1"})
    assert backup_before_housekeeping(sqlite_file, folder, at(3)) == before


def test_of_copies_before_housekeeping_the_last_three_are_kept(sqlite_file, folder):
    for n in range(5):
        save(sqlite_file, a_memory(f"m{n}", f"text {n}"))
        backup_before_housekeeping(sqlite_file, folder, at(n))
    assert sorted(file.stem[-6:] for file in folder.glob("*housekeeping*")) == ["093002", "093003", "093004"]


def test_where_no_copy_can_be_made_housekeeping_hears_of_it(sqlite_file, folder):
    folder.write_text("a file of somebody")
    with pytest.raises(StoreDown, match=r"no backup can be written to .*backups"):
        backup_before_housekeeping(sqlite_file, folder, START)


def test_copies_of_a_store_that_was_damaged_stay_until_somebody_has_dealt_with_it(sqlite_file, folder):
    for day in range(3):
        daily_backup(sqlite_file, folder, START + day * DAY, keep=3)
    damaged = sqlite_file.path.with_name("retain.db.damaged-20260301T000000")
    damaged.touch()
    for day in range(3, 6):
        daily_backup(sqlite_file, folder, START + day * DAY, keep=3)
    assert len(list_backups(folder)) == 6
    damaged.rename(f"{damaged}.settled")
    daily_backup(sqlite_file, folder, START + 6 * DAY, keep=3)
    assert len(list_backups(folder)) == 3


def test_nor_do_those_from_before_housekeeping_go_meanwhile(sqlite_file, folder):
    sqlite_file.path.with_name("retain.db.damaged-20260301T000000").touch()
    for n in range(5):
        save(sqlite_file, a_memory(f"m{n}", f"text {n}"))
        backup_before_housekeeping(sqlite_file, folder, at(n))
    assert len(list(folder.glob("*housekeeping*"))) == 5


def test_a_copy_is_as_old_as_its_file_or_its_name_says(tmp_path):
    def aged(name):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (at(0).timestamp(),) * 2)
        return made_at(tmp_path / name)

    assert aged("retain-of-my-own.db") == aged("retain-2026-03-02.db") == aged("retain-2026-99-99.db") == START
    assert aged("retain-2026-02-27.db") == datetime(2026, 2, 28, tzinfo=UTC)
    assert aged("retain-2026-03-01T093000.db") == START - DAY + timedelta(seconds=1)
    assert aged("retain-before-reset-2026-03-01T093000-2.db") == START - DAY + timedelta(seconds=1)


def test_of_two_losses_a_copy_makes_the_second_good_unless_another_holds_what_was_said_between(tmp_path):
    def copy(name, seconds):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (at(seconds).timestamp(),) * 2)
        return tmp_path / name

    first, second = (Loss(tmp_path / f".retain.db.lost-{n}", at(100 * n)) for n in (1, 2))
    old, between, late = copy("retain-a.db", 50), copy("retain-b.db", 150), copy("retain-c.db", 250)
    assert ended_by(old, [first, second], [old, late]) == [first, second]
    assert ended_by(old, [first, second], [old, between, late]) == [first]
    assert ended_by(between, [first, second], [old, between, late]) == [second]
    assert ended_by(late, [first, second], [old, between, late]) == []
