"""The MCP server: tools and resources of an application, in both eras of the protocol."""

import difflib
import json
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Protocol, TypeVar

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from retain.domain.connection import noticing
from retain.domain.visible import visible, visible_in
from retain.errors import RetainError, UnknownTool, shorten
from retain.standing import Notice
from retain.surfaces import degraded
from retain.surfaces.mcp import arguments
from retain.surfaces.mcp.progress import Progress, progress_for
from retain.surfaces.mcp.subscriptions import Context, ResourceSpec, Subscriptions
from retain.surfaces.mcp.tools import PROGRESS, Tool, Toolset, envelope, merged

logger = logging.getLogger(__name__)

# Calls that run at once; more wait their turn while pings and cancellations still get through.
WORKERS = 8

T = TypeVar("T")


class Application(Protocol):
    """What the server itself needs of the application that its tools are given."""

    @property
    def notices(self) -> Callable[[], Sequence[Notice]]:
        """What every reply is to say."""
        ...

    def change_number(self) -> int: ...
    def close(self) -> None: ...


App = TypeVar("App", bound=Application)


@dataclass(frozen=True)
class Offer(Generic[App]):
    """What a server has for its clients.

    Tools and resources are asked for when a client first does: the handshake does not wait for
    the imports behind them.
    """

    version: str
    instructions: str
    toolsets: Callable[[], Sequence[Toolset]]
    resources: Callable[[], Sequence[ResourceSpec[App]]] | None = None


