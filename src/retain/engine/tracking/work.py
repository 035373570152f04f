"""Tracking work: sessions that are started by hand, logged to and completed; what is said in them is remembered."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from retain.domain.category import kind_of
from retain.domain.changes import ActiveWork, Changes, WorkActive
from retain.domain.ids import dressed, new_id, undress
from retain.domain.memory import Kind, Memory, Place, Scope
from retain.domain.recall import KEPT, Filter, Warning
from retain.domain.session import Caller, Project, Session
from retain.domain.time import iso
from retain.domain.work import ENTRY, LOGGED, SESSION, EntryType, Work, WorkFilter, WorkState, entry_of
from retain.engine import drafts
from retain.engine.drafts import Draft
from retain.engine.lookup.walks import Walks, page_faults
from retain.engine.parts import Parts, settle
from retain.engine.remember import Company, Remembered, remember_all
from retain.engine.tracking.projects import known
from retain.engine.trust.fixing import FIXED, fix_of
from retain.errors import Fault, InvalidInput, NotFound, Refused, invalid, shorten

MOST_ENTRIES = 100_000  # far above what anybody logs
MOST_ACTIVE = 1000
MOST_NAMED = 10
_IMPORTANCE = {
    EntryType.INFO: 0.3,
    EntryType.MILESTONE: 0.5,
    EntryType.ISSUE: 0.5,
    EntryType.SOLUTION: 0.7,
    EntryType.OUTCOME: 0.7,
    EntryType.SUMMARY: 0.5,
}


@dataclass(frozen=True, slots=True)
class Started:
    """A session that has begun, and those that were ended for it."""

    work: Work
    aborted: tuple[Work, ...] = ()
    redacted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Logged:
    """An entry of the log, which is a memory, and the session that it was written to."""

    work: Work
    memory: Memory
    warnings: tuple[Warning, ...] = ()
    redacted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Completed:
    """A session that has ended, and what to tell about what was said at its end."""

    work: Work
    warnings: tuple[Warning, ...] = ()
    redacted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Told:
    """A session with its log, oldest first. What was forgotten or deleted since is left out."""

    work: Work
    entries: tuple[Memory, ...] = ()
    outcome: str | None = None
    summary: str | None = None


@dataclass(frozen=True, slots=True)
class _Stopped:
    """A clock that stands still: what is written together happened at one moment."""

    moment: datetime

    def now(self) -> datetime:
        return self.moment


class Tracking:
    """Safe to call from any thread. Knows which session it started last for each user: that is the one meant where
    none is named."""

    def __init__(self, parts: Parts, remembered: Callable[[Remembered], Remembered]) -> None:
        self._parts, self._remembered = parts, remembered
        self._walks = Walks(time.monotonic)
        self._latest: dict[str, str] = {}

    def start(self, title: str, description: str | None, tags: Sequence[str], caller: Caller) -> Started:
        """Begins a session in the caller's project. Those that are active there are aborted in the same write."""
        project = _project(caller, starting_faults(title, description, tags))
        said = drafts.cleaned(drafts.label(title)), drafts.cleaned((description or "").strip())
        about = said[1].text or None
        found = drafts.secrets_in(title, description, *tags)

        def plan() -> tuple[Changes, Started]:
            now = self._parts.clock.now()
            whose = (project.id, now, caller.user)
            work = Work(dressed(SESSION, new_id(now)), said[0].text, *whose, about, drafts.labels(tags))
            aborting, aborted = self._aborting(project, caller)
            begun = Changes(at=now, projects=(project,), works=(work,), sessions=(_session(work),))
            return aborting.joined(begun), Started(work, aborted, found)

        started = settle(self._parts.store, plan)
        self._latest[caller.user] = started.work.id
        return started

    def log(self, session: str | None, entry: EntryType, text: str, tags: Sequence[str], caller: Caller) -> Logged:
        """Adds to the log of an active session, whichever project it is in. Equal texts are entries of their own."""
        if entry not in LOGGED:
            raise invalid("entry_type", entry, f"must be one of {', '.join(LOGGED)}")
        work, warnings = self._open(session, caller)
        issue = self._unfixed(work) if entry is EntryType.SOLUTION else None
        company = fix_of(issue.id, self._parts.clock.now()) if issue else None
        (done,) = self._write(work, [_draft(work, entry, text, tuple(tags))], None, caller, company)
        return Logged(work, done.memory, (*warnings, *done.warnings), done.redacted)

    def complete(self, session: str | None, outcome: str, summary: str | None, caller: Caller) -> Completed:
        """Ends an active session with what came of it."""
        said = {EntryType.OUTCOME: outcome}
        if summary and summary.strip():
            said[EntryType.SUMMARY] = summary
        _refuse_unsayable(said)
        work, warnings = self._open(session, caller)
        now = self._parts.clock.now()
        done = replace(work, state=WorkState.COMPLETED, ended=now)
        ending = Changes(at=now, works=(done,), sessions=(_session(done),))
        kept = self._write(work, [_draft(work, entry, text) for entry, text in said.items()], ending, caller)
        warnings += tuple(dict.fromkeys(warning for one in kept for warning in one.warnings))
        return Completed(done, warnings, tuple(dict.fromkeys(name for one in kept for name in one.redacted)))

    def get(self, session: str, caller: Caller) -> Told:
        work = self._work(session, caller)
        found = self._said_in(work)
        last = {entry_of(memory): memory.text for memory in reversed(found)}
        entries = tuple(memory for memory in reversed(found) if entry_of(memory) in LOGGED)
        return Told(work, entries, last.get(EntryType.OUTCOME), last.get(EntryType.SUMMARY))

    def sessions(
        self, project: str | None, state: WorkState | None, limit: int, offset: int, caller: Caller
    ) -> tuple[Sequence[Work], int]:
        """Newest first, and how many there are; of one project, named in any way, or of all.

        A page that follows on another begins after the row that one ended with, whatever others wrote in between.
        """
        faults = list(page_faults(limit, offset))
        if faults:
            raise InvalidInput(faults)
        where = known(self._parts, project, caller).project.id if project is not None else None
        wanted, store = WorkFilter(caller.user, where, state), self._parts.store
        return self._walks.page(
            (caller.session, wanted, limit), offset, lambda start, beyond: store.works(wanted, limit, start, beyond)
        )

    def abort(self, caller: Caller) -> tuple[Work, ...]:
        """Ends every active session in the caller's project without an outcome; their logs stay."""
        project = _project(caller)

        def plan() -> tuple[Changes, tuple[Work, ...]]:
            changes, aborted = self._aborting(project, caller)
            return changes if aborted else Changes(at=changes.at), aborted

        return settle(self._parts.store, plan)

    def id_of(self, session: str, caller: Caller) -> str:
        """The id of a session that is tracked, whichever dress it was given in; any other id as it is."""
        bare = undress(session)
        found = self._parts.store.work(dressed(SESSION, bare), caller.user) if bare else None
        return found.id if found else session

    def _aborting(self, project: Project, caller: Caller) -> tuple[Changes, tuple[Work, ...]]:
        now = self._parts.clock.now()
        active = self._active(caller.user, project.id)
        aborted = tuple(replace(work, state=WorkState.ABORTED, ended=now) for work in active)
        still = ActiveWork(project.id, caller.user, frozenset(work.id for work in active))
        return Changes(at=now, expects=(still,), works=aborted, sessions=tuple(map(_session, aborted))), aborted

    def _unfixed(self, work: Work) -> Memory | None:
        """The last issue of a session that nothing has fixed yet: the next solution is taken to be for that."""
        issues = [memory for memory in self._said_in(work) if entry_of(memory) is EntryType.ISSUE]
        fixed = {tie.target for tie in self._parts.store.ties([issue.id for issue in issues]) if tie.type == FIXED}
        return next((issue for issue in issues if issue.id not in fixed), None)

    def _said_in(self, work: Work) -> list[Memory]:
        """Newest first. A memory that was promoted to the user is still what was said here."""
        places = Place(Scope.PROJECT, work.user, work.project), Place(Scope.USER, work.user)
        wanted = Filter(places, session=work.id, states=KEPT)
        return [stored.memory for stored in self._parts.store.listed(wanted, MOST_ENTRIES)]

    def _write(
        self,
        work: Work,
        said: Sequence[Draft],
        along: Changes | None,
        caller: Caller,
        company: Company | None = None,
    ) -> list[Remembered]:
        """Remembers what is said in a session, unless it has ended by the time of the write."""
        project = known(self._parts, work.project, caller).project
        now = along.at if along else self._parts.clock.now()
        active = Changes(at=now, expects=(WorkActive(work.id, work.user),))
        done = remember_all(
            replace(self._parts, clock=_Stopped(now)),
            said,
            replace(caller, project=project, session=work.id),
            along=active.joined(along) if along else active,
            check=lambda: _refuse_ended(self._work(work.id, caller)),
            company=company,
        )
        return [self._remembered(each) for each in done]

    def _open(self, session: str | None, caller: Caller) -> tuple[Work, tuple[Warning, ...]]:
        """The session to write to: the one named, else the last one started here, else the only active one."""
        if session is not None:
            work = self._work(session, caller)
            _refuse_ended(work)
            return work, ()
        if own := self._started_here(caller):
            _refuse_ended(own, ", the last that was started here,", "or name another one with session_id")
            return own, ()
        active = self._active(caller.user)
        if len(active) != 1:
            raise Refused(self._which(active))
        return active[0], self._elsewhere(active[0], caller)

    def _started_here(self, caller: Caller) -> Work | None:
        """What this process started last, whether it goes on or not; None also when it is no longer stored."""
        id = self._latest.get(caller.user)
        return self._parts.store.work(id, caller.user) if id else None

    def _elsewhere(self, work: Work, caller: Caller) -> tuple[Warning, ...]:
        """A remark on a session that nobody named and that belongs to another project than where the caller is."""
        if caller.project and caller.project.id == work.project:
            return ()
        there = known(self._parts, work.project, caller).name
        note = f"written to {work.id} ({shorten(work.title)}) in the project {shorten(there)}, the only active session"
        return (Warning("other_project", f"{note}; say with session_id which one is meant"),)

    def _active(self, user: str, project: str | None = None) -> Sequence[Work]:
        return self._parts.store.works(WorkFilter(user, project, WorkState.ACTIVE), MOST_ACTIVE).items

    def _which(self, active: Sequence[Work]) -> str:
        if not active:
            return "no session is active; call session_start to begin one"
        some = active[:MOST_NAMED]
        slugs = {id: found.slug for id in {work.project for work in some} if (found := self._parts.store.project(id))}
        them = ", ".join(f"{work.id} ({shorten(work.title)}, in {slugs.get(work.project, '?')})" for work in some)
        more = f" and {len(active) - len(some)} more" if len(active) > len(some) else ""
        return f"{len(active)} sessions are active; say with session_id which one is meant: {them}{more}"

    def _work(self, session: str, caller: Caller) -> Work:
        """By id, with or without its dress; those of other people do not exist."""
        faults = list(drafts.session_faults(session))
        if faults:
            raise InvalidInput(faults)
        bare = undress(session)
        found = self._parts.store.work(dressed(SESSION, bare), caller.user) if bare else None
        if found is None:
            raise NotFound(
                f"there is no session {shorten(session)}; session_list has those there are", session_id=session
            )
        return found


