"""Sends a write that has waited to the store that it is for: it is written once, or refused with a reason."""

import logging

from retain.domain.changes import Changes, Conflict, Expectation, NoTwin
from retain.domain.claims import fingerprint
from retain.domain.memory import Memory
from retain.errors import RetainError, Unavailable
from retain.ports import Store
from retain.stores.queue import Entry, Queue

logger = logging.getLogger(__name__)


def send(queue: Queue, entry: Entry, store: Store, plan: Changes) -> None:
    """Settles what becomes of an entry, of which `plan` is what is written. Raises Unavailable while nobody can tell.

    Whoever else sends it too, it is written once.
    """
    try:
        outcome = store.apply(plan)
        if isinstance(outcome, Conflict):
            # Another process that sends the same may have come between the key and the expectations.
            outcome = store.apply(plan)
    except Unavailable:
        raise
    except RetainError as error:
        _refuse(queue, entry, error.message)
        return
    if isinstance(outcome, Conflict) and not _is_there(outcome.broken, plan) and not has(store, plan):
        _refuse(queue, entry, f"it rests on what no longer holds in the database: {_told(outcome.broken)}")
    else:
        queue.done(entry)


def has(store: Store, plan: Changes) -> bool:
    """Whether what the plan makes is there, as it makes it or later, so that only the plan itself is in its way."""
    found = store.memories([*(memory.id for memory in plan.memories), *plan.purged])
    here = [m.id in found and _has_seen(store, plan, found[m.id].memory, m) for m in plan.memories]
    here += [id not in found for id in plan.purged]
    here += [store.work(work.id, work.user) == work for work in plan.works]
    here += [store.profile(profile.project.id, profile.user) == profile for profile in plan.profiles]
    here += [store.contradiction(one.id) == one for one in plan.contradictions]
    return bool(here) and all(here)


def _has_seen(store: Store, plan: Changes, now: Memory, made: Memory) -> bool:
    """Whether a memory is what the plan made of it, or was: then what the plan says of its past is in its history."""
    if now == made or now.version <= made.version:
        return now == made
    said, told = [entry for entry in plan.history if entry.memory == made.id], store.history(made.id)
    return bool(said) and all(entry in told for entry in said)


def _is_there(broken: Expectation, plan: Changes) -> bool:
    """Whether somebody else has stored the same text meanwhile, and the plan was about nothing else."""
    match broken, plan.memories:
        case NoTwin(place, print), (memory,):
            return memory.version == 1 and memory.place == place and fingerprint(memory.text) == print
    return False


def _refuse(queue: Queue, entry: Entry, why: str) -> None:
    logger.warning("a write of %s was refused: %s", entry.at, why)
    queue.refuse(entry, why)


def _told(broken: Expectation) -> str:
    """What was expected, as the description of its class says it."""
    said = (type(broken).__doc__ or type(broken).__name__).splitlines()[0]
    return f"“{said.removesuffix('.')}”"
