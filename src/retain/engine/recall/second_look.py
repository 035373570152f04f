"""The second look: the best candidates are read with the question once more, before their order is final.

The signals compare a question with each memory from afar: by one vector, and by the words they share. Who reads both
together sees more and takes longer, so only the best few are read. The judge reads, with its head for questions.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from retain.domain.memory import MemoryId
from retain.domain.passages import passage
from retain.engine.recall.scoring import RELEVANCE, Score, best_first
from retain.errors import JudgeAway
from retain.ports import Judge

LOOKED_AT = 12  # of the best candidates
ROOM = 2_400  # characters that are read for one question, itself included: what 60 ms of one core are enough for
LIFT = 0.2  # relevance that comes to what plainly answers; nothing is lost, so what was read never falls below the rest
PATIENCE = 0.3  # seconds, when the judge is not loaded yet; then the question is answered without


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory as it is read with the question: its whole text, and the relevance that the signals give it."""

    memory: MemoryId
    text: str
    relevance: float


# Says the relevance of each of the candidates whose text says more, or less, than its signals promised.
Read = Callable[[str, Sequence[Candidate]], Mapping[MemoryId, float]]


def reread(judge: Judge | None, question: str, best: Sequence[Candidate]) -> Mapping[MemoryId, float]:
    """The candidates with what the judge makes of them; without a judge what the signals say stands."""
    if judge is None or not judge.wait(PATIENCE):
        return {}
    found, room = {}, ROOM
    for each in best:
        read = passage(question, each.text)
        room -= len(question) + len(read)
        if room < 0:
            break
        try:
            fits = judge.fits(question, read)
        except JudgeAway:
            break
        found[each.memory] = min(each.relevance + LIFT * fits, 1.0)
    return found


def looked_at_again(question: str, scores: Sequence[Score], texts: Mapping[MemoryId, str], read: Read) -> list[Score]:
    """The scores, best first, with what comes of reading the best of them; `scores` are best first too."""
    best = [Candidate(score.memory, texts[score.memory], score.relevance) for score in scores[:LOOKED_AT]]
    found = read(question, best)
    changed = [_with(score, found[score.memory]) if score.memory in found else score for score in scores]
    return best_first(changed)


def _with(score: Score, relevance: float) -> Score:
    """The score with another relevance. What the look adds is a term of its own, so that the terms still explain it."""
    added = relevance - score.relevance
    total = score.total + RELEVANCE * added * score.terms["scope_weight"]
    return replace(
        score, total=total, relevance=relevance, terms={**score.terms, "second_look": added, "relevance": relevance}
    )
