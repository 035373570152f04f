"""What a settings file in a project's folder may set: what is harmless, and the rest only when its user has said so."""

import os
import subprocess
from dataclasses import fields
from pathlib import Path

import pytest

from approving import approve
from retain.approvals import Verdict, decisions, revoke
from retain.config import Settings, apart, load, strict
from retain.errors import ConfigError
from retain.setting_kinds import KINDS, Kind
from retain.settings import READERS

# For every setting that is not free, a value that somebody's own settings do not have.
HOSTILE = {
    "home": "/tmp/theirs",
    "toolset": "all",
    "store": "surrealdb",
    "deployment_mode": "remote",
    "db_path": "/tmp/theirs.db",
    "remote_url": "ws://theirs.example",
    "remote_user": "theirs",
    "remote_pass": "theirs",
    "namespace": "theirs",
    "database": "theirs",
    "project_dir": "/tmp/another",
    "session_id": "theirs",
    "user_id": "theirs",
    "agent": "theirs",
    "embedding_model": "off",
    "embedding_dimensions": 3,
    "embedding_url": "http://theirs.example",
    "embedding_key": "theirs-0123",
    "index_roots": "/",
    "llm": "openai",
    "llm_model": "theirs",
    "llm_url": "https://theirs.example",
    "llm_key": "theirs-0123",
    "llm_daily_usd": 500,
    "capture": True,
    "inject": True,
    "inject_tokens": 2000,
    "prompt_tokens": 100_000,
    "claude_md": True,
    "agents_md": True,
    "claude_md_lines": 4000,
    "consolidation_on_shutdown": True,
    "max_storage_mb": 1,
    "query_timeout": 0.0001,
}
# What the user has chosen, so that every value above is more than that.
OWN = "capture: false\ninject: false\nconsolidation_on_shutdown: false\n"


@pytest.fixture
def user(tmp_path):
    (tmp_path / "user" / ".claude").mkdir(parents=True)
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    return tmp_path / "user"


def put(folder, text, name="retain.local.md"):
    path = folder / ".claude" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\n{text}\n---\n")
    path.chmod(0o600)
    return path


def loaded(user, folder=None, **environment):
    env = {"HOME": str(user), "RETAIN_HOME": str(user / ".retain"), **environment}
    return load(environment=env, folder=folder or user.parent / "shop")


def test_every_setting_is_of_a_kind():
    assert set(KINDS) == {field.name for field in fields(Settings)}


def test_every_setting_that_is_not_free_is_tried_here():
    assert set(HOSTILE) == {name for name, entry in KINDS.items() if entry.kind is not Kind.FREE}


@pytest.mark.parametrize("name", [name for name in HOSTILE if name != "home"])
def test_what_a_projects_file_asks_for_is_used_only_with_approval(user, name):
    put(user, OWN)
    file = put(user.parent / "shop", f"{name}: {HOSTILE[name]}")
    before = loaded(user)
    assert getattr(before.settings, name) == getattr(before.base, name) != READERS.get(name, str)(HOSTILE[name])
    assert list(before.project_file.asks) == [name]
    assert all(said in before.problems[0] for said in (str(file), name, "`retain trust`"))
    assert before.is_held is (KINDS[name].kind is Kind.PLACE)
    if KINDS[name].kind is Kind.LESS:  # a program goes on with less
        assert strict(before) == before.settings
    else:
        with pytest.raises(ConfigError, match="retain trust"):
            strict(before)
    approve(file, user / ".retain")
    after = loaded(user)
    assert (getattr(after.settings, name), after.origins[name]) == (
        READERS.get(name, str)(HOSTILE[name]),
        str(file),
    )
    assert (after.problems, after.is_held) == ((), False)


def test_a_home_that_a_project_names_takes_approval_in_the_users_own(user):
    file = put(user.parent / "shop", "home: /tmp/theirs")
    found = load(environment={"HOME": str(user)}, folder=user.parent / "shop")
    assert (found.settings.home, found.is_held) == (Settings().home, True)
    assert found.project_file.kept_in == Settings().home.expanduser()
    assert file == found.project_file.path


