"""Filing: the judge names the category of a memory that somebody stored without a type.

Nothing else of the memory changes, and nobody did anything to it: it stays at its version and gets no line of history.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from retain.domain.category import LIVES
from retain.domain.changes import AtVersion, Changes, Expectation, Uncompared
from retain.domain.connection import Reach
from retain.domain.judging import CATEGORIES, NOTHING, Surroundings
from retain.domain.memory import Memory, MemoryId
from retain.domain.work import entry_of
from retain.engine.parts import Parts, settle
from retain.ports import Judge

# What would fade under its category is left without one: somebody wanted it kept.
LASTING = frozenset(CATEGORIES) - {NOTHING} - LIVES.keys()
SURE = 0.5  # odds that it is worth keeping at all; below, the judge knows nothing of such a text


def can_file(parts: Parts) -> bool:
    """Whether the database is there: else the queue would fill with what can wait."""
    connection = parts.store.connection()
    return connection.reach is Reach.CONNECTED and not connection.queued.waiting


def file(parts: Parts, judge: Judge, ids: Sequence[MemoryId]) -> int:
    """Gives those that still have none a category; says how many got one. Raises JudgeAway.

    Whoever edits a memory at the same moment goes first: what is written rests on the version that was judged.
    """
    found = parts.store.memories(ids).values()
    return sum(settle(parts.store, partial(_plan, parts, judge, stored.memory.id)) for stored in found)


def _plan(parts: Parts, judge: Judge, id: MemoryId) -> tuple[Changes, bool]:
    now = parts.clock.now()
    stored = parts.store.memories([id]).get(id)
    if stored is None or not _may_be_filed(stored.memory):
        return Changes(now), False
    verdict = judge.keep(stored.memory.text, Surroundings())
    if verdict.category not in LASTING or verdict.score < SURE:
        return Changes(now), False
    return Changes(now, (_as_read(stored.memory),), memories=(replace(stored.memory, category=verdict.category),)), True


def _as_read(memory: Memory) -> Expectation:
    """Neither a category nor a comparison makes a new version, so each looks whether the other was there first."""
    if memory.compared:
        return AtVersion(memory.id, memory.version)
    return Uncompared(memory.id, memory.version, memory.category)


def _may_be_filed(memory: Memory) -> bool:
    """What has a title or belongs to a log is of a set in which the category is part of the reply."""
    return memory.is_active and memory.category is None and memory.title is None and entry_of(memory) is None
