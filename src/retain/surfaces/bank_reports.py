"""The bodies of the bank contract: ids as mem_<id>, proj_<id> and sess_<id>, a title and a type for every entry."""

import os
from collections.abc import Sequence
from pathlib import Path

from retain.domain.category import shown_as
from retain.domain.ids import dressed
from retain.domain.listing import Card, heading
from retain.domain.memory import Memory, MemoryId, Stored
from retain.domain.recall import Warning
from retain.domain.session import Profile
from retain.domain.time import iso
from retain.domain.work import Work, WorkState
from retain.engine.lookup.facets import Facets
from retain.engine.lookup.matching import Match, Matches
from retain.engine.lookup.suggesting import Suggestion
from retain.engine.remember import Remembered
from retain.engine.revise import Revised
from retain.engine.tracking.projects import Inited
from retain.engine.tracking.work import Completed, Logged, Started, Told
from retain.surfaces import render
from retain.surfaces.render import Body
from retain.surfaces.reports import redacted

MOST_CHARS = 2000  # of one text among several; memory_get gives the whole
MOST_SHOWN = 200  # entries of a log; all of them would fill a context
MOST_TAGS = 100  # of a facet


def memory_id(id: str) -> str:
    return dressed("mem", id)


def project_id(id: str) -> str:
    return dressed("proj", id)


def created(done: Remembered) -> Body:
    body: Body = {"id": memory_id(done.memory.id), "created_at": iso(done.memory.created)}
    return body | _similar([done.similar] if done.similar else []) | _remarks(done)


def updated(done: Revised) -> Body:
    return {"updated_at": iso(done.memory.updated), **_remarks(done)}


def memory(stored: Stored, similar: Sequence[MemoryId]) -> Body:
    """One entry with its whole text."""
    found = stored.memory
    project = found.place.project
    body: Body = {
        "id": memory_id(found.id),
        "title": _title(found),
        "content": found.text,
        "type": _type(found),
        "tags": list(found.tags),
        "project_id": project_id(project) if project else None,
        "session_id": found.session,
        "created_at": iso(found.created),
        "updated_at": iso(found.updated),
    }
    if not found.is_active:
        body |= {"state": found.status.state.value, "reason": found.status.reason}
    if found.status.successor:
        body["superseded_by"] = memory_id(found.status.successor)
    return body | _similar(similar) | render.standing(stored, memory_id)


def deleted(holding: Sequence[Path]) -> Body:
    body: Body = {"deleted": True}
    return body | {"still_in_backups": [str(path) for path in holding]} if holding else body


def listed(cards: Sequence[Card], total: int, limit: int, offset: int) -> Body:
    rows = [
        {"id": memory_id(card.id), "title": card.heading, "type": card.type, "tags": list(card.tags)}
        | {"created_at": iso(card.created)}
        for card in cards
    ]
    return {"memories": rows, "total": total, "offset": offset, "limit": limit}


def searched(answer: Matches) -> Body:
    room = _room(answer.hits)
    rows = [_match(hit, room) for hit in answer.hits]
    return {"results": rows, "total": answer.total, "warnings": render.warnings(*answer.warnings)}


def faceted(answer: Matches, *, with_facets: bool) -> Body:
    body = searched(answer)
    if not with_facets:
        return body
    many = len(answer.facets.tags) > MOST_TAGS
    note = f"the {MOST_TAGS} most frequent of {len(answer.facets.tags)} tags are shown"
    notes = render.warnings(*answer.warnings, Warning("tags_cut", note) if many else None)
    return body | {"facets": facets(answer.facets), "warnings": notes}


def facets(found: Facets) -> Body:
    shown = dict(list(found.tags.items())[:MOST_TAGS])
    return {"types": dict(found.types), "tags": shown, "content_length": dict(found.lengths)}


def explained(answer: Matches) -> Body:
    rows = [_explained(hit) for hit in answer.hits]
    return {"results": rows, "total": answer.total, "warnings": render.warnings(*answer.warnings)}


def suggested(found: Sequence[Suggestion]) -> Body:
    return {
        "suggestions": [{"query": each.query, "reason": each.reason, "confidence": each.confidence} for each in found]
    }


def inited(done: Inited, given: str) -> Body:
    """`given` is the path as the caller wrote it."""
    profile = done.profile
    path, notes = profile.project.path, []
    if os.path.realpath(os.path.expanduser(given)) != path:  # noqa: PTH111 - as folders.py reads a path
        notes.append(Warning("path_resolved", f"{given} belongs to the project in {path}, so that one was initialised"))
    if done.renamed_from:
        notes.append(Warning("renamed", f"this project was called {done.renamed_from} until now"))
    elif done.existed:
        notes.append(Warning("already_initialised", "this project was initialised before; its memories are kept"))
    body: Body = {"id": project_id(profile.project.id), "created_at": iso(profile.created), "name": profile.name}
    return body | {"path": path, "warnings": render.warnings(*notes, redacted(done.redacted))}


