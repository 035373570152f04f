"""Asking for an index: which folders may be, what a call answers while others are at it, status, and the end of it."""

from pathlib import Path

import pytest

import retain
from indexing import ADA, PARSE, Model, a_code, a_shop, by_hand, indexed, key_of, names_found, write
from retain.domain.code import IndexStatus
from retain.domain.ids import id_of
from retain.domain.model import ModelState
from retain.domain.session import Caller, Project
from retain.engine.code.finding.search import CodeQuestion
from retain.engine.code.indexing.holding import SILENCE
from retain.engine.embed import PATIENCE
from retain.errors import InvalidPath, NotFound, Refused


@pytest.fixture
def root(tmp_path):
    return a_shop(tmp_path / "shop")


@pytest.fixture
def code(sqlite_file, clock, tmp_path):
    made = a_code(sqlite_file, clock, tmp_path)
    yield made
    made.close()


@pytest.fixture
def slow(sqlite_file, clock, tmp_path):
    """With a model that is loading until its gate is opened."""
    model = Model(ready=False)
    made = a_code(sqlite_file, clock, tmp_path, model=model)
    yield made, model
    model.gate.set()
    made.close()


@pytest.mark.parametrize("bad", ["", "  ", "missing", "a\0b", "x" * 5000, "~nobody-of-that-name/x"])
def test_a_path_that_is_no_folder_is_refused(code, bad):
    with pytest.raises(InvalidPath, match=r"^Invalid path: "):
        code.index(bad, ADA)
    assert code.indexes(ADA) == []


def test_a_file_is_no_folder(code, root):
    with pytest.raises(InvalidPath, match="this is a file"):
        code.index(str(root / "README.md"), ADA)


def test_paths_outside_of_the_roots_are_refused_whatever_way_leads_there(sqlite_file, clock, tmp_path):
    allowed, outside = tmp_path / "allowed", tmp_path / "outside"
    write(allowed, "x.py", PARSE)
    write(outside, "y.py", PARSE)
    (allowed / "link").symlink_to(outside)
    code = a_code(sqlite_file, clock, allowed)
    for path in (outside, allowed / ".." / "outside", allowed / "link", tmp_path):
        with pytest.raises(InvalidPath, match="index_roots") as refusal:
            code.index(str(path), ADA)
        assert str(allowed) in refusal.value.message
        assert refusal.value.message.startswith(f"Invalid path: {path}")
    assert sqlite_file.indexes("ada") == []


def test_the_home_folder_and_the_whole_disk_are_too_large(sqlite_file, clock, tmp_path):
    code = a_code(sqlite_file, clock, Path("/"), home=tmp_path)
    for path in ("/", str(tmp_path)):
        with pytest.raises(InvalidPath, match="more than a project"):
            code.index(path, ADA)


def test_a_link_to_a_folder_is_that_folder(code, root, tmp_path):
    (tmp_path / "alias").symlink_to(root)
    first = indexed(code, root)
    assert indexed(code, tmp_path / "alias").index.project == first.index.project


def test_a_call_answers_when_its_patience_ends_and_the_next_one_joins(slow, root):
    code, model = slow
    first = code.index(str(root), ADA, patience=0)
    second = code.index(str(root), ADA, patience=0)
    assert (first.running, first.joined, second.running, second.joined) == (True, False, True, True)
    assert code.status("shop", ADA).status is IndexStatus.INDEXING
    model.gate.set()
    assert indexed(code, root).index.embedded_chunks > 0


def test_what_is_saved_can_be_searched_while_the_rest_is_still_being_done(slow, root):
    code, model = slow
    code.index(str(root), ADA, patience=0)
    job = code._jobs.running(key_of(root))
    while job.run.index.indexed_files < 3:
        assert not job.follow(0.01)
    model.gate.set()  # for the question; the run may end now, or later
    assert "parse_moment" in names_found(code, "parse_moment")


def test_progress_is_told_up_to_the_end(code, root):
    seen = []
    indexed(code, root, progress=seen.append)
    assert seen[-1].status is IndexStatus.COMPLETED


def test_only_one_indexes_and_a_dead_one_makes_way(two_stores, clock, root, tmp_path):
    one, two = two_stores
    by_hand(one, clock, root)
    code, told = a_code(two, clock, tmp_path), []
    other = code.index(str(root), ADA, patience=0, progress=told.append)
    assert (other.running, other.joined, [w.code for w in other.warnings]) == (True, True, ["already_indexing"])
    assert [index.status for index in told] == [IndexStatus.INDEXING]
    clock.tick(SILENCE.seconds + 1)  # the holder has not been heard of since
    assert code.status("shop", ADA).status is IndexStatus.PENDING
    assert indexed(code, root).tally.added == 3