@pytest.mark.parametrize(
    "text",
    ["capture: false", "inject: false", "claude_md: false", "llm: none", "llm_daily_usd: 0", "inject_tokens: 100"],
)
def test_less_than_the_user_has_needs_nobodys_word(user, text):
    put(user, "llm: claude-cli\nclaude_md: true\n")
    put(user.parent / "shop", text)
    found = loaded(user)
    name, _, value = text.partition(": ")
    assert (found.problems, getattr(found.settings, name)) == ((), READERS[name](value))


def test_what_holds_anyway_needs_nobodys_word(user):
    put(user, "user_id: ada\nremote_url: ws://team.example\n")
    put(user.parent / "shop", "user_id: ada\nremote_url: ws://team.example\nlog_level: debug\n")
    found = loaded(user)
    assert (found.problems, found.is_held, found.settings.log_level) == ((), False, "debug")


def test_what_the_environment_says_needs_nobodys_word(user):
    put(user.parent / "shop", "db_path: /tmp/theirs.db")
    found = loaded(user, RETAIN_DB_PATH="/tmp/mine.db")
    assert (found.settings.db_path, found.is_held, found.problems) == (Path("/tmp/mine.db"), False, ())


@pytest.mark.parametrize("umask", [0o077, 0o022])
def test_a_clone_is_nobodys_word_whatever_its_mode(user, umask):
    theirs, here = user.parent / "theirs", user.parent / "clone"
    put(theirs, "embedding_url: http://theirs.example\nproject_dir: /tmp/another\nindex_roots: /\nclaude_md: true")
    git(theirs, "init", "-q")
    git(theirs, "add", "-f", ".claude")
    git(theirs, "commit", "-qm", "Settings")
    before = os.umask(umask)
    try:
        git(user, "clone", "-q", str(theirs), str(here))
    finally:
        os.umask(before)
    found = loaded(user, here)
    defaults = Settings()
    for name in ("embedding_url", "project_dir", "index_roots", "claude_md"):
        assert getattr(found.settings, name) == getattr(defaults, name)
    assert (set(found.project_file.asks), found.is_held) == (
        {"embedding_url", "project_dir", "index_roots", "claude_md"},
        True,
    )


