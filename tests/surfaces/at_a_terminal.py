"""A person at a terminal, for tests: a command in a real one, its keys, and what it shows."""

import os
import pty
import select
import termios
import time

from surfaces.waiting import until

SECONDS = 60.0


class Seat:
    """Runs one command; `until` waits for what it shows, `type` presses keys."""

    def __init__(self, command, *words, **env):
        self._ours, theirs = pty.openpty()
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
        plain = {"TERM": "dumb", "COLUMNS": "200", "LINES": "50"}
        self._running = command.spawn(*words, env=plain | env, pipes=pipes, start_new_session=True)
        os.close(theirs)
        self.shown = ""
        self._seen = 0

    def until(self, text):
        """Waits until something is shown that was not there at the last call."""
        late = time.monotonic() + SECONDS
        while (at := self.shown.find(text, self._seen)) < 0:
            assert time.monotonic() < late and self._read(), f"no {text!r} in {self.shown!r}"
        self._seen = at + len(text)
        return self

    def type(self, keys):
        """Once somebody reads single keys: what was typed before is thrown away, as by a person who is too early."""
        until(lambda: not termios.tcgetattr(self._ours)[3] & termios.ICANON)
        os.write(self._ours, keys.encode())
        return self

    def say(self, line):
        """Answers a question that takes a whole line."""
        os.write(self._ours, line.encode())
        return self

    def end(self):
        """The exit code, and everything that was shown."""
        while self._read():
            pass
        os.close(self._ours)
        return self._running.wait(timeout=SECONDS), self.shown

    def _read(self):
        ready, _, _ = select.select([self._ours], [], [], SECONDS)
        try:
            more = os.read(self._ours, 65_536) if ready else b""
        except OSError:  # the other side has left
            return False
        self.shown += more.decode("utf-8", "replace")
        return bool(more)
