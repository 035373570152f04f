"""Which memories may be ended, and in which way: the one table of it, which docs/endings.md shows.

Housekeeping ends what nobody named, so it may be wrong about it; what somebody kept on purpose it leaves alone. An act
names its memory, and nothing stands against that.
"""

from collections.abc import Iterable, Iterator, Set
from enum import StrEnum

from retain.domain.category import LIVES
from retain.domain.conversation import Speaker
from retain.domain.memory import Event, HistoryEntry, Memory
from retain.domain.work import entry_of

RESISTS = 0.8  # importance from which on a memory speaks for itself, whatever else says the same
RUN = "run "  # how the reason of a history row begins that a run of housekeeping left


class Way(StrEnum):
    """How a memory ends, or stops to speak for itself in its own words."""

    SUMMARISE = "summarise"
    GENERALISE = "generalise"
    REWORD = "reword"
    MERGE = "merge"
    REPLACE = "replace"
    PUT_ASIDE = "put aside"
    SLEEP = "sleep"
    PRUNE = "prune"
    DESTROY = "destroy"
    ACT = "act"


class Hold(StrEnum):
    """What keeps a memory from being ended by housekeeping."""

    TITLED = "it has a title"
    LOGGED = "it is in the log of a session"
    EDITED = "somebody edited it"
    BROUGHT_BACK = "somebody brought it back"
    USERS = "the user said it, or prefers it"
    IMPORTANT = f"its importance is {RESISTS} or more"
    LASTING = "its category does not fade"


_ON_PURPOSE = frozenset({Hold.TITLED, Hold.LOGGED, Hold.EDITED})
_NOT_OUTDATED = _ON_PURPOSE | {Hold.BROUGHT_BACK, Hold.USERS, Hold.IMPORTANT}
HOLDS: dict[Way, frozenset[Hold]] = {
    # This ends nothing: it is in every list and search, behind what sums it up. So an edit does not stand against it.
    Way.SUMMARISE: frozenset({Hold.TITLED, Hold.LOGGED, Hold.IMPORTANT}),
    # Asked for by an agent, to whom what is salient is evidence before all else.
    Way.GENERALISE: frozenset({Hold.TITLED, Hold.LOGGED}),
    Way.REWORD: _ON_PURPOSE | {Hold.USERS},
    # What the user said twice may become one; that it is mixed with nobody else's word is for the merger to see to.
    Way.MERGE: _ON_PURPOSE | {Hold.BROUGHT_BACK, Hold.IMPORTANT},
    # On whose word something newer stands is compared besides.
    Way.REPLACE: _ON_PURPOSE,
    Way.PUT_ASIDE: _NOT_OUTDATED,
    Way.SLEEP: _ON_PURPOSE | {Hold.USERS, Hold.LASTING},
    Way.PRUNE: _NOT_OUTDATED,
    Way.DESTROY: _NOT_OUTDATED,
    Way.ACT: frozenset(),
}
_EDITS = {Event.UPDATED, Event.TAGGED, Event.PROMOTED}
_RETURNS = {Event.RESTORED, Event.UNDONE}


def why_not(memory: Memory, way: Way, done: Set[Hold] = frozenset()) -> Hold | None:
    """What stands against ending a memory in this way; None when it may be. `done` is what its history shows."""
    against = HOLDS[way]
    return next((hold for hold in (*_shown_by(memory), *sorted(done)) if hold in against), None)


def deeds(history: Iterable[HistoryEntry]) -> Iterator[Hold]:
    """What somebody did to a memory, by its history; what housekeeping did to it counts for nothing."""
    for row in history:
        if row.event in _EDITS and not (row.reason or "").startswith(RUN):
            yield Hold.EDITED
        if row.event in _RETURNS:
            yield Hold.BROUGHT_BACK


def word_of(memory: Memory) -> Speaker:
    """On whose word a memory stands; what an agent chose to store is the agent's."""
    said_by = memory.metadata.get("said_by")
    return Speaker(said_by) if said_by in tuple(Speaker) else Speaker.ASSISTANT


def is_the_users(memory: Memory) -> bool:
    """What the user said, or prefers, is the user's to give up."""
    return memory.category == "preference" or word_of(memory) is Speaker.USER


def _shown_by(memory: Memory) -> Iterator[Hold]:
    if memory.title is not None:
        yield Hold.TITLED
    if entry_of(memory) is not None:
        yield Hold.LOGGED
    if is_the_users(memory):
        yield Hold.USERS
    if memory.importance >= RESISTS:
        yield Hold.IMPORTANT
    if memory.category is not None and memory.category not in LIVES:
        yield Hold.LASTING
