"""The bodies of the capture contract: ids as mem_<id>, one of the six types each, and how far it still counts."""

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from retain.app import Retain
from retain.domain.ids import dressed, undress
from retain.domain.memory import Memory, Stored
from retain.domain.recall import Recalled
from retain.domain.time import iso
from retain.engine.ask import Asked
from retain.engine.categories import Census, category_of, confidence_of
from retain.engine.digest import Digest
from retain.engine.remember import Remembered
from retain.engine.succession import predecessors
from retain.surfaces import render
from retain.surfaces.render import Body
from retain.surfaces.reports import redacted

if TYPE_CHECKING:
    from retain.engine.lifecycle.merging import Merged
    from retain.engine.lifecycle.pruning import Pruned

MOST_CHARS = 2000  # of one memory among several
_DRESSED = re.compile(r"\bmemory:([a-z0-9]{20})\b")


def memory_id(id: str) -> str:
    return dressed("mem", id)


def worded(text: str) -> str:
    """Ids in a text as this contract dresses them."""
    return _DRESSED.sub(r"mem_\1", text)


def row(stored: Stored, now: datetime, room: int = MOST_CHARS) -> Body:
    """One memory in the contract's own model."""
    memory = stored.memory
    body: Body = {
        "id": memory_id(memory.id),
        "type": category_of(memory),
        **render.content(memory, room),
        "tags": list(memory.tags),
        "created": iso(memory.created),
        "updated": iso(memory.updated),
        "confidence": round(confidence_of(memory, now), 2),
        "accessCount": stored.accesses,
    }
    if memory.derived_from:
        body["mergedFrom"] = [memory_id(id) for id in memory.derived_from]
    return body | _said_by(memory) | render.standing(stored, memory_id)


def rows(found: Sequence[Stored], now: datetime) -> list[Body]:
    room = max(render.FEWEST_CHARS, min(MOST_CHARS, render.MOST_CHARS // max(len(found), 1)))
    return [row(stored, now, room) for stored in found]


def with_lineage(app: Retain, body: Body, rows: str = "results") -> Body:
    """The same with what each memory took the place of."""
    named = {row["id"]: row for row in body[rows]}  # type: ignore[attr-defined]  # the rows of a body of ours
    known = {id: row for name, row in named.items() if (id := undress(name))}
    for id, before in predecessors(app.engine.parts.store, list(known)).items():
        known[id]["supersedes"] = memory_id(before)
    return body


def listed(found: Sequence[Stored], total: int, now: datetime, offset: int | None = None) -> Body:
    """A page; where the caller can ask for others, the note says how."""
    body: Body = {"results": rows(found, now), "count": len(found), "total": total, "warnings": []}
    beyond = (offset or 0) + len(found)
    if found and total > beyond:
        on = "" if offset is None else f"call again with offset: {beyond}, "
        note = f"{total - beyond} more; {on}narrow it with tags, or ask memory_search"
        body["warnings"] = [{"code": "truncated", "message": note}]
    return body


def searched(answer: Recalled, now: datetime) -> Body:
    found = rows([hit.stored for hit in answer.hits], now)
    scored = [each | {"score": round(hit.score, 4)} for each, hit in zip(found, answer.hits, strict=True)]
    body: Body = {"results": scored, "count": len(scored), "total_matched": answer.matched}
    return body | {"warnings": render.warnings(*answer.warnings)}


def saved(done: Remembered) -> Body:
    memory = done.memory
    body: Body = {
        "id": memory_id(memory.id),
        "status": "reinforced" if done.reinforced else "saved",
        "type": category_of(memory),
        "superseded": [memory_id(id) for id in done.superseded],
    }
    if done.contradicts:
        body["contradicts"] = [{"id": memory_id(c.other(memory.id)), "why": c.detail} for c in done.contradicts]
    return body | render.pending(done) | {"warnings": render.warnings(*done.warnings, redacted(done.redacted))}


def asked(answer: Asked, now: datetime) -> Body:
    """An answer with the memories that it names; without one, why, and all the passages that were found."""
    cited = set(answer.cited)
    sources = [hit.stored for hit in answer.passages if not cited or hit.id in cited]
    told = answer.answer and worded(answer.answer)
    body: Body = {"answer": told, "answered_by": answer.by, "sources": rows(sources, now)}
    if answer.why_not:
        body["why_no_answer"] = answer.why_not
    return body | {"warnings": render.warnings(*answer.warnings)}


def deleted(id: str, holding: Sequence[Path]) -> Body:
    body: Body = {"id": memory_id(id), "deleted": True}
    if holding:
        body["still_in_backups"] = [str(path) for path in holding]
    return body


def merged(done: "Merged") -> Body:
    return {
        "merged": [{"id": memory_id(new), "from": [memory_id(id) for id in sources]} for new, sources in done.merged],
        "dropped": [memory_id(id) for id in done.dropped],
        "kept": done.kept,
        **pruned(done.pruned),
        "by": done.by,
        "run": done.run,
        "warnings": render.warnings(*done.warnings),
    }


def pruned(done: "Pruned") -> Body:
    """What became of what was put aside earlier."""
    return {"pruned": done.hidden, "destroyed": done.destroyed, "brought_back": done.brought_back}


def consciousness(digest: Digest) -> Body:
    shown = len(digest.memories)
    return {"document": digest.markdown, "shown": shown, "more": digest.more, "hidden": digest.hidden}


def stats(census: Census, llm: str | None, why_not: str | None) -> Body:
    return {
        "total": census.total,
        "by_type": census.by_category,
        "faded": census.faded,
        "top_tags": [{"tag": tag, "count": count} for tag, count in census.tags],
        "oldest": iso(census.oldest) if census.oldest else None,
        "newest": iso(census.newest) if census.newest else None,
        "llm": {"name": llm, "ready": llm is not None and why_not is None, "why_not": why_not},
    }


def _said_by(memory: Memory) -> Body:
    """Where it came from, when that was not the user or an agent that chose to store it."""
    said = memory.metadata.get("said_by")
    return {} if said in (None, "user") else {"said_by": said}
