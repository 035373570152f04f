"""The graph contract: memories, three-channel recall, entities and relations, time, and code search."""

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from retain import maintenance
from retain.app import Retain
from retain.domain.graph import Direction
from retain.domain.ids import undress
from retain.domain.memory import MAX_LABEL, MAX_TEXT, Kind
from retain.domain.time import iso, parse_moment
from retain.engine.code.finding.search import CodeQuestion
from retain.engine.drafts import Draft, callers
from retain.engine.recall.channels import NOT_READY, ChannelQuestion, Weights, check_question
from retain.engine.recall.recall import MAX_QUESTION
from retain.engine.revise import Edit
from retain.errors import EmbeddingFailed, NotFound, RetainError, Unavailable, invalid, shorten
from retain.surfaces import graph_reports as reports
from retain.surfaces.mcp.arguments import NOT_BLANK
from retain.surfaces.mcp.tools import Toolset
from retain.surfaces.mcp.toolsets import code
from retain.surfaces.mcp.toolsets.code import UserId
from retain.surfaces.render import Body

KindName = Literal["episodic", "semantic", "procedural"]
Id = Annotated[str, Field(description="As the other tools return it")]
Label = Annotated[str, Field(max_length=MAX_LABEL, pattern=NOT_BLANK)]
Query = Annotated[str, Field(max_length=MAX_QUESTION, pattern=NOT_BLANK)]
Text = Annotated[str, Field(max_length=MAX_TEXT, pattern=NOT_BLANK)]
Few = Annotated[int, Field(ge=1, le=50)]
Many = Annotated[int, Field(ge=1, le=100)]
Weight = Annotated[float, Field(ge=0)]

DATE_TIME = {"format": "date-time"}
IMPORTANCE = 1.0  # of what is stored through this contract, which has no parameter for it


def message(error: RetainError) -> str:
    """A failed call says one sentence, in the contract's words where it has them."""
    if isinstance(error, NotFound) and "memory_id" in error.details:
        return f"Memory not found: {shorten(error.details['memory_id'], 200)}"
    if isinstance(error, EmbeddingFailed):  # get_status says why
        return NOT_READY
    if isinstance(error, Unavailable) and error.code in DATABASE:
        return f"Database error. Please try again. {error.message}"
    return error.message


DATABASE = ("memory_unavailable", "store_busy", "store_corrupt", "storage_full", "query_timeout", "schema_newer")
tools = Toolset("graph", message)


@tools.tool("Store a memory", idempotent=True)
def store_memory(
    app: Retain,
    content: Annotated[Text, Field(description="One self-contained statement")],
    memory_type: Annotated[KindName | None, Field(description="What happened, a fact, or how to do it")] = None,
    user_id: UserId = None,
    metadata: dict[str, Any] | None = None,
    event_time: Annotated[
        str | None, Field(description="When it happened, in ISO 8601; default now", json_schema_extra=DATE_TIME)
    ] = None,
) -> Body:
    """Remember a decision, fact, event or procedure for later sessions. Saying the same twice reinforces it."""
    happened = parse_moment(event_time, "event_time") if event_time is not None else None
    kind = Kind(memory_type or Kind.SEMANTIC)
    draft = Draft(content, kind, importance=IMPORTANCE, metadata=callers(metadata or {}), event_time=happened)
    return reports.remembered(app.keep(draft, app.caller(user=user_id), is_typed=memory_type is not None))


@tools.tool("Get a memory", read_only=True, idempotent=True)
def get_memory(app: Retain, id: Id, user_id: UserId = None) -> Body:
    """One memory with its whole text and its times."""
    return reports.stored(app.engine.get(_memory_id(id), app.caller(user=user_id)))


@tools.tool("Update a memory")
def update_memory(
    app: Retain,
    id: Id,
    content: Annotated[Text | None, Field(description="Replaces the text; the old one is kept as history")] = None,
    memory_type: KindName | None = None,
    metadata: Annotated[dict[str, Any] | None, Field(description="Replaces what is there")] = None,
    user_id: UserId = None,
) -> Body:
    """Correct a memory in place. Only the fields that are given change."""
    if content is None and memory_type is None and metadata is None:
        raise invalid("content, memory_type, metadata", "", "none of them was given; say what is to change")
    kind = Kind(memory_type) if memory_type else None
    edit = Edit(text=content, kind=kind, metadata=metadata, replace_metadata=True)
    return reports.revised(app.engine.update(_memory_id(id), edit, app.caller(user=user_id)))


