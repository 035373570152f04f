"""Who is at work on an index: one process at a time, and the next one as soon as that one is gone."""

import os
import socket
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import uuid4

from retain.domain.code import CodeIndex, IndexStatus
from retain.ports import CodeStore

# Without a sign of life for so long, a holder on another machine is taken for dead; one batch of stubborn files may
# take minutes. One on this machine whose process has ended is so at once.
SILENCE = timedelta(minutes=3)


def new_holder() -> str:
    """A name that no other run has, and that tells where it runs."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:12]}"


def is_at_work(index: CodeIndex, now: datetime) -> bool:
    """Whether somebody who is alive is indexing it."""
    if index.status is not IndexStatus.INDEXING or index.holder is None or index.beat is None:
        return False
    return now - index.beat < SILENCE and not _has_ended(index.holder)


def claimed(store: CodeStore, wanted: CodeIndex, now: datetime, *, new: bool) -> CodeIndex | None:
    """The index, with the counts of what it has, once it is ours; None while another is at it.

    What is not `new` must be there: an index that was dropped is not to come back by itself.
    """
    there = next((index for index in store.indexes(wanted.user) if index.key == wanted.key), None)
    dead_since = now - SILENCE
    if there is not None and there.beat is not None and there.beat > dead_since and not is_at_work(there, now):
        dead_since = there.beat  # and no later: a third one may have been faster than we are
    return store.claim_index(wanted, dead_since, new=new)


def as_it_is(index: CodeIndex, now: datetime) -> CodeIndex:
    """An index whose holder was killed says that it is being indexed; nobody is at it, so it waits for the next run."""
    if index.status is IndexStatus.INDEXING and not is_at_work(index, now):
        return replace(index, status=IndexStatus.PENDING)
    return index


def _has_ended(holder: str) -> bool:
    """Whether the holder ran on this machine, in a process that is no more; where that cannot be told, it has not."""
    host, _, rest = holder.partition(":")
    pid = rest.partition(":")[0]
    # On Windows `os.kill` ends the process that it is asked about.
    if host != socket.gethostname() or not pid.isdigit() or os.name != "posix":
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False
