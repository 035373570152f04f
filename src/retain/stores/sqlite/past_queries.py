"""Questions that found something, for suggestions; few, and gone with what they may have been about."""

import sqlite3
from collections.abc import Iterable

from retain.domain.graph import fold
from retain.domain.listing import PastQuery
from retain.domain.memory import MemoryId
from retain.domain.words import query_terms, terms
from retain.stores.sqlite.rows import AMONG, among, micros, moment, rest_of

MOST = 500  # of one user in one project


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
    said = _said(db, memories) if asked else {}
    gone = [row[:3] for row in asked if not said.get(row[0], set()).isdisjoint(row[3].split(" "))]
    db.executemany("delete from asked where user = ? and project = ? and key = ?", gone)


def _said(db: sqlite3.Connection, memories: Iterable[MemoryId]) -> dict[str, set[str]]:
    """The words of memories by whose they are, with those they had before."""
    these = among(memories)
    now = f"select user, title, text, tags, json_extract(source, '$.file') from memory where id {AMONG}"
    said = [(user, words) for user, *words in db.execute(now, (these,))]
    before = f"""select m.user, h.text, h.tags, h.rest from history h join memory m on m.id = h.memory
        where m.id {AMONG}"""
    for user, text, tags, kept in db.execute(before, (these,)):
        rest = rest_of(kept)
        said.append((user, [text, tags, rest.called[0] if rest and rest.called else None]))
    found: dict[str, set[str]] = {}
    for user, words in said:
        found.setdefault(user, set()).update(terms("\n".join(filter(None, words))))
    return found
