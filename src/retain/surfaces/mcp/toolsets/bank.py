"""The bank contract: titled entries of five types, projects, development sessions, searches that explain themselves."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field
from pydantic.config import JsonDict

from retain import maintenance
from retain.app import Retain
from retain.domain.category import kind_of
from retain.domain.ids import undress
from retain.domain.listing import MAX_QUERY
from retain.domain.memory import MAX_LABEL, MAX_TEXT, Kind
from retain.domain.session import Profile
from retain.domain.work import EntryType, WorkState
from retain.engine.drafts import MAX_DESCRIPTION, MAX_PATH, MAX_SESSION, MAX_TAGS, MAX_TITLE, Draft, draft_faults
from retain.engine.lookup.matching import Matches, Search, Sort, SortField, search_faults
from retain.engine.recall.recall import MAX_QUESTION
from retain.engine.revise import Edit
from retain.engine.tracking import projects
from retain.engine.tracking.work import starting_faults
from retain.errors import Fault, InvalidInput, NotFound, invalid, shorten, together
from retain.surfaces import bank_reports as reports
from retain.surfaces.bank_errors import envelope
from retain.surfaces.mcp.arguments import NOT_BLANK
from retain.surfaces.mcp.tools import Toolset
from retain.surfaces.render import Body

tools = Toolset("bank", envelope)

Type = Literal["decision", "pattern", "error_solution", "code", "documentation"]
Entry = Literal["info", "milestone", "issue", "solution"]
Label = Annotated[str, Field(max_length=MAX_LABEL, pattern=NOT_BLANK)]
Tags = Annotated[list[Label], Field(max_length=MAX_TAGS)]
Title = Annotated[str, Field(max_length=MAX_TITLE, pattern=NOT_BLANK)]
Text = Annotated[str, Field(max_length=MAX_TEXT, pattern=NOT_BLANK)]
Description = Annotated[str, Field(max_length=MAX_DESCRIPTION)]
Query = Annotated[
    str,
    Field(max_length=MAX_QUESTION, pattern=NOT_BLANK, description="What you want to know; names and identifiers help"),
]
MemoryId = Annotated[str, Field(pattern=NOT_BLANK, description="mem_<id>, as the other tools return it")]
ProjectId = Annotated[str, Field(pattern=NOT_BLANK, description="proj_<id>, a project's name, or its folder")]
InProject = Annotated[
    str | None, Field(pattern=NOT_BLANK, description="proj_<id>, name or folder; default: the current project")
]
SessionId = Annotated[str, Field(max_length=MAX_SESSION, pattern=NOT_BLANK, description="sess_<id>")]
# None stands for what was left out, which the spelling `type` may say instead; a client is told what that comes to.
INFO: JsonDict = {"default": EntryType.INFO.value}
Limit = Annotated[int, Field(ge=1, le=100)]
Offset = Annotated[int, Field(ge=0)]
Threshold = Annotated[
    float, Field(ge=0.0, le=1.0, description="How close in meaning at least; 0.3 also brings what is loosely related")
]


def _sortable(field: str) -> str:
    if field not in list(SortField):
        raise ValueError(f"must be one of: {', '.join(SortField)}")
    return field


class Filters(BaseModel):
    types: Annotated[list[Type] | None, Field(description="Any of them")] = None
    tags: Annotated[Tags | None, Field(description="Any of them")] = None
    min_length: Annotated[int | None, Field(ge=0, description="Characters of content")] = None
    has_content: bool | None = None


class SortBy(BaseModel):
    field: Annotated[Annotated[str, AfterValidator(_sortable)] | None, Field(description=f"{', '.join(SortField)}")] = (
        None
    )
    direction: Annotated[Literal["asc", "desc"] | None, Field(description="Default: best, newest or A first")] = None


@tools.tool("Create an entry")
def memory_create(
    app: Retain,
    type: Annotated[Type, Field(description="error_solution: an error and what fixed it")],
    title: Annotated[Title, Field(description="What it is about, in a few words; one entry a title in a project")],
    content: Annotated[Text, Field(description="The whole of it, with reasons; understandable without this session")],
    project_id: InProject = None,
    tags: Tags | None = None,
    session_id: Annotated[SessionId | None, Field(description="The development session it belongs to")] = None,
) -> Body:
    """Remember a decision, pattern, solved error, piece of code or documentation for later sessions. When an entry
    with this title exists, memory_update that one."""
    kind, labels = Kind(kind_of(type)), tuple(tags or ())
    draft = Draft(content, kind, tags=labels, title=title, category=type, session=session_id, distinct=True)
    with together(draft_faults(draft)):
        caller = app.caller(session_id, project=project_id)
    meant = app.engine.tracking.id_of(session_id, caller) if session_id else None
    return reports.created(app.engine.remember(replace(draft, session=meant), caller))


@tools.tool("Search entries", read_only=True, idempotent=True)
def memory_search(
    app: Retain,
    query: Query,
    project_id: InProject = None,
    limit: Limit = 10,
    threshold: Threshold = 0.5,
    type: Type | None = None,
) -> Body:
    """Find what earlier sessions decided, solved or wrote down, closest in meaning first. Call it before a task, a
    decision or a second try."""
    sort = Sort(SortField.SIMILARITY)
    asked = Search(query, (type,) if type else (), threshold=threshold, limit=limit, sort=sort)
    return reports.searched(_found(app, asked, project_id))


@tools.tool("Get an entry", read_only=True, idempotent=True)
def memory_get(app: Retain, id: MemoryId) -> Body:
    """One entry with its whole content. Call it when a search shortened one."""
    found = app.engine.get(_memory_id(id), app.caller())
    return reports.memory(found, app.engine.lookup.similar(found.memory.id))


@tools.tool("Update an entry")
def memory_update(
    app: Retain,
    id: MemoryId,
    title: Title | None = None,
    content: Annotated[Text | None, Field(description="Replaces the content; the old one is kept as history")] = None,
    tags: Annotated[Tags | None, Field(description="Replaces all tags")] = None,
    type: Type | None = None,
) -> Body:
    """Correct or complete an entry. Only the fields that are given change."""
    if title is None and content is None and tags is None and type is None:
        raise invalid("title, content, tags, type", "", "none of them was given; say what is to change")
    labels = None if tags is None else tuple(tags)
    edit = Edit(content, kind=Kind(kind_of(type)) if type else None, title=title, category=type, tags=labels)
    return reports.updated(app.engine.update(_memory_id(id), edit, app.caller()))


@tools.tool("Delete an entry", destructive=True)
def memory_delete(app: Retain, id: MemoryId) -> Body:
    """Destroy an entry and its history for good. When it is merely out of date, memory_update it."""
    gone = app.engine.destroy(_memory_id(id), app.caller())
    return reports.deleted(maintenance.backups_holding(app.settings, gone.id))


@tools.tool("List entries", read_only=True, idempotent=True)
def memory_list(
    app: Retain,
    project_id: InProject = None,
    type: Type | None = None,
    tags: Annotated[Tags | None, Field(description="Any of them")] = None,
    limit: Limit = 20,
    offset: Offset = 0,
) -> Body:
    """Browse titles, newest first, page by page. To find something, use memory_search."""
    caller, types = app.caller(project=project_id), (type,) if type else ()
    cards, total = app.engine.lookup.page(caller, types, tuple(tags or ()), limit, offset)
    return reports.listed(cards, total, limit, offset)


@tools.tool("Initialise a project", idempotent=True)
def project_init(
    app: Retain,
    name: Annotated[Title, Field(description="What people call it; no other project may have it")],
    path: Annotated[str, Field(max_length=MAX_PATH, pattern=NOT_BLANK, description="Its folder, which must exist")],
    description: Annotated[Description | None, Field(description="What it is, in a sentence or two")] = None,
) -> Body:
    """Name a project and get its id. Saying it again for the same folder keeps all entries and renames it."""
    with together(projects.naming_faults(name, description)):
        project = app.project_at(path)
    return reports.inited(projects.init(app.engine.parts, project, name, description, app.caller()), path)


@tools.tool("Get a project", read_only=True, idempotent=True)
def project_get(app: Retain, id: ProjectId | None = None, path: ProjectId | None = None) -> Body:
    """A project's name, folder and description, by its id or its folder; one of them must be given."""
    found = [_project(app, named) for named in (id, path) if named is not None]
    if not found:
        raise invalid("id, path", "", "none of them was given; say which project is meant")
    if found[0].project != found[-1].project:
        raise invalid("id, path", f"{id}; {path}", "are two different projects; give one of them")
    return reports.project(found[0])


