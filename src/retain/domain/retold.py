"""What the user said of one subject at different times: the newest first, and each with its day.

A change that is told in passing is often not found to contradict what it changes. Who reads both and sees when each was
said knows which one holds. Hooks import this, so it imports little.
"""

import time

from retain.domain.order import Order, Pair, Side

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LOOKED_AT = 40  # statements, the best: to cut more into words takes a hook too long
FEW = 3  # statements that share a word at most; what more of them say is no subject
_DAY = 86_400


class Statement:
    """Something that is about to be shown; `said` is in seconds since 1970. What is not the user's has no text here."""

    __slots__ = ("id", "said", "text")

    def __init__(self, id: str, text: str, said: float) -> None:
        self.id = id
        self.text = text
        self.said = said


def retold(shown: "Sequence[Statement]") -> "dict[str, str]":
    """The ids in the order in which to show them, with the day of those that have another beside them from another day.

    Whatever shares no subject with anything keeps its place, and has no day.
    """
    pairs = list(_pairs(shown))
    scores = {each.id: 1 / place for place, each in enumerate(shown, start=1)}
    placed = Order(pairs).placed(scores)
    apart = [pair for pair in pairs if pair.below.said // _DAY != pair.leading.said // _DAY]
    days = {side.id: day(side.said) for pair in apart for side in (pair.below, pair.leading)}
    return {id: days.get(id, "") for id in sorted(placed, key=lambda id: -placed[id])}


def day(said: float) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(said))


def _pairs(shown: "Sequence[Statement]") -> "Iterator[Pair]":
    from retain.domain.words import query_terms  # only where there is something to show

    saying: dict[str, list[Side]] = {}
    for each in [each for each in shown if each.text][:LOOKED_AT]:
        side = Side(each.id, each.said)
        for term in dict.fromkeys(query_terms(each.text)):
            saying.setdefault(term, []).append(side)
    for sides in saying.values():
        if 1 < len(sides) <= FEW:
            *earlier, last = sorted(sides, key=lambda side: side.said)
            yield from (Pair(side, last) for side in earlier if side.said < last.said)
