"""`retain setup` and `retain teardown` on real files, as processes of their own."""

import json
import os
import pty
import stat
import sys
import tomllib
from datetime import datetime
from pathlib import Path

import pytest

from retain.clients.claude_code import EVENTS, TOOL_EVENTS
from retain.clients.edits import Edit
from retain.clients.journal import Journal
from retain.clients.known import CLIENTS, Machine, named
from surfaces.command import Command

JSONC = """// mine
{
  "theme": "dark", // keep
  "context_servers": {
    "other": { "command": "x" }, /* last */
  },
}
"""
TOML = '# mine\nmodel = "m"\n\n[mcp_servers.other]\ncommand = "x" # keep\n'


@pytest.fixture
def user(tmp_path):
    """A home in which no client was ever used, and the command there."""
    return User(Command.in_folder(tmp_path))


class User:
    def __init__(self, command):
        self.command = command
        self.home = command.folder / "user"

    def __call__(self, *words, **env):
        # Nothing on the path: which clients are found does not depend on the machine that runs the tests.
        return self.command.process(*words, PATH="", **env)

    def file(self, name, text=None):
        path = self.home / name
        if text is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        return path

    def has(self, *folders):
        for folder in folders:
            (self.home / folder).mkdir(parents=True, exist_ok=True)
        return self

    def everything(self):
        """Every file of the home with its bytes and mode."""
        files = [path for path in self.home.rglob("*") if path.is_file()]
        return {str(path.relative_to(self.home)): (path.read_bytes(), path.stat().st_mode) for path in files}

    def hooks(self):
        return json.loads(self.file(".claude/settings.json").read_text())["hooks"]


ALL = (".claude", ".cursor", ".codex", ".config/Code", ".gemini", ".codeium/windsurf", ".config/zed")


def test_every_client_that_is_found_gets_the_server_at_its_place(user):
    assert user.has(*ALL)("setup", "--yes").code == 0
    lists = {
        ".claude.json": "mcpServers",
        ".cursor/mcp.json": "mcpServers",
        ".config/Code/User/mcp.json": "servers",
        ".gemini/settings.json": "mcpServers",
        ".codeium/windsurf/mcp_config.json": "mcpServers",
        ".config/zed/settings.json": "context_servers",
    }
    entries = [json.loads(user.file(name).read_text())[key]["retain"] for name, key in lists.items()]
    entries.append(tomllib.loads(user.file(".codex/config.toml").read_text())["mcp_servers"]["retain"])
    assert all(Path(entry["command"]).is_absolute() and entry["args"][-1] == "serve" for entry in entries)


def test_claude_code_gets_its_hooks_in_exec_form_with_absolute_paths_and_timeouts(user):
    user.has(".claude")("setup", "--yes")
    hooks = user.hooks()
    assert set(hooks) == set(EVENTS)
    for event, (group,) in hooks.items():
        (hook,) = group["hooks"]
        assert hook["command"] == sys.executable and hook["timeout"] == EVENTS[event]
        assert hook["args"][:2] == ["-I", "-S"] and Path(hook["args"][2]).is_file() and hook["args"][3] == event
    assert hooks["SessionStart"][0]["matcher"] == "startup|resume|clear|compact|fork"


def test_a_second_time_changes_nothing_and_makes_no_further_copies(user):
    user.has(*ALL)("setup", "--yes", "--llm", "none")
    first = user.everything()
    again = user("setup", "--yes", "--llm", "none", "--json")
    assert {file["state"] for file in again.body["files"]} == {"as it was"}
    assert user.everything() == first


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".config/zed/settings.json", JSONC),
        (".config/zed/settings.json", JSONC.replace("\n", "\r\n")),
        (".config/zed/settings.json", "\ufeff{ }"),
        (".codex/config.toml", TOML),
        (".codex/config.toml", TOML.replace("\n", "\r\n").rstrip()),
        (".cursor/mcp.json", '{"mcpServers":{"a":{"command":"b"}}}'),
        (".cursor/mcp.json", '{\n\t"mcpServers": {}\n}'),
        (".claude/settings.json", '{"hooks": {"Stop": []}, "model": "opus"}\n'),
        (".claude.json", '{\n    "numStartups": 3\n}\n'),
        (".gemini/settings.json", ""),
    ],
)
def test_teardown_gives_back_the_very_bytes_of_before(user, name, text):
    user.has(*ALL).file(name, text)
    before = user.everything()
    assert user("setup", "--yes", "--llm", "none").code == 0
    assert user.everything() != before
    assert user("teardown", "--yes").code == 0
    assert user.everything() == before


