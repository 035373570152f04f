"""When a queue of held writes was damaged: the copy in which they were carried out says them again."""

from contextlib import closing
from dataclasses import replace
from functools import reduce
from pathlib import Path

from retain.domain.changes import Changes, NoTwin
from retain.domain.claims import fingerprint
from retain.domain.ids import id_of
from retain.domain.memory import Memory
from retain.standing import UNREADABLE, of_store
from retain.stores.forgetting import nothing_left
from retain.stores.plans import text_of
from retain.stores.queue import Queue
from retain.stores.sqlite.connection import MEMORY
from retain.stores.sqlite.files import alone, dismiss, give_up, is_writable, set_aside_files
from retain.stores.sqlite.mending import copies_of
from retain.stores.sqlite.remains import Remains
from retain.stores.sqlite.store import SqliteStore


def requeue(queue: Queue, copy: Path) -> None:
    """Lets all that the copy holds wait again, once for each queue that was damaged.

    The copy has what the queue had. Where it was damaged too, or is gone, something may be missing, and that is told
    until somebody settles it.
    """
    if not _damaged(queue) or not is_writable(queue.path):
        return
    with alone(queue.path):
        if not (damaged := _damaged(queue)):
            return  # another process has dealt with it
        is_whole = _is_whole(copy)
        for file in (copy, *set_aside_files(copy)):
            if file.is_file():
                queue.take_over(_plans(file))
        for file in damaged:
            dismiss(file) if is_whole else give_up(file)


def _damaged(queue: Queue) -> list[Path]:
    return [file for file in set_aside_files(queue.path) if not file.name.endswith(UNREADABLE)]


def _is_whole(copy: Path) -> bool:
    if not copy.is_file():
        return False
    with closing(SqliteStore(copy)) as store:  # which sets a damaged one aside
        return not store.faults() and not of_store(str(copy))


def _plans(copy: Path) -> list[Changes]:
    with copies_of(copy) as copies, closing(SqliteStore(MEMORY)) as nothing:
        found = list(Remains(copies.own, copies.leaves).plans(nothing))
    beside = reduce(Changes.joined, [plan for plan in found if not plan.memories])
    memories = [_alone(memory, plan, beside) for plan in found for memory in plan.memories]
    plans = memories if nothing_left(beside) else [*memories, beside]
    return [replace(plan, key=id_of(text_of(plan))) for plan in plans]


def _alone(memory: Memory, plan: Changes, beside: Changes) -> Changes:
    """Each memory by itself, as it was said: one that somebody has stored meanwhile holds up none of the others."""
    links = tuple(link for link in plan.links if link.memory == memory.id)
    spoken_of = {link.entity for link in links}
    return Changes(
        at=memory.updated,
        expects=(NoTwin(memory.place, fingerprint(memory.text)),) if memory.is_active else (),
        memories=(memory,),
        embeddings=tuple(one for one in plan.embeddings if one.memory == memory.id),
        history=tuple(one for one in plan.history if one.memory == memory.id),
        entities=tuple(one for one in plan.entities if one.id in spoken_of),
        links=links,
        projects=tuple(one for one in beside.projects if one.id == memory.place.project),
        sessions=tuple(one for one in beside.sessions if one.id == memory.session),
    )
