"""The final score: relevance from signals, then importance and freshness; every term is kept by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from retain.domain.memory import MemoryId
from retain.domain.recall import SCOPE_WEIGHT
from retain.domain.time import freshness
from retain.ports import Context

# Relevance: meaning carries most, words the rest; the small ones decide between near equals.
MEANING, WORDS, SUBJECT, PHRASE, ASKING = 0.60, 0.40, 0.05, 0.05, -0.10
WEIGHTS = {"meaning": MEANING, "words": WORDS, "subject": SUBJECT, "phrase": PHRASE, "asking": ASKING, "graph": 1.0}
WITHOUT_MODEL = WEIGHTS | {"words": MEANING + WORDS}
# The mix that the scoped contract names.
RELEVANCE, IMPORTANCE, FRESHNESS = 0.6, 0.2, 0.2
# A memory that a summary speaks for ranks below that summary.
SUMMARISED = 0.5


@dataclass(frozen=True, slots=True)
class Score:
    """Where a candidate stands, and why."""

    memory: MemoryId
    total: float
    relevance: float
    terms: Mapping[str, float]


def relevance(signals: Mapping[str, float]) -> dict[str, float]:
    """The weighted terms of relevance, without a model by words alone; their sum is clipped to 0 to 1."""
    weights = WEIGHTS if "meaning" in signals else WITHOUT_MODEL
    return {name: weights[name] * value for name, value in signals.items()}


def scored(context: Context, parts: Mapping[str, float], broadest: float, now: datetime) -> Score:
    """The final score with every term. `broadest` is the largest scope weight among the candidates."""
    relevant = min(max(sum(parts.values()), 0.0), 1.0)
    weight = SCOPE_WEIGHT[context.scope] / broadest * (SUMMARISED if context.consolidated else 1.0)
    fresh = freshness(context.kind, context.last_said, now)
    total = RELEVANCE * relevant * weight + IMPORTANCE * context.importance + FRESHNESS * fresh
    added = {"relevance": relevant, "scope_weight": weight, "importance": context.importance, "freshness": fresh}
    return Score(context.memory, total, relevant, {**parts, **added})


def broadest(contexts: Sequence[Context]) -> float:
    return max((SCOPE_WEIGHT[context.scope] for context in contexts), default=1.0)
