"""Making vectors anew that an earlier file of the model has made, while searches still find those."""

import logging
import random
from collections.abc import Callable
from typing import TYPE_CHECKING

from retain.domain.connection import Reach
from retain.domain.model import earlier
from retain.domain.session import Caller
from retain.engine.lifecycle.upkeep import BATCH, Job, embed
from retain.engine.parts import Parts
from retain.errors import RetainError

if TYPE_CHECKING:
    from retain.engine.code.code import Code

logger = logging.getLogger(__name__)

AHEAD = 256  # memories from which the next batch is taken


def renew(parts: Parts, later: Callable[[Job], None], code: "Callable[[], Code]", caller: Caller) -> None:
    """All memories, some at a time, so that what somebody waits for has its turn in between; then the caller's code."""

    def go_on() -> None:
        if parts.embedder.wait(60):
            later(go_on if renew_some(parts) else renew_code)

    def renew_code() -> None:
        if _is_there(parts) and (keys := parts.store.code_outdated(caller.user, parts.embedder.model)):
            code().refresh(keys, caller)

    if earlier(parts.embedder.model):
        later(go_on)


def renew_some(parts: Parts) -> int:
    """Makes the vectors of the next memories anew; says of how many.

    Whether the processor that made one computed exactly, nothing but making it again can tell, so all are. What is done
    carries the new name: any process can go on, and none begins again. They are taken at random from the next ones:
    windows that are at it together seldom take the same, and if so write the same. An earlier Retain beside this one
    embeds only what has no vectors at all, so the two never undo each other's.
    """
    if not _is_there(parts):
        return 0
    try:
        found = parts.store.unembedded(parts.embedder.model, AHEAD, by_others=False, earlier=True)
        return sum(embed(parts, *one) for one in random.sample(found, min(BATCH, len(found))))
    except RetainError as error:
        logger.info("vectors are still those of an earlier file: %s", error.message)
        return 0


def _is_there(parts: Parts) -> bool:
    """Whether the database is there: else the queue would fill with what can wait."""
    connection = parts.store.connection()
    return connection.reach is Reach.CONNECTED and not connection.queued.waiting
