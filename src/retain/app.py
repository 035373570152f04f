"""An open memory, as Python programs and every surface use it; who is asking is worked out here."""

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from retain.config import Loaded, client_process, client_session, load, strict
from retain.copies import Copies
from retain.domain.connection import Connection
from retain.domain.graph import Direction, Entity, Related, Relation
from retain.domain.ids import new_id
from retain.domain.memory import Json, Kind, Memory, Scope, Source, Stored
from retain.domain.recall import Hit, Strategy
from retain.domain.session import Caller, Project
from retain.engine.code.reading.roots import Roots
from retain.engine.comparer import Patience
from retain.engine.context import Block, Task
from retain.engine.drafts import Draft, string_faults
from retain.engine.engine import Engine
from retain.engine.lifecycle.renewing import renew
from retain.engine.parts import Parts
from retain.engine.recall.recall import Question
from retain.engine.remember import Remembered
from retain.engine.revise import Edit, Revised
from retain.engine.tracking.projects import known
from retain.errors import Closed, InvalidInput, NotFound, RetainError, invalid, shorten
from retain.folders import is_no_project, project_of, real_path, spellings, why_no_folder
from retain.ports import Judge
from retain.python_arguments import Moment, a_list, a_moment, a_user, one_of
from retain.run_files import ClientSession
from retain.standing import Notice, Notices, of_judge, of_settings, of_store
from retain.untyped import Untyped
from retain.wiring import make_embedder, make_judge, make_llm, make_store_for, of_changed_file, of_held, why_no_judge

if TYPE_CHECKING:
    from retain.engine.code.code import Indexing
    from retain.engine.code.finding.search import CodeHit

logger = logging.getLogger(__name__)

_RETRY_SECONDS = 1.0
_PROJECT_SECONDS = 5.0

_NO_PROJECT = "the home folder and `/` are no projects, nor is a folder of a repository that begins there"


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


