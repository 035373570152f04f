"""Memories and code in one answer."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from retain.domain.recall import Warning
from retain.engine.recall.channels import ChannelAnswer, ChannelHit
from retain.engine.recall.merge import merge

if TYPE_CHECKING:
    from retain.engine.code.finding.search import CodeAnswer, CodeHit


@dataclass(frozen=True, slots=True)
class Together:
    """What was found, best first, each with the score that it was ranked by.

    Where memories and code were both asked for, that score is relative to the others of its sort, since the two are
    scored on scales of their own; else it is the hit's own.
    """

    hits: "tuple[tuple[ChannelHit | CodeHit, float], ...]"
    nodes: int = 0
    warnings: tuple[Warning, ...] = ()


def together(memories: ChannelAnswer | None, code: "CodeAnswer | None", limit: int) -> Together:
    remembered = [(hit, hit.score) for hit in memories.hits] if memories else []
    written = [(hit, hit.score) for hit in code.hits] if code else []
    found: list[tuple[ChannelHit | CodeHit, float]] = [*remembered, *written]
    if memories and code:
        found = merge(remembered, written)
    warnings = (*(memories.warnings if memories else ()), *(code.warnings if code else ()))
    nodes = memories.nodes if memories else 0
    return Together(tuple(found[:limit]), nodes, tuple(dict.fromkeys(warnings)))
