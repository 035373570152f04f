"""How far transcripts have been read."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from retain.domain.conversation import Cursor
from retain.stores.moments import micros, moment
from retain.stores.sqlite.rows import AMONG, among

CURSORS = "select transcript, session, offset, last, project, user, extractions, at from cursor"


def cursor(db: sqlite3.Connection, transcript: str) -> Cursor | None:
    row = db.execute(f"{CURSORS} where transcript = ?", (transcript,)).fetchone()
    return cursor_of(row) if row else None


def cursors_at(db: sqlite3.Connection, lines: Sequence[str]) -> list[Cursor]:
    return [cursor_of(row) for row in db.execute(f"{CURSORS} where last {AMONG} order by transcript", (among(lines),))]


def extractions(db: sqlite3.Connection, project: str | None, user: str) -> int:
    query = "select coalesce(sum(extractions), 0) from cursor where project is ? and user = ?"
    return int(db.execute(query, (project, user)).fetchone()[0])


def set_cursor(db: sqlite3.Connection, cursor: Cursor) -> None:
    """A transcript only grows, so of two readers the one that came further is right; 0 is for one that begins anew."""
    db.execute(
        """insert into cursor (transcript, session, offset, last, project, user, extractions, at)
           values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (transcript) do update set
               session = excluded.session, offset = excluded.offset, last = excluded.last, project = excluded.project,
               user = excluded.user, extractions = max(extractions, excluded.extractions), at = excluded.at
           where excluded.offset >= offset or excluded.offset = 0""",
        (
            *(cursor.transcript, cursor.session, cursor.offset, cursor.last),
            *(cursor.project, cursor.user, cursor.extractions, micros(cursor.at)),
        ),
    )


def cursor_of(row: Any) -> Cursor:
    transcript, session, offset, last, project, user, extractions, at = row
    return Cursor(transcript, session, offset, moment(at), last, project, user, extractions)
