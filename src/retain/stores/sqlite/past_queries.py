"""Questions that found something, for suggestions; few, and gone with what they may have been about."""

import sqlite3
from collections.abc import Iterable

from retain.domain.graph import fold
from retain.domain.listing import PastQuery
from retain.domain.memory import MemoryId
from retain.domain.words import query_terms
from retain.stores.asking import MOST, Said, about, title_of
from retain.stores.moments import micros, moment
from retain.stores.sqlite.rows import AMONG, among


def all_of(db: sqlite3.Connection, project: str | None, user: str) -> list[PastQuery]:
    query = "select text, times, found, last from asked where user = ? and project = ? order by last desc, key"
    rows = db.execute(query, (user, project or ""))
    return [PastQuery(text, times, found, moment(last)) for text, times, found, last in rows]


def note(db: sqlite3.Connection, asked: PastQuery, project: str | None, user: str) -> None:
    owner = (user, project or "")
    db.execute(
        """insert into asked (user, project, key, text, terms, times, found, last) values (?, ?, ?, ?, ?, ?, ?, ?)
           on conflict (user, project, key) do update set text = excluded.text, times = times + excluded.times,
           found = excluded.found, last = excluded.last""",
        (
            *(*owner, fold(asked.text), asked.text, " ".join(query_terms(asked.text))),
            *(asked.times, asked.found, micros(asked.last)),
        ),
    )
    oldest = "select key from asked where user = ?1 and project = ?2 order by last desc limit -1 offset ?3"
    db.execute(f"delete from asked where user = ?1 and project = ?2 and key in ({oldest})", (*owner, MOST))


def forget(db: sqlite3.Connection, memories: Iterable[MemoryId]) -> None:
    """Takes out every question that shares a word with memories which are about to be destroyed, in any version."""
    asked = db.execute("select user, project, key, terms from asked").fetchall()
    said = _said(db, memories) if asked else []
    gone = about(((row[:3], row[0], row[3]) for row in asked), said)
    db.executemany("delete from asked where user = ? and project = ? and key = ?", gone)


def _said(db: sqlite3.Connection, memories: Iterable[MemoryId]) -> list[Said]:
    """What memories say, and what they said before."""
    these = among(memories)
    now = f"select user, title, text, tags, json_extract(source, '$.file') from memory where id {AMONG}"
    said: list[Said] = [(user, words) for user, *words in db.execute(now, (these,))]
    before = f"""select m.user, h.text, h.tags, h.rest from history h join memory m on m.id = h.memory
        where m.id {AMONG}"""
    said += [(user, (text, tags, title_of(rest))) for user, text, tags, rest in db.execute(before, (these,))]
    return said
