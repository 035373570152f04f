"""A watched folder is indexed again when something changes, and not when nothing that matters does."""

import shutil
import sys
import threading

import pytest

from indexing import ADA, PARSE, a_code, a_shop, indexed, key_of, names_found, write
from retain.app import SystemClock
from retain.engine.code.indexing.watch import Wanted, Watcher
from retain.errors import MissingExtra

SECONDS = 30


@pytest.fixture
def root(tmp_path):
    return a_shop(tmp_path / "shop")


@pytest.fixture
def code(sqlite_file, tmp_path):
    made = a_code(sqlite_file, SystemClock(), tmp_path)
    yield made
    made.close()


class Calls:
    """Counts calls, and waits for more of them."""

    def __init__(self):
        self._more = threading.Condition()
        self.count = 0

    def __call__(self):
        with self._more:
            self.count += 1
            self._more.notify_all()

    def reach(self, count, seconds=SECONDS):
        with self._more:
            return self._more.wait_for(lambda: self.count >= count, seconds)


@pytest.fixture
def watched(root):
    """The calls of a watcher that has begun to watch."""
    calls = Calls()
    watcher = Watcher(root, calls)
    assert calls.reach(1)
    yield calls
    watcher.stop()


def until(is_so, seconds=SECONDS):
    """Waits for something that a thread of its own brings about."""
    late, pause = SystemClock().now().timestamp() + seconds, threading.Event()
    while not is_so():
        assert SystemClock().now().timestamp() < late, "it never came"
        pause.wait(0.02)


def test_a_change_in_a_watched_folder_is_indexed(code, sqlite_file, root):
    assert indexed(code, root, watch=True).watched
    write(root, "src/new.py", PARSE.replace("parse_moment", "brand_new"))
    until(lambda: "src/new.py" in sqlite_file.marks(key_of(root)))
    (root / "src" / "new.py").unlink()
    until(lambda: "src/new.py" not in sqlite_file.marks(key_of(root)))


def test_who_waits_is_told_what_changes_have_brought_up_to_date(code, root):
    indexed(code, root, watch=True)
    write(root, "src/new.py", PARSE)
    told = []

    def tell(index):
        told.append(index.total_files)
        code.close()

    code.wait_while_watching(tell)
    assert told == [4]


def test_a_dropped_index_is_not_made_again_by_its_watcher(code, sqlite_file, root):
    indexed(code, root, watch=True)
    code.drop("shop", ADA)
    write(root, "src/new.py", PARSE)
    assert (code._watchers, code.indexes(ADA)) == ({}, [])


def test_an_index_that_another_process_dropped_is_not_made_again(code, sqlite_file, root):
    indexed(code, root, watch=True)
    sqlite_file.drop_index(key_of(root))
    write(root, "src/new.py", PARSE)
    until(lambda: not code._watchers)
    assert sqlite_file.indexes("ada") == []


def test_a_folder_that_has_become_a_way_out_is_not_indexed_again(code, root, tmp_path):
    key = indexed(code, root).index.key
    outside = tmp_path / "outside"
    outside.mkdir()
    write(outside, "private.py", PARSE.replace("parse_moment", "not_for_you"))
    root.rename(tmp_path / "was")
    root.symlink_to(outside)
    code.refresh([key], ADA)
    assert code._jobs.running(key) is None
    assert "not_for_you" not in names_found(code, "not_for_you")


def test_a_change_wakes_it(root, watched):
    write(root, "src/new.py", PARSE)
    assert watched.reach(2)


def test_what_is_ignored_does_not_wake_it(root, watched):
    write(root, ".gitignore", "*.tmp\n")
    assert watched.reach(2)
    while watched.reach(watched.count + 1, 1.5):
        pass  # one change may wake it twice
    before = watched.count
    for path in ("x.tmp", "node_modules/x.js", ".git/index", "store.db-wal"):
        write(root, path, "x")
    assert not watched.reach(before + 1, 1.5)


def test_it_survives_the_folder_and_goes_on_when_that_comes_back(root, watched):
    shutil.rmtree(root)
    until(lambda: not root.exists())
    before = watched.count
    a_shop(root)
    assert watched.reach(before + 1)
    before = watched.count
    write(root, "src/later.py", PARSE)
    assert watched.reach(before + 1)


def test_which_paths_matter(root):
    write(root, ".gitignore", "*.tmp\n/logs/\n")
    wanted = Wanted(root)
    matter = ["src/a.py", "README.md", ".gitignore", "src/.memoryignore", "build/x.py", ""]
    do_not = ["a.tmp", "logs/a.py", ".git/HEAD", "node_modules/a.js", ".env", "a.png", "x.sqlite3-wal"]
    assert [path for path in matter + do_not if wanted(str(root / path))] == matter
    assert not wanted("/elsewhere/a.py")


def test_without_the_library_it_says_what_to_install(root, monkeypatch):
    monkeypatch.setitem(sys.modules, "watchfiles", None)  # as if it were not installed
    with pytest.raises(MissingExtra, match=r"extra `code`"):
        Watcher(root, Calls())
