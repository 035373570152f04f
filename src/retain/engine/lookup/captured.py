"""What was captured from conversations, and from which: for the person who looks it over."""

from collections.abc import Iterator, Sequence

from retain.domain.memory import Memory, State
from retain.domain.recall import Filter
from retain.domain.session import Caller
from retain.engine.parts import LASTING, Parts, pages, places
from retain.errors import NotFound, Refused, shorten

CAPTURE = "capture"
LAST = "last"
SHORTEST = 4  # letters of a session's id that may stand for it
_MOST_NAMED = 5


def captured(parts: Parts, caller: Caller, session: str | None = None, state: State = State.ACTIVE) -> list[Memory]:
    """Memories of the project and the user that were captured, oldest first; those of a session only if one is named.

    Active ones must hold now: what has ended is not looked over.
    """
    now = parts.clock.now() if state is State.ACTIVE else None
    wanted = Filter(places(caller, LASTING), states=(state,), session=session, valid_at=now)
    return sorted(_captured(parts, wanted), key=lambda memory: memory.id)


def session_named(parts: Parts, named: str, caller: Caller, state: State = State.ACTIVE) -> str:
    """The session that somebody means: `last` is the newest of this project from which something was captured.

    The first letters of an id are enough where only one begins with them.
    """
    wanted = Filter(places(caller, LASTING), states=(state,))
    newest = sorted(_captured(parts, wanted), key=lambda memory: memory.id, reverse=True)
    if named == LAST:
        return _last(parts, newest, caller)
    sessions = list(dict.fromkeys(memory.session for memory in newest if memory.session))
    if named in sessions:
        return named
    meant = [session for session in sessions if session.startswith(named)] if len(named) >= SHORTEST else []
    if len(meant) > 1:
        raise Refused(f"{len(meant)} sessions begin with {named}: {', '.join(meant[:_MOST_NAMED])}; give more letters")
    if not meant:
        raise NotFound(f"nothing is remembered that was captured in session {shorten(named)}", session_id=named)
    return meant[0]


def _captured(parts: Parts, wanted: Filter) -> Iterator[Memory]:
    for page in pages(parts.store, wanted) if wanted.places else ():
        yield from (memory for memory in page if memory.source.tool == CAPTURE)


def _last(parts: Parts, newest: Sequence[Memory], caller: Caller) -> str:
    here = caller.project.id if caller.project else None
    for memory in newest:
        if memory.session and _project_of(parts, memory, caller) == here:
            return memory.session
    raise NotFound("nothing that is remembered here was captured from a conversation")


def _project_of(parts: Parts, memory: Memory, caller: Caller) -> str | None:
    """Where it was said: a memory of the user belongs to no project, but its session does."""
    if memory.place.project or memory.session is None:
        return memory.place.project
    session = parts.store.session(memory.session, caller.user)
    return session.project if session else None
