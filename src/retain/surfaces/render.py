"""Values as the JSON that clients are given."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from retain.domain.memory import Memory, Source, Stored
from retain.domain.recall import Hit, Warning
from retain.domain.standing import Rival
from retain.domain.time import iso

if TYPE_CHECKING:
    from retain.engine.remember import Remembered
    from retain.engine.revise import Revised

# One huge memory must not fill a context; all of them together stay well under the client's limit.
MOST_CHARS = 40_000
FEWEST_CHARS = 200
RIVAL_CHARS = 200  # of what disputes a memory; its id is there to read on

Body = dict[str, object]


def memory_id(id: str) -> str:
    return f"memory:{id}"


def warnings(*them: Warning | None) -> list[Body]:
    return [{"code": w.code, "message": w.message} for w in them if w is not None]


def pending(done: "Remembered | Revised") -> Body:
    """Says that what a text contradicts is not known yet; the next recall tells what was found."""
    return {"contradictions_pending": True} if done.contradictions_pending else {}


def hits(found: Sequence[Hit], max_chars: int, *, explain: bool) -> list[Body]:
    room = max(FEWEST_CHARS, min(max_chars, MOST_CHARS // max(len(found), 1)))
    return [_hit(hit, room, explain=explain) for hit in found]


def memories(found: Sequence[Stored], max_chars: int = 300) -> list[Body]:
    """A light row each, for lists beside the real answer."""
    return [
        {
            "id": memory_id(stored.memory.id),
            **content(stored.memory, max_chars),
            "type": stored.memory.kind.value,
            "scope": stored.memory.scope.value,
            **standing(stored),
        }
        for stored in found
    ]


def whole(stored: Stored) -> Body:
    """Everything about one memory."""
    memory = stored.memory
    body: Body = {
        "id": memory_id(memory.id),
        "content": memory.text,
        "type": memory.kind.value,
        "scope": memory.scope.value,
        "importance": memory.importance,
        "tags": list(memory.tags),
        "source": source(memory.source),
        "metadata": dict(memory.metadata),
        "session_id": memory.session,
        "created_at": iso(memory.created),
        "updated_at": iso(memory.updated),
        "event_time": iso(memory.event_time),
        "access_count": stored.accesses,
        "version": memory.version,
        "state": memory.status.state.value,
        "derived_from": [memory_id(id) for id in memory.derived_from],
    }
    if memory.status.reason:
        body["reason"] = memory.status.reason
    if memory.status.successor:
        body["superseded_by"] = memory_id(memory.status.successor)
    return body | standing(stored)


def standing(stored: Stored, dress: Callable[[str], str] = memory_id) -> Body:
    """What disputes a memory, with ids as `dress` writes them, and when it holds; only what there is of it."""
    if stored.standing is None:
        return {}
    rivals = [_rival(rival, dress) for rival in stored.standing.rivals]
    body: Body = {"disputed": rivals} if rivals else {}
    return body | {"conditions": "; ".join(stored.standing.conditions)} if stored.standing.conditions else body


def _rival(rival: Rival, dress: Callable[[str], str]) -> Body:
    """With the id under which somebody can decide it, and which of the two it is."""
    found = rival.contradiction
    body: Body = {"id": dress(rival.memory), "contradiction_id": found.id, "why": found.detail}
    return body | {"content": rival.said(RIVAL_CHARS), "said": iso(rival.last_said), "newer": rival.is_newer}


def ended(memory: Memory, dress: Callable[[str], str] = memory_id) -> Body:
    """Since when something is no longer so, and what took its place; nothing of what is."""
    status = memory.status
    if memory.is_active:
        return {}
    body: Body = {"state": status.state.value}
    if status.successor:
        body["superseded_by"] = dress(status.successor)
    return body | ({"since": iso(status.since)} if status.since else {})


def content(memory: Memory, max_chars: int) -> Body:
    """The text, or as much of it as there is room for, saying how much is missing."""
    if len(memory.text) <= max_chars:
        return {"content": memory.text}
    return {"content": memory.text[:max_chars] + "…", "truncated": True, "characters": len(memory.text)}


def source(given: Source) -> Body:
    fields: Mapping[str, object] = {
        "tool": given.tool,
        "file": given.file,
        "conversation_turn": given.conversation_turn,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _hit(hit: Hit, room: int, *, explain: bool) -> Body:
    memory = hit.stored.memory
    body: Body = {
        "id": memory_id(memory.id),
        **content(memory, room),
        "type": memory.kind.value,
        "scope": memory.scope.value,
        "importance": memory.importance,
        "relevance_score": round(hit.relevance, 4),
        "score": round(hit.score, 4),
        "tags": list(memory.tags),
        "created_at": iso(memory.created),
        "access_count": hit.stored.accesses,
        "source": source(memory.source),
    }
    body |= ended(memory)
    if memory.consolidated:
        body["consolidated"] = True
    if explain:
        body["explanation"] = {name: round(value, 4) for name, value in hit.terms.items()}
    return body | standing(hit.stored)
