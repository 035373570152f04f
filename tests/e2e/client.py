"""The real Claude Code client, headless: installed into a cache folder, talked to, never waited for without end.

`RETAIN_E2E_CACHE` names the folder for the client (default: ~/.cache/retain-e2e).
"""

import fcntl
import json
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from e2e.messages_api import MessagesApi, Note, Request, notes_in

if TYPE_CHECKING:
    from e2e.home import Home

PACKAGE, VERSION = "@anthropic-ai/claude-code", "2.1.325"
SECONDS = 60.0
"""The longest that anything may take; what takes longer has failed."""
CALM = threading.Event()  # never set: a pause between two looks


class Unavailable(Exception):
    """The client cannot be had on this machine; the message says why."""


def cache() -> Path:
    return Path(os.environ.get("RETAIN_E2E_CACHE") or Path.home() / ".cache" / "retain-e2e")


def installed() -> Path:
    """The client's command, from npm if it is not there yet."""
    folder = cache() / f"claude-code-{VERSION}"
    command = folder / "node_modules" / ".bin" / "claude"
    if not command.exists():
        cache().mkdir(parents=True, exist_ok=True)
        with (cache() / "installing").open("w") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)  # other workers ask at the same moment
            if not command.exists():
                _install(folder)
    if not command.exists():
        raise Unavailable(f"npm installed {PACKAGE}@{VERSION}, but {command} is not there")
    return command


