"""What a judge is asked about a sentence and about two statements, and what it answers.

The words in which a sentence is put to it are part of the trained model: `training/` makes its examples with
`questions` too. Change them, and the model must be trained again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from retain.domain.category import LIVES
from retain.domain.sentences import Span

NOTHING = "none"
CATEGORIES = (NOTHING, "architecture", "decision", "pattern", "gotcha", "progress", "context", "preference")
SCOPES = ("project", "user")
Bearing = Literal["unrelated", "refinement", "same", "contradiction"]
RELATIONS: tuple[Bearing, ...] = ("unrelated", "refinement", "same", "contradiction")
FITS = ("no", "yes")  # whether a memory answers a question

_PLAINLY = 0.6  # of all that speaks for keeping it
# Characters of the surroundings. The end of a turn is where it asks; a first sentence is most often its answer.
_ANSWERED, _BEFORE, _PREVIOUS, _FOLLOWING = 220, 60, 110, 60


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands around a sentence: who says it, the turn before, its neighbours, and which of how many it is."""

    role: str = "user"
    before: str = ""
    previous: str = ""
    following: str = ""
    place: int = 0
    count: int = 1

    def told(self) -> str:
        """In one line, as the judge was taught to read it."""
        before = _end(self.before, _ANSWERED if self.place == 0 else _BEFORE)
        around = f"{before} | {_end(self.previous, _PREVIOUS)} | {_one_line(self.following)[:_FOLLOWING]}"
        return f"{self.role} {self.place + 1} of {self.count} | {around}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge makes of a sentence: how surely it is worth keeping, as what, and for whom."""

    score: float
    category: str
    scope: str
    sure_of_scope: float = 1.0


def category_among(odds: Sequence[float]) -> str:
    """The likeliest category, given the odds of each. One that fades must be plainly meant: what is filed as progress
    by mistake is gone in a week."""
    lasting = [name for name in CATEGORIES[1:] if name not in LIVES]
    by_name = dict(zip(CATEGORIES, odds, strict=True))
    best = max(CATEGORIES[1:], key=lambda name: by_name[name])
    is_plain = by_name[best] >= _PLAINLY * (1 - by_name[NOTHING])
    return best if best in lasting or is_plain else max(lasting, key=lambda name: by_name[name])


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a newer statement stands to an older one, with the probability of each relation."""

    relation: Bearing
    scores: Mapping[Bearing, float]

    @property
    def contradiction(self) -> float:
        return self.scores["contradiction"]


def questions(text: str, cuts: Sequence[Span], role: str, before: str) -> Iterator[tuple[str, Surroundings]]:
    """Each sentence of a turn with what stands around it; `before` is the turn before."""
    said = [text[start:end] for start, end in cuts]
    for place, sentence in enumerate(said):
        previous = said[place - 1] if place else ""
        following = said[place + 1] if place + 1 < len(said) else ""
        yield sentence, Surroundings(role, before, previous, following, place, len(said))


def _end(text: str, most: int) -> str:
    line = _one_line(text)
    return line if len(line) <= most else line[-most:]


def _one_line(text: str) -> str:
    return " ".join(text.split())
