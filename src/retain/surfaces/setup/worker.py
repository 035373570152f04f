"""Ends the process that captures in the background, as it is asked to: what it has not done stays in the spool."""

import os
import signal
import time
from pathlib import Path

from retain import run_files

PATIENCE = 5.0


def end_worker(home: Path) -> bool | None:
    """Whether it has ended; None when there was none. Where processes cannot be asked to end, it is left to finish."""
    folder = str(home.expanduser())
    if not run_files.is_held(folder):
        return None
    pid = run_files.read_object(run_files.worker_lock(folder).path).get("pid")
    if os.name != "posix" or not isinstance(pid, int):
        return False
    try:
        os.kill(pid, signal.SIGTERM)
    except (ProcessLookupError, PermissionError, OverflowError):
        return not run_files.is_held(folder)
    until = time.monotonic() + PATIENCE
    while run_files.is_held(folder) and time.monotonic() < until:
        time.sleep(0.05)
    return not run_files.is_held(folder)
