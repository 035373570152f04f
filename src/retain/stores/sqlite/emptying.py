"""Emptying: destroying all that one user has, as thoroughly as a purge, while others keep theirs."""

import sqlite3
from datetime import datetime

from retain.domain.places import user_in
from retain.ports import Emptied
from retain.stores.moments import micros
from retain.stores.sqlite.graph import owners_of
from retain.stores.sqlite.rows import AMONG, among

_MINE = "select num from memory where user = ?"
_NAMED = "select id from memory where user = ?"
# In this order: what belongs to a memory is found through it, so the memory goes last.
_OF_MEMORIES = [
    f"delete from vector where num in (select num from sign where memory in ({_MINE}))",
    f"delete from sign where memory in ({_MINE})",
    f"delete from memory_words where rowid in ({_MINE})",
    f"delete from tag where memory in ({_MINE})",
    f"delete from access where memory in ({_MINE})",
    f"delete from history where memory in ({_NAMED})",
    f"delete from link where memory in ({_NAMED})",
    f"delete from contradiction where older in ({_NAMED})",
    f"delete from contradiction where newer in ({_NAMED})",
    f"delete from tie where source in ({_NAMED})",
    f"delete from tie where target in ({_NAMED})",
    "delete from asked where user = ?",
    "delete from profile where user = ?",
    "delete from work where user = ?",
    "delete from served where user = ?",
    "delete from session where user = ?",
    "delete from memory where user = ?",
]


def empty(db: sqlite3.Connection, user: str, at: datetime) -> Emptied:
    """All but code. Counts are of rows that were there; ids of memories stay, for other processes to learn of it."""
    (change,) = db.execute("update counter set value = value + 1 where name = 'change' returning value").fetchone()
    tombstones = "insert or replace into tombstone (id, num, at, changed) select id, num, ?, ? from memory"
    memories = db.execute(f"{tombstones} where user = ?", (micros(at), change, user)).rowcount
    for statement in _OF_MEMORIES:
        db.execute(statement, (user,))
    entities, relations = _graph(db, user)
    _runs(db, user)
    # As in a purge: the words stay in older segments of the index until it is merged.
    db.execute("insert into memory_words (memory_words) values ('optimize')")
    return Emptied(memories, entities, relations, code_chunks=0)


def _graph(db: sqlite3.Connection, user: str) -> tuple[int, int]:
    owners = owners_of(db, user)
    mine = f"select id from entity where owner {AMONG}"
    relations = 0
    for end in ("source", "target"):
        relations += db.execute(f"delete from relation where {end} in ({mine})", (among(owners),)).rowcount
    db.execute(f"delete from link where entity in ({mine})", (among(owners),))
    return db.execute(f"delete from entity where owner {AMONG}", (among(owners),)).rowcount, relations


def _runs(db: sqlite3.Connection, user: str) -> None:
    """The scope of a run is the key of a place, whose second part is the user."""
    scopes = [scope for (scope,) in db.execute("select distinct scope from run") if user_in(scope) == user]
    db.execute(f"delete from run where scope {AMONG}", (among(scopes),))


def drop_unused_projects(db: sqlite3.Connection) -> None:
    """A project is everybody's; it goes with the last that anybody has in it."""
    used = {project for (project,) in db.execute("select distinct project from memory")}
    used |= {project for (project,) in db.execute("select distinct project from session")}
    used |= {project for (project,) in db.execute("select project from profile union select project from work")}
    owners = db.execute("select owner from entity union select key from code_index")
    used |= {owner.partition("\x1f")[0] for (owner,) in owners}
    gone = [id for (id,) in db.execute("select id from project") if id not in used]
    db.execute(f"delete from project where id {AMONG}", (among(gone),))
