"""Rivalry: the contradictions of a memory as they are to be recorded, each pair once, and the end of those that its
new text has ended."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from retain.domain.changes import Changes, Contradiction, ContradictionState, StillSo
from retain.domain.memory import Memory
from retain.engine.trust.reopening import as_found, in_question
from retain.ports import Store

BY_EDIT = "edit"
REWORDED = "its text was changed and no longer contradicts"
Contradicts = Callable[[Memory, Memory], bool]


@dataclass(frozen=True, slots=True)
class Rivalry:
    """The contradictions of a memory that are open, and the plan that records those that were not."""

    found: tuple[Contradiction, ...]
    changes: Changes


def rivalry(store: Store, memory: Memory, pairs: Iterable[Contradiction], now: datetime) -> Rivalry:
    """What was found to contradict a memory. What was decided is open again; but not that both hold, each in its case,
    unless the memory was worded anew since and differs in another way."""
    known = {each.other(memory.id): each for each in store.contradictions([memory.id])}
    worded = _worded_last(store, memory) if known else None
    found: list[Contradiction] = []
    for each in pairs:
        before = known.get(each.other(memory.id))
        stands = _standing(each, before, reworded=before is not None and _is_after(worded, before))
        if stands:
            found.append(stands)
    new = [each for each in found if each != known.get(each.other(memory.id))]
    guards = tuple(_still_so(known[each.other(memory.id)]) for each in new if each.other(memory.id) in known)
    return Rivalry(tuple(found), Changes(at=now, expects=guards, contradictions=tuple(new)))


def settled(
    store: Store, memory: Memory, found: Sequence[Contradiction], contradicts: Contradicts, now: datetime
) -> Changes:
    """The plan that ends the open contradictions of a memory that was worded anew since and denies the other no more;
    those that were `found` are left open."""
    still = {each.id for each in found}
    known = [each for each in store.contradictions([memory.id]) if each.is_open and each.id not in still]
    worded = _worded_last(store, memory) if known else None
    before = [each for each in known if _is_after(worded, each)]
    rivals = store.memories([each.other(memory.id) for each in before]) if before else {}
    sides = ((each, rivals.get(each.other(memory.id))) for each in before)
    ended = [each for each, rival in sides if rival and not contradicts(memory, rival.memory)]
    decided = tuple(_ended(each, now) for each in ended)
    return Changes(at=now, expects=tuple(map(_still_so, ended)), contradictions=decided)


def _worded_last(store: Store, memory: Memory) -> datetime | None:
    """When its text became what it is; None where it was never another."""
    others = [entry.at for entry in store.history(memory.id) if entry.text != memory.text]
    return max(others, default=None)


def _is_after(worded: datetime | None, found: Contradiction) -> bool:
    return worded is not None and worded >= found.found


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


def _standing(found: Contradiction, before: Contradiction | None, *, reworded: bool) -> Contradiction | None:
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
