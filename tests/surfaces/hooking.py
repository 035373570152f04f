"""A client for tests of hooks: starts them as Claude Code does, on a home that is only theirs."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retain.run_files import is_held
from retain.surfaces.hooks import entry
from surfaces.waiting import until

SAMPLES = Path(__file__).parents[1] / "transcripts" / "hooks"
NAMES = sorted(path.stem for path in SAMPLES.glob("*.json"))
COMMAND = (sys.executable, "-I", "-S", entry.__file__)
# The same with deadlines that no busy machine reaches: what a hook says must not depend on how much else is running.
_UNHURRIED = """
import sys
sys.path.insert(0, sys.argv.pop(1))
if sys.argv[1:2] == ["statusline"]:
    from retain.surfaces.hooks import statusline as hook
    hook.SECONDS = 60.0
else:
    from retain.surfaces.hooks import runner as hook
    hook.SECONDS = dict.fromkeys(hook.SECONDS, 60.0)
    hook.OTHER_SECONDS = 60.0
hook.main(sys.argv[1:])
"""
UNHURRIED = (sys.executable, "-I", "-S", "-c", _UNHURRIED, str(Path(entry.__file__).parents[3]))


@dataclass(frozen=True)
class Ended:
    """What a hook left behind, and how long it took."""

    code: int
    out: bytes
    err: bytes
    seconds: float

    @property
    def answer(self) -> dict[str, Any]:
        """The one object on standard output, once it is clear that the hook did nothing that it must not do."""
        assert (self.code, self.err) == (0, b"")
        answer = json.loads(self.out)
        assert isinstance(answer, dict)
        return answer


@dataclass(frozen=True)
class Client:
    """Has a project, a home for the memory, and a user whose settings are nobody else's."""

    folder: Path
    env: dict[str, str]

    @classmethod
    def in_folder(cls, folder: Path, **env: str) -> "Client":
        (folder / "shop" / ".git").mkdir(parents=True)
        (folder / "user").mkdir()
        ours = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "user"),
            "RETAIN_HOME": str(folder / "home"),
            "RETAIN_EMBEDDING_MODEL": "hashed",
            "CLAUDE_PROJECT_DIR": str(folder / "shop"),
            "CLAUDE_PID": str(os.getpid()),
        }
        return cls(folder, ours | env)

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def shop(self) -> Path:
        return self.folder / "shop"

    def sample(self, name: str, **changed: object) -> dict[str, Any]:
        """A payload as the client sends it, in this project; its transcript is there, and empty."""
        transcript = self.folder / "transcript.jsonl"
        transcript.touch()
        here = {"cwd": str(self.shop), "transcript_path": str(transcript)}
        return json.loads((SAMPLES / f"{name}.json").read_text()) | here | changed

    def start(self, event: str, command: tuple[str, ...] = UNHURRIED, **options: Any) -> "subprocess.Popen[bytes]":
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | options.pop("pipes", {})
        env = self.env | options.pop("env", {})
        arguments = [*command, event] if event else [*command]
        return subprocess.Popen(arguments, env=env, cwd=self.shop, **pipes, **options)

    def __call__(self, event: str, said: object = None, **options: Any) -> Ended:
        """Runs a hook to its end; `said` is a payload, or bytes as they are."""
        started = time.monotonic()
        running = self.start(event, **options)
        out, err = running.communicate(said if isinstance(said, bytes) else json.dumps(said or {}).encode(), timeout=60)
        return Ended(running.returncode, out, err, time.monotonic() - started)

    def log(self) -> list[dict[str, Any]]:
        path = self.home / "logs" / "hooks.log"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def spooled(self) -> list[dict[str, Any]]:
        return [json.loads(path.read_text()) for path in sorted((self.home / "spool").glob("*.json"))]

    def is_quiet(self) -> bool:
        return not is_held(str(self.home))

    def settle(self) -> None:
        """Until no worker is left."""
        until(self.is_quiet)