@tools.tool("List projects", read_only=True, idempotent=True)
def project_list(app: Retain, limit: Limit = 50, offset: Offset = 0) -> Body:
    """The projects that hold entries or were initialised, with their ids and folders."""
    found, total = projects.listed(app.engine.parts, app.caller(), limit, offset)
    return reports.projects(found, total, limit, offset)


@tools.tool("Start a development session")
def session_start(
    app: Retain,
    title: Annotated[Title, Field(description="What is to be done")],
    project_id: ProjectId,
    description: Description | None = None,
    tags: Tags | None = None,
) -> Body:
    """Begin a piece of work whose progress is to be kept. One that is still active in the project is aborted."""
    labels = tuple(tags or ())
    with together(starting_faults(title, description, labels)):
        caller = app.caller(project=project_id)
    return reports.started(app.engine.tracking.start(title, description, labels, caller))


@tools.tool("Log progress")
def session_log(
    app: Retain,
    session_id: Annotated[SessionId | None, Field(description="Default: the session started last")] = None,
    entry_type: Annotated[
        Entry | None, Field(description="issue: what went wrong; solution: what fixed it", json_schema_extra=INFO)
    ] = None,
    content: Annotated[Text | None, Field(description="What was done, found or solved")] = None,
    tags: Tags | None = None,
    message: Annotated[Text | None, Field(description="The same as content")] = None,
    type: Annotated[Entry | None, Field(description="The same as entry_type")] = None,
) -> Body:
    """Note a step, milestone, issue or solution of the running session; later sessions find it by searching."""
    faults = [*_apart("entry_type", entry_type, "type", type), *_apart("content", content, "message", message)]
    text, entry = content or message, EntryType(entry_type or type or EntryType.INFO)
    if text is None:
        faults.append(Fault("content", "", "is required; say what is to be noted"))
    if faults or text is None:
        raise InvalidInput(faults)
    return reports.logged(app.engine.tracking.log(session_id, entry, text, tuple(tags or ()), app.caller()))


