"""Writes that wait until a person has decided about a project's settings file: kept, and sent where they belong.

The file says where memories are or whose they are, and may have come with a clone. Until it is approved or refused,
nothing goes to the store that it names, and nothing to the one that holds without it.
"""

import logging
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from retain.config import Loaded
from retain.domain.connection import Queued
from retain.errors import RetainError, Unavailable
from retain.folders import project_of
from retain.ports import Store
from retain.standing import Notice, damaged_files, unknow
from retain.standing import settle as settled
from retain.stores.moving import Move, moved
from retain.stores.queue import Queue
from retain.stores.requeueing import requeue
from retain.stores.sending import has, send
from retain.stores.sqlite.failures import files_of
from retain.stores.sqlite.files import alone
from retain.stores.sqlite.store import SqliteStore
from retain.stores.waiting import Why, waiting
from retain.whereabouts import HELD_QUEUE, held_copy, held_folders, held_queue

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of writes that waited: `waiting` still do, for the reason that is given."""

    sent: int = 0
    refused: int = 0
    waiting: int = 0
    why: str = ""


def make_waiting_store(loaded: Loaded) -> Store:
    """The store of a process whose settings nobody has decided about yet."""
    queue = _queue(loaded)
    try:
        copy = SqliteStore(held_copy(loaded), query_seconds=(loaded.base or loaded.settings).query_timeout)
    except RetainError:
        queue.close()
        raise
    now = datetime.now(UTC)
    remark = loaded.project_file.remark if loaded.project_file else ""
    return waiting(copy, queue, Why(remark, queue.state().oldest or now, lambda: datetime.now(UTC)))


def count(loaded: Loaded) -> Queued:
    """What waits here for a decision about the project's file, or was refused when it was sent."""
    if loaded.project_file is None or not held_queue(loaded).exists():
        return Queued()
    with closing(_queue(loaded)) as queue:
        return queue.state()


def damaged(loaded: Loaded) -> list[Notice]:
    """What was lost of the writes that waited for a decision about the project's file, also after it."""
    if not damaged_files(str(held_queue(loaded))):
        return []
    with closing(_queue(loaded)) as queue:
        return queue.standing()


def settle(home: Path) -> list[str]:
    """Goes on without what was lost of writes that waited, in whichever project; says what that was."""
    queues = held_folders(home).glob(f"*/{HELD_QUEUE}")
    names = [name for queue in queues for name in settled(damaged_files(str(queue)))]
    return [f"{name} is kept and no longer told of" for name in names]


@contextmanager
def everywhere(home: Path) -> Iterator[list[Queue]]:
    """All in which something waits for a decision, or was refused after it, and those that were damaged."""
    queues = [Queue(file) for file in sorted(held_folders(home).glob(f"*/{HELD_QUEUE}"))]
    try:
        yield [queue for queue in queues if queue.state() != Queued() or queue.standing()]
    finally:
        for queue in queues:
            queue.close()


def send_on(loaded: Loaded, store: Store, *, again: bool = False) -> Sent:
    """Sends what waited to the store that was decided on, in order. With `again` also what was refused before.

    What cannot be sent now stays, and the next process tries.
    """
    if loaded.is_held:
        return Sent(waiting=count(loaded).waiting, why="nothing is decided about the file as it is now")
    with closing(_queue(loaded)) as queue, queue.sending() as mine:
        if not mine:
            return Sent(waiting=queue.state().waiting, why="another process is sending them")
        for entry in queue.entries() if again else ():
            queue.retry(entry.number)
        before, move = queue.state(), _move(loaded)
        why = _sent(queue, store, move)
        after = queue.state()
        if after == Queued():
            _forget_copy(held_copy(loaded))
        refused = after.refused - before.refused
        return Sent(before.waiting - after.waiting - refused, after.refused, after.waiting, why)


def _sent(queue: Queue, store: Store, move: Move) -> str:
    """Why some could not be sent, empty if all were."""
    while entry := queue.first():
        plan = moved(entry.changes, move)
        try:
            # A process that was killed may have written it, and somebody changed it since: a file knows no key.
            if has(store, plan):
                queue.done(entry)
            else:
                send(queue, entry, store, plan)
        except Unavailable as error:
            logger.warning("writes that waited for a decision cannot be sent yet: %s", error.message)
            return error.message
    return ""


def _queue(loaded: Loaded) -> Queue:
    file = loaded.project_file
    queue = Queue(held_queue(loaded), f"a decision about {file.path}" if file else "")
    try:
        requeue(queue, held_copy(loaded))
    except RetainError:
        queue.close()
        raise
    return queue


def _move(loaded: Loaded) -> Move:
    """They were planned for whoever it would be without the file."""
    settings, base, now = loaded.settings, loaded.base or loaded.settings, datetime.now(UTC)
    folder = loaded.folder or Path.cwd()
    here, there = (project_of(each.project_dir or folder, Path.home(), now) for each in (base, settings))
    same = here is not None and there is not None and here.id == there.id
    return Move((base.user_id, settings.user_id), (None, None) if same else (here, there))


def _forget_copy(file: Path) -> None:
    """The store has all of it now. Whoever has the copy open still has it, and its queue, which stays."""
    with suppress(OSError), alone(file):
        unknow(str(file))  # it is meant to be gone
        for each in reversed(files_of(file)):
            each.unlink(missing_ok=True)