class Retain:
    """An open memory. Safe to use from any thread; close it, or use it in a `with` block.

    The store is opened with the first call. When that fails, the failure is the answer, and a
    later call tries again: a server stays up while its disk is away.
    """

    def __init__(
        self, loaded: Loaded, *, own_session: bool = True, judge: Judge | None = None, patience: Patience | None = None
    ) -> None:
        """Without a session of its own it belongs to the one that the settings or the client name, if any does. A
        `judge` takes the place of the one in the package; `patience` says how long replies wait for it."""
        self.settings = loaded.settings
        self.loaded = loaded
        self._clock = SystemClock()
        self._seen = ClientSession(str(loaded.settings.home.expanduser().absolute()), client_process())
        self._own_session = f"session-{new_id(self._clock.now())}" if own_session else None
        self._judge, self._patience = judge, patience
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._former: list[Engine] = []
        self._looks_after = False
        self._closed, self._ending = False, threading.Event()
        self._copies = Copies(loaded.settings, self._clock.now)
        self.untyped = Untyped(loaded)
        self._failed: tuple[float, RetainError] | None = None
        self._found_project: tuple[Path | None, float, Project | None] = (None, 0.0, None)
        self.started = self._clock.now()
        # What every reply says until a person has dealt with it; one probe for each part that knows of something.
        self.notices = Notices(self._of_settings, self._standing, self._of_judge)

    def remember(
        self,
        text: str,
        *,
        kind: Kind | str | None = None,
        scope: Scope | str = Scope.PROJECT,
        importance: float = 0.5,
        tags: Sequence[str] = (),
        file: str | None = None,
        session: str | None = None,
        turn: int | None = None,
        event_time: Moment | None = None,
    ) -> Remembered:
        """Stores a memory, or reinforces the one that already says it.

        `session` and `turn` say where in which conversation it was said; recall reads a short
        memory together with what was said around it. `event_time` is when it happened or began
        to hold, if that was not now. Without a `kind` it is semantic.
        """
        source = Source(file=file, conversation_turn=turn)
        kinds = one_of(Kind, Kind.SEMANTIC if kind is None else kind, "kind"), one_of(Scope, scope, "scope")
        happened = a_moment(event_time, "event_time")
        draft = Draft(text, *kinds, importance, a_list(tags, "tags"), source, session=session, event_time=happened)
        return self.keep(draft, self.caller(session), is_typed=kind is not None)

    def keep(self, draft: Draft, caller: Caller, *, is_typed: bool) -> Remembered:
        """Stores a draft; one that nobody gave a type is filed under a category later, by the judge."""
        done = self.engine.remember(draft, caller)
        if not is_typed:
            self.untyped.note(done, self.engine)
        return done

    def recall(
        self,
        question: str,
        *,
        limit: int = 10,
        strategy: Strategy | str = Strategy.HYBRID,
        as_of: Moment | None = None,
    ) -> tuple[Hit, ...]:
        """What is remembered about a question, best first; each hit explains its score in `terms`.

        With `as_of`, what was true then, also if it was invalidated since.
        """
        way, then = one_of(Strategy, strategy, "strategy"), a_moment(as_of, "as_of")
        return self.engine.recall(Question(question, strategy=way, limit=limit, as_of=then), self.caller()).hits

    def memories(
        self, *, as_of: Moment | None = None, known_at: Moment | None = None, limit: int = 20, offset: int = 0
    ) -> list[Memory]:
        """What is true, newest first. Times are of Python, or ISO 8601 as text; without a zone they are UTC.

        `as_of` asks what was true then, as far as is known today. `known_at` asks what was believed then, in the
        words of then: without what was learnt or changed since.
        """
        times = a_moment(as_of, "as_of"), a_moment(known_at, "known_at")
        return self.engine.valid(self.caller(), as_of=times[0], known_at=times[1], limit=limit, offset=offset)

    def invalidate(self, id: str, reason: str | None = None, *, superseded_by: str | None = None) -> Memory | Relation:
        """Says that a memory or a relation holds no longer, from now on; `bring_back` undoes it for a memory."""
        return self.engine.invalidate(id, reason, superseded_by, self.caller())

    def entity(self, name: str, type: str | None = None, description: str | None = None) -> Entity:
        """A named thing of the current project: made, or the one that is there."""
        return self.engine.create_entity(name, type, description, self.caller())

    def relate(self, source: str, target: str, type: str, weight: float = 1.0) -> Relation:
        """States that one entity, by id, relates to another."""
        return self.engine.create_relation(source, target, type, weight, self.caller())

    def related(
        self,
        entity: str,
        *,
        depth: int = 1,
        direction: Direction | str = Direction.OUTGOING,
        relation: str | None = None,
        at: Moment | None = None,
    ) -> Related:
        """What is connected with an entity, up to three steps away, by relations that hold now or held at a moment."""
        way, then = one_of(Direction, direction, "direction"), a_moment(at, "at")
        return self.engine.related(entity, depth, way, self.caller(), at=then, relation=relation)

    def get(self, id: str) -> Stored:
        return self.engine.get(id, self.caller())

    def update(
        self,
        id: str,
        *,
        text: str | None = None,
        kind: Kind | str | None = None,
        importance: float | None = None,
        add_tags: Sequence[str] = (),
        remove_tags: Sequence[str] = (),
        metadata: Mapping[str, Json] | None = None,
    ) -> Revised:
        """Corrects a memory; what is not given stays. Metadata is merged into what is there."""
        named = None if kind is None else one_of(Kind, kind, "kind")
        added, removed = a_list(add_tags, "add_tags"), a_list(remove_tags, "remove_tags")
        edit = Edit(text, importance, added, removed, metadata, kind=named)
        return self.engine.update(id, edit, self.caller())

    def forget(self, id: str, reason: str | None = None) -> Memory:
        """Hides a memory from recall; `bring_back` undoes it."""
        return self.engine.forget(id, reason, self.caller())

    def bring_back(self, id: str) -> Memory:
        return self.engine.bring_back(id, self.caller())

    def connection(self) -> Connection:
        """How the store stands with its database: whether that is away, since when and why, and what waits for it."""
        return self.engine.parts.store.connection()

    def context(self, task: str = "", *, files: Sequence[str] = (), max_tokens: int = 2000) -> Block:
        """A block of the most relevant memories for a task, within a token budget."""
        return self.engine.context(Task(task, tuple(files), max_tokens), self.caller())

    def index(self, folder: str | Path | None = None, *, watch: bool = False) -> "Indexing":
        """Makes the code of a folder searchable, by default that of the current project; returns when it is done.

        Only what changed since the last time is read again. With `watch`, changes are indexed until this is closed.
        """
        caller = self.caller()
        path = folder or (caller.project.path if caller.project else Path.cwd())
        return self.engine.code.index(str(path), caller, watch=watch, patience=None)

    def search_code(
        self, query: str, *, project: str | None = None, language: str | None = None, limit: int = 10
    ) -> "tuple[CodeHit, ...]":
        """Indexed code by what it does or is called, best first: of the current project, else of all there are."""
        from retain.engine.code.finding.search import CodeQuestion

        asked = CodeQuestion(query, project, (language,) if language else (), limit)
        return self.engine.code.search(asked, self.caller()).hits

    def caller(
        self,
        session: str | None = None,
        *,
        user: str | None = None,
        folder: Path | None = None,
        project: str | None = None,
    ) -> Caller:
        """Who is asking, worked out anew for every call: a client may change its session under a living server.

        `user` speaks for somebody else than the settings do; empty is the local user. So does `folder` for the
        project around it, and `project` for one that is known, by its id, name, slug or path.
        """
        with self._lock:
            self._take_up_decision()
        settings = self.settings
        current = session or settings.session_id or self._seen.current() or client_session() or self._own_session
        who = settings.user_id if user is None else a_user(user)
        here = Caller(who, self._project(folder or self._folder), current, settings.agent)
        return here if project is None else replace(here, project=self._named(project, here))

    def project_at(self, path: str, field: str = "path") -> Project:
        """The project around a folder that is there, whether anything is known of it or not.

        A path may begin with `~`, be relative to the current project's folder, or lead through links.
        """
        faults = list(string_faults(path, field))
        if faults:
            raise InvalidInput(faults)
        real = real_path(path, self._folder)
        wrong = why_no_folder(real)
        if wrong or real is None:
            raise invalid(field, path, f"{wrong}; give the path of a project's folder")
        found = project_of(Path(real), Path.home(), self._clock.now())
        if found is None:
            raise invalid(field, path, f"{_NO_PROJECT}; give the path of a project's folder")
        return found

    def _named(self, named: str, caller: Caller) -> Project:
        for spelling in spellings(named, self._folder, Path.home()):
            with suppress(NotFound):
                return known(self.engine.parts, spelling, caller).project
        if is_no_project(named, self._folder, Path.home()):
            raise NotFound(f"{shorten(named)} is no project: {_NO_PROJECT}; name one", project_id=named)
        return known(self.engine.parts, named, caller).project  # raises, with the name as it was given

    @property
    def _folder(self) -> Path:
        return self.settings.project_dir or self.loaded.folder or Path.cwd()

    def _project(self, folder: Path) -> Project | None:
        """The folder's project, looked up again after some seconds: somebody may make a repository of it."""
        known, until, project = self._found_project
        if folder != known or time.monotonic() > until:
            project = project_of(folder, Path.home(), self._clock.now())
            self._found_project = (folder, time.monotonic() + _PROJECT_SECONDS, project)
        return project

    @property
    def engine(self) -> Engine:
        with self._lock:
            if self._closed:
                raise Closed("this memory was closed; open it again")
            self._take_up_decision()
            if self._engine is None:
                self._engine = self._opened()
            return self._engine

    def _take_up_decision(self) -> None:
        """Goes on with other settings as soon as somebody has decided about the project's file."""
        file = self.loaded.project_file
        if file is None or self.loaded.again is None or not file.is_undecided or not file.decision.exists():
            return
        self.loaded = self.loaded.again()
        self.settings, self._failed = self.loaded.settings, None
        self._found_project = (None, 0.0, None)
        self._copies, self.untyped = Copies(self.settings, self._clock.now), Untyped(self.loaded)
        if self._engine is not None:
            # Calls that have begun with it end with it.
            self._former.append(self._engine)
            self._engine = None
        if self._looks_after:
            threading.Thread(target=self._look_after_later, name="retain-decided", daemon=True).start()

    def now(self) -> datetime:
        return self._clock.now()

    def _of_settings(self) -> list[Notice]:
        return of_settings(self.loaded.problems) + of_changed_file(self.loaded) + of_held(self.loaded)

    def _of_judge(self) -> list[Notice]:
        return of_judge(why_no_judge(self.settings)) if self.settings.capture else []

    def _standing(self) -> list[Notice]:
        engine, settings = self._engine, self.settings
        if engine is not None:
            return engine.parts.store.standing()
        return [] if settings.is_on_server else of_store(str(settings.database_file))

    def change_number(self) -> int:
        return self.engine.parts.store.change()

    def close(self) -> None:
        """Ends the session and closes the store; quick, since a client gives a server 100 ms."""
        with self._lock:
            engine, self._engine, self._closed = self._engine, None, True
        self._ending.set()
        while self._former:
            former = self._former.pop()
            former.settle(0.01)
            former.close()
        if engine is not None:
            try:
                engine.settle(0.03)
                if self._own_session:
                    engine.end_session(self.caller())
            except RetainError as error:
                logger.warning("the session could not be closed: %s", error.message)
            engine.close()

    def look_after(self) -> None:
        """What a server does beside serving, all in the background: model, missing vectors, what earlier sessions
        left to consolidate, and the backup of the day."""
        engine, caller = self.engine, self.caller()
        engine.warm()
        self._looks_after = self.loaded.is_held
        if self._looks_after:  # housekeeping is for the store that is decided on
            return
        engine.begin_session(caller)
        renew(engine.parts, engine.later, lambda: engine.code, caller)
        self.untyped.serve(engine)
        if self.settings.consolidation_on_shutdown:
            engine.catch_up(caller)
        self._copies.keep_up(lambda: self.engine.later(self.back_up), self._ending)

    def _look_after_later(self) -> None:
        try:
            self.look_after()
        except RetainError as error:
            logger.error("the memory is unavailable: %s", error.message)

    def back_up(self) -> None:
        """The copy of the day, if it is due."""
        if not self.loaded.is_held:
            self._copies.daily(self.engine.parts.store)

    def _opened(self) -> Engine:
        if self._failed and time.monotonic() - self._failed[0] < _RETRY_SECONDS:
            raise self._failed[1]
        try:
            settings = self.settings
            # The store last: what is refused after it would leave it open.
            embedder, judge, llm = make_embedder(settings), self._judge or make_judge(settings), make_llm(settings)
            store = make_store_for(self.loaded)
            copied = partial(self._copies.before_housekeeping, store)
            parts = Parts(store, embedder, self._clock, llm, copied, judge, settings.second_look)
        except RetainError as error:
            self._failed = (time.monotonic(), error)
            raise
        return Engine(parts, self.settings.max_memories_per_session, self._roots(), self._patience)

    def _roots(self) -> Roots:
        """Where code may be indexed: below the home folder and the current project, unless the settings say."""
        project = self._project(self._folder)
        near = (Path.home(), *([Path(project.path)] if project else []))
        return Roots(self.settings.index_roots or near, Path.home())

    def __enter__(self) -> "Retain":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open(path: str | Path | None = None, **settings: object) -> Retain:
    """Opens the memory of this machine, or the one in `path`; further settings by name, as in docs/configuration.md."""
    loaded = load({**settings, "db_path": path})
    strict(loaded)
    return Retain(loaded)