@tools.tool("Complete a session")
def session_complete(
    app: Retain,
    outcome: Annotated[Text, Field(description="What came of it")],
    session_id: Annotated[SessionId | None, Field(description="Default: the session started last")] = None,
    summary: Annotated[Text | None, Field(description="How it went, for whoever goes on")] = None,
) -> Body:
    """End a session with what came of it."""
    return reports.completed(app.engine.tracking.complete(session_id, outcome, summary, app.caller()))


@tools.tool("Get a session", read_only=True, idempotent=True)
def session_get(app: Retain, id: SessionId) -> Body:
    """A session with its log and outcome. Call it to go on where earlier work ended."""
    return reports.session(app.engine.tracking.get(id, app.caller()))


@tools.tool("List sessions", read_only=True, idempotent=True)
def session_list(
    app: Retain,
    project_id: Annotated[ProjectId | None, Field(description="Default: all projects")] = None,
    status: Literal["active", "completed", "aborted"] | None = None,
    limit: Limit = 20,
    offset: Offset = 0,
) -> Body:
    """Development sessions, newest first."""
    project = None if project_id is None else _project(app, project_id).project.id
    state = WorkState(status) if status else None
    return reports.sessions(*app.engine.tracking.sessions(project, state, limit, offset, app.caller()))


