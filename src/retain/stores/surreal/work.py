"""Projects as people know them, those they named and those they have something in, and work they track by hand."""

from collections.abc import Iterable, Mapping
from typing import Any

from retain.domain.graph import fold
from retain.domain.listing import Page, Row
from retain.domain.session import Profile
from retain.domain.work import Work, WorkFilter, WorkState
from retain.stores.surreal.link.cbor import record, records
from retain.stores.surreal.link.database import Database
from retain.stores.surreal.sessions import PROJECT, project_of
from retain.stores.surreal.tables import Tables

_NAMED = "type::record('profile', [id.id(), $user]).{name, description, created_at, updated_at}"
_PROJECTS = f"SELECT {PROJECT}, {_NAMED} AS named FROM %s"
# It is theirs once they have anything in it. An index serves in a closure, for its argument as it is: for a field of
# it, or of `$parent` in a subquery, none does, and 300 projects take 0.2 s or 5 s instead of 25 ms.
_USED = """SELECT VALUE project FROM code_index WHERE user = $user;
    RETURN (SELECT VALUE id.id() FROM %s).filter(|$p|
        (SELECT VALUE id FROM memory WHERE user = $user AND project = $p LIMIT 1) != []
        OR (SELECT VALUE id FROM work WHERE user = $user AND project = $p LIMIT 1) != [])"""
_WORK = "key, title, project, started_at, user, description, tags, state, ended_at"
PROFILE_AGAIN = ", ".join(f"{name} = $input.{name}" for name in ("name", "name_key", "description", "updated_at"))
WORK_AGAIN = "state = $input.state, ended_at = $input.ended_at"


class WorkTables(Tables):
    """`ports.WorkStore`."""

    def profile(self, project: str, user: str) -> Profile | None:
        return by_id(self.db, project, user)

    def profile_named(self, name: str, user: str) -> Profile | None:
        return named(self.db, name, user)

    def profiles(self, user: str, limit: int, offset: int = 0) -> tuple[list[Profile], int]:
        found = _known(self.db, None, user)
        found.sort(key=lambda profile: (profile.created, profile.project.id))
        return found[offset : offset + limit], len(found)

    def work(self, id: str, user: str) -> Work | None:
        row = self.db.row(f"SELECT {_WORK} FROM $work", work=[record("work", [id, user])])
        return work_of(row) if row else None

    def works(self, wanted: WorkFilter, limit: int, offset: int = 0, beyond: Row | None = None) -> Page[Work]:
        conditions, bound = _where(wanted, beyond)
        order = f"ORDER BY started_at DESC, key DESC LIMIT {limit} START {offset}"
        rows, counted = self.db.view(
            f"SELECT {_WORK} FROM work WHERE {conditions} {order}",
            f"SELECT VALUE count() FROM work WHERE {conditions} GROUP ALL",
            **bound,
        )
        found = [work_of(row) for row in rows]
        return Page(found, Row(found[-1].started, found[-1].id) if found else None, counted[0] if counted else 0)


def by_id(db: Database, project: str, user: str) -> Profile | None:
    return next(iter(_known(db, [project], user)), None)


def named(db: Database, name: str, user: str) -> Profile | None:
    """A name goes before the slug of another project; a project that has a name no longer goes by its slug."""
    by_name, projects = db.run(
        "SELECT VALUE project FROM profile WHERE user = $user AND name_key = $key; SELECT id, slug FROM project",
        user=user,
        key=fold(name),
    )
    if by_name:
        return by_id(db, by_name[0], user)
    slugs = {row["id"]: row["slug"] for row in projects if fold(row["slug"]) == fold(name)}
    called = [one for one in _known(db, slugs, user) if one.name == one.project.slug] if slugs else []
    # Two slugs may differ in their case alone: then the one that is spelled so.
    return min(called, key=lambda one: one.name != name.strip(), default=None)


def _known(db: Database, projects: Iterable[str] | None, user: str) -> list[Profile]:
    """Those of the projects, or of all, that the user has named or has anything in."""
    among = "project" if projects is None else "$projects"
    these = records("project", projects or ())
    rows, indexed, used = db.run(f"{_PROJECTS % among}; {_USED % among}", user=user, projects=these)
    theirs = {*indexed, *used}
    return [_profile_of(row, user) for row in rows if row["id"] in theirs or row["named"]]


def _where(wanted: WorkFilter, beyond: Row | None) -> tuple[str, dict[str, Any]]:
    conditions, bound = ["user = $user"], dict[str, Any](user=wanted.user)
    if wanted.project is not None:
        conditions.append("project = $project")
        bound["project"] = wanted.project
    if wanted.state is not None:
        conditions.append("state = $state")
        bound["state"] = wanted.state.value
    if beyond is not None:
        conditions.append("(started_at < $at OR (started_at = $at AND key < $key))")
        bound |= {"at": beyond.at, "key": beyond.id}
    return " AND ".join(conditions), bound


def profile_row(profile: Profile) -> dict[str, Any]:
    """To be inserted with `PROFILE_AGAIN`: one that is named again keeps the time at which it became known."""
    return {
        "id": [profile.project.id, profile.user],
        "project": profile.project.id,
        "user": profile.user,
        "name": profile.name,
        "name_key": fold(profile.name),
        "description": profile.description,
        "created_at": profile.created,
        "updated_at": profile.updated,
    }


def work_row(work: Work) -> dict[str, Any]:
    """To be inserted with `WORK_AGAIN`: of work that is there only the state and the end change."""
    return {
        "id": [work.id, work.user],
        "key": work.id,
        "user": work.user,
        "project": work.project,
        "title": work.title,
        "description": work.description,
        "tags": list(work.tags),
        "state": work.state.value,
        "started_at": work.started,
        "ended_at": work.ended,
    }


def _profile_of(row: Mapping[str, Any], user: str) -> Profile:
    project, named = project_of(row), row["named"]
    if not named:
        return Profile(project, project.slug, project.created, project.created, user)
    return Profile(project, named["name"], named["created_at"], named["updated_at"], user, named["description"])


def work_of(row: Mapping[str, Any]) -> Work:
    return Work(
        id=row["key"],
        title=row["title"],
        project=row["project"],
        started=row["started_at"],
        user=row["user"],
        description=row["description"],
        tags=tuple(row["tags"]),
        state=WorkState(row["state"]),
        ended=row["ended_at"],
    )