def test_teardown_takes_out_only_what_is_ours_when_files_changed_since(user):
    user.has(*ALL)("setup", "--yes")
    for name in (".claude.json", ".cursor/mcp.json"):
        file = user.file(name)
        data = json.loads(file.read_text())
        data["mcpServers"]["other"] = {"command": "x"}
        file.write_text(json.dumps(data))
    settings = user.file(".claude/settings.json")
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "model": "opus"}))
    user.file(".codex/config.toml").write_text(user.file(".codex/config.toml").read_text() + "\n[later]\na = 1 # b\n")
    assert user("teardown", "--yes").code == 0
    assert json.loads(user.file(".claude.json").read_text()) == {"mcpServers": {"other": {"command": "x"}}}
    assert json.loads(settings.read_text()) == {"model": "opus"}
    assert user.file(".codex/config.toml").read_text().strip() == "[later]\na = 1 # b"


def test_teardown_twice_finds_nothing_the_second_time(user):
    user.has(*ALL)("setup", "--yes")
    user("teardown", "--yes")
    again = user("teardown", "--yes", "--json")
    assert (again.code, again.body["files"]) == (0, [])


def test_teardown_keeps_memories_and_says_where_they_are(user):
    user.command.stored("We deploy on Mondays")
    user.has(".claude")("setup", "--yes")
    done = user("teardown", "--yes")
    assert str(user.command.home / "retain.db") in done.out
    assert user.command("recall", "Mondays").code == 0


def test_a_dry_run_shows_a_diff_and_writes_nothing(user):
    user.has(*ALL).file(".codex/config.toml", TOML)
    before = user.everything()
    done = user("setup", "--dry-run", "--llm", "anthropic")
    assert (
        "+[mcp_servers.retain]" in done.out and "+llm: anthropic" in done.out and '+    "SessionStart": [' in done.out
    )
    assert (done.code, user.everything()) == (0, before)
    assert not user.command.home.exists()


def test_keys_of_others_are_covered_in_a_diff(user):
    key = "sk-ant-api03-" + "a1B2" * 12
    user.file(".cursor/mcp.json", json.dumps({"mcpServers": {"a": {"env": {"API_KEY": key}}}}, indent=2))
    done = user("setup", "--dry-run")
    assert "retain" in done.out and key not in done.out


@pytest.mark.parametrize("command", ["setup", "teardown"])
def test_without_a_terminal_nothing_is_asked_and_nothing_is_done(user, command):
    user.has(".claude")
    if command == "teardown":
        user("setup", "--yes")
    before = user.everything()
    done = user(command)
    assert done.code == 5 and "--yes" in done.err and "nothing was changed" in done.err
    assert user.everything() == before


def test_no_client_is_said_with_the_way_to_set_one_up_all_the_same(user):
    done = user("setup", "--yes")
    assert done.code == 3 and "--client" in done.err
    assert user("setup", "--yes", "--client", "cursor").code == 0
    assert user.file(".cursor/mcp.json").exists() and not user.file(".claude").exists()


