"""How fast the engine is inside one process: storing, recalling, context, graph, consolidation."""

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np

from building import START, caller, copy_of, projects, store_of
from corpus import LookedUp, model, questions, texts, vectors
from measuring import Row, Times, timed
from retain.app import SystemClock
from retain.domain.memory import Kind, Vector
from retain.domain.recall import Strategy
from retain.embedding.off import NoEmbedder
from retain.engine.context import Task
from retain.engine.drafts import Draft
from retain.engine.engine import Engine
from retain.engine.knowledge.walk import GraphQuestion
from retain.engine.parts import Parts
from retain.engine.recall.recall import Question
from retain.ports import Embedder
from retain.stores.sqlite.store import SqliteStore

TARGETS = {10_000: 5.0, 100_000: 20.0, 1_000_000: 100.0}
WARM_UP = 20
ASKED = 200
STORED = 60
SESSION = 200
BUDGET = 20.0  # seconds for one kind of recall: where each takes long, fewer are measured
PAUSE = 0.005  # lets the background count accesses, as it would between two real calls


@contextmanager
def engine_on(file: Path, embedder: Embedder) -> Iterator[Engine]:
    engine = Engine(Parts(SqliteStore(file), embedder, SystemClock()))
    try:
        yield engine
    finally:
        engine.settle(10)
        engine.close()


def storing(sizes: list[int]) -> Iterator[Row]:
    """A memory through the engine beside the least that it could cost, turn by turn."""
    model().wait(60)
    for size in sizes:
        with tempfile.TemporaryDirectory(dir=store_of(size).parent) as folder:
            yield from _beside_the_model(size, Path(folder))
        memory_disk = Path("/dev/shm")
        with tempfile.TemporaryDirectory(dir=memory_disk if memory_disk.is_dir() else None) as folder:
            yield _bare(size, Path(folder))


def _beside_the_model(size: int, folder: Path) -> Iterator[Row]:
    fresh = _short_texts(2 * STORED, after=size)  # other texts for each size: the model remembers what it has seen
    ours, least = Times([], []), Times([], [])
    with engine_on(copy_of(size, folder), model()) as engine, (folder / "log").open("ab") as log:
        engine.remember(Draft("The first write also reads the index."), caller())
        for mine, theirs in zip(fresh[::2], fresh[1::2], strict=True):
            ours.add(timed([lambda mine=mine: engine.remember(Draft(mine), caller())]))
            least.add(timed([lambda theirs=theirs: _embed_and_sync(theirs, log)]))
    spent = f"cpu {statistics.median(ours.cpu):.1f} against {statistics.median(least.cpu):.1f}"
    note = f"{ours.median:.1f} ms against {least.median:.1f} ms; {spent}"
    ratio = statistics.median(a / b for a, b in zip(ours.wall, least.wall, strict=True))
    yield Row(f"store with embedding at {size:,}, of embedding + fsync", ratio, "×", 1.5, note=note)


def _bare(size: int, folder: Path) -> Row:
    with engine_on(copy_of(size, folder), NoEmbedder("measured without")) as engine:
        calls = [lambda text=text: engine.remember(Draft(text), caller()) for text in _short_texts(10 + 4 * STORED)]
        timed(calls[:10])
        return timed(calls[10:]).row(f"store without model and fsync at {size:,}", 1.0)


def _embed_and_sync(text: str, log: object) -> None:
    model().embed([text])
    log.write(b"x" * 4096)
    log.flush()
    os.fsync(log.fileno())


def _short_texts(number: int, after: int = 0) -> list[str]:
    """From the end: stores are made from the beginning."""
    return [text for text in reversed(texts()) if 8 <= len(text.split()) <= 25][after : after + number]


def recalling(sizes: list[int]) -> Iterator[Row]:
    asked = questions(ASKED + WARM_UP)
    for size in sizes:
        with engine_on(store_of(size), LookedUp(asked)) as engine:
            yield from _recalls(engine, size, list(asked))


