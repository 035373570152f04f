"""How two statements stand to each other: the judge says so, where they are short enough for it and of one thing."""

from collections.abc import Mapping

from retain.domain.judging import RELATIONS, Bearing, Comparison
from retain.domain.memory import Memory
from retain.domain.words import query_terms, terms
from retain.engine.lifecycle.apart import apart, asserted
from retain.engine.lifecycle.contradictions import plainly
from retain.engine.thresholds import CLOSE, PLAINLY, contradicts_from
from retain.ports import Judge

MOST = 8  # neighbours with which a memory is compared
_UNRELATED = Comparison("unrelated", {name: float(name == "unrelated") for name in RELATIONS})
_ENOUGH = 2  # terms in common, where no cosine is known


def related(judge: Judge, old: str, new: str, cosine: float | None) -> Comparison:
    """How a newer text stands to an older one; without a cosine the words that they share must do. Raises JudgeAway."""
    here, there = asserted(old), asserted(new)
    if not here or not there or not _may_have_one_subject(here, there, cosine) or apart(here, there):
        return _UNRELATED
    scores = judge.relation(here, there).scores
    if scores["contradiction"] < PLAINLY and plainly(here, there):
        scores = {name: (1 - PLAINLY) * scores[name] for name in RELATIONS} | {"contradiction": PLAINLY}
    return Comparison(_settled(scores, contradicts_from(cosine)), scores)


def in_order(one: Memory, other: Memory) -> tuple[Memory, Memory]:
    """Of two, the older is the one that happened first, so that whoever compares them asks and writes the same.

    What an import brings often has one time for all; then the id decides.
    """
    first, last = sorted((one, other), key=lambda each: (each.event_time, each.created, each.id))
    return first, last


def _may_have_one_subject(old: str, new: str, cosine: float | None) -> bool:
    if cosine is not None:
        return cosine >= CLOSE
    return len({*query_terms(new)}.intersection(terms(old))) >= _ENOUGH


def _settled(scores: Mapping[Bearing, float], sure: float) -> Bearing:
    """The likeliest relation, but no contradiction that the judge is not sure of."""
    if scores["contradiction"] >= sure:
        return "contradiction"
    return max((name for name in RELATIONS if name != "contradiction"), key=lambda name: scores[name])
