"""Searches, lists and suggestions that leave nothing out, beside the least that each could cost.

    python benchmarks/lookup.py [--quick]

A search scores every memory that its filter lets pass, so it is set against one product of a matrix that
lies ready in memory; a page against SQLite's own offset on the same table. Stores are those of latency.py.
"""

import argparse
import sqlite3
import statistics
from collections.abc import Callable, Iterator
from contextlib import closing

import numpy as np

import servers
from building import caller, store_of
from corpus import LookedUp, questions, vectors
from engine_speed import engine_on
from measuring import Row, Times, load_average, table, timed
from results import save
from retain.domain.memory import Vector
from retain.domain.recall import Filter
from retain.engine.engine import Engine
from retain.engine.lookup.matching import Search
from retain.engine.parts import places
from retain.engine.recall.recall import Question

ASKED = 60
WARM_UP = 10
PAGES = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="up to 10,000 memories")
    options = parser.parse_args()
    rows = [row for size in [1000, 10_000] + ([] if options.quick else [100_000]) for row in _at(size)]
    print(f"load average {load_average():.1f} on {servers.cores()} cores\n{table(rows)}")
    machine = {"cores": servers.cores(), "load_average": load_average()}
    print("saved", save("lookup", {"machine": machine, "rows": [row.told() for row in rows]}))


def _at(size: int) -> Iterator[Row]:
    asked = questions(ASKED + WARM_UP)
    with engine_on(store_of(size), LookedUp(asked)) as engine:
        yield from _searching(engine, size, asked)
        yield from _paging(engine, size)
        prefixes = [text.split()[0][:4] for text in list(asked)[:ASKED]]
        yield _warm([lambda p=p: engine.lookup.suggest(p, 10, caller()) for p in prefixes]).row(
            f"suggestions at {size:,}"
        )


def _searching(engine: Engine, size: int, asked: dict[str, Vector]) -> Iterator[Row]:
    matches: list[int] = []

    def search(text: str) -> None:
        matches.append(engine.lookup.search(Search(text, threshold=0.5), caller()).total)

    ours = _warm([lambda text=text: search(text) for text in asked])
    beside = _warm([lambda text=text: engine.recall(Question(text), caller()) for text in asked])
    matrix = vectors(size).astype(np.float32)
    products = _warm([lambda v=v: matrix @ np.frombuffer(v, dtype="<f4") for v in asked.values()])
    found = f"{statistics.median(matches):.0f} matches in the middle, {max(matches)} at most"
    note = f"{ours.median:.1f} ms; recall {beside.median:.1f}, the product alone {products.median:.2f}; {found}"
    yield Row(f"search with facets at {size:,}, of a recall", ours.median / beside.median, "×", note=note)
    everything = _warm(
        [lambda text=text: engine.lookup.search(Search(text, threshold=0.0), caller()) for text in asked]
    )
    yield everything.row(f"search with threshold 0 at {size:,}")


def _paging(engine: Engine, size: int) -> Iterator[Row]:
    offsets = np.linspace(0, size // 20, PAGES).astype(int) * 20
    ours = timed([lambda o=int(o): engine.lookup.page(caller(), (), (), 20, o) for o in offsets])
    keys = Filter(places(caller())).place_keys
    query = f"""select id, title, substr(text, 1, 200), tags from memory where place in ({",".join("?" * len(keys))})
        and state = 'active' order by event_time desc limit 20 offset ?"""
    with closing(sqlite3.connect(store_of(size))) as db:
        plain = timed([lambda o=int(o): db.execute(query, (*keys, o)).fetchall() for o in offsets])
    note = f"{ours.median:.2f} ms against {plain.median:.2f} ms"
    yield Row(f"page and total at {size:,}, of a page by offset", ours.median / plain.median, "×", note=note)


def _warm(calls: list[Callable[[], object]]) -> Times:
    times = timed(calls)
    return Times(times.wall[WARM_UP:], times.cpu[WARM_UP:])


if __name__ == "__main__":
    main()
