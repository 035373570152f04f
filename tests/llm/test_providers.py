"""What is special to one provider: where keys may travel, what is asked of servers, and what a child may see."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fake_apis import KEY, Turn
from retain.config import Settings
from retain.errors import ConfigError, LLMFailed
from retain.llm.anthropic import Anthropic
from retain.llm.claude_cli import ClaudeCommand, child_environment
from retain.llm.openai import ChatEndpoint, OpenAICompatible
from retain.llm.retrying import Retrying
from retain.wiring import make_llm


def openai(api, **fields):
    return Retrying(OpenAICompatible(ChatEndpoint(**{"url": api.url, "model": "llama", "key": None, **fields})))


@pytest.mark.parametrize("url", ["http://llm.example/v1", "http://10.0.0.7:11434", "HTTP://llm.example"])
def test_a_key_does_not_travel_in_the_open(url):
    with pytest.raises(ConfigError, match="plain text") as refused:
        ChatEndpoint(url.replace("HTTP", "http"), "llama", KEY)
    assert KEY not in refused.value.message
    with pytest.raises(ConfigError, match="plain text"):
        Anthropic(KEY, url=url.replace("HTTP", "http"))


@pytest.mark.parametrize(
    "url", ["http://localhost:11434", "http://127.0.0.1:1/v1", "http://[::1]:80", "https://a.b/v1"]
)
def test_a_key_may_travel_within_this_machine_or_enciphered(url):
    assert ChatEndpoint(url, "llama", KEY).key == KEY


def test_a_key_is_not_shown(api):
    assert KEY not in repr(ChatEndpoint(api.url, "llama", KEY))


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://localhost:11434", "http://localhost:11434/v1/chat/completions"),
        ("http://localhost:11434/v1/", "http://localhost:11434/v1/chat/completions"),
        ("https://llm.example/v1beta/openai", "https://llm.example/v1beta/openai/chat/completions"),
        ("https://llm.example/v1/chat/completions", "https://llm.example/v1/chat/completions"),
    ],
)
def test_an_address_may_be_given_with_or_without_its_version(url, address):
    assert ChatEndpoint(url, "llama").address == address


def test_a_server_without_a_key_is_asked_without_one(api, prompt):
    assert openai(api).complete(prompt, 10.0).text == "Fine."
    assert "Authorization" not in api.seen[0][1]


def test_a_server_that_does_not_stream_is_understood(api, prompt):
    whole = {"choices": [{"message": {"content": "Whole."}, "finish_reason": "stop"}]}
    api.script(Turn(raw=json.dumps(whole).encode()))
    answer = openai(api).complete(prompt, 10.0)
    assert (answer.text, answer.tokens_in, answer.tokens_out) == ("Whole.", 5, 2)


def test_a_server_that_will_not_count_is_asked_not_to(api, prompt):
    api.script(Turn(status=400, message="unknown field stream_options"), Turn("Fine."))
    assert openai(api).complete(prompt, 10.0).text == "Fine."
    assert ["stream_options" in body for body in api.bodies()] == [True, False]


@pytest.mark.parametrize("raw", [b"<html>hello</html>", b"[]", b'{"choices": 5}', b"null", b"[" * 100_000])
def test_an_answer_that_is_no_completion_is_a_failure(api, prompt, raw):
    api.script(Turn(raw=raw))
    with pytest.raises(LLMFailed, match=r"chat completion|broke off|ended without"):
        list(OpenAICompatible(ChatEndpoint(api.url, "llama")).pieces(prompt, 10.0))


def test_a_server_that_is_not_there_is_named(prompt, pauses):
    gone = OpenAICompatible(ChatEndpoint("http://127.0.0.1:9/v1", "llama"))
    with pytest.raises(LLMFailed, match=r"openai cannot be reached .*llm_url"):
        Retrying(gone, pauses.timing()).complete(prompt, 10.0)


def test_nobody_is_asked_unless_somebody_was_chosen(tmp_path):
    assert make_llm(Settings(home=tmp_path), {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY}) is None


@pytest.mark.parametrize(
    ("fields", "environment", "why"),
    [
        ({"llm": "anthropic"}, {}, "no key for anthropic"),
        ({"llm": "openai"}, {}, "no key for openai"),
        ({"llm": "anthropic"}, {"ANTHROPIC_API_KEY": "short"}, "^ANTHROPIC_API_KEY has 5 characters"),
        ({"llm": "openai", "llm_url": "http://localhost:1"}, {}, "llm_model does not say"),
        ({"llm": "openai", "llm_url": "ftp://x", "llm_model": "m"}, {}, "must begin with http"),
        ({"llm": "anthropic", "llm_url": "http://x.example"}, {"ANTHROPIC_API_KEY": KEY}, "plain text"),
        ({"llm": "claude-cli"}, {"PATH": ""}, "not on the PATH"),
    ],
)
def test_one_that_cannot_be_asked_says_why_and_breaks_nothing(tmp_path, fields, environment, why, prompt):
    llm = make_llm(Settings(home=tmp_path, **fields), {"HOME": str(tmp_path), **environment})
    assert re.search(why, llm.why_not())
    with pytest.raises(LLMFailed, match=why):
        llm.complete(prompt, 5.0)


def test_the_one_that_was_chosen_is_wired(tmp_path, api, prompt):
    pytest.importorskip("anthropic")
    settings = Settings(home=tmp_path, llm="anthropic", llm_model="claude-haiku-4-5")
    llm = make_llm(settings, {"HOME": str(tmp_path), "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": api.url})
    assert (llm.name, llm.why_not()) == ("claude-haiku-4-5 (anthropic)", None)
    assert llm.complete(prompt, 10.0).text == "Fine."
    assert KEY in json.dumps(api.seen[0][1])


def test_without_the_sdk_it_says_what_to_install(tmp_path):
    code = (
        "import sys, importlib.abc\n"
        "class No(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name.partition('.')[0] == 'anthropic': raise ModuleNotFoundError(name)\n"
        "import importlib.util; real = importlib.util.find_spec\n"
        "sys.meta_path.insert(0, No()); sys.modules['anthropic'] = None\n"
        "importlib.util.find_spec = lambda name, *a: None if name == 'anthropic' else real(name, *a)\n"
        "from retain.llm.anthropic import Anthropic\n"
        "from retain.domain.llm import Prompt\n"
        "from retain.errors import MissingExtra\n"
        "llm = Anthropic('sk-ant-12345678')\n"
        "assert '.[anthropic]' in llm.why_not(), llm.why_not()\n"
        "try: next(llm.pieces(Prompt('a', 'b'), 5.0))\n"
        "except MissingExtra as error: print(error.message)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert "pip install '.[anthropic]'" in done.stdout, done.stderr


def test_the_sdk_is_not_loaded_before_it_is_asked():
    code = "import sys, retain.llm.anthropic, retain.wiring; print('anthropic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.strip() == "False", done.stderr


def test_a_child_sees_its_login_and_nothing_of_the_session_around_it():
    around = {
        "PATH": "/bin",
        "CLAUDECODE": "1",
        "CLAUDE_CODE_SESSION_ID": "s1",
        "CLAUDE_PROJECT_DIR": "/p",
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CODE_OAUTH_TOKEN": "login",
        "CLAUDE_CODE_USE_BEDROCK": "1",
        "CLAUDE_CONFIG_DIR": "/c",
    }
    seen = child_environment(around, None)
    assert not {"CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PROJECT_DIR", "ANTHROPIC_API_KEY"} & set(seen)
    kept = ("PATH", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CONFIG_DIR", "RETAIN_HOOKS")
    assert [seen[name] for name in kept] == ["/bin", "login", "1", "/c", "off"]
    assert child_environment(around, "sk-own-key")["ANTHROPIC_API_KEY"] == "sk-own-key"


@pytest.fixture
def command(tmp_path):
    """A command of ours in place of the client: it does what the test says."""
    if os.name != "posix":
        pytest.skip("the stand-in for the command is a shell script")

    def make(script):
        file = tmp_path / "bin" / "claude"
        file.parent.mkdir()
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
        return ClaudeCommand({"PATH": f"{file.parent}:/usr/bin:/bin", "HOME": str(tmp_path)})

    return make


def test_a_command_that_hangs_is_ended_with_all_its_children(command, prompt, tmp_path):
    llm = command(f"sleep 300 & echo $! > {tmp_path}/child; sleep 300")
    with pytest.raises(LLMFailed, match="did not answer within"):
        list(llm.pieces(prompt, 0.5))
    child = int((tmp_path / "child").read_text())
    assert not _lives(child)


def _lives(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text()
        return state.rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_command_that_fails_says_what_it_complained_of(command, prompt):
    with pytest.raises(LLMFailed, match=r"unknown option.*run `claude`"):
        list(command("echo 'error: unknown option --tools' >&2; exit 1").pieces(prompt, 10.0))


def test_one_that_is_not_logged_in_says_how_to(command, prompt):
    said = json.dumps({"type": "result", "subtype": "success", "is_error": True, "result": "Please run /login"})
    with pytest.raises(LLMFailed, match="log in"):
        list(command(f"echo '{said}'").pieces(prompt, 10.0))


def test_the_command_is_asked_in_an_empty_folder_that_is_gone_afterwards(command, prompt, tmp_path):
    done = json.dumps({"type": "result", "subtype": "success", "result": "Fine."})
    llm = command(f"pwd > {tmp_path}/where; ls >> {tmp_path}/where; echo '{done}'")
    list(llm.pieces(prompt, 10.0))
    where, *files = (tmp_path / "where").read_text().split()
    assert files == ["errors", "instructions", "question"]
    assert not Path(where).exists()