@pytest.mark.parametrize("text", ["", "  \n", "{}"])
def test_a_missing_or_empty_file_is_made(user, text):
    user.has(".claude").file(".claude/settings.json", text)
    assert user("setup", "--yes").code == 0
    assert set(user.hooks()) == set(EVENTS)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (".cursor/mcp.json", '{\n  "a": 1\n  "b": 2\n}', "line 3, column 3"),
        (".claude/settings.json", '{"hooks": {"Stop": []},}', "line 1, column 23"),
        (".claude.json", "{ // c\n}", "line 1, column 3"),
        (".codex/config.toml", "a = 1\nb = \n", "line 2"),
        (".cursor/mcp.json", '{"mcpServers": []}', "mcpServers is not an object"),
        (".claude/settings.json", '{"hooks": []}', "hooks is not an object"),
        (".claude/settings.json", '{"hooks": {"Stop": {}}}', "hooks.Stop is not a list"),
        (".cursor/mcp.json", '{"mcpServers": {"retain": {"command": "/opt/another", "args": []}}}', "another server"),
        (".codex/config.toml", "mcp_servers = { a = { command = 'x' } }", "by hand"),
    ],
)
def test_a_file_that_cannot_be_edited_is_named_and_left_and_the_others_are_done(user, name, text, said):
    user.has(*ALL).file(name, text)
    done = user("setup", "--yes")
    assert done.code == 5
    assert str(user.file(name)) in done.out and said in done.out
    assert user.file(name).read_text() == text
    assert "retain" in user.file(".config/zed/settings.json").read_text()


def test_a_file_that_is_no_text_is_named_and_left(user):
    user.has(".cursor").file(".cursor/mcp.json").write_bytes(b"\xff\xfe{\x00}\x00")
    done = user("setup", "--yes")
    assert done.code == 5 and "UTF-8" in done.out


def test_a_read_only_file_is_named_and_left(user):
    file = user.has(".cursor", ".gemini").file(".cursor/mcp.json", "{}")
    file.chmod(0o444)
    done = user("setup", "--yes")
    assert done.code == 5 and "read-only" in done.out and file.read_text() == "{}"
    assert user.file(".gemini/settings.json").exists()


def test_a_dry_run_tells_of_a_read_only_file_too(user):
    user.has(".cursor").file(".cursor/mcp.json", "{}").chmod(0o444)
    done = user("setup", "--dry-run")
    assert done.code == 5 and "left alone" in done.out and "read-only" in done.out
    assert done.out.endswith("\nnothing was changed\n")


def test_teardown_leaves_no_folder_that_setup_made_and_a_later_setup_finds_no_client(user):
    user("setup", "--yes", "--client", "vscode-insiders", "--client", "cursor")
    user.file(".cursor/mine", "mine")
    user("teardown", "--yes")
    assert not user.file(".config").exists() and user.file(".cursor").is_dir()
    user.file(".cursor/mine").unlink()
    user.file(".cursor").rmdir()
    assert user("setup", "--yes").code == 3


def test_of_copies_the_first_stays_and_the_newest(user):
    file = user.file(".cursor/mcp.json", '{"first": 1}')
    for round in range(6):
        user("setup", "--yes")
        user("teardown", "--yes")
        file.write_text(f'{{"round": {round}}}')
    copies = sorted((user.command.home / "backups" / "clients").glob("*mcp.json.*"))
    assert len(copies) == 6 and copies[0].read_text() == '{"first": 1}' and "round" in copies[-1].read_text()


def test_a_copy_that_leads_back_stays_however_many_come_later(user):
    before = user.file(".cursor/mcp.json", "{ }").read_bytes()
    user("setup", "--yes")
    for option in range(8):
        command = user.file(".cursor/mcp.json").read_text()
        journal = Journal(user.command.home / "backups" / "clients")
        journal.copy(Edit(user.file(".cursor/mcp.json"), command, None), datetime(2030, 1, 1, option))
    user("teardown", "--yes")
    assert user.file(".cursor/mcp.json").read_bytes() == before


def test_a_link_stays_a_link_and_its_target_keeps_its_mode(user):
    target = user.file("dotfiles/claude.json", '{"model": "opus"}')
    target.chmod(0o640)
    user.has(".claude").file(".claude/settings.json").symlink_to(target)
    assert user("setup", "--yes").code == 0
    assert user.file(".claude/settings.json").is_symlink()
    assert "retain" in target.read_text() and stat.S_IMODE(target.stat().st_mode) == 0o640


@pytest.mark.parametrize("leads_to", ["nowhere/settings.json", ".claude/settings.json"])
def test_a_link_that_leads_nowhere_is_named_and_left(user, leads_to):
    link = user.has(".claude", ".cursor").file(".claude/settings.json")
    link.symlink_to(user.home / leads_to)
    done = user("setup", "--yes")
    assert done.code == 5 and "link" in done.out and link.is_symlink()
    assert user.file(".cursor/mcp.json").exists()


