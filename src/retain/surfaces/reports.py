"""What an act or a state is told as: the bodies of results that are more than one row of fields."""

from collections.abc import Iterator
from typing import Any

from typing_extensions import TypedDict

from retain.app import Retain
from retain.domain.handing import safe
from retain.domain.memory import MAX_LABEL, Memory, MemoryId
from retain.domain.recall import Recalled, Warning
from retain.domain.time import iso
from retain.engine.context import Block
from retain.engine.knowledge.walk import GraphAnswer, GraphQuestion
from retain.engine.lifecycle.consolidation import Consolidated
from retain.engine.remember import Remembered
from retain.engine.revise import Revised
from retain.engine.sessions import Activity
from retain.errors import shorten
from retain.surfaces import degraded, render
from retain.surfaces.render import Body, memory_id
from retain.version import __version__
from retain.whereabouts import address

MOST_CHARS = 2000  # of one memory, unless the caller wants more
MOST_EDGES = 25  # of one entity


class ContextBody(TypedDict):
    context_block: str
    memories_used: int
    tokens_used: int
    truncated: bool


class StatusBody(TypedDict):
    connection: dict[str, Any]  # Any: a schema for programs, which need the sections and read what they know
    counts: dict[str, Any]
    storage: dict[str, Any]
    current_session: dict[str, Any]


def remembered(done: Remembered, due: Warning | None) -> Body:
    memory = done.memory
    body: Body = {
        "memory_id": memory_id(memory.id),
        "status": "reinforced" if done.reinforced else "stored",
        "embedding_generated": done.embedded,
        "graph_edges_created": done.links_given,
        "graph_edges_inferred": done.links_inferred,
        "scope": memory.scope.value,
        "type": memory.kind.value,
    }
    if not done.embedded:
        body["searchable_by"] = "keyword_only"
    if done.chunks_missing:
        body["indexing"] = "partial"
    if done.contradicts:
        body["contradicts"] = _contradicts(done)
    return body | render.pending(done) | {"warnings": render.warnings(*done.warnings, redacted(done.redacted), due)}


def revised(done: Revised) -> Body:
    body: Body = {
        "memory_id": memory_id(done.memory.id),
        "updated_fields": list(done.fields),
        "re_embedded": done.embedded,
        "version": done.memory.version,
    }
    if done.contradicts:
        body["contradicts"] = _contradicts(done)
    return body | render.pending(done) | {"warnings": render.warnings(*done.warnings, redacted(done.redacted))}


def _contradicts(done: Remembered | Revised) -> list[Body]:
    own = done.memory.id
    return [
        {"memory_id": memory_id(each.other(own)), "contradiction_id": each.id, "why": each.detail}
        for each in done.contradicts
    ]


def recalled(answer: Recalled, max_chars: int = MOST_CHARS, *, explain: bool) -> Body:
    return {
        "memories": render.hits(answer.hits, max_chars, explain=explain),
        "total_matched": answer.matched,
        **({} if answer.exact else {"total_is_lower_bound": True}),
        "strategy_used": answer.strategy.value,
        "warnings": render.warnings(*answer.warnings),
    }


def context(block: Block) -> Body:
    return {
        "context_block": block.text,
        "memories_used": len(block.memories),
        "tokens_used": block.tokens,
        "truncated": block.truncated,
        "warnings": render.warnings(*block.warnings),
    }


def moved(memory: Memory) -> Body:
    """A memory that was forgotten or brought back."""
    status = memory.status
    return {"memory_id": memory_id(memory.id), "status": status.state.value, "reason": status.reason, "warnings": []}


def graph(answer: GraphAnswer, question: GraphQuestion) -> Body:
    notes = []
    if question.entity and not answer.nodes:
        near = f"; known are {', '.join(answer.close_names)}" if answer.close_names else ""
        asked = shorten(question.entity)
        notes.append(Warning("unknown_entity", f"nothing is remembered about an entity {asked}{near}"))
    if answer.known_relations is not None:
        known = ", ".join(answer.known_relations) or "none yet"
        notes.append(Warning("unknown_relationship", f"nothing here is {question.relation}; known are {known}"))
    notes += _left_out(answer)
    body: Body = {
        "entities": [
            {
                "name": node.entity.name,
                "type": node.entity.type,
                "relationships": [
                    {"type": edge.type, "target": edge.other, "direction": edge.direction.value}
                    | ({"stale": True} if edge.stale else {})
                    for edge in node.edges[:MOST_EDGES]
                ],
                "memory_count": node.memories,
            }
            for node in answer.nodes
        ],
        "memories": _attached(answer),
        "graph_stats": {
            "entities_traversed": answer.seen.entities_traversed,
            "relationships_found": answer.seen.relationships_found,
            "depth_reached": answer.seen.depth_reached,
        },
    }
    if answer.overview:
        body["overview"] = {
            "entity_types": answer.overview.entity_types,
            "relationship_types": answer.overview.relation_types,
        }
    return body | {"warnings": render.warnings(*notes)}


