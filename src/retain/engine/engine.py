"""The engine: what the product does, as one method for each verb."""

import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from retain.domain.changes import Changes, Run
from retain.domain.conversation import Cursor
from retain.domain.graph import Direction, Entity, Related, Relation, Steps
from retain.domain.memory import HistoryEntry, Json, Memory, MemoryId, Scope, Stored, Vector
from retain.domain.recall import KEPT, Filter, Recalled, Warning
from retain.domain.session import Caller, Use
from retain.engine import categories, context, offer, remember, rescope, revise, sessions, status, temporal
from retain.engine.ask import Asked, ask_streaming
from retain.engine.code.reading.roots import Roots
from retain.engine.comparer import Comparer, Patience
from retain.engine.digest import Digest, digest
from retain.engine.drafts import Draft
from retain.engine.knowledge import given, walk
from retain.engine.lifecycle import consolidation, undoing
from retain.engine.lifecycle.upkeep import Upkeep, embed_if_ready, embed_missing
from retain.engine.parts import Parts, places, visible
from retain.engine.recall import channels, recall
from retain.engine.recall.together import Together, together
from retain.engine.remember import Remembered
from retain.engine.trust.rivals import standing
from retain.errors import QueryTimeout, Unavailable

if TYPE_CHECKING:
    from retain.engine.capture.capture import Captured, Portion
    from retain.engine.code.code import Code
    from retain.engine.code.finding.search import CodeQuestion
    from retain.engine.importing import Imported
    from retain.engine.lifecycle.merging import Merged, Occasion
    from retain.engine.lookup.lookup import Lookup
    from retain.engine.tracking.work import Tracking
    from retain.engine.trust.trust import Trust

MOST_RUNS = 1000