def project(profile: Profile) -> Body:
    return {
        "id": project_id(profile.project.id),
        "name": profile.name,
        "path": profile.project.path,
        "description": profile.description,
        "created_at": iso(profile.created),
        "updated_at": iso(profile.updated),
    }


def project_row(profile: Profile) -> Body:
    whole = project(profile)
    return {name: whole[name] for name in ("id", "name", "path", "created_at")}


def projects(found: Sequence[Profile], total: int, limit: int, offset: int) -> Body:
    return {"projects": list(map(project_row, found)), "total": total, "offset": offset, "limit": limit}


def started(done: Started) -> Body:
    aborted = [work.id for work in done.aborted]
    titles = ", ".join(f"{work.id} ({work.title})" for work in done.aborted)
    note = Warning("session_aborted", f"still active in this project, and aborted now: {titles}") if aborted else None
    body: Body = {"id": done.work.id, "started_at": iso(done.work.started), "aborted_sessions": aborted}
    return body | {"warnings": render.warnings(note, redacted(done.redacted))}


def logged(done: Logged) -> Body:
    body: Body = {"logged_at": iso(done.memory.created), "session_id": done.work.id, "id": memory_id(done.memory.id)}
    return body | {"warnings": render.warnings(*done.warnings, redacted(done.redacted))}


def completed(done: Completed) -> Body:
    work = done.work
    body: Body = {"completed_at": _completed_at(work), "duration_minutes": work.minutes, "session_id": work.id}
    return body | {"warnings": render.warnings(*done.warnings, redacted(done.redacted))}


def session(told: Told) -> Body:
    """A session with its log, oldest first; of a very long log the newest entries."""
    shown = told.entries[-MOST_SHOWN:]
    cut = len(told.entries) - len(shown)
    note = Warning("log_cut", f"{cut} earlier entries are left out; memory_search finds them") if cut else None
    room = _room(shown)
    return {
        **session_row(told.work),
        "completed_at": _completed_at(told.work),
        "description": told.work.description,
        "tags": list(told.work.tags),
        "progress": [_entry(each, room) for each in shown],
        "outcome": told.outcome,
        "summary": told.summary,
        "warnings": render.warnings(note),
    }


def session_row(work: Work) -> Body:
    body: Body = {
        "id": work.id,
        "title": work.title,
        "project_id": project_id(work.project),
        "status": work.state.value,
        "started_at": iso(work.started),
        "duration_minutes": work.minutes,
    }
    if work.state is WorkState.ABORTED and work.ended:
        body["aborted_at"] = iso(work.ended)
    return body | {"completed_at": done} if (done := _completed_at(work)) else body


def sessions(found: Sequence[Work], total: int) -> Body:
    return {"sessions": list(map(session_row, found)), "total": total}


def aborted(works: Sequence[Work]) -> Body:
    return {"aborted_sessions": [work.id for work in works], "count": len(works)}


def _completed_at(work: Work) -> str | None:
    return iso(work.ended) if work.state is WorkState.COMPLETED and work.ended else None


def _entry(said: Memory, room: int) -> Body:
    body: Body = {"timestamp": iso(said.created), "type": said.metadata.get("entry"), **render.content(said, room)}
    return body | {"tags": list(said.tags), "id": memory_id(said.id)}


def _match(hit: Match, room: int) -> Body:
    found = hit.stored.memory
    return {
        "id": memory_id(found.id),
        "title": _title(found),
        **render.content(found, room),
        "type": _type(found),
        "tags": list(found.tags),
        "similarity": hit.similarity,
        "created_at": iso(found.created),
        "updated_at": iso(found.updated),
        **({} if found.is_active else {"state": found.status.state.value}),
        **render.standing(hit.stored, memory_id),
    }


def _explained(hit: Match) -> Body:
    found = hit.stored.memory
    return {
        "id": memory_id(found.id),
        "title": _title(found),
        "relevance_score": hit.relevance,
        "score_breakdown": dict(hit.why.breakdown),
        "match_reasons": list(hit.why.reasons),
        "highlighted_content": hit.why.highlight,
        "type": _type(found),
        "tags": list(found.tags),
        "similarity": hit.similarity,
        "created_at": iso(found.created),
        **render.standing(hit.stored, memory_id),
    }


def _remarks(done: Remembered | Revised) -> Body:
    notes: Body = {"warnings": render.warnings(*done.warnings, redacted(done.redacted))}
    return {**_contradicts(done), **notes}


def _contradicts(done: Remembered | Revised) -> Body:
    rivals = [{"id": memory_id(each.other(done.memory.id)), "why": each.detail} for each in done.contradicts]
    return ({"contradicts": rivals} if rivals else {}) | render.pending(done)


def _similar(ids: Sequence[MemoryId]) -> Body:
    return {"similar": [memory_id(id) for id in ids]} if ids else {}


def _title(found: Memory) -> str:
    return heading(found.title, found.text)


def _type(found: Memory) -> str:
    return shown_as(found.category, found.kind.value)


def _room(found: Sequence[object]) -> int:
    return max(render.FEWEST_CHARS, min(MOST_CHARS, render.MOST_CHARS // max(len(found), 1)))
