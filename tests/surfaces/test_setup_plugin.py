"""The plugin: its files agree with the package, and its launcher does no harm without Retain."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from retain.clients.claude_code import EVENTS, PLUGIN, SOURCES
from retain.surfaces.mcp.toolsets.default import tools
from retain.version import __version__

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
    """A Retain that says how it was called."""
    command = folder / "retain"
    command.parent.mkdir(parents=True, exist_ok=True)
    command.write_text('#!/bin/sh\necho "called $*"\n')
    command.chmod(0o755)
    return command


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


def test_the_named_command_goes_before_the_one_on_the_path(tmp_path):
    named, other = installed(tmp_path / "a"), installed(tmp_path / "b")
    named.write_text("#!/bin/sh\necho named\n")
    done = launch(tmp_path, "serve", RETAIN_COMMAND=str(named), PATH=f"{other.parent}{os.pathsep}{PATH}")
    assert done.stdout == "named\n"
