"""Into a batch: all of a plan but memories and graph."""

from collections.abc import Collection, Sequence
from typing import Any

from retain.domain.changes import Changes, Contradiction
from retain.domain.graph import Tie
from retain.domain.memory import MemoryId
from retain.domain.session import Project
from retain.stores.naming import free_slug
from retain.stores.surreal import disputes
from retain.stores.surreal.cursors import CURSOR_AGAIN, cursor_row
from retain.stores.surreal.link.database import Batch
from retain.stores.surreal.planning import Known
from retain.stores.surreal.sessions import RUN_AGAIN, SESSION_AGAIN, project_row, run_row, session_row
from retain.stores.surreal.work import PROFILE_AGAIN, WORK_AGAIN, profile_row, work_row


def record_all(batch: Batch, changes: Changes, known: Known, there: Collection[MemoryId]) -> None:
    """`there` are the memories that there are once the plan is written."""
    _projects(batch, changes.projects, known)
    batch.insert("profile", [profile_row(profile) for profile in changes.profiles], PROFILE_AGAIN)
    batch.insert("session", [session_row(session) for session in changes.sessions], SESSION_AGAIN)
    batch.insert("work", [work_row(work) for work in changes.works], WORK_AGAIN)
    batch.insert("cursor", [cursor_row(cursor) for cursor in changes.cursors], CURSOR_AGAIN)
    batch.insert("run", [run_row(run) for run in changes.runs], RUN_AGAIN)
    _contradictions(batch, changes.contradictions, known, there)
    ties = [_tie(tie) for tie in changes.ties if tie.source in there and tie.target in there]
    batch.insert("tie", ties, "created_at = $input.created_at, strength = $input.strength")


def _projects(batch: Batch, projects: Sequence[Project], known: Known) -> None:
    """A project is there once and keeps the slug it got first."""
    slugs = dict(known.projects)
    rows = []
    for project in projects:
        if project.id not in slugs:
            slugs[project.id] = free_slug(project, slugs.values(), known.names)
            rows.append(project_row(project, slugs[project.id]))
    batch.insert("project", rows)


def _contradictions(batch: Batch, found: Sequence[Contradiction], known: Known, there: Collection[MemoryId]) -> None:
    """Another process may have destroyed one of the memories between the plan and now."""
    rows: dict[tuple[MemoryId, MemoryId], dict[str, Any]] = {}
    for one in found:
        if one.older in there and one.newer in there:
            pair = one.older, one.newer
            rows[pair] = disputes.saved(rows.get(pair) or known.contradictions[pair], one)
    batch.insert("contradiction", list(rows.values()), disputes.CONTRADICTION_AGAIN)


def _tie(tie: Tie) -> dict[str, Any]:
    return {
        "id": [tie.source, tie.target, tie.type],
        "source": tie.source,
        "target": tie.target,
        "type": tie.type,
        "created_at": tie.created,
        "strength": float(tie.strength),
    }
