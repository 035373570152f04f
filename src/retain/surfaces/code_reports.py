"""Code, what uses it, and how far its index is, as the JSON that clients are given."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from retain.app import Retain
from retain.domain.code import CodeIndex, IndexStatus, StoredChunk
from retain.domain.recall import Warning
from retain.domain.time import iso
from retain.engine.code.indexing.progress import eta_seconds, progress_percent
from retain.errors import IndexFailed
from retain.surfaces import render
from retain.surfaces.render import Body

if TYPE_CHECKING:
    from retain.engine.code.code import Indexing
    from retain.engine.code.finding.map import CodeMap
    from retain.engine.code.finding.search import CodeAnswer, CodeHit
    from retain.engine.code.finding.symbols import Definition, Definitions, References

Tell = Callable[[CodeIndex], None]


def indexed(app: Retain, done: "Indexing") -> Body:
    """What a call of index has come to; while it goes on, how far it is. Raises `IndexFailed` where that is nothing."""
    if done.index.status is IndexStatus.FAILED:
        raise _failed(done.index)
    tally = done.tally
    body: Body = {
        "project_id": done.index.project.slug,
        "files_indexed": done.index.indexed_files,
        "chunks_created": tally.chunks,
        "status": done.index.status.value,
        "files": {
            "added": tally.added,
            "changed": tally.changed,
            "moved": tally.moved,
            "removed": tally.removed,
            "unchanged": tally.unchanged,
        },
        "total_chunks": done.index.total_chunks,
        "skipped": dict(done.index.skipped),
        "watching": done.watched,
    }
    if done.running:
        body |= _pace(app, done.index) | {"next": "it goes on in the background; get_index_status says how far it is"}
    return body | {"warnings": render.warnings(*done.warnings)}


def index(app: Retain, found: CodeIndex) -> Body:
    """How far an index is."""
    body: Body = {
        "project_id": found.project.slug,
        "status": found.status.value,
        "total_files": found.total_files,
        "indexed_files": found.indexed_files,
        "total_chunks": found.total_chunks,
        **_pace(app, found),
        "started_at": iso(found.started) if found.started else None,
        "completed_at": iso(found.completed) if found.completed else None,
        "embedded_chunks": found.embedded_chunks,
        "skipped": dict(found.skipped),
        "path": found.project.path,
    }
    body |= {"error": found.error} if found.error else {}
    return body | {"warnings": render.warnings(*_left_alone(found))}


def _left_alone(found: CodeIndex) -> Iterator[Warning]:
    """Whoever waits for an index on which nobody is at work would wait for ever."""
    if found.status is IndexStatus.PENDING and found.total_files:
        told = f"nobody is at work on {found.project.slug}; call index_project with path {found.project.path} to go on"
        yield Warning("interrupted", told)


def with_vectors(app: Retain) -> bool:
    """Whether an index is complete only with its vectors."""
    return app.engine.parts.embedder.state().name != "off"


def said(found: CodeIndex) -> str:
    """How far an index is, in one line."""
    if found.indexed_files < found.total_files or not found.total_chunks:
        return f"{found.indexed_files:,} of {found.total_files:,} files read"
    return f"{found.embedded_chunks:,} of {found.total_chunks:,} chunks embedded"


def paced(app: Retain, found: CodeIndex) -> str:
    """How far an index is that is being made, and how long it still takes, in one line."""
    pace = _pace(app, found)
    left = "" if pace["eta_seconds"] is None else f", about {pace['eta_seconds']:,} s to go"
    return f"{pace['progress_percent']} %{left} · {said(found)}"


def map_of(answer: "CodeMap") -> Body:
    return {
        "map": answer.text,
        "tokens": answer.tokens,
        "symbols": answer.symbols,
        "files": answer.files,
        "total_symbols": answer.total_symbols,
        "total_files": answer.total_files,
        "projects": list(answer.projects),
        "warnings": render.warnings(*answer.warnings),
    }


def _failed(found: CodeIndex) -> IndexFailed:
    slug, why = found.project.slug, found.error or "it was interrupted"
    note = "what was done before can be searched; call index_project to try again"
    return IndexFailed(f"indexing {slug} failed: {why}; {note}", project_id=slug)


def _pace(app: Retain, found: CodeIndex) -> Body:
    return {
        "progress_percent": progress_percent(found, with_vectors=with_vectors(app)),
        "eta_seconds": eta_seconds(found, app.now(), with_vectors=with_vectors(app)),
    }


def found(answer: "CodeAnswer") -> Body:
    room = _room(answer.hits)
    results = [_hit(hit, room) for hit in answer.hits]
    body: Body = {"results": results, "count": len(results), "searched": list(answer.searched)}
    return body | {"warnings": render.warnings(*answer.warnings)}


def beside_memories(hit: "CodeHit", score: float, room: int) -> Body:
    """A hit in an answer that may hold memories too."""
    return {
        "id": hit.stored.id,
        **_content(hit.stored, room),
        "source": "code",
        "score": round(score, 4),
        "vector_score": round(hit.vector, 4),
        "bm25_score": round(hit.words, 4),
        "ppr_score": 0.0,
        **_place(hit.stored, hit.project),
    }


def definitions(answer: "Definitions") -> Body:
    room = _room(answer.found)
    results = [_definition(each, room) for each in answer.found]
    body: Body = {"results": results, "count": len(results), "total": answer.total}
    return body | {"warnings": render.warnings(*answer.warnings)}


def references(answer: "References") -> Body:
    """The lines that use a symbol; where it is defined stands beside them."""
    results = [
        {
            "project_id": file.project,
            "file_path": file.path,
            "line": use.line,
            "within": use.within,
            "content": use.text,
        }
        for file in answer.files
        for use in file.uses
    ]
    return {
        "results": results,
        "count": len(results),
        "more": answer.more,
        "definitions": [
            f"{each.stored.path}:{each.stored.chunk.start_line} {each.stored.chunk.qualified}"
            for each in answer.definitions
        ],
        "warnings": render.warnings(*answer.warnings),
    }


def _room(found: Sequence[object]) -> int:
    """Characters for each text, so that all of them together stay below what a client takes."""
    return max(render.FEWEST_CHARS, render.MOST_CHARS // max(len(found), 1))


def _content(stored: StoredChunk, room: int) -> Body:
    """The text, or its beginning; the rest stands in the file, at the lines that are named."""
    text = stored.chunk.text
    return {"content": text} if len(text) <= room else {"content": text[:room] + "…", "truncated": True}


def _hit(hit: "CodeHit", room: int) -> Body:
    return {
        "id": hit.stored.id,
        **_place(hit.stored, hit.project),
        **_content(hit.stored, room),
        "score": round(hit.score, 4),
    }


def _definition(definition: "Definition", room: int) -> Body:
    stored = definition.stored
    body: Body = {"id": stored.id, **_place(stored, definition.project), **_content(stored, room)}
    return body | ({"changed_since_indexing": True} if definition.changed else {})


def _place(stored: StoredChunk, project: str) -> Body:
    chunk = stored.chunk
    body: Body = {
        "file_path": stored.path,
        "language": stored.language,
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "chunk_type": chunk.kind.value,
        "name": chunk.name,
        "project_id": project,
    }
    if chunk.parent:
        body["parent"] = chunk.parent
    return body
