"""Ids of JSON-RPC requests, which go back exactly as they came: 7.0 is not 7, and 1e400 is no float."""

import json
from typing import Any

from retain import strict_json

NO_ID = "null"


class Number(str):
    """A number as it was written."""

    __slots__ = ()


def as_written(text: str) -> Any:  # JSON of any shape
    """What a text says, with its numbers as text; ValueError otherwise."""
    return strict_json.loads(text, Number, Number)


def id_in(written: object) -> str | None:
    """The id in JSON, `null` if it has none; None for what cannot be one."""
    match written:
        case {"id": Number() as number}:
            return str(number)
        case {"id": str(text)}:
            return json.dumps(text)
        case {"id": None}:
            return NO_ID
        case {"id": _}:
            return None
        case _:
            return NO_ID
