"""The plugin: its files agree with the package, and its launcher does no harm without Retain."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from retain.clients import launcher
from retain.clients.claude_code import EVENTS, PLUGIN, SOURCES
from retain.clients.known import Machine
from retain.surfaces.mcp.toolsets.default import tools
from retain.version import __version__
from surfaces.command import Command

ROOT = Path(__file__).parents[2]
PLUGIN_FOLDER = ROOT / "plugin"
LAUNCHER = PLUGIN_FOLDER / "scripts" / "retain.sh"
# The tools that a shell script needs, without any Retain that this machine may have.
PATH = "/usr/bin:/bin"


def read(path):
    return json.loads((ROOT / path).read_text())


def launch(home, *words, **env):
    command = ["sh", str(LAUNCHER), *words]
    given = {"PATH": PATH, "HOME": str(home), **env}
    return subprocess.run(command, env=given, input='{"session_id": "s"}', capture_output=True, text=True, check=False)


def installed(folder):
    """A Retain that says how it was called; an installer writes into it what it starts."""
    command = folder / "retain"
    command.parent.mkdir(parents=True, exist_ok=True)
    command.write_text('#!/bin/sh\n# from retain.__main__ import main\necho "called $*"\n')
    command.chmod(0o755)
    return command


def note(home, text):
    home.mkdir(exist_ok=True)
    (home / "command").write_text(text)


def test_the_marketplace_offers_this_version():
    (offered,) = read(".claude-plugin/marketplace.json")["plugins"]
    plugin = read("plugin/.claude-plugin/plugin.json")
    assert (offered["name"], plugin["name"]) == (PLUGIN, PLUGIN)
    assert (offered["version"], plugin["version"]) == (__version__, __version__)
    assert (ROOT / offered["source"]).resolve() == PLUGIN_FOLDER


def test_the_hooks_are_those_that_setup_registers():
    hooks = read("plugin/hooks/hooks.json")["hooks"]
    assert {event: group["hooks"][0]["timeout"] for event, (group,) in hooks.items()} == EVENTS
    assert hooks["SessionStart"][0]["matcher"] == SOURCES
    assert all(group["hooks"][0]["args"][1:] == ["hook", event] for event, (group,) in hooks.items())


@pytest.mark.parametrize("page", sorted(PLUGIN_FOLDER.glob("commands/*.md")), ids=lambda page: page.stem)
def test_every_tool_that_a_command_names_is_there(page):
    named = re.findall(r"mcp__plugin_retain_retain__(\w+)", page.read_text())
    assert named and set(named) <= {tool.name for tool in tools.tools}


def test_every_tool_that_the_skill_names_is_there():
    named = re.findall(r"`(\w+_\w+)`", (PLUGIN_FOLDER / "skills" / "memory" / "SKILL.md").read_text())
    assert named and set(named) <= {tool.name for tool in tools.tools}


@pytest.mark.parametrize("event", EVENTS)
def test_without_retain_a_hook_answers_nothing(tmp_path, event):
    done = launch(tmp_path, "hook", event)
    assert (done.returncode, done.stdout, done.stderr) == (0, "{}\n", "")


def test_without_retain_the_first_session_is_told_how_to_install_it_and_later_ones_are_not(tmp_path):
    data = str(tmp_path / "data")
    first, second = (launch(tmp_path, "hook", "SessionStart", CLAUDE_PLUGIN_DATA=data) for _ in range(2))
    assert "pipx install ." in json.loads(first.stdout)["systemMessage"]
    assert (first.returncode, second.returncode, second.stdout) == (0, 0, "{}\n")


def test_a_data_folder_that_cannot_be_made_is_no_trouble(tmp_path):
    (tmp_path / "file").touch()
    done = launch(tmp_path, "hook", "SessionStart", CLAUDE_PLUGIN_DATA=str(tmp_path / "file" / "data"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "{}\n", "")


def test_without_retain_the_server_says_what_is_missing(tmp_path):
    done = launch(tmp_path, "serve")
    assert done.returncode == 127 and done.stdout == "" and "not installed" in done.stderr


@pytest.mark.parametrize("place", ["named", "path", ".local/bin"])
def test_retain_is_found(tmp_path, place):
    command = installed(tmp_path / "my tools" / place)
    env = {"named": {"RETAIN_COMMAND": str(command)}, "path": {"PATH": f"{command.parent}{os.pathsep}{PATH}"}}
    done = launch(tmp_path / "my tools", "hook", "Stop", **env.get(place, {}))
    assert done.stdout == "called hook Stop\n"


@pytest.mark.parametrize("place", ["path", ".local/bin", "noted"])
def test_a_program_that_deletes_files_is_never_started_for_its_name(tmp_path, place):
    stranger = installed(tmp_path / place)
    stranger.write_text("#!/bin/sh\n# from retain import main\necho deleted\n")
    if place == "noted":
        note(tmp_path / ".retain", f"{stranger}\n")
    env = {"PATH": f"{stranger.parent}{os.pathsep}{PATH}"} if place == "path" else {}
    done = launch(tmp_path, "serve", **env)
    assert (done.returncode, done.stdout) == (127, "")
    assert launcher.found(Machine(tmp_path, "linux", env)) is None


def test_the_name_that_is_ours_alone_is_looked_for_first(tmp_path):
    installed(tmp_path / ".local" / "bin").rename(tmp_path / ".local" / "bin" / "retain-mcp")
    assert launch(tmp_path, "serve").stdout == "called serve\n"
    assert launcher.found(Machine(tmp_path, "linux", {})) == str(tmp_path / ".local" / "bin" / "retain-mcp")


def test_the_named_command_goes_before_the_one_on_the_path(tmp_path):
    named, other = installed(tmp_path / "a"), installed(tmp_path / "b")
    named.write_text("#!/bin/sh\necho named\n")
    done = launch(tmp_path, "serve", RETAIN_COMMAND=str(named), PATH=f"{other.parent}{os.pathsep}{PATH}")
    assert done.stdout == "named\n"


def test_what_setup_noted_goes_before_the_path(tmp_path):
    noted, other = installed(tmp_path / "my tools"), installed(tmp_path / "b")
    other.write_text("#!/bin/sh\necho other\n")
    note(tmp_path / ".retain", f"{noted}\n")
    done = launch(tmp_path, "hook", "Stop", PATH=f"{other.parent}{os.pathsep}{PATH}")
    assert done.stdout == "called hook Stop\n"


@pytest.mark.parametrize("home", ["elsewhere", "~/elsewhere"])
def test_a_note_is_looked_for_in_a_home_that_was_moved(tmp_path, home):
    note(tmp_path / "elsewhere", f"{installed(tmp_path / 'a')}\n")
    place = home if home.startswith("~") else str(tmp_path / home)
    assert launch(tmp_path, "serve", RETAIN_HOME=place).stdout == "called serve\n"


def test_a_note_may_name_a_python_and_the_module(tmp_path):
    note(tmp_path / ".retain", f"{installed(tmp_path / 'my tools')} -m retain\n")
    assert launch(tmp_path, "hook", "Stop").stdout == "called -m retain hook Stop\n"


@pytest.mark.parametrize("text", ["", "\n", "/gone/retain\n", "/gone/python -m retain\n", "/no newline"])
def test_a_note_that_leads_nowhere_is_passed_over(tmp_path, text):
    note(tmp_path / ".retain", text)
    assert launch(tmp_path, "hook", "Stop").stdout == "{}\n"
    installed(tmp_path / ".local" / "bin")
    assert launch(tmp_path, "hook", "Stop").stdout == "called hook Stop\n"


def test_who_has_no_retain_on_the_path_is_told_of_setup(tmp_path):
    assert "run retain setup once" in launch(tmp_path, "serve").stderr


class TestSetupBesideThePlugin:
    """The command is nowhere on the path, as in a virtual environment."""

    @pytest.fixture
    def user(self, tmp_path):
        command = Command.in_folder(tmp_path)
        settings = tmp_path / "user" / ".claude" / "settings.json"
        settings.parent.mkdir()
        settings.write_text('{"enabledPlugins": {"retain@retain": true}}')
        return command

    def clients(self, user):
        checks = user.process("doctor", "--json", PATH="").body["checks"]
        return {check["note"]: check["state"] for check in checks if check["area"] == "clients"}

    def test_the_launcher_finds_the_installation_that_setup_ran_from(self, user):
        assert user.process("setup", "--yes", PATH="").code == 0
        place = user.home / "command"
        assert place.stat().st_mode & 0o777 == 0o600 and len(place.read_text().splitlines()) == 1
        sources = {"RETAIN_HOME": str(user.home), "PYTHONPATH": str(ROOT / "src")}
        assert __version__ in launch(user.folder / "user", "--version", **sources).stdout

    def test_the_doctor_says_when_the_launcher_finds_nothing(self, user):
        before = self.clients(user)
        user.process("setup", "--yes", PATH="")
        after = self.clients(user)
        assert [state for note, state in before.items() if "finds no command" in note] == ["fail"]
        assert [state for note, state in after.items() if "plugin is enabled and starts" in note] == ["ok"]

    def test_a_virtual_environment_on_the_path_is_only_on_this_one(self, user, tmp_path):
        command = installed(tmp_path / "venv" / "bin")
        (tmp_path / "venv" / "pyvenv.cfg").touch()
        machine = Machine(tmp_path / "user", "linux", {"PATH": str(command.parent)})
        assert launcher.found(machine) is None
        (tmp_path / "venv" / "pyvenv.cfg").unlink()
        assert launcher.found(machine) == str(command)

    def test_teardown_removes_the_note_that_setup_wrote(self, user):
        user.process("setup", "--yes", PATH="")
        user.process("teardown", "--yes", "--client", "cursor", PATH="")
        assert (user.home / "command").exists()
        user.process("teardown", "--yes", PATH="")
        assert not (user.home / "command").exists()

    def test_teardown_leaves_a_note_that_somebody_else_wrote(self, user):
        user.process("setup", "--yes", PATH="")
        note(user.home, "/opt/retain\n")
        user.process("teardown", "--yes", PATH="")
        assert (user.home / "command").read_text() == "/opt/retain\n"

    def test_a_dry_run_tells_of_the_note_and_writes_none(self, user):
        done = user.process("setup", "--dry-run", PATH="")
        assert str(user.home / "command") in done.out and done.out.endswith("\nnothing was changed\n")
        assert not user.home.exists()
