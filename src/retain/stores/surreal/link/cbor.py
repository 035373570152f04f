"""The messages that SurrealDB speaks: CBOR with a few tags of its own. NULL and NONE are both None here."""

from datetime import UTC, datetime, timedelta
from typing import Any

import cbor2

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NONE, _RECORD, _MOMENT = 6, 8, 12


def encode(message: Any) -> bytes:
    return cbor2.dumps(message)


def decode(message: bytes) -> Any:
    """Records come back as their id alone: a query knows from which table they are."""
    return cbor2.loads(message, tag_hook=_untagged)


def record(table: str, id: Any) -> cbor2.CBORTag:
    return cbor2.CBORTag(_RECORD, [table, id])


def records(table: str, ids: Any) -> list[cbor2.CBORTag]:
    return [record(table, id) for id in ids]


def _untagged(tag: cbor2.CBORTag, _: bool) -> Any:
    if tag.tag == _RECORD:
        return tag.value[1]
    if tag.tag == _MOMENT:
        seconds, nanoseconds = tag.value
        return _EPOCH + timedelta(seconds=seconds, microseconds=nanoseconds // 1000)
    return None if tag.tag == _NONE else tag.value
