"""Reading a whole store, portion by portion, and what was changed since: `ports.TransferStore`."""

import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from retain.domain.graph import Link, Relation, Tie
from retain.domain.listing import PastQuery
from retain.domain.memory import Embedding, HistoryEntry, MemoryId, Vector
from retain.domain.session import Profile
from retain.domain.transfer import Asked, Change, Destroyed, Kept, KeptSession, Served, Sort, Whole
from retain.ports import Portion, Record
from retain.stores.signs import unpack
from retain.stores.surreal import cursors, disputes, memories, sessions, work
from retain.stores.surreal.graph import graph, relations
from retain.stores.surreal.link.cbor import records
from retain.stores.surreal.link.database import Database
from retain.stores.surreal.rows import STORED, stored
from retain.stores.surreal.tables import Tables
from retain.stores.surreal.vectors.vectors import NUMBERS

Row = Mapping[str, Any]
_AT_ONCE = 5000  # numbers that are read in one query
_WHOLE = f"{STORED}, num, position, chunks_missing"


@dataclass(frozen=True, slots=True)
class _Source:
    """Where records of one sort are, and what is read of them."""

    table: str
    made: Callable[[Row], Record]
    fields: str = "*"


def _profile(row: Row) -> Profile:
    project = sessions.project_of(row["known"])
    return Profile(project, row["name"], row["created_at"], row["updated_at"], row["user"], row["description"])


def _session(row: Row) -> KeptSession:
    return KeptSession(sessions.session_of(row), row["reflected"])


def _tie(row: Row) -> Tie:
    return Tie(row["source"], row["target"], row["type"], row["created_at"], row["strength"])


def _asked(row: Row) -> Asked:
    return Asked(PastQuery(row["text"], row["times"], row["found"], row["last"]), row["project"], row["user"])


def _served(row: Row) -> Served:
    return Served(row["session"], row["user"], row["memory"])


_SOURCES = {
    Sort.DESTROYED: _Source("tombstone", lambda row: Destroyed(row["id"], row["at"])),
    Sort.PROJECTS: _Source("project", sessions.project_of),
    Sort.PROFILES: _Source("profile", _profile, "*, type::record('project', project).* AS known"),
    Sort.SESSIONS: _Source("session", _session, "*, 0 AS memory_count"),
    Sort.WORKS: _Source("work", work.work_of),
    Sort.RELATIONS: _Source("relates_to", graph.relation_of),
    Sort.TIES: _Source("tie", _tie),
    Sort.CONTRADICTIONS: _Source("contradiction", disputes.contradiction_of),
    Sort.RUNS: _Source("run", sessions.run_of),
    Sort.CURSORS: _Source("cursor", cursors.cursor_of),
    Sort.QUESTIONS: _Source("asked", _asked),
    Sort.SERVED: _Source("served", _served),
}
# What is read in the order in which it was made.
_NUMBERED = {Sort.MEMORIES: "memory", Sort.ENTITIES: "entity"}


