"""When a labelled span counts as found, and how often it was: the same for training and for benchmarks/capture.py."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Span = Sequence[int]


@dataclass(frozen=True, slots=True)
class Score:
    right: int = 0
    wrong: int = 0
    missed: int = 0

    def __add__(self, other: "Score") -> "Score":
        return Score(self.right + other.right, self.wrong + other.wrong, self.missed + other.missed)

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.right + self.missed)

    def __str__(self) -> str:
        counts = f"{self.right} right, {self.wrong} wrong, {self.missed} missed"
        return f"P {self.precision:.3f} R {self.recall:.3f} ({counts})"


def score(message: Mapping[str, Any], statements: Iterable[Sequence[Span]]) -> Score:
    """Of a labelled message and the spans of each statement that was made of it: a kept span is found if a statement
    covers more than half of it; a statement that covers none is wrong."""
    text, hits, wrong = message["text"], set[int](), 0
    kept = [each["span"] for each in message.get("keep", ())]
    gold = [(text.find(span), text.find(span) + len(span)) for span in kept]
    for spans in statements:
        covered = {number for number, span in enumerate(gold) if _covers(spans, span)}
        hits |= covered
        wrong += not covered
    return Score(len(hits), wrong, len(gold) - len(hits))


def _covers(spans: Iterable[Span], gold: Span) -> bool:
    shared = sum(max(0, min(end, gold[1]) - max(start, gold[0])) for start, end in spans)
    return shared > 0.5 * (gold[1] - gold[0])
