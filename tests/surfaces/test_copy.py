"""`retain copy`, and backups of either store."""

import signal
import subprocess
import sys
import time

import pytest

from making import a_link, a_memory, an_entity, save
from retain.config import apart
from retain.stores.copying import compared
from retain.stores.sqlite.store import SqliteStore
from surfaces.command import Command
from surreal_server import shared

MANY = 2000  # more than are copied at once


@pytest.fixture
def retain(tmp_path):
    return Command.in_folder(tmp_path)


@pytest.fixture
def lived(retain):
    """A memory with something in it."""
    first = retain.stored("The AuthService listens on port 8080")
    retain.stored("The AuthService calls the Vault")
    retain("forget", first)
    retain("forget", retain.stored("Nobody may ever read this"), "--purge", "--yes")
    retain("recall", "AuthService")
    return retain


def sqlite(path):
    return f"sqlite:{path}"


def surreal(retain, name="copy"):
    return f"surrealkv:{retain.folder / name}.surrealkv"


def equal(one, other):
    stores = SqliteStore(one), SqliteStore(other)
    try:
        return compared(*stores).is_equal
    finally:
        for store in stores:
            store.close()


def test_a_memory_goes_to_surrealdb_and_back(lived):
    there = lived("copy", "--to", surreal(lived), "--json")
    back = lived("copy", "--from", surreal(lived), "--to", sqlite(lived.folder / "back.db"), "--json")
    assert (there.code, back.code) == (0, 0), there.out + back.out
    assert there.body["equal"] and back.body["equal"]
    sums = [{sort: one["checksum"] for sort, one in done.body["sorts"].items()} for done in (there, back)]
    assert sums[0] == sums[1] and there.body["sorts"]["memories"]["records"] == 2
    assert equal(lived.home / "retain.db", lived.folder / "back.db")


def test_a_person_is_told_what_was_copied(lived):
    done = lived("copy", "--to", sqlite(lived.folder / "other.db"))
    assert done.code == 0, done.err
    assert "memories               2   2 written" in done.out
    assert "equal: every record was compared" in done.out
    assert "copying memories: 2\n" in done.err and "checking (2) memories: 2\n" in done.err


def test_a_dry_run_makes_nothing(lived):
    done = lived("copy", "--to", surreal(lived), "--dry-run", "--json")
    assert (done.code, done.body["dry_run"], done.body["equal"]) == (0, True, False)
    assert done.body["sorts"]["memories"] | {"differing": 2, "written": 0} == done.body["sorts"]["memories"]
    assert not (lived.folder / "copy.surrealkv").exists()


def test_a_server_is_reached_with_the_user_of_the_settings(lived):
    server = shared()
    known = {"RETAIN_REMOTE_USER": server.user, "RETAIN_REMOTE_PASS": server.password}
    known["RETAIN_DATABASE"] = f"copy-{time.time_ns()}"
    there = lived("copy", "--to", server.url, "--json", **known)
    assert (there.code, there.body["equal"]) == (0, True), there.out
    back = lived("copy", "--from", server.url, "--to", sqlite(lived.folder / "back.db"), "--json", **known)
    assert (back.code, back.body["equal"]) == (0, True), back.out
    assert equal(lived.home / "retain.db", lived.folder / "back.db")


def test_a_server_that_is_away_is_told_and_nothing_waits_for_it(lived):
    done = lived("copy", "--to", "ws://127.0.0.1:9")
    assert done.code == 4 and "127.0.0.1:9" in done.err
    assert not (lived.home / "queue").exists()


@pytest.mark.parametrize("name", ["retain.db", "mysql:shop", "sqlite:", "ws:host", "surrealkv:shop.db"])
def test_a_store_that_is_not_named_as_one_is_told(lived, name):
    done = lived("copy", "--to", name)
    assert done.code == 2
    assert "sqlite:FILE" in done.err or ".surrealkv" in done.err


