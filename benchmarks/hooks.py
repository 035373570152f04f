"""What a hook costs, whole process, as Claude Code starts it; beside an interpreter that does nothing.

    python benchmarks/hooks.py [--runs 60] [--sizes 0,10000]

All cases take turns, so that what else the machine does hits each of them alike. Nothing fails here because of a time.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from building import FOLDERS, copy_of
from measuring import Row, Times, load_average, table
from results import save
from retain.run_files import is_held
from retain.surfaces.hooks import entry

SAMPLES = Path(__file__).parents[1] / "tests" / "transcripts" / "hooks"
BARE = (sys.executable, "-I", "-S", "-c")
TARGETS = {"SessionStart.startup": 60.0, "UserPromptSubmit": 100.0}
HOOKS = ("SessionStart.startup", "UserPromptSubmit", "PostToolUse.Write", "Stop.again", "Stop", "SessionEnd.other")
NOTES = {"Stop.again": "handed over, no worker started", "Stop": "a worker is started, if none is there"}
PROMPT = "Which database does the importer write to, and why was the cache taken out?"


@dataclass
class Case:
    """One command that is run again and again; `after` waits until it leaves nothing behind."""

    name: str
    command: tuple[str, ...]
    said: bytes = b""
    env: dict[str, str] = field(default_factory=dict)
    after: Callable[[], object] = lambda: None
    times: Times = field(default_factory=lambda: Times([], []))

    def run(self) -> None:
        spent, began = _children(), time.perf_counter()
        subprocess.run(self.command, input=self.said, env=self.env, stdout=subprocess.PIPE, check=True)
        self.times.wall.append((time.perf_counter() - began) * 1000)
        self.times.cpu.append((_children() - spent) * 1000)
        self.after()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--sizes", default="0,10000", help="memories in the store; 0 is none yet")
    options = parser.parse_args()
    rows = []
    for size in map(int, options.sizes.split(",")):
        rows += list(_measured(size, options.runs))
    print(f"load average {load_average():.1f}\n{table(rows)}")
    print("saved", save("hooks", {"load_average": load_average(), "rows": [row.told() for row in rows]}))


def _measured(size: int, runs: int) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        cases = [*_references(), *_hooks(size, Path(folder))]
        for _ in range(runs + 3):
            for case in cases:
                case.run()
        for case in cases:
            del case.times.wall[:3], case.times.cpu[:3]
    nothing, libraries = (statistics.median(case.times.wall) for case in cases[:2])
    for case in cases:
        ratios = f"{case.times.median / nothing:.1f} × nothing, {case.times.median / libraries:.1f} × json and sqlite3"
        note = "; ".join(filter(None, (case.times.note, ratios, NOTES.get(case.name))))
        yield Row(f"{case.name} at {size:,}", case.times.median, target=TARGETS.get(case.name), note=note)


def _references() -> Iterator[Case]:
    yield Case("an interpreter that does nothing", (*BARE, "pass"))
    yield Case("import json, sqlite3", (*BARE, "import json, sqlite3"))


def _hooks(size: int, folder: Path) -> Iterator[Case]:
    home = folder / "home"
    home.mkdir()
    if size:
        shutil.move(copy_of(size, folder), home / "retain.db")
    FOLDERS[0].mkdir(parents=True, exist_ok=True)
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "RETAIN_HOME": str(home),
        "RETAIN_EMBEDDING_MODEL": "off",
        "CLAUDE_PROJECT_DIR": str(FOLDERS[0]),
        "CLAUDE_PID": str(os.getpid()),
    }
    (folder / "transcript.jsonl").touch()
    for name in HOOKS:
        yield Case(name, (*BARE[:-1], entry.__file__, name.partition(".")[0]), _payload(name, folder), env, _idle(home))


def _payload(name: str, folder: Path) -> bytes:
    here = {"cwd": str(FOLDERS[0]), "transcript_path": str(folder / "transcript.jsonl"), "prompt": PROMPT}
    return json.dumps(json.loads((SAMPLES / f"{name}.json").read_text()) | here).encode()


def _idle(home: Path) -> Callable[[], None]:
    def wait() -> None:
        while is_held(str(home)):
            time.sleep(0.01)
        shutil.rmtree(home / "spool", ignore_errors=True)
        shutil.rmtree(home / "injected", ignore_errors=True)

    return wait


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
