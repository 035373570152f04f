"""Reading a whole store, portion by portion, and what was changed since: `ports.TransferStore`."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from retain.domain.graph import Link, Relation
from retain.domain.listing import PastQuery
from retain.domain.memory import Embedding, HistoryEntry, MemoryId
from retain.domain.transfer import Asked, Change, Destroyed, Kept, KeptSession, Served, Sort, Whole
from retain.ports import Portion, Record
from retain.stores.moments import moment
from retain.stores.signs import unpack
from retain.stores.sqlite import cursors, disputes, graph, listings, memories, profiles, sessions, work
from retain.stores.sqlite.rows import AMONG, STORED, among, stored
from retain.stores.sqlite.tables import Tables, change_of


@dataclass(frozen=True, slots=True)
class _Source:
    """Where records of one sort are: their rows are read in the order of the keys, which are unique."""

    table: str
    keys: str
    columns: str
    made: Callable[[Any], Record]


def _session(row: Any) -> KeptSession:
    return KeptSession(sessions.session_of(row[:8]), bool(row[8]))


def _asked(row: Any) -> Asked:
    user, project, text, times, found, last = row
    return Asked(PastQuery(text, times, found, moment(last)), project, user)


_DISPUTE = f"{disputes.FOUND}, {', '.join(disputes.DECIDED)}"
_CURSOR = "transcript, session, offset, last, project, user, extractions, at"
_SESSION = "id, started, project, user, ended, summary, 0, recalls, reflected"
_ENTITY = "id, name, type, owner, created, description, stated"
_SOURCES = {
    Sort.DESTROYED: _Source("tombstone", "id", "id, at", lambda row: Destroyed(row[0], moment(row[1]))),
    Sort.PROJECTS: _Source("project", "id", "id, slug, path, created", sessions.project_of),
    Sort.PROFILES: _Source(profiles.NAMED, "f.project, f.user", profiles.COLUMNS, profiles.profile_of),
    Sort.SESSIONS: _Source("session", "id, user", _SESSION, _session),
    Sort.WORKS: _Source("work", "id, user", work.COLUMNS, work.work_of),
    Sort.ENTITIES: _Source("entity", "num", _ENTITY, graph.entity_of),
    Sort.RELATIONS: _Source("relation r", "source, target, type", graph.RELATION, graph.relation_of),
    Sort.TIES: _Source("tie", "source, target, type", "source, target, type, created, strength", listings.tie_of),
    Sort.CONTRADICTIONS: _Source("contradiction", "id", _DISPUTE, disputes.contradiction_of),
    Sort.RUNS: _Source("run", "id", f"{sessions.RUN}, metrics", sessions.run_of),
    Sort.CURSORS: _Source("cursor", "transcript", _CURSOR, cursors.cursor_of),
    Sort.QUESTIONS: _Source("asked", "user, project, key", "user, project, text, times, found, last", _asked),
    Sort.SERVED: _Source("served", "session, user, memory", "session, user, memory", lambda row: Served(*row)),
}
_CHANGED = """select changed, id, 0 as gone, num from memory where changed > ?1 and (?2 is null or user = ?2)
    union all select changed, id, 1, num from tombstone where changed > ?1"""


class TransferTables(Tables):
    def life(self) -> str:
        return str(self._read(change_of, "life"))

    def records(self, sort: Sort, after: str | None, limit: int) -> Portion:
        if sort is Sort.MEMORIES:
            return self._read(_memories, after, limit)
        return self._read(_records, _SOURCES[sort], after, limit)

    def wholes(self, ids: Sequence[MemoryId]) -> list[Whole]:
        return self._read(wholes, ids) if ids else []

    def relations_among(self, entities: Sequence[str]) -> list[Relation]:
        return self._read(_relations_among, entities) if entities else []

    def changed(self, after: int, limit: int, user: str | None = None) -> list[Change]:
        return self._read(_changed, after, limit, user)


def _records(db: sqlite3.Connection, source: _Source, after: str | None, limit: int) -> Portion:
    keys = source.keys.split(", ")
    bound = json.loads(after) if after else []
    later = f"where ({source.keys}) > ({','.join('?' * len(keys))})" if after else ""
    rows = db.execute(
        f"select {source.keys}, {source.columns} from {source.table} {later} order by {source.keys} limit ?",
        (*bound, limit),
    ).fetchall()
    mark = json.dumps(rows[-1][: len(keys)]) if len(rows) == limit else None
    return Portion([source.made(row[len(keys) :]) for row in rows], mark)


def _memories(db: sqlite3.Connection, after: str | None, limit: int) -> Portion:
    query = "select id, num from memory where num > ? order by num limit ?"
    rows = db.execute(query, (int(after or 0), limit)).fetchall()
    return Portion(wholes(db, [row[0] for row in rows]), str(rows[-1][1]) if len(rows) == limit else None)


def wholes(db: sqlite3.Connection, ids: Sequence[MemoryId]) -> list[Whole]:
    these = (among(ids),)
    found = {row[0]: stored(row) for row in db.execute(f"{STORED} where m.id {AMONG} order by m.num", these)}
    kept = {
        row[0]: row[1:]
        for row in db.execute(f"select id, position, chunks_missing from memory where id {AMONG}", these)
    }
    embeddings = _embeddings(db, ids, {id: missing for id, (_, missing) in kept.items()})
    past: defaultdict[MemoryId, list[HistoryEntry]] = defaultdict(list)
    for entry in memories.history(db, ids):
        past[entry.memory].append(entry)
    links = _links(db, ids)
    return [
        Whole(
            memory=one.memory,
            kept=Kept(id, kept[id][0], one.accesses, one.accessed),
            embedding=embeddings.get(id),
            history=tuple(past[id]),
            links=tuple(links[id]),
        )
        for id, one in found.items()
    ]


def _embeddings(
    db: sqlite3.Connection, ids: Sequence[MemoryId], missing: dict[MemoryId, int]
) -> dict[MemoryId, Embedding]:
    rows = db.execute(
        f"""select m.id, n.name, v.numbers from memory m join sign s on s.memory = m.num and s.model = m.model
            join vector v on v.num = s.num join model n on n.num = s.model
            where m.id {AMONG} order by m.num, s.chunk""",
        (among(ids),),
    )
    found: defaultdict[tuple[MemoryId, str], list[bytes]] = defaultdict(list)
    for id, model, numbers in rows:
        found[id, model].append(numbers)
    return {
        id: Embedding(id, model, tuple(map(unpack, chunks)), missing=missing[id])
        for (id, model), chunks in found.items()
    }


def _links(db: sqlite3.Connection, ids: Sequence[MemoryId]) -> dict[MemoryId, list[Link]]:
    rows = db.execute(
        f"""select memory, entity, relationship, created, by_rule, stale from link where memory {AMONG}
            order by memory, entity, relationship""",
        (among(ids),),
    )
    found: defaultdict[MemoryId, list[Link]] = defaultdict(list)
    for row in rows:
        found[row[0]].append(graph.link_of(row))
    return found


def _relations_among(db: sqlite3.Connection, entities: Sequence[str]) -> list[Relation]:
    ends = among(entities)
    query = f"select {graph.RELATION} from relation r where r.source {AMONG} and r.target {AMONG}"
    return [graph.relation_of(row) for row in db.execute(query, (ends, ends))]


def _changed(db: sqlite3.Connection, after: int, limit: int, user: str | None) -> list[Change]:
    last = f"select changed from ({_CHANGED}) order by changed limit 1 offset ?3"
    row = db.execute(last, (after, user, limit - 1)).fetchone()
    until = row[0] if row else change_of(db)
    query = f"select changed, id, gone from ({_CHANGED}) where changed <= ?3 order by changed, num"
    return [Change(number, id, bool(gone)) for number, id, gone in db.execute(query, (after, user, until))]
