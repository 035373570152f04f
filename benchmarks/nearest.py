"""How many of the ten nearest vectors SurrealDB's own index (HNSW) finds and how long it takes, beside the sign bits.

    python benchmarks/nearest.py --size 10000

Real texts, asked for by others of their texts. The engine runs in this process, so what a server takes for the
same is a little more. A graph is measured once it is built: until then the engine compares with every new vector.
"""

import argparse
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

import servers
import signs
from corpus import Array, is_asked, questions, vectors
from measuring import Row, load_average, table, timed
from retain.stores.signs import CANDIDATE_SHARE, EXACT
from retain.stores.surreal.link.connection import in_memory
from retain.stores.surreal.link.database import Batch, Database
from retain.stores.surreal.vectors.hnsw import FEWEST

BUILT = ("EFC 100 M 12", "EFC 150 M 16", "EFC 200 M 24")
WIDTHS = (100, 200, 400, 800)
ASKED = 100
TOP = 10
AT_ONCE = 100
BUILDING = 600.0  # seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=10_000, help="vectors to search among")
    parser.add_argument("--built", nargs="+", default=BUILT, help="how the graph is built, such as 'EFC 150 M 16'")
    options = parser.parse_args()
    print(f"load average {load_average():.1f} on {servers.cores()} cores", flush=True)
    print(table(list(measured(options.size, options.built))))


def measured(size: int, built: Sequence[str]) -> Iterator[Row]:
    numbers = vectors(size + size // 10)
    stored = numbers[[place for place in range(len(numbers)) if not is_asked(place)]][:size]
    asked = np.stack([np.frombuffer(vector, dtype="<f4") for vector in questions(ASKED).values()])
    kept = max(EXACT, int(CANDIDATE_SHARE * len(stored)))
    by_signs = signs.share_found(stored, asked, kept)
    yield Row(f"recall@10 by sign bits of {len(stored):,}", by_signs, "", note=f"{by_signs:.4f}")
    nearest = [set(np.argpartition(-(stored @ query), TOP)[:TOP].tolist()) for query in asked]
    for how in built:
        db = _filled(stored, how)
        for width in WIDTHS:
            yield from _searched(db, asked, nearest, f"{how}, width {width}", width)
        db.close()


def _filled(stored: Array, built: str) -> Database:
    db = in_memory()
    db.query_seconds = BUILDING
    db.run(
        "DEFINE TABLE nearest SCHEMAFULL; DEFINE FIELD v ON nearest TYPE array<float>;"
        f"DEFINE INDEX nearest_v ON nearest FIELDS v HNSW DIMENSION {stored.shape[1]} DIST COSINE TYPE F32 {built}"
    )
    for start in range(0, len(stored), AT_ONCE):
        batch, some = Batch(), stored[start : start + AT_ONCE].tolist()
        batch.insert("nearest", [{"id": start + place, "v": vector} for place, vector in enumerate(some)])
        db.commit(batch)
    db.run("REBUILD INDEX nearest_v ON nearest")
    return db


def _searched(db: Database, asked: Array, nearest: Sequence[set[int]], what: str, width: int) -> Iterator[Row]:
    found: list[set[int]] = []
    query = f"SELECT VALUE id FROM nearest WHERE v <|{FEWEST},{width}|> $vector"
    times = timed([partial(_ask, db, query, vector, found) for vector in asked.tolist()])
    share = sum(len(some & best) for some, best in zip(found, nearest, strict=True)) / (TOP * len(nearest))
    yield Row(f"recall@10 by {what}", share, "", note=f"{share:.4f}")
    yield times.row(f"  {FEWEST} nearest by {what}")


def _ask(db: Database, query: str, vector: list[float], found: list[set[int]]) -> None:
    found.append(set(db.rows(query, vector=vector)))


if __name__ == "__main__":
    main()
