"""Projects as people know them: those they named, and those they have something in."""

import sqlite3
from typing import Any

from retain.domain.graph import fold
from retain.domain.session import Profile, Project
from retain.stores.sqlite.rows import micros, moment

# A project goes by its slug until its user gives it a name; it is theirs once they have anything in it.
_KNOWN = """select p.id, p.slug, p.path, p.created, ?1, f.name, f.description, f.created, f.updated
    from project p left join profile f on f.project = p.id and f.user = ?1
    where (f.project is not null
       or exists (select 1 from memory m where m.project = p.id and m.user = ?1)
       or exists (select 1 from work w where w.user = ?1 and w.project = p.id)
       or exists (select 1 from code_index c where c.project = p.id and c.user = ?1))"""
_ORDER = "order by coalesce(f.created, p.created), p.id"


def by_id(db: sqlite3.Connection, project: str, user: str) -> Profile | None:
    row = db.execute(f"{_KNOWN} and p.id = ?2", (user, project)).fetchone()
    return profile_of(row) if row else None


def named(db: sqlite3.Connection, name: str, user: str) -> Profile | None:
    """A name goes before the slug of another project."""
    by_name = db.execute("select project from profile where user = ? and name_key = ?", (user, fold(name))).fetchone()
    if by_name:
        return by_id(db, by_name[0], user)
    slugs = f"{_KNOWN} and f.name is null and p.slug = ?2 collate nocase"
    row = db.execute(slugs, (user, name.strip())).fetchone()
    return profile_of(row) if row else None


def listed(db: sqlite3.Connection, user: str, limit: int, offset: int) -> tuple[list[Profile], int]:
    rows = db.execute(f"{_KNOWN} {_ORDER} limit ?2 offset ?3", (user, limit, offset))
    found = [profile_of(row) for row in rows]
    (total,) = db.execute(f"select count(*) from ({_KNOWN})", (user,)).fetchone()
    return found, total


def save(db: sqlite3.Connection, profile: Profile) -> None:
    db.execute(
        """insert into profile (project, user, name, name_key, description, created, updated)
           values (?, ?, ?, ?, ?, ?, ?) on conflict (project, user) do update set name = excluded.name,
           name_key = excluded.name_key, description = excluded.description, updated = excluded.updated""",
        (
            *(profile.project.id, profile.user, profile.name, fold(profile.name), profile.description),
            *(micros(profile.created), micros(profile.updated)),
        ),
    )


def profile_of(row: Any) -> Profile:
    id, slug, path, made, user, name, description, created, updated = row
    project = Project(id, slug, path, moment(made))
    since = moment(created) if created is not None else project.created
    return Profile(project, name or slug, since, moment(updated) if updated is not None else since, user, description)
