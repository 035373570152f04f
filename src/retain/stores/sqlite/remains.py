"""What is left in a damaged store, as plans that add it to a sound one."""

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import cache
from types import NoneType
from typing import Any, TypeVar, get_args, get_type_hints

from retain.domain.changes import Changes, Contradiction
from retain.domain.claims import fingerprint
from retain.domain.graph import Tie
from retain.domain.memory import Embedding, HistoryEntry, Memory, MemoryId, State, Status
from retain.domain.session import Profile
from retain.domain.work import Work, WorkFilter, WorkState
from retain.stores.moments import moment
from retain.stores.signs import unpack
from retain.stores.sqlite import cursors, disputes, graph, listings, memories, profiles, sessions, work
from retain.stores.sqlite.damaged import Row, rows, rows_for, rows_from_both_ends
from retain.stores.sqlite.failures import UNREADABLE
from retain.stores.sqlite.garbled import EARLIER, LATER, memory_of, read
from retain.stores.sqlite.pages import Leaf
from retain.stores.sqlite.store import SqliteStore

V = TypeVar("V")
# Small enough that writers in other windows do not wait long.
_AT_ONCE = 200
_LINK = "select memory, entity, relationship, created, by_rule, stale from link where memory = ?"
_RELATION = """select source, target, type, created, weight, by_rule, valid_from, valid_until from relation
    where source = ?"""
_TIE = "select source, target, type, created, strength from tie where source = ?"
_PROFILE = f"select {profiles.COLUMNS} from {profiles.NAMED}"
_VECTORS = """select s.memory, n.name, n.dimensions, v.numbers, m.chunks_missing
    from memory m join sign s on s.memory = m.num and s.model = m.model join vector v on v.num = s.num
    join model n on n.num = s.model where m.id = ? order by s.chunk"""


class Remains:
    """Every value that can still be made from what a damaged file holds."""

    def __init__(self, db: sqlite3.Connection, leaves: Sequence[Leaf]) -> None:
        self._db, self._leaves = db, leaves
        self.memories = list(_made(memory_of, self._rows("memory", read(_columns(db, "memory", EARLIER, *LATER)))))
        columns = _columns(db, "entity", "id, name, type, owner, created", "description", "stated")
        self._entities = {e.id: e for e in _made(graph.entity_of, self._rows("entity", columns))}
        self._history: defaultdict[MemoryId, list[HistoryEntry]] = defaultdict(list)
        columns = _columns(db, "history", "memory, version, event, text, importance, tags, scope, at, reason", "rest")
        for entry in _made(memories.entry_of, self._rows("history", columns)):
            self._history[entry.memory].append(entry)

    def plans(self, into: SqliteStore) -> Iterator[Changes]:
        """What is here and not there, a few memories at a time, ending with what connects them."""
        yield self._places(into)
        yield self._tracked(into)
        yield from self._missing(self.memories, into)
        yield self._connections(into)

    def strays(self, into: SqliteStore) -> Iterator[Changes]:
        """What is on a page to which no way leads, as `mending` shows it."""
        yield from self._missing(
            list(_made(memory_of, self._rows("stray", read(_columns(self._db, "stray", EARLIER, *LATER))))), into
        )

    def _rows(self, table: str, columns: str) -> Iterator[Row]:
        return rows(self._db, table, columns, self._leaves)

    def _missing(self, found: Sequence[Memory], into: SqliteStore) -> Iterator[Changes]:
        ids = [memory.id for memory in found]
        known = into.memories(ids).keys() | into.destroyed(ids)
        once = {memory.id: memory for memory in found if memory.id not in known}
        missing = [_beside_twin(memory, into) for memory in once.values()]
        for start in range(0, len(missing), _AT_ONCE):
            yield self._said(missing[start : start + _AT_ONCE])

    def _places(self, into: SqliteStore) -> Changes:
        query = "select id, started, project, user, ended, summary, 0, recalls from session"
        opened = _made(sessions.session_of, rows_from_both_ends(self._db, query, "id"))
        return Changes(
            at=self._newest(),
            projects=tuple(_made(sessions.project_of, self._rows("project", "id, slug, path, created"))),
            sessions=tuple(s for s in opened if into.session(s.id, s.user) is None),
            cursors=tuple(_made(cursors.cursor_of, rows_from_both_ends(self._db, cursors.CURSORS, "transcript"))),
        )

    def _tracked(self, into: SqliteStore) -> Changes:
        """What people named and track, unless they did so again since."""
        named = _made(profiles.profile_of, rows_from_both_ends(self._db, _PROFILE, "f.project"))
        works = _made(work.work_of, rows_from_both_ends(self._db, f"select {work.COLUMNS} from work", "id"))
        return Changes(
            at=self._newest(),
            profiles=tuple(profile for profile in named if _is_free(profile, into)),
            works=tuple(_beside_active(w, into) for w in works if into.work(w.id, w.user) is None),
        )

    def _said(self, some: Sequence[Memory]) -> Changes:
        ids = [memory.id for memory in some]
        links = [link for link in _made(graph.link_of, rows_for(self._db, _LINK, ids)) if link.entity in self._entities]
        return Changes(
            at=self._newest(),
            memories=tuple(some),
            embeddings=tuple(embedding for id in ids for embedding in self._embedding(id)),
            history=tuple(entry for id in ids for entry in self._history[id]),
            entities=tuple(self._entities[id] for id in {link.entity for link in links}),
            links=tuple(links),
        )

    def _connections(self, into: SqliteStore) -> Changes:
        found = _made(graph.relation_of, rows_for(self._db, _RELATION, list(self._entities)))
        relations = [r for r in found if {r.source, r.target} <= self._entities.keys()]
        ends = {end for r in relations for end in (r.source, r.target)}
        ends |= {entity.id for entity in self._entities.values() if entity.stated}
        columns = _columns(self._db, "run", sessions.RUN, "metrics")
        runs = _made(sessions.run_of, self._rows("run", columns))
        return Changes(
            at=self._newest(),
            entities=tuple(self._entities[id] for id in ends),
            relations=tuple(relations),
            contradictions=tuple(self._contradictions(into)),
            ties=tuple(self._ties(into)),
            runs=tuple(run for run in runs if into.run(run.id) is None),
        )

    def _contradictions(self, into: SqliteStore) -> Iterable[Contradiction]:
        known = {(c.older, c.newer) for c in into.contradictions([memory.id for memory in self.memories])}
        columns = _columns(self._db, "contradiction", disputes.FOUND, *disputes.DECIDED)
        found = _made(disputes.contradiction_of, self._rows("contradiction", columns))
        return [c for c in found if (c.older, c.newer) not in known]

    def _ties(self, into: SqliteStore) -> Iterable[Tie]:
        ids = [memory.id for memory in self.memories]
        known = {(tie.source, tie.target, tie.type) for tie in into.ties(ids)}
        found = _made(listings.tie_of, rows_for(self._db, _TIE, ids))
        return [tie for tie in found if (tie.source, tie.target, tie.type) not in known]

    def _embedding(self, id: MemoryId) -> list[Embedding]:
        """All vectors of a memory or none: those that are missing are made again."""
        found = list(rows_for(self._db, _VECTORS, [id]))
        if not found or not all(map(_is_vector, found)):
            return []
        _, model, _, _, missing = found[0]
        return [Embedding(id, model, tuple(unpack(row[3]) for row in found), missing=missing)]

    def _newest(self) -> datetime:
        return max((memory.updated for memory in self.memories), default=moment(0))


