"""The speed that the design promises, measured: medians, and where it can be as ratios to something a reader knows.

    python benchmarks/latency.py [--quick] [--million] [--only startup,store,recall,…] [--real 40000]

Nothing fails here because of a time: machines differ, and so does what else they do. Stores and
vectors are made once and kept in benchmarks/.cache.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator

import engine_speed
import footprint
import load
import servers
import signs
from measuring import Row, load_average, table
from results import save

Section = Callable[[argparse.Namespace], Iterator[Row]]


def main() -> None:
    options = _options()
    print(f"load average {load_average():.1f} on {servers.cores()} cores", flush=True)
    rows: dict[str, list[Row]] = {}
    for name in options.only:
        began = time.perf_counter()
        rows[name] = list(SECTIONS[name](options))
        print(f"\n{name} ({time.perf_counter() - began:.0f} s, load average {load_average():.1f})")
        print(table(rows[name]), flush=True)
    missed = [row.what for them in rows.values() for row in them if row.verdict == "missed"]
    print(f"\n{len(missed)} targets missed" + "".join(f"\n  {what}" for what in missed))
    told = {name: [row.told() for row in them] for name, them in rows.items()}
    machine = {"cores": servers.cores(), "load_average": load_average(), "python": sys.version.split()[0]}
    print("saved", save("latency", {"quick": options.quick, "machine": machine, "rows": told}))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="about two minutes: up to 10,000 memories")
    parser.add_argument("--million", action="store_true", help="recall at a million too; building that takes long")
    parser.add_argument("--only", type=_names, default=list(SECTIONS), help=f"of {','.join(SECTIONS)}")
    parser.add_argument("--real", type=int, help="how many real texts the search by sign bits is tried on")
    options = parser.parse_args()
    options.sizes = [1000, 10_000] + ([] if options.quick else [100_000]) + ([1_000_000] if options.million else [])
    options.real = options.real or (6000 if options.quick else 20_000)
    return options


def _names(given: str) -> list[str]:
    unknown = [name for name in given.split(",") if name not in SECTIONS]
    if unknown:
        raise argparse.ArgumentTypeError(f"no section {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    return given.split(",")


SECTIONS: dict[str, Section] = {
    "startup": lambda options: servers.startup(7 if options.quick else 11),
    "store": lambda options: engine_speed.storing([1000, 10_000]),
    "recall": lambda options: engine_speed.recalling(options.sizes),
    "served": lambda options: servers.recalls([size for size in options.sizes if size in (10_000, 100_000)]),
    "signs": lambda options: signs.finding(options.real),
    "context": lambda options: engine_speed.context(),
    "graph": lambda options: engine_speed.graph(),
    "consolidation": lambda options: engine_speed.consolidation(),
    "load": lambda options: load.loaded(10 if options.quick else 40),
    "memory": lambda options: servers.memory([size for size in options.sizes if size in (10_000, 100_000)]),
    "disk": lambda options: footprint.disk(1000 if options.quick else 3000),
    "install": lambda options: footprint.install(),
}


if __name__ == "__main__":
    main()
