"""A machine with one user and the client on it: a home folder, projects, what runs there, and what is remembered."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from e2e.client import CALM, SECONDS, Session, installed, signalled, until
from e2e.messages_api import MessagesApi
from retain import open as open_memory

RETAIN = Path(sys.executable).with_name("retain")


@dataclass(frozen=True)
class Process:
    pid: int
    command: str


@dataclass
class Home:
    """A machine with one user: a home folder, projects in it, and every process that was started there."""

    folder: Path
    settings: dict[str, str] = field(default_factory=dict)
    """More environment for the client and for `retain`."""

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)

    @property
    def retain_home(self) -> Path:
        return self.folder / ".retain"

    @property
    def database(self) -> Path:
        return self.retain_home / "retain.db"

    @property
    def spool(self) -> list[Path]:
        return sorted((self.retain_home / "spool").glob("*.json"))

    def project(self, name: str = "shop") -> Path:
        folder = self.folder / "code" / name
        if not folder.exists():
            folder.mkdir(parents=True)
            subprocess.run(["git", "init", "-q"], cwd=folder, check=True, timeout=SECONDS)
        return folder

    def environment(self, api: MessagesApi | None = None) -> dict[str, str]:
        """Nothing of the machine that runs the tests but its PATH, on which the client is found."""
        env = {
            "PATH": f"{installed().parent}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            "IS_SANDBOX": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        if api:
            env |= {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "sk-ant-none-of-these-is-real"}
        return env | self.settings

    def retain(self, *arguments: str, project: str = "shop", seconds: float = SECONDS) -> str:
        """What `retain` prints in this home; a failure fails the test."""
        order = [str(RETAIN), *arguments]
        return self._run(order, self.project(project), seconds)

    def claude(self, *arguments: str, project: str = "shop", seconds: float = SECONDS) -> str:
        """What `claude` prints for a command that needs no model."""
        return self._run([str(installed()), *arguments], self.project(project), seconds)

    def hook(self, event: str, payload: Mapping[str, Any]) -> str:
        """What `retain hook` prints for an event, as the client would ask."""
        told = json.dumps({"hook_event_name": event, **payload})
        return self._run([str(RETAIN), "hook", event], Path(payload["cwd"]), SECONDS, told)

    def _run(self, order: Sequence[str], folder: Path, seconds: float, told: str = "") -> str:
        done = subprocess.run(
            order,
            check=False,
            input=told,
            cwd=folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=seconds,
        )
        assert done.returncode == 0, f"{' '.join(order)} ended with {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def connect(self) -> "Home":
        """Registers server and hooks as a user does."""
        self.retain("setup", "--yes")
        return self

    @contextmanager
    def session(self, api: MessagesApi, project: str = "shop", **options: Any) -> Iterator[Session]:
        """A conversation in a process of its own, which has ended afterwards."""
        session = Session(self, api, self.project(project), **options)
        try:
            yield session
            session.end()
        finally:
            session.kill()

    def ask(self, api: MessagesApi, *prompts: str, project: str = "shop", **options: Any) -> Session:
        """A whole session: these prompts one after another, and good-bye; what was captured is stored."""
        with self.session(api, project, **options) as session:
            for prompt in prompts:
                session.say(prompt)
        self.settle()
        return session

    @property
    def servers(self) -> list[Path]:
        """Sockets on which living servers listen for hooks."""
        told = (self.retain_home / "run" / "servers").glob("*.json")
        return [Path(json.loads(file.read_text())["socket"]) for file in told]

    def settle(self, seconds: float = SECONDS / 2) -> None:
        """Waits until nothing is left in the spool and no worker is at it; what was given up fails the test."""
        try:
            until(lambda: not self.spool and not self.worker_at_work(), "capture is done", seconds)
        except AssertionError as late:
            raise AssertionError(f"{late}\n{self.log[-3000:]}") from None
        given_up = list((self.retain_home / "spool" / "failed").glob("*.json"))
        assert not given_up, f"given up: {[file.read_text() for file in given_up]}\n{self.log[-3000:]}"

    @property
    def log(self) -> str:
        """What hooks and the worker have told."""
        file = self.retain_home / "logs" / "hooks.log"
        return file.read_text() if file.exists() else ""

    def worker_at_work(self) -> bool:
        """Whether somebody holds the worker's lock. Only looks: to try the lock would be to take it."""
        lock = self.retain_home / "run" / "worker.lock"
        if not lock.exists():
            return False
        inode = f":{lock.stat().st_ino} "
        return any(inode in line for line in Path("/proc/locks").read_text().splitlines() if "->" not in line)

    def memories(self, project: str = "shop", session: str | None = None) -> list[str]:
        """What is remembered in a project, newest first; with a session also what only that one sees."""
        settings = {"home": self.retain_home, "project_dir": self.project(project), "session_id": session}
        with open_memory(self.database, embedding_model="off", **settings) as memory:
            return [memory.text for memory in memory.memories(limit=100)]

    def processes(self) -> list[Process]:
        """Every process that has this home in its environment."""
        mark = f"HOME={self.folder}\0".encode()
        return [found for found in map(_process_of(mark), Path("/proc").glob("[0-9]*")) if found]

    def assert_nothing_is_left(self, seconds: float = 10) -> None:
        """A worker may still be at work for a moment; after that nobody is."""
        late = time.monotonic() + seconds
        while (left := self.processes()) and time.monotonic() < late:
            CALM.wait(0.05)
        assert not left, f"still running after {seconds:g} s: {left}"

    def kill_all(self) -> None:
        """What a failed test leaves."""
        for process in self.processes():
            signalled(process.pid, signal.SIGCONT)
            signalled(process.pid, signal.SIGKILL)


def _process_of(mark: bytes) -> Callable[[Path], Process | None]:
    def read(folder: Path) -> Process | None:
        try:
            if mark not in b"\0" + (folder / "environ").read_bytes() + b"\0":
                return None
            if "Z" in re.findall(r"^State:\s+(\w)", (folder / "status").read_text(), re.MULTILINE):
                return None
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            return None  # it has ended, or belongs to somebody else
        return Process(int(folder.name), command)

    return read
