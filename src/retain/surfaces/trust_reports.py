"""Disputes as the JSON that programs are given."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from retain.domain.memory import Memory
from retain.domain.time import iso
from retain.domain.trust import provenance_of
from retain.surfaces import render
from retain.surfaces.render import Body, memory_id

if TYPE_CHECKING:
    from retain.engine.trust.disputes import Dispute, Resolved

MOST_CHARS = 1000  # of either side

Dress = Callable[[str], str]


def dispute(one: "Dispute", dress: Dress = memory_id) -> Body:
    """A contradiction with both sides; with what was decided, once it is, and what was before it was reopened."""
    found = one.contradiction
    body: Body = {
        "contradiction_id": found.id,
        "state": found.state.value,
        "kind": found.kind,
        "why": found.detail,
        "found_by": found.found_by,
        "found_at": iso(found.found),
        "older": _side(one.older, dress),
        "newer": _side(one.newer, dress),
        "resolution": one.resolution,
    }
    decided: Body = {
        "winner": dress(found.winner) if found.winner else None,
        "conditions": found.conditions,
        "explanation": found.explanation,
        "resolved_at": iso(found.resolved) if found.resolved else None,
        "resolved_by": found.resolved_by,
    }
    return body | {name: value for name, value in decided.items() if value is not None}


def resolved(done: "Resolved", dress: Dress = memory_id) -> Body:
    """What was decided, by whom, and what it means for the two memories."""
    found, verdict = done.dispute.contradiction, done.verdict
    body: Body = {
        "resolution": verdict.resolution,
        "conditions": verdict.conditions,
        "explanation": verdict.explanation,
        "contradiction_id": found.id,
        "winner": dress(found.winner) if found.winner else None,
        "loser": dress(found.other(found.winner)) if found.winner else None,
        "by": done.by,
    }
    return body | ({"also_resolved": list(done.followed)} if done.followed else {})


def _side(memory: Memory, dress: Dress) -> Body:
    body: Body = {
        "id": dress(memory.id),
        **render.content(memory, MOST_CHARS),
        "source": provenance_of(memory).value,
        "event_time": iso(memory.event_time),
        "state": memory.status.state.value,
    }
    return body | ({"superseded_by": dress(memory.status.successor)} if memory.status.successor else {})
