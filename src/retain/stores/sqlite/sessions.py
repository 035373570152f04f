"""Sessions, projects and consolidation runs."""

import json
import sqlite3
from typing import Any

from retain.domain.changes import Run
from retain.domain.session import Project, Session, Use
from retain.stores.moments import micros, moment, moment_or_none

RUN = "id, scope, strategy, at, made, sources, analysed, undone"
_RUN = f"{RUN}, metrics"


def session(db: sqlite3.Connection, id: str, user: str) -> Session | None:
    row = db.execute(
        """select id, started, project, user, ended, summary,
                  (select count(*) from memory m where m.session = s.id and m.user = s.user), recalls
           from session s where id = ? and user = ?""",
        (id, user),
    ).fetchone()
    return session_of(row) if row else None


def session_of(row: Any) -> Session:
    id, started, project, user, ended, summary, memories, recalls = row
    return Session(id, moment(started), project, user, moment_or_none(ended), summary, memories, recalls)


def project(db: sqlite3.Connection, name: str) -> Project | None:
    query = """select id, slug, path, created from project where id = ?1 or slug = ?1 or path = ?1
               order by id = ?1 desc, path = ?1 desc limit 1"""
    row = db.execute(query, (name,)).fetchone()
    return project_of(row) if row else None


def projects(db: sqlite3.Connection) -> list[Project]:
    return [project_of(row) for row in db.execute("select id, slug, path, created from project order by slug")]


def note_use(db: sqlite3.Connection, use: Use) -> None:
    at = micros(use.at)
    db.executemany(
        """insert into access select num, 1, ? from memory where id = ? on conflict (memory)
           do update set count = count + 1, last = excluded.last""",
        [(at, memory) for memory in use.memories],
    )
    if use.session is None:
        return
    db.execute(
        """insert into session (id, user, started, recalls) values (?, ?, ?, 1)
           on conflict (id, user) do update set recalls = recalls + 1""",
        (use.session, use.user, at),
    )
    db.executemany(
        "insert or ignore into served values (?, ?, ?)",
        [(use.session, use.user, memory) for memory in use.memories],
    )


def served(db: sqlite3.Connection, id: str, user: str) -> int:
    row = db.execute("select count(*) from served where session = ? and user = ?", (id, user)).fetchone()
    return int(row[0])


def sessions(db: sqlite3.Connection, user: str, project: str | None, limit: int) -> list[str]:
    query = "select id from session where user = ? and project is ? order by started desc, id desc limit ?"
    return [row[0] for row in db.execute(query, (user, project, limit))]


def finished(db: sqlite3.Connection, user: str, project: str | None) -> list[str]:
    rows = db.execute(
        """select id from session where ended is not null and reflected = 0 and user = ? and project is ?
           order by ended""",
        (user, project),
    )
    return [row[0] for row in rows]


def run(db: sqlite3.Connection, id: str) -> Run | None:
    row = db.execute(f"select {_RUN} from run where id = ?", (id,)).fetchone()
    return run_of(row) if row else None


def latest_run(db: sqlite3.Connection, scope: str) -> Run | None:
    row = db.execute(f"select {_RUN} from run where scope = ? order by at desc, id desc limit 1", (scope,)).fetchone()
    return run_of(row) if row else None


def runs(db: sqlite3.Connection, limit: int) -> list[Run]:
    return [run_of(row) for row in db.execute(f"select {_RUN} from run order by at desc, id desc limit ?", (limit,))]


def project_of(row: Any) -> Project:
    return Project(row[0], row[1], row[2], moment(row[3]))


def run_of(row: Any) -> Run:
    id, scope, strategy, at, made, sources, analysed, undone, metrics = row
    lists = tuple(json.loads(made)), tuple(json.loads(sources))
    return Run(id, scope, strategy, moment(at), *lists, analysed, moment_or_none(undone), json.loads(metrics or "{}"))