def test_files_that_are_made_are_for_their_owner_alone(user):
    user.has(*ALL)("setup", "--yes", "--llm", "none")
    made = [path for path in user.home.rglob("*") if path.is_file()]
    kept = list(user.command.home.rglob("*"))
    assert {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in [user.command.home, *kept]} == {0o700, 0o600}


def test_an_older_entry_of_ours_is_replaced_and_what_was_added_to_it_stays(user):
    old = {"command": "/old/venv/bin/retain", "args": ["serve", "--toolset", "graph"], "env": {"RETAIN_HOME": "/data"}}
    file = user.file(".cursor/mcp.json", json.dumps({"mcpServers": {"retain": old}}))
    assert user("setup", "--yes").code == 0
    (entry,) = json.loads(file.read_text())["mcpServers"].values()
    assert entry["command"] != old["command"] and entry["args"][-3:] == ["serve", "--toolset", "graph"]
    assert entry["env"] == {"RETAIN_HOME": "/data"}


@pytest.mark.parametrize(
    "old",
    [
        {"type": "command", "command": "/old/python", "args": ["-I", "/old/retain/surfaces/hooks/entry.py", "Stop"]},
        {
            "type": "command",
            "command": "C:\\old\\python.exe",
            "args": ["C:\\retain\\surfaces\\hooks\\entry.py", "Stop"],
        },
        {"type": "command", "command": "/old/bin/retain hook Stop"},
        {"type": "command", "command": '"/old dir/retain" hook Stop', "timeout": 60},
        {"type": "command", "command": "/old/bin/retain", "args": ["hook", "Stop"]},
        {"type": "command", "command": "/old/bin/retain-mcp hook Stop"},
    ],
)
@pytest.mark.parametrize("shared", [True, False])
def test_an_older_hook_of_ours_is_replaced_and_those_of_others_stay(user, old, shared):
    other = {"type": "command", "command": "echo retain the hook"}
    groups = [{"hooks": [other, old, old]}] if shared else [{"hooks": [other]}, {"matcher": "", "hooks": [old]}]
    user.file(".claude/settings.json", json.dumps({"hooks": {"Stop": groups}}, indent=4))
    assert user("setup", "--yes").code == 0
    hooks = [hook for group in user.hooks()["Stop"] for hook in group["hooks"]]
    assert len(hooks) == 2 and hooks[0] == other and hooks[1]["command"] == sys.executable


