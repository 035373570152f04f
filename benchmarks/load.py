"""Eight windows on one store: one consolidates, one writes all the time, the others recall now and then."""

import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from building import copy_of
from corpus import texts
from measuring import Row, quantile
from servers import PROC, RETAIN, Server, environment

SERVERS = 8
PAUSE = 0.4  # seconds between two recalls of one window
IDLE = 10.0
# A process that only computes for as long as it is told: what the machine itself gives under the same load.
SPIN = """
import sys, time
for line in sys.stdin:
    end = time.process_time() + float(line)
    while time.process_time() < end: pass
    print(flush=True)
"""


def loaded(seconds: float, size: int = 10_000) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as windows:
        env = environment(Path(folder), copy_of(size, Path(folder)))
        servers = [windows.enter_context(Server(RETAIN, env)) for _ in range(SERVERS)]
        for server in servers:
            server.hello()
        for server in servers:
            server.when_ready()
        for server in servers:
            _recalls(server, 0, _after(1))  # the first recall reads the index: that is measured elsewhere
        alone = _recalls(servers[2], 100, _after(seconds / 2))
        busy, bare, done = _all_at_once(servers, seconds, statistics.median(alone))
        yield from _rows(alone, busy, done)
        yield _as_bare(alone, busy, bare)
        yield from _idle(servers)


def _rows(alone: list[float], busy: list[float], done: dict[str, int]) -> Iterator[Row]:
    median = statistics.median(alone)
    note = f"alone p50 {median:.1f} ms, p99 {quantile(alone, 0.99):.1f} ms; {len(alone)} recalls, query embedded"
    yield Row("recall by a server, alone", median, note=note)
    beside = f"{done['stored']} stored and {done['consolidated']} consolidated meanwhile; {len(busy)} recalls"
    yield Row("recall by 6 servers under load, p50", statistics.median(busy), note=beside)
    tail = quantile(busy, 0.99)
    yield Row("p99 under load, of the median alone", tail / median, "×", 5.0, note=f"{tail:.1f} ms")


def _as_bare(alone: list[float], busy: list[float], bare: list[float]) -> Row:
    median, p99 = statistics.median(bare), quantile(bare, 0.99)
    note = f"it alone {statistics.median(alone):.1f} ms by design; under load p50 {median:.1f}, p99 {p99:.1f} ms"
    return Row("p99 under load, of a process that only computes", quantile(busy, 0.99) / p99, "×", note=note)


def _all_at_once(
    servers: list[Server], seconds: float, milliseconds: float
) -> tuple[list[float], list[float], dict[str, int]]:
    over, busy, bare, done = _after(seconds), [], [], {"stored": 0, "consolidated": 0}

    def consolidate() -> None:
        session = 0
        while not over():
            servers[0].call("reflect_and_consolidate", session_id=f"session-{session}")
            session, done["consolidated"] = session + 1, done["consolidated"] + 1

    def store() -> None:
        for text in reversed(texts()):
            if over():
                return
            servers[1].call("store_memory", content=f"Indexed: {text}", type="semantic", scope="project")
            done["stored"] += 1

    def recall(number: int) -> Callable[[], None]:
        return lambda: busy.extend(_recalls(servers[number], 1000 * number, over))

    work = [
        consolidate,
        store,
        lambda: bare.extend(_spins(milliseconds, over)),
        *(recall(number) for number in range(2, len(servers))),
    ]
    threads = [threading.Thread(target=each) for each in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return busy, bare, done


def _recalls(server: Server, start: int, over: Callable[[], bool]) -> list[float]:
    """Milliseconds of recalls, each of a text that was not asked for before."""
    spent = []
    for text in texts()[start:]:
        if over():
            break
        began = time.perf_counter()
        server.call("recall_memories", query=" ".join(text.split()[:12]))
        spent.append((time.perf_counter() - began) * 1000)
        time.sleep(PAUSE / 4 if start < 1000 else PAUSE)
    return spent


def _spins(milliseconds: float, over: Callable[[], bool]) -> list[float]:
    """As `_recalls`, by the process that only computes."""
    spent = []
    command = [sys.executable, "-c", SPIN]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        while not over():
            began = time.perf_counter()
            process.stdin.write(f"{milliseconds / 1000}\n")
            process.stdin.flush()
            process.stdout.readline()
            spent.append((time.perf_counter() - began) * 1000)
            time.sleep(PAUSE / 4)
    return spent


def _after(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


def _idle(servers: list[Server]) -> Iterator[Row]:
    if PROC.is_dir():
        time.sleep(2)  # what was left to do in the background
        before = [server.ticks() for server in servers]
        time.sleep(IDLE)
        used = [server.ticks() - ticks for server, ticks in zip(servers, before, strict=True)]
        yield Row(f"processor time of idle servers in {IDLE:g} s, most", max(used), "ticks", 0, note=f"each: {used}")
