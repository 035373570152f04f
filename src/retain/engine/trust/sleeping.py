"""Sleeping on it: what overlaps is merged, what episodes show becomes a principle, what has faded goes to sleep, and
what was put aside long ago is pruned, and later destroyed. All but the last can be taken back."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from retain.domain.memory import Memory
from retain.domain.recall import Warning
from retain.domain.session import Caller
from retain.engine.capture.checking import CALL_SECONDS
from retain.engine.lifecycle.merging import BY_HAND, IN_HOOKS, Merged, Occasion, merge_categories
from retain.engine.lifecycle.pruning import Pruned, foreseen
from retain.engine.parts import Parts
from retain.engine.revise import wake
from retain.engine.trust import dormancy
from retain.engine.trust.principles import Look, Principles, generalise, run_scope
from retain.ports import Store

EVERY = timedelta(days=1)
_MOST_RUNS = 1000
_LATE = Warning("partial_results", "there was no time left for all of it; the next sleep does the rest")


@dataclass(frozen=True, slots=True)
class Slept:
    """What a sleep did, or would do; `undo` are the runs that take it back, in the order
    in which that can be done."""

    principles: Principles = field(default_factory=Principles)
    merged: Merged = field(default_factory=Merged)
    dormant: tuple[Memory, ...] = ()
    woken: tuple[Memory, ...] = ()
    pruned: Pruned = field(default_factory=Pruned)
    dry_run: bool = False
    undo: tuple[str, ...] = ()
    warnings: tuple[Warning, ...] = ()


def sleep(
    parts: Parts,
    caller: Caller,
    *,
    dry_run: bool = False,
    left: Callable[[], float] | None = None,
    by_hand: bool = True,
) -> Slept:
    """All of it in one go. Each step is a write of its own, so that two sleepers at once do nothing twice; without
    time left, what remains is for the next sleep. A second one right after finds nothing to do."""
    time = left or (lambda: 10 * CALL_SECONDS)
    occasion = Occasion(BY_HAND if by_hand else IN_HOOKS, time, even_unchanged=by_hand, dry_run=dry_run)
    merged = merge_categories(parts, caller, occasion)
    if time() <= 0:
        return _told(parts, caller, Slept(merged=merged, dry_run=dry_run, warnings=(_LATE,)))
    principles = generalise(parts, caller, Look(dry_run=dry_run, left=time, asleep=True))
    stirred = dormancy.stirred(parts, caller)
    woken = tuple(stirred) if dry_run else wake(parts, stirred, caller)
    tired = dormancy.tired(parts, caller)
    if dry_run:
        gone = {*merged.dropped, *(id for _, sources in merged.merged for id in sources)}
        asleep = dormancy.Asleep(tuple(memory for memory in tired if memory.id not in gone))
    else:
        asleep = dormancy.put_to_sleep(parts, tired, caller, time)
    late = (_LATE,) if len(asleep.memories) < len(tired) and time() <= 0 else ()
    runs = (*asleep.runs, *_with_work(principles), *((merged.run,) if merged.run else ()))
    return _told(parts, caller, Slept(principles, merged, asleep.memories, woken, Pruned(), dry_run, runs, late))


def is_due(store: Store, caller: Caller, now: datetime) -> bool:
    """Whether nobody has slept on this project for a day."""
    scope = run_scope(caller)
    slept = (
        run.at
        for run in store.runs(_MOST_RUNS)
        if run.scope == scope and (run.strategy == dormancy.STRATEGY or run.metrics.get("asleep"))
    )
    return now - next(slept, datetime.min.replace(tzinfo=now.tzinfo)) >= EVERY


def _with_work(principles: Principles) -> tuple[str, ...]:
    return (principles.run,) if principles.run and (principles.made or principles.extended) else ()


def _told(parts: Parts, caller: Caller, slept: Slept) -> Slept:
    pruned = foreseen(parts, caller) if slept.dry_run else slept.merged.pruned
    warnings = dict.fromkeys((*slept.merged.warnings, *slept.principles.warnings, *slept.warnings))
    return replace(slept, pruned=pruned, warnings=tuple(warnings))
