"""Runs over a folder: what changed is done anew, everything else stays, and the tally says what happened."""

import os
import subprocess
import sys
import threading
from dataclasses import replace

import pytest

from indexing import ADA, FORMAT, PARSE, Model, a_code, a_shop, by_hand, indexed, key_of, names_found, write
from retain.domain.code import CodeIndex, IndexStatus
from retain.domain.session import Caller, Project
from retain.embedding.hashed import HashedEmbedder
from retain.embedding.off import NoEmbedder
from retain.engine.code.finding.search import CodeQuestion
from retain.engine.code.indexing.holding import SILENCE, as_it_is, is_at_work, new_holder
from retain.engine.code.indexing.index import BATCH, Run
from retain.engine.code.indexing.progress import eta_seconds, progress_percent
from retain.engine.code.reading.ignore import LONGEST
from retain.engine.parts import Parts
from retain.errors import NotFound


@pytest.fixture
def root(tmp_path):
    return a_shop(tmp_path / "shop")


@pytest.fixture
def model():
    return Model()


@pytest.fixture
def code(store, clock, tmp_path, model):
    made = a_code(store, clock, tmp_path, model=model)
    yield made
    made.close()


@pytest.fixture
def run(store, clock, root):
    """A run by hand, with the moment to end and what to do at every report."""

    def made(stop=None, told=lambda: None):
        one = Run(Parts(store, HashedEmbedder(), clock), by_hand(store, clock, root), stop or threading.Event(), told)
        one.work()
        return one

    return made


def test_a_folder_is_indexed_and_can_be_searched(code, root):
    done = indexed(code, root)
    assert (done.tally.added, done.tally.unchanged, done.joined, done.warnings) == (3, 0, False, ())
    assert (done.index.total_files, done.index.indexed_files) == (3, 3)
    assert done.index.total_chunks == done.index.embedded_chunks == done.tally.chunks >= 3
    assert names_found(code, "turn text into a moment")[0] == "parse_moment"


def test_a_second_run_does_nothing_and_says_so(code, root, model):
    first = indexed(code, root)
    model.texts.clear()
    again = indexed(code, root)
    assert (again.tally.unchanged, again.tally.added, again.tally.changed, again.tally.chunks) == (3, 0, 0, 0)
    assert (again.index.total_chunks, model.texts) == (first.index.total_chunks, [])


def test_only_what_changed_in_a_file_is_embedded_again(code, root, model):
    write(root, "src/parse.py", f"{PARSE}\n\n{FORMAT}")
    indexed(code, root)
    model.texts.clear()
    write(root, "src/parse.py", f"{PARSE}\n\n{FORMAT}".replace("return text", "return text.strip()"))
    done = indexed(code, root)
    assert (done.tally.changed, done.tally.unchanged) == (1, 2)
    body, headline = model.texts
    assert "text.strip()" in body and headline.endswith("def parse_moment(text)")
    assert done.index.embedded_chunks == done.index.total_chunks


def test_a_touched_file_is_only_marked(code, store, root, model):
    indexed(code, root)
    model.texts.clear()
    os.utime(root / "src" / "parse.py", ns=(1, 2))
    done = indexed(code, root)
    assert (done.tally.unchanged, done.tally.changed, done.tally.chunks, model.texts) == (3, 0, 0, [])
    assert store.marks(key_of(root))["src/parse.py"].modified == 2


def test_a_moved_file_is_neither_cut_nor_embedded_again(code, store, root, model):
    indexed(code, root)
    model.texts.clear()
    (root / "lib").mkdir()
    (root / "src" / "parse.py").rename(root / "lib" / "moments.py")
    os.utime(root / "lib" / "moments.py", ns=(1, 2))
    done = indexed(code, root)
    assert (done.tally.moved, done.tally.added, done.tally.removed, done.tally.unchanged) == (1, 0, 0, 2)
    assert done.tally.chunks == 0
    assert all("def " not in text for text in model.texts)  # only what is called after the file
    assert store.marks(key_of(root)).keys() == {"README.md", "src/format.py", "lib/moments.py"}
    assert indexed(code, root).tally.unchanged == 3
    assert "parse_moment" in names_found(code, "parse_moment")


def test_a_renamed_file_gives_its_module_its_new_name(code, root):
    write(root, "src/billing.py", "RATE = 19\n\n\ndef total(price):\n    return price * RATE\n")
    indexed(code, root)
    (root / "src" / "billing.py").rename(root / "src" / "invoices.py")
    assert indexed(code, root).tally.moved == 1
    assert [d.stored.path for d in code.definitions(CodeQuestion("invoices"), ADA).found] == ["src/invoices.py"]
    with pytest.raises(NotFound):
        code.definitions(CodeQuestion("billing"), ADA)


