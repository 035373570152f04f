"""How often recall finds what answers a question, and where what it does not find is lost.

    python benchmarks/recall.py [developer] [changed] [tasks] [asides] [abroad] [locomo] [longmemeval] [--data FOLDER]

Every memory is told at its moment, half a year in all, and the questions come at the end (timeline.py, worlds.py).
any@k: at least one piece of evidence among the first k; rec@10: the share of the evidence among the first ten; MRR:
one over the place of the first; `among`, `rec among`: the same two for all candidates; `perfect@10`: what rec@10 would
be in a perfect order of the candidates; `current`: what holds now was found, and nothing outdated stood above it.
"""

import argparse
import time
from itertools import groupby
from pathlib import Path

from results import save
from retain.domain.recall import Strategy
from timeline import Answered, World, lived, report, table
from worlds import of

OWN = ("developer", "changed", "tasks", "asides", "abroad")  # sets that are in the repository
NAMES = (*OWN, "locomo", "longmemeval")
DATA = Path(__file__).parents[1] / "../shared/data"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[[], *NAMES], help="all of the repository's own, if none is named")
    parser.add_argument("--data", type=Path, default=DATA, help="where the public sets lie")
    parser.add_argument("--strategy", type=Strategy, default=Strategy.HYBRID)
    options = parser.parse_args()
    for name in options.names or OWN:
        reports = {}
        for title, worlds in groupby(of(name, options.data), key=lambda world: _title(name, world)):
            found = report([each for world in worlds for each in asked(world, options.strategy)])
            print(f"\n{title}\n{table(found)}", flush=True)
            reports[title] = found
        print("saved", save(name, {"strategy": options.strategy, "scores": reports}))


def _title(name: str, world: World) -> str:
    """Conversations are counted together, and the same memories over more days apart."""
    return name if name in ("locomo", "asides") else world.name


def asked(world: World, strategy: Strategy) -> list[Answered]:
    began = time.perf_counter()
    with lived(world) as told:
        print(f"  {world.name}: {len(world.said):,} told in {time.perf_counter() - began:.0f} s", flush=True)
        return list(told.answers(strategy))


if __name__ == "__main__":
    main()
