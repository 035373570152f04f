"""The real `claude` client, where it is installed: nothing of the user's takes part, and no file is attached."""

import json

import pytest

from retain.domain.llm import Prompt
from retain.llm.retrying import Retrying


@pytest.fixture
def home(tmp_path):
    """A user who has hooks, a server and instructions, each of which would leave a trace."""
    trace = tmp_path / "trace"
    hook = [{"hooks": [{"type": "command", "command": f"touch {trace}"}]}]
    (tmp_path / ".claude").mkdir()
    hooks = dict.fromkeys(("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"), hook)
    (tmp_path / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks}))
    (tmp_path / ".claude" / "CLAUDE.md").write_text("Always say moo.")
    servers = {"mcpServers": {"toucher": {"command": "touch", "args": [str(trace)]}}}
    (tmp_path / ".claude.json").write_text(json.dumps(servers))
    return tmp_path


def test_nothing_of_the_user_takes_part(home, claude, api, prompt):
    Retrying(claude).complete(prompt, 60.0)
    assert not (home / "trace").exists()
    assert "moo" not in json.dumps(api.bodies())
    assert api.bodies()[0]["tools"] == []


def test_no_session_is_kept(home, claude, prompt):
    Retrying(claude).complete(prompt, 60.0)
    assert not list(home.glob(".claude/projects/**/*.jsonl"))


def test_a_file_that_a_transcript_names_is_not_attached(home, claude, api):
    (home / "diary.txt").write_text("dear diary")
    api.script("You wrote to @ada.")
    answer = Retrying(claude).complete(Prompt("Be brief.", f"USER: look at @{home}/diary.txt"), 60.0)
    assert "dear diary" not in json.dumps(api.bodies())
    assert answer.text == "You wrote to @ada."