def _left_out(answer: GraphAnswer) -> Iterator[Warning]:
    """What is there and not shown: `limit` counts entities alone."""
    if answer.more:
        told = f"the newest {len(answer.memories)} memories are shown, and there are more; recall_memories finds them"
        yield Warning("truncated", told)
    many = [node.entity.name for node in answer.nodes if len(node.edges) > MOST_EDGES]
    if many:
        told = f"of {', '.join(many[:5])} the {MOST_EDGES} heaviest relationships are shown"
        yield Warning("truncated", f"{told}; relationship_type narrows them")


def _attached(answer: GraphAnswer) -> list[Body]:
    """The memories beside the entities that they speak of, and how, where somebody said so."""
    said: dict[MemoryId, list[Body]] = {}
    for memory, type, name in answer.said:
        said.setdefault(memory, []).append({"type": type, "entity": name})
    rows = zip(render.memories(answer.memories), answer.memories, strict=True)
    return [row | ({"relationships": told} if (told := said.get(one.memory.id)) else {}) for row, one in rows]


def consolidated(done: Consolidated, *, dry_run: bool) -> Body:
    body: Body = {
        "consolidated_memories": [
            {
                "id": None if dry_run and memory.version == 1 else memory_id(memory.id),
                "content": memory.text,
                "type": memory.kind.value,
                "derived_from": [memory_id(id) for id in memory.derived_from],
                "scope": memory.scope.value,
            }
            for memory in done.memories
        ],
        "patterns_detected": [
            {"pattern": p.pattern, "frequency": p.frequency, "suggested_scope": p.suggested_scope.value}
            # A dry run writes none, so there is nothing yet that an id could name.
            | ({} if dry_run else {"memory_id": memory_id(p.memory)})
            for p in done.patterns
        ],
        "session_stats": {
            "memories_analyzed": done.analysed,
            "consolidated_into": len(done.memories),
            "patterns_found": len(done.patterns),
        },
        "dry_run": dry_run,
    }
    if done.run:
        body["run_id"] = done.run
    return body | {"warnings": render.warnings(*done.warnings)}


def status(app: Retain) -> Body:
    caller = app.caller()
    report = app.engine.status(caller)
    settings, counts, session = app.settings, report.counts, report.session
    standing = app.notices()
    notes = [note for note in (*report.notices, *app.loaded.warnings) if note not in {n.message for n in standing}]
    return {
        "connection": {
            "status": report.connection.reach.value,
            "mode": settings.deployment_mode,
            "path": address(settings),
            "uptime_seconds": round(report.uptime),
            "version": report.connection.version,
            "retain_version": __version__,
            **degraded.state(report.connection),
        },
        "counts": {
            "total": counts.total,
            "by_scope": {name: counts.by_scope.get(name, 0) for name in ("session", "project", "user")},
            "by_type": {name: counts.by_kind.get(name, 0) for name in ("episodic", "semantic", "procedural")},
            "forgotten": counts.by_state.get("forgotten", 0),
            "entities": counts.entities,
            "relationships": counts.relations,
            "code_chunks": counts.code_chunks,
        },
        "storage": {
            "database_size_bytes": report.size,
            "embedding_dimensions": report.dimensions,
            "embedding_model": report.model,
            "embedding_state": report.model_state.name,
            "embedding_reason": report.model_state.why,
            "keyword_only": counts.unembedded,
            "not_compared": counts.uncompared,
        },
        "current_session": {
            "session_id": caller.session,
            "memories_this_session": session.memory_count if session else 0,
            "started_at": iso(session.started if session else app.started),
        },
        "project": caller.project.path if caller.project else None,
        "warnings": render.warnings(
            *(Warning(notice.code, notice.message) for notice in standing), *(Warning("notice", note) for note in notes)
        ),
    }


def activity(app: Retain, done: Activity | None) -> str:
    """The current session as Markdown."""
    caller = app.caller()
    began = done.session.started if done else app.started
    kinds = done.kinds if done else {}
    listed = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    topics = [safe(topic, MAX_LABEL) for topic in done.topics] if done else []
    return "\n".join(
        [
            "## Session Memory Summary",
            f"**Session:** {caller.session} | Started: {began:%Y-%m-%d %H:%M} UTC",
            f"**Memories stored:** {done.stored if done else 0}" + (f" ({listed})" if listed else ""),
            f"**Memories consolidated:** {done.consolidated if done else 0}",
            f"**Memories recalled:** {done.recalls if done else 0} queries, "
            f"{done.served if done else 0} unique memories served",
            f"**Key topics:** {', '.join(topics) or 'none yet'}",
        ]
    )


def redacted(found: tuple[str, ...]) -> Warning | None:
    if not found:
        return None
    return Warning("redacted", f"removed before storing: {', '.join(dict.fromkeys(found))}")
