"""Standard streams of a process that must not fail: one object in, one answer out, nothing else on either."""

import _thread
import os

from retain.quick_json import parsed

MOST_INPUT = 16_000_000


class Answer:
    """What goes to standard output, once: the handler's answer, or that of the clock if it was first."""

    def __init__(self) -> None:
        self._given = _thread.allocate_lock()

    def give(self, text: str) -> bool:
        """Whether it was the first."""
        if not self._given.acquire(False):
            return False
        rest = text.encode("utf-8", "replace")
        try:
            while rest:
                rest = rest[os.write(1, rest) :]
        except OSError:
            pass  # the client has left
        return True


def given() -> dict[str, object]:
    """The object on standard input, empty where there is nothing; ValueError for anything else."""
    data = _input()
    if not data.strip():
        return {}
    payload = _payload_or_none(data)
    if payload is None:
        raise ValueError(f"{len(data)} bytes of input that are no JSON object")
    return payload


def silence() -> None:
    """Nothing that is printed by mistake is shown; and no file of ours gets the number of a stream that was closed."""
    try:
        null = os.open(os.devnull, os.O_RDWR)
        while null <= 2:
            null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 2)
        os.close(null)
    except OSError:
        pass


def _input() -> bytes:
    """Standard input up to its end, or up to the end of a whole object: a client may forget to close it."""
    data = b""
    while chunk := os.read(0, 1 << 20):
        data += chunk
        if len(data) > MOST_INPUT:
            raise ValueError(f"more than {MOST_INPUT // 1_000_000} MB of input")
        if chunk.rstrip().endswith(b"}") and _payload_or_none(data) is not None:
            break
    return data


def _payload_or_none(data: bytes) -> dict[str, object] | None:
    try:
        found = parsed(data.decode("utf-8", "replace").removeprefix("\ufeff"))
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