def _recalls(engine: Engine, size: int, asked: list[str]) -> Iterator[Row]:
    half = START + timedelta(days=180)
    yield timed([_asking(engine, Question(asked[0]))]).row(f"first recall at {size:,}")
    kinds: dict[str, Callable[[str], Question]] = {
        "hybrid recall": Question,
        "keyword recall": lambda text: Question(text, strategy=Strategy.KEYWORD),
        "recall by one of 2 tags": lambda text: Question(text, tags=("tag-3", "tag-7")),
        "recall after half of the time": lambda text: Question(text, after=half),
        "recall of one kind": lambda text: Question(text, kinds=(Kind.PROCEDURAL,)),
    }
    for name, question in kinds.items():
        times = _within_budget([_asking(engine, question(text)) for text in asked])
        yield times.row(f"{name} at {size:,}", TARGETS.get(size) if question is Question else None)


def _within_budget(calls: list[Callable[[], object]]) -> Times:
    """The first calls warm up, unless there is time for no more."""
    times, end = Times([], []), time.monotonic() + BUDGET
    for call in calls:
        times.add(timed([call]))
        time.sleep(PAUSE)
        if time.monotonic() > end:
            break
    warm = min(WARM_UP, len(times.wall) // 2)
    return Times(times.wall[warm:], times.cpu[warm:])


def _asking(engine: Engine, question: Question) -> Callable[[], object]:
    return lambda: engine.recall(question, caller())


def context(size: int = 10_000) -> Iterator[Row]:
    """The model has seen every task before: embedding is measured with storing."""
    asked = questions(ASKED // 2)
    tasks = [Task(text, (f"src/{n % 10}/module_{n}.py",)) for n, text in enumerate(asked)]
    with engine_on(store_of(size), LookedUp(asked)) as engine:
        calls = [lambda task=task: engine.context(task, caller("session-3")) for task in tasks]
        timed(calls)
        yield timed(calls).row(f"context block at {size:,}", 30.0)


def graph(size: int = 10_000) -> Iterator[Row]:
    with engine_on(store_of(size), LookedUp({})) as engine:
        names = engine.parts.store.entity_names([projects()[0].id])
        chosen = np.random.default_rng(1).choice(len(names), 60, replace=False)
        calls = [lambda n=n: engine.search_graph(GraphQuestion(names[n], depth=3), caller()) for n in chosen]
        timed(calls[:WARM_UP])
        yield timed(calls[WARM_UP:]).row("graph, depth 3, 10k entities / 50k relations", 20.0)


def consolidation() -> Iterator[Row]:
    """A session of 200: twenty themes, each a real text with the nine nearest to it."""
    model().wait(60)
    known = _themes()
    with tempfile.TemporaryDirectory() as folder, engine_on(Path(folder) / "one.db", LookedUp(known)) as engine:
        here = replace(caller(), session="long")
        for text in known:
            engine.remember(Draft(text, Kind.EPISODIC), here)
        planned = timed([lambda: engine.consolidate(here, None, "full", dry_run=True)] * 3)
        began = time.perf_counter()
        done = engine.consolidate(here, None, "full", dry_run=False)
        seconds = time.perf_counter() - began
    made = f"{done.analysed} analysed, {len(done.memories)} facts, {len(done.patterns)} patterns"
    note = f"{made}; planned only {planned.median / 1000:.2f} s"
    yield Row(f"consolidation of a session of {len(known)}", seconds, "s", 2.0, note=note)


def _themes() -> dict[str, Vector]:
    numbers = vectors(6000)
    chosen: dict[int, None] = {}
    for seed in np.random.default_rng(2).permutation(len(numbers)):
        near = np.argsort(-(numbers @ numbers[seed]))[: SESSION // 20]
        chosen.update(dict.fromkeys(int(place) for place in near))
        if len(chosen) >= SESSION:
            break
    return {texts()[place]: Vector(numbers[place].astype("<f4").tobytes()) for place in list(chosen)[:SESSION]}
