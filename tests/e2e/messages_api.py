"""A stand-in for the Messages API: answers a client from a script, and keeps every request for a test to look at.

A script is a list of turns. A turn is a text, or an object with `content` (blocks as the API has them; the id of a
`tool_use` is filled in), and on demand `when` (answers only requests in which this expression is found), `times` (how
often; a turn with `when` answers for ever), `usage` (to make a context look full), `error` (`{"status": …, "message":
…}`), `delay` (seconds before the first byte) and `hang` (true: the answer never ends). Turns with `when` come first;
the others are used up in order, and after the last of them every answer is "Done.".
"""

import json
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Block = dict[str, Any]
_FROM_HOOK = re.compile(r"(\w+)(?::\w+)? hook additional context: ")
_FRAME = re.compile(r"<retain-notes>\n?(.*?)</retain-notes>", re.DOTALL)


@dataclass(frozen=True)
class Turn:
    """One answer of the model, and which requests it is for."""

    content: tuple[Block, ...]
    when: str | None = None
    times: int | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    error: Mapping[str, Any] | None = None
    delay: float = 0.0
    hang: bool = False

    @classmethod
    def of(cls, told: "str | Mapping[str, Any] | Turn") -> "Turn":
        if isinstance(told, Turn):
            return told
        if isinstance(told, str):
            return cls((text(told),))
        content = told.get("content", ())
        blocks = (text(content),) if isinstance(content, str) else tuple(content)
        return cls(**{**told, "content": blocks})


def text(said: str) -> Block:
    return {"type": "text", "text": said}


def tool(name: str, **given: Any) -> Block:
    """A tool that the model wants to use."""
    return {"type": "tool_use", "name": name, "input": given}


def calls(*blocks: Block, **options: Any) -> Turn:
    """A turn of the model that uses tools."""
    return Turn.of({"content": blocks, **options})


@dataclass(frozen=True)
class Note:
    """A frame of notes, and the event whose hook put it there."""

    event: str
    text: str

    @property
    def lines(self) -> list[str]:
        """What it says, one memory a line: without what says that these are notes, and without headings."""
        return [line for line in self.text.splitlines() if line.startswith("- ")]


def notes_in(said: str, event: str | None = None) -> Iterator[Note]:
    """Frames in a text, each from the event that is named before it, or from this one."""
    for frame in _FRAME.finditer(said):
        events = [event] if event else _FROM_HOOK.findall(said[: frame.start()])
        if events:
            yield Note(events[-1], frame[1].strip())


@dataclass(frozen=True)
class Request:
    """What a client sent: the whole of what the model gets to see."""

    path: str
    body: Mapping[str, Any]
    at: float

    @property
    def texts(self) -> list[str]:
        """Every text in it, in the order in which the model reads them."""
        found = list(_texts(self.body.get("system")))
        for message in self.body.get("messages", ()):
            found += _texts(message.get("content"))
        return found

    @property
    def whole(self) -> str:
        return "\n".join(self.texts)

    @property
    def notes(self) -> "list[Note]":
        """What memory has put in front of the model, in the order in which it is read."""
        return [note for said in self._by_the_client() for note in notes_in(said)]

    def _by_the_client(self) -> Iterator[str]:
        """Texts that are neither a user's nor a tool's, which may look the same and are nobody's notes."""
        for message in self.body.get("messages", ()):
            for found in _texts(message.get("content")):
                if message["role"] == "system" or found.startswith("<system-reminder>"):
                    yield found

    @property
    def tools(self) -> list[str]:
        return [tool["name"] for tool in self.body.get("tools", ())]

    @property
    def last_result(self) -> str:
        """What the last tool answered."""
        results = [block for block in _blocks(self.body) if block.get("type") == "tool_result"]
        return "\n".join(_texts(results[-1].get("content"))) if results else ""


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for block in content:
            yield from _texts(block.get("text") or block.get("content") if isinstance(block, dict) else block)


def _blocks(body: Mapping[str, Any]) -> Iterator[Block]:
    for message in body.get("messages", ()):
        if isinstance(message.get("content"), list):
            yield from message["content"]


