"""The final score: relevance from signals, then importance and recency; every term is kept by name."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from retain.domain.languages import script_of
from retain.domain.memory import MemoryId
from retain.domain.recall import SCOPE_WEIGHT
from retain.domain.time import recency
from retain.ports import Context

# Signals: meaning carries most, words the rest; the small ones decide between near equals.
MEANING, WORDS, SUBJECT, PHRASE, ASKING, LENGTH, TIME = 0.60, 0.40, 0.05, 0.05, -0.10, -0.12, 0.10
WEIGHTS = {
    "meaning": MEANING,
    "words": WORDS,
    "subject": SUBJECT,
    "phrase": PHRASE,
    "asking": ASKING,
    "length": LENGTH,
    "time": TIME,
    "graph": 1.0,
}
WITHOUT_MODEL = WEIGHTS | {"words": MEANING + WORDS}
# The model has learnt from English: in another script its cosines tell less than words do.
IN_ANOTHER_SCRIPT = WEIGHTS | {"meaning": WORDS, "words": MEANING}
# The sum of the signals at which a memory is as likely as not what was asked for, and how sharply it turns there.
MIDDLE, SHARPNESS = 0.35, 3
# The mix that the scoped contract names.
RELEVANCE, IMPORTANCE, RECENCY = 0.6, 0.2, 0.2
# A memory that a summary speaks for ranks below that summary.
SUMMARISED = 0.5
ASLEEP = 0.5  # of its score is what a dormant memory keeps


@dataclass(frozen=True, slots=True)
class Score:
    """Where a candidate stands, and why."""

    memory: MemoryId
    total: float
    relevance: float
    terms: Mapping[str, float]
    asleep: bool = False
    """Then its place is lower than its total says. What leads it is lifted to the whole of that."""


def weights(question: str) -> Mapping[str, float]:
    """How much each signal counts for a question."""
    return IN_ANOTHER_SCRIPT if script_of(question) else WEIGHTS


def weighted(signals: Mapping[str, float], weights: Mapping[str, float]) -> dict[str, float]:
    """The terms of relevance, each with its weight; without a model words stand for meaning."""
    told = weights if "meaning" in signals else WITHOUT_MODEL
    return {name: told[name] * value for name, value in signals.items()}


def relevance(fit: float) -> float:
    """How much of an answer a memory is, in 0 to 1, by the sum of its signals.

    The sums of all that is worth showing lie close together, between 0.2 and 0.7. The curve spreads them, so that
    importance and recency decide between near equals only. It is the same for every question.
    """
    power = min(max(fit, 0.0), 1.0) ** SHARPNESS
    middle: float = MIDDLE**SHARPNESS
    return (1 + middle) * power / (power + middle)


def scored(context: Context, parts: Mapping[str, float], broadest: float, now: datetime) -> Score:
    """The final score with every term. `broadest` is the largest scope weight among the candidates."""
    relevant = relevance(sum(parts.values()))
    weight = SCOPE_WEIGHT[context.scope] / broadest * (SUMMARISED if context.consolidated else 1.0)
    recent = recency(context.last_said, now)
    total = RELEVANCE * relevant * weight + IMPORTANCE * context.importance + RECENCY * recent
    added = {
        "second_look": 0.0,
        "relevance": relevant,
        "scope_weight": weight,
        "importance": context.importance,
        "recency": recent,
    }
    return Score(context.memory, total, relevant, {**parts, **added}, context.asleep)


def lowered(score: float, *, asleep: bool) -> float:
    """What sleeps is seldom what was meant, though its words may fit best."""
    return ASLEEP * score if asleep else score


def best_first(scores: Iterable[Score]) -> list[Score]:
    return sorted(scores, key=lambda score: (-lowered(score.total, asleep=score.asleep), score.memory))


def broadest(contexts: Sequence[Context]) -> float:
    return max((SCOPE_WEIGHT[context.scope] for context in contexts), default=1.0)
