"""The bodies of the graph contract: ids bare, times in ISO 8601, scores beside their parts."""

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from retain.domain.graph import Relation
from retain.domain.memory import Memory, Stored
from retain.domain.recall import KEPT
from retain.domain.time import iso
from retain.engine.knowledge.given import Related
from retain.engine.recall.channels import ChannelAnswer, ChannelHit
from retain.engine.recall.together import Together
from retain.engine.remember import Remembered
from retain.engine.revise import Revised
from retain.engine.status import Report
from retain.ports import Emptied
from retain.surfaces import code_reports, render
from retain.surfaces.render import Body
from retain.surfaces.reports import redacted
from retain.version import __version__

MOST_CHARS = 2000  # of one memory among several; get_memory gives the whole text
# The contract knows three states. A model that nobody has needed yet is loaded with the first call that does; one
# that is off cannot be had.
STATUS = {"ready": "ready", "loading": "loading", "idle": "loading", "off": "error"}


def remembered(done: Remembered) -> Body:
    return {"id": done.memory.id, "status": "reinforced" if done.reinforced else "stored", **_remarks(done)}


def revised(done: Revised) -> Body:
    return memory(done.memory) | _remarks(done)


def memory(found: Memory) -> Body:
    """One memory, its id in the nested form of the contract."""
    return {"id": {"tb": "memories", "id": {"String": found.id}}, "content": found.text, **_fields(found)}


def stored(found: Stored) -> Body:
    return memory(found.memory) | render.standing(found, str)


def rows(found: Sequence[Memory]) -> list[Body]:
    room = _room(found)
    return [{"id": each.id, **render.content(each, room), **_fields(each)} for each in found]


def listed(found: Sequence[Stored]) -> list[Body]:
    plain = rows([each.memory for each in found])
    return [row | render.standing(each, str) for row, each in zip(plain, found, strict=True)]


def deleted(holding: Sequence[Path]) -> Body:
    body: Body = {"deleted": True}
    if holding:
        body["still_in_backups"] = [str(path) for path in holding]
    return body


def searched(answer: ChannelAnswer, query: str) -> Body:
    room = _room(answer.hits)
    found = [
        {"id": hit.id, **render.content(hit.stored.memory, room), "memory_type": hit.stored.memory.kind.value}
        | {"score": _round(hit.score), **render.standing(hit.stored, str)}
        for hit in answer.hits
    ]
    return {"results": found, "count": len(found), "query": query, "warnings": render.warnings(*answer.warnings)}


def recalled(answer: Together, query: str) -> Body:
    room = _room(answer.hits)
    found = [
        _memory_hit(hit, score, room) if isinstance(hit, ChannelHit) else code_reports.beside_memories(hit, score, room)
        for hit, score in answer.hits
    ]
    memories = sum(isinstance(hit, ChannelHit) for hit, _ in answer.hits)
    return {
        "results": found,
        "query": query,
        "subgraph_nodes": answer.nodes,
        "memories_count": memories,
        "code_count": len(found) - memories,
        "warnings": render.warnings(*answer.warnings),
    }


def related(found: Related) -> Body:
    return {
        "entities": [
            {
                "id": entity.id,
                "name": entity.name,
                "entity_type": entity.type,
                "description": entity.description,
                "depth": found.hops[entity.id],
            }
            for entity in found.entities
        ],
        "relations": [_relation(each) for each in found.relations],
        "entity_count": len(found.entities),
        "relation_count": len(found.relations),
        "truncated": found.truncated,
    }


def invalidated(done: Memory | Relation) -> Body:
    body: Body = {"invalidated": True, "valid_until": iso(done.valid_until) if done.valid_until else None}
    if isinstance(done, Memory):
        return body | {"reason": done.status.reason, "superseded_by": done.status.successor}
    return body


def restored(done: Memory) -> Body:
    return {"invalidated": False, "id": done.id, "state": done.status.state.value}


def status(report: Report) -> Body:
    model, counts = report.model_state, report.counts
    embedding: Body = {
        "status": STATUS[model.name],
        "model": report.model,
        "dimensions": report.dimensions,
        "cache_stats": {"hits": report.cache.hits, "misses": report.cache.misses, "size": report.cache.size},
    }
    if model.why:
        embedding["reason"] = model.why
    return {
        "version": __version__,
        "status": "healthy" if not report.notices else "degraded",
        "memories_count": sum(counts.by_state.get(state, 0) for state in KEPT),
        "entities_count": counts.entities,
        "code_chunks_count": counts.code_chunks,
        "embedding": embedding,
        "db_dimension": counts.dimensions or report.dimensions,
        "warnings": [{"code": "notice", "message": note} for note in report.notices],
    }


def emptied(gone: Emptied, backup: Path, *, on_surrealdb: bool) -> Body:
    counts = {
        "memories": gone.memories,
        "entities": gone.entities,
        "relations": gone.relations,
        "code_chunks": gone.code_chunks,
    }
    file = quote(str(backup))
    undo = f"retain copy --from sqlite:{file} --to current" if on_surrealdb else f"retain restore {file}"
    return {"reset": True, "deleted": counts, "backup": str(backup), "undo": undo}


def _remarks(done: Remembered | Revised) -> Body:
    """What the gate found in a text: rivals, secrets, and whether it has vectors."""
    rivals = [{"id": c.other(done.memory.id), "why": c.detail} for c in done.contradicts]
    warnings = render.warnings(*done.warnings, redacted(done.redacted))
    return ({"contradicts": rivals} if rivals else {}) | render.pending(done) | {"warnings": warnings}


def _fields(found: Memory) -> Body:
    body: Body = {
        "memory_type": found.kind.value,
        "event_time": iso(found.event_time),
        "ingestion_time": iso(found.created),
        "valid_from": iso(found.valid_from),
        "valid_until": iso(found.valid_until) if found.valid_until else None,
        "importance_score": found.importance,
        "metadata": dict(found.metadata),
    }
    if not found.is_active:
        body |= {"state": found.status.state.value, "reason": found.status.reason}
    if found.status.successor:
        body["superseded_by"] = found.status.successor
    return body


def _memory_hit(hit: ChannelHit, score: float, room: int) -> Body:
    return {
        "id": hit.id,
        **render.content(hit.stored.memory, room),
        "source": "memory",
        "memory_type": hit.stored.memory.kind.value,
        "score": _round(score),
        "vector_score": _round(hit.vector),
        "bm25_score": _round(hit.words),
        "ppr_score": _round(hit.graph),
        **render.standing(hit.stored, str),
    }


def _relation(relation: Relation) -> Body:
    return {
        "id": relation.id,
        "from_entity": relation.source,
        "to_entity": relation.target,
        "relation_type": relation.type,
        "weight": _round(relation.weight),
        "valid_from": iso(relation.valid_from) if relation.valid_from else None,
        "valid_until": iso(relation.valid_until) if relation.valid_until else None,
        "by_rule": relation.by_rule,
    }


def _room(found: Sequence[object]) -> int:
    """Characters for each text, so that all of them together stay below what a client takes."""
    return max(render.FEWEST_CHARS, min(MOST_CHARS, render.MOST_CHARS // max(len(found), 1)))


def _round(value: float) -> float:
    return round(value, 4)
