"""What was said before: how two sides of a contradiction that nobody decided are told in one line.

The newer memory leads; what the older one says, and since when, stands beside it.
Hooks import this, so it imports little.
"""

import time

from retain.domain.handing import safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# The older and the newer memory of a contradiction, and when each was last said, in seconds since 1970.
Pair = tuple[str, str, float, float]
STEPS = 5  # contradictions that are followed from one memory
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


class Sides:
    """Which memory stands for each, and what was said before it."""

    __slots__ = ("_newer", "_older")

    def __init__(self, pairs: "Iterable[Pair]" = ()) -> None:
        pairs = list(pairs)
        # Of several the one that was said last, on either side.
        self._newer = {older: newer for older, newer, _, _ in sorted(pairs, key=lambda pair: pair[3])}
        self._older = {newer: older for older, newer, _, _ in sorted(pairs, key=lambda pair: pair[2])}

    def newest(self, id: str) -> str:
        """The last of those that contradict it, one after the other; itself where none does."""
        for _ in range(STEPS):
            if id not in self._newer:
                break
            id = self._newer[id]
        return id

    def before(self, id: str) -> "str | None":
        return self._older.get(id)


def follow(ids: "Iterable[str]", look: "Callable[[list[str]], Iterable[Pair]]") -> Sides:
    """The sides of all contradictions that these memories are in, and of those that the newer ones are in.

    `look` gives the undecided contradictions that any of the ids is a party to, if both parties may be shown.
    """
    pairs: dict[tuple[str, str], Pair] = {}
    asked: set[str] = set()
    wanted = list(dict.fromkeys(ids))
    for _ in range(STEPS):
        if not wanted:
            break
        asked.update(wanted)
        pairs.update({pair[:2]: pair for pair in look(wanted)})
        wanted = sorted({newer for _, newer in pairs} - asked)
    return Sides(pairs.values())


def _date(said: float, now: float) -> str:
    """`16 Nov`, in the words of no locale; with the year if that is another one."""
    then = time.gmtime(said)
    day = f"{then.tm_mday} {_MONTHS[then.tm_mon - 1]}"
    return day if then.tm_year == time.gmtime(now).tm_year else f"{day} {then.tm_year}"
