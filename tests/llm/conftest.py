"""Every provider against the same local server; the real SDK, and the real client where it is installed."""

import os
import shutil
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fake_apis import KEY, FakeApis
from retain.domain.llm import Prompt
from retain.llm.anthropic import Anthropic
from retain.llm.claude_cli import ClaudeCommand
from retain.llm.metered import Ledger, Metered
from retain.llm.openai import ChatEndpoint, OpenAICompatible
from retain.llm.retrying import Retrying, Timing

# Where `make e2e` and people put the client.
CLIENTS = [Path(found).parent for found in [shutil.which("claude"), os.environ.get("RETAIN_TEST_CLAUDE")] if found]


class Pauses(list):
    """The pauses that were asked for, none of which was made; `later` lets time pass."""

    later = 0.0

    def timing(self):
        return Timing(now=lambda: time.monotonic() + self.later, sleep=self.append, chance=lambda: 1.0)


@pytest.fixture
def api():
    with FakeApis() as server:
        yield server


@pytest.fixture
def pauses():
    return Pauses()


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "usage", lambda: datetime(2026, 3, 2, 9, 30, tzinfo=UTC))


def claude_command(api, home):
    if not CLIENTS:
        pytest.skip("the `claude` command is not installed (set RETAIN_TEST_CLAUDE to its path)")
    path = os.pathsep.join([str(CLIENTS[0]), os.environ["PATH"]])
    quiet = {"DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1"}
    environment = {"PATH": path, "HOME": str(home), "ANTHROPIC_BASE_URL": api.url, **quiet}
    return ClaudeCommand(environment, "claude-haiku-4-5", KEY)


PROVIDERS = {
    "anthropic": lambda api, home: Anthropic(KEY, url=api.url),
    "openai": lambda api, home: OpenAICompatible(ChatEndpoint(api.url, "gpt-4.1-mini", KEY)),
    "claude-cli": claude_command,
}


@pytest.fixture(params=PROVIDERS)
def provider(request, api, tmp_path):
    if request.param == "anthropic":
        pytest.importorskip("anthropic")
    return PROVIDERS[request.param](api, tmp_path)


@pytest.fixture
def claude(api, tmp_path):
    return claude_command(api, tmp_path)


@pytest.fixture
def llm(provider, pauses, ledger):
    return Metered(Retrying(provider, pauses.timing()), ledger, daily_usd=1.0)


@pytest.fixture
def prompt():
    return Prompt("Be brief.", "What is up?", max_tokens=500, purpose="extract")
