"""Counting calls, across processes, and resting when the day's budget is spent."""

import json
import logging
import stat
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from fake_apis import KEY, Turn
from retain.errors import LLMFailed
from retain.llm.metered import Ledger, Metered, Spent
from retain.llm.openai import ChatEndpoint, OpenAICompatible
from retain.llm.prices import cost
from retain.llm.retrying import Retrying

DAY = datetime(2026, 3, 2, 23, 59, tzinfo=UTC)
WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from retain.llm.metered import Ledger
ledger = Ledger(Path(sys.argv[1]), lambda: datetime(2026, 3, 2, 9, 30, tzinfo=UTC))
for _ in range(200):
    ledger.note({"usd": 0.001, "note": "x" * 200})
"""


class Priced(OpenAICompatible):
    """A local server that costs what OpenAI's model does."""

    def __init__(self, endpoint):
        super().__init__(endpoint)
        self._is_free = False


@pytest.fixture
def metered(api, ledger, pauses):
    def make(model="gpt-4.1-mini", **fields):
        asked = Retrying(Priced(ChatEndpoint(api.url, model, KEY)), pauses.timing())
        return Metered(asked, ledger, **{"daily_usd": 1.0, **fields})

    return make


def calls(tmp_path):
    return [json.loads(line) for line in (tmp_path / "usage" / "2026-03-02.jsonl").read_text().splitlines()]


def test_a_call_costs_what_its_tokens_cost(metered, api, prompt, ledger):
    api.script(Turn("Fine.", tokens=(1000, 2000)))
    assert metered().complete(prompt, 10.0).usd == pytest.approx(0.0036)
    assert ledger.spent() == Spent(0.0036, 1, 0)


def test_when_the_budget_is_spent_nobody_is_asked(metered, api, prompt):
    api.script(Turn("Fine.", tokens=(1_000_000, 1_000_000)))
    llm = metered()
    llm.complete(prompt, 10.0)
    assert "budget of $1 is spent ($2.00 in 1 calls)" in llm.why_not()
    with pytest.raises(LLMFailed, match="llm_daily_usd"):
        llm.complete(prompt, 10.0)
    assert len(api.seen) == 1


def test_a_budget_of_nothing_means_that_nobody_is_asked(metered, api, prompt):
    llm = metered(daily_usd=0.0)
    assert "llm_daily_usd is 0" in llm.why_not()
    with pytest.raises(LLMFailed, match="never asked"):
        llm.complete(prompt, 10.0)
    assert api.seen == []


def test_after_so_many_calls_nobody_is_asked(metered, prompt):
    llm = metered("mystery-model", most_calls=2)
    llm.complete(prompt, 10.0)
    assert llm.why_not() is None
    llm.complete(prompt, 10.0)
    assert "asked 2 times today, and 2 is the most (the price of 2 is unknown)" in llm.why_not()


def test_a_price_that_nobody_knows_is_said_to_be_unknown(metered, prompt, tmp_path):
    metered("mystery-model").complete(prompt, 10.0)
    assert calls(tmp_path)[0]["usd"] is None


def test_a_call_that_failed_is_counted_too(metered, api, prompt, tmp_path):
    api.script(Turn(status=400))
    with pytest.raises(LLMFailed):
        metered().complete(prompt, 10.0)
    (call,) = calls(tmp_path)
    assert (call["ok"], call["tokens_in"]) == (False, 5)


def test_a_stream_that_nobody_hears_to_its_end_is_counted(metered, api, prompt, tmp_path):
    api.script(Turn("One two three four five six seven."))
    stream = metered().stream(prompt, 10.0)
    next(stream)
    stream.close()
    (call,) = calls(tmp_path)
    assert (call["ok"], call["tokens_out"]) == (False, 2)


def test_another_day_has_a_budget_of_its_own(tmp_path):
    Ledger(tmp_path, lambda: DAY).note({"usd": 5.0})
    assert Ledger(tmp_path, lambda: DAY.replace(day=3)).spent() == Spent()
    assert Ledger(tmp_path, lambda: DAY).spent().usd == 5.0


def test_processes_that_write_at_the_same_time_lose_no_line(tmp_path):
    command = [sys.executable, "-c", WRITER, str(tmp_path / "usage")]
    for writer in [subprocess.Popen(command) for _ in range(4)]:
        assert writer.wait(60) == 0
    spent = Ledger(tmp_path / "usage", lambda: DAY).spent()
    assert (spent.calls, spent.unpriced) == (800, 0)


def test_a_line_that_cannot_be_read_counts_as_a_call(ledger, tmp_path):
    ledger.note({"usd": 0.5})
    with (tmp_path / "usage" / "2026-03-02.jsonl").open("a") as file:
        file.write('{"usd": 0.\nnull\n{"usd": "many"}\n')
    assert ledger.spent() == Spent(0.5, 4, 3)


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are of POSIX")
def test_the_ledger_is_for_the_user_alone(ledger, tmp_path):
    ledger.note({"usd": 0.5})
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "usage", *(tmp_path / "usage").iterdir())]
    assert modes == [0o700, 0o600]


def test_what_cannot_be_counted_is_not_spent(metered, api, prompt, tmp_path):
    (tmp_path / "usage").write_text("a file in place of the folder")
    with pytest.raises(LLMFailed, match="costs cannot be counted"):
        metered().complete(prompt, 10.0)
    assert api.seen == []


def test_nothing_of_a_call_but_its_counts_is_written_down(metered, api, prompt, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    api.script(Turn(status=401, message=f"bad key {KEY}"))
    with pytest.raises(LLMFailed):
        metered().complete(prompt, 10.0)
    written = (tmp_path / "usage" / "2026-03-02.jsonl").read_text() + caplog.text
    assert KEY not in written
    assert prompt.text not in written


def test_a_dated_model_costs_what_its_name_does():
    assert cost("claude-haiku-4-5-20251001", 1_000_000, 1_000_000) == 6.0
    assert cost("mystery-model", 1, 1) is None
