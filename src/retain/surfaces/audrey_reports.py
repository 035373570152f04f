"""The bodies of the audrey contract: bare ids, whose word a memory is, and how far to trust it."""

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from retain.domain.changes import Contradiction
from retain.domain.memory import Memory, MemoryId
from retain.domain.time import iso
from retain.domain.trust import provenance_of
from retain.surfaces import render, trust_reports
from retain.surfaces.render import Body
from retain.surfaces.reports import redacted

if TYPE_CHECKING:
    from retain.engine.trust.disputes import Dispute, Resolved
    from retain.engine.trust.encoding import Encoded
    from retain.engine.trust.principles import Principles
    from retain.engine.trust.recalling import TrustAnswer, Trusted
    from retain.engine.trust.trust import Introspection


def encoded(done: "Encoded") -> Body:
    """What was stored, as it was stored, and what it did to what was known; only what there is of that."""
    memory, told = done.memory, done.remembered
    extra: Body = {
        "reinforced": told.reinforced,
        "supports": list(done.supports),
        "contradicts": [_contradicted(each, memory.id) for each in told.contradicts],
        "reopened": [_reopened(each) for each in done.reopened],
    }
    body: Body = {"id": memory.id, **render.content(memory, render.MOST_CHARS), "source": provenance_of(memory).value}
    body |= {name: value for name, value in extra.items() if value}
    return body | render.pending(told) | {"warnings": render.warnings(*told.warnings, redacted(told.redacted))}


def recalled(answer: "TrustAnswer", limit: int, *, explain: bool) -> Body:
    """What is awake, best first, then what sleeps, as far as there is room for it."""
    shown = (*answer.hits, *answer.dormant)[:limit]
    room = max(render.FEWEST_CHARS, render.MOST_CHARS // max(len(shown), 1))
    rows = [_hit(hit, room) | (_explained(hit) if explain else {}) for hit in shown]
    return {"results": rows, "count": len(rows), "warnings": render.warnings(*answer.warnings)}


def consolidated(done: "Principles") -> Body:
    status = "lost_to_another_run" if done.lost_to else "completed" if done.made or done.extended else "nothing_to_do"
    body: Body = {
        "runId": done.run,
        "episodesEvaluated": done.evaluated,
        "clustersFound": done.clusters,
        "principlesExtracted": len(done.made),
        "status": status,
        "principlesExtended": len(done.extended),
        "principles": [_principle(memory) for memory in (*done.made, *done.extended)],
    }
    return body | {"by": done.by, "warnings": render.warnings(*done.warnings)}


def introspected(found: "Introspection") -> Body:
    return {
        **found.kinds,
        "causalLinks": found.causal_links,
        "dormant": found.dormant,
        "contradictions": found.contradictions,
        "lastConsolidation": iso(found.last_consolidation) if found.last_consolidation else None,
        "totalConsolidationRuns": found.runs,
    }


def contradictions(found: "Sequence[Dispute]", total: int) -> Body:
    return {"contradictionList": [trust_reports.dispute(each, _bare) for each in found], "contradictionsTotal": total}


def resolved(done: "Resolved") -> Body:
    return trust_reports.resolved(done, _bare)


def _bare(id: MemoryId) -> str:
    return id


def _hit(hit: "Trusted", room: int) -> Body:
    memory, known = hit.stored.memory, hit.known
    body: Body = {
        "id": memory.id,
        **render.content(memory, room),
        "type": memory.kind.value,
        "confidence": round(known.confidence.total, 4),
        "score": round(hit.score, 4),
        "source": known.provenance.value,
        "createdAt": iso(memory.created),
        "similarity": round(hit.similarity, 4),
    }
    return body | render.ended(memory, _bare) | render.standing(hit.stored, _bare)


def _explained(hit: "Trusted") -> Body:
    """The parts of a confidence by name, and what was counted for them."""
    known = hit.known
    parts = {each.name: round(getattr(known.confidence, each.name), 4) for each in fields(known.confidence)}
    # An earlier rival does not speak against what was said after it: those are listed as `disputed`.
    counted = {"supporting": known.supporting, "contradicting": len(known.against), "crowding": known.crowding}
    return {"explanation": parts | counted}


def _principle(memory: Memory) -> Body:
    text = render.content(memory, render.MOST_CHARS // 10)
    return {"id": memory.id, **text, "type": memory.kind.value, "evidence": list(memory.derived_from)}


def _contradicted(found: Contradiction, new: MemoryId) -> Body:
    return {"id": found.other(new), "contradiction_id": found.id, "why": found.detail}


def _reopened(found: Contradiction) -> Body:
    return {"contradiction_id": found.id, "older": found.older, "newer": found.newer, "why": found.detail}
