"""Serving over stdio: input that the SDK would leave unanswered, and leaving in good order."""

import asyncio
import codecs
import logging
import os
import re
import signal
import threading
from collections.abc import AsyncIterable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from io import TextIOWrapper
from typing import Any, NoReturn, Protocol, cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)
from pydantic import ValidationError

from retain.surfaces.mcp.arguments import NOT_TEXT
from retain.surfaces.mcp.request_ids import RequestIds
from retain.surfaces.mcp.server import App, RetainServer

logger = logging.getLogger(__name__)

# After the client closed its end, running calls get this long to be answered.
GRACE_SECONDS = 3.0
# A client sends SIGTERM 100 ms after SIGINT and SIGKILL 400 ms later.
CLOSE_SECONDS = 0.4
# Lets the first answer and the client's next requests pass before the model takes the processor.
READY_SECONDS = 0.05

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE = re.compile(
    r"\\(?:[^u]|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|u)"
)


def serve(server: RetainServer[App], on_ready: Callable[[], None] | None = None) -> NoReturn:
    """Serve until the client closes stdin or a signal comes; closes the application and exits.

    `on_ready` runs in a thread of its own soon after the first answer.
    """
    leave = partial(_leave, server.close)
    try:
        anyio.run(_Wire(on_ready, partial(leave, 0)).run, server.sdk)
    except* BrokenPipeError:
        logger.info("the client closed its end")
    except* Exception:
        logger.exception("the server broke down")
        leave(1)
    leave(0)


def repaired(line: str) -> str:
    """The line with every escape of half a surrogate pair replaced by a mark that arguments refuse."""
    if not _SURROGATE.search(line):
        return line
    return _ESCAPE.sub(lambda escape: NOT_TEXT if escape[1] else escape[0], line)


def _leave(close: Callable[[], None], code: int) -> NoReturn:
    """End the process at once: a reader blocked on stdin, or a long call, would hold up any other way."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    closing = threading.Thread(target=close, daemon=True)
    closing.start()
    closing.join(CLOSE_SECONDS)
    os._exit(code)


class _Lines(TextIOWrapper):
    """Input as lines of text that the SDK can parse; blank ones are skipped."""

    ids: RequestIds

    # typeshed itself has TextIOWrapper at odds with its base here.
    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        line = super().readline(size)
        while line.isspace():
            line = super().readline(size)
        return repaired(self.ids.readable(line))


def _stdin(ids: RequestIds) -> _Lines:
    """The client's stream under a private number: a child process must not read from it."""
    codecs.register_error("retain", _marked)
    private = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    lines = _Lines(os.fdopen(private, "rb"), encoding="utf-8", errors="retain", newline="\n")
    lines.ids = ids
    return lines


def _marked(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return NOT_TEXT, error.end


class _Outlet(Protocol):
    """The SDK's way out; its own name for it is private."""

    async def send(self, item: SessionMessage, /) -> None: ...
    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class _Addressed:
    """An answer whose id no model can hold."""

    message: JSONRPCMessage
    known: str
    written: str

    def model_dump_json(self, **options: Any) -> str:
        return self.message.model_dump_json(**options).replace(self.known, self.written, 1)


class _Wire:
    """Stands between the SDK's stdio streams and its server, and knows what is still unanswered."""

    def __init__(self, on_ready: Callable[[], None] | None, give_up: Callable[[], NoReturn]) -> None:
        self._on_ready = on_ready
        self._give_up = give_up
        self._unanswered: set[RequestId | None] = set()
        self._ids = RequestIds()

    async def run(self, server: Server[Any]) -> None:
        # Through the loop: inside a signal handler the interrupted code may hold any lock.
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(self._give_up))
        to_server, requests = anyio.create_memory_object_stream[SessionMessage | Exception]()
        answers, from_server = anyio.create_memory_object_stream[SessionMessage]()
        async with (
            stdio_server(anyio.wrap_file(_stdin(self._ids))) as (read, write),
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(self._receive, read, to_server, write)
            tasks.start_soon(self._send, from_server, write)
            await server.run(requests, answers, server.create_initialization_options())

    async def _receive(
        self,
        read: AsyncIterable[SessionMessage | Exception],
        to_server: MemoryObjectSendStream[SessionMessage | Exception],
        write: _Outlet,
    ) -> None:
        async with to_server:
            async for item in read:
                if isinstance(item, Exception):
                    await write.send(self._addressed(_unreadable(item)))
                else:
                    self._note(item.message)
                    await to_server.send(item)
            with anyio.move_on_after(GRACE_SECONDS):
                while self._unanswered:
                    await anyio.sleep(0.01)
            if self._unanswered:
                self._give_up()

    async def _send(self, from_server: MemoryObjectReceiveStream[SessionMessage], write: _Outlet) -> None:
        async with aclosing(write):
            async for item in from_server:
                await write.send(self._addressed(item))
                if isinstance(item.message, JSONRPCResponse | JSONRPCError):
                    self._unanswered.discard(item.message.id)
                if isinstance(item.message, JSONRPCResponse):
                    self._ready()

    def _addressed(self, item: SessionMessage) -> SessionMessage:
        """The answer under the id that the client wrote."""
        id = getattr(item.message, "id", None)
        written = self._ids.written(id)
        if written is None:
            return item
        # The SDK asks a message for its text and for nothing else.
        return SessionMessage(cast(JSONRPCMessage, _Addressed(item.message, f'"id":"{id}"', f'"id":{written}')))

    def _note(self, message: object) -> None:
        match message:
            case JSONRPCRequest(method=method, id=id) if method != "subscriptions/listen":
                self._unanswered.add(id)
            case JSONRPCNotification(method="notifications/cancelled", params={"requestId": str() | int() as id}):
                self._unanswered.discard(id)

    def _ready(self) -> None:
        if self._on_ready is not None:
            timer = threading.Timer(READY_SECONDS, self._on_ready)
            timer.daemon = True
            timer.start()
            self._on_ready = None


def _unreadable(error: Exception) -> SessionMessage:
    """The answer to a line that is no request; the SDK would drop it without a word."""
    found = error.errors() if isinstance(error, ValidationError) else []
    if any(each["type"] == "json_invalid" for each in found):
        reason = ErrorData(code=PARSE_ERROR, message="the line is not JSON")
    else:
        reason = ErrorData(code=INVALID_REQUEST, message="the line is not a JSON-RPC 2.0 message")
    ids = [each["input"]["id"] for each in found if isinstance(each["input"], dict) and "id" in each["input"]]
    id = next((id for id in ids if isinstance(id, str | int) and not isinstance(id, bool)), None)
    if ids and id is None:
        reason = ErrorData(code=INVALID_REQUEST, message="id must be a string or a number; nothing was done")
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=id, error=reason))
