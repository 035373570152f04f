"""What a server has to say while it runs: short, seldom, and never so that it has to wait for a reader."""

import logging
import os
import select
from collections import Counter

_LONGEST = 400  # bytes of a line; a pipe that has room takes 512 without making the writer wait
_KNOWN = {
    "opening handshake failed": "a connection did not begin as a client of the database does",
    "connection handler failed": "a connection was ended by a fault of the server",
}


class Remarks(logging.Handler):
    """One line for the 1st, 10th, 100th … time that something happens, without a traceback.

    Anybody on this machine can open the port and say nonsense, as often as they like, so what is said of it must not
    fill a log. And whoever started the server may not read its output: a full pipe takes no line, and the line is lost.
    """

    def __init__(self, file: int, *, everything: bool = False) -> None:
        super().__init__(logging.NOTSET if everything else logging.WARNING)
        self._file, self._everything = file, everything
        self._times: Counter[str] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        said = record.getMessage()
        if self._everything:
            self._write(self.format(record))
            return
        self._times[record.msg] += 1
        times = self._times[record.msg]
        if str(times).strip("0") == "1":
            why = f": {record.exc_info[0].__name__}" if record.exc_info and record.exc_info[0] else ""
            self._write(f"{_KNOWN.get(said, said)}{why}" + (f" ({times} times so far)" if times > 1 else ""))

    def _write(self, line: str) -> None:
        data = line.replace("\n", "\n  ").encode("utf-8", "replace")
        waiting = select.poll()
        try:
            waiting.register(self._file, select.POLLOUT)
            for start in range(0, len(data), _LONGEST):
                # A look first rather than O_NONBLOCK, which would hold for all who share the terminal or the pipe.
                if not any(event & select.POLLOUT for _, event in waiting.poll(0)):
                    return
                part = data[start : start + _LONGEST]
                os.write(self._file, part if start + _LONGEST < len(data) else part + b"\n")
        except (OSError, ValueError):
            return  # nobody is there to read it any more


def install(file: int) -> None:
    """All that this process logs goes this way from now on; every record in full where that was asked for."""
    root = logging.getLogger()
    everything = bool(root.handlers)
    for handler in list(root.handlers):
        root.removeHandler(handler)
    root.addHandler(Remarks(file, everything=everything))