def _columns(db: sqlite3.Connection, table: str, first: str, *newer: str) -> str:
    """What to read of a table; the file may be older than some of its columns."""
    try:
        there = {name for (name,) in db.execute("select name from pragma_table_info(?)", (table,))}
    except UNREADABLE:
        there = set()
    return ", ".join([first, *(name if name in there else f"null as {name}" for name in newer)])


def _is_vector(row: Row) -> bool:
    _, model, dimensions, numbers, missing = row
    sound = isinstance(model, str) and isinstance(numbers, bytes) and missing in range(1 << 20)
    return sound and dimensions == len(numbers) // 2


def _beside_twin(memory: Memory, into: SqliteStore) -> Memory:
    """A memory that was said again since the damage makes way for the newer one."""
    twin = into.twin(memory.place, fingerprint(memory.text)) if memory.is_active else None
    if twin is None:
        return memory
    reason, since = "said again after the store was damaged", twin.memory.created
    return replace(memory, valid_until=since, status=Status(State.SUPERSEDED, reason, since, twin.memory.id))


def _is_free(profile: Profile, into: SqliteStore) -> bool:
    """Whether neither the project has a name by now, nor the name a project."""
    present = into.profile(profile.project.id, profile.user)
    unnamed = present is None or present.name == present.project.slug
    return unnamed and into.profile_named(profile.name, profile.user) in (None, present)


def _beside_active(tracked: Work, into: SqliteStore) -> Work:
    """Work that goes on, unless other work was started in the project since the damage."""
    filter = WorkFilter(tracked.user, tracked.project, WorkState.ACTIVE)
    since = into.works(filter, 1).items if tracked.is_active else ()
    return replace(tracked, state=WorkState.ABORTED, ended=since[0].started) if since else tracked


def _made(make: Callable[[Row], V], found: Iterable[Row]) -> Iterator[V]:
    """Values from rows; a row whose bytes were damaged where SQLite does not look makes none."""
    for row in found:
        with suppress(ValueError, TypeError, KeyError, AttributeError, OverflowError):
            value = make(row)
            if _fits(value):
                yield value


def _fits(value: Any) -> bool:  # Any: of whichever class
    """Whether a value has what its class says it has: SQLite stores a number where a text should be."""
    kinds = _kinds(type(value))  # type: ignore[arg-type]  # a class can be hashed, whatever its values can
    return all(isinstance(getattr(value, name), those) for name, those in kinds.items())


@cache
def _kinds(of: type) -> dict[str, tuple[type, ...]]:
    """The classes that each field may be of; fields that hold others are left to those."""
    said = {name: get_args(hint) or (hint,) for name, hint in get_type_hints(of).items()}
    plain = (str, int, float, bool, datetime, NoneType)
    wider = {float: (float, int), bool: (bool, int)}
    return {
        name: tuple(one for kind in kinds for one in wider.get(kind, (kind,)))
        for name, kinds in said.items()
        if all(kind in plain for kind in kinds)
    }
