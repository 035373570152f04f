"""The frame of the hooks, in real processes: one JSON object, exit code 0, nothing on standard error, in time."""

import json
import os
import pty
import sys
import time
from pathlib import Path

import pytest

from retain.surfaces.hooks import entry, runner
from retain.surfaces.hooks.standard_streams import MOST_INPUT
from surfaces.hooking import COMMAND, NAMES

HEAVY = ("click", "pydantic", "yaml", "numpy", "mcp", "rich", "asyncio", "logging", "dataclasses", "typing", "pathlib")
BROKEN = {
    "nothing": b"",
    "blank": b" \n\t ",
    "not JSON": b"hello",
    "cut short": b'{"session_id": "s1", "cwd": "/tm',
    "a list": b"[1, 2]",
    "a number": b"7",
    "null": b"null",
    "two objects": b'{"cwd": "/tmp"} {"cwd": "/tmp"}',
    "not UTF-8": b'{"session_id": "s\xff\xfe", "prompt": "caf\xe9"}',
    "half a letter": b'{"session_id": "s", "prompt": "\\ud800", "last_assistant_message": "\\udfff"}',
    "a byte order mark": b'\xef\xbb\xbf{"session_id": "s"}',
    "UTF-16": '{"session_id": "s"}'.encode("utf-16"),
    "a zero in a path": b'{"cwd": "/tmp/\\u0000", "transcript_path": "\\u0000"}',
    "wrong types": b'{"session_id": 7, "cwd": [], "prompt": {}, "transcript_path": null, "hook_event_name": 3}',
    "no such folder": b'{"cwd": "/no/such/folder", "transcript_path": "/no/such/file"}',
    "a long session": b'{"session_id": "' + b"s" * 5000 + b'"}',
    "a session that climbs": b'{"session_id": "../../../etc/x", "transcript_path": "../x"}',
    "deep": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "a huge number": b'{"session_id": ' + b"9" * 5000 + b"}",
    "an unknown event": b'{"hook_event_name": "Lunch"}',
    "control characters": b'{"session_id": "a\nb", "prompt": "\x01"}',
    "too much": b'{"prompt": "' + b"a" * (MOST_INPUT + 1) + b'"}',
}
# Runs the entry point as it is, and writes down what is loaded when it ends.
TELLING = """
import os, sys
told, script = sys.argv[1:3]
leave = os._exit
def tell(code):
    with open(told, "w") as file:
        file.write(" ".join(sys.modules))
    leave(code)
os._exit = tell
del sys.argv[:2]
with open(script) as file:
    exec(compile(file.read(), script, "exec"), {"__name__": "__main__", "__file__": script})
"""
EVENTS = ("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop", "PreCompact", "SessionEnd")


@pytest.mark.parametrize("name", NAMES)
def test_every_event_of_the_client_gets_one_json_object(client, name):
    payload = client.sample(name)
    answer = client(payload["hook_event_name"], payload).answer
    assert answer == {} or answer["hookSpecificOutput"]["hookEventName"] == payload["hook_event_name"]


# Every event is read by the same lines: all that can be broken for one of them, and one thing for each.
@pytest.mark.parametrize(
    ("event", "said"),
    [
        *(pytest.param("UserPromptSubmit", said, id=name) for name, said in BROKEN.items()),
        *(pytest.param(event, b"{", id=event) for event in EVENTS),
    ],
)
def test_broken_input_is_answered_with_nothing(client, event, said):
    assert client(event, said).answer == {}


def test_what_was_wrong_with_the_input_is_in_the_log(client):
    client("Stop", b"hello")
    client("Lunch", {})
    assert "5 bytes of input that are no JSON object" in client.log()[0]["error"]
    assert "no event Lunch" in client.log()[1]["error"]


@pytest.mark.parametrize("spelt", ["session-start", "sessionstart", "SESSION_START"])
def test_an_event_is_known_however_it_is_spelt(client, spelt):
    client(spelt, {"session_id": "s1"})
    assert client.log()[-1]["event"] == "SessionStart"


def test_the_client_knows_better_than_the_command_line_which_event_it_is(client):
    client("Stop", client.sample("SubagentStop"))
    assert client.spooled() == []
    assert client.log()[-1]["event"] == "SubagentStop"


def test_a_client_that_never_closes_its_end_gets_an_answer_all_the_same(client):
    running = client.start("Stop")
    running.stdin.write(json.dumps(client.sample("Stop")).encode())
    running.stdin.flush()
    assert (running.wait(timeout=30), running.stdout.read()) == (0, b"{}")
    assert "error" not in client.log()[0]
    running.stdin.close()


