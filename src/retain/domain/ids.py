"""Ids: 20 lower-case letters and digits that sort by time, in whatever dress a contract prints them."""

import re
import secrets
from datetime import datetime
from hashlib import sha256

ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
LENGTH = 20
_TIME_DIGITS = 9  # milliseconds in base 36 until the year 5188
_DRESSED = re.compile(r"(?:[a-z]+[:_])?⟨?([0-9a-z]{20})⟩?")


def new_id(now: datetime) -> str:
    """An id that sorts after every id made in an earlier millisecond."""
    random_part = secrets.randbelow(36 ** (LENGTH - _TIME_DIGITS))
    return _base36(int(now.timestamp() * 1000), _TIME_DIGITS) + _base36(random_part, LENGTH - _TIME_DIGITS)


def id_of(name: str) -> str:
    """The id that belongs to a name for ever: two processes that meet the same folder agree on it."""
    return _base36(int.from_bytes(sha256(name.encode("utf-8", "surrogatepass")).digest(), "big") % 36**LENGTH, LENGTH)


def undress(text: str) -> str | None:
    """The bare id in `memory:<id>`, `mem_<id>`, `proj_<id>` or `<id>`; None when there is none."""
    found = _DRESSED.fullmatch(text.strip())
    return found[1] if found else None


def _base36(number: int, digits: int) -> str:
    letters = []
    for _ in range(digits):
        number, rest = divmod(number, 36)
        letters.append(ALPHABET[rest])
    return "".join(reversed(letters))
