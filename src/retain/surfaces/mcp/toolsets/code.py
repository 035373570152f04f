"""Code search: the five tools of the graph contract that are about code; the default set has two of them."""

from typing import Annotated, Literal

from pydantic import Field

from retain.app import Retain
from retain.domain.code import CodeIndex
from retain.engine.code.indexing.progress import progress_percent
from retain.engine.recall.recall import MAX_QUESTION
from retain.surfaces import code_reports
from retain.surfaces.mcp.arguments import NOT_BLANK
from retain.surfaces.mcp.progress import Progress
from retain.surfaces.mcp.tools import Toolset
from retain.surfaces.render import Body

tools = Toolset("code")

UserId = Annotated[str | None, Field(description="Whose, where several people share a store", max_length=200)]
ProjectId = Annotated[str, Field(description="As list_projects names it, or its folder", pattern=NOT_BLANK)]


@tools.tool("Index a project", idempotent=True)
def index_project(
    app: Retain,
    progress: Progress,
    path: Annotated[str, Field(description="The project's folder", pattern=NOT_BLANK)],
    watch: Annotated[bool, Field(description="Index again whenever files change, until this server ends")] = False,
    user_id: UserId = None,
) -> Body:
    """Make a codebase searchable with search_code. Call it once for a project, and again after large changes: only
    what changed is read again. A large project goes on in the background."""
    complete = code_reports.with_vectors(app)

    def tell(index: CodeIndex) -> None:
        progress(progress_percent(index, with_vectors=complete), 100, code_reports.said(index))

    return code_reports.indexed(app, app.engine.code.index(path, app.caller(user=user_id), watch=watch, progress=tell))


@tools.tool("Search code", read_only=True, idempotent=True)
def search_code(
    app: Retain,
    query: Annotated[
        str,
        Field(description="What the code does, or a name in it", max_length=MAX_QUESTION, pattern=NOT_BLANK),
    ],
    project_id: Annotated[ProjectId | None, Field(description="Default: the current project, else all")] = None,
    limit: Annotated[int, Field(ge=1, le=50)] = 10,
    language: Annotated[str | None, Field(description="Such as python or rust")] = None,
    look_for: Annotated[
        Literal["code", "definition", "references"],
        Field(description="definition, references: `query` is the name of a symbol"),
    ] = "code",
    user_id: UserId = None,
) -> Body:
    """Find functions, classes and sections of an indexed project by meaning and by name, with file and lines."""
    from retain.engine.code.finding.search import CodeQuestion

    caller, code = app.caller(user=user_id), app.engine.code
    asked = CodeQuestion(query, project_id, (language,) if language else (), limit)
    if look_for == "definition":
        return code_reports.definitions(code.definitions(asked, caller))
    if look_for == "references":
        return code_reports.references(code.references(asked, caller))
    answer = code.search(asked, caller)
    code.refresh(answer.stale, caller)
    return code_reports.found(answer)


@tools.tool("Indexing status", read_only=True, idempotent=True)
def get_index_status(app: Retain, project_id: ProjectId, user_id: UserId = None) -> Body:
    """How far indexing is: files, chunks, percent, seconds to go."""
    return code_reports.index(app, app.engine.code.status(project_id, app.caller(user=user_id)))


@tools.tool("List indexed projects", read_only=True, idempotent=True)
def list_projects(app: Retain, user_id: UserId = None) -> Body:
    """The projects that search_code can search."""
    found = app.engine.code.indexes(app.caller(user=user_id))
    return {"projects": [index.project.slug for index in found], "count": len(found)}


@tools.tool("Delete a project's index", destructive=True)
def delete_project(app: Retain, project_id: ProjectId, user_id: UserId = None) -> Body:
    """Delete all that was indexed of a project. Its files and its memories stay."""
    return {"chunks_deleted": app.engine.code.drop(project_id, app.caller(user=user_id))}
