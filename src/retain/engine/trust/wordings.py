"""The same claim in other words: which contradictions a decision about one of them decides, too."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from retain.domain.changes import Contradiction
from retain.domain.claims import fingerprint, jaccard, same_claim
from retain.domain.graph import SUPPORTS
from retain.domain.memory import Memory, MemoryId
from retain.engine.lifecycle.contradictions import plainly
from retain.engine.lifecycle.relating import in_order, related
from retain.engine.parts import Parts
from retain.engine.thresholds import SAME
from retain.errors import JudgeAway
from retain.ports import Judge

ALIKE = 0.6  # share of words above which two texts with the same details say the same
_LOADING_SECONDS = 3.0
_WITH = "contradiction:"


@dataclass(frozen=True, slots=True)
class Reworded:
    """A contradiction between one side of another and what says the same as its other side."""

    contradiction: Contradiction
    said: MemoryId
    """The side of the other contradiction."""
    again: Memory
    """What says the same in other words."""


def decided_with(id: str) -> str:
    """By what a contradiction was decided that followed another."""
    return f"{_WITH}{id}"


def leader(found: Contradiction) -> str | None:
    """The contradiction with which this one was decided."""
    return (found.resolved_by or "").partition(_WITH)[2] or None


def says_again(said: str, new: str) -> bool:
    """Whether two texts say the same by their words: nearly all of them, and the same names, numbers and negations."""
    if fingerprint(said) == fingerprint(new):
        return True
    is_alike = jaccard(said, new) > ALIKE and same_claim(said, new)
    return is_alike and plainly(said, new) is None


def followers(parts: Parts, found: Contradiction, older: Memory, newer: Memory) -> list[Reworded]:
    """The contradictions that a decision about this one decides, too: those decided with it before, and open ones.

    Only those that have a side in common with it, while the other two sides say the same and nothing ever said that
    they contradict each other.
    """
    known = [each for each in parts.store.contradictions([older.id, newer.id]) if each.id != found.id]
    denied = {frozenset((each.older, each.newer)) for each in known}
    others = parts.store.memories([id for each in known for id in (each.older, each.newer)]) if known else {}
    chosen: list[tuple[Reworded, Memory]] = []
    for each in known:
        said, rival = (older, newer) if newer.id in (each.older, each.newer) else (newer, older)
        again = others.get(each.other(rival.id))
        if again and frozenset((said.id, again.memory.id)) not in denied and _is_undecided(each, found, again.memory):
            chosen.append((Reworded(each, said.id, again.memory), said))
    return list(_same(parts, chosen))


def _is_undecided(each: Contradiction, found: Contradiction, again: Memory) -> bool:
    return again.is_active if each.is_open else leader(each) == found.id


def _same(parts: Parts, chosen: Sequence[tuple[Reworded, Memory]]) -> Iterator[Reworded]:
    ties = parts.store.ties([said.id for _, said in chosen]) if chosen else []
    supporting = {frozenset((tie.source, tie.target)) for tie in ties if tie.type == SUPPORTS and tie.strength > 0}
    for each, said in chosen:
        is_known = not each.contradiction.is_open or frozenset((said.id, each.again.id)) in supporting
        if is_known or says_again(said.text, each.again.text) or _judged_same(parts.judge, said, each.again):
            yield each


def _judged_same(judge: Judge | None, said: Memory, again: Memory) -> bool:
    if judge is None or not judge.wait(_LOADING_SECONDS):
        return False
    first, last = in_order(said, again)
    try:
        found = related(judge, first.text, last.text, 1.0)
    except JudgeAway:
        return False
    return found.relation == "same" and found.scores["same"] >= SAME
