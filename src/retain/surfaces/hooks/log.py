"""The log of hooks and their worker: one line of JSON for each run, never with what anybody said.

What a language model said that was not kept has lines of its own (worker), without secrets: nobody said it.

Several processes write at once; a line is one write. `retain doctor` reads it (retain.hook_log).
"""

import os
import time

from retain.quick_json import written
from retain.run_files import PRIVATE_FILE, Lock, log_file, make_folder

MOST_BYTES = 1_000_000
KEPT = 2  # older files, beside the one that is written to
LONGEST = 300


def note(home: str, event: str, error: "BaseException | str | None" = None, **facts: "str | float") -> None:
    """Adds a line. `facts` are numbers and short names, such as ms=12; an error is told by its class and message.

    A log that cannot be written is passed over: nobody could be told of it.
    """
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line: dict[str, object] = {"at": at, "event": event, **facts}
    if error is not None:
        line["error"] = error[:LONGEST] if isinstance(error, str) else told(error)
    try:
        _append(log_file(home), written(line) + "\n")
    except (OSError, ValueError, TypeError):
        pass


def told(error: BaseException) -> str:
    """An error as it may stand in a log: its class, its message without what it quotes, and where it was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" ({os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno})" if trace else ""
    return f"{type(error).__name__}: {_unquoted(str(error))[:LONGEST]}{where}"


def _unquoted(message: str) -> str:
    """A query's error quotes the query, and so the prompt."""
    parts = message.replace("\n", " ").split('"')
    return '"…"'.join(parts[::2]) if len(parts) > 1 else parts[0]


def _append(path: str, line: str) -> None:
    make_folder(os.path.dirname(path))
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE_FILE)
    try:
        size = os.fstat(file).st_size
        os.write(file, line.encode())
    finally:
        os.close(file)
    if size > MOST_BYTES:
        _rotate(path)


def _rotate(path: str) -> None:
    """Moves every file one place on; of several processes that find it too long, one does it."""
    lock = Lock(f"{path}.lock")
    if not lock.take():
        return
    try:
        if os.stat(path).st_size > MOST_BYTES:
            for place in range(KEPT, 0, -1):
                earlier = f"{path}.{place - 1}" if place > 1 else path
                if os.path.exists(earlier):
                    os.replace(earlier, f"{path}.{place}")
    finally:
        lock.release()
