"""The scoped contract: session, project and user memory, a knowledge graph, a context block."""

import time
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from retain.app import Retain
from retain.domain.graph import Direction
from retain.domain.memory import MAX_LABEL, MAX_TEXT, Kind, Scope, Source
from retain.domain.recall import Strategy
from retain.domain.time import parse_moment
from retain.engine.context import SECTIONS, Task
from retain.engine.drafts import MAX_SESSION, Draft, GivenEntity
from retain.engine.knowledge.walk import GraphQuestion
from retain.engine.recall.recall import MAX_QUESTION, Question
from retain.engine.revise import Edit
from retain.surfaces import render, reports
from retain.surfaces.mcp.arguments import NOT_BLANK
from retain.surfaces.mcp.tools import Toolset
from retain.surfaces.render import Body

tools = Toolset("scoped")

KindName = Literal["episodic", "semantic", "procedural"]
ScopeName = Literal["session", "project", "user"]
Section = Literal["preferences", "project_context", "session_history", "relevant_procedures"]
Id = Annotated[str, Field(description="As recall returns it: memory:<id>")]
Label = Annotated[str, Field(max_length=MAX_LABEL, pattern=NOT_BLANK)]
SessionId = Annotated[str, Field(max_length=MAX_SESSION, pattern=NOT_BLANK)]


class SourceArgument(BaseModel):
    model_config = ConfigDict(extra="forbid")

    tool: str | None = None
    file: str | None = None
    conversation_turn: int | None = None


class EntityArgument(BaseModel):
    name: Label
    type: Annotated[Label, Field(description="component, file, person, concept, library, service, …")]
    relationship: Annotated[Label, Field(description="uses, depends_on, authored_by, implements, …")]


class TimeRange(BaseModel):
    after: Annotated[str | None, Field(json_schema_extra={"format": "date-time"})] = None
    before: Annotated[str | None, Field(json_schema_extra={"format": "date-time"})] = None


class TagEdit(BaseModel):
    add: list[Label] | None = None
    remove: list[str] | None = None


class EntityEdit(BaseModel):
    add: list[EntityArgument] | None = None
    remove: list[str] | None = None


@tools.tool("Store a memory", idempotent=True)
def store_memory(
    app: Retain,
    content: Annotated[
        str,
        Field(
            description="One self-contained statement, with its reason if there is one",
            max_length=MAX_TEXT,
            pattern=NOT_BLANK,
        ),
    ],
    type: Annotated[KindName, Field(description="episodic: what happened; semantic: a fact; procedural: how to do it")],
    scope: Annotated[ScopeName, Field(description="session: this conversation; project: this code; user: everywhere")],
    importance: Annotated[float, Field(ge=0, le=1)] = 0.5,
    tags: list[Label] | None = None,
    source: SourceArgument | None = None,
    related_entities: list[EntityArgument] | None = None,
    session_id: SessionId | None = None,
) -> Body:
    """Remember a decision, gotcha, preference, convention or outcome for later sessions. Call it when you learn
    something that would be costly to find out again. Saying the same twice reinforces it."""
    draft = Draft(
        content,
        Kind(type),
        Scope(scope),
        importance,
        tuple(tags or ()),
        Source(**source.model_dump()) if source else Source(),
        _entities(related_entities),
        session_id,
    )
    caller = app.caller(session_id)
    done = app.engine.remember(draft, caller)
    return reports.remembered(done, app.engine.consolidation_due(caller))


@tools.tool("Recall memories", read_only=True, idempotent=True)
def recall_memories(
    app: Retain,
    query: Annotated[
        str,
        Field(
            description="A question in plain words; names and identifiers help",
            max_length=MAX_QUESTION,
            pattern=NOT_BLANK,
        ),
    ],
    scope: ScopeName | list[ScopeName] | None = None,
    type: KindName | list[KindName] | None = None,
    strategy: Literal["vector", "keyword", "hybrid", "graph"] = "hybrid",
    limit: Annotated[int, Field(ge=1, le=50)] = 10,
    min_importance: Annotated[float, Field(ge=0, le=1)] = 0,
    tags: Annotated[list[str] | None, Field(description="Any of these")] = None,
    time_range: TimeRange | None = None,
    include_forgotten: bool = False,
    explain: Annotated[bool, Field(description="Show the terms of each score")] = False,
    max_content_chars: Annotated[int, Field(ge=200, le=100_000)] = 2000,
) -> Body:
    """Find what earlier sessions learned. Call it before starting a task, before a decision, and when an error
    looks familiar."""
    began = time.perf_counter()
    question = Question(
        query,
        tuple(Scope(name) for name in _several(scope)),
        tuple(Kind(name) for name in _several(type)),
        Strategy(strategy),
        limit,
        min_importance,
        tuple(tags or ()),
        parse_moment(time_range.after, "time_range.after") if time_range and time_range.after else None,
        parse_moment(time_range.before, "time_range.before", until=True) if time_range and time_range.before else None,
        include_forgotten,
    )
    answer = app.engine.recall(question, app.caller())
    took = round((time.perf_counter() - began) * 1000, 1)
    return reports.recalled(answer, max_content_chars, explain=explain) | {"query_time_ms": took}