def test_a_copy_is_no_move_and_a_new_ending_is_a_new_file(code, root):
    indexed(code, root)
    write(root, "src/copy.py", PARSE)
    (root / "src" / "format.py").rename(root / "src" / "format.txt")
    done = indexed(code, root)
    assert (done.tally.moved, done.tally.added, done.tally.removed) == (0, 2, 1)


def test_deleted_files_go_and_so_do_those_that_are_ignored_from_now_on(code, store, root):
    indexed(code, root)
    (root / "src" / "parse.py").unlink()
    write(root, ".memoryignore", "*.md\n")
    assert indexed(code, root).tally.removed == 2
    assert store.marks(key_of(root)).keys() == {".memoryignore", "src/format.py"}
    assert "parse_moment" not in names_found(code, "turn text into a moment")


def test_a_file_that_became_generated_goes_and_is_counted(code, store, root):
    indexed(code, root)
    write(root, "src/parse.py", "# @generated\n" + PARSE)
    done = indexed(code, root)
    assert (done.tally.removed, done.index.skipped, done.index.total_files) == (1, {"generated": 1}, 2)
    assert "src/parse.py" not in store.marks(key_of(root))


def test_a_file_that_vanishes_after_the_walk_is_left_to_the_next_run(code, run, root):
    done = run(told=lambda: (root / "src" / "parse.py").unlink(missing_ok=True))
    assert (done.index.status, done.index.skipped) == (IndexStatus.COMPLETED, {"vanished": 1})
    assert (done.index.total_files, done.index.indexed_files) == (2, 2)
    a_shop(root)
    assert indexed(code, root).tally.added == 1


def test_a_run_that_is_stopped_keeps_what_it_has_and_the_next_goes_on(code, store, root, run):
    class OnceSaved(threading.Event):
        def is_set(self):
            return bool(store.marks(key_of(root)))

    many = "\n".join(f"def number_{n}(): return {n}" for n in range(BATCH + 1))
    write(root, "big.py", many)
    done = run(OnceSaved())
    assert (done.index.status, store.indexes("ada")[0].status) == (IndexStatus.PENDING, IndexStatus.PENDING)
    saved = len(store.marks(key_of(root)))
    assert 0 < saved < 4
    assert names_found(code, "number_7") != []
    after = indexed(code, root)
    assert (after.tally.unchanged, after.tally.added) == (saved, 4 - saved)


def test_vectors_that_are_missing_follow_with_the_next_run(store, clock, root, tmp_path):
    without = a_code(store, clock, tmp_path, model=NoEmbedder("switched off"))
    done = indexed(without, root)
    assert (done.index.embedded_chunks, [warning.code for warning in done.warnings]) == (0, ["embedding_failed"])
    assert "switched off" in done.warnings[0].message
    assert names_found(without, "parse_moment")[0] == "parse_moment"
    later = indexed(a_code(store, clock, tmp_path), root)
    assert later.index.embedded_chunks == later.index.total_chunks > 0
    assert later.tally.unchanged == 3


def test_a_very_long_chunk_has_four_vectors_at_most(code, root, model):
    write(root, "notes.txt", " ".join(f"word{n}" for n in range(3000)))
    done = indexed(code, root)
    about = [text for text in model.texts if "word" in text]
    assert len(about) <= 4 * (done.index.total_chunks - 3)


def test_secrets_are_not_kept_and_lines_stay_where_they_are(code, store, root):
    body = "MIIEpAIBAAKCAQEA1c7+9z5Pad7OejecsQ0bu3aozN3tihPmljnnudb9G3HE\n" * 5
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----"
    token = "ghp_0123456789abcdefghij" + "ABCDEFGHIJ0123"
    text = f'TOKEN = "{token}"\nKEY = """{key}"""\n\n\ndef after():\n    return "{token}"\n'
    write(root, "src/keys.py", text)
    indexed(code, root)
    kept = store.code_chunks([stored.id for stored in store.symbols(key_of(root))]).values()
    everything = "\n".join(stored.chunk.text for stored in kept)
    assert "MIIEpAIBAAKCAQEA" not in everything
    assert "ghp_0123456789" not in everything
    (after,) = [stored.chunk for stored in kept if stored.chunk.name == "after"]
    assert after.start_line == text[: text.index("def after")].count("\n") + 1


def test_what_was_cut_in_another_way_is_cut_anew(code, store, root):
    indexed(code, root)
    marks = store.marks(key_of(root))
    older, without = (marks[f"src/{name}.py"] for name in ("parse", "format"))
    changed = {
        "src/parse.py": replace(older, digest="0" + older.digest[1:]),
        "src/format.py": replace(without, digest=without.digest.replace(":", "-:")),  # its grammar is there by now
    }
    store.mark_code(key_of(root), changed)
    assert indexed(code, root).tally.changed == 2
    assert store.marks(key_of(root)) == marks


