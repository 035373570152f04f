"""Stand-ins for what is random or paid for: here, the clock."""

from datetime import UTC, datetime, timedelta

START = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


class FixedClock:
    """Time that passes only when it is told to."""

    def __init__(self, start: datetime = START) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def tick(self, seconds: float = 1.0) -> datetime:
        self._now += timedelta(seconds=seconds)
        return self._now
