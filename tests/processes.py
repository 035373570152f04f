"""Starting other processes in tests."""

import os
import subprocess
import sys
from pathlib import Path

_ROUNDS = os.environ.get("RETAIN_TEST_ROUNDS")
LONG = _ROUNDS == "long"  # what takes minutes; `make journeys` and `make surreal` ask for it
_SCRIPT = Path(__file__).with_name("another_process.py")


def start(*arguments: object, **options: object) -> "subprocess.Popen[str]":
    """`another_process.py` with these arguments."""
    command = [sys.executable, str(_SCRIPT), *map(str, arguments)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, text=True, **pipes, **options)


def said(process: "subprocess.Popen[str]", seconds: float = 120) -> list[str]:
    """The lines it prints until it ends; what it says on stderr fails the test."""
    out, err = process.communicate(timeout=seconds)
    assert err == "", err
    return out.splitlines()