def test_what_cannot_be_copied_is_told(lived):
    missing = lived("copy", "--from", sqlite(lived.folder / "nowhere.db"), "--to", "current")
    assert missing.code == 3 and "there is no store at" in missing.err
    assert not (lived.folder / "nowhere.db").exists()
    same = lived("copy", "--to", sqlite(lived.home / "retain.db"))
    assert same.code == 5 and "the same store" in same.err
    fleeting = lived("copy", "--to", sqlite(lived.folder / "x.db"), RETAIN_DEPLOYMENT_MODE="embedded-memory")
    assert fleeting.code == 5 and "embedded-memory" in fleeting.err


def test_a_target_with_other_memories_is_refused(lived):
    other = Command.in_folder(lived.folder / "elsewhere")
    other.stored("Something else altogether")
    done = lived("copy", "--to", sqlite(other.home / "retain.db"))
    assert done.code == 5 and "a memory that the source has not" in done.err


def test_indexes_of_code_are_counted_and_left(lived):
    (lived.project / "shop.py").write_text("def sell():\n    return 1\n")
    assert lived("index", RETAIN_INDEX_ROOTS=str(lived.folder)).code == 0
    done = lived("copy", "--to", sqlite(lived.folder / "other.db"))
    assert "not copied: 1 index of code; `retain index`" in done.out


DYING = """
import os, signal, sys
from retain import transfer
from retain.config import load
from retain.domain.transfer import Sort

def told(number, sort, looked_at):
    if sort is Sort.MEMORIES and looked_at:
        os.kill(os.getpid(), signal.SIGKILL)

settings = load().settings
transfer.copy(settings, transfer.settings_for(sys.argv[1], settings), told)
"""


@pytest.mark.parametrize("target", ["copy.db", "copy.surrealkv"])
def test_a_copy_that_was_killed_is_finished_by_the_next(retain, target):
    retain.home.mkdir()
    source = SqliteStore(retain.home / "retain.db")
    facts = [a_memory(f"m{n}", f"Shelf {n} of the Warehouse holds {n * 7} boxes") for n in range(MANY)]
    save(source, *facts, entities=(an_entity("Warehouse"),), links=tuple(a_link(m.id, "Warehouse") for m in facts))
    source.close()
    scheme = "sqlite" if target.endswith(".db") else "surrealkv"
    to = f"{scheme}:{retain.folder / target}"
    dying = subprocess.Popen([sys.executable, "-c", DYING, to], env=apart(retain.home), cwd=retain.project)
    assert dying.wait(120) == -signal.SIGKILL
    done = retain("copy", "--to", to, "--json")
    assert (done.code, done.body["equal"]) == (0, True), done.out
    sorts = done.body["sorts"]
    assert sorts["memories"]["records"] == MANY
    assert (0 < sorts["memories"]["written"] < MANY, sorts["entities"]["written"]) == (True, 0)


def test_surrealdb_is_backed_up_into_a_file_that_copy_brings_back(lived):
    lived("copy", "--to", f"surrealkv:{lived.home}")
    chosen = {"RETAIN_STORE": "surrealdb"}
    made = lived("backup", str(lived.folder / "backup.db"), "--json", **chosen)
    assert made.code == 0, made.out
    assert (lived.folder / "backup.db").stat().st_mode & 0o777 == 0o600
    assert list(lived.folder.glob("backup.db?*")) == []
    assert equal(lived.home / "retain.db", lived.folder / "backup.db")
    refused = lived("restore", str(lived.folder / "backup.db"), "--yes", **chosen)
    assert refused.code == 5 and f"retain copy --from sqlite:{lived.folder / 'backup.db'} --to current" in refused.err
    brought = lived("copy", "--from", sqlite(lived.folder / "backup.db"), "--to", "current", "--json", **chosen)
    assert (brought.code, brought.body["equal"]) == (0, True), brought.out