def test_a_hook_keeps_its_place_before_one_that_came_later(user):
    user.has(".claude")("setup", "--yes")
    file = user.file(".claude/settings.json")
    data = json.loads(file.read_text())
    data["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "true"}]})
    file.write_text(json.dumps(data))
    before = file.read_text()
    assert user("setup", "--yes").code == 0
    assert file.read_text() == before


def test_hooks_on_tools_come_when_asked_for_and_stay_until_taken_out(user):
    user.has(".claude")("setup", "--yes", "--tool-hooks")
    assert set(user.hooks()) == {*EVENTS, *TOOL_EVENTS}
    user("setup", "--yes")
    assert set(user.hooks()) == {*EVENTS, *TOOL_EVENTS}
    user("setup", "--yes", "--no-tool-hooks")
    assert set(user.hooks()) == set(EVENTS)


def test_beside_the_plugin_nothing_is_registered_and_earlier_hooks_go(user):
    user.has(".claude")("setup", "--yes")
    file = user.file(".claude/settings.json")
    file.write_text(json.dumps({**json.loads(file.read_text()), "enabledPlugins": {"retain@retain": True}}))
    done = user("setup", "--yes")
    assert done.code == 0 and "plugin" in done.out
    assert json.loads(file.read_text()) == {"enabledPlugins": {"retain@retain": True}}
    assert "retain" not in user.file(".claude.json").read_text()


def test_a_plugin_that_is_switched_off_is_none(user):
    user.file(".claude/settings.json", '{"enabledPlugins": {"retain@retain": false, "other@x": true}}')
    user("setup", "--yes")
    assert set(user.hooks()) == set(EVENTS)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, "---\nllm: anthropic\n---\n"),
        ("", "---\nllm: anthropic\n---\n"),
        (
            "---\nllm: none # why\ncapture: false\n---\nNotes\n",
            "---\nllm: anthropic # why\ncapture: false\n---\nNotes\n",
        ),
        ("---\r\ncapture: false\r\n---\r\n", "---\r\ncapture: false\r\nllm: anthropic\r\n---\r\n"),
        ("Only notes\n", "---\nllm: anthropic\n---\nOnly notes\n"),
        ("---\n---\nx\n", "---\nllm: anthropic\n---\nx\n"),
        ('---\n"llm": "none"\n---', '---\n"llm": anthropic\n---'),
    ],
)
def test_the_choice_of_a_model_goes_into_the_settings_file_and_nothing_else_does(user, before, after):
    file = user.has(".cursor").file(".claude/retain.local.md", before)
    if before is not None:
        file.chmod(0o600)
    assert user("setup", "--yes", "--llm", "anthropic").code == 0
    assert file.read_bytes().decode() == after
    assert user("config", "--json").body["settings"]["llm"]["value"] == "anthropic"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("---\nllm: [\n---\n", "line "),
        ("---\na: b: c\n---\n", "line 2, column 5"),
        ("---\n- a\n---\n", "line 2"),
        ("---\na: 1\n---\n```yaml\nllm: none\n```\n", "further down"),
        ("---\n{a: 1}\n---\n", "cannot be set"),
    ],
)
def test_a_settings_file_that_cannot_be_edited_is_named_and_left(user, text, said):
    file = user.has(".cursor").file(".claude/retain.local.md", text)
    file.chmod(0o600)
    done = user("setup", "--yes", "--llm", "anthropic")
    assert done.code == 5 and said in done.out
    assert file.read_text() == text and user.file(".cursor/mcp.json").exists()


def test_at_a_terminal_the_model_and_the_change_are_asked_for(user):
    master, slave = pty.openpty()
    os.write(master, b"claude-cli\ny\n")
    user.has(".claude")
    running = user.command.spawn("setup", pipes={"stdin": slave}, env={"PATH": ""})
    _, err = running.communicate(timeout=60)
    assert running.returncode == 0 and "Change 3 files?" in err
    assert user.file(".claude/retain.local.md").read_text() == "---\nllm: claude-cli\n---\n"


def test_our_own_settings_file_makes_no_client_of_its_folder(user):
    user.has(".cursor")("setup", "--yes", "--llm", "none")
    done = user("setup", "--yes", "--json")
    assert {file["client"] for file in done.body["files"]} == {"Cursor"}


def test_a_key_in_the_environment_is_no_choice(user):
    user.has(".claude")("setup", "--yes", ANTHROPIC_API_KEY="sk-ant-x")
    assert not user.file(".claude/retain.local.md").exists()


def test_what_is_set_in_this_shell_only_is_said(user):
    done = user.has(".claude")("setup", "--yes", "--json")
    assert any("RETAIN_HOME is set here only" in remark for remark in done.body["remarks"])


def test_a_moved_folder_of_a_client_is_followed(user):
    user.has("elsewhere", "codex")
    moved = {"CLAUDE_CONFIG_DIR": str(user.home / "elsewhere"), "CODEX_HOME": str(user.home / "codex")}
    assert user("setup", "--yes", **moved).code == 0
    assert {path.name for path in (user.home / "elsewhere").iterdir()} == {".claude.json", "settings.json"}
    assert user.file("codex/config.toml").exists() and not user.file(".claude").exists()


def test_a_client_is_found_by_its_command_too(user, tmp_path):
    tool = tmp_path / "bin" / "codex"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    done = user.command.process("setup", "--yes", "--json", PATH=str(tool.parent))
    assert [file["client"] for file in done.body["files"]] == ["Codex"]