class TransferTables(Tables):
    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._order: dict[Sort, list[tuple[int, str]]] = {}

    def life(self) -> str:
        return str(self.db.run("SELECT VALUE value FROM ONLY counter:life")[0])

    def records(self, sort: Sort, after: str | None, limit: int) -> Portion:
        if sort in _NUMBERED:
            return self._numbered(sort, int(after or 0), limit)
        source = _SOURCES[sort]
        rows = _after(self.db, source.table, source.fields, json.loads(after) if after else None, limit)
        mark = json.dumps(rows[-1]["id"]) if len(rows) == limit else None
        return Portion([source.made(row) for row in rows], mark)

    def wholes(self, ids: Sequence[MemoryId]) -> list[Whole]:
        return _wholes(self.db, ids) if ids else []

    def relations_among(self, entities: Sequence[str]) -> list[Relation]:
        return relations.among(self.db, entities) if entities else []

    def changed(self, after: int, limit: int, user: str | None = None) -> list[Change]:
        whose = "" if user is None else "AND user = $user"
        # Of what was destroyed in another store nobody knows whose it was.
        theirs = "" if user is None else "AND user IN [$user, '']"
        saved = f"SELECT changed, num, id FROM memory WHERE changed > $after {whose} ORDER BY changed LIMIT"
        gone = f"SELECT changed, num, id FROM tombstone WHERE changed > $after {theirs} ORDER BY changed LIMIT"
        both = self.db.run(f"{saved} {limit}; {gone} {limit}", after=after, user=user)
        numbers = sorted(row["changed"] for rows in both for row in rows)
        if not numbers:
            return []
        until = numbers[:limit][-1]
        within = "changed > $after AND changed <= $until"
        found = self.db.run(
            f"""SELECT changed, num, id, false AS gone FROM memory WHERE {within} {whose};
                SELECT changed, num, id, true AS gone FROM tombstone WHERE {within} {theirs}""",
            after=after,
            until=until,
            user=user,
        )
        rows = sorted((row for some in found for row in some), key=lambda row: (row["changed"], row["num"]))
        return [Change(row["changed"], row["id"], row["gone"]) for row in rows]

    def _numbered(self, sort: Sort, after: int, limit: int) -> Portion:
        """By number, which no index leads to: all numbers are read once, in the order of ids, and kept for the next
        portions. An index would take longer with every memory that is saved."""
        order = self._order.get(sort)
        if order is None or not after:
            order = self._order[sort] = _numbers(self.db, _NUMBERED[sort])
        first = bisect_right(order, after, key=lambda pair: pair[0])
        some = order[first : first + limit]
        ids = [id for _, id in some]
        mark = str(some[-1][0]) if len(some) == limit else None
        if mark is None:
            self._order.pop(sort, None)
        if sort is Sort.MEMORIES:
            return Portion(self.wholes(ids), mark)
        rows = {row["id"]: row for row in self.db.rows("SELECT * FROM $ids", ids=records("entity", ids))}
        return Portion([graph.entity_of(rows[id]) for id in ids if id in rows], mark)


def _after(db: Database, table: str, fields: str, after: Any, limit: int) -> list[Any]:
    """Rows of a table, which come in the order of their ids; a range of ids is found without reading those before."""
    source = table if after is None else f"type::record('{table}', $after>..)"
    return db.rows(f"SELECT {fields} FROM {source} LIMIT {limit}", after=after)


def _numbers(db: Database, table: str) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    last = None
    while some := _after(db, table, "num, id", last, _AT_ONCE):
        found += [(row["num"], row["id"]) for row in some]
        last = some[-1]["id"]
    return sorted(found)


def _wholes(db: Database, ids: Sequence[MemoryId]) -> list[Whole]:
    these = records("memory", dict.fromkeys(ids))
    rows, past, linked, vectors = db.view(
        f"SELECT {_WHOLE} FROM $these",
        "SELECT * FROM memory_history WHERE memory IN $ids",
        "SELECT * FROM memory_entity WHERE in IN $these",
        f"SELECT VALUE [id, {NUMBERS}] FROM $these WHERE model != NULL",
        these=these,
        ids=list(ids),
    )
    history: defaultdict[MemoryId, list[HistoryEntry]] = defaultdict(list)
    for row in sorted(past, key=lambda row: row["id"]):
        history[row["memory"]].append(memories.entry_of(row))
    links: defaultdict[MemoryId, list[Link]] = defaultdict(list)
    for row in sorted(linked, key=lambda row: (row["out"], row["relationship"])):
        links[row["in"]].append(graph.link_of(row))
    chunks = {id: tuple(map(unpack, numbers)) for id, numbers in vectors}
    return [
        Whole(
            memory=(one := stored(row)).memory,
            kept=Kept(row["id"], row["position"], one.accesses, one.accessed),
            embedding=_embedding(row, chunks[row["id"]]) if chunks.get(row["id"]) else None,
            history=tuple(history[row["id"]]),
            links=tuple(links[row["id"]]),
        )
        for row in sorted(rows, key=lambda row: row["num"])
    ]


def _embedding(row: Row, vectors: tuple[Vector, ...]) -> Embedding:
    return Embedding(row["id"], row["model"], vectors, missing=row["chunks_missing"])
