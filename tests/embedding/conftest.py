"""The three embedders, and a small server that speaks OpenAI's embedding protocol."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from retain.embedding.hashed import HashedEmbedder
from retain.embedding.onnx import OnnxEmbedder
from retain.embedding.remote import Endpoint, RemoteEmbedder


class OpenAI(ThreadingHTTPServer):
    """Counts characters; answers with the statuses in `troubles` first, and out of order, as the protocol allows."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.troubles = []
        self.seen = []
        self.dimensions = 8
        self.raw = None

    def endpoint(self, **changes):
        return Endpoint(**{"url": f"http://127.0.0.1:{self.server_port}", "model": "counting", "pause": 0.0} | changes)

    def answer(self, texts):
        rows = [{"index": place, "embedding": self._row(text)} for place, text in enumerate(texts)]
        return json.dumps({"data": rows[::-1]}).encode() if self.raw is None else self.raw

    def _row(self, text):
        return [3.0 + sum(ord(letter) % self.dimensions == slot for letter in text) for slot in range(self.dimensions)]


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((self.path, self.headers.get("Authorization"), body))
        status = self.server.troubles.pop(0) if self.server.troubles else 200
        if "" in body["input"]:
            status = 400
        reply = self.server.answer(body["input"]) if status == 200 else b'{"error": {"message": "no luck today"}}'
        self.send_response(status)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_):
        return


class Ticks:
    """A clock that moves when it is told to."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def ticks():
    return Ticks()


@pytest.fixture
def openai():
    with OpenAI() as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture(scope="session")
def bundled_model():
    return OnnxEmbedder()


@pytest.fixture(params=["bundled", "remote", "hashed"])
def embedder(request):
    if request.param == "bundled":
        return request.getfixturevalue("bundled_model")
    if request.param == "remote":
        return RemoteEmbedder(request.getfixturevalue("openai").endpoint())
    return HashedEmbedder()
