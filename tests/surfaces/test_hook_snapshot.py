"""Settings as hooks see them: those in force, without reading them anew, and never a secret."""

import json
from pathlib import Path

import pytest

from approving import approve
from retain.config import load
from retain.surfaces.hooks import snapshot
from surfaces.waiting import until


@pytest.fixture
def shop(tmp_path, monkeypatch):
    for name in ("CLAUDE_PROJECT_DIR", "RETAIN_CONFIG_PATH", "MEMORY_CONFIG_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("RETAIN_HOME", str(tmp_path / "home"))
    (tmp_path / "shop" / ".claude").mkdir(parents=True)
    return tmp_path / "shop"


def kept(shop):
    return sorted((shop.parent / "home" / "run" / "settings").glob("*.json"))


def write(shop, text):
    path = shop / ".claude" / "retain.local.md"
    path.write_text(f"---\n{text}\n---\n")
    path.chmod(0o600)
    approve(path, Path(snapshot.first_home()))


def test_they_are_what_the_settings_are(shop):
    write(shop, "inject_tokens: 700\nuser_id: ana\ncapture: false")
    settings, problems = snapshot.settings_for(str(shop))
    assert problems == ()
    assert (settings["inject_tokens"], settings["user_id"], settings["capture"]) == (700, "ana", False)
    assert settings["database_file"] == str(shop.parent / "home" / "retain.db")


def test_they_are_read_once_and_then_from_the_file(shop):
    snapshot.settings_for(str(shop))
    (file,) = kept(shop)
    file.write_text(file.read_text().replace('"inject_tokens":1500', '"inject_tokens":7'))
    assert snapshot.settings_for(str(shop))[0]["inject_tokens"] == 7


@pytest.mark.parametrize("change", ["inject_tokens: 200", "user_id: bo", ""])
def test_a_changed_settings_file_counts_at_once(shop, change):
    write(shop, "inject_tokens: 100")
    snapshot.settings_for(str(shop))
    write(shop, change)
    settings = snapshot.settings_for(str(shop))[0]
    assert settings["inject_tokens"] == load(folder=shop).settings.inject_tokens
    assert settings["user_id"] == load(folder=shop).settings.user_id


def test_a_settings_file_that_goes_or_comes_counts_at_once(shop):
    write(shop, "inject_tokens: 100")
    assert snapshot.settings_for(str(shop))[0]["inject_tokens"] == 100
    (shop / ".claude" / "retain.local.md").unlink()
    assert snapshot.settings_for(str(shop))[0]["inject_tokens"] == 1500
    write(shop, "inject_tokens: 300")
    assert snapshot.settings_for(str(shop))[0]["inject_tokens"] == 300


def test_another_environment_has_its_own(shop, monkeypatch):
    assert snapshot.settings_for(str(shop))[0]["capture"] is True
    monkeypatch.setenv("RETAIN_CAPTURE", "off")
    assert snapshot.settings_for(str(shop))[0]["capture"] is False
    monkeypatch.delenv("RETAIN_CAPTURE")
    assert snapshot.settings_for(str(shop))[0]["capture"] is True
    assert len(kept(shop)) == 2


def test_another_folder_has_its_own(shop, tmp_path):
    (tmp_path / "other").mkdir()
    write(shop, "user_id: ana")
    assert snapshot.settings_for(str(shop))[0]["user_id"] == "ana"
    assert snapshot.settings_for(str(tmp_path / "other"))[0]["user_id"] == ""


def test_a_home_that_a_settings_file_names_is_the_home(shop, tmp_path, monkeypatch):
    monkeypatch.delenv("RETAIN_HOME")
    write(shop, f"home: {tmp_path / 'elsewhere'}")
    settings = snapshot.settings_for(str(shop))[0]
    assert settings["home"] == str(tmp_path / "elsewhere")
    assert settings["database_file"] == str(tmp_path / "elsewhere" / "retain.db")


def test_secrets_are_neither_in_the_file_nor_in_its_name(shop, monkeypatch):
    snapshot.settings_for(str(shop))
    before = kept(shop)
    for name in ("RETAIN_LLM_KEY", "RETAIN_REMOTE_PASS", "RETAIN_EMBEDDING_KEY"):
        monkeypatch.setenv(name, "hunter2-hunter2")
    before[0].unlink()
    snapshot.settings_for(str(shop))
    assert kept(shop) == before
    assert "hunter2" not in before[0].read_text()


def test_bad_settings_are_told_once_and_the_rest_holds(shop):
    write(shop, "inject_tokens: soon\nuser_id: ana")
    settings, problems = snapshot.settings_for(str(shop))
    assert "inject_tokens is 'soon'" in problems[0]
    assert (settings["inject_tokens"], settings["user_id"]) == (1500, "ana")
    assert snapshot.settings_for(str(shop))[1] == ()


@pytest.mark.parametrize("damage", ["", "{", "[]", "null", '{"version": 1}', '{"sources": 3}', '{"sources": [7, []]}'])
def test_a_damaged_snapshot_is_made_anew(shop, damage):
    snapshot.settings_for(str(shop))
    kept(shop)[0].write_text(damage)
    assert snapshot.settings_for(str(shop))[0]["inject_tokens"] == 1500
    assert json.loads(kept(shop)[0].read_text())["settings"]["inject_tokens"] == 1500


def test_one_of_another_version_of_retain_is_made_anew(shop):
    snapshot.settings_for(str(shop))
    file = kept(shop)[0]
    file.write_text(file.read_text().replace('"version":"', '"version":"0.0.').replace("1500", "7"))
    assert snapshot.settings_for(str(shop))[0]["inject_tokens"] == 1500


def test_a_home_that_cannot_be_written_to_is_told_and_done_without(shop, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("RETAIN_HOME", str(tmp_path / "file" / "home"))
    settings, problems = snapshot.settings_for(str(shop))
    assert settings["inject_tokens"] == 1500
    assert "cannot be kept" in problems[0]


def test_old_ones_are_dropped(shop, monkeypatch):
    for number in range(snapshot.MOST_KEPT + 5):
        monkeypatch.setenv("RETAIN_USER_ID", f"u{number}")
        snapshot.keep(load(folder=shop), str(shop))
    assert len(kept(shop)) == snapshot.MOST_KEPT
    assert snapshot.settings_for(str(shop))[0]["user_id"] == f"u{snapshot.MOST_KEPT + 4}"


def test_the_one_that_a_server_keeps_is_the_one_that_hooks_find(shop):
    snapshot.keep(load(folder=shop), str(shop))
    (file,) = kept(shop)
    file.write_text(file.read_text().replace("1500", "7"))
    assert snapshot.settings_for(str(shop))[0]["inject_tokens"] == 7


def test_a_hook_reads_settings_files_although_it_starts_without_packages(client):
    (client.shop / ".claude").mkdir()
    write(client.shop, "capture: false")
    client("Stop", client.sample("Stop"))
    assert client.spooled() == []
    assert [line for line in client.log() if "error" in line] == []


def test_a_server_keeps_the_snapshot_fresh(servers, tmp_path):
    (tmp_path / "shop").mkdir(exist_ok=True)
    servers().hello()
    (file,) = until(lambda: list(tmp_path.glob("**/run/settings/*.json")))
    assert json.loads(file.read_text())["settings"]["capture"] is True


def test_a_fault_in_the_settings_is_told_to_the_user_and_nothing_is_captured(client):
    path = client.shop / ".claude" / "retain.local.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\ncaptur: false\n---\n")
    path.chmod(0o600)
    answer = client("SessionStart", client.sample("SessionStart.startup")).answer
    assert "did you mean capture?" in answer["systemMessage"]
    assert client("Stop", client.sample("Stop")).answer == {}
    assert client.spooled() == []


def test_where_settings_cannot_be_read_at_all_nothing_is_captured_or_shown(shop, monkeypatch):
    monkeypatch.setenv("RETAIN_CONFIG_PATH", "~nosuchuser/settings.md")
    settings, problems = snapshot.settings_for(str(shop))
    assert (settings["capture"], settings["inject"]) == (False, False)
    assert "cannot be read" in problems[0] and "cannot be read" in str(settings["fault"])
