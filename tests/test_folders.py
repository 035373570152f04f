"""Which project a folder belongs to, with a real git."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from retain.app import Retain
from retain.config import load
from retain.engine.drafts import Draft
from retain.engine.tracking.projects import init
from retain.errors import InvalidInput, NotFound
from retain.folders import project_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "shop"
    root.mkdir()
    git(root, "init", "-q")
    git(root, "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "--allow-empty", "-m", "first")
    return root


def git(folder, *arguments):
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def found(folder, home):
    return project_of(folder, home, NOW)


def test_a_folder_deep_in_a_repository_belongs_to_its_root(repository, tmp_path):
    deep = repository / "src" / "cart"
    deep.mkdir(parents=True)
    assert found(deep, tmp_path).path == str(repository)
    assert found(deep, tmp_path).slug == "shop"


def test_a_worktree_belongs_to_the_main_checkout(repository, tmp_path):
    git(repository, "worktree", "add", "-q", str(tmp_path / "feature"))
    assert found(tmp_path / "feature", tmp_path) == found(repository, tmp_path)


@pytest.mark.parametrize("known", [None, "its own word", "another worktree"])
def test_a_worktree_that_the_repository_does_not_know_is_a_project_of_its_own(repository, tmp_path, known):
    """An archive can bring a `.git` file that names somebody's repository."""
    forged = tmp_path / "unpacked"
    git_dir = forged / "gd"
    git_dir.mkdir(parents=True)
    (git_dir / "commondir").write_text(f"{repository}/.git\n")
    if known == "its own word":
        (git_dir / "gitdir").write_text(f"{forged}/.git\n")
    if known == "another worktree":
        git(repository, "worktree", "add", "-q", str(tmp_path / "feature"))
        git_dir = repository / ".git" / "worktrees" / "feature"
    (forged / ".git").write_text(f"gitdir: {git_dir}\n")
    assert found(forged, tmp_path).path == str(forged)


def test_a_worktree_may_be_known_by_a_path_from_there(repository, tmp_path):
    git(repository, "worktree", "add", "-q", str(tmp_path / "feature"))
    (repository / ".git" / "worktrees" / "feature" / "gitdir").write_text("../../../../feature/.git\n")
    assert found(tmp_path / "feature", tmp_path) == found(repository, tmp_path)


def test_a_submodule_is_a_project_of_its_own(repository, tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    git(inner, "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "--allow-empty", "-m", "first")
    git(repository, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "vendor")
    assert found(repository / "vendor", tmp_path).path == str(repository / "vendor")


def test_a_folder_without_git_is_its_own_project(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    assert found(folder, tmp_path).path == str(folder)


def test_the_home_folder_and_the_root_are_no_project(tmp_path):
    assert found(tmp_path, tmp_path) is None
    assert project_of(tmp_path.__class__("/"), tmp_path, NOW) is None


def test_a_link_leads_to_the_same_project(repository, tmp_path):
    (tmp_path / "link").symlink_to(repository)
    assert found(tmp_path / "link", tmp_path).id == found(repository, tmp_path).id


@pytest.fixture
def app(repository, tmp_path, monkeypatch):
    """A memory in the repository `shop`, below a home folder of its own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = {"home": tmp_path / "retain", "project_dir": repository, "embedding_model": "hashed"}
    with Retain(load(settings, {"HOME": str(tmp_path)}, tmp_path)) as opened:
        yield opened


@pytest.fixture
def notes(app, tmp_path):
    """A project beside it, with a name."""
    (tmp_path / "notes" / "2026").mkdir(parents=True)
    return init(app.engine.parts, app.project_at("~/notes"), "My notes", None, app.caller()).profile


@pytest.mark.parametrize(
    "path", ["{home}/shop", "{home}/shop/", "~/shop", " ~/shop/src/.. ", "src", ".", "../shop/src"]
)
def test_a_project_is_found_however_its_path_is_written(app, repository, tmp_path, path):
    (repository / "src").mkdir()
    found = app.project_at(path.format(home=tmp_path))
    assert (found.id, found.path) == (app.caller().project.id, str(repository))


def test_a_project_is_found_through_a_link(app, repository, tmp_path):
    (tmp_path / "link").symlink_to(repository)
    assert app.project_at("~/link").path == str(repository)


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("~", "the home folder and `/` are no projects"),
        ("/", "the home folder and `/` are no projects"),
        ("~/nowhere", "there is no such folder"),
        ("~/file", "this is a file"),
        (" ", "there is no such folder"),
        ("x" * 5000, "there is no such folder"),
        ("a\0b", "NUL"),
        ("a\ud800", "surrogate"),
    ],
)
def test_what_can_be_no_project_is_refused(app, tmp_path, path, problem):
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match=f"where: .*{problem}"):
        app.project_at(path, "where")


def test_a_folder_of_a_repository_that_is_the_home_folder_is_no_project(app, tmp_path):
    git(tmp_path, "init", "-q")
    (tmp_path / "drafts").mkdir()
    with pytest.raises(InvalidInput, match="nor is a folder of a repository that begins there"):
        app.project_at("~/drafts")


@pytest.mark.parametrize("named", ["my notes", "notes", "~/notes/", "{home}/notes", "../notes/2026/..", "proj_{id}"])
def test_a_caller_can_stand_in_another_project(app, notes, tmp_path, named):
    caller = app.caller("s1", project=named.format(home=tmp_path, id=notes.project.id))
    assert (caller.project, caller.session) == (notes.project, "s1")
    kept = app.engine.remember(Draft("Notes are kept by year."), caller).memory
    assert kept.place.project == notes.project.id


def test_a_folder_of_a_repository_stands_for_the_project_around_it(app, repository):
    (repository / "src" / "cart").mkdir(parents=True)
    here = app.caller().project
    assert app.caller(project="src/cart").project == here == app.caller(project=str(repository / "src")).project


def test_the_name_of_a_folder_alone_is_the_name_of_a_project(app, repository):
    (repository / "docs").mkdir()
    with pytest.raises(NotFound, match="no project docs"):
        app.caller(project="docs")


def test_a_name_with_a_slash_goes_before_a_folder(app, repository, notes):
    (repository / "web" / "shop").mkdir(parents=True)
    init(app.engine.parts, notes.project, "web/shop", None, app.caller())
    assert app.caller(project="web/shop").project == notes.project


def test_a_project_whose_folder_is_gone_is_found_by_its_path(app, notes):
    Path(notes.project.path, "2026").rmdir()
    Path(notes.project.path).rmdir()
    for path in (notes.project.path, f"{notes.project.path}/", "~/notes", "../notes"):
        assert app.caller(project=path).project == notes.project


def test_an_unknown_project_is_told_as_it_was_given(app, notes):
    with pytest.raises(NotFound, match="no project ~/nowhere; known are My notes") as bad:
        app.caller(project="~/nowhere")
    assert bad.value.details == {"project_id": "~/nowhere"}
