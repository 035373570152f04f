"""Taking over what comes from another store, exactly as it is there."""

import sqlite3
from typing import Any

from retain.domain.changes import Contradiction, Restored
from retain.domain.conversation import Cursor
from retain.domain.graph import Entity, Relation, fold
from retain.domain.transfer import Asked, Kept, KeptSession
from retain.domain.words import query_terms
from retain.stores.moments import micros, micros_or_none
from retain.stores.sqlite import disputes
from retain.stores.sqlite.rows import AMONG, among


def prepare(db: sqlite3.Connection, restored: Restored) -> None:
    """Before the plan is written: what it would add to goes, and what its links lead to comes."""
    if restored.memories:
        these = (among(kept.memory for kept in restored.memories),)
        for table, column in (("history", "memory"), ("link", "memory"), ("tombstone", "id")):
            db.execute(f"delete from {table} where {column} {AMONG}", these)
    for entity in restored.entities:
        _entity(db, entity)


def complete(db: sqlite3.Connection, restored: Restored, change: int) -> None:
    """After the plan was written."""
    for kept in restored.memories:
        _kept(db, kept)
    for relation in restored.relations:
        _relation(db, relation)
    for contradiction in restored.contradictions:
        _contradiction(db, contradiction)
    for session in restored.sessions:
        _session(db, session)
    for cursor in restored.cursors:
        _cursor(db, cursor)
    for asked in restored.questions:
        _question(db, asked)
    rows = [(one.session, one.user, one.memory) for one in restored.served]
    db.executemany("insert or ignore into served values (?, ?, ?)", rows)
    # Of one that never was here nobody has a number.
    db.executemany(
        """insert into tombstone (id, num, at, changed) values (?, 0, ?, ?)
           on conflict (id) do update set at = excluded.at""",
        [(one.memory, micros(one.at), change) for one in restored.destroyed],
    )


def _kept(db: sqlite3.Connection, kept: Kept) -> None:
    db.execute("update memory set position = ? where id = ?", (kept.position, kept.memory))
    db.execute("delete from access where memory = (select num from memory where id = ?)", (kept.memory,))
    if kept.accessed is not None:
        query = "insert into access select num, ?, ? from memory where id = ?"
        db.execute(query, (kept.accesses, micros(kept.accessed), kept.memory))


def _entity(db: sqlite3.Connection, entity: Entity) -> None:
    query = "select id from entity where owner = ? and folded = ? and folded_type = ? and id <> ?"
    for (other,) in db.execute(query, (*entity.key, entity.id)).fetchall():
        for table, column in (("link", "entity"), ("relation", "source"), ("relation", "target"), ("entity", "id")):
            db.execute(f"delete from {table} where {column} = ?", (other,))
    owner, name, type = entity.key
    row = (entity.id, owner, entity.name, name, entity.type, type, micros(entity.created))
    db.execute(
        """insert into entity (id, owner, name, folded, type, folded_type, created, description, stated)
           values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do update set owner = excluded.owner,
           name = excluded.name, folded = excluded.folded, type = excluded.type, folded_type = excluded.folded_type,
           created = excluded.created, description = excluded.description, stated = excluded.stated""",
        (*row, entity.description, entity.stated),
    )


def _relation(db: sqlite3.Connection, one: Relation) -> None:
    _put(
        db,
        "relation",
        {
            "source": one.source,
            "target": one.target,
            "type": one.type,
            "created": micros(one.created),
            "weight": one.weight,
            "by_rule": one.by_rule,
            "valid_from": micros_or_none(one.valid_from),
            "valid_until": micros_or_none(one.valid_until),
            "id": one.id,
        },
    )


def _contradiction(db: sqlite3.Connection, one: Contradiction) -> None:
    query = "delete from contradiction where id = ? or (older = ? and newer = ?)"
    db.execute(query, (one.id, one.older, one.newer))
    disputes.save(db, one)


def _session(db: sqlite3.Connection, kept: KeptSession) -> None:
    session = kept.session
    _put(
        db,
        "session",
        {
            "id": session.id,
            "user": session.user,
            "project": session.project,
            "started": micros(session.started),
            "ended": micros_or_none(session.ended),
            "summary": session.summary,
            "recalls": session.recalls,
            "reflected": kept.reflected,
        },
    )


def _cursor(db: sqlite3.Connection, cursor: Cursor) -> None:
    _put(
        db,
        "cursor",
        {
            "transcript": cursor.transcript,
            "session": cursor.session,
            "offset": cursor.offset,
            "last": cursor.last,
            "project": cursor.project,
            "user": cursor.user,
            "extractions": cursor.extractions,
            "at": micros(cursor.at),
        },
    )


def _question(db: sqlite3.Connection, asked: Asked) -> None:
    query = asked.query
    _put(
        db,
        "asked",
        {
            "user": asked.user,
            "project": asked.project,
            "key": fold(query.text),
            "text": query.text,
            "terms": " ".join(query_terms(query.text)),
            "times": query.times,
            "found": query.found,
            "last": micros(query.last),
        },
    )


def _put(db: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    marks = ",".join("?" * len(row))
    db.execute(f"insert or replace into {table} ({', '.join(row)}) values ({marks})", tuple(row.values()))
