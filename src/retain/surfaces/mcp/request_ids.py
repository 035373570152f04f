"""Ids that the SDK does not read: a request with one would be taken for a notification and never be answered."""

import json
import re
from itertools import count
from secrets import token_hex
from typing import Any

from retain.surfaces.rpc_ids import NO_ID, Number, id_in

# An id that is neither a short whole number nor a text without escapes. It may stand in the params too: this only
# says which lines are worth reading twice.
_ODD = re.compile(r'"id"\s*:(?!\s*(?:(?:0|-?[1-9]\d{0,14})\s*[,}]|"[^"\\]*"))')
_READ = re.compile(r"0|-?[1-9]\d{0,14}")
_HALF = re.compile("[\ud800-\udfff]")


class RequestIds:
    """Gives such requests an id that the SDK reads, and knows how theirs was written."""

    def __init__(self) -> None:
        # Nobody else's id can look like this.
        self._mark, self._numbers = f"id-{token_hex(8)}-", count()
        self._written: dict[str, str] = {}

    def readable(self, line: str) -> str:
        """The line with an id that the SDK reads; one that cannot be an id makes it a line that is no request."""
        if not _ODD.search(line):
            return line
        try:
            given = _given(line)
        except (ValueError, RecursionError):
            return line  # the SDK says that it cannot read it
        if not (isinstance(given, dict) and isinstance(given.get("method"), str) and "id" in given):
            return line
        id = id_in(given)
        if id is None or id == NO_ID:
            return _ending(line, '"method":null')
        if _READ.fullmatch(id) or (id.startswith('"') and not _HALF.search(given["id"])):
            return line
        mark = f"{self._mark}{next(self._numbers)}"
        self._written[mark] = id
        return _ending(line, f'"id":"{mark}"')

    def written(self, id: object) -> str | None:
        """How the client wrote this id, if the SDK could not read it; told once, for its answer."""
        return self._written.pop(id, None) if isinstance(id, str) else None


def _given(line: str) -> Any:  # JSON of any shape
    # The SDK reads NaN and Infinity, so this does too: they are no ids, and elsewhere arguments refuse them.
    return json.loads(line, parse_int=Number, parse_float=Number, parse_constant=lambda _: False)


def _ending(line: str, last: str) -> str:
    """The same object with one more member: of two with the same name the later counts."""
    return f"{line.rstrip()[:-1]},{last}}}\n"
