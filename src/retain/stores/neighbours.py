"""What was said directly before and after some memories."""

from collections.abc import Collection, Sequence

from retain.domain.memory import MemoryId
from retain.ports import Context


def next_to(found: Sequence[Context], beside: Collection[MemoryId]) -> list[MemoryId]:
    """The direct neighbours of those of the memories that `beside` names, each once, and none that is found itself."""
    known, named = {context.memory for context in found}, set(beside)
    near = (id for c in found if c.memory in named for distance, id, _ in c.neighbours if abs(distance) == 1)
    return [id for id in dict.fromkeys(near) if id not in known]