class Script:
    """The turns that are still to come."""

    def __init__(self, turns: Sequence["str | Mapping[str, Any] | Turn"] = ()) -> None:
        self._lock = threading.Lock()
        self._aimed: list[list[Any]] = []
        self._queue: list[Turn] = []
        self.add(*turns)

    def add(self, *turns: "str | Mapping[str, Any] | Turn") -> None:
        with self._lock:
            for turn in map(Turn.of, turns):
                if turn.when is None:
                    self._queue.append(turn)
                else:
                    self._aimed.append([turn, turn.times])

    def answer(self, request: Request) -> Turn:
        whole = json.dumps(request.body, ensure_ascii=False)
        with self._lock:
            for entry in self._aimed:
                turn, left = entry
                if left != 0 and re.search(turn.when, whole):
                    entry[1] = None if left is None else left - 1
                    return turn
            return self._queue.pop(0) if self._queue else Turn.of("Done.")

    @property
    def left(self) -> int:
        """How many turns nobody has asked for."""
        with self._lock:
            return len(self._queue)


class MessagesApi:
    """The stand-in at work, on a port of its own."""

    def __init__(self, *turns: "str | Mapping[str, Any] | Turn") -> None:
        self.script = Script(turns)
        self.seen: list[Request] = []
        self.ended = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.api = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def requests(self) -> list[Request]:
        """Those for which a model would have thought."""
        return [request for request in self.seen if request.path == "/v1/messages"]

    def answering(self, *turns: "str | Mapping[str, Any] | Turn") -> "MessagesApi":
        """The same, with these turns to come."""
        self.script.add(*turns)
        return self

    def close(self) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)

    def __enter__(self) -> "MessagesApi":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    api: MessagesApi

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves in the middle of an answer is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *arguments: Any) -> None:
        """Quiet: what was asked is in `seen`."""

    def do_GET(self) -> None:
        self._reply(404, _failure(404, f"nothing at {self.path}"))

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        request = Request(self.path.partition("?")[0], json.loads(self.rfile.read(size) or "{}"), time.monotonic())
        api = self.server.api
        api.seen.append(request)
        if request.path == "/v1/messages/count_tokens":
            self._reply(200, {"input_tokens": len(request.whole) // 4})
        elif request.path != "/v1/messages":
            self._reply(404, _failure(404, f"nothing at {self.path}"))
        else:
            self._think(request, api.script.answer(request))

    def _think(self, request: Request, turn: Turn) -> None:
        ended = self.server.api.ended
        ended.wait(turn.delay)
        if turn.error:
            status = int(turn.error.get("status", 500))
            self._reply(status, _failure(status, str(turn.error.get("message", "scripted failure"))))
            return
        message = _message(request, turn, len(self.server.api.seen))
        if not request.body.get("stream"):
            self._reply(200, message)
            return
        self._stream(message, turn.hang)

    def _reply(self, status: int, body: Mapping[str, Any]) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def _stream(self, message: Mapping[str, Any], hang: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in _events(message):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()
            if hang:
                self.server.api.ended.wait()
                return


def _failure(status: int, message: str) -> dict[str, Any]:
    kinds = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}
    return {"type": "error", "error": {"type": kinds.get(status, "api_error"), "message": message}}


def _message(request: Request, turn: Turn, number: int) -> dict[str, Any]:
    blocks = [
        {"id": f"toolu_{number:04}{place:02}", **block} if block["type"] == "tool_use" else dict(block)
        for place, block in enumerate(turn.content)
    ]
    usage = {
        "input_tokens": len(json.dumps(request.body)) // 4,
        "output_tokens": len(json.dumps(blocks)) // 4,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        **turn.usage,
    }
    uses = any(block["type"] == "tool_use" for block in blocks)
    return {
        "id": f"msg_{number:06}",
        "type": "message",
        "role": "assistant",
        "model": request.body.get("model", "scripted"),
        "content": blocks,
        "stop_reason": "tool_use" if uses else "end_turn",
        "stop_sequence": None,
        "usage": usage,
    }


def _events(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A message as the API streams it."""
    usage = message["usage"]
    begun = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(message["content"]):
        if block["type"] == "tool_use":
            empty, delta = (
                {**block, "input": {}},
                {"type": "input_json_delta", "partial_json": json.dumps(block["input"])},
            )
        else:
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": usage["output_tokens"]}}
    yield {"type": "message_stop"}