@tools.tool("Delete a memory", destructive=True)
def delete_memory(app: Retain, id: Id, user_id: UserId = None) -> Body:
    """Destroy a memory and its history for good. To keep what was true once, use invalidate."""
    gone = app.engine.destroy(_memory_id(id), app.caller(user=user_id))
    return reports.deleted(maintenance.backups_holding(app.settings, gone.id))


@tools.tool("List memories", read_only=True, idempotent=True)
def list_memories(
    app: Retain,
    limit: Many = 20,
    offset: Annotated[int, Field(ge=0)] = 0,
    user_id: UserId = None,
) -> Body:
    """Memories newest first, page by page; those that were invalidated show until when they held."""
    found, total = app.engine.listed(app.caller(user=user_id), limit, offset)
    return {"memories": reports.listed(found), "total": total, "limit": limit, "offset": offset}


@tools.tool("Search by meaning", read_only=True, idempotent=True)
def search(app: Retain, query: Query, limit: Few = 10, user_id: UserId = None) -> Body:
    """Memories close in meaning to a question, whatever words they use."""
    return reports.searched(app.engine.search_by_meaning(query, limit, app.caller(user=user_id)), query)


@tools.tool("Search by keyword", read_only=True, idempotent=True)
def search_text(app: Retain, query: Query, limit: Few = 10, user_id: UserId = None) -> Body:
    """Memories that hold the words of a query, ranked by BM25. Needs no model."""
    return reports.searched(app.engine.search_by_words(query, limit, app.caller(user=user_id)), query)


@tools.tool("Recall", read_only=True, idempotent=True)
def recall(
    app: Retain,
    query: Annotated[Query, Field(description="A question in plain words; names and identifiers help")],
    limit: Few = 10,
    include_memories: bool = True,
    include_code: Annotated[
        bool, Field(description="Code too; `score` then says how far a hit stands out among its kind")
    ] = False,
    project_id: Annotated[str | None, Field(description="Only code of this project; needs include_code")] = None,
    language: Annotated[str | None, Field(description="Only code in this language; needs include_code")] = None,
    vector_weight: Annotated[Weight, Field(description="Meaning; 0 switches it off")] = 0.40,
    bm25_weight: Annotated[Weight, Field(description="Words; 0 switches it off")] = 0.15,
    ppr_weight: Annotated[Weight, Field(description="What is connected in the graph; 0 switches it off")] = 0.45,
    user_id: UserId = None,
) -> Body:
    """Find what is known about a question by meaning, words and connections: memories, code, or both. Call it before
    starting a task or a decision."""
    _check_sources(include_memories, include_code, {"project_id": project_id, "language": language})
    question = ChannelQuestion(query, limit, Weights(vector_weight, bm25_weight, ppr_weight))
    check_question(question)  # also when only code is asked for, which has weights of its own
    languages = (language,) if language else ()
    return reports.recalled(
        app.engine.recall_together(
            question if include_memories else None,
            CodeQuestion(query, project_id, languages, limit) if include_code else None,
            app.caller(user=user_id),
        ),
        query,
    )


@tools.tool("Create an entity", idempotent=True)
def create_entity(
    app: Retain,
    name: Label,
    entity_type: Annotated[Label | None, Field(description="person, project, concept, file, …")] = None,
    description: str | None = None,
    user_id: UserId = None,
) -> Body:
    """Add a named thing to the knowledge graph; the same name and type is the same entity."""
    entity = app.engine.create_entity(name, entity_type, description, app.caller(user=user_id))
    return {"id": entity.id}


@tools.tool("Create a relation", idempotent=True)
def create_relation(
    app: Retain,
    from_entity: Id,
    to_entity: Id,
    relation_type: Annotated[Label, Field(description="works_on, knows, uses, …")],
    weight: Annotated[float, Field(ge=0, le=1)] = 1.0,
    user_id: UserId = None,
) -> Body:
    """Say how one entity relates to another."""
    relation = app.engine.create_relation(from_entity, to_entity, relation_type, weight, app.caller(user=user_id))
    return {"id": relation.id}


