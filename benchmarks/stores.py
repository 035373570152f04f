"""SurrealDB beside SQLite: the same memories, asked for the same things, at 1,000, 10,000 and 100,000.

    python benchmarks/stores.py [--sizes 1000,10000,100000] [--kinds sqlite,memory,folder,socket]

Every row is a time, and beside it how many times as long it takes as SQLite in the same run. The server of the kind
`socket` is `retain db serve` in a process of its own.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from building import START, batches, caller
from corpus import model, questions
from measuring import Row, load_average, table
from results import save
from retain.db_server import USER
from retain.domain.changes import Changes
from retain.domain.ids import new_id
from retain.domain.memory import Embedding, Event, HistoryEntry, Kind, Memory, Place, Scope, Vector
from retain.domain.recall import Filter
from retain.domain.words import query_terms
from retain.ports import Store
from retain.stores.sqlite.store import SqliteStore
from retain.stores.surreal.link.connection import Address, in_folder, in_memory, on_server
from retain.stores.surreal.link.database import Database
from retain.stores.surreal.store import SurrealStore
from retain.stores.surreal.upkeep import folder_bytes

KINDS = ("sqlite", "memory", "folder", "socket")
ASKED, WRITTEN, RELATIONS = 60, 40, 2000
Measured = dict[str, float]


def main() -> None:
    options = _options()
    told: dict[str, dict[str, Measured]] = {}
    print(f"load average {load_average():.1f}", flush=True)
    for size in options.sizes:
        with tempfile.TemporaryDirectory(prefix="retain-stores-") as folder:
            found = {kind: measured(kind, size, Path(folder)) for kind in options.kinds}
        told[str(size)] = found
        print(f"\n{size:,} memories (load average {load_average():.1f})")
        print(table(list(_rows(found))), flush=True)
    print("saved", save("stores", {"load_average": load_average(), "sizes": told}))


def measured(kind: str, size: int, folder: Path) -> Measured:
    found: Measured = {}
    with _filled(kind, size, folder, found) as store:
        asked = list(questions(ASKED).items())
        wanted = _wanted()
        found["by vector, the first of all"] = _first_by_vector(store, asked[0][1])
        found["by vector, the first of a process"] = median(_first_by_vector(_cold(store), v) for _, v in asked[:5])
        found["by words"] = _times(lambda text, _: store.by_words(query_terms(text), wanted, 50), asked)
        found["by vector"] = _times(lambda _, v: store.by_vector(Vector(v), model().model, wanted, 50), asked)
        ids = [stored.memory.id for stored in store.listed(wanted, 200)]
        found["fifty memories by id"] = _median(lambda n: store.memories(ids[n : n + 50]))
        found["contexts of fifty"] = _median(lambda n: store.contexts(ids[n : n + 50], wanted, 2))
        found["the newest twenty"] = _median(lambda n: store.listed(wanted, 20))
        linked = list(dict.fromkeys(link.entity for link, _ in store.links(ids)))
        found["graph around twenty, the first of a process"] = _median(
            lambda n: _cold(store).around(linked[n : n + 20], ids[:10], wanted, START)
        )
        found["graph around twenty"] = _median(lambda n: store.around(linked[n : n + 20], ids[:10], wanted, START))
        found["counts"] = _median(lambda n: store.counts("", model().model))
        found["a write"] = _times(lambda text, vector: store.apply(_plan(text, Vector(vector))), asked[:WRITTEN])
    return found


def _cold(store: Store) -> Store:
    """The same database, as a process sees it that has read nothing yet."""
    return SurrealStore(store.db) if isinstance(store, SurrealStore) else SqliteStore(store.pool.path)


def _first_by_vector(store: Store, vector: bytes) -> float:
    began = time.perf_counter()
    store.by_vector(Vector(vector), model().model, _wanted(), 50)
    return (time.perf_counter() - began) * 1000


@contextmanager
def _filled(kind: str, size: int, folder: Path, found: Measured) -> Iterator[Store]:
    place = folder / f"{kind}-{size}"
    with _opened(kind, place) as store:
        began = time.perf_counter()
        for plan in _plans(size):
            store.apply(plan)
        found["filled, ms a memory"] = (time.perf_counter() - began) * 1000 / size
        if kind != "memory":
            found["KB on disk a memory"] = (
                (folder_bytes(place) if place.is_dir() else place.stat().st_size) / size / 1000
            )
        yield store


@contextmanager
def _opened(kind: str, place: Path) -> Iterator[Store]:
    if kind == "sqlite":
        with closing(SqliteStore(place)) as store:
            yield store
    elif kind == "memory":
        with closing(SurrealStore(in_memory(60.0))) as surreal:
            yield surreal
    elif kind == "folder":
        with closing(SurrealStore(in_folder(place, 60.0), folder=place)) as surreal:
            yield surreal
    else:
        with _serving(place) as address, closing(_on(address)) as surreal:
            yield surreal


def _on(address: Address) -> SurrealStore:
    return SurrealStore(Database(on_server(address, lambda: datetime.now(UTC)), 60.0))


@contextmanager
def _serving(place: Path) -> Iterator[Address]:
    """`retain db serve` on a folder, as a process of its own."""
    home = place.with_name(f"{place.name}-home")
    home.mkdir()
    password = home / "password"
    password.write_text("measuring\n")
    password.chmod(0o600)
    environment = {**os.environ, "RETAIN_HOME": str(home), "RETAIN_DB_PATH": str(place), "RETAIN_STORE": "surrealdb"}
    command = [sys.executable, "-m", "retain", "db", "serve", "--password-file", str(password)]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    socket = home / "run" / "db.sock"
    try:
        while not socket.exists():
            time.sleep(0.05)
        yield Address(f"unix:{socket}", USER, "measuring")
    finally:
        process.terminate()
        process.wait()


def _plans(size: int) -> Iterator[Changes]:
    """A thousand memories at a time, and relations two thousand."""
    for plan in batches(size):
        yield replace(plan, relations=())
        for start in range(0, len(plan.relations), RELATIONS):
            yield Changes(plan.at, relations=plan.relations[start : start + RELATIONS])


def _wanted() -> Filter:
    project = caller().project
    return Filter((Place(Scope.PROJECT, project=project.id if project else None), Place(Scope.USER)))


def _plan(text: str, vector: Vector) -> Changes:
    now, place = datetime.now(UTC), Place(Scope.PROJECT, project=caller().project.id if caller().project else None)
    memory = Memory(new_id(now), text, Kind.SEMANTIC, place, now, now, now, now)
    entry = HistoryEntry(memory.id, 1, Event.CREATED, text, 0.5, (), Scope.PROJECT, now)
    return Changes(
        now, memories=(memory,), history=(entry,), embeddings=(Embedding(memory.id, model().model, (vector,)),)
    )


def _times(call: Callable[[str, bytes], object], asked: list[tuple[str, bytes]]) -> float:
    return median(_spent(lambda text=text, vector=vector: call(text, vector)) for text, vector in asked)


def _median(call: Callable[[int], object], runs: int = 30) -> float:
    call(0)
    return median(_spent(lambda number=number: call(number)) for number in range(runs))


def _spent(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000


def _rows(found: Mapping[str, Measured]) -> Iterator[Row]:
    first = found.get("sqlite", {})
    for what in next(iter(found.values())):
        for kind, figures in found.items():
            if what in figures:
                times = f"{figures[what] / first[what]:.1f} × SQLite" if kind != "sqlite" and what in first else ""
                yield Row(f"{what}: {kind}", figures[what], "KB" if what.startswith("KB") else "ms", note=times)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=lambda given: [int(size) for size in given.split(",")], default=[1000, 10_000])
    parser.add_argument("--kinds", type=lambda given: given.split(","), default=list(KINDS))
    return parser.parse_args()


if __name__ == "__main__":
    main()
