"""Rivalry: contradictions of a memory that is there already, because it stands again, is worded anew, or was written
while others wrote."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from retain.domain.changes import Changes, Contradiction, ContradictionState, StillSo
from retain.domain.memory import Memory
from retain.domain.words import query_terms, terms
from retain.engine.embed import Embedded
from retain.engine.knowledge.entities import about_the_same, linked_to
from retain.engine.lifecycle.contradictions import clash
from retain.engine.nearby import ALIKE, Compared, Neighbour, contradictions
from retain.engine.recall.recall import cosines
from retain.engine.trust.reopening import as_found, in_question
from retain.ports import Store

BY_EDIT = "edit"
REWORDED = "its text was changed and no longer contradicts"


@dataclass(frozen=True, slots=True)
class Rivalry:
    """The contradictions of a memory that are open, and the plan that records those that were not."""

    found: tuple[Contradiction, ...]
    changes: Changes


def rivalry(
    store: Store,
    memory: Memory,
    near: Sequence[Neighbour],
    now: datetime,
    compared: Compared | None = None,
    *,
    reworded: bool = False,
) -> Rivalry:
    """What cannot be true beside a memory, found as for a new one, each pair recorded once.

    Of two, the older is the one that happened first, so that whoever finds a pair writes the same. What was decided
    is open again; but not that both hold, each in its case, unless the memory is `reworded` and differs in another way.
    """
    also = about_the_same(store, linked_to(store, memory, (), now), memory)
    others = {each.memory.id: Neighbour(each, 0.0) for each in also} | {each.memory.id: each for each in near}
    known = {each.other(memory.id): each for each in store.contradictions([memory.id])}
    found: list[Contradiction] = []
    for each in contradictions(near, memory, also, now, compared):
        other, before = others[each.older], known.get(each.older)
        stands = _standing(_oriented(each, memory, other, before), before, reworded)
        if stands:
            found.append(stands)
    new = [each for each in found if each != known.get(each.other(memory.id))]
    guards = tuple(_still_so(known[each.other(memory.id)]) for each in new if each.other(memory.id) in known)
    return Rivalry(tuple(found), Changes(at=now, expects=guards, contradictions=tuple(new)))


def settled(
    store: Store, versions: tuple[Memory, Memory], vectors: Embedded, found: Sequence[Contradiction]
) -> Changes:
    """The plan that ends the open contradictions of a memory whose new text does not contradict any more; those that
    were `found` to do so are left open."""
    new = versions[1]
    still = {each.id for each in found}
    known = [each for each in store.contradictions([new.id]) if each.is_open and each.id not in still]
    if not known:
        return Changes(at=new.updated)
    rivals = store.memories([each.other(new.id) for each in known])
    near = cosines(store, vectors.vectors[0], list(rivals), vectors.model) if vectors.vectors else {}
    ended = []
    for each in known:
        rival = rivals.get(each.other(new.id))
        # Where it is not known how alike they are, they count as alike: what is in doubt stays open.
        if rival and not _clash_still(each, rival.memory, versions, near.get(rival.memory.id, 1.0)):
            ended.append(each)
    decided = tuple(_ended(each, new.updated) for each in ended)
    return Changes(at=new.updated, expects=tuple(map(_still_so, ended)), contradictions=decided)


def _ended(found: Contradiction, now: datetime) -> Contradiction:
    return replace(
        found,
        detail=as_found(found),
        state=ContradictionState.RESOLVED,
        winner=None,
        conditions=None,
        explanation=REWORDED,
        resolved=now,
        resolved_by=BY_EDIT,
    )


def _oriented(found: Contradiction, memory: Memory, other: Neighbour, before: Contradiction | None) -> Contradiction:
    """The pair in the order in which it is recorded, or else in that in which they happened."""
    first, last = sorted((memory, other.memory), key=lambda each: (each.event_time, each.id))
    if (first.id != found.older) if before is None else (before.older != found.older):
        first, last = memory, other.memory
        turned = clash(first.text, last.text, cosine=other.cosine) if found.by_rule else None
        found = replace(found, older=first.id, newer=last.id, detail=turned.detail if turned else found.detail)
    return found


def _standing(found: Contradiction, before: Contradiction | None, reworded: bool) -> Contradiction | None:
    """A pair that contradicts, as it is to be recorded; None where both hold."""
    if before is None or before.state is ContradictionState.REOPENED:
        return before or found
    if before.state is ContradictionState.OPEN:
        return replace(before, detail=found.detail) if reworded else before
    both_hold = before.state is ContradictionState.CONTEXT_DEPENDENT
    if both_hold and not (reworded and as_found(before) != found.detail):
        return None
    return in_question(replace(before, detail=found.detail), "both stand again and contradict each other", found.found)


def _still_so(found: Contradiction) -> StillSo:
    return StillSo(found.id, found.state, found.resolved)


def _clash_still(found: Contradiction, rival: Memory, versions: tuple[Memory, Memory], cosine: float) -> bool:
    old, new = versions
    if _by_rule(new, rival, cosine):
        return True
    if found.by_rule or _by_rule(old, rival, cosine):
        return False
    # A language model saw what rules do not see, so they cannot tell that it is gone, while both have one subject.
    shared = set(query_terms(new.text)).intersection(terms(rival.text))
    return cosine >= ALIKE or len(shared) > 1


def _by_rule(one: Memory, other: Memory, cosine: float) -> bool:
    return any(clash(*texts, cosine=cosine) for texts in _both_ways(one.text, other.text))


def _both_ways(one: str, other: str) -> Iterator[tuple[str, str]]:
    yield one, other
    yield other, one
