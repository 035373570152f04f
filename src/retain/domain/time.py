"""Moments: always aware and in UTC inside, ISO 8601 outside, and how they fade."""

import re
from datetime import UTC, datetime, timedelta

from retain.domain.memory import Kind
from retain.errors import invalid

# Half of an event's freshness is gone in a week, of a fact's in a month, of a way of working in a quarter.
HALF_LIFE = {Kind.EPISODIC: timedelta(days=7), Kind.SEMANTIC: timedelta(days=30), Kind.PROCEDURAL: timedelta(days=90)}
# What is old keeps this much of its recency, half of the rest is gone after this time.
OLDEST, FADING = 0.85, timedelta(days=90)
_DAY = re.compile(r"\d{4}-?\d{2}-?\d{2}|\d{4}-?W\d{2}(-?\d)?")


def iso(moment: datetime) -> str:
    """`2026-02-20T14:30:00Z`; fractions of a second only where there are any."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def parse_moment(text: str, field: str, *, until: bool = False) -> datetime:
    """A moment as people and models write it; without a zone it is UTC.

    A day without a time is its first moment, or, as the end of a range (`until`), its last.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        if until and _DAY.fullmatch(text.strip()):
            moment += timedelta(days=1, microseconds=-1)
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return aware.astimezone(UTC)
    except (ValueError, OverflowError):
        raise invalid(field, text, "not an ISO 8601 time; write it like 2026-02-20T14:30:00Z or 2026-02-20") from None


def as_moment(given: datetime | str, field: str) -> datetime:
    """A moment given as text or as a time of Python; without a zone it is UTC."""
    if isinstance(given, str):
        return parse_moment(given, field)
    try:
        return (given if given.tzinfo else given.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        raise invalid(field, given, "lies beyond the years 1 to 9999 in UTC") from None


def freshness(kind: Kind, since: datetime, now: datetime) -> float:
    """1.0 for something that just happened, halved with every half-life of its kind."""
    return halved(since, now, HALF_LIFE[kind])


def recency(since: datetime, now: datetime) -> float:
    """1.0 for what was just said, and never less than `OLDEST`: age tells little about what is still true, so it
    decides only between memories that answer equally well."""
    return OLDEST + (1 - OLDEST) * halved(since, now, FADING)


def halved(since: datetime, now: datetime, half_life: timedelta) -> float:
    """1 at first, and half as much after each half-life; what lies ahead counts as now."""
    age = max((now - since).total_seconds(), 0.0)
    return float(2 ** -(age / half_life.total_seconds()))
