"""Settings: where they come from, which wins, and what happens to bad ones."""

import os
from pathlib import Path

import pytest

from retain.config import Settings, load, strict
from retain.errors import ConfigError

FILE = """---
deployment_mode: embedded-memory
max_memories_per_session: 7
log_level: debug
---
# Notes

```yaml
remote_url: ws://localhost:8000
remote_user: root
remote_pass: secret
```
"""


@pytest.fixture
def home(tmp_path):
    (tmp_path / ".claude").mkdir()
    return tmp_path


def loaded(home, given=None, **environment):
    return load(given, {"HOME": str(home), **environment}, folder=home / "nowhere")


def written(home, text=FILE, mode=0o600):
    path = home / ".claude" / "retain.local.md"
    path.write_text(text)
    path.chmod(mode)
    return path


def test_nothing_set_gives_the_defaults(home):
    assert loaded(home).settings == Settings()


def test_the_users_file_is_read_with_the_blocks_of_its_body(home):
    written(home)
    settings = loaded(home).settings
    assert (settings.deployment_mode, settings.max_memories_per_session) == ("embedded-memory", 7)
    assert (settings.remote_url, settings.remote_pass) == ("ws://localhost:8000", "secret")


def test_environment_beats_file_and_argument_beats_both(home):
    written(home)
    assert loaded(home, RETAIN_LOG_LEVEL="warn").settings.log_level == "warn"
    assert loaded(home, {"log_level": "error"}, RETAIN_LOG_LEVEL="warn").settings.log_level == "error"


def test_the_projects_file_beats_the_users(home, tmp_path):
    written(home)
    project = tmp_path / "project"
    (project / ".claude").mkdir(parents=True)
    (project / ".claude" / "retain.local.md").write_text("---\nlog_level: error\n---\n")
    assert loaded(home, CLAUDE_PROJECT_DIR=str(project)).settings.log_level == "error"


@pytest.mark.parametrize("variable", ["RETAIN_DB_PATH", "MEMORY_DB_PATH"])
def test_names_from_the_contracts_are_aliases(home, variable):
    assert loaded(home, **{variable: "/data/x.db"}).settings.db_path == Path("/data/x.db")


def test_another_file_can_be_named(home, tmp_path):
    other = tmp_path / "other.md"
    other.write_text("---\nlog_level: error\n---\n")
    other.chmod(0o600)
    assert loaded(home, MEMORY_CONFIG_PATH=str(other)).settings.log_level == "error"


def test_every_origin_is_known(home):
    path = written(home)
    origins = loaded(home, {"toolset": "scoped"}, RETAIN_STORE="sqlite").origins
    assert (origins["toolset"], origins["store"], origins["log_level"]) == ("argument", "RETAIN_STORE", str(path))


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("log_level", "loud", "allowed are debug, info, warn, error"),
        ("deployment_mode", "cloud", "allowed are embedded-memory"),
        ("toolset", "scoped,scooped", "no toolset scooped"),
        ("max_storage_mb", "-3", "must be above 0"),
        ("query_timeout", "soon", "must be a number"),
        ("consolidation_on_shutdown", "maybe", "allowed are true and false"),
    ],
)
def test_a_bad_value_is_told_and_the_default_used(home, name, value, said):
    found = loaded(home, {name: value})
    assert said in found.problems[0]
    assert getattr(found.settings, name) == getattr(Settings(), name)
    with pytest.raises(ConfigError, match=name):
        strict(found)


def test_an_unknown_key_is_told_with_the_one_that_was_meant(home):
    written(home, "---\nlog_lvel: info\n---\n")
    assert "did you mean log_level?" in loaded(home).problems[0]


def test_broken_yaml_is_told_and_the_rest_used(home):
    written(home, "---\nlog_level: [\n---\n\n```yaml\nuser_id: ada\n```\n")
    found = loaded(home)
    assert "not valid YAML" in found.problems[0]
    assert found.settings.user_id == "ada"


def test_a_file_that_others_can_read_is_told(home):
    written(home, mode=0o644)
    assert "chmod 600" in loaded(home).warnings[0]
    assert strict(loaded(home)).deployment_mode == "embedded-memory"


def test_a_path_without_an_ending_is_a_folder():
    assert Settings(db_path=Path("/data/memory")).database_file == Path("/data/memory/retain.db")
    assert Settings(db_path=Path("/data/memory.db")).database_file == Path("/data/memory.db")


def test_secrets_are_not_shown():
    shown = repr(Settings(remote_pass="hush", embedding_key="quiet"))
    assert "hush" not in shown
    assert "quiet" not in shown


def test_folders_come_as_in_path_or_as_a_list(home):
    expected = (Path("/srv/code"), Path("/opt/more"))
    assert loaded(home, RETAIN_INDEX_ROOTS=os.pathsep.join(map(str, expected))).settings.index_roots == expected
    written(home, "---\nindex_roots: [/srv/code, /opt/more]\n---\n")
    assert loaded(home).settings.index_roots == expected


def test_a_relative_folder_is_told_and_not_used(home):
    found = loaded(home, RETAIN_INDEX_ROOTS="code")
    assert (found.settings.index_roots, "absolute" in found.problems[0]) == ((), True)


def settings_file(folder, text):
    path = folder / ".claude" / "retain.local.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\n{text}\n---\n")
    path.chmod(0o600)
    return path


def test_a_projects_file_holds_in_every_folder_of_it(tmp_path):
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    deep = tmp_path / "shop" / "src" / "web"
    deep.mkdir(parents=True)
    settings_file(tmp_path / "shop", "capture: false")
    assert load(environment={"HOME": str(tmp_path)}, folder=deep).settings.capture is False
    settings_file(deep, "capture: true")
    assert load(environment={"HOME": str(tmp_path)}, folder=deep).settings.capture is True


def test_a_projects_file_holds_in_its_worktrees(tmp_path):
    main, tree = tmp_path / "shop", tmp_path / "shop-feature"
    git_dir = main / ".git" / "worktrees" / "feature"
    for folder in (git_dir, tree):
        folder.mkdir(parents=True)
    (git_dir / "commondir").write_text("../..\n")
    (git_dir / "gitdir").write_text(f"{tree / '.git'}\n")
    (tree / ".git").write_text(f"gitdir: {git_dir}\n")
    settings_file(main, "capture: false")
    assert load(environment={"HOME": str(tmp_path)}, folder=tree).settings.capture is False


@pytest.mark.parametrize("text", ["captur: false", "capture: [", "capture: perhaps", "log_level: loud"])
def test_while_a_settings_file_has_a_fault_nothing_is_captured(tmp_path, text):
    settings_file(tmp_path / "shop", text)
    loaded = load(environment={"HOME": str(tmp_path)}, folder=tmp_path / "shop")
    assert loaded.settings.capture is False
    assert "fault" in loaded.origins["capture"]
    asked = load({"capture": True}, environment={"HOME": str(tmp_path)}, folder=tmp_path / "shop")
    assert asked.settings.capture is True


def test_a_variable_with_a_fault_stops_no_capture(tmp_path):
    loaded = load(environment={"HOME": str(tmp_path), "RETAIN_LOG_LEVEL": "loud"}, folder=tmp_path / "shop")
    assert (loaded.settings.capture, len(loaded.problems)) == (True, 1)
