"""Where a key is found, in which order, and how one is kept."""

import json
import stat
import sys

import pytest

from retain.config import Settings
from retain.errors import InvalidInput
from retain.keys import find_key, key_file, remove_key, store_key


def a_key(name):
    return f"sk-ant-{name}-0123456789"


@pytest.fixture
def home(tmp_path):
    """A home in which every place for a key has one, each of another name."""
    for path, text in {
        ".retain/key": a_key("stored") + "\n",
        ".memory-mcp/config.json": json.dumps({"apiKey": a_key("config")}),
        ".config/anthropic/api_key": a_key("xdg") + "\n",
        ".anthropic/api_key": a_key("dot"),
    }.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True)
        file.write_text(text)
    return tmp_path


def settings(home, llm="anthropic", **fields):
    return Settings(home=home / ".retain", llm=llm, **fields)


def test_the_first_place_that_has_a_key_wins_in_the_order_of_the_contract(home):
    found = [find_key(settings(home, llm_key=a_key("set")), {"ANTHROPIC_API_KEY": a_key("env")}, home)]
    found.append(find_key(settings(home), {"ANTHROPIC_API_KEY": a_key("env")}, home))
    for file in [".retain/key", ".memory-mcp/config.json", ".config/anthropic/api_key", ".anthropic/api_key"]:
        found.append(find_key(settings(home), {}, home))
        (home / file).unlink()
    names = ["set", "env", "stored", "config", "xdg", "dot"]
    assert [one.key for one in found] == [a_key(name) for name in names]
    assert find_key(settings(home), {}, home) is None


def test_a_key_says_where_it_was_and_does_not_show_itself(home):
    found = find_key(settings(home), {"ANTHROPIC_API_KEY": a_key("env")}, home)
    assert found.origin == "ANTHROPIC_API_KEY"
    assert a_key("env") not in repr(found)


@pytest.mark.parametrize("llm", ["none", "claude-cli"])
def test_a_key_that_lies_about_is_no_consent(home, llm):
    assert find_key(settings(home, llm), {"ANTHROPIC_API_KEY": a_key("env")}, home) is None


def test_openai_has_places_of_its_own(home):
    assert find_key(settings(home, "openai"), {"OPENAI_API_KEY": "sk-proj-12345678"}, home).key == "sk-proj-12345678"
    assert find_key(settings(home, "openai"), {"ANTHROPIC_API_KEY": a_key("env")}, home) is None


def test_a_kept_key_of_anthropic_is_not_sent_to_others(home):
    assert find_key(settings(home, "openai", llm_url="https://llm.example/v1"), {}, home) is None
    assert find_key(settings(home, "openai", llm_url="https://api.anthropic.com/v1"), {}, home).key == a_key("stored")


def test_a_server_on_this_machine_gets_no_key_from_the_environment(home):
    local = settings(home, "openai", llm_url="http://localhost:11434/v1")
    assert find_key(local, {"OPENAI_API_KEY": "sk-proj-12345678"}, home) is None


@pytest.mark.parametrize("config", ["{", "[]", '{"apiKey": 5}', '{"apiKey": ""}', "\x00", "[" * 100_000])
def test_a_file_that_makes_no_sense_is_passed_over(home, config):
    (home / ".retain/key").unlink()
    (home / ".memory-mcp/config.json").write_text(config)
    assert find_key(settings(home), {}, home).key == a_key("xdg")


@pytest.mark.parametrize("file", ["two words\n", "line\nbreak", "x", "x" * 501, "schlüssel-1234"])
def test_what_cannot_be_a_key_is_passed_over(home, file):
    (home / ".retain/key").write_text(file)
    assert find_key(settings(home), {}, home).key == a_key("config")


def test_a_kept_key_is_found_again_and_removed_again(tmp_path):
    own = settings(tmp_path)
    store_key(own, f"  {a_key('mine')}\n")
    assert find_key(own, {}, tmp_path).key == a_key("mine")
    assert remove_key(own)
    assert not remove_key(own)
    assert find_key(own, {}, tmp_path) is None


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are of POSIX")
def test_a_kept_key_is_for_the_user_alone(tmp_path):
    own = settings(tmp_path)
    store_key(own, a_key("old"))
    store_key(own, a_key("new"))
    assert stat.S_IMODE(key_file(own).stat().st_mode) == 0o600
    assert [file.name for file in key_file(own).parent.iterdir()] == ["key"]


@pytest.mark.parametrize("key", ["", "short", "two words here", "line\nbreak-123", "schlüssel-1234", "x" * 501])
def test_what_cannot_be_a_key_is_not_kept_and_not_quoted(tmp_path, key):
    with pytest.raises(InvalidInput, match="copy the whole key") as refused:
        store_key(settings(tmp_path), key)
    assert not key or key not in refused.value.message
    assert not key_file(settings(tmp_path)).exists()