def git(folder, *words):
    env = {**apart(folder), "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    who = ["-c", "user.name=Ana", "-c", "user.email=ana@example.com"]
    subprocess.run(["git", *who, *words], cwd=folder, env=env, check=True, capture_output=True)


def test_any_change_of_the_file_needs_approval_anew(user):
    file = put(user.parent / "shop", "user_id: ana")
    approve(file, user / ".retain")
    assert loaded(user).settings.user_id == "ana"
    file.write_text(file.read_text() + "\n")
    assert (loaded(user).settings.user_id, loaded(user).is_held) == ("", True)


def test_the_same_text_in_another_place_needs_approval_of_its_own(user):
    approve(put(user.parent / "shop", "user_id: ana"), user / ".retain")
    (user.parent / "other" / ".git").mkdir(parents=True)
    put(user.parent / "other", "user_id: ana")
    assert loaded(user, user.parent / "other").is_held


def test_what_was_refused_is_not_used_and_nobody_is_asked_again(user):
    file = put(user.parent / "shop", "user_id: ana\nlog_level: warn")
    approve(file, user / ".retain", Verdict.REFUSED)
    found = loaded(user)
    assert (found.settings.user_id, found.settings.log_level) == ("", "warn")
    assert (found.problems, found.is_held) == ((), False)


def test_a_decision_is_kept_for_its_user_alone_and_can_be_taken_back(user):
    file = put(user.parent / "shop", "user_id: ana")
    approve(file, user / ".retain")
    (kept,) = (user / ".retain" / "trust").iterdir()
    assert (kept.stat().st_mode & 0o777, kept.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert [one.content.path for one in decisions(user / ".retain")] == [os.path.realpath(file)]
    assert revoke(user / ".retain", os.path.realpath(file)) == 1
    assert loaded(user).is_held


def test_a_home_in_the_project_approves_nothing_in_it(user):
    """It may have come with the project, decisions and all."""
    shop = user.parent / "shop"
    file = put(shop, "user_id: ana")
    approve(file, shop / "home")
    found = loaded(user, RETAIN_HOME=str(shop / "home"))
    assert (found.is_held, found.project_file.kept_in) == (True, user / ".retain")
    approve(file, user / ".retain")
    assert loaded(user, RETAIN_HOME=str(shop / "home")).settings.user_id == "ana"


@pytest.mark.parametrize("linked", [".claude", ".claude/retain.local.md"])
def test_a_link_out_of_the_project_is_not_followed(user, linked):
    elsewhere = put(user.parent / "elsewhere", "log_level: debug\nuser_id: ana")
    link = user.parent / "shop" / linked
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(elsewhere.parent if linked == ".claude" else elsewhere)
    found = loaded(user)
    assert (found.settings.log_level, found.settings.user_id) == ("info", "")
    assert "leads out of the project" in found.problems[0]


def test_a_link_within_the_project_is_followed(user):
    shop = user.parent / "shop"
    put(shop / "config", "log_level: debug")
    (shop / ".claude").symlink_to(shop / "config" / ".claude")
    assert (loaded(user).settings.log_level, loaded(user).problems) == ("debug", ())


def test_in_the_home_folder_the_users_own_file_is_the_users_own(user):
    put(user, "user_id: ana\nllm: claude-cli")
    found = loaded(user, user)
    assert (found.settings.user_id, found.settings.llm, found.problems) == ("ana", "claude-cli", ())


def test_yaml_that_would_grow_beyond_all_bounds_is_told_at_once(user):
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    lines += [
        f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]"
        for old, new in zip("abcdefghijkl", "bcdefghijklm", strict=True)
    ]
    put(user.parent / "shop", "\n".join([*lines, "log_level: *m"]))
    found = loaded(user)
    assert (found.settings.log_level, any("log_level" in told for told in found.problems)) == ("info", True)


def test_a_file_beyond_all_bounds_is_not_read(user):
    put(user.parent / "shop", "log_level: debug\n" + "# long\n" * 50_000)
    assert (loaded(user).settings.log_level, "bytes" in loaded(user).problems[0]) == ("info", True)


# The user's own file


def test_the_file_of_the_contract_is_read_where_ours_is_not_there(user):
    put(user, "deployment_mode: embedded-memory", "surrealdb-memory.local.md")
    assert loaded(user).settings.deployment_mode == "embedded-memory"
    put(user, "log_level: debug")
    assert (loaded(user).settings.deployment_mode, loaded(user).settings.log_level) == ("embedded-file", "debug")


@pytest.mark.parametrize("variable", ["MEMORY_CONFIG_PATH", "RETAIN_CONFIG_PATH"])
def test_a_file_that_was_named_and_is_not_there_is_told_for_as_long_as_it_is_so(user, variable):
    named = user / "mispelt.md"
    found = loaded(user, **{variable: str(named)})
    assert all(said in found.problems[0] for said in (variable, str(named), "no such file"))
    with pytest.raises(ConfigError, match=variable):
        strict(found)
    named.write_text("---\nlog_level: debug\n---\n")
    named.chmod(0o600)
    again = loaded(user, **{variable: str(named)})
    assert (again.problems, again.settings.log_level) == ((), "debug")


def test_naming_the_usual_place_before_there_is_a_file_is_no_fault(user):
    """As the example of the contract does."""
    put(user, "log_level: debug")
    usual = user / ".claude" / "surrealdb-memory.local.md"
    found = loaded(user, MEMORY_CONFIG_PATH=str(usual))
    assert (found.problems, found.settings.log_level) == ((), "debug")
