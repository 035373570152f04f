"""Changing how far a memory reaches: broader with `promote`, narrower with `narrow`. Both leave history."""

from dataclasses import replace

from retain.domain.changes import AtVersion, Changes, NoTwin, TitleFree
from retain.domain.claims import fingerprint
from retain.domain.memory import Event, Memory, Scope
from retain.domain.session import Caller
from retain.engine.drafts import cleaned_reason
from retain.engine.knowledge.support import moved
from retain.engine.parts import Parts, place_of, settle
from retain.engine.remember import refuse_title
from retain.engine.revise import Revised, changeable, refuse_twin
from retain.engine.succession import entry
from retain.errors import Refused


def promote(parts: Parts, id: str, target: Scope, reason: str | None, caller: Caller) -> Revised:
    """Moves a memory to a broader scope; out of a session it no longer belongs to that session."""
    reason = cleaned_reason(reason)

    def plan() -> tuple[Changes, Revised]:
        old = changeable(parts.store, id, caller)
        if target.breadth <= old.scope.breadth:
            raise Refused(f"{id} has scope {old.scope} already; only session → project → user is a promotion")
        return _plan(parts, old, target, (Event.PROMOTED, reason), caller)

    return settle(parts.store, plan)


def narrow(parts: Parts, id: str, reason: str | None, caller: Caller) -> Revised:
    """Moves a memory of the user into the current project: elsewhere it is no longer found."""
    told = cleaned_reason(reason) or "scope user → project"

    def plan() -> tuple[Changes, Revised]:
        old = changeable(parts.store, id, caller)
        if old.scope is not Scope.USER:
            raise Refused(f"{id} has scope {old.scope}; only what has scope user can be narrowed to a project")
        # Not an event of its own: an earlier version that shares the store must be able to read it.
        return _plan(parts, old, Scope.PROJECT, (Event.UPDATED, told), caller)

    return settle(parts.store, plan)


def _plan(
    parts: Parts, old: Memory, target: Scope, why: tuple[Event, str | None], caller: Caller
) -> tuple[Changes, Revised]:
    now, place = parts.clock.now(), place_of(old, target, caller)
    if target is Scope.PROJECT and place.project is None:
        raise Refused("the working folder belongs to no project, so nothing can be moved to one; use scope user")
    refuse_twin(parts.store, place, old.text, old)
    if old.title:
        refuse_title(parts.store, place, old.title, but=old.id)
    session = None if old.scope is Scope.SESSION else old.session
    new = replace(old, place=place, session=session, updated=now, version=old.version + 1)
    changes = Changes(
        at=now,
        expects=(
            AtVersion(old.id, old.version),
            NoTwin(place, fingerprint(old.text), but=old.id),
            *((TitleFree(place, old.title, but=old.id),) if old.title else ()),
        ),
        memories=(new,),
        history=(entry(old, why[0], now, why[1]),),
        projects=(caller.project,) if caller.project and place.project else (),
    ).joined(moved(parts.store, old, new))
    return changes, Revised(new, ("scope",), before=old.scope)