def _draft(work: Work, entry: EntryType, text: str, tags: tuple[str, ...] = ()) -> Draft:
    category = "error_solution" if entry is EntryType.SOLUTION else "progress"
    return Draft(
        text,
        Kind(kind_of(category)),
        importance=_IMPORTANCE[entry],
        tags=tags,
        session=work.id,
        category=category,
        metadata={ENTRY: entry.value},
        distinct=True,
    )


def _session(work: Work) -> Session:
    """Tracked work as the session that it is."""
    return Session(work.id, work.started, work.project, work.user, work.ended)


def _project(caller: Caller, faults: Sequence[Fault] = ()) -> Project:
    """Where the caller stands; raises with all that is wrong."""
    nowhere = Fault("project_id", "", "is needed: the working folder belongs to no project; name one")
    wrong = [*faults, *([] if caller.project else [nowhere])]
    if wrong or caller.project is None:
        raise InvalidInput(wrong)
    return caller.project


def starting_faults(title: str, description: str | None, tags: Sequence[str]) -> list[Fault]:
    """What is wrong with the beginning of a session, whichever project it is in."""
    faults = [*drafts.title_faults(title), *drafts.line_faults(description, "description", drafts.MAX_DESCRIPTION)]
    faults += drafts.label_faults(tags, "tags")
    if len(tags) > drafts.MAX_TAGS:
        faults.append(Fault("tags", f"{len(tags)} tags", f"at most {drafts.MAX_TAGS}"))
    return faults


def _refuse_unsayable(said: dict[EntryType, str]) -> None:
    faults = [fault for entry, text in said.items() for fault in _text_faults(text, entry.value)]
    if faults:
        raise InvalidInput(faults)


def _text_faults(text: str, field: str) -> Iterator[Fault]:
    """As of any memory, under the name that the text has here."""
    faults = list(drafts.text_faults(text, field))
    yield from faults
    if not faults:
        try:
            drafts.cleaned_text(text)
        except InvalidInput as error:
            yield from (replace(fault, field=field) for fault in error.faults)


def _refuse_ended(work: Work, which: str = "", instead: str = "") -> None:
    if not work.is_active:
        since = f" on {iso(work.ended)}" if work.ended else ""
        what = f"{work.id} ({shorten(work.title)}){which} was {work.state}{since}"
        todo = "call session_start to begin a new session"
        raise Refused(f"{what}; {todo}{', ' if instead else ''}{instead}", session_id=work.id, status=work.state.value)
