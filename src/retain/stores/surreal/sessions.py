"""Sessions, projects and consolidation runs."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from retain.domain.changes import Run
from retain.domain.session import Project, Session, Use
from retain.stores.surreal.link.cbor import record, records
from retain.stores.surreal.link.database import Batch
from retain.stores.surreal.link.retrying import committed
from retain.stores.surreal.tables import Tables

PROJECT = "id, slug, path, created_at"
_RUN = "id, scope, strategy, at, made, sources, analysed, undone, metrics"
_SAID = "(SELECT VALUE count() FROM memory WHERE session_id = $id AND user = $user GROUP ALL)[0] ?? 0"
_SESSION = f"key, user, project, started_at, ended_at, summary, recalls, {_SAID} AS memory_count"
# A session that is there opens again: who writes to it is in it.
SESSION_AGAIN = """ended_at = $input.ended_at, reflected = false, project = project ?? $input.project,
    summary = $input.summary ?? summary"""
# Runs are taken back by writing them again.
RUN_AGAIN = ", ".join(f"{name} = $input.{name}" for name in _RUN.split(", ") if name != "id")


class SessionTables(Tables):
    """`ports.SessionStore`."""

    def session(self, id: str, user: str) -> Session | None:
        this = [record("session", [id, user])]
        row = self.db.row(f"SELECT {_SESSION} FROM $this_one", this_one=this, id=id, user=user)
        return session_of(row) if row else None

    def project(self, name: str) -> Project | None:
        ways = ("$named", "project WHERE path = $name", "project WHERE slug = $name")
        found = self.db.run(
            ";".join(f"SELECT {PROJECT} FROM {way} LIMIT 1" for way in ways),
            name=name,
            named=[record("project", name)],
        )
        return next((project_of(row) for rows in found for row in rows), None)

    def projects(self) -> list[Project]:
        found = map(project_of, self.db.rows(f"SELECT {PROJECT} FROM project"))
        return sorted(found, key=lambda project: project.slug)

    def note_uses(self, uses: Sequence[Use]) -> None:
        if uses:
            committed(self.db, _noting(uses))

    def served(self, session: str, user: str) -> int:
        return self.db.counted("served", "session = $id AND user = $user", id=session, user=user)

    def sessions(self, user: str, project: str | None, limit: int) -> list[str]:
        query = f"""SELECT key, started_at FROM session WHERE user = $user AND project = $project
            ORDER BY started_at DESC, key DESC LIMIT {limit}"""
        return [row["key"] for row in self.db.rows(query, user=user, project=project)]

    def finished(self, user: str, project: str | None) -> list[str]:
        query = """SELECT key, ended_at FROM session
            WHERE user = $user AND reflected = false AND project = $project AND ended_at != NULL ORDER BY ended_at"""
        return [row["key"] for row in self.db.rows(query, user=user, project=project)]

    def mark_reflected(self, session: str, user: str) -> None:
        batch = Batch()
        batch.add("UPDATE $? SET reflected = true RETURN NONE", record("session", [session, user]))
        committed(self.db, batch)

    def run(self, id: str) -> Run | None:
        row = self.db.row(f"SELECT {_RUN} FROM $run", run=[record("run", id)])
        return run_of(row) if row else None

    def latest_run(self, scope: str) -> Run | None:
        query = f"SELECT {_RUN} FROM run WHERE scope = $scope ORDER BY at DESC, id DESC LIMIT 1"
        row = self.db.row(query, scope=scope)
        return run_of(row) if row else None

    def runs(self, limit: int) -> list[Run]:
        return [run_of(row) for row in self.db.rows(f"SELECT {_RUN} FROM run ORDER BY at DESC, id DESC LIMIT {limit}")]


def _noting(uses: Sequence[Use]) -> Batch:
    batch = Batch()
    accesses: dict[str, dict[str, Any]] = {}
    sessions: dict[tuple[str, str], dict[str, Any]] = {}
    served: dict[tuple[str, str, str], dict[str, Any]] = {}
    for use in uses:
        for memory in use.memories:
            before = accesses.get(memory, {"count": 0})
            accesses[memory] = {"id": memory, "count": before["count"] + 1, "last": use.at}
        if use.session is not None:
            key = use.session, use.user
            sessions.setdefault(key, _unknown(use.session, use))["recalls"] += 1
            served.update({(*key, memory): served_row(*key, memory) for memory in use.memories})
    batch.add("LET $there = (SELECT VALUE id.id() FROM $?)", records("memory", accesses))
    batch.add(
        """INSERT INTO access $?.filter(|$row| $row.id IN $there)
           ON DUPLICATE KEY UPDATE count += $input.count, last = $input.last RETURN NONE""",
        list(accesses.values()),
    )
    batch.insert("session", list(sessions.values()), "recalls += $input.recalls")
    if served:
        batch.add("INSERT IGNORE INTO served $? RETURN NONE", list(served.values()))
    return batch


def _unknown(id: str, use: Use) -> dict[str, Any]:
    """A session that somebody recalled in before anything was stored in it."""
    return session_row(Session(id, use.at, user=use.user))


def served_row(session: str, user: str, memory: str) -> dict[str, Any]:
    return {"id": [session, user, memory], "session": session, "user": user, "memory": memory}


def project_row(project: Project, slug: str) -> dict[str, Any]:
    return {"id": project.id, "slug": slug, "path": project.path, "created_at": project.created}


def session_row(session: Session) -> dict[str, Any]:
    """To be inserted with `SESSION_AGAIN`: what is there may have been recalled in at any moment."""
    return {
        "id": [session.id, session.user],
        "key": session.id,
        "user": session.user,
        "project": session.project,
        "started_at": session.started,
        "ended_at": session.ended,
        "summary": session.summary,
        "recalls": 0,
        "reflected": False,
    }


def run_row(run: Run) -> dict[str, Any]:
    """To be inserted with `RUN_AGAIN`."""
    return {
        "id": run.id,
        "scope": run.scope,
        "strategy": run.strategy,
        "at": run.at,
        "made": list(run.made),
        "sources": list(run.sources),
        "analysed": run.analysed,
        "undone": run.undone,
        "metrics": json.dumps(run.metrics, ensure_ascii=False),
    }


def session_of(row: Mapping[str, Any]) -> Session:
    return Session(
        id=row["key"],
        started=row["started_at"],
        project=row["project"],
        user=row["user"],
        ended=row["ended_at"],
        summary=row["summary"],
        memory_count=row["memory_count"],
        recalls=row["recalls"],
    )


def project_of(row: Mapping[str, Any]) -> Project:
    return Project(row["id"], row["slug"], row["path"], row["created_at"])


def run_of(row: Mapping[str, Any]) -> Run:
    return Run(
        id=row["id"],
        scope=row["scope"],
        strategy=row["strategy"],
        at=row["at"],
        made=tuple(row["made"]),
        sources=tuple(row["sources"]),
        analysed=row["analysed"],
        undone=row["undone"],
        metrics=json.loads(row["metrics"]),
    )