@pytest.mark.parametrize(
    ("system", "client", "file"),
    [
        ("darwin", "vscode", "Library/Application Support/Code/User/mcp.json"),
        ("win32", "vscode", "AppData/Roaming/Code/User/mcp.json"),
        ("linux", "vscode", ".config/Code/User/mcp.json"),
        ("darwin", "zed", ".config/zed/settings.json"),
        ("win32", "zed", "AppData/Roaming/Zed/settings.json"),
        ("win32", "windsurf", ".codeium/windsurf/mcp_config.json"),
        ("darwin", "claude-code", ".claude.json"),
    ],
)
def test_each_system_has_its_places(tmp_path, system, client, file):
    assert named(client).file(Machine(tmp_path, system, {})) == tmp_path / file


@pytest.mark.parametrize("client", [client.name for client in CLIENTS])
def test_an_unknown_client_is_refused_with_the_names_there_are(user, client):
    done = user("setup", "--yes", "--client", "emacs")
    assert done.code == 2 and client in done.err


def test_a_file_that_changes_meanwhile_is_left(tmp_path):
    from retain.clients.edits import Edit, write
    from retain.clients.faults import Unfit

    file = tmp_path / "a.json"
    file.write_text("{}")
    with pytest.raises(Unfit, match="changed while"):
        write(Edit(file, '{"old": 1}', "{}"))
    assert file.read_text() == "{}" and list(tmp_path.iterdir()) == [file]


def test_the_doctor_tells_of_a_path_that_is_gone_and_of_hooks_that_run_twice(user):
    user.has(".claude")("setup", "--yes")
    checks = user("doctor", "--json", RETAIN_EMBEDDING_MODEL="off").body["checks"]
    assert {check["state"] for check in checks if check["area"] == "clients"} == {"ok"}
    file = user.file(".claude/settings.json")
    text = file.read_text().replace("surfaces/hooks/entry.py", "gone/surfaces/hooks/entry.py")
    file.write_text(text)
    assert "which is not there" in user("doctor", RETAIN_EMBEDDING_MODEL="off").out
    file.write_text(json.dumps({**json.loads(text), "enabledPlugins": {"retain@retain": True}}))
    assert "hooks run twice" in user("doctor", RETAIN_EMBEDDING_MODEL="off").out


def test_the_doctor_names_clients_that_are_here_and_not_connected(user):
    user.has(".cursor", ".codex")("setup", "--yes", "--client", "cursor")
    checks = user("doctor", "--json", RETAIN_EMBEDDING_MODEL="off").body["checks"]
    told = {check["note"]: check["state"] for check in checks if check["area"] == "clients"}
    assert told["Codex: not connected; `retain setup --client codex` does it"] == "ok"
    assert not any(note.startswith("Cursor: not") for note in told)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (".codex/config.toml", "a = 1\nb = \n", "line 2"),
        (".codeium/windsurf/mcp_config.json", '{\n  "a":\n}', "line 3"),
        (".config/zed/settings.json", "{ // mine\n  oops }", "line 2"),
    ],
)
def test_the_doctor_names_a_file_that_is_broken(user, name, text, said):
    user.file(name, text)
    checks = user("doctor", "--json", RETAIN_EMBEDDING_MODEL="off").body["checks"]
    (note,) = [check["note"] for check in checks if check["area"] == "clients" and check["state"] == "warn"]
    assert str(user.file(name)) in note and said in note


def test_folders_that_setup_makes_are_nobody_elses_to_write_in(user):
    """Whatever the umask lets through."""
    before = os.umask(0)
    try:
        assert user("setup", "--client", "claude-code", "--client", "cursor", "--llm", "claude-cli", "--yes").code == 0
    finally:
        os.umask(before)
    made = [path for path in user.home.rglob("*") if path.is_dir()]
    assert {".claude", ".cursor"} <= {path.name for path in made}
    assert [path for path in (*made, *user.home.rglob("*.json")) if path.stat().st_mode & 0o077] == []


def test_a_toolset_is_chosen_for_every_client_at_once_and_an_unknown_one_is_refused(user):
    user.has(".cursor")("setup", "--yes", "--llm", "none", "--toolset", "capture, graph")
    assert user("config", "--json").body["settings"]["toolset"]["value"] == "capture,graph"
    refused = user("setup", "--yes", "--toolset", "capsule")
    assert refused.code == 2 and "no toolset capsule; there are default" in refused.err
