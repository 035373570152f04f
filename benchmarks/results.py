"""Where benchmarks leave their figures: one JSON file for each commit and benchmark."""

import json
import subprocess
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def save(name: str, data: dict[str, Any]) -> Path:
    file = HERE / "results" / f"{commit()}-{name}.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(data, indent=1) + "\n")
    return file


def commit() -> str:
    """The commit that was measured, or "worktree" when the code differs from it."""
    try:
        if _git("status", "--porcelain", "--", "../src"):
            return "worktree"
        return _git("rev-parse", "--short", "HEAD")
    except (OSError, subprocess.CalledProcessError):
        return "worktree"


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=HERE, capture_output=True, text=True, check=True).stdout.strip()
