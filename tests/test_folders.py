"""Which project a folder belongs to, with a real git."""

import subprocess
from datetime import UTC, datetime

import pytest

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
