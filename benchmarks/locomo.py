"""How often recall finds the turn that answers a question: LoCoMo, turn level, through the public API.

    python benchmarks/locomo.py ../shared/data/locomo-dev.json [--captions] [--strategy hybrid]

Every conversation has a store of its own. Turns are stored as a user would: content `Speaker: text`,
episodic, scope project, one session for each LoCoMo session, with the turn's number. Questions are
asked as they are written. any@k: at least one evidence turn among the first k; rec@10: the share of
evidence turns among the first ten; MRR: one over the place of the first.
"""

import argparse
import json
import re
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import retain
from results import save

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--captions", action="store_true", help="store what a shared photo shows with its turn")
    parser.add_argument("--strategy", default="hybrid", choices=["hybrid", "vector", "keyword"])
    parser.add_argument("--model", default="bundled")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for number, sample in enumerate(json.loads(options.data.read_text()), start=1):
        rows += asked(sample, options)
        print(f"conversation {number}: {table([r for r in rows if r['conversation'] == sample['sample_id']])}")
    report = {"all": scores(rows)} | {
        name: scores([r for r in rows if r["category"] == name]) for name in CATEGORIES.values()
    }
    print(f"\n{'':14}{'n':>6}{'any@1':>8}{'any@5':>8}{'any@10':>8}{'rec@10':>8}{'MRR':>8}")
    for name, row in report.items():
        print(
            f"{name:14}{row['n']:>6}"
            + "".join(f"{row[m]:>8.1f}" for m in ("any@1", "any@5", "any@10", "rec@10", "mrr"))
        )
    speed = {"recall_ms_median": statistics.median(r["ms"] for r in rows)}
    print(f"median recall, question embedded: {speed['recall_ms_median']:.1f} ms")
    settings = {"strategy": options.strategy, "captions": options.captions, "model": options.model}
    print("saved", save("locomo", {"settings": settings, "scores": report, **speed}))


def asked(sample: dict[str, Any], options: argparse.Namespace) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "project").mkdir()
        settings = {"home": home, "project_dir": home / "project", "embedding_model": options.model}
        with retain.open(home / "locomo.db", **settings) as memory:
            turns = stored(memory, sample["conversation"], options.captions)
            memory.engine.settle(60)
            return [
                row | {"conversation": sample["sample_id"]} for row in answers(memory, sample["qa"], turns, options)
            ]


def stored(memory: retain.Retain, conversation: dict[str, Any], captions: bool) -> dict[str, str]:
    """Stores all turns; says which memory holds which turn."""
    turns = {}
    for session in sorted(
        (k for k in conversation if k.startswith("session_") and k[8:].isdigit()), key=lambda k: int(k[8:])
    ):
        for number, turn in enumerate(conversation[session], start=1):
            text = turn["text"] + (f" [photo: {turn['blip_caption']}]" if captions and turn.get("blip_caption") else "")
            kept = memory.remember(f"{turn['speaker']}: {text}", kind="episodic", session=session, turn=number)
            turns[turn["dia_id"]] = kept.memory.id
    return turns


def answers(
    memory: retain.Retain, questions: list[dict[str, Any]], turns: dict[str, str], options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    for question in questions:
        named = re.findall(r"D\d+:\d+", " ".join(question.get("evidence", [])))  # some name several in one string
        gold = {turns[id] for id in named if id in turns}
        if not gold:
            continue
        began = time.perf_counter()
        found = [hit.id for hit in memory.recall(question["question"], limit=10, strategy=options.strategy)]
        places = [place for place, id in enumerate(found, start=1) if id in gold]
        yield {
            "category": CATEGORIES[question["category"]],
            "first": places[0] if places else None,
            "recalled": len(places) / len(gold),
            "ms": (time.perf_counter() - began) * 1000,
        }


def scores(rows: list[dict[str, Any]]) -> dict[str, float]:
    def share(k: int) -> float:
        return 100 * sum(r["first"] is not None and r["first"] <= k for r in rows) / max(len(rows), 1)

    return {
        "n": len(rows),
        "any@1": share(1),
        "any@5": share(5),
        "any@10": share(10),
        "rec@10": 100 * sum(r["recalled"] for r in rows) / max(len(rows), 1),
        "mrr": 100 * sum(1 / r["first"] for r in rows if r["first"]) / max(len(rows), 1),
    }


def table(rows: list[dict[str, Any]]) -> str:
    row = scores(rows)
    return f"{row['n']} questions, any@5 {row['any@5']:.1f}, any@10 {row['any@10']:.1f}"


if __name__ == "__main__":
    main()
