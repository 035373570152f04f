"""Rows in which some bytes have changed: a memory whose text can be read is worth more than its garbled labels."""

import json
import math
import re
from collections.abc import Callable
from typing import Any

from retain.domain.memory import Kind, Memory, Scope, State
from retain.stores.moments import moment
from retain.stores.sqlite.damaged import Row
from retain.stores.sqlite.rows import MEMORY_COLUMNS, stored

_COLUMNS = MEMORY_COLUMNS.split(", ")
_BESIDE = ", 0, null, null"  # what `stored` reads of other tables
_ZEROES = re.compile("\0+")  # where a page was lost
# A file may be older than the last of them.
LATER = ("compared",)
EARLIER = MEMORY_COLUMNS.removesuffix(", compared")


def read(columns: str) -> str:
    """What to read of a table of memories, where it has these columns, as `memory_of` takes it."""
    return columns + _BESIDE


def memory_of(row: Row) -> Memory:
    """The memory in a row, as `read` says; labels that make no sense are as if nobody had given them.

    ValueError where there is no id or no text.
    """
    # One bit makes bytes of a text, and a memory has none.
    texts = (value.decode("utf-8", "replace") if isinstance(value, bytes) else value for value in row)
    said = dict(zip(_COLUMNS, texts, strict=False))
    if not isinstance(said["id"], str) or not isinstance(said["text"], str) or not said["id"]:
        raise ValueError("no memory")
    said["text"] = _ZEROES.sub("…", said["text"])
    if not any(letter.isalnum() for letter in said["text"]):
        raise ValueError("no text")
    times = [said[name] for name in ("created", "updated", "event_time", "valid_from") if _is_time(said[name])]
    began = min(times, default=0)
    sound = {name: value if _FITS[name](value) else _INSTEAD.get(name) for name, value in said.items()}
    sound |= {name: began for name in ("created", "updated", "event_time", "valid_from") if not _is_time(said[name])}
    # What is not a letter or a digit was none before, and nobody could ask for it.
    sound["id"] = re.sub(r"[^0-9A-Za-z_-]", "0", said["id"])
    return stored((*(sound[name] for name in _COLUMNS), 0, None, None)).memory


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_text_or_none(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_time(value: object) -> bool:
    try:
        return isinstance(value, int) and moment(value) is not None
    except (ValueError, OverflowError, OSError):
        return False


def _is_time_or_none(value: object) -> bool:
    return value is None or _is_time(value)


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and 0 <= value <= 1


def _is_count(value: object) -> bool:
    return isinstance(value, int) and 0 <= value < 1 << 31


def _is_json(kind: type) -> Callable[[object], bool]:
    def fits(value: object) -> bool:
        try:
            return isinstance(value, str) and isinstance(json.loads(value), kind)
        except (ValueError, RecursionError):
            return False

    return fits


def _is_source(value: object) -> bool:
    known = {"tool", "file", "conversation_turn", "provenance"}
    return _is_json(dict)(value) and json.loads(str(value)).keys() <= known


_FITS: dict[str, Callable[[object], bool]] = dict.fromkeys(_COLUMNS, _is_text_or_none) | {
    **dict.fromkeys(("id", "text", "place", "user", "fingerprint"), _is_text),
    "kind": lambda value: value in set(Kind),
    "scope": lambda value: value in set(Scope),
    "state": lambda value: value in set(State),
    **dict.fromkeys(("created", "updated", "event_time", "valid_from"), _is_time),
    **dict.fromkeys(("valid_until", "state_since", "reinforced_at"), _is_time_or_none),
    **dict.fromkeys(("tags", "derived_from"), _is_json(list)),
    "source": _is_source,
    "metadata": _is_json(dict),
    "importance": _is_share,
    **dict.fromkeys(("consolidated", "reinforced", "version", "compared"), _is_count),
}
_INSTEAD: dict[str, Any] = {
    **dict.fromkeys(("place", "user", "fingerprint"), ""),
    "kind": Kind.SEMANTIC.value,
    "scope": Scope.PROJECT.value,
    "state": State.ACTIVE.value,
    **dict.fromkeys(("tags", "derived_from"), "[]"),
    **dict.fromkeys(("source", "metadata"), "{}"),
    "importance": 0.5,
    "consolidated": 0,
    "reinforced": 0,
    "version": 1,
    "compared": 1,
}
