"""`retain setup --statusline`: registered where none is set, never in the place of another, and taken back exactly."""

import json
import subprocess
import sys

import pytest

from retain.clients.status_line import is_ours
from surfaces.command import Command
from surfaces.test_setup_clients import User

SETTINGS = ".claude/settings.json"
ANOTHERS = {"type": "command", "command": "~/bin/line.sh", "padding": 1}


@pytest.fixture
def user(tmp_path):
    return User(Command.in_folder(tmp_path)).has(".claude")


def line(user):
    return json.loads(user.file(SETTINGS).read_text()).get("statusLine")


def test_what_is_registered_is_a_command_that_a_shell_runs(user):
    assert user("setup", "--yes", "--statusline").code == 0
    assert line(user)["type"] == "command"
    env = {"HOME": str(user.home), "RETAIN_HOME": str(user.command.home), "PATH": "/usr/bin:/bin"}
    said = json.dumps({"workspace": {"project_dir": str(user.command.project)}})
    options = {"shell": True, "env": env, "input": said, "capture_output": True, "text": True}
    done = subprocess.run(line(user)["command"], check=False, **options)
    assert (done.returncode, done.stdout, done.stderr) == (0, "retain: nothing remembered yet\n", "")


def test_without_being_asked_for_there_is_none(user):
    user("setup", "--yes")
    assert line(user) is None


def test_it_stays_until_it_is_taken_out(user):
    user("setup", "--yes", "--statusline")
    before = user.file(SETTINGS).read_bytes()
    user("setup", "--yes")
    assert user.file(SETTINGS).read_bytes() == before
    user("setup", "--yes", "--no-statusline")
    assert line(user) is None and user.hooks()


@pytest.mark.parametrize("arguments", [("--statusline",), ("--no-statusline",), ()])
def test_anothers_status_line_is_never_touched(user, arguments):
    user.file(SETTINGS, json.dumps({"statusLine": ANOTHERS}))
    done = user("setup", "--yes", *arguments)
    assert (done.code, line(user)) == (0, ANOTHERS)
    assert ("another status line" in done.out) == ("--statusline" in arguments)
    user("teardown", "--yes")
    assert json.loads(user.file(SETTINGS).read_text()) == {"statusLine": ANOTHERS}


@pytest.mark.parametrize("text", ['{\n\t"model": "opus"\n}', '{"a": [1, 2]}\r\n', "{}", None])
def test_teardown_gives_back_the_very_bytes_of_before(user, text):
    if text is not None:
        user.file(SETTINGS, text)
    before = user.everything()
    assert user("setup", "--yes", "--statusline").code == 0
    assert user("teardown", "--yes").code == 0
    assert user.everything() == before


def test_teardown_takes_out_ours_alone_where_the_file_changed_since(user):
    user("setup", "--yes", "--statusline")
    data = json.loads(user.file(SETTINGS).read_text())
    user.file(SETTINGS, json.dumps({**data, "model": "opus", "statusLine": {**data["statusLine"], "padding": 2}}))
    assert user("teardown", "--yes").code == 0
    assert json.loads(user.file(SETTINGS).read_text()) == {"model": "opus"}


def test_an_older_installation_of_ours_is_brought_up_to_date_and_keeps_what_was_added(user):
    old = {"type": "command", "command": "/gone/python -I -S /gone/retain/surfaces/hooks/entry.py statusline"}
    user.file(SETTINGS, json.dumps({"statusLine": old | {"padding": 2}}))
    told = [check for check in user("doctor", "--json").body["checks"] if "status line" in check["note"]]
    assert [check["state"] for check in told] == ["fail"]
    user("setup", "--yes")
    assert (line(user)["padding"], sys.executable in line(user)["command"]) == (2, True)
    told = [check for check in user("doctor", "--json").body["checks"] if "status line" in check["note"]]
    assert [check["state"] for check in told] == ["ok"]


def test_a_dry_run_shows_it_and_changes_nothing(user):
    before = user.everything()
    done = user("setup", "--dry-run", "--statusline")
    assert "statusLine" in done.out and user.everything() == before


def test_beside_the_plugin_it_is_registered_all_the_same(user):
    user.file(SETTINGS, '{"enabledPlugins": {"retain@retain": true}}')
    user("setup", "--yes", "--statusline")
    assert is_ours(line(user)) and "hooks" not in json.loads(user.file(SETTINGS).read_text())


def test_other_clients_have_none(user):
    done = user.has(".cursor")("setup", "--yes", "--client", "cursor", "--statusline")
    assert (done.code, "only Claude Code has one" in done.out) == (0, True)


@pytest.mark.parametrize(
    ("command", "ours"),
    [
        ("'/a b/python' -I -S '/a b/retain/surfaces/hooks/entry.py' statusline", True),
        ('"C:\\py\\python.exe" -I -S C:\\retain\\surfaces\\hooks\\entry.py statusline', True),
        ("retain statusline", True),
        ("/opt/bin/retain-mcp statusline", True),
        ("~/line.sh; echo retain", False),
        ("my-retain statusline", False),
        ("retain status", False),
    ],
)
def test_ours_is_known_by_what_it_calls(command, ours):
    assert is_ours({"type": "command", "command": command}) is ours


@pytest.mark.parametrize("odd", [None, "retain statusline", 7, [], {}, {"command": 3}])
def test_what_is_no_status_line_is_not_ours(odd):
    assert is_ours(odd) is False