class Engine:
    """Synchronous, and safe to call from any thread. What a caller need not wait for is done in the background."""

    def __init__(
        self, parts: Parts, max_per_session: int = 100, roots: Roots | None = None, patience: Patience | None = None
    ) -> None:
        self.parts = parts
        self._roots = roots
        self._code: Code | None = None
        self._lookup: Lookup | None = None
        self._tracking: Tracking | None = None
        self._trust: Trust | None = None
        self._making = threading.Lock()
        self._max_per_session = max_per_session
        self._since = parts.clock.now()
        self._upkeep = Upkeep()
        self._comparer = Comparer(parts, patience or Patience())
        self._uses: deque[Use] = deque()

    @property
    def code(self) -> "Code":
        """Indexing and searching code; loaded when first asked for: a server that only remembers starts sooner."""
        from retain.engine.code.code import Code

        with self._making:
            self._code = self._code or Code(self.parts, self._roots)
            return self._code

    @property
    def lookup(self) -> "Lookup":
        """Lists and explained searches that leave nothing out; loaded when first asked for, too."""
        from retain.engine.lookup.lookup import Lookup

        with self._making:
            self._lookup = self._lookup or Lookup(self.parts, self._served, self._upkeep.later)
            return self._lookup

    @property
    def tracking(self) -> "Tracking":
        """Projects by name, and sessions that are tracked by hand."""
        from retain.engine.tracking.work import Tracking

        with self._making:
            self._tracking = self._tracking or Tracking(self.parts, self._afterwards)
            return self._tracking

    @property
    def trust(self) -> "Trust":
        """Whose word a memory is, how far it holds, and what disputes it."""
        from retain.engine.trust.trust import Trust

        with self._making:
            self._trust = self._trust or Trust(self.parts, self._served, self._embedding, self._comparer)
            return self._trust

    def remember(self, draft: Draft, caller: Caller) -> Remembered:
        return self._afterwards(remember.remember(self.parts, draft, caller))

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
        missing = self._unembedded(caller)
        self._served([hit.id for hit in answer.hits if recall.is_meant(hit)], caller, counted=True)
        told = (*((missing,) if missing else ()), *self._comparer.news(caller))
        return replace(answer, warnings=(*answer.warnings, *told)) if told else answer

    def ask(self, question: str, caller: Caller) -> Asked:
        """An answer from memories, by the language model that was chosen; else the passages that answer best."""
        *_, asked = self.ask_streaming(question, caller)
        assert isinstance(asked, Asked)  # it comes last
        return asked

    def ask_streaming(self, question: str, caller: Caller) -> Iterator[str | Asked]:
        """The answer in pieces as they come, and at the end all of it."""
        for piece in ask_streaming(self.parts, question, caller):
            if isinstance(piece, Asked):
                self._served([hit.id for hit in piece.passages], caller, counted=True)
            yield piece

    def recall_by_channels(self, question: channels.ChannelQuestion, caller: Caller) -> channels.ChannelAnswer:
        return self._told(channels.recall_by_channels(self.parts, question, caller), caller)

    def recall_together(
        self, memories: channels.ChannelQuestion | None, code: "CodeQuestion | None", caller: Caller
    ) -> Together:
        """Memories, code, or both in one ranking."""
        limit = max(question.limit for question in (memories, code) if question)
        remembered = self.recall_by_channels(memories, caller) if memories else None
        return together(remembered, self.code.search(code, caller) if code else None, limit)

    def search_by_meaning(self, text: str, limit: int, caller: Caller) -> channels.ChannelAnswer:
        return self._told(channels.search_by_meaning(self.parts, text, limit, caller), caller)

    def search_by_words(self, text: str, limit: int, caller: Caller) -> channels.ChannelAnswer:
        answer = channels.search_by_words(self.parts, text, limit, caller)
        self._served([hit.id for hit in answer.hits], caller, counted=True)
        return answer

    def context(self, task: context.Task, caller: Caller) -> context.Block:
        block = context.assemble(self.parts, task, caller)
        self._served(block.memories, caller, counted=False)
        return block

    def offer(self, prompt: offer.Prompted, caller: Caller, seen: Collection[MemoryId] = ()) -> offer.Offered:
        """What to show an agent unasked; what is offered counts as used."""
        offered = offer.offer(self.parts, prompt, caller, seen)
        self._served([note.memory.id for note in offered.notes], caller, counted=False)
        return offered

    def get(self, id: str, caller: Caller) -> Stored:
        (found,) = standing(self.parts.store, [visible(self.parts.store, id, caller, "id")], caller)
        self._served([found.memory.id], caller, counted=False)
        return found

    def update(self, id: str, edit: revise.Edit, caller: Caller) -> revise.Revised:
        done = revise.update(self.parts, id, edit, caller)
        if "content" in done.fields and not done.embedded:
            self._upkeep.later(self._embed_later)
        return self._comparer.revised(done)

    def tag(self, id: str, add: Sequence[str], remove: Sequence[str], caller: Caller) -> revise.Revised:
        return revise.tag(self.parts, id, add, remove, caller)

    def promote(self, id: str, target: Scope, reason: str | None, caller: Caller) -> revise.Revised:
        return rescope.promote(self.parts, id, target, reason, caller)

    def narrow(self, id: str, reason: str | None, caller: Caller) -> revise.Revised:
        return rescope.narrow(self.parts, id, reason, caller)

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

    def listed(self, caller: Caller, limit: int, offset: int = 0) -> tuple[list[Stored], int]:
        """All but forgotten ones, newest first, and how many there are: counted later, but no fewer than are listed."""
        wanted = Filter(places(caller), states=KEPT)
        found = self.parts.store.listed(wanted, limit, offset)
        total = max(self.parts.store.total(wanted), offset + len(found) if found else 0)
        return standing(self.parts.store, found, caller), total

    def total(self, caller: Caller) -> int:
        return self.parts.store.total(Filter(places(caller), states=KEPT))

    def valid(
        self,
        caller: Caller,
        *,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        limit: int = 20,
        offset: int = 0,
    ) -> list[Memory]:
        return temporal.valid(self.parts, caller, as_of=as_of, known_at=known_at, limit=limit, offset=offset)

    def invalidate(self, id: str, reason: str | None, superseded_by: str | None, caller: Caller) -> Memory | Relation:
        return temporal.invalidate(self.parts, id, reason, superseded_by, caller)

    def create_entity(self, name: str, type: str | None, description: str | None, caller: Caller) -> Entity:
        return given.create_entity(self.parts, name, type, description, caller)

    def create_relation(self, source: str, target: str, type: str, weight: float, caller: Caller) -> Relation:
        return given.create_relation(self.parts, source, target, type, weight, caller)

    def related(
        self,
        id: str,
        depth: int,
        direction: Direction,
        caller: Caller,
        *,
        at: datetime | None = None,
        relation: str | None = None,
    ) -> Related:
        return given.related(self.parts, id, Steps(depth, direction, relation, at), caller)

    def search_graph(self, question: walk.GraphQuestion, caller: Caller) -> walk.GraphAnswer:
        return walk.search_graph(self.parts, question, caller)

    def consolidate(
        self, caller: Caller, session: str | None, strategy: consolidation.Strategy, *, dry_run: bool
    ) -> consolidation.Consolidated:
        return consolidation.consolidate(self.parts, caller, session, strategy, dry_run=dry_run)

    def undo(self, run: str, caller: Caller) -> undoing.Undone:
        return undoing.undo(self.parts, run, caller)

    def runs(self, caller: Caller, limit: int) -> list[Run]:
        """Consolidations here and of the user, newest first; not those that found nothing to do."""
        here = {place.key for place in places(caller)}
        return [run for run in self.parts.store.runs(MOST_RUNS) if run.scope in here and run.sources][:limit]

    def capture(self, portion: "Portion", caller: Caller, left: Callable[[], float]) -> "Captured":
        """Reads a portion of a conversation for what is worth remembering; `left` says how many seconds there are."""
        from retain.engine.capture.capture import capture

        done = capture(self.parts, portion, caller, left)
        if done.unembedded:
            self._upkeep.later(self._embed_later)
        return done

    def move_cursor(self, cursor: Cursor) -> None:
        """Sets how far a transcript was read without reading any: further on, or to its start."""
        self.parts.store.apply(Changes(at=cursor.at, cursors=(cursor,)))

    def save(self, draft: Draft, supersedes: str | None, caller: Caller) -> Remembered:
        """As `remember`, but what says nearly the same in the same category gives way, and so does `supersedes`."""
        from retain.engine.capture.capture import keep

        return self._afterwards(
            keep(self.parts, replace(draft, supersedes=(supersedes,) if supersedes else ()), caller)
        )

    def merge_categories(self, caller: Caller, at_least: int, occasion: "Occasion | None" = None) -> "Merged":
        """Merges what overlaps in each category with at least so many memories, and prunes."""
        from retain.engine.lifecycle.merging import Occasion, merge_categories

        return merge_categories(self.parts, caller, replace(occasion or Occasion(), at_least=at_least))

    def describe(self, name: str, description: str, caller: Caller) -> Remembered:
        """Says what the project is; replaces what was said before."""
        from retain.engine.describing import describe

        return self._afterwards(describe(self.parts, name, description, caller))

    def categorised(
        self, caller: Caller, category: str | None, tags: Sequence[str], limit: int, offset: int = 0
    ) -> tuple[list[Stored], int]:
        found, total = categories.categorised(self.parts, caller, category, tags, limit, offset)
        self._served([stored.memory.id for stored in found], caller, counted=False)
        return standing(self.parts.store, found, caller), total

    def census(self, caller: Caller) -> categories.Census:
        return categories.census(self.parts, caller)

    def digest(self, caller: Caller, lines: int, tools: Sequence[str] = ()) -> Digest:
        """The summary that CLAUDE.md shows; showing it counts as no access."""
        return digest(self.parts, caller, lines, tools)

    def import_state(self, data: Json, caller: Caller) -> "Imported":
        """Adds the memories of an earlier `.memory/state.json`; a second time adds nothing."""
        from retain.engine.importing import import_state

        done = import_state(self.parts, data, caller)
        if done.added:
            self._upkeep.later(self._embed_later)
        return done

    def activity(self, caller: Caller) -> sessions.Activity | None:
        return sessions.activity(self.parts, caller)

    def begin_session(self, caller: Caller) -> None:
        sessions.begin(self.parts, caller, self.parts.clock.now())

    def end_session(self, caller: Caller) -> None:
        sessions.end(self.parts, caller, self.parts.clock.now())

    def status(self, caller: Caller) -> status.Report:
        report = status.report(self.parts, caller, self._since)
        told = self._comparer.standing(caller, report.counts.uncompared)
        return replace(report, notices=(*report.notices, *(each.message for each in told)))

    def reembed(self, progress: Callable[[int], None] | None = None) -> int:
        return embed_missing(self.parts, progress, all_anew=True)

    def warm(self) -> None:
        """Loads the models in the background, then makes what vectors are missing."""
        self.parts.embedder.warm()
        if self.parts.judge and self.parts.second_look:
            self.parts.judge.wait(0)
        self._upkeep.later(self._load_index)
        self._upkeep.later(self._embed_later)
        self.compare()

    def compare(self) -> None:
        """Has what waits to be compared compared in the background, whoever wrote it."""
        self._comparer.all()

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
        return self._upkeep.settle(seconds) and self._comparer.settle(seconds)

    def close(self) -> None:
        if self._code:
            self._code.close()
        self._upkeep.settle(0.03)
        self._comparer.settle(0.03)
        self._upkeep.end()
        self._comparer.end()
        self.parts.store.close()

    def _afterwards(self, done: Remembered) -> Remembered:
        return self._comparer.told(self._embedding(done))

    def _embedding(self, done: Remembered) -> Remembered:
        """Sees to the vectors that were not made in the call."""
        if not done.embedded or done.chunks_missing:
            self._upkeep.later(self._embed_later)
        return done

    def _embed_later(self) -> None:
        if self.parts.embedder.wait(60):
            embed_if_ready(self.parts)

    def _load_index(self) -> None:
        """Makes the first recall as quick as the next: reading a large store's vectors takes seconds.

        While the model loads, where it says beforehand how long its vectors are.
        """
        embedder = self.parts.embedder
        if embedder.dimensions or embedder.wait(60):
            nothing = Vector(bytes(4 * embedder.dimensions))
            self.parts.store.by_vector(nothing, embedder.model, Filter(()), 1)

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

    def _told(self, answer: channels.ChannelAnswer, caller: Caller) -> channels.ChannelAnswer:
        self._served([hit.id for hit in answer.hits], caller, counted=True)
        missing = self._unembedded(caller)
        told = (*((missing,) if missing else ()), *self._comparer.news(caller))
        return replace(answer, warnings=(*answer.warnings, *told)) if told else answer

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
