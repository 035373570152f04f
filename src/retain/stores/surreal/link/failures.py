"""What SurrealDB reports when it refuses, as errors that say what to do."""

import errno
from collections.abc import Mapping
from typing import Any

from retain.errors import QueryTimeout, RetainError, StorageFull, StoreDown

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
STALE = "stale: somebody else has written"


class LinkLost(StoreDown):
    """The way to the database is gone. Whether what was sent last has been written, nobody knows."""


class Expired(LinkLost):
    """The server has ended the session by itself, as it may be told to after some time. Nothing was done."""


class Unanswered(QueryTimeout):
    """The database is there, and did not answer in time. What it was asked to do it may still do."""


class Forbidden(StoreDown):
    """The database does not let this user in, or not do that."""

    retry_possible = False


class Overtaken(Exception):
    """Somebody else has written since this was read; nothing was, and it can be planned again."""


def refused(answer: Mapping[str, Any]) -> RetainError | Overtaken:
    """The error for one statement that failed, or for a request that was refused as a whole."""
    said = str(answer.get("result") or answer.get("message") or "no reason given")
    kind = str(answer.get("kind"))
    details = answer.get("details")
    detail = str(details.get("kind")) if isinstance(details, Mapping) else ""
    if detail == "TransactionConflict" or STALE in said or "can be retried" in said:
        return Overtaken(said)
    if detail == "TimedOut":
        return QueryTimeout("a query ran past its deadline; ask for less, or raise query_timeout")
    if kind == "NotAllowed":
        return Forbidden(f"SurrealDB refused: {said}. Check remote_user and remote_pass, and that the user may write")
    if is_full(said):
        return StorageFull(f"the disk of the database is full ({said}); nothing was written. Free some space")
    return StoreDown(f"SurrealDB answered with an error: {said}; nothing was written. `retain doctor` may tell more")


def is_full(said: str) -> bool:
    """Whether the system has told the engine that there is no room: no space, over quota, or file too large."""
    return any(f"os error {number})" in said for number in FULL)
