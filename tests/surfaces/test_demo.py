"""The demo: the whole story, with the real model and a real second process."""

import json

import pytest

from surfaces.command import Command


@pytest.fixture(scope="module")
def retain(tmp_path_factory):
    return Command.in_folder(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="module")
def told(retain):
    """The story, told once to a user with settings of their own."""
    return retain.process("demo", RETAIN_EMBEDDING_MODEL="off", RETAIN_STORE="surrealdb")


def test_the_demo_tells_the_whole_story_whatever_the_user_has_set(told, retain):
    assert told.code == 0, told.err
    for chapter in ("Store", "Recall by meaning", "Knowledge graph", "Context block", "Two windows", "Consolidation"):
        assert chapter in told.out
    assert "removed before storing" in told.out
    assert "; 0 faults" in told.out
    assert "Undo it with: retain undo" in told.out
    assert "undone" in told.out
    assert not retain.home.exists()


def test_the_demo_finds_by_meaning_and_loses_no_write(told):
    lines = told.out.splitlines()
    (asked,) = [n for n, line in enumerate(lines) if line.startswith("$ retain recall")]
    assert "Sessions expire" in lines[asked + 2]
    (count,) = [line for line in lines if " are there, " in line]
    stored, of, total, *_ = count.split()
    assert (of, stored) == ("of", total)


def test_the_demo_ends_with_the_lines_that_connect_a_client(told):
    *_, setup, _, claude, _, config = told.out.splitlines()
    assert setup.endswith(" setup")
    assert claude.strip().startswith("claude mcp add retain -- /")
    assert json.loads(config)["mcpServers"]["retain"]["args"][-1] == "serve"


def test_the_demo_answers_json(retain):
    body = retain.process("demo", "--json").body
    assert body["connect"].startswith("claude mcp add retain")
    assert body["memories"] > 20
