"""The `claude` command as a language model, for people with a subscription and no key.

It is a whole agent; here it is asked one question with everything else of it switched off: tools, hooks,
servers, settings, instructions from files, and the record of the session.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from retain.domain.llm import Completion, Prompt
from retain.errors import LLMFailed
from retain.llm.prices import cost
from retain.llm.provider import Pieces, broke_off, for_good, late, refused, tokens_in, told, unreachable

MODEL = "haiku"
COMMAND = "claude"
# Tells our own hooks, should they be called after all, to do nothing: a memory must not be made of its making.
HOOKS_OFF = {"RETAIN_HOOKS": "off"}
_QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",
    "CLAUDE_CODE_MAX_RETRIES": "0",  # whether to try again is decided one level up
    "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",
    "DISABLE_AUTOUPDATER": "1",
    "MAX_THINKING_TOKENS": "0",
}
# Variables of the client that say how it logs in; the others are about the session that we may be running in.
_LOGIN = ("CLAUDE_CODE_OAUTH_", "CLAUDE_CODE_USE_", "CLAUDE_CODE_SKIP_", "CLAUDE_CODE_CLIENT_", "CLAUDE_CODE_CERT_")
_OPTIONS = (
    *("--print", "--output-format", "stream-json", "--verbose", "--include-partial-messages"),
    *("--strict-mcp-config", "--no-session-persistence", "--disable-slash-commands"),
)
# In a prompt, @name attaches the file of that name, wherever it is; a transcript is full of such names.
_AT, _WIDE_AT = "@", "＠"


class ClaudeCommand:
    name = "claude-cli"

    def __init__(self, environment: Mapping[str, str], model: str = MODEL, key: str | None = None) -> None:
        self._model, self._key = model, key
        self._environment = child_environment(environment, key)

    @property
    def model(self) -> str:
        return self._model

    @property
    def is_priced(self) -> bool:
        """By what the command says that it would cost; a subscription has paid for it already."""
        return True

    def why_not(self) -> str | None:
        if self._found() is None:
            return "the command `claude` is not on the PATH: install Claude Code, or set llm to anthropic or openai"
        return None

    def pieces(self, prompt: Prompt, seconds: float) -> Pieces:
        command = self._found()
        if command is None:
            raise for_good(str(self.why_not()), provider=self.name)
        # A folder of its own: no project's settings, servers or instructions are in it.
        with tempfile.TemporaryDirectory(prefix="retain-", ignore_cleanup_errors=True) as folder:
            here = Path(folder)
            (here / "instructions").write_text(prompt.instructions, encoding="utf-8")
            (here / "question").write_text(prompt.text.replace(_AT, _WIDE_AT), encoding="utf-8", errors="replace")
            with _running(self._command(command, here), self._child(prompt), here, seconds) as run:
                yield from self._read(run, prompt, seconds)

    def _found(self) -> str | None:
        return shutil.which(COMMAND, path=self._environment.get("PATH"))

    def _command(self, command: str, here: Path) -> list[str]:
        own = ["--model", self._model, "--system-prompt-file", str(here / "instructions")]
        return [command, *_OPTIONS, *own, "--tools", "", "--setting-sources", ""]

    def _child(self, prompt: Prompt) -> dict[str, str]:
        return self._environment | {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(prompt.max_tokens)}

    def _read(self, run: "_Run", prompt: Prompt, seconds: float) -> Pieces:
        said: list[str] = []
        for event in _events(run.out):
            if piece := _piece(event):
                said.append(piece)
                yield piece
            if event.get("type") == "result":
                yield self._completion(event, "".join(said))
                return
            if _stopped(event) == "max_tokens":  # the command would go on and ask for more
                yield self._cut("".join(said), prompt)
                return
        if run.killed.is_set():
            raise late(self.name, seconds)
        raise for_good(f"{self.name} gave no answer ({told(run.complaint()) or 'and no reason'}): run `claude` to see")

    def _completion(self, result: Mapping[str, Any], said: str) -> Completion:
        text = str(result.get("result") or "").replace(_WIDE_AT, _AT)
        if result.get("is_error") or result.get("subtype") != "success":
            raise self._failed(result.get("api_error_status"), text or str(result.get("subtype")))
        usage, usd = result.get("usage"), result.get("total_cost_usd")
        counts = usage if isinstance(usage, dict) else {}
        sent = sum(_number(counts.get(name)) for name in counts if name.endswith("input_tokens"))
        dollars = float(usd) if isinstance(usd, int | float) else 0.0
        return Completion(text or said, sent, _number(counts.get("output_tokens")), dollars)

    def _cut(self, said: str, prompt: Prompt) -> Completion:
        sent, made = tokens_in(prompt.instructions + prompt.text), prompt.max_tokens
        return Completion(said, sent, made, cost(self._model, sent, made) or 0.0, cut=True)

    def _failed(self, status: object, why: str) -> LLMFailed:
        if isinstance(status, int) and status >= 400:
            return refused(self.name, status, why)
        if "log in" in why.lower() or "/login" in why.lower():
            advice = "run `claude` and log in, or set llm to anthropic to use a key"
            return for_good(f"{self.name} is not logged in: {advice}", provider=self.name)
        return unreachable(self.name, why) if "connect" in why.lower() else broke_off(self.name, why)


def child_environment(environment: Mapping[str, str], key: str | None) -> dict[str, str]:
    """What the command sees: how it logs in, and nothing of a session that it may be running in.

    A key that lies in the environment is taken away: whoever chose the command wants the subscription to pay.
    """
    kept = {
        name: value
        for name, value in environment.items()
        if name.startswith(_LOGIN) or not (name.startswith("CLAUDE") or name == "ANTHROPIC_API_KEY")
    }
    if "CLAUDE_CONFIG_DIR" in environment:
        kept["CLAUDE_CONFIG_DIR"] = environment["CLAUDE_CONFIG_DIR"]
    return kept | _QUIET | HOOKS_OFF | ({"ANTHROPIC_API_KEY": key} if key else {})


@dataclass(slots=True)
class _Run:
    """The command at work."""

    process: subprocess.Popen[bytes]
    out: IO[bytes]
    errors: Path
    killed: threading.Event = field(default_factory=threading.Event)

    def complaint(self) -> str:
        with contextlib.suppress(OSError):
            return self.errors.read_bytes()[-2000:].decode("utf-8", "replace")
        return ""

    def kill(self) -> None:
        """Ends the command with all that it started."""
        self.killed.set()
        with contextlib.suppress(OSError):
            if os.name == "posix":
                os.killpg(self.process.pid, signal.SIGKILL)
            else:  # the command is a script there, whose child would live on
                subprocess.run(
                    ["taskkill", "/T", "/F", "/PID", str(self.process.pid)], capture_output=True, check=False
                )


@contextlib.contextmanager
def _running(command: list[str], environment: Mapping[str, str], here: Path, seconds: float) -> Iterator[_Run]:
    """Starts the command, and sees to it that nothing of it is left, however the block ends."""
    errors = here / "errors"
    with (here / "question").open("rb") as question, errors.open("wb") as complaints:
        try:
            process = subprocess.Popen(
                command,
                stdin=question,
                stdout=subprocess.PIPE,
                stderr=complaints,
                cwd=here,
                env=dict(environment),
                start_new_session=True,
            )
        except OSError as error:
            raise for_good(f"{ClaudeCommand.name} cannot be started ({error}): run `claude` to see") from None
    assert process.stdout is not None  # because of PIPE
    run = _Run(process, process.stdout, errors)
    timer = threading.Timer(seconds, run.kill)
    timer.daemon = True
    timer.start()
    try:
        yield run
    finally:
        timer.cancel()
        run.kill()
        process.stdout.close()
        process.wait()


def _events(out: IO[bytes]) -> Iterator[dict[str, Any]]:
    for line in out:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue  # a notice for people
        if isinstance(event, dict):
            yield event


def _piece(event: Mapping[str, Any]) -> str:
    """The words in an event of the stream; other events have none."""
    try:
        inner = event["event"]
        return str(inner["delta"]["text"]).replace(_WIDE_AT, _AT) if inner["type"] == "content_block_delta" else ""
    except (KeyError, TypeError):
        return ""


def _stopped(event: Mapping[str, Any]) -> object:
    """Why the model stopped, in the event that says so."""
    try:
        return event["event"]["delta"]["stop_reason"]
    except (KeyError, TypeError):
        return None


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
