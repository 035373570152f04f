"""`retain trust`: a person decides about what came with a project; until then it is not used, and never in silence."""

import json
import os
import pty
import socket
import threading

import pytest

from approving import approve
from surfaces.command import Command

pytestmark = pytest.mark.sqlite
TEXT = "The vault code of the Oslo office is in the blue folder"


@pytest.fixture
def retain(tmp_path, monkeypatch):
    command = Command.in_folder(tmp_path)
    monkeypatch.chdir(command.project)
    return command


def asks(retain, text):
    file = retain.project / ".claude" / "retain.local.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"---\n{text}\n---\n")
    file.chmod(0o600)
    return file


@pytest.fixture
def endpoint():
    """An address on this machine that hears whoever comes, and what they say."""
    heard = []
    listener = socket.create_server(("127.0.0.1", 0))

    def listen():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(2)
                heard.append(connection.recv(65_536))
                connection.sendall(b"HTTP/1.1 500 no\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    threading.Thread(target=listen, daemon=True).start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1", heard
    listener.close()


def test_nothing_is_sent_to_an_endpoint_that_came_with_a_project(retain, endpoint):
    url, heard = endpoint
    file = asks(
        retain, f"embedding_url: {url}\nembedding_model: theirs\nllm: openai\nllm_url: {url}\nllm_model: theirs"
    )
    plain = {"RETAIN_EMBEDDING_MODEL": ""}
    before = retain("remember", TEXT, **plain)
    assert before.code == 0
    assert all(said in before.err for said in (str(file), "embedding_url", "llm_url", "`retain trust`"))
    retain("ask", "Where is the vault code?", **plain)
    assert heard == []
    assert retain("trust", "--yes", **plain).code == 0
    retain("remember", "Another fact of the Oslo office", **plain)
    assert heard != []


@pytest.mark.parametrize(
    ("name", "value"), [("max_storage_mb", 1), ("query_timeout", 0.0001), ("index_roots", "/"), ("toolset", "all")]
)
def test_a_setting_that_starves_or_loosens_is_told_and_not_used(retain, name, value):
    file = asks(retain, f"{name}: {value}")
    shown = retain("config", "--json").body
    assert shown["settings"][name]["origin"] == "default"
    assert shown["approval"] == {"path": str(file), "verdict": "undecided", "settings": [name]}
    assert any("`retain trust`" in problem for problem in shown["problems"])
    assert retain("remember", TEXT).code == 0


def test_a_person_is_shown_what_each_setting_would_do(retain):
    asks(retain, "remote_url: ws://ada:hush@team.example\nremote_pass: hushhush\nlog_level: debug")
    done = retain("trust")
    assert done.code == 5
    assert "sends memories to the database at this address" in done.err
    assert "--yes approves it, --refuse refuses it" in done.err
    assert "hush" not in done.out + done.err
    assert "log_level:" not in done.err
    assert retain("trust", "--list", "--json").body["decisions"] == []


def test_a_value_that_looks_like_another_is_shown_by_its_numbers(retain):
    asks(retain, 'remote_url: "wss://m\u0435mory.example\u202e"')
    assert "wss://m\\u0435mory.example\\u202e" in retain("trust").err


def at_terminal(retain, *words, typed):
    """What somebody reads who types an answer."""
    ours, theirs = pty.openpty()
    running = retain.spawn(*words, pipes=dict.fromkeys(("stdin", "stdout", "stderr"), theirs))
    os.close(theirs)
    os.write(ours, typed.encode())
    said = b""
    while chunk := _read(ours):
        said += chunk
    os.close(ours)
    return running.wait(timeout=60), said.decode()


def _read(terminal):
    try:
        return os.read(terminal, 65_536)
    except OSError:  # as Linux says that nobody is at the other end
        return b""


def test_somebody_at_a_terminal_is_asked_and_a_no_decides_nothing(retain):
    asks(retain, "user_id: ada")
    code, said = at_terminal(retain, "trust", typed="n\n")
    assert (code, "reads and writes the memories of this user" in said, "Use these settings?" in said) == (
        5,
        True,
        True,
    )
    assert retain("config", "--json").body["approval"]["verdict"] == "undecided"
    code, said = at_terminal(retain, "init", "--claude-md", typed="y\ny\n")
    assert (code, "Use these settings?" in said) == (0, True)
    shown = retain("config", "--json").body
    assert (shown["approval"]["verdict"], shown["settings"]["user_id"]["value"]) == ("approved", "ada")


def test_what_waited_is_stored_when_it_is_decided(retain):
    file = asks(retain, f"db_path: {retain.folder / 'theirs.db'}")
    stored = retain("remember", TEXT, "--json")
    assert (stored.code, stored.body["queued"], stored.body["degraded"]) == (0, True, True)
    assert any("`retain trust`" in warning["message"] for warning in stored.body["warnings"])
    found = retain("recall", "vault code", "--json").body
    assert [hit["content"] for hit in found["memories"]] == [TEXT]
    assert any("retain.local.md" in warning["message"] for warning in found["warnings"])
    done = retain("trust", "--yes", "--json").body
    assert "warnings" not in done
    assert (done["file"], done["verdict"], done["sent"], done["waiting"]) == (str(file), "approved", 1, 0)
    after = retain("recall", "vault code", "--json").body
    assert ([hit["content"] for hit in after["memories"]], after["warnings"]) == ([TEXT], [])
    assert (retain.folder / "theirs.db").exists() and not (retain.home / "retain.db").exists()


def test_refusing_stores_it_as_without_the_file_and_can_be_taken_back(retain):
    file = asks(retain, f"db_path: {retain.folder / 'theirs.db'}")
    retain("remember", TEXT)
    assert retain("trust", "--refuse", "--json").body["sent"] == 1
    assert retain("config", "--json").body["approval"]["verdict"] == "refused"
    (decision,) = retain("trust", "--list", "--json").body["decisions"]
    assert (decision["file"], decision["verdict"]) == (str(file.resolve()), "refused")
    file.unlink()
    assert TEXT in retain("recall", "vault code").out
    file.write_text("---\nuser_id: ada\n---\n")
    assert retain("trust", "--revoke", "--json").body["revoked"] == 1
    assert retain("trust", "--list", "--json").body["decisions"] == []


def test_what_waits_for_a_file_that_is_gone_is_told_and_can_be_stored(retain):
    file = asks(retain, "user_id: ada")
    retain("remember", TEXT)
    file.unlink()
    checks = retain("doctor", "--json").body["checks"]
    (told,) = [check for check in checks if "decision about" in check["note"]]
    assert str(file) in told["note"] and "retain trust" in told["repair"]
    assert retain("trust", "--refuse", "--json").body["sent"] == 1
    assert TEXT in retain("recall", "vault code").out


def test_what_waits_for_a_file_that_is_gone_is_stored_only_when_somebody_says_so(retain):
    file = asks(retain, "user_id: ada")
    retain("remember", TEXT)
    file.unlink()
    done = retain("trust")
    assert (done.code, "--yes" in done.err) == (5, True)
    assert TEXT not in retain("recall", "vault code").out
    done = retain("trust", "--yes")
    assert (done.code, "1 write" in done.out, "approved:" in done.out) == (0, True, False)
    assert TEXT in retain("recall", "vault code").out


def test_a_file_that_changes_while_somebody_is_asked_gets_nothing(retain):
    file = asks(retain, "user_id: ada")
    retain("remember", TEXT)
    ours, theirs = pty.openpty()
    running = retain.spawn("trust", pipes=dict.fromkeys(("stdin", "stdout", "stderr"), theirs))
    os.close(theirs)
    said = b""
    while b"Use these settings?" not in said and (chunk := _read(ours)):
        said += chunk
    asks(retain, f"user_id: mallory\ndb_path: {retain.folder / 'theirs.db'}")
    os.write(ours, b"y\n")
    while chunk := _read(ours):
        said += chunk
    os.close(ours)
    assert (running.wait(timeout=60), b"was changed" in said) == (5, True)
    assert not (retain.folder / "theirs.db").exists()
    file.write_text("---\nuser_id: ada\n---\n")
    assert retain("trust", "--yes", "--json").body["sent"] == 1


def test_doctor_shows_what_is_undecided_and_what_was_decided(retain):
    file = asks(retain, "user_id: ada")
    before = retain("doctor", "--json").body
    assert any(c["state"] == "fail" and c["repair"].startswith("retain trust") for c in before["checks"])
    retain("trust", "--yes")
    after = retain("doctor", "--json").body
    assert any(f"{file} is approved: user_id" in check["note"] for check in after["checks"])


def test_there_is_nothing_to_decide_about_a_harmless_file(retain):
    asks(retain, "log_level: error\ncapture: false")
    done = retain("trust")
    assert (done.code, "asks for nothing" in done.out) == (0, True)


def test_there_is_nothing_to_decide_where_there_is_no_file(retain):
    done = retain("trust")
    assert (done.code, done.out.startswith("There is no ")) == (0, True)


def test_ways_to_decide_do_not_go_together(retain):
    asks(retain, "user_id: ada")
    assert retain("trust", "--yes", "--refuse").code == 2
    assert retain("config", "--json").body["approval"]["verdict"] == "undecided"


# The other commands


def test_init_approves_what_it_writes_and_nothing_else(retain):
    assert retain("init", "--claude-md", "--yes").code == 0
    assert retain("config", "--json").body["approval"]["verdict"] == "approved"
    assert retain("init", "--agents-md", "--yes").code == 0
    assert retain("config", "--json").body["settings"]["agents_md"]["value"] is True


def test_init_does_not_approve_what_was_there_before_unasked(retain):
    asks(retain, "embedding_url: http://theirs.example\nembedding_model: theirs")
    retain("init", "--claude-md", "--yes")
    shown = retain("config", "--json", RETAIN_EMBEDDING_MODEL="").body
    assert (shown["approval"]["verdict"], shown["settings"]["embedding_url"]["value"]) == ("undecided", None)
    # What the environment overrules here is asked for elsewhere, and was not approved by the way either.
    hidden = retain("config", "--json", RETAIN_EMBEDDING_URL="http://mine.example", RETAIN_EMBEDDING_MODEL="mine").body
    assert hidden["approval"]["verdict"] == "undecided"


def test_teardown_leaves_the_rest_of_an_approved_file_approved(retain):
    approve(asks(retain, "user_id: ada"), retain.home)
    retain("init", "--claude-md", "--yes")
    assert retain("teardown", "--project", str(retain.project), "--yes").code == 0
    shown = retain("config", "--json").body
    assert (shown["approval"], shown["settings"]["claude_md"]["value"]) == (
        {"path": str(retain.project / ".claude" / "retain.local.md"), "verdict": "approved", "settings": ["user_id"]},
        False,
    )


@pytest.mark.parametrize("linked", [".claude", ".mcp.json"])
def test_init_writes_nothing_through_a_link_out_of_the_project(retain, linked):
    own = retain.folder / "user" / ".claude"
    own.mkdir()
    target = own if linked == ".claude" else own / "servers.json"
    (retain.project / linked).symlink_to(target)
    done = retain("init", "--claude-md", "--project-server", "--yes")
    assert (done.code, "leads out of the project" in done.out + done.err) == (5, True)
    assert list(own.iterdir()) == []


def test_init_imports_nothing_through_a_link_out_of_the_project(retain):
    theirs = retain.folder / "other" / ".memory"
    theirs.mkdir(parents=True)
    rows = [{"id": "1", "type": "decision", "content": "The launch is on Friday", "tags": []}]
    (theirs / "state.json").write_text(json.dumps({"memories": rows}))
    (retain.project / ".memory").symlink_to(theirs)
    done = retain("init", "--no-claude-md", "--yes")
    assert (done.code, "so nothing is imported" in done.out + done.err) == (5, True)
    assert "Friday" not in retain("list").out
    (retain.project / ".memory").unlink()
    theirs.rename(retain.project / ".memory")
    assert retain("init", "--no-claude-md", "--yes").code == 0
    assert "Friday" in retain("list").out


def test_a_summary_is_not_replaced_while_the_store_is_undecided(retain):
    retain("init", "--claude-md", "--yes")
    retain("remember", "Decided to use Postgres for orders", "--type", "semantic")
    retain("init", "--claude-md", "--yes")
    before = (retain.project / "CLAUDE.md").read_text()
    file = retain.project / ".claude" / "retain.local.md"
    file.write_text(file.read_text().replace("claude_md: true", "claude_md: true\nuser_id: ada"))
    retain("init", "--claude-md", "--yes")
    assert (retain.project / "CLAUDE.md").read_text() == before


@pytest.mark.parametrize("words", [("copy", "--to", "sqlite:copy.db"), ("restore", "copy.db", "--yes"), ("backup",)])
def test_what_is_about_a_whole_store_waits_for_the_decision(retain, words):
    retain("remember", TEXT)
    retain("backup", "copy.db")
    asks(retain, "user_id: ada")
    before = (retain.home / "retain.db").read_bytes()
    done = retain(*words)
    assert (done.code in (4, 5), "`retain trust`" in done.err) == (True, True)
    assert (retain.home / "retain.db").read_bytes() == before


def test_status_says_that_it_is_undecided(retain):
    asks(retain, "user_id: ada")
    retain("remember", TEXT)
    out = retain("status").out
    assert ("undecided since" in out, "`retain trust`), 1 write waiting" in out, "retain.db" in out) == (
        True,
        True,
        False,
    )


def test_a_named_file_that_is_not_there_is_told_with_every_command(retain):
    named = {"MEMORY_CONFIG_PATH": str(retain.folder / "mispelt.md")}
    stored = retain("remember", TEXT, "--json", **named)
    assert any("mispelt.md" in warning["message"] for warning in stored.body["warnings"])
    assert "mispelt.md" in retain("recall", "vault code", **named).err
    assert "mispelt.md" in retain("doctor", **named).out


def test_a_key_that_is_too_short_is_not_told_as_no_key(retain):
    chosen = {"RETAIN_LLM": "openai", "OPENAI_API_KEY": "short"}
    shown = retain("key", "show", **chosen).out
    assert all(said in shown for said in ("OPENAI_API_KEY has 5 characters", "must have 8 to 500"))
    assert "short" not in shown
    retain("remember", TEXT)
    asked = retain("ask", "Where is the vault code?", **chosen)
    assert "OPENAI_API_KEY has 5 characters" in asked.out + asked.err
    assert "no key was found" in retain("key", "show", RETAIN_LLM="openai").out
