"""Moments as whole microseconds since 1970, and what a version of a memory was beside its text, as JSON."""

import json
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from retain.domain.memory import Kind, Rest, State, Status

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def micros(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


def micros_or_none(moment: datetime | None) -> int | None:
    return None if moment is None else micros(moment)


@lru_cache(maxsize=1024)  # most rows name one moment three or four times
def moment(value: int) -> datetime:
    return _EPOCH + timedelta(microseconds=value)


def moment_or_none(value: int | None) -> datetime | None:
    return None if value is None else moment(value)


def rest_row(rest: Rest | None) -> str | None:
    """As JSON: read only when somebody looks back."""
    if rest is None:
        return None
    status = rest.status
    state = (status.state.value, status.reason, micros_or_none(status.since), status.successor)
    held = (micros_or_none(rest.valid_until), rest.project, rest.session)
    return json.dumps([rest.kind.value, rest.metadata, state, held, rest.called], ensure_ascii=False)


def rest_of(text: str | None) -> Rest | None:
    if text is None:
        return None
    kind, metadata, (state, reason, since, successor), (until, project, session), *newer = json.loads(text)
    status = Status(State(state), reason, moment_or_none(since), successor)
    called = tuple(newer[0]) if newer and newer[0] else None
    return Rest(Kind(kind), status, metadata, moment_or_none(until), project, session, called)