@tools.tool("Search the knowledge graph", read_only=True, idempotent=True)
def search_knowledge_graph(
    app: Retain,
    entity: Annotated[str | None, Field(description="A component, file, person, library; omit for an overview")] = None,
    relationship_type: Annotated[str | None, Field(description="Only edges of this type, such as depends_on")] = None,
    direction: Literal["outgoing", "incoming", "both"] = "both",
    depth: Annotated[int, Field(ge=1, le=3)] = 1,
    include_memories: bool = True,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
) -> Body:
    """See how components, files, people and libraries relate, and what is remembered about them."""
    question = GraphQuestion(entity, relationship_type, Direction(direction), depth, include_memories, limit)
    return reports.graph(app.engine.search_graph(question, app.caller()), question)


@tools.tool("Forget a memory", destructive=True, idempotent=True)
def forget_memory(
    app: Retain,
    memory_id: Id,
    reason: str | None = None,
    restore: Annotated[bool, Field(description="Bring a forgotten memory back instead")] = False,
) -> Body:
    """Hide a memory that is wrong or outdated from recall. It can be restored; when it was only corrected, use
    update_memory."""
    if restore:
        memory = app.engine.bring_back(memory_id, app.caller())
    else:
        memory = app.engine.forget(memory_id, reason, app.caller())
    return reports.moved(memory)


@tools.tool("Update a memory")
def update_memory(
    app: Retain,
    memory_id: Id,
    content: Annotated[
        str | None,
        Field(description="Replaces the text; the old one is kept as history", max_length=MAX_TEXT, pattern=NOT_BLANK),
    ] = None,
    importance: Annotated[float | None, Field(ge=0, le=1)] = None,
    tags: TagEdit | None = None,
    metadata: Annotated[dict[str, Any] | None, Field(description="Merged into what is there")] = None,
    related_entities: EntityEdit | None = None,
) -> Body:
    """Correct or refine a memory in place."""
    edit = Edit(
        content,
        importance,
        tuple(tags.add or ()) if tags else (),
        tuple(tags.remove or ()) if tags else (),
        metadata or {},
        _entities(related_entities.add) if related_entities else (),
        tuple(related_entities.remove or ()) if related_entities else (),
    )
    return reports.revised(app.engine.update(memory_id, edit, app.caller()))


@tools.tool("Consolidate memories")
def reflect_and_consolidate(
    app: Retain,
    session_id: Annotated[SessionId | None, Field(description="Default: the current session")] = None,
    strategy: Literal["summarize", "extract_patterns", "full"] = "full",
    dry_run: Annotated[bool, Field(description="Only show what would be written")] = False,
) -> Body:
    """Turn a session's events into lasting facts and recurring patterns. Call it when a piece of work is done; a run
    can be undone."""
    done = app.engine.consolidate(app.caller(session_id), session_id, strategy, dry_run=dry_run)
    return reports.consolidated(done, dry_run=dry_run)


@tools.tool("Memory status", read_only=True, idempotent=True, output=reports.StatusBody)
def get_memory_status(app: Retain) -> Body:
    """Health, counts, model state and session. Call it when memory behaves oddly."""
    return reports.status(app)


@tools.tool("Get memory context", read_only=True, idempotent=True, output=reports.ContextBody)
def get_memory_context(
    app: Retain,
    task_description: Annotated[str | None, Field(description="What you are about to do")] = None,
    files_in_context: Annotated[list[str] | None, Field(description="Paths you are working on")] = None,
    max_tokens: Annotated[int, Field(ge=100, le=8000)] = 2000,
    sections: list[Section] | None = None,
) -> Body:
    """A ready-made block of preferences, project knowledge, recent events and procedures for a task. Call it once at
    the start of work."""
    wanted = tuple(sections) if sections else tuple(SECTIONS)
    task = Task(task_description or "", tuple(files_in_context or ()), max_tokens, wanted)
    return reports.context(app.engine.context(task, app.caller()))


@tools.tool("Promote a memory", idempotent=True)
def promote_memory(
    app: Retain, memory_id: Id, target_scope: Literal["project", "user"], reason: str | None = None
) -> Body:
    """Widen a memory's reach: session to project or user, project to user."""
    done = app.engine.promote(memory_id, Scope(target_scope), reason, app.caller())
    return {
        "memory_id": render.memory_id(done.memory.id),
        "previous_scope": done.before.value if done.before else None,
        "new_scope": done.memory.scope.value,
        "reason": reason,
        "warnings": [],
    }


@tools.tool("Tag a memory", idempotent=True)
def tag_memory(app: Retain, memory_id: Id, add: list[Label] | None = None, remove: list[str] | None = None) -> Body:
    """Add or remove labels that recall can filter by."""
    done = app.engine.tag(memory_id, add or (), remove or (), app.caller())
    return {"memory_id": render.memory_id(done.memory.id), "tags": list(done.memory.tags), "warnings": []}


def _several(given: str | Sequence[str] | None) -> list[str]:
    return [given] if isinstance(given, str) else list(given or ())


def _entities(given: list[EntityArgument] | None) -> tuple[GivenEntity, ...]:
    return tuple(GivenEntity(entity.name, entity.type, entity.relationship) for entity in given or ())
