"""The engine: what the product does, as one method for each verb."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace

from retain.domain.changes import Run
from retain.domain.memory import HistoryEntry, Memory, MemoryId, Scope, Stored
from retain.domain.recall import Filter, Recalled, Warning
from retain.domain.session import Caller, Use
from retain.engine import context, remember, revise, sessions, status
from retain.engine.drafts import Draft
from retain.engine.knowledge import walk
from retain.engine.lifecycle import consolidation
from retain.engine.lifecycle.upkeep import Upkeep, embed_if_ready, embed_missing
from retain.engine.parts import Parts, places, visible
from retain.engine.recall import recall
from retain.errors import QueryTimeout, Unavailable

MOST_RUNS = 1000


class Engine:
    """Synchronous, and safe to call from any thread. What a caller need not wait for is done in the background."""

    def __init__(self, parts: Parts, max_per_session: int = 100) -> None:
        self.parts = parts
        self._max_per_session = max_per_session
        self._since = parts.clock.now()
        self._upkeep = Upkeep()
        self._uses: deque[Use] = deque()

    def remember(self, draft: Draft, caller: Caller) -> remember.Remembered:
        done = remember.remember(self.parts, draft, caller)
        if not done.embedded or done.chunks_missing:
            self._upkeep.later(self._embed_later)
        return done

    def consolidation_due(self, caller: Caller) -> Warning | None:
        """A hint once a session holds more than was meant; nothing is ever refused for it."""
        try:
            session = self.parts.store.session(caller.session, caller.user) if caller.session else None
        except Unavailable:
            return None  # what it is a remark on has been done
        if session is None or session.memory_count <= self._max_per_session:
            return None
        note = f"this session has {session.memory_count} memories (soft limit {self._max_per_session})"
        return Warning("consolidation_due", f"{note}; call reflect_and_consolidate")

    def recall(self, question: recall.Question, caller: Caller) -> Recalled:
        answer = recall.recall(self.parts, question, caller)
        self._served([hit.id for hit in answer.hits], caller, counted=True)
        missing = self._unembedded(caller)
        return answer if missing is None else _with_warning(answer, missing)

    def context(self, task: context.Task, caller: Caller) -> context.Block:
        block = context.assemble(self.parts, task, caller)
        self._served(block.memories, caller, counted=False)
        return block

    def get(self, id: str, caller: Caller) -> Stored:
        found = visible(self.parts.store, id, caller, "id")
        self._served([found.memory.id], caller, counted=False)
        return found

    def update(self, id: str, edit: revise.Edit, caller: Caller) -> revise.Revised:
        done = revise.update(self.parts, id, edit, caller)
        if "content" in done.fields and not done.embedded:
            self._upkeep.later(self._embed_later)
        return done

    def tag(self, id: str, add: Sequence[str], remove: Sequence[str], caller: Caller) -> revise.Revised:
        return revise.tag(self.parts, id, add, remove, caller)

    def promote(self, id: str, target: Scope, reason: str | None, caller: Caller) -> revise.Revised:
        return revise.promote(self.parts, id, target, reason, caller)

    def forget(self, id: str, reason: str | None, caller: Caller) -> Memory:
        return revise.forget(self.parts, id, reason, caller)

    def bring_back(self, id: str, caller: Caller) -> Memory:
        return revise.bring_back(self.parts, id, caller)

    def destroy(self, id: str, caller: Caller) -> Memory:
        return revise.destroy(self.parts, id, caller)

    def history(self, id: str, caller: Caller) -> list[HistoryEntry]:
        return self.parts.store.history(visible(self.parts.store, id, caller).memory.id)

    def newest(self, caller: Caller, limit: int) -> list[Stored]:
        return self.parts.store.listed(Filter(places(caller)), limit)

    def search_graph(self, question: walk.GraphQuestion, caller: Caller) -> walk.GraphAnswer:
        return walk.search_graph(self.parts, question, caller)

    def consolidate(
        self, caller: Caller, session: str | None, strategy: consolidation.Strategy, *, dry_run: bool
    ) -> consolidation.Consolidated:
        return consolidation.consolidate(self.parts, caller, session, strategy, dry_run=dry_run)

    def undo(self, run: str, caller: Caller) -> consolidation.Undone:
        return consolidation.undo(self.parts, run, caller)

    def runs(self, caller: Caller, limit: int) -> list[Run]:
        """Consolidations here and of the user, newest first."""
        here = {place.key for place in places(caller)}
        return [run for run in self.parts.store.runs(MOST_RUNS) if run.scope in here][:limit]

    def activity(self, caller: Caller) -> sessions.Activity | None:
        return sessions.activity(self.parts, caller)

    def begin_session(self, caller: Caller) -> None:
        sessions.begin(self.parts, caller, self.parts.clock.now())

    def end_session(self, caller: Caller) -> None:
        sessions.end(self.parts, caller, self.parts.clock.now())

    def status(self, caller: Caller) -> status.Report:
        return status.report(self.parts, caller, self._since)

    def reembed(self, progress: Callable[[int], None] | None = None) -> int:
        return embed_missing(self.parts, progress, by_others=True)

    def warm(self) -> None:
        """Loads the model in the background, then makes what vectors are missing."""
        self.parts.embedder.warm()
        self._upkeep.later(self._load_index)
        self._upkeep.later(self._embed_later)

    def catch_up(self, caller: Caller) -> None:
        """Consolidates, in the background, the sessions that ended without: a client gives a server no time for it."""

        def consolidate() -> None:
            project = caller.project.id if caller.project else None
            for session in self.parts.store.finished(caller.user, project):
                self.consolidate(replace(caller, session=session), session, "full", dry_run=False)
                self.parts.store.mark_reflected(session, caller.user)

        self._upkeep.later(consolidate)

    def later(self, job: Callable[[], object]) -> None:
        """Runs a job in the background, after those that wait already."""
        self._upkeep.later(job)

    def settle(self, seconds: float) -> bool:
        """Waits for the work in the background."""
        return self._upkeep.settle(seconds)

    def close(self) -> None:
        self._upkeep.settle(0.03)
        self.parts.store.close()

    def _embed_later(self) -> None:
        if self.parts.embedder.wait(60):
            embed_if_ready(self.parts)

    def _load_index(self) -> None:
        """Makes the first recall as quick as the next: reading a large store's vectors takes seconds."""
        if self.parts.embedder.wait(60):
            vector = self.parts.embedder.embed(["memory"])[0]
            self.parts.store.by_vector(vector, self.parts.embedder.model, Filter(()), 1)

    def _served(self, ids: Sequence[MemoryId], caller: Caller, *, counted: bool) -> None:
        """Counts accesses after the answer is out: a reader never waits for the write lock."""
        session = caller.session if counted else None
        if ids or session:
            self._uses.append(Use(tuple(ids), self.parts.clock.now(), session, caller.user))
            self._upkeep.soon(self._note_uses)

    def _note_uses(self) -> None:
        uses = []
        while self._uses:
            uses.append(self._uses.popleft())
        self.parts.store.note_uses(uses)

    def _unembedded(self, caller: Caller) -> Warning | None:
        """Says, and mends, that some memories are found by keyword only."""
        model = self.parts.embedder.model
        # While the model is off, recall has said so already, and nothing can be done about it here.
        if self.parts.embedder.state().name != "ready":
            return None
        try:
            if not self.parts.store.unembedded(model, 1, by_others=True, user=caller.user):
                return None
        except QueryTimeout:
            return None  # the answer is there, and must not be lost for a remark on it
        self._upkeep.soon(self._embed_later)
        note = f"some memories have no vectors by {model} yet and were searched by keyword only"
        return Warning("keyword_only", f"{note}; `retain reembed` makes them")


def _with_warning(answer: Recalled, warning: Warning) -> Recalled:
    return replace(answer, warnings=(*answer.warnings, warning))
