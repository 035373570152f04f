"""Questions that found something, for suggestions; few, and gone with what they may have been about."""

import sqlite3
from collections.abc import Iterable

from retain.domain.graph import fold
from retain.domain.listing import PastQuery
from retain.domain.memory import MemoryId
from retain.domain.words import query_terms, terms
from retain.stores.sqlite.rows import AMONG, among, micros, moment

MOST = 500  # of one user in one project


def all_of(db: sqlite3.Connection, project: str | None, user: str) -> list[PastQuery]:
    query = "select text, times, found, last from asked where user = ? and project = ? order by last desc"
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
    """Takes out every question that shares a word with memories which are about to be destroyed."""
    query = f"select user, coalesce(title, '') || ' ' || text from memory where id {AMONG}"
    for user, text in db.execute(query, (among(memories),)).fetchall():
        said = set(terms(text))
        past = db.execute("select key, project, terms from asked where user = ?", (user,)).fetchall()
        for key, project, asked in past:
            if not said.isdisjoint(asked.split(" ")):
                db.execute("delete from asked where user = ? and project = ? and key = ?", (user, project, key))