def test_two_users_have_an_index_each(code, store, root):
    indexed(code, root)
    indexed(code, root, Caller("bob"))
    assert [len(code.indexes(Caller(user))) for user in ("ada", "bob", "eve")] == [1, 1, 0]
    assert code.drop("shop", Caller("bob")) > 0
    assert len(store.marks(key_of(root))) == 3


def test_an_index_that_is_dropped_while_it_is_made_stays_away(store, root, run):
    done = run(told=lambda: store.drop_index(key_of(root)))
    assert done.index.status is IndexStatus.PENDING
    assert store.indexes("ada") == []


def test_a_folder_that_goes_away_fails_and_keeps_its_index(code, store, root, run):
    indexed(code, root)
    root.rename(root.with_name("moved-away"))
    done = run()
    assert done.index.status is IndexStatus.FAILED
    assert "cannot be read" in done.index.error
    assert len(store.marks(key_of(root))) == 3
    assert code.status("shop", ADA).error == done.index.error


def test_what_is_saved_in_full_is_a_failure_that_says_so_and_gives_the_claim_back(tmp_path, clock, root):
    from retain.stores.sqlite.store import SqliteStore

    full = SqliteStore(tmp_path / "full.db", max_bytes=1)
    done = a_code(full, clock, tmp_path).index(str(root), ADA, patience=60)
    assert (done.index.status, done.running) == (IndexStatus.FAILED, False)
    assert "max_storage_mb" in done.index.error
    assert full.indexes("ada")[0].status is IndexStatus.FAILED
    full.close()


def a_held_index(holder, now):
    return CodeIndex(Project("p", "p", "/p", now), status=IndexStatus.INDEXING, holder=holder, beat=now)


def test_a_holder_whose_process_has_ended_is_dead_at_once(clock):
    now, mine = clock.now(), new_holder()
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    ended = mine.replace(f":{os.getpid()}:", f":{process.pid}:")
    assert is_at_work(a_held_index(mine, now), now)
    assert not is_at_work(a_held_index(ended, now), now)
    assert is_at_work(a_held_index(f"elsewhere{ended}", now), now)
    assert as_it_is(a_held_index(ended, now), now).status is IndexStatus.PENDING


def test_a_holder_that_is_silent_for_long_is_dead_too(clock):
    index = a_held_index("elsewhere:1:x", clock.now())
    assert is_at_work(index, clock.tick(SILENCE.seconds - 1))
    assert not is_at_work(index, clock.tick(2))


def percent(files, chunks, *, with_vectors):
    counts = {"total_files": 10, "indexed_files": files, "total_chunks": 100, "embedded_chunks": chunks}
    index = CodeIndex(Project("p", "p", "/p", None), status=IndexStatus.INDEXING, **counts)
    return progress_percent(index, with_vectors=with_vectors)


def test_progress_is_a_tenth_files_and_the_rest_vectors():
    assert [percent(n, 0, with_vectors=True) for n in (0, 5, 10)] == [0.0, 5.0, 10.0]
    assert [percent(10, n, with_vectors=True) for n in (50, 100)] == [55.0, 99.9]
    assert [percent(n, 0, with_vectors=False) for n in (0, 5)] == [0.0, 50.0]


def test_the_time_left_is_told_from_the_time_spent(clock):
    started = clock.now()
    base = {"project": Project("p", "p", "/p", started), "started": started, "total_files": 10}
    half = CodeIndex(status=IndexStatus.INDEXING, indexed_files=5, **base)
    assert eta_seconds(half, clock.tick(20), with_vectors=False) == 20
    assert eta_seconds(CodeIndex(status=IndexStatus.INDEXING, **base), clock.now(), with_vectors=False) is None
    assert eta_seconds(CodeIndex(status=IndexStatus.FAILED, **base), clock.now(), with_vectors=False) is None
    assert eta_seconds(CodeIndex(status=IndexStatus.COMPLETED, **base), clock.now(), with_vectors=True) == 0


def test_a_folder_whose_ignore_file_is_over_the_bounds_is_left_out_and_named(code, root):
    write(root, "lib/a.py", "def lost(): ...\n")
    write(root, "lib/.memoryignore", "a" * (LONGEST + 1))
    done = indexed(code, root)
    assert done.index.skipped == {"ignore_file": 1} and names_found(code, "lost")[:1] != ["lost"]
    (warning,) = done.warnings
    assert warning.code == "ignore_file"
    assert warning.message.startswith(f"{root}/lib/.memoryignore has a pattern of more than 1,000 bytes: ")
