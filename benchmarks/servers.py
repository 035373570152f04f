"""Real servers, spoken to over pipes: how soon they answer, how they fare side by side, what memory they take."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from building import FOLDERS, copy_of
from corpus import model, questions, texts
from measuring import Row, Times, timed
from retain.config import apart

EMPTY = "from mcp.server import MCPServer; MCPServer('empty').run()"
RETAIN = [sys.executable, "-m", "retain", "serve"]
PROC = Path("/proc")
MB = 1_000_000
ASKED, WARM_UP, PAUSE = 220, 20, 0.02


class Server:
    """A server process and the one client that it has."""

    def __init__(self, command: list[str], env: dict[str, str], log: Path | None = None) -> None:
        self.began = time.perf_counter()
        errors = log.open("wb") if log else subprocess.DEVNULL
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=env)
        self._number = 0

    def hello(self) -> float:
        """Seconds from the start of the process to the answer."""
        client = {"name": "latency", "version": "1"}
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        answered = time.perf_counter() - self.began
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answered

    def ask(self, method: str, **params: object) -> Any:
        self._number += 1
        self._write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        while (answer := json.loads(self._line())).get("id") != self._number:
            pass  # a notification
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def call(self, tool: str, **arguments: object) -> Any:
        result = self.ask("tools/call", name=tool, arguments=arguments)
        if result.get("isError"):
            raise RuntimeError(f"{tool}: {result['content']}")
        return json.loads(result["content"][0]["text"])

    def when_ready(self) -> "Server":
        """Waits for the model, if there is to be one."""
        while self.call("get_memory_status")["storage"]["embedding_state"] == "loading":
            time.sleep(0.1)
        return self

    def ticks(self) -> int:
        """Processor time so far, in hundredths of a second on most systems."""
        fields = (PROC / str(self._process.pid) / "stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    def resident(self) -> float:
        """MB of memory that is really there."""
        lines = (PROC / str(self._process.pid) / "status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 / MB for line in lines if line.startswith("VmRSS"))

    def __enter__(self) -> "Server":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.stdin.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def _write(self, message: dict[str, object]) -> None:
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _line(self) -> bytes:
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server left with {self._process.wait()}")
        return line


def environment(home: Path, file: Path | None = None, **settings: str) -> dict[str, str]:
    named = {f"RETAIN_{name.upper()}": value for name, value in settings.items()}
    stored = {"RETAIN_DB_PATH": str(file)} if file else {}
    return {**apart(home), "RETAIN_PROJECT_DIR": str(FOLDERS[0]), "RETAIN_LOG_LEVEL": "error", **stored, **named}


def startup(runs: int) -> Iterator[Row]:
    """Alternating, so that whatever else the machine does falls on both."""
    ours, empty = [], []
    with tempfile.TemporaryDirectory() as folder:
        env = environment(Path(folder))
        for _ in range(runs + 1):
            empty.append(_first_answers([sys.executable, "-c", EMPTY], env))
            ours.append(_first_answers(RETAIN, env))
    for place, what in enumerate(("initialize", "tools/list")):
        mine, theirs = ([run[place] for run in them[1:]] for them in (ours, empty))
        ratio = statistics.median(a / b for a, b in zip(mine, theirs, strict=True))
        note = f"{statistics.median(mine) * 1000:.0f} ms against {statistics.median(theirs) * 1000:.0f} ms"
        yield Row(f"spawn → {what}, of an empty server", ratio, "×", 1.3 if place == 0 else None, note=note)


def _first_answers(command: list[str], env: dict[str, str]) -> tuple[float, float]:
    with Server(command, env) as server:
        answered = server.hello()
        server.ask("tools/list")
        return answered, time.perf_counter() - server.began


def recalls(sizes: list[int]) -> Iterator[Row]:
    """As a client meets them, without the second look: the first of a new server at once, later ones beside the
    embedding of the question."""
    model().wait(60)
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            home = Path(folder)
            with Server(RETAIN, environment(home, copy_of(size, home), second_look="no")) as server:
                server.hello()
                began = time.perf_counter()
                _recall(server)
                first = (time.perf_counter() - began) * 1000
                yield Row(f"first recall of a new server at {size:,}", first, target=500 if size == 100_000 else None)
                server.when_ready()
                yield _through_mcp(server, size)


def _through_mcp(server: Server, size: int) -> Row:
    """Turn by turn. Beside it the processor time of both, which tells more than the clock on a busy machine; that of
    the server has what it does after its reply."""
    asked = list(questions(ASKED))
    for text in asked[:WARM_UP]:
        _recall(server, text)
    ours, least, before = Times([], []), Times([], []), server.ticks()
    for text in asked[WARM_UP:]:
        ours.add(timed([lambda text=text: _recall(server, text)]))
        least.add(timed([lambda text=text: model().embed([f"{text} again"])]))
        time.sleep(PAUSE)
    spent = (server.ticks() - before) * 1000 / os.sysconf("SC_CLK_TCK") / len(ours.wall)
    cpu = f"cpu {spent:.1f} against {statistics.median(least.cpu):.1f}"
    note = f"{ours.median:.1f} ms against {least.median:.1f} ms; {cpu}"
    target = 2.0 if size == 10_000 else None
    what = f"recall through MCP at {size:,}, of the embedding of its question"
    return Row(what, ours.median / least.median, "×", target, note=note)


def memory(sizes: list[int]) -> Iterator[Row]:
    if not PROC.is_dir():
        return
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with Server(RETAIN, environment(home, embedding_model="off")) as server:
            server.hello()
            server.ask("tools/list")
            time.sleep(1)
            yield Row("memory after tools/list, no model", server.resident(), "MB", 120)
            _recall(server)
            without = server.resident()
            yield Row("memory after the first recall, no model", without, "MB", 120)
        used = {size: _resident_at(size, home) for size in sizes}
    yield Row(f"memory with the model at {sizes[0]:,}, more than without", used[sizes[0]] - without, "MB", 150)
    if len(sizes) > 1:
        small, large = sizes[0], sizes[-1]
        growth = (used[large] - used[small]) * 1000 / (large - small)
        yield Row(f"memory for each memory, {small:,} to {large:,}", growth, "KB", 0.6)


def _resident_at(size: int, home: Path) -> float:
    """After some recalls on a store of this size."""
    with Server(RETAIN, environment(home, copy_of(size, home))) as server:
        server.hello()
        server.when_ready()
        for text in texts()[:20]:
            _recall(server, text)
        return server.resident()


def _recall(server: Server, text: str = "how are headers parsed") -> None:
    server.call("recall_memories", query=text[:200])


def cores() -> int:
    return os.cpu_count() or 1