def _install(folder: Path) -> None:
    """Whole or not at all: who finds the folder may start what is in it."""
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable("npm is not installed")
    with tempfile.TemporaryDirectory(prefix="part-", dir=folder.parent) as part:
        made = Path(part) / "made"
        made.mkdir()
        (made / "package.json").write_text("{}")
        order = [npm, "install", "--no-audit", "--no-fund", "--loglevel", "error", f"{PACKAGE}@{VERSION}"]
        done = subprocess.run(order, cwd=made, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode:
            raise Unavailable(f"npm could not install {PACKAGE}@{VERSION}: {done.stderr.strip()[-500:]}")
        shutil.rmtree(folder, ignore_errors=True)  # what an earlier try left of it
        made.rename(folder)


def until(met: Callable[[], Any], what: str, seconds: float = SECONDS) -> Any:
    """Looks again and again until there is an answer, and gives it."""
    late = time.monotonic() + seconds
    while not (found := met()):
        if time.monotonic() > late:
            raise AssertionError(f"after {seconds:g} s still not true: {what}")
        CALM.wait(0.02)
    return found


@dataclass(frozen=True)
class HookRun:
    """One run of a hook, as the client's stream tells it."""

    event: str
    name: str
    milliseconds: float
    outcome: str
    output: str

    @property
    def notes(self) -> list[Note]:
        """What it wanted the model to read."""
        try:
            said = json.loads(self.output).get("hookSpecificOutput", {})
        except ValueError:
            return []
        return list(notes_in(said.get("additionalContext", ""), self.event))


@dataclass(frozen=True)
class Answer:
    """What came back for one prompt."""

    text: str
    failed: bool
    seconds: float
    hooks: tuple[HookRun, ...]

    @property
    def notes(self) -> list[Note]:
        return [note for hook in self.hooks for note in hook.notes]


def signalled(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


class Session:
    """A running client to which prompts can be said. Its requests are those of its API since it began."""

    def __init__(
        self,
        home: "Home",
        api: MessagesApi,
        project: Path,
        *,
        resume: str | None = None,
        arguments: Sequence[str] = (),
        under: Sequence[str] = (),
    ) -> None:
        """`under`: a command that starts the client in its turn."""
        self.home, self.api, self.project = home, api, project
        self.events: list[dict[str, Any]] = []
        self.began = time.monotonic()
        self.ended_after: float | None = None
        self.seconds: float | None = None
        self._first = len(api.seen)
        self._lines: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._errors: list[str] = []
        order = [*under, str(installed()), *_OPTIONS, *(["--resume", resume] if resume else []), *arguments]
        self.process = subprocess.Popen(
            order,
            cwd=project,
            env=home.environment(api),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self._readers = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def say(self, prompt: str, seconds: float = SECONDS) -> Answer:
        """Types a prompt and waits for the answer."""
        began, first = time.monotonic(), len(self.events)
        self.send(prompt)
        result = self.next("result", seconds)
        taken = time.monotonic() - began
        hooks = _hooks(self.events[first:], self.events)
        return Answer(str(result.get("result", "")), bool(result.get("is_error")), taken, tuple(hooks))

    def send(self, prompt: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"type": "user", "message": {"role": "user", "content": prompt}}) + "\n")
        self.process.stdin.flush()

    def next(self, kind: str, seconds: float = SECONDS) -> dict[str, Any]:
        """The next event of a kind; those before it are in `events` too."""
        late = time.monotonic() + seconds
        while True:
            try:
                event = self._lines.get(timeout=max(late - time.monotonic(), 0.01))
            except queue.Empty:
                raise AssertionError(f"no {kind} within {seconds:g} s{self._story()}") from None
            if event is None:
                raise AssertionError(f"the client ended before a {kind}{self._story()}")
            self.events.append(event)
            if event.get("type") == kind:
                return event

    def end(self, seconds: float = SECONDS) -> None:
        """Says good-bye, as a user does who closes the client, and waits until it has gone."""
        assert self.process.stdin
        began = time.monotonic()
        if not self.process.stdin.closed:
            self.process.stdin.close()
        try:
            code = self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the client did not end within {seconds:g} s{self._story()}") from None
        self.ended_after = time.monotonic() - began
        self.seconds = time.monotonic() - self.began
        for reader in self._readers:
            reader.join(timeout=5)
        while not self._lines.empty():
            if event := self._lines.get():
                self.events.append(event)
        assert code == 0, f"the client ended with {code}{self._story()}"

    def kill(self) -> None:
        if self.process.poll() is None:
            signalled(self.process.pid, signal.SIGKILL)
            self.process.wait(timeout=10)

    @property
    def id(self) -> str:
        """The session's id as it is now: /clear changes it."""
        return next(event["session_id"] for event in reversed(self.events) if event.get("session_id"))

    @property
    def requests(self) -> list[Request]:
        """What the model was sent in this session."""
        return [request for request in self.api.seen[self._first :] if request.path == "/v1/messages"]

    @property
    def hooks(self) -> list[HookRun]:
        """Every run of a hook that the client told of; it is silent about SessionEnd."""
        return _hooks(self.events, self.events)

    @property
    def transcript(self) -> Path:
        (found,) = (self.home.folder / ".claude" / "projects").glob(f"*/{self.id}.jsonl")
        return found

    @property
    def durations(self) -> list[tuple[str, float]]:
        """How long hooks took by the client's own clock (milliseconds), from the transcript."""
        found = []
        for line in self.transcript.read_text().splitlines():
            entry = json.loads(line)
            kept = entry.get("attachment", {})
            if str(kept.get("type", "")).startswith("hook_") and "durationMs" in kept:
                found.append((kept["hookEvent"], float(kept["durationMs"])))
        return found

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            if line.strip().startswith("{"):
                self._lines.put({**json.loads(line), "at": time.monotonic()})
        self._lines.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr
        self._errors.extend(self.process.stderr)

    def _story(self) -> str:
        """What is known when something did not come."""
        seen = [f"{e.get('type')}/{e.get('subtype', '')} {str(e.get('result', ''))[:200]}" for e in self.events[-12:]]
        return "\n".join(["", *seen, "".join(self._errors)[-2000:]])


def _hooks(some: Sequence[Mapping[str, Any]], events: Sequence[Mapping[str, Any]]) -> list[HookRun]:
    begun = {event["hook_id"]: event["at"] for event in events if event.get("subtype") == "hook_started"}
    return [
        HookRun(
            event["hook_event"],
            event["hook_name"],
            (event["at"] - begun.get(event["hook_id"], event["at"])) * 1000,
            event.get("outcome", ""),
            event.get("output", ""),
        )
        for event in some
        if event.get("subtype") == "hook_response"
    ]


_OPTIONS = (
    "-p",
    "--input-format=stream-json",
    "--output-format=stream-json",
    "--verbose",
    "--include-hook-events",
    "--permission-mode=bypassPermissions",
)
