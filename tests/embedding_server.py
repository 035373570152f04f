"""A small server that speaks OpenAI's embedding protocol, and can be held."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from retain.embedding.remote import Endpoint


class EmbeddingServer(ThreadingHTTPServer):
    """Counts characters; answers with the statuses in `troubles` first, and out of order, as the protocol allows.

    While `gate` is shut, requests of several texts wait: who embeds a heap stands still, who asks one thing does not.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.troubles = []
        self.seen = []
        self.dimensions = 8
        self.raw = None
        self.gate = threading.Event()
        self.gate.set()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def endpoint(self, **changes):
        return Endpoint(**{"url": self.url, "model": "counting", "pause": 0.0} | changes)

    def answer(self, texts):
        rows = [{"index": place, "embedding": self._row(text)} for place, text in enumerate(texts)]
        return json.dumps({"data": rows[::-1]}).encode() if self.raw is None else self.raw

    def handle_error(self, request, client_address):
        """A client that went away is what some tests are about."""

    def __enter__(self):
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.gate.set()
        self.shutdown()
        self.server_close()

    def _row(self, text):
        return [3.0 + sum(ord(letter) % self.dimensions == slot for letter in text) for slot in range(self.dimensions)]


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((self.path, self.headers.get("Authorization"), body))
        if len(body["input"]) > 1 and not self.server.gate.is_set():
            self._held(body["input"])
        else:
            self._answer(body["input"])

    def _answer(self, texts):
        status = self.server.troubles.pop(0) if self.server.troubles else 200
        if "" in texts:
            status = 400
        reply = self.server.answer(texts) if status == 200 else b'{"error": {"message": "no luck today"}}'
        self.send_response(status)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def _held(self, texts):
        """Answers when the gate opens; until then a blank now and then keeps the client from giving up."""
        self.send_response(200)
        self.end_headers()
        while not self.server.gate.wait(0.5):
            self.wfile.write(b" ")
            self.wfile.flush()
        self.wfile.write(self.server.answer(texts))

    def log_message(self, *_):
        return
