"""What was said before: how two sides of a contradiction that nobody decided are told in one line.

The newer memory leads; what the older one says, and since when, stands beside it.
Hooks import this, so it imports little.
"""

import time

from retain.domain.handing import safe

MOST = 160  # characters of all that is told of the earlier one
_FEWEST = 12  # characters of its text; less says nothing
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class Earlier:
    """An older memory that the one it stands beside contradicts; `said` and `now` are in seconds since 1970."""

    __slots__ = ("_now", "_said", "_said_by", "_text")

    def __init__(self, text: str, said_by: object, said: float, now: float) -> None:
        self._text = text
        self._said_by = said_by
        self._said = said
        self._now = now

    def told(self, most: int = MOST) -> str:
        """As it stands behind the newer one, in at most so many characters; empty where these are too few."""
        who = "you said" if self._said_by == "user" else "it was noted"
        head = f" (On {_date(self._said, self._now)} {who}: "
        room = min(most, MOST) - len(head) - 1
        return f"{head}{safe(self._text, room)})" if room >= _FEWEST else ""


def _date(said: float, now: float) -> str:
    """`16 Nov`, in the words of no locale; with the year if that is another one."""
    then = time.gmtime(said)
    day = f"{then.tm_mday} {_MONTHS[then.tm_mon - 1]}"
    return day if then.tm_year == time.gmtime(now).tm_year else f"{day} {then.tm_year}"