def test_status_is_found_by_name_id_and_path(code, root):
    project = indexed(code, root).index.project
    for name in (project.slug, project.id, project.path, f"{project.path}/"):
        assert code.status(name, ADA).total_files == 3
    with pytest.raises(NotFound, match="shop"):
        code.status("shopping", ADA)


def test_a_project_that_was_never_indexed_is_pending(code, root, clock):
    project = Project(id_of(str(root)), "shop", str(root), clock.now())
    status = code.status("shop", Caller("ada", project))
    assert (status.status, status.project) == (IndexStatus.PENDING, project)
    with pytest.raises(NotFound):
        code.status("shop", ADA)


def test_dropping_destroys_the_index_and_says_how_much_there_was(code, sqlite_file, root):
    done = indexed(code, root)
    assert code.drop("shop", ADA) == done.index.total_chunks
    assert (code.indexes(ADA), sqlite_file.marks(key_of(root))) == ([], {})
    assert names_found(code, "parse_moment") == []
    with pytest.raises((NotFound, Refused)):
        code.drop("shop", ADA)


def test_dropping_ends_a_run_first(slow, sqlite_file, root):
    code, model = slow
    code.index(str(root), ADA, patience=0)
    model.gate.set()
    code.drop("shop", ADA)
    assert code.indexes(ADA) == []


def test_folders_of_one_name_are_told_apart(code, root, tmp_path):
    write(tmp_path / "other" / "shop", "x.py", PARSE)
    indexed(code, root)
    slug = indexed(code, tmp_path / "other" / "shop").index.project.slug
    assert (slug != "shop", code.status(slug, ADA).total_files, code.status("shop", ADA).total_files) == (True, 1, 3)


def test_closing_cuts_a_run_and_the_next_one_goes_on(slow, sqlite_file, clock, root, tmp_path):
    code, model = slow
    code.index(str(root), ADA, patience=0)
    job = code._jobs.running(key_of(root))
    code.close()
    model.gate.set()
    assert job.follow(30)
    assert sqlite_file.indexes("ada")[0].status is IndexStatus.PENDING
    assert indexed(a_code(sqlite_file, clock, tmp_path), root).index.total_files == 3


def test_what_a_search_found_stale_is_brought_up_to_date_in_the_background(code, root):
    indexed(code, root)
    write(root, "src/parse.py", PARSE.replace("parse_moment", "read_moment"))
    answer = code.search(CodeQuestion("parse_moment"), ADA)
    assert "parse_moment" not in [hit.stored.chunk.name for hit in answer.hits]
    code.refresh(answer.stale, ADA)
    if job := code._jobs.running(key_of(root)):
        assert job.follow(30)
    assert "read_moment" in names_found(code, "read_moment")


def test_by_default_the_current_project_may_be_indexed_and_nothing_beside_it(root, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    options = {"embedding_model": "hashed", "project_dir": root}
    with retain.open(tmp_path / "retain.db", **options) as app:
        assert indexed(app.engine.code, root, app.caller()).tally.added == 3
        with pytest.raises(InvalidPath, match="index_roots"):
            app.engine.code.index(str(tmp_path), app.caller())
    with retain.open(tmp_path / "retain.db", index_roots=str(tmp_path), **options) as app:
        assert indexed(app.engine.code, tmp_path, app.caller()).tally.added >= 3


def test_the_project_of_an_index_is_that_of_the_memories(root, tmp_path):
    (root / ".git").mkdir()
    with retain.open(tmp_path / "retain.db", embedding_model="hashed", project_dir=root / "src") as app:
        done = indexed(app.engine.code, root, app.caller())
        assert done.index.project.id == app.caller().project.id


class LateModel(Model):
    """Takes longer to load than a call waits, and no longer than the background does."""

    def state(self):
        return ModelState("ready" if self.gate.is_set() else "loading")

    def wait(self, seconds):
        return self.gate.wait(seconds if seconds > PATIENCE else 0)


def test_vectors_follow_by_themselves_when_the_model_is_loaded(sqlite_file, clock, root, tmp_path):
    model = LateModel(ready=False)
    code = a_code(sqlite_file, clock, tmp_path, model=model)
    done = indexed(code, root)
    assert (done.index.embedded_chunks, "still loading" in done.warnings[0].message) == (0, True)
    model.gate.set()
    seen = []
    while not seen or seen[-1].embedded_chunks < seen[-1].total_chunks:
        seen.append(code.status("shop", ADA))
        assert len(seen) < 100_000, "they never came"
    code.close()
