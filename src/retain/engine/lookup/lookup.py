"""Looking up: pages, explained searches and suggestions, over all that a project and its user have."""

import time
from collections.abc import Callable, Sequence

from retain.domain.graph import SIMILAR
from retain.domain.listing import MAX_QUERY, Card, PastQuery
from retain.domain.memory import Memory, MemoryId, State
from retain.domain.recall import Filter
from retain.domain.session import Caller
from retain.engine.lifecycle.redact import redact
from retain.engine.lookup.captured import captured, session_named
from retain.engine.lookup.matching import Matches, Search, search
from retain.engine.lookup.suggesting import Suggestion, suggest
from retain.engine.lookup.walks import Walks, page_faults
from retain.engine.parts import LASTING, Parts, Served, places
from retain.errors import InvalidInput


class Lookup:
    """Safe to call from any thread."""

    def __init__(self, parts: Parts, served: Served, later: Callable[[Callable[[], object]], None]) -> None:
        self._parts, self._served, self._later = parts, served, later
        self._walks = Walks(time.monotonic)

    def search(self, asked: Search, caller: Caller) -> Matches:
        """What matches, explained; a question that found something is remembered, for suggestions."""
        found = search(self._parts, asked, caller)
        self._served([match.stored.memory.id for match in found.hits], caller, counted=True)
        if found.total:
            self._note(asked.text, found.total, caller)
        return found

    def suggest(self, partial: str, limit: int, caller: Caller) -> list[Suggestion]:
        return suggest(self._parts, partial, limit, caller)

    def page(
        self, caller: Caller, types: Sequence[str], tags: Sequence[str], limit: int, offset: int = 0
    ) -> tuple[Sequence[Card], int]:
        """Light rows, newest first, and how many there are.

        A page that follows on another begins after the row that one ended with, whatever others wrote in between.
        """
        if faults := list(page_faults(limit, offset)):
            raise InvalidInput(faults)
        wanted = Filter(places(caller, LASTING), types=tuple(types), tags=tuple(tags))
        store = self._parts.store
        return self._walks.page(
            (caller.session, wanted, limit), offset, lambda start, beyond: store.page(wanted, limit, start, beyond)
        )

    def captured(self, caller: Caller, session: str | None = None, state: State = State.ACTIVE) -> list[Memory]:
        """What was captured from conversations, oldest first."""
        return captured(self._parts, caller, session, state)

    def captured_session(self, named: str, caller: Caller, state: State = State.ACTIVE) -> str:
        """The id of a session from which something was captured: by `last`, its id or the first letters of it."""
        return session_named(self._parts, named, caller, state)

    def similar(self, id: MemoryId) -> list[MemoryId]:
        """What says the same as this memory and is kept beside it."""
        ties = [tie for tie in self._parts.store.ties([id]) if tie.type == SIMILAR]
        others = self._parts.store.memories([tie.target if tie.source == id else tie.source for tie in ties])
        return [stored.memory.id for stored in others.values() if stored.memory.is_active]

    def _note(self, text: str, found: int, caller: Caller) -> None:
        query = " ".join(text.split())
        if len(query) <= MAX_QUERY and not redact(query).found:
            project = caller.project.id if caller.project else None
            asked = PastQuery(query, 1, found, self._parts.clock.now())
            self._later(lambda: self._parts.store.note_query(asked, project, caller.user))
