"""Causes: what fixed a problem is tied to the memory of that problem."""

from collections.abc import Sequence
from datetime import datetime

from retain.domain.changes import Changes
from retain.domain.graph import Tie
from retain.domain.memory import Memory, MemoryId
from retain.domain.trust import CROWDED
from retain.domain.work import EntryType
from retain.engine.nearby import Compared, Neighbour
from retain.engine.remember import Company

FIXED = "fixed"


def fix_of(issue: MemoryId, now: datetime) -> Company:
    """For a memory that is known to have fixed another."""
    return Company(Compared(), lambda fix, _: Changes(at=now, ties=_ties(fix, [issue], now)))


def fix_of_what_is_near(now: datetime) -> Company:
    """For a fix that was seen to work: the problems that are remembered about the same thing."""

    def also(fix: Memory, near: Sequence[Neighbour]) -> Changes:
        problems = [one.memory.id for one in near if one.cosine >= CROWDED and _is_problem(one.memory)]
        return Changes(at=now, ties=_ties(fix, problems, now))

    return Company(Compared(), also)


def _is_problem(memory: Memory) -> bool:
    return memory.category == "gotcha" or memory.metadata.get("entry") == EntryType.ISSUE


def _ties(fix: Memory, problems: Sequence[MemoryId], now: datetime) -> tuple[Tie, ...]:
    return tuple(Tie(fix.id, problem, FIXED, now) for problem in problems if problem != fix.id)
