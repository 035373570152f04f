"""Draws docs/terminal.svg: a short session of the real command, on a memory of its own.

python docs/picture.py
"""

import io
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.text import Text

from retain.config import apart

COLUMNS = 90
SESSION = (
    'remember "Sessions end after 15 minutes: AuthService lets tokens lapse in Redis"',
    'remember "PaymentWorker depends on Redis for its locks, so run only one of it"',
    'remember --type procedural "To release: bump version.py, make check, push the tag"',
    'recall "why do people get logged out?" --explain',
    "graph Redis --no-memories",
)


def main() -> None:
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), highlight=False)
    with TemporaryDirectory() as folder:
        project = Path(folder) / "shop"
        (project / ".git").mkdir(parents=True)
        for line in SESSION:
            console.print(Text.assemble(("$ ", "bright_black"), (f"retain {line}", "cyan")))
            console.print(Text.from_ansi(_run(shlex.split(line), project, Path(folder) / "home")))
            if line is not SESSION[-1]:
                console.print()
    Path(__file__).with_name("terminal.svg").write_text(console.export_svg(title="retain"), encoding="utf-8")


def _run(words: list[str], project: Path, home: Path) -> str:
    """What the command writes to a terminal of this width."""
    env = apart(home) | {"FORCE_COLOR": "1", "COLUMNS": str(COLUMNS), "TERM": "xterm-256color", "COLORTERM": ""}
    command = [sys.executable, "-m", "retain", *words, "--project", str(project)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    return done.stdout.rstrip("\n")


if __name__ == "__main__":
    main()
