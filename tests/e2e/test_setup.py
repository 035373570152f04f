"""Ways to get it: `retain setup`, and the plugin from a clone of the repository."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from e2e.home import RETAIN
from e2e.messages_api import calls, tool

pytestmark = pytest.mark.e2e

REPOSITORY = Path(__file__).parents[2]
EVENTS = ["PreCompact", "SessionEnd", "SessionStart", "Stop", "UserPromptSubmit"]
DECISION = "We decided to use Postgres for the ledger because entries and balances must change in one transaction."


def files_of(home):
    """What the client's files say."""
    return {name: (home.folder / name).read_text() for name in (".claude/settings.json", ".claude.json")}


def test_setup_twice_leaves_everything_as_it_was_after_the_first_time(ada):
    first = files_of(ada)
    ada.connect()
    hooks = json.loads(first[".claude/settings.json"])["hooks"]
    assert files_of(ada) == first
    assert sorted(hooks) == EVENTS
    assert all(len(group["hooks"]) == 1 for groups in hooks.values() for group in groups)
    assert list(json.loads(first[".claude.json"])["mcpServers"]) == ["retain"]


@pytest.mark.slow
def test_each_hook_runs_once_after_setup_twice(ada, api):
    session = ada.connect().ask(api, "hello")
    assert sorted(hook.event for hook in session.hooks) == ["SessionStart", "Stop", "UserPromptSubmit"]


@pytest.mark.slow
def test_the_client_finds_the_server_in_good_health(ada):
    assert "✔ Connected" in ada.claude("mcp", "list")


@pytest.mark.slow
def test_settings_that_were_there_stay(homes, api):
    ada = homes()
    settings = ada.folder / ".claude" / "settings.json"
    settings.parent.mkdir()
    other = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}, "model": "opus"}
    settings.write_text(json.dumps(other))
    ada.connect()
    session = ada.ask(api, "hello")
    assert json.loads(settings.read_text())["model"] == "opus"
    assert sorted(hook.event for hook in session.hooks) == ["SessionStart", "Stop", "Stop", "UserPromptSubmit"]


@pytest.mark.slow
def test_after_teardown_the_client_is_as_it_came(ada, api):
    ada.ask(api, DECISION)
    ada.retain("teardown", "--yes")
    session = ada.ask(api, "which database?")
    assert session.hooks == []
    assert "Postgres" not in session.requests[0].whole
    assert "retain" not in ada.claude("mcp", "list")
    assert len(ada.memories()) == 1, "memories stay"


@pytest.mark.parametrize("what", ["plugin", "."], ids=["plugin", "marketplace"])
def test_the_client_finds_nothing_wrong_with_the_plugin(bare, what):
    assert "Validation passed" in bare.claude("plugin", "validate", "--strict", str(REPOSITORY / what))


@pytest.fixture
def with_plugin(homes):
    """The client with the plugin from a clone, and `retain` on the path."""
    ada = homes()
    ada.settings["PATH"] = f"{RETAIN.parent}:{ada.environment()['PATH']}"
    clone = ada.folder / "clone"
    shutil.copytree(REPOSITORY / "plugin", clone / "plugin")
    shutil.copytree(REPOSITORY / ".claude-plugin", clone / ".claude-plugin")
    for order in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=t", "-c", "user.email=t@e", "commit", "-qm", "first"],
    ):
        subprocess.run(["git", *order], cwd=clone, check=True, timeout=60)
    ada.claude("plugin", "marketplace", "add", str(clone))
    ada.claude("plugin", "install", "retain@retain")
    return ada


@pytest.mark.slow
def test_the_plugin_remembers_from_session_to_session(with_plugin, api):
    with_plugin.ask(api, DECISION)
    second = with_plugin.ask(api, "Where do the refunds go?")
    assert any("Postgres" in note.text for note in second.requests[0].notes)
    assert sorted(hook.event for hook in second.hooks) == ["SessionStart", "Stop", "UserPromptSubmit"]


@pytest.mark.slow
def test_the_plugin_has_the_tools(with_plugin, api):
    fact = {"content": "The tax rounds half to even", "type": "semantic", "scope": "project"}
    api.answering(calls(tool("mcp__plugin_retain_retain__store_memory", **fact)), "Stored.")
    first = with_plugin.ask(api, "store it")
    assert '"memory_id":"memory:' in first.requests[-1].last_result


@pytest.mark.slow
def test_setup_beside_the_plugin_doubles_nothing(with_plugin, api):
    session = with_plugin.connect().ask(api, "hello")
    assert sorted(hook.event for hook in session.hooks) == ["SessionStart", "Stop", "UserPromptSubmit"]


@pytest.mark.slow
def test_the_plugin_without_retain_on_the_machine_is_no_trouble(homes, api):
    """Somebody may install the plugin first."""
    ada = homes()
    ada.settings["PATH"] = "/usr/bin:/bin"
    api.answering("An answer.")
    with ada.session(api, arguments=("--plugin-dir", str(REPOSITORY / "plugin"))) as session:
        answer = session.say("hello")
    assert answer.text == "An answer."
    assert answer.seconds < 20


@pytest.mark.slow
def test_a_project_that_wants_it_has_the_summary_in_its_own_file_and_is_not_told_twice(ada, api):
    ada.retain("init", "--yes", "--claude-md")
    ada.ask(api, DECISION)
    assert "Postgres" in (ada.project() / "CLAUDE.md").read_text()
    second = ada.ask(api, "which database?")
    assert second.requests[0].whole.count("use Postgres for the ledger") == 1
