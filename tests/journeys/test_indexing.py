"""Indexing by processes that are killed, that meet one another, and that end while they watch."""

import pytest

from indexing import ADA, a_code, a_tree, indexed, key_of, names_found
from processes import LONG, said, start
from retain.app import SystemClock
from retain.domain.code import IndexStatus
from retain.engine.code.finding.search import CodeQuestion
from retain.stores.sqlite.store import SqliteStore

pytestmark = pytest.mark.slow
FILES, FUNCTIONS = (400, 20) if LONG else (200, 20)


@pytest.fixture
def root(tmp_path):
    return a_tree(tmp_path / "tree", FILES, FUNCTIONS)


def lines_until(process, is_reached):
    """Reads what an indexer says of its progress up to a line that will do, as (files, chunks with vectors).

    The indexer waits there until it is told to go on.
    """
    for line in process.stdout:
        word, *numbers = line.split()
        if word != "at":
            return None
        if is_reached(*map(int, numbers)):
            return numbers
        process.stdin.write("\n")
        process.stdin.flush()
    return None


@pytest.mark.parametrize("stage", ["files", "vectors"])
def test_a_killed_run_is_resumed_where_it_was(tmp_path, root, stage):
    reached = {"files": lambda files, _: files > 0, "vectors": lambda _, vectors: vectors > 0}[stage]
    process = start("index", tmp_path / "retain.db", root, 600, "held")
    assert lines_until(process, reached), "it was done before it could be killed"
    process.kill()
    process.communicate()
    store = SqliteStore(tmp_path / "retain.db")
    code = a_code(store, SystemClock(), tmp_path)
    left = code.status("tree", ADA)
    saved = len(store.marks(key_of(root)))
    assert (left.status, saved > 0) == (IndexStatus.PENDING, True)
    assert names_found(code, "number_0_0") != []
    done = indexed(code, root)
    assert (done.joined, done.tally.unchanged, done.tally.added) == (False, saved, FILES - saved)
    assert done.index.total_chunks == done.index.embedded_chunks >= FILES * FUNCTIONS
    assert store.faults() == []
    code.close()
    store.close()


def test_a_second_process_leaves_the_work_to_the_first(tmp_path, root):
    first = start("index", tmp_path / "retain.db", root, 600, "held")
    assert lines_until(first, lambda files, _: files > 0)
    second = said(start("index", tmp_path / "retain.db", root, 0))
    assert second[-1] == "joined indexing 0 0"
    assert said(first)[-1] == f"began completed {FILES} 0"


def test_of_processes_that_begin_at_once_each_file_is_indexed_by_one(tmp_path, root):
    crowd = [start("index", tmp_path / "retain.db", root, 600) for _ in range(3)]
    answers = [said(process)[-1].split() for process in crowd]
    assert [status for _, status, *_ in answers] == ["completed"] * 3
    assert sorted(int(added) for _, _, added, _ in answers) == [0, 0, FILES]
    store = SqliteStore(tmp_path / "retain.db")
    code = a_code(store, SystemClock(), tmp_path)
    assert indexed(code, root).tally.unchanged == FILES
    hits = code.search(CodeQuestion("number_3_7", limit=5), ADA).hits
    assert [hit.stored.chunk.name for hit in hits].count("number_3_7") == 1
    store.close()


def test_a_process_ends_in_peace_while_it_watches(tmp_path):
    root = a_tree(tmp_path / "tree", 3, 2)
    process = start("watch", tmp_path / "retain.db", root)
    assert said(process)[-1] == "began completed 3 0"
    assert process.returncode == 0
