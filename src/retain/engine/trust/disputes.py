"""Disputes: memories that contradict each other, who decides between them, and what opens a decision again.

The memory that does not hold is superseded, never deleted, and comes back when it is decided otherwise.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from retain.domain.changes import AtVersion, Changes, Contradiction, ContradictionState, StillSo
from retain.domain.claims import fingerprint
from retain.domain.ids import undress
from retain.domain.memory import Event, Memory, MemoryId, Place, State, Status
from retain.domain.session import Caller
from retain.domain.time import iso
from retain.engine.drafts import MAX_REASON, cleaned_note, line_faults
from retain.engine.parts import Parts, places, settle
from retain.engine.revise import move
from retain.engine.succession import entry, succession
from retain.engine.trust.judging import RESOLUTIONS, Resolution, Verdict, decided
from retain.engine.trust.reopening import as_found, in_question, reopened
from retain.engine.trust.wordings import Reworded, decided_with, followers, leader
from retain.errors import Fault, InvalidInput, LLMFailed, NotFound, Refused, invalid, shorten
from retain.ports import Store

__all__ = [
    "Dispute",
    "Resolution",
    "Resolved",
    "Verdict",
    "dispute",
    "listed",
    "reopen",
    "reopened",
    "resolve",
]

SECONDS = 30.0  # that a language model may take to decide
_WITHOUT_ONE = (
    "decide without one: `resolution` is older, newer or context_dependent (the last with `conditions`), "
    "and at a terminal `retain contradictions ID --keep older`, newer or both"
)
_CHOOSE_ONE = "choose one with `retain setup --llm anthropic` (or openai, claude-cli; the setting is `llm`)"
_WHERE = "memory_introspect with list_contradictions, or `retain contradictions`, lists them"


@dataclass(frozen=True, slots=True)
class Dispute:
    """A contradiction and its two sides, whatever has become of them."""

    contradiction: Contradiction
    older: Memory
    newer: Memory

    @property
    def resolution(self) -> Resolution | None:
        """What was decided; None while it is open, and when it ended because one side was worded anew."""
        if self.contradiction.is_open or self.is_outdated:
            return None
        if self.contradiction.state is ContradictionState.CONTEXT_DEPENDENT:
            return "context_dependent"
        return "older" if self.contradiction.winner == self.older.id else "newer"

    @property
    def is_outdated(self) -> bool:
        """Whether it ended without a decision: the two do not contradict each other any more."""
        return self.contradiction.state is ContradictionState.RESOLVED and self.contradiction.winner is None

    @property
    def decided_by(self) -> str:
        """Who decided, in words."""
        if self.is_outdated:
            return "by an edit"
        if first := leader(self.contradiction):
            return f"with contradiction {first}"
        return "by the language model" if self.contradiction.resolved_by == "llm" else "by hand"


@dataclass(frozen=True, slots=True)
class Resolved:
    """A dispute as it stands after the verdict, and whose verdict that was: `llm` or `caller`."""

    dispute: Dispute
    verdict: Verdict
    by: str
    followed: tuple[str, ...] = ()
    """The contradictions about the same claim in other words, which were decided with it."""


def listed(
    parts: Parts, caller: Caller, states: Sequence[ContradictionState], limit: int, offset: int
) -> tuple[list[Dispute], int]:
    """Disputes between memories that the caller sees, newest first, and how many there are in these states.

    One that nobody decided is none any more once either side has ended.
    """
    found, total = parts.store.disputes(places(caller), states, limit, offset)
    sides = parts.store.memories([id for each in found for id in (each.older, each.newer)])
    whole = [each for each in found if each.older in sides and each.newer in sides]
    return [Dispute(each, sides[each.older].memory, sides[each.newer].memory) for each in whole], total


def dispute(store: Store, id: str, caller: Caller) -> Dispute:
    """The contradiction with this id, in any dress; those of other people, and of what another agent keeps to itself,
    do not exist."""
    bare = undress(id)
    if bare is None:
        raise invalid("contradiction_id", id, f"not an id; {_WHERE}")
    found = store.contradiction(bare)
    sides = store.memories([found.older, found.newer]) if found else {}
    if found is None or len(sides) < 2 or not all(_is_open_to(each.memory.place, caller) for each in sides.values()):
        raise NotFound(f"there is no contradiction {bare}; {_WHERE}", contradiction_id=id)
    return Dispute(found, sides[found.older].memory, sides[found.newer].memory)


def _is_open_to(place: Place, caller: Caller) -> bool:
    return place.user == caller.user and place.agent in (None, caller.agent)


def resolve(parts: Parts, id: str, verdict: Verdict | None, caller: Caller, *, again: bool = False) -> Resolved:
    """Decides a dispute by the verdict, or without one by the language model that was chosen; and in the same way those
    about the same claim in other words.

    What was decided stays so, unless it is to be decided `again`. Whoever decides at the same time as somebody else
    and is second is told, and nothing is written.
    """
    read = dispute(parts.store, id, caller)
    if not (read.contradiction.is_open or again):
        raise Refused(_told(read))
    wanted, by = (_checked(verdict), "caller") if verdict else (_asked(parts, read), "llm")

    def plan() -> tuple[Changes, Resolved]:
        present = dispute(parts.store, id, caller)
        _refuse_changed(read, present)
        others = _followers(parts, present, caller)
        changes = _decision(parts.store, present, others, _Ruling(wanted, by, parts.clock.now()))
        return changes, Resolved(_after(present, changes), wanted, by, tuple(each.contradiction.id for each in others))

    return settle(parts.store, plan)


def reopen(parts: Parts, id: str, caller: Caller) -> Dispute:
    """Takes a decision back: the memory that was superseded by it stands again, if nothing says the same by now.

    So does what was decided with it. One that is open already stays as it is.
    """

    def plan() -> tuple[Changes, Dispute]:
        present, now = dispute(parts.store, id, caller), parts.clock.now()
        found = present.contradiction
        if found.is_open:
            return Changes(at=now), present
        others = [each for each in _followers(parts, present, caller) if not each.contradiction.is_open]
        changes = _guarded(present, now).joined(_guarding(others, now))
        for each in (present, *(_reworded(present, one) for one in others)):
            changes = changes.joined(_brought_back(parts.store, each, now))
        opened = (found, *(each.contradiction for each in others))
        changes = replace(changes, contradictions=tuple(in_question(each, "reopened by hand", now) for each in opened))
        return changes, _after(present, changes)

    return settle(parts.store, plan)


def _checked(verdict: Verdict) -> Verdict:
    """The verdict as it may be stored, without secrets; every fault in it is named."""
    faults: list[Fault] = []
    if verdict.resolution not in RESOLUTIONS:
        faults.append(Fault("resolution", shorten(verdict.resolution), f"must be one of: {', '.join(RESOLUTIONS)}"))
    for name in ("conditions", "explanation"):
        faults += line_faults(getattr(verdict, name), name, MAX_REASON)
    conditions, explanation = cleaned_note(verdict.conditions), cleaned_note(verdict.explanation)
    depends = verdict.resolution == "context_dependent"
    if depends and not conditions:
        faults.append(Fault("conditions", "", "say when the one holds and when the other, as both are to stand"))
    if conditions and not depends:
        faults.append(Fault("conditions", shorten(conditions), "only goes with context_dependent, where both stand"))
    if faults:
        raise InvalidInput(faults)
    return Verdict(verdict.resolution, conditions, explanation)


def _asked(parts: Parts, read: Dispute) -> Verdict:
    llm = parts.llm
    if llm is None:
        raise Refused(f"no language model was chosen that could decide this; {_CHOOSE_ONE}, or {_WITHOUT_ONE}")
    if why_not := llm.why_not():
        raise Refused(f"{llm.name} cannot be asked to decide this ({why_not}); {_WITHOUT_ONE}")
    try:
        return decided(llm, read.contradiction, read.older, read.newer, SECONDS)
    except LLMFailed as error:
        raise LLMFailed(f"{error.message}; nothing was written. Try again, or {_WITHOUT_ONE}") from error


def _refuse_changed(read: Dispute, present: Dispute) -> None:
    """A verdict is about what was read: what others have made of it meanwhile must not be written over."""
    if read.contradiction != present.contradiction and not present.contradiction.is_open:
        raise Refused(f"somebody was faster: {_told(present)}")
    if _sides(read) != _sides(present) or read.contradiction != present.contradiction:
        raise Refused(
            f"contradiction {read.contradiction.id} was changed while it was being decided; "
            "nothing was written, look at it again"
        )


def _sides(read: Dispute) -> list[tuple[str, State]]:
    return [(memory.text, memory.status.state) for memory in (read.older, read.newer)]


def _told(read: Dispute) -> str:
    """What was decided, when and by whom, and how to decide otherwise."""
    found = read.contradiction
    both = "both stand" if read.is_outdated else f"both hold: {shorten(found.conditions or '', 200)}"
    holds = f"memory:{found.winner} holds" if found.winner else both
    why = f" ({shorten(found.explanation, 200)})" if found.explanation else ""
    at = f" on {iso(found.resolved)}" if found.resolved else ""
    way = f"`retain contradictions {found.id} --reopen` opens it again"
    what = "ended" if read.is_outdated else "decided"
    return f"contradiction {found.id} was {what}{at} {read.decided_by}: {holds}{why}; {way}"


@dataclass(frozen=True, slots=True)
class _Ruling:
    """A verdict, whose it was, and when it fell."""

    verdict: Verdict
    by: str
    at: datetime

    def on(self, found: Contradiction, winner: MemoryId | None, by: str) -> Contradiction:
        return replace(
            found,
            detail=as_found(found),
            state=ContradictionState.RESOLVED if winner else ContradictionState.CONTEXT_DEPENDENT,
            winner=winner,
            conditions=self.verdict.conditions,
            explanation=self.verdict.explanation,
            resolved=self.at,
            resolved_by=by,
        )


def _followers(parts: Parts, read: Dispute, caller: Caller) -> list[Reworded]:
    """What is decided along: of what the caller may decide, where the other wording can stand or fall."""
    found = followers(parts, read.contradiction, read.older, read.newer)
    sides = {read.older.id: read.newer, read.newer.id: read.older}
    return [each for each in found if _is_open_to(each.again.place, caller) and _may_hold(each.again, sides[each.said])]


def _decision(store: Store, read: Dispute, others: Sequence[Reworded], ruling: _Ruling) -> Changes:
    """The plan by which a dispute is decided, and with it those about the same claim in other words."""
    found, now = read.contradiction, ruling.at
    plan = _guarded(read, now).joined(_guarding(others, now))
    if ruling.verdict.resolution == "context_dependent":
        for memory, rival in ((read.older, read.newer), (read.newer, read.older)):
            for each in (memory, *_wordings(others, memory)):
                plan = plan.joined(_standing(store, each, rival, found, now)[0])
        return replace(plan, contradictions=_rulings(read, others, ruling, None))
    holds, falls = (read.older, read.newer) if ruling.verdict.resolution == "older" else (read.newer, read.older)
    changes, stands = _standing(store, holds, falls, found, now)
    for each in _wordings(others, holds):
        changes = changes.joined(_standing(store, each, falls, found, now)[0])
    fallen = _fallen(store, (falls, *_wordings(others, falls)), stands, found, now)
    return replace(plan.joined(changes).joined(fallen), contradictions=_rulings(read, others, ruling, holds))


def _rulings(
    read: Dispute, others: Sequence[Reworded], ruling: _Ruling, holds: Memory | None
) -> tuple[Contradiction, ...]:
    """The contradictions as they were decided, the one that was asked about first."""
    winner, along = holds.id if holds else None, decided_with(read.contradiction.id)
    followed = (
        ruling.on(each.contradiction, each.again.id if each.said == winner else winner, along) for each in others
    )
    return (ruling.on(read.contradiction, winner, ruling.by), *followed)


def _wordings(others: Sequence[Reworded], memory: Memory) -> list[Memory]:
    return [each.again for each in others if each.said == memory.id]


def _guarded(read: Dispute, now: datetime) -> Changes:
    """A plan that holds only while nobody touches the contradiction or either side."""
    found = read.contradiction
    sides = (AtVersion(memory.id, memory.version) for memory in (read.older, read.newer))
    return Changes(at=now, expects=(StillSo(found.id, found.state, found.resolved), *sides))


def _guarding(others: Sequence[Reworded], now: datetime) -> Changes:
    states = (StillSo(each.contradiction.id, each.contradiction.state, each.contradiction.resolved) for each in others)
    return Changes(at=now, expects=(*states, *(AtVersion(each.again.id, each.again.version) for each in others)))


def _standing(store: Store, memory: Memory, rival: Memory, why: Contradiction, now: datetime) -> tuple[Changes, Memory]:
    """The plan by which a memory stands that is to hold, and what stands for it: what says the same by now, or it."""
    if memory.is_active:
        return Changes(at=now), memory
    asleep = memory.status.state is State.DORMANT
    if not _may_hold(memory, rival):
        raise Refused(
            f"memory:{memory.id} is {memory.status.state} and cannot hold; bring it back first with "
            f"`retain forget --restore {memory.id}`, or decide otherwise"
        )
    twin = store.twin(memory.place, fingerprint(memory.text))
    if twin:
        status = Status(State.SUPERSEDED, _reason(why), now, twin.memory.id)
        changed = replace(memory, status=status, updated=now, version=memory.version + 1)
        row = entry(memory, Event.SUPERSEDED, now, f"{_reason(why)}: {twin.memory.id} says the same")
        expects = (AtVersion(twin.memory.id, twin.memory.version),)
        return Changes(at=now, expects=expects, memories=(changed,), history=(row,)), twin.memory
    back = replace(memory, status=Status(), valid_until=None, updated=now, version=memory.version + 1)
    plan = move(store, memory, back, Event.WOKEN if asleep else Event.RESTORED)
    return _explained(plan, f"{_reason(why)}: it holds"), back


def _may_hold(memory: Memory, rival: Memory) -> bool:
    return memory.status.state in (State.ACTIVE, State.DORMANT) or _gave_way_to(memory, rival)


def _fallen(store: Store, fallen: Sequence[Memory], successor: Memory, why: Contradiction, now: datetime) -> Changes:
    """The plan by which what does not hold gives way; what has ended stays as it is."""
    ending = [memory for memory in fallen if memory.status.state in (State.ACTIVE, State.DORMANT)]
    if not ending:
        return Changes(at=now)
    plan = succession(store, ending, successor, now, _reason(why))
    return _explained(plan, f"{_reason(why)}: superseded by {successor.id}")


def _brought_back(store: Store, read: Dispute, now: datetime) -> Changes:
    """The plan by which the loser of a decision stands beside the winner again, where that can be."""
    holds, falls = (read.older, read.newer) if read.resolution == "older" else (read.newer, read.older)
    said_again = store.twin(falls.place, fingerprint(falls.text))
    if read.contradiction.winner is None or not holds.is_active or not _gave_way_to(falls, holds) or said_again:
        return Changes(at=now)
    plan, _ = _standing(store, falls, holds, read.contradiction, now)
    return _explained(plan, f"{_reason(read.contradiction)}: open again")


def _reworded(read: Dispute, other: Reworded) -> Dispute:
    sides = {memory.id: memory for memory in (read.older, read.newer, other.again)}
    return Dispute(other.contradiction, sides[other.contradiction.older], sides[other.contradiction.newer])


def _gave_way_to(memory: Memory, rival: Memory) -> bool:
    return memory.status.state is State.SUPERSEDED and memory.status.successor == rival.id


def _reason(why: Contradiction) -> str:
    return f"contradiction {why.id}"


def _explained(plan: Changes, reason: str) -> Changes:
    return replace(plan, history=tuple(replace(row, reason=reason) for row in plan.history))


def _after(read: Dispute, changes: Changes) -> Dispute:
    """The dispute as a plan leaves it."""
    new = {memory.id: memory for memory in changes.memories}
    found = changes.contradictions[0]
    return Dispute(found, new.get(read.older.id, read.older), new.get(read.newer.id, read.newer))
