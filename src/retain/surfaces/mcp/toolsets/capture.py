"""The capture contract: what hooks remembered by themselves, looked up, asked and tended by hand."""

import re
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from retain.app import Retain
from retain.domain.category import kind_of
from retain.domain.memory import MAX_LABEL, MAX_TEXT, Kind
from retain.engine.ask import NOBODY
from retain.engine.drafts import MAX_DESCRIPTION, Draft
from retain.engine.parts import LASTING
from retain.engine.recall.recall import MAX_QUESTION, Question
from retain.errors import RetainError
from retain.surfaces import capture_reports as reports
from retain.surfaces.mcp.arguments import NOT_BLANK
from retain.surfaces.mcp.instructions import finding
from retain.surfaces.mcp.tools import Toolset
from retain.surfaces.mcp.tools import envelope as plain_envelope
from retain.surfaces.render import Body

_FIELDS = {"memory_id": "id"}
_FIELD = re.compile(r"\bmemory_id\b")


def envelope(error: RetainError) -> Body:
    """A failure in the words of this contract: what is `memory_id` elsewhere is `id` here, and ids are mem_<id>."""
    body = plain_envelope(error)
    return {_FIELDS.get(name, name): _worded(value) for name, value in body.items()}


def _worded(value: object) -> object:
    match value:
        case str():
            return reports.worded(_FIELD.sub(lambda name: _FIELDS[name[0]], value))
        case list():
            return [_worded(each) for each in value]
        case dict():
            return {name: _worded(each) for name, each in value.items()}
        case _:
            return value


tools = Toolset("capture", envelope)

Type = Literal["architecture", "decision", "pattern", "gotcha", "progress", "context"]
Query = Annotated[str, Field(max_length=MAX_QUESTION, pattern=NOT_BLANK)]
Tags = Annotated[list[str], Field(max_length=50)]
Offset = Annotated[int, Field(ge=0, description="How many to pass over, where there are more than 100")]
MOST_LISTED = 100


@tools.tool("Search memory", read_only=True, idempotent=True)
def memory_search(
    app: Retain,
    query: Annotated[Query, Field(description="What you want to know, in plain words; names and identifiers help")],
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
) -> Body:
    """Find what earlier sessions learnt, decided or tried. Call it before a task, a decision or a second try."""
    answer = app.engine.recall(Question(query, LASTING, limit=limit), app.caller())
    return reports.with_lineage(app, reports.searched(answer, app.now()))


@tools.tool("Ask memory", read_only=True, idempotent=True)
def memory_ask(
    app: Retain, question: Annotated[Query, Field(description="A question that several memories may answer together")]
) -> Body:
    """Get one answer from all that is remembered, with its sources. Without a language model it gives the best
    passages and says so."""
    return reports.with_lineage(app, reports.asked(app.engine.ask(question, app.caller()), app.now()), "sources")


@tools.tool("Find related memories", read_only=True, idempotent=True)
def memory_related(
    app: Retain, tags: Annotated[Tags, Field(min_length=1, description="Any of them")], offset: Offset = 0
) -> Body:
    """All memories that carry one of these tags, newest first."""
    return _listed(app, None, tags, offset)


@tools.tool("Describe the project", idempotent=True)
def memory_init(
    app: Retain,
    name: Annotated[str, Field(max_length=MAX_LABEL, pattern=NOT_BLANK)],
    description: Annotated[
        str, Field(max_length=MAX_DESCRIPTION, pattern=NOT_BLANK, description="What it is, in a few sentences")
    ],
) -> Body:
    """Say what this project is called and what it is. Call it once; saying it again replaces what was said."""
    return reports.saved(app.engine.describe(name, description, app.caller()))


@tools.tool("Save a memory", idempotent=True)
def memory_save(
    app: Retain,
    type: Annotated[Type, Field(description="progress and context fade within weeks; the others last")],
    content: Annotated[str, Field(max_length=MAX_TEXT, pattern=NOT_BLANK, description="One self-contained statement")],
    tags: Tags | None = None,
    supersedes: Annotated[str | None, Field(description="Id of the memory that this one replaces")] = None,
) -> Body:
    """Remember something for later sessions. What says nearly the same in the same type is replaced by it."""
    draft = Draft(content, Kind(kind_of(type)), category=type, tags=tuple(tags or ()))
    return reports.saved(app.engine.save(draft, supersedes, app.caller()))


@tools.tool("List memories", read_only=True, idempotent=True)
def memory_recall(app: Retain, type: Type | None = None, tags: Tags | None = None, offset: Offset = 0) -> Body:
    """List what is remembered, newest first, by type or tags. To find something, use memory_search."""
    return _listed(app, type, tags or (), offset)


@tools.tool("Delete a memory", destructive=True)
def memory_delete(app: Retain, id: Annotated[str, Field(description="mem_<id>, as the other tools return it")]) -> Body:
    """Destroy a memory and its history for good. When it is merely out of date, memory_save with supersedes."""
    from retain import maintenance

    gone = app.engine.destroy(id, app.caller())
    return reports.deleted(gone.id, maintenance.backups_holding(app.settings, gone.id))


@tools.tool("Consolidate memories")
def memory_consolidate(app: Retain) -> Body:
    """Merge what overlaps and put aside what is out of date, type by type. It can be undone with `retain undo`."""
    from retain.engine.lifecycle.merging import BY_HAND

    return reports.merged(app.engine.merge_categories(app.caller(), BY_HAND))


@tools.tool("Summary of what is known", read_only=True, idempotent=True)
def memory_consciousness(app: Retain) -> Body:
    """The whole of what matters about this project in at most some 150 lines, as it stands in CLAUDE.md."""
    tools = finding([app.settings.toolset])
    return reports.consciousness(app.engine.digest(app.caller(), app.settings.claude_md_lines, tools))


@tools.tool("Memory statistics", read_only=True, idempotent=True)
def memory_stats(app: Retain) -> Body:
    """How much is remembered here, of which type, how much has faded, and whether a language model helps."""
    llm = app.engine.parts.llm
    return reports.stats(app.engine.census(app.caller()), llm.name if llm else None, llm.why_not() if llm else NOBODY)


def _listed(app: Retain, type: str | None, tags: Sequence[str], offset: int) -> Body:
    found, total = app.engine.categorised(app.caller(), type, tags, MOST_LISTED, offset)
    return reports.with_lineage(app, reports.listed(found, total, app.now(), offset))