@tools.tool("Abort sessions", destructive=True, idempotent=True)
def session_abort(app: Retain, project_id: ProjectId) -> Body:
    """End the active sessions of a project without an outcome; their logs are kept."""
    return reports.aborted(app.engine.tracking.abort(app.caller(project=project_id)))


@tools.tool("Search with facets", name="memory_faceted-search", read_only=True, idempotent=True)
def memory_faceted_search(
    app: Retain,
    query: Query,
    project_id: InProject = None,
    filters: Filters | None = None,
    include_facets: Annotated[bool | None, Field(description="Default: true")] = None,
    sort_by: SortBy | None = None,
    limit: Limit = 20,
    threshold: Threshold = 0.5,
) -> Body:
    """Search with filters and order of your choice, and counts of all matches by type, tag and length. Call it to see
    what there is about a subject."""
    asked = _narrowed(query, filters or Filters(), sort_by or SortBy(), threshold, limit)
    return reports.faceted(_found(app, asked, project_id), with_facets=include_facets is not False)


@tools.tool("Search with reasons", name="memory_enhanced-search", read_only=True, idempotent=True)
def memory_enhanced_search(
    app: Retain,
    query: Query,
    project_id: InProject = None,
    type: Type | None = None,
    limit: Limit = 10,
    threshold: Threshold = 0.5,
) -> Body:
    """Search by title, content, tags and age together; each result says why it was found and shows the passage."""
    asked = Search(query, (type,) if type else (), threshold=threshold, limit=limit)
    return reports.explained(_found(app, asked, project_id))


@tools.tool("Suggest searches", name="memory_search-suggestions", read_only=True, idempotent=True)
def memory_search_suggestions(
    app: Retain,
    partial_query: Annotated[str, Field(max_length=MAX_QUERY, pattern=NOT_BLANK, description="A word or a part")],
    project_id: InProject = None,
    limit: Limit = 10,
) -> Body:
    """Complete the beginning of a query from titles, tags, names and earlier searches that found something."""
    return reports.suggested(app.engine.lookup.suggest(partial_query, limit, app.caller(project=project_id)))


def _project(app: Retain, named: str) -> Profile:
    caller = app.caller(project=named)
    return projects.known(app.engine.parts, caller.project.id if caller.project else named, caller)


def _memory_id(id: str) -> str:
    """The id as it was given; what no memory can have as its id is not found, and no other sort of fault."""
    if undress(id) is None:
        raise NotFound(f"there is no memory {shorten(id)}", memory_id=id)
    return id


def _found(app: Retain, asked: Search, project_id: str | None) -> Matches:
    with together(search_faults(asked)):
        caller = app.caller(project=project_id)
    return app.engine.lookup.search(asked, caller)


def _apart(name: str, given: str | None, other: str, also: str | None) -> Iterator[Fault]:
    """What is wrong with a field of two names that has two values."""
    if given is not None and also is not None and given != also:
        yield Fault(f"{name}, {other}", f"{shorten(given)}; {shorten(also)}", "are the same field; give one of them")


def _narrowed(query: str, filters: Filters, sort_by: SortBy, threshold: float, limit: int) -> Search:
    return Search(
        query,
        tuple(filters.types or ()),
        tuple(filters.tags or ()),
        # Every entry has content, so who asks for those without finds none.
        MAX_TEXT + 1 if filters.has_content is False else filters.min_length or 0,
        threshold,
        limit,
        Sort(SortField(sort_by.field or SortField.RELEVANCE), _descending(sort_by)),
    )


def _descending(sort_by: SortBy) -> bool | None:
    return None if sort_by.direction is None else sort_by.direction == "desc"
