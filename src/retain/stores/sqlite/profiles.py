"""Projects as people know them: those they named, and those they have something in."""

import sqlite3
from typing import Any

from retain.domain.graph import fold
from retain.domain.places import project_key
from retain.domain.session import Profile, Project
from retain.stores.moments import micros, moment

# A project goes by its slug until its user gives it a name; it is theirs once they have anything in it. The memories
# of all sessions are looked through last, and once for all projects: no index leads to them by project.
_SESSIONS = """select (select m.project from memory m where m.place = d.place and m.user = ?1 limit 1)
    from (select distinct place from memory) d"""
_KNOWN = f"""select p.id, p.slug, p.path, p.created, ?1, f.name, f.description, f.created, f.updated
    from project p left join profile f on f.project = p.id and f.user = ?1
    where (f.project is not null
       or exists (select 1 from memory m where m.place = ?2 || p.id)
       or p.id in (select project from work where user = ?1)
       or p.id in (select project from code_index where user = ?1)
       or p.id in ({_SESSIONS}))"""
NAMED = "profile f join project p on p.id = f.project"
COLUMNS = "p.id, p.slug, p.path, p.created, f.user, f.name, f.description, f.created, f.updated"
_ORDER = "order by coalesce(f.created, p.created), p.id"


def by_id(db: sqlite3.Connection, project: str, user: str) -> Profile | None:
    row = db.execute(f"{_KNOWN} and p.id = ?3", (*_whose(user), project)).fetchone()
    return profile_of(row) if row else None


def named(db: sqlite3.Connection, name: str, user: str) -> Profile | None:
    """A name goes before the slug of another project; a project that has a name no longer goes by its slug."""
    by_name = db.execute("select project from profile where user = ? and name_key = ?", (user, fold(name))).fetchone()
    if by_name:
        return by_id(db, by_name[0], user)
    slugs = [(slug, id) for id, slug in db.execute("select id, slug from project") if fold(slug) == fold(name)]
    # Two slugs may differ in their case alone: then the one that is spelled so.
    called = [by_id(db, id, user) for _, id in sorted(slugs, key=lambda row: row[0] != name.strip())]
    return next((found for found in called if found and found.name == found.project.slug), None)


def listed(db: sqlite3.Connection, user: str, limit: int, offset: int) -> tuple[list[Profile], int]:
    rows = db.execute(f"{_KNOWN} {_ORDER} limit ?3 offset ?4", (*_whose(user), limit, offset))
    found = [profile_of(row) for row in rows]
    (total,) = db.execute(f"select count(*) from ({_KNOWN})", _whose(user)).fetchone()
    return found, total


def _whose(user: str) -> tuple[str, str]:
    """A user, and how the key of each of their projects begins."""
    return user, project_key(user, None)


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