@pytest.mark.parametrize("sent", [b"", b'{"session_id": "s1", '])
def test_a_client_that_says_nothing_or_half_of_it_is_not_waited_for(client, sent):
    running = client.start("Stop", COMMAND)
    running.stdin.write(sent)
    running.stdin.flush()
    assert (running.wait(timeout=30), running.stdout.read(), running.stderr.read()) == (0, b"{}", b"")
    assert client.log()[0]["error"] == "not done in time"
    running.stdin.close()


def test_settings_that_hang_do_not_hang_the_hook(client):
    pipe = client.folder / "settings.md"
    os.mkfifo(pipe)
    named = {"RETAIN_CONFIG_PATH": str(pipe)}
    ended = client("UserPromptSubmit", client.sample("UserPromptSubmit"), env=named, command=COMMAND)
    assert ended.answer == {}
    assert client.log()[-1]["error"] == "not done in time"


def test_a_client_that_has_left_is_no_reason_to_complain(client):
    running = client.start("Stop")
    running.stdout.close()
    running.stdin.write(json.dumps(client.sample("Stop")).encode())
    running.stdin.close()
    assert (running.wait(timeout=30), running.stderr.read()) == (0, b"")


def test_closed_streams_are_survived(client):
    def without_streams():
        for stream in (0, 1, 2):
            os.close(stream)

    running = client.start("Stop", preexec_fn=without_streams)
    assert running.wait(timeout=30) == 0


@pytest.mark.parametrize("word", ["off", "OFF", "0", "false", "no"])
def test_hooks_can_be_switched_off_and_then_touch_nothing(client, word):
    assert client("SessionStart", client.sample("SessionStart.startup"), env={"RETAIN_HOOKS": word}).answer == {}
    assert not client.home.exists()


def test_the_command_answers_hooks_too(client):
    command = (sys.executable, "-m", "retain", "hook")
    env = {"PYTHONPATH": str(Path(entry.__file__).parents[3])}
    assert client("Stop", client.sample("Stop"), command=command, env=env).answer == {}
    assert client.log()[0]["event"] == "Stop"


def test_a_person_who_asks_for_help_gets_it(client):
    ended = client("--help")
    assert ended.code == 0
    assert b"Usage: retain hook EVENT" in ended.out


def test_a_person_at_a_terminal_is_told_what_this_is(client):
    ours, theirs = pty.openpty()
    running = client.start("Stop", pipes={"stdin": theirs, "stdout": theirs})
    assert running.wait(timeout=30) == 0
    assert b"Usage: retain hook EVENT" in os.read(ours, 10_000)
    os.close(ours)
    os.close(theirs)


def test_no_event_at_all_is_answered_with_nothing(client):
    assert client("", b"").answer == {}


def test_twenty_hooks_at_once_all_answer(client):
    names = [NAMES[place % len(NAMES)] for place in range(20)]
    started = time.monotonic()
    running = [client.start(client.sample(name)["hook_event_name"]) for name in names]
    for name, one in zip(names, running, strict=True):
        out, err = one.communicate(json.dumps(client.sample(name, session_id=f"s-{name}")).encode(), timeout=60)
        assert (one.returncode, err, isinstance(json.loads(out), dict)) == (0, b"", True)
    assert time.monotonic() - started < 30


@pytest.mark.parametrize("event", ["Stop", "SessionEnd", "PreCompact"])
def test_a_hook_imports_next_to_nothing(client, event):
    """The first one makes the snapshot of the settings, which takes more; the second one is what users wait for."""
    client(event, client.sample("Stop", hook_event_name=event))
    assert _imported(client, event).isdisjoint((*HEAVY, "json", "re", "sqlite3", "enum", "retain.config"))


@pytest.mark.parametrize("name", ["SessionStart.startup", "UserPromptSubmit"])
def test_a_hook_that_reads_the_store_imports_little(client, name):
    event = name.partition(".")[0]
    client(event, client.sample(name))
    assert _imported(client, event, name).isdisjoint((*HEAVY, "retain.config", "retain.app"))


def _imported(client, event, name="Stop"):
    """The modules that a real run has loaded when it ends."""
    told = client.folder / "modules"
    command = (sys.executable, "-I", "-S", "-c", TELLING, str(told), entry.__file__)
    assert client(event, client.sample(name, hook_event_name=event), command=command).code == 0
    return set(told.read_text().split())


@pytest.mark.parametrize(
    ("text", "kept"),
    [("short", "short"), ("a" * 9_900, "a" * 9_900), ("x\n" * 6_000 + "</end>", None), ("\U0001f600\n" * 5_000, None)],
)
def test_what_is_injected_stays_within_what_the_client_takes(text, kept):
    context = json.loads(runner._output("SessionStart", text))["hookSpecificOutput"]["additionalContext"]
    assert len(context.encode("utf-16-le")) // 2 <= 9_900
    assert context == kept or (kept is None and context.endswith(text.rsplit("\n", 1)[-1]))