class RetainServer(Generic[App]):
    """An application behind the SDK's low-level server, `sdk`, which any transport can run."""

    def __init__(self, make_app: Callable[[], App], offer: Offer[App]) -> None:
        self._offer = offer
        self._make_app = make_app
        self._app: App | None = None
        self._lock = threading.Lock()
        self._ends: list[Callable[[], None]] = []
        self._subscriptions = Subscriptions(
            self._change_number, lambda: self._resources, lambda uri: self._marked(self._resources[uri])
        )
        self._limiter = anyio.CapacityLimiter(WORKERS)
        self.sdk = Server(
            "retain",
            version=offer.version,
            instructions=offer.instructions,
            lifespan=self._lifespan,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )
        if offer.resources:
            self._serve_resources()

    @property
    def app(self) -> App:
        """The application, made when it is first needed."""
        with self._lock:
            if self._app is None:
                self._app = self._make_app()
            return self._app

    def close(self) -> None:
        for end in self._ends:
            end()
        if self._app is not None:
            self._app.close()

    def at_close(self, end: Callable[[], None]) -> None:
        """Has something ended before the application is: it must be quick."""
        self._ends.append(end)

    def prepare(self) -> None:
        """Makes what the first call will need."""
        _ = [tool.input_schema for tool in self._tools.values()]

    def _change_number(self) -> int:
        return self.app.change_number()

    @cached_property
    def _toolsets(self) -> Sequence[Toolset]:
        return self._offer.toolsets()

    @cached_property
    def _tools(self) -> dict[str, Tool]:
        return merged(self._toolsets)

    @cached_property
    def _resources(self) -> dict[str, ResourceSpec[App]]:
        return {resource.uri: resource for resource in (self._offer.resources or tuple)()}

    def notify(self, uri: str) -> None:
        """Tell subscribers that a resource changed; may be called from any thread."""
        self._subscriptions.notify(uri)

    def _serve_resources(self) -> None:
        add = self.sdk.add_request_handler
        add("resources/list", types.PaginatedRequestParams, self._list_resources)
        add("resources/templates/list", types.PaginatedRequestParams, self._list_templates)
        add("resources/read", types.ReadResourceRequestParams, self._read_resource)
        add("resources/subscribe", types.SubscribeRequestParams, self._subscribe)
        add("resources/unsubscribe", types.UnsubscribeRequestParams, self._unsubscribe)
        add("subscriptions/listen", types.SubscriptionsListenRequestParams, self._subscriptions.listen)

    @asynccontextmanager
    async def _lifespan(self, _: Server[None]) -> AsyncIterator[None]:
        async with self._subscriptions.watching():
            yield

    async def _list_tools(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=await self._in_thread(lambda: list(map(_listed, self._tools.values()))))

    async def _call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = (await self._in_thread(lambda: self._tools)).get(params.name)
        if tool is None:
            return _answer(self._toolsets[0].envelope(self._no_tool(params.name)), failed=True)
        try:
            extra = {PROGRESS: progress_for(ctx)} if tool.reports else {}
            began = time.monotonic()
            result = await self._in_thread(lambda: self._call(tool, params.arguments, extra))
            _log(tool, params.arguments, result, time.monotonic() - began)
            return result
        finally:
            self._subscriptions.look_now()

    def _call(
        self, tool: Tool, given: Mapping[str, object] | None, extra: Mapping[str, Progress]
    ) -> types.CallToolResult:
        try:
            with noticing() as met:
                body = tool.function(self.app, **arguments.read(tool, given), **extra)
            return _answer(degraded.marked(body, met, self.app.notices()))
        except RetainError as error:
            failure = tool.envelope(error)
        except Exception as error:
            logger.exception("%s failed", tool.name)
            failure = tool.envelope(_unforeseen(tool.name, error))
        # Some clients hold even an error to the output schema; then the text has to do.
        return _answer(self._noted(failure), failed=True, structured=tool.output is None)

    def _noted(self, failure: Mapping[str, object] | str) -> Mapping[str, object] | str:
        """What was not found may be in what is missing."""
        return degraded.noted(failure, self.app.notices())

    def _no_tool(self, name: str) -> UnknownTool:
        near = difflib.get_close_matches(name, self._tools, n=3, cutoff=0.4)
        told = f"there is no tool {shorten(name)}" + (f"; close to it: {', '.join(near)}" if near else "")
        return UnknownTool(told, method=shorten(name), close=near)

    async def _list_resources(self, _: Context, __: types.PaginatedRequestParams) -> types.ListResourcesResult:
        return types.ListResourcesResult(
            resources=[
                types.Resource(uri=each.uri, name=each.name, description=each.description, mime_type=each.mime_type)
                for each in self._resources.values()
            ]
        )

    async def _list_templates(self, _: Context, __: types.PaginatedRequestParams) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[])

    async def _read_resource(self, _: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        resource = self._resource(params.uri)
        try:
            text = await self._in_thread(lambda: self._text(resource))
        except RetainError as error:
            raise MCPError(types.INTERNAL_ERROR, error.message, envelope(error)) from error
        except Exception as error:
            logger.exception("%s could not be read", resource.uri)
            raise MCPError(types.INTERNAL_ERROR, _unforeseen(resource.uri, error).message) from error
        contents = types.TextResourceContents(uri=resource.uri, mime_type=resource.mime_type, text=visible(text))
        return types.ReadResourceResult(contents=[contents])

    def _text(self, resource: ResourceSpec[App]) -> str:
        """JSON has its own place for what stands."""
        text = resource.read(self.app)
        return text if resource.mime_type == "application/json" else str(degraded.noted(text, self.app.notices()))

    def _marked(self, resource: ResourceSpec[App]) -> str:
        return resource.mark(self.app) if resource.mark else self._text(resource)

    async def _subscribe(self, ctx: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        await self._subscriptions.subscribe(self._resource(params.uri).uri, ctx.session)
        return types.EmptyResult()

    async def _unsubscribe(self, _: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        self._subscriptions.unsubscribe(params.uri)
        return types.EmptyResult()

    def _resource(self, uri: str) -> ResourceSpec[App]:
        if uri not in self._resources:
            known = ", ".join(self._resources)
            raise MCPError(types.INVALID_PARAMS, f"there is no resource {shorten(uri)}; known are {known}")
        return self._resources[uri]

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(work, limiter=self._limiter)


def _log(tool: Tool, given: Mapping[str, object] | None, result: types.CallToolResult, seconds: float) -> None:
    """Names and times only: a log must not hold what people remember."""
    named = ", ".join(name for name in tool.input_schema["properties"] if name in (given or ()))
    ended = "refused" if result.is_error else "answered"
    logger.debug("%s(%s) was %s in %.0f ms", tool.name, named, ended, 1000 * seconds)


def _listed(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=tool.hints.get("read_only", False),
            destructive_hint=tool.hints.get("destructive", False),
            idempotent_hint=tool.hints.get("idempotent", False),
            open_world_hint=False,
        ),
        _meta=tool.meta,
    )


def _answer(body: Mapping[str, object] | str, *, failed: bool = False, structured: bool = True) -> types.CallToolResult:
    """A result whose text and structure say the same; a plain string has no structure.

    What nobody sees stays behind: a file name or a memory from before may hold it, also halves of pairs, which would
    end the SDK's writer.
    """
    if isinstance(body, str):
        return types.CallToolResult(content=[types.TextContent(text=visible(body))], is_error=failed)
    seen = visible_in(dict(body))
    return types.CallToolResult(
        content=[types.TextContent(text=json.dumps(seen, separators=(",", ":"), ensure_ascii=False, allow_nan=False))],
        structured_content=seen if structured else None,
        is_error=failed,
    )


def _unforeseen(what: str, error: Exception) -> RetainError:
    return RetainError(f"{what} failed inside Retain ({type(error).__name__}); its log has the details")
