"""Sessions that people track by hand."""

import json
import sqlite3
from typing import Any

from retain.domain.listing import Page, Row
from retain.domain.work import Work, WorkFilter, WorkState
from retain.stores.moments import micros, micros_or_none, moment, moment_or_none

COLUMNS = "id, title, project, started, user, description, tags, state, ended"


def by_id(db: sqlite3.Connection, id: str, user: str) -> Work | None:
    row = db.execute(f"select {COLUMNS} from work where id = ? and user = ?", (id, user)).fetchone()
    return work_of(row) if row else None


def page(db: sqlite3.Connection, wanted: WorkFilter, limit: int, offset: int, beyond: Row | None) -> Page[Work]:
    conditions, values = "user = ?", [wanted.user]
    bound: list[Any] = values
    if wanted.project is not None:
        conditions += " and project = ?"
        bound.append(wanted.project)
    if wanted.state is not None:
        conditions += " and state = ?"
        bound.append(wanted.state.value)
    if beyond is not None:
        conditions += " and (started, id) < (?, ?)"
        bound += [micros(beyond.at), beyond.id]
    query = f"select {COLUMNS} from work where {conditions} order by started desc, id desc limit ? offset ?"
    found = [work_of(row) for row in db.execute(query, (*bound, limit, offset))]
    (total,) = db.execute(f"select count(*) from work where {conditions}", bound).fetchone()
    return Page(found, Row(found[-1].started, found[-1].id) if found else None, total)


def save(db: sqlite3.Connection, work: Work) -> None:
    db.execute(
        """insert into work (id, title, project, started, user, description, tags, state, ended)
           values (?, ?, ?, ?, ?, ?, ?, ?, ?)
           on conflict (id, user) do update set state = excluded.state, ended = excluded.ended""",
        (
            *(work.id, work.title, work.project, micros(work.started), work.user, work.description),
            *(json.dumps(work.tags, ensure_ascii=False), work.state.value, micros_or_none(work.ended)),
        ),
    )


def work_of(row: Any) -> Work:
    id, title, project, started, user, description, tags, state, ended = row
    said = (user, description, tuple(json.loads(tags)))
    return Work(id, title, project, moment(started), *said, WorkState(state), moment_or_none(ended))
