"""A local server that speaks Anthropic's Messages API and OpenAI's chat completions, and does as it is told."""

import json
import socket
import struct
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "sk-ant-test-0123456789abcdef"


@dataclass(frozen=True)
class Turn:
    """What one request is answered with: the text in its pieces, or some trouble."""

    text: str = "Fine."
    status: int = 200
    headers: dict = field(default_factory=dict)
    message: str = "no luck today"
    tokens: tuple = (11, 7)
    stop: str = "end_turn"
    reset: bool = False
    """The connection is torn down before anything is said."""
    ends_early: bool = False
    """The stream stops in the middle, as when a proxy gives up."""
    fails_midway: bool = False
    """An error comes in the middle of the stream."""
    hangs: bool = False
    """Nothing more is said after the headers, until the server is closed."""
    raw: bytes | None = None


class FakeApis(ThreadingHTTPServer):
    """Answers with the turns that it was given, in order, and with the last one from then on."""

    daemon_threads = True

    def __init__(self, *turns):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.turns = list(turns) or [Turn()]
        self.seen = []
        self.closing = threading.Event()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def script(self, *turns):
        self.turns = [turn if isinstance(turn, Turn) else Turn(turn) for turn in turns]

    def next_turn(self):
        return self.turns.pop(0) if len(self.turns) > 1 else self.turns[0]

    def bodies(self):
        return [body for _, _, body in self.seen]

    def handle_error(self, request, client_address):
        """A client that went away is what some tests are about."""

    def __enter__(self):
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.closing.set()
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = self.path.partition("?")[0]
        self.server.seen.append((path, dict(self.headers), body))
        if path.endswith("count_tokens"):
            return self._whole(200, b'{"input_tokens": 5}')
        turn = self.server.next_turn()
        if turn.reset:
            return self._reset()
        if turn.status != 200:
            error = {"type": "error", "error": {"type": "trouble", "message": turn.message}}
            return self._whole(turn.status, json.dumps(error).encode(), turn.headers)
        if turn.raw is not None:
            return self._whole(200, turn.raw)
        events = _anthropic(turn) if path.endswith("/messages") else _openai(turn)
        return self._stream(events, turn)

    def _reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def _whole(self, status, reply, headers=()):
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **dict(headers)}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def _stream(self, events, turn):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        kept = events[: len(events) // 2] if turn.ends_early or turn.fails_midway or turn.hangs else events
        for event in [*kept, *([_FAILURE] if turn.fails_midway else [])]:
            self.wfile.write(event.encode())
            self.wfile.flush()
        if turn.hangs:
            self.server.closing.wait(60)

    def log_message(self, *_):
        return


_FAILURE = 'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}\n\n'


def _pieces(text):
    return [text[start : start + 8] for start in range(0, len(text), 8)]


def _anthropic(turn):
    sent, made = turn.tokens
    usage = {"input_tokens": sent, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "fake", "content": [], "usage": usage}
    message |= {"stop_reason": None, "stop_sequence": None}
    events = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *[
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
            for piece in _pieces(turn.text)
        ],
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": turn.stop, "stop_sequence": None},
            "usage": {"output_tokens": made},
        },
        {"type": "message_stop"},
    ]
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]


def _openai(turn):
    sent, made = turn.tokens
    stop = {"end_turn": "stop", "max_tokens": "length"}.get(turn.stop, turn.stop)
    chunks = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]},
        *[{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in _pieces(turn.text)],
        {"choices": [{"index": 0, "delta": {}, "finish_reason": stop}]},
        {"choices": [], "usage": {"prompt_tokens": sent, "completion_tokens": made}},
    ]
    return [": keep-alive\n\n", *[f"data: {json.dumps(chunk)}\n\n" for chunk in chunks], "data: [DONE]\n\n"]
