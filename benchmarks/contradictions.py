"""How well the rules tell contradictions from refinements, repetitions and unrelated statements.

    python benchmarks/contradictions.py [--show tuned] [--only held written]

Pairs are in tests/contradictions. People who had not read the rules wrote and labelled `tuned`, `held` and `fresh`; on
`tuned` and `held` the rules were mended afterwards, `fresh` is looked at only as figures, and seldom. `written` is by
the authors of the rules.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

import numpy as np

from corpus import model
from results import save
from retain.engine.lifecycle.contradictions import clash

PAIRS = Path(__file__).parents[1] / "tests" / "contradictions"
OPEN = ("tuned", "held", "written")  # may be looked into
SETS = (*OPEN, "fresh")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", choices=OPEN, help="print the pairs of this set on which the rules are wrong")
    parser.add_argument("--only", choices=SETS, nargs="+", default=SETS, help="the sets to measure")
    options = parser.parse_args()
    model().wait(60)
    told = {name: _measured(name, show=name == options.show) for name in options.only}
    print("saved", save("contradictions", told))


def _measured(name: str, *, show: bool) -> dict[str, float]:
    pairs = [json.loads(line) for line in (PAIRS / f"{name}.jsonl").read_text().splitlines()]
    found = [clash(pair["old"], pair["new"], cosine=_cosine(pair["old"], pair["new"])) for pair in pairs]
    right = sum(1 for pair, one in zip(pairs, found, strict=True) if one and pair["label"] == "contradiction")
    wrong = Counter(pair["label"] for pair, one in zip(pairs, found, strict=True) if one)
    del wrong["contradiction"]
    there = sum(pair["label"] == "contradiction" for pair in pairs)
    precision, recall = right / max(right + wrong.total(), 1), right / there
    print(f"{name:7} {len(pairs)} pairs  precision {precision:.3f}  recall {recall:.3f}  wrong on {dict(wrong)}")
    for pair, one in zip(pairs, found, strict=True) if show else ():
        if bool(one) != (pair["label"] == "contradiction"):
            print(f"  {pair['label']:13} {pair['old']} | {pair['new']}" + (f" → {one.detail}" if one else ""))
    return {"pairs": len(pairs), "contradictions": there, "precision": precision, "recall": recall}


def _cosine(old: str, new: str) -> float:
    first, second = (np.frombuffer(vector, dtype="<f4") for vector in model().embed([old, new]))
    return float(first @ second)


if __name__ == "__main__":
    main()
