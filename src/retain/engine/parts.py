"""What the engine works with, and the two moves that every verb makes: apply a plan, and find a memory."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from retain.domain.changes import Applied, Changes, Conflict
from retain.domain.ids import undress
from retain.domain.memory import Memory, MemoryId, Place, Scope, Stored
from retain.domain.recall import Filter
from retain.domain.session import Caller
from retain.errors import NotFound, StoreBusy, invalid
from retain.ports import LLM, Clock, Embedder, Judge, Store

R = TypeVar("R")
ATTEMPTS = 5
PAUSE = 0.005  # seconds, doubled each time
LASTING = (Scope.PROJECT, Scope.USER)  # where memories outlive the session that they are from
PAGE = 500  # memories that are read, or written, at once


@dataclass(frozen=True, slots=True)
class Parts:
    store: Store
    embedder: Embedder
    clock: Clock
    llm: LLM | None = None
    """None until somebody chose one: a key that lies about is no consent."""
    copy_first: Callable[[], object] = lambda: None
    """Copies the store before housekeeping destroys something; raises where that cannot be done."""
    judge: Judge | None = None
    """What says which sentences are worth keeping; without it nothing is judged, and what waits for that goes on
    waiting."""
    second_look: bool = True
    """Whether the judge also reads the best candidates of a recall with the question."""


class Served(Protocol):
    """Counts what was handed out, once the answer is out."""

    def __call__(self, ids: Sequence[MemoryId], caller: Caller, *, counted: bool) -> None: ...


def settle(store: Store, plan: Callable[[], tuple[Changes, R]]) -> R:
    """Applies what `plan` returns; when somebody else was faster, plans again on what is true now."""
    return carry_out(store, plan)[0]


def carry_out(store: Store, plan: Callable[[], tuple[Changes, R]]) -> tuple[R, Applied | None]:
    """As `settle`, with what the store says to it; None when there was nothing to write.

    A plan is made of what the store is at one moment.
    """
    for attempt in range(ATTEMPTS):
        with store.reading():
            changes, reply = plan()
        if changes == Changes(changes.at):
            return reply, None
        outcome = store.apply(changes)
        if not isinstance(outcome, Conflict):
            return reply, outcome
        # Rivals that plan in step would go on meeting; a pause of random length parts them.
        time.sleep(random.uniform(0, PAUSE * 2**attempt))
    raise StoreBusy("others kept changing the same memories; nothing was written, try again")


def visible(store: Store, id: str, caller: Caller, field: str = "memory_id") -> Stored:
    """The memory with this id, in any dress; those of other people do not exist."""
    bare = undress(id)
    if bare is None:
        raise invalid(field, id, "not an id; ids look like memory:0mwi0000000000000000 and come from recall")
    found = store.memories([bare]).get(bare)
    if found is None or found.memory.place.user != caller.user:
        raise NotFound(f"there is no memory {bare}; recall it to see its id", memory_id=id)
    return found


def pages(store: Store, wanted: Filter) -> Iterator[list[Memory]]:
    """Every memory that passes the filter, newest first."""
    offset = 0
    while found := store.listed(wanted, PAGE, offset):
        yield [stored.memory for stored in found]
        offset += len(found)


def places(caller: Caller, scopes: tuple[Scope, ...] = ()) -> tuple[Place, ...]:
    """Where a caller may look: its session, its project, and what it knows everywhere; an agent with a name also
    into what it keeps to itself. What is shared comes first."""
    project = caller.project.id if caller.project else None
    seen = [Place(Scope.USER, caller.user)]
    if project:
        seen.append(Place(Scope.PROJECT, caller.user, project))
    if caller.session:
        seen.append(Place(Scope.SESSION, caller.user, project, caller.session))
    if caller.agent:
        seen += [replace(place, agent=caller.agent) for place in seen if place.scope is not Scope.SESSION]
    return tuple(place for place in seen if not scopes or place.scope in scopes)


def owners(caller: Caller) -> tuple[str, ...]:
    """Whose entities a caller sees: its project's and its own."""
    return tuple({place.owner for place in places(caller)})


def place_of(memory: Memory, scope: Scope, caller: Caller) -> Place:
    """Where a memory lands when it gets this scope."""
    current = caller.project.id if caller.project else None
    return place_for(scope, memory.place.user, memory.place.project or current, None)


def place_for(scope: Scope, user: str, project: str | None, session: str | None) -> Place:
    if scope is Scope.USER:
        return Place(scope, user)
    return Place(scope, user, project, session if scope is Scope.SESSION else None)
