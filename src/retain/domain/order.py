"""What holds now comes first: of two memories that cannot both be true, which one leads.

The one that was said later does, unless on a much weaker word; and what took another's place leads that. Everything
that hands out memories asks this module. Hooks import it, so it imports little.
"""

from retain.domain.reliability import WEAKER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

STEPS = 5  # contradictions that are followed from one memory
BELOW = 0.999  # of the score of what leads is the most that the other one gets


class Side:
    """One of two that cannot both be true: when it was last said, in seconds since 1970, and on how reliable a word."""

    __slots__ = ("id", "said", "word")

    def __init__(self, id: str, said: float, word: "float | None" = None) -> None:
        self.id = id
        self.said = said
        self.word = word


class Pair:
    """Two of which the second leads."""

    __slots__ = ("below", "leading")

    def __init__(self, below: Side, leading: Side) -> None:
        self.below = below
        self.leading = leading


def disputing(older: Side, newer: Side) -> Pair:
    """Two that contradict each other, undecided, as that was recorded; one of them may have been said again since."""
    first, last = (newer, older) if older.said > newer.said else (older, newer)
    is_weak = first.word is not None and last.word is not None and last.word < first.word - WEAKER
    return Pair(last, first) if is_weak else Pair(first, last)


class Order:
    """Which memory leads which. There are no circles in it: of pairs that close one the earliest is left out."""

    __slots__ = ("_below", "_leading", "_said")

    def __init__(self, pairs: "Iterable[Pair]" = ()) -> None:
        self._said: dict[str, float] = {}
        self._leading: dict[str, list[Side]] = {}
        self._below: dict[str, list[Side]] = {}
        for pair in sorted(pairs, key=lambda pair: (pair.leading.said, pair.leading.id), reverse=True):
            if pair.below.id not in {pair.leading.id, *self.above(pair.leading.id)}:
                self._leading.setdefault(pair.below.id, []).append(pair.leading)
                self._below.setdefault(pair.leading.id, []).append(pair.below)
                self._said |= {side.id: side.said for side in (pair.below, pair.leading)}

    def newest(self, id: str) -> str:
        """The last of those that lead it, one after the other; itself where none does."""
        while id in self._leading:
            id = max(self._leading[id], key=lambda side: side.said).id
        return id

    def before(self, id: str) -> "str | None":
        """What it leads; of several the one that was said last."""
        below = self._below.get(id)
        return max(below, key=lambda side: side.said).id if below else None

    def above(self, id: str) -> "set[str]":
        """All that lead it, directly or one after the other."""
        found: set[str] = set()
        waiting = [id]
        while waiting:
            new = {side.id for side in self._leading.get(waiting.pop(), ())} - found
            found |= new
            waiting += new
        return found

    def placed(self, scores: "Mapping[str, float]", along: "Collection[str]" = ()) -> "dict[str, float]":
        """Scores above 0 by which what leads stands above the rest: lifted to what it leads, which goes just below it.

        The newest of those that lead one of them is among them if it may come `along`. Of equals the first comes first.
        """
        above = {id: self.above(id) for id in scores}
        lifted = dict(scores)
        for id, score in scores.items():
            for leading in above[id] & {*scores, *along}:
                lifted[leading] = max(lifted.get(leading, 0.0), score)
        above |= {id: self.above(id) for id in lifted.keys() - scores.keys()}
        placed: dict[str, float] = {}
        # Whatever leads a memory is led by fewer than that; of equals what was said last is first.
        for id in sorted(lifted, key=lambda id: (len(above[id]), -self._said.get(id, 0.0))):
            ceilings = [BELOW * placed[leading] for leading in above[id] if leading in placed]
            placed[id] = min([lifted[id], *ceilings])
        return placed


def follow(ids: "Iterable[str]", look: "Callable[[list[str]], Iterable[Pair]]") -> Order:
    """The order of these memories and of those that lead them, as far as few steps lead.

    `look` gives the pairs that any of the ids belongs to, if both may be shown.
    """
    pairs: dict[tuple[str, str], Pair] = {}
    asked: set[str] = set()
    wanted = list(dict.fromkeys(ids))
    for _ in range(STEPS):
        if not wanted:
            break
        asked.update(wanted)
        pairs.update({(pair.below.id, pair.leading.id): pair for pair in look(wanted)})
        wanted = sorted({pair.leading.id for pair in pairs.values()} - asked)
    return Order(pairs.values())
