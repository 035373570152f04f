"""A client that shows every byte, and the ways in which tests start a server and open a memory."""

import json
import os
import select
import subprocess
import sys
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

from comparing import PATIENT
from fakes import EagerJudge
from retain.app import Retain
from retain.config import apart, load
from retain.errors import RetainError
from retain.surfaces.mcp import arguments
from retain.surfaces.mcp.progress import silent
from retain.surfaces.mcp.tools import PROGRESS, Tool
from retain.surfaces.mcp.toolsets import audrey, bank, capture, default, graph
from retain.wiring import make_bare_store

SOURCES = Path(__file__).parents[2] / "src"
PATHS = {"PYTHONPATH": str(SOURCES)}
HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
TOOLS = {tool.name: tool for tool in default.tools.tools}
GRAPH = {tool.name: tool for tool in graph.tools.tools}
CAPTURE = {tool.name: tool for tool in capture.tools.tools}
BANK = {tool.name: tool for tool in bank.tools.tools}
AUDREY = {tool.name: tool for tool in audrey.tools.tools}
ON_SURREALDB = os.environ.get("RETAIN_TEST_STORE") == "surrealdb"


class Wire:
    """A server process at the other end of two pipes; `seen` holds the notifications that came between answers."""

    def __init__(self, *command: str, env: dict[str, str] | None = None, **options: Any) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**(os.environ if env is None else env), **PATHS},
            **options,
        )
        # Not `select`, which knows no file above 1,024: SurrealDB's engine opens one for each thread of the machine.
        self.readable = select.poll()
        self.readable.register(self.process.stdout, select.POLLIN)
        self.buffer, self.number, self.seen = bytearray(), -1, []

    def line(self, seconds=20):
        return json.loads(self.bare(seconds))

    def bare(self, seconds=20):
        """The next line as it is."""
        while b"\n" not in self.buffer:
            assert self.readable.poll(seconds * 1000), "no answer"
            chunk = os.read(self.process.stdout.fileno(), 65536)
            assert chunk, self.process.stderr.read().decode()
            self.buffer += chunk
        line, _, self.buffer = self.buffer.partition(b"\n")
        return bytes(line)

    def raw(self, line: bytes):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def tell(self, method, **params):
        self.raw(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def send(self, method, **params):
        self.number += 1
        self.raw(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}).encode())
        return self.number

    def ask(self, method, **params):
        return self.answer_to(self.send(method, **params))

    def answer_to(self, number):
        while (message := self.line()).get("id") != number:
            self.seen.append(message)
        return message

    def call(self, tool, /, **arguments):
        return self.ask("tools/call", name=tool, arguments=arguments)["result"]

    def body(self, tool, /, **arguments):
        """What a call says, whether it went well or not."""
        return json.loads(self.call(tool, **arguments)["content"][0]["text"])

    def read(self, uri):
        return self.ask("resources/read", uri=uri)["result"]["contents"][0]["text"]

    def hello(self, version="2025-06-18"):
        client = {"name": "test", "version": "1"}
        answer = self.ask("initialize", protocolVersion=version, capabilities={}, clientInfo=client)["result"]
        self.tell("notifications/initialized")
        return answer

    def leave(self):
        """Closes the server's input; says how it ended and what it logged."""
        self.process.stdin.close()
        log = self.process.stderr.read().decode()
        return self.process.wait(20), log

    def end(self):
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()


def problems(result):
    """The faults of a refused call by field."""
    assert result["isError"]
    return {fault["field"]: fault["problem"] for fault in result["structuredContent"]["faults"]}


def serve_command(toolset: str = "default") -> list[str]:
    return [sys.executable, "-m", "retain", "serve", "--toolset", toolset]


def environment(home: Path, **settings: object) -> dict[str, str]:
    """What a server needs to know to keep its memory in `home` and work in a project beside it."""
    project = home / "shop"
    project.mkdir(parents=True, exist_ok=True)
    named = {f"RETAIN_{name.upper()}": str(value) for name, value in {**where_kept(home), **settings}.items()}
    base = {"RETAIN_EMBEDDING_MODEL": "hashed", "RETAIN_SESSION_ID": "s1", "RETAIN_PROJECT_DIR": str(project)}
    return {**apart(home), **base, **named}


def where_kept(home: Path) -> dict[str, str]:
    """Settings for the store that the tests are run on: SQLite, or with RETAIN_TEST_STORE=surrealdb a database of its
    own on a real server for each home."""
    if not ON_SURREALDB:
        return {}
    from surreal_server import shared

    server = shared()
    login = {"remote_url": server.url, "remote_user": server.user, "remote_pass": server.password}
    return {"deployment_mode": "remote", "database": f"home-{sha256(str(home).encode()).hexdigest()[:16]}", **login}


def in_place(path: Path) -> dict[str, object]:
    """Settings for a store in this place on this machine, whichever store the tests are run on."""
    return {"db_path": path, "deployment_mode": "embedded-file", "store": "surrealdb" if ON_SURREALDB else "sqlite"}


class Desk:
    """Calls tools as the server does, on a memory in this process; those of the default set unless told otherwise."""

    def __init__(self, home: Path, tools: dict[str, Tool] = TOOLS, judge: Any = None, **settings: object) -> None:
        self.tools = tools
        project = home / "shop"
        own = {"home": home, "project_dir": project, "session_id": "s1", "embedding_model": "hashed"}
        given = {**own, **where_kept(home), **settings}
        loaded = load(given, {"RETAIN_CONFIG_PATH": os.devnull, "HOME": str(home)})
        self.app = Retain(loaded, judge=judge or EagerJudge(), patience=PATIENT)

    @property
    def store(self):
        return self.app.engine.parts.store

    def __call__(self, name: str, /, **given: object) -> dict[str, Any]:
        tool = self.tools[name]
        extra = {PROGRESS: silent} if tool.reports else {}
        body = tool.function(self.app, **arguments.read(tool, given), **extra)
        return json.loads(json.dumps(body, allow_nan=False))

    def refused(self, name: str, /, **given: object) -> dict[str, Any]:
        """The envelope of a call that has to fail."""
        try:
            done = self(name, **given)
        except RetainError as error:
            return json.loads(json.dumps(self.tools[name].envelope(error)))
        raise AssertionError(f"{name} was to fail and said {str(done)[:300]}")

    def stored(self, content: str, **given: object) -> str:
        """The id of a memory, a fact of the project unless said otherwise."""
        return self("store_memory", **{"content": content, "type": "semantic", "scope": "project", **given})[
            "memory_id"
        ]

    def noted(self, content: str, **given: object) -> str:
        """The id of a memory that was stored with the graph tools."""
        return self("store_memory", content=content, **given)["id"]

    def found(self, query: str, **given: object) -> list[str]:
        """The texts that recall brings, best first."""
        return [hit["content"] for hit in self("recall_memories", query=query, **given)["memories"]]

    def keeps(self, words: str) -> bool:
        """Whether they are anywhere in what is kept: in a file here, or in the database."""
        files = self.app.settings.home.rglob("*.db*")
        return any(words.encode() in file.read_bytes() for file in files) or words in str(self._rows())

    def _rows(self) -> list[object]:
        """All that is in the database on the server, and nothing where there is none."""
        if not ON_SURREALDB:
            return []
        with closing(make_bare_store(self.app.settings)) as store:
            tables = store.db.run("INFO FOR DB")[0]["tables"]
            return [store.db.run(f"SELECT * FROM {table}") for table in tables]

    def settled(self) -> "Desk":
        assert self.app.engine.settle(10)
        return self