@tools.tool("Get related entities", read_only=True, idempotent=True)
def get_related(
    app: Retain,
    entity_id: Id,
    depth: Annotated[int, Field(ge=1, le=3)] = 1,
    direction: Literal["outgoing", "incoming", "both"] = "outgoing",
    at: Annotated[
        str | None,
        Field(description="Relations as they held then, in ISO 8601; default now", json_schema_extra=DATE_TIME),
    ] = None,
    user_id: UserId = None,
) -> Body:
    """What an entity is connected with, up to three steps away."""
    when = parse_moment(at, "at") if at is not None else None
    return reports.related(
        app.engine.related(entity_id, depth, Direction(direction), app.caller(user=user_id), at=when)
    )


@tools.tool("Get valid memories", read_only=True, idempotent=True)
def get_valid(app: Retain, user_id: UserId = None, limit: Many = 20) -> Body:
    """Memories that hold now, newest first."""
    rows = reports.rows(app.engine.valid(app.caller(user=user_id), limit=limit))
    return {"results": rows, "count": len(rows)}


@tools.tool("Get memories valid at a time", read_only=True, idempotent=True)
def get_valid_at(
    app: Retain,
    timestamp: Annotated[str, Field(description="ISO 8601; a day alone means its start", json_schema_extra=DATE_TIME)],
    user_id: UserId = None,
    limit: Many = 20,
) -> Body:
    """Memories that held at a moment, as far as is known today, newest first."""
    at = parse_moment(timestamp, "timestamp")
    rows = reports.rows(app.engine.valid(app.caller(user=user_id), as_of=at, limit=limit))
    return {"results": rows, "count": len(rows), "timestamp": iso(at)}


@tools.tool("Invalidate a memory", destructive=True, idempotent=True)
def invalidate(
    app: Retain,
    id: Annotated[str, Field(description="Of a memory, or of a relation")],
    reason: str | None = None,
    superseded_by: Annotated[str | None, Field(description="The memory that holds instead")] = None,
    restore: Annotated[bool, Field(description="Say that a memory holds again instead")] = False,
    user_id: UserId = None,
) -> Body:
    """Say that something holds no longer, from now on. It stays findable for the time when it did."""
    caller = app.caller(user=user_id)
    if restore:
        return reports.restored(app.engine.bring_back(_memory_id(id), caller))
    return reports.invalidated(app.engine.invalidate(_memory_id(id), reason, superseded_by, caller))


for _tool in code.tools.tools:
    tools.add(replace(_tool, envelope=message))


@tools.tool("Server status", read_only=True, idempotent=True)
def get_status(app: Retain, user_id: UserId = None) -> Body:
    """Health, counts and the state of the model. Call it when memory behaves oddly."""
    return reports.status(app.engine.status(app.caller(user=user_id)))


@tools.tool("Reset all memory", destructive=True)
def reset_all_memory(
    app: Retain,
    confirm: Annotated[bool, Field(description="Must be true; a backup is taken first")] = False,
    user_id: UserId = None,
) -> Body:
    """Delete everything: memories, entities, relations, code. Only when the user asked for exactly this."""
    if not confirm:
        return {"reset": False, "message": "Confirmation required. Set confirm=true to delete all data."}
    done = maintenance.reset(app, app.now(), app.caller(user=user_id))
    return reports.emptied(*done, on_surrealdb=app.settings.uses_surrealdb)


def _memory_id(id: str) -> str:
    """The id as it was given; what no memory can have as its id is not found, and no other sort of fault."""
    if undress(id) is None:
        raise NotFound(f"there is no memory {shorten(id)}", memory_id=id)
    return id


def _check_sources(include_memories: bool, include_code: bool, about_code: dict[str, str | None]) -> None:
    if not include_memories and not include_code:
        raise invalid("include_memories", "false", "with include_code false there is nothing to search; set one")
    for name, value in about_code.items():
        if value is not None and not include_code:
            raise invalid(name, value, "is about code, and include_code is false; set include_code to true")
