"""Standing rules and preferences: what a task calls for, though it shares hardly a word with it.

"Install the date picker" calls for "we use pnpm", and nothing joins the two but that one is to be done and the other
says how things are done. So the rules that are nearest among all rules have the last places of an answer, behind what
the task speaks of.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from retain.domain.memory import MemoryId, Vector
from retain.domain.recall import Filter, Hit
from retain.engine.parts import Parts
from retain.engine.recall.cosines import cosines

RULES = ("preference", "pattern", "decision")  # the categories that say how things are done
OF_TEN = 3  # places of ten that they may have
COMPARED = 100  # of the newest; who keeps more has them written down elsewhere
NEAR = 0.15  # cosine that a rule needs; of those that a task calls for half have 0.17 or less
FEWEST_WORDS = 5  # of a task; fewer are words to search for

_QUESTION = re.compile(
    r"\W*(?:who|whom|whose|what|when|where|why|which|how|is|are|was|were|am|do|does|did|has|have|had|should|would)\b",
    re.IGNORECASE,
)
_REQUEST = re.compile(r"\W*(?:can|could|will|would) you\b|.*\bplease\b", re.IGNORECASE | re.DOTALL)


def is_task(text: str) -> bool:
    """Whether something is to be done, and not only to be told."""
    if len(text.split()) < FEWEST_WORDS:
        return False
    return bool(_REQUEST.match(text)) or not (text.rstrip().endswith("?") or _QUESTION.match(text))


def nearest(parts: Parts, vector: Vector, wanted: Filter, limit: int) -> tuple[MemoryId, ...]:
    """The rules that may have a place among so many hits, nearest first."""
    known = parts.store.listed(replace(wanted, categories=RULES), COMPARED)
    found = cosines(parts.store, vector, [stored.memory.id for stored in known], parts.embedder.model)
    near = [id for id, cosine in found.items() if cosine >= NEAR]
    return tuple(sorted(near, key=lambda id: (-found[id], id))[: limit * OF_TEN // 10])


def with_rules(hits: Sequence[Hit], rules: Sequence[MemoryId], limit: int) -> list[Hit]:
    """The best hits, of which the last that are no rules give way to rules that did not come so far by themselves.

    A rule that something newer leads is called for as that.
    """
    called = {_in_force(place, hits) for place, hit in enumerate(hits) if hit.id in rules}
    others = [place for place in range(len(hits)) if place not in called][: limit - len(called)]
    return [
        replace(hits[place], terms={**hits[place].terms, "standing_rule": 1.0}) if place >= limit else hits[place]
        for place in sorted({*called, *others})
    ]


def _in_force(place: int, hits: Sequence[Hit]) -> int:
    """The place of what leads a hit, one after the other; its own where nothing does. What leads stands above."""
    memory, standing = hits[place].stored.memory, hits[place].stored.standing
    leading = {rival.memory for rival in (standing.rivals if standing else ()) if rival.leads(memory)}
    leading.add(memory.status.successor or "")
    above = next((above for above in range(place) if hits[above].id in leading), None)
    return place if above is None else _in_force(above, hits)
