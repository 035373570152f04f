"""The `retain` command for tests: in this process, or as a process of its own, on a home that is only theirs."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from retain.config import CLIENT_SESSION, CONFIG_PATH, VARIABLES
from retain.surfaces.cli.main import cli
from surfaces.wire import where_kept

SOURCES = Path(__file__).parents[2] / "src"


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def body(self) -> dict[str, Any]:
        """The one line of JSON."""
        (line,) = self.out.splitlines()
        return json.loads(line)


@dataclass(frozen=True)
class Command:
    """Runs `retain` with the hashed embedder unless a test asks for another."""

    folder: Path

    @classmethod
    def in_folder(cls, folder: Path) -> "Command":
        (folder / "shop" / ".git").mkdir(parents=True)
        (folder / "user").mkdir()
        return cls(folder)

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def project(self) -> Path:
        return self.folder / "shop"

    def __call__(self, *words: str, stdin: str | bytes = "", **env: str) -> Ended:
        ours = dict.fromkeys((CLIENT_SESSION, *CONFIG_PATH, *(v for them in VARIABLES.values() for v in them)))
        runner = CliRunner(env={**ours, **self._env, **env})
        done = runner.invoke(cli, words, input=stdin, prog_name="retain")
        return Ended(done.exit_code, done.stdout, done.stderr)

    def spawn(self, *words: str, **options: Any) -> "subprocess.Popen[str]":
        """Starts it; standard streams are pipes."""
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | options.pop("pipes", {})
        inherited = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(SOURCES)}
        env = {**inherited, **self._env, **options.pop("env", {})}
        command = [sys.executable, "-m", "retain", *words]
        return subprocess.Popen(command, env=env, cwd=self.project, text=True, **pipes, **options)

    def process(self, *words: str, stdin: str = "", **env: str) -> Ended:
        running = self.spawn(*words, env=env)
        out, err = running.communicate(stdin, timeout=180)
        return Ended(running.returncode, out, err)

    def stored(self, text: str, *options: str) -> str:
        """The id of something that is remembered now."""
        return str(self("remember", text, "--json", *options).body["memory_id"])

    @property
    def _env(self) -> dict[str, str]:
        return {
            "HOME": str(self.folder / "user"),
            "RETAIN_HOME": str(self.home),
            "RETAIN_EMBEDDING_MODEL": "hashed",
            "RETAIN_PROJECT_DIR": str(self.project),
            **{f"RETAIN_{name.upper()}": value for name, value in where_kept(self.home).items()},
        }
