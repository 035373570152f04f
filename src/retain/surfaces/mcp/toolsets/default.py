"""The default toolset: the scoped tools, and what a coding agent needs beside them."""

from typing import Annotated

from pydantic import Field

from retain.app import Retain
from retain.surfaces import render
from retain.surfaces.mcp.tools import Toolset
from retain.surfaces.mcp.toolsets import audrey, capture, code, scoped
from retain.surfaces.render import Body

tools = Toolset("default")
for _tool in scoped.tools.tools:
    tools.add(_tool)


@tools.tool("Get a memory", read_only=True, idempotent=True)
def get_memory(app: Retain, id: Annotated[str, Field(description="As recall returns it: memory:<id>")]) -> Body:
    """The whole text of one memory with all of its fields. Call it when recall shortened a text."""
    return render.whole(app.engine.get(id, app.caller()))


for _tool in (*capture.tools.tools, *code.tools.tools, *audrey.tools.tools):
    if _tool.name in ("memory_ask", "index_project", "search_code", "memory_resolve_truth"):
        tools.add(_tool)
