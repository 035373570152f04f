"""Ids: 20 lower-case letters and digits that sort by time, in whatever dress a contract prints them."""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

# Hooks make ids too and wait for every import, so the rest is imported where it is used.

ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
LENGTH = 20
_TIME_DIGITS = 9  # milliseconds in base 36 until the year 5188
_DRESSED = r"(?:[a-z]+[:_])?⟨?([0-9a-z]{20})⟩?"


def new_id(now: "datetime") -> str:
    """An id that sorts after every id made in an earlier millisecond."""
    random_part = int.from_bytes(os.urandom(16), "big") % 36 ** (LENGTH - _TIME_DIGITS)
    return _base36(int(now.timestamp() * 1000), _TIME_DIGITS) + _base36(random_part, LENGTH - _TIME_DIGITS)


def first_id(seconds: float) -> str:
    """What sorts before every id that was made at a moment or later."""
    return _base36(max(0, int(seconds * 1000)), _TIME_DIGITS)


def id_of(name: str) -> str:
    """The id that belongs to a name for ever: two processes that meet the same folder agree on it."""
    return _base36(int.from_bytes(_sha256(name.encode("utf-8", "surrogatepass")), "big") % 36**LENGTH, LENGTH)


def dressed(what: str, id: str) -> str:
    """An id as the contracts that say what it is the id of print it: `mem_<id>`, `proj_<id>`, `sess_<id>`."""
    return f"{what}_{id}"


def undress(text: str) -> str | None:
    """The bare id in `memory:<id>`, `mem_<id>`, `proj_<id>` or `<id>`; None when there is none."""
    import re

    found = re.fullmatch(_DRESSED, text.strip())
    return found[1] if found else None


def _sha256(data: bytes) -> bytes:
    try:
        # `hashlib` loads OpenSSL, which takes longer than a hook has for it. By version: a module that is not there
        # is looked for on the disk each time.
        if sys.version_info >= (3, 12):
            from _sha2 import sha256  # type: ignore[import-not-found]  # nobody has described it
        else:
            from _sha256 import sha256  # type: ignore[import-not-found]  # likewise
    except ImportError:
        from hashlib import sha256
    return bytes(sha256(data).digest())


def _base36(number: int, digits: int) -> str:
    letters = []
    for _ in range(digits):
        number, rest = divmod(number, 36)
        letters.append(ALPHABET[rest])
    return "".join(reversed(letters))
