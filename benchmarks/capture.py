"""How much of what should be remembered extraction by rule finds, and how much it finds that should not be.

    python benchmarks/capture.py [--held-misses] [--chat FILE]

On the written transcripts in tests/transcripts/capture: `tuned` ones the rules were made with, `held` ones nobody
looks at while changing a rule (so their misses are listed only when asked for, and a transcript whose misses were
looked at moves to `tuned`), `fresh` ones written by somebody who had not seen the rules, `second` another such
set (first seen at precision 0.889 / recall 0.516, then mended from). Precision: statements that
match an expected one, of all that were extracted; recall: expected ones that were found. Beside them the planted
orders of tests/transcripts/poison, of which none may get through, the memories of tests/transcripts/handed.json, of
which no order may reach CLAUDE.md and none may keep a tag or what nobody sees, and, with `--chat`, how many statements
come out of small talk (LoCoMo), where there is nothing to find.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from measuring import Row, table
from results import save
from retain.domain.conversation import Conversation, Said, Speaker
from retain.domain.handing import safe
from retain.domain.visible import visible
from retain.engine.capture.by_rule import extract
from retain.engine.capture.orders import reads_like_an_order

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from capture_set import FOLDER, Score, scored, written

HALVES = ("tuned", "held", "fresh", "second")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--held-misses", action="store_true", help="list what goes wrong in all but tuned too")
    parser.add_argument("--chat", type=Path, help="a LoCoMo file: conversations in which nothing is to be found")
    options = parser.parse_args()
    scores = {half: scored(written(f"capture/{half}"), extract) for half in HALVES}
    rows = [row for half in HALVES for row in _half(half, scores[half])]
    rows += [_poison(), *_handed(), *([_chat(options.chat)] if options.chat else [])]
    print(table(rows))
    for half in HALVES:
        if half == "tuned" or options.held_misses:
            print("\n".join(_misses(half, scores[half])))
    print(f"\n{save('capture', {'rows': [row.told() for row in rows]})}")


def _half(half: str, score: Score) -> Iterator[Row]:
    count = f"{len(written(f'capture/{half}'))} transcripts"
    note = f"{count}, {len(score.right)} right, {len(score.wrong)} wrong"
    yield Row(f"{half}: precision", score.precision, "", 0.9, at_least=True, note=note)
    yield Row(f"{half}: recall", score.recall, "", 0.7, at_least=True, note=f"{len(score.missed)} missed")
    for rule in sorted({item.found_by for _, item in (*score.right, *score.wrong)}):
        right, wrong = (sum(item.found_by == rule for _, item in found) for found in (score.right, score.wrong))
        yield Row(f"  by {rule}", right / (right + wrong), "", at_least=True, note=f"{right} right, {wrong} wrong")


def _poison() -> Row:
    transcripts = written("poison")
    through = scored(transcripts, extract).wrong
    return Row("planted orders that get through", len(through), "", 0, note=f"{len(transcripts)} transcripts")


def _handed() -> Iterator[Row]:
    """Memories as agents store them, some planted: which of them stand in CLAUDE.md, and whether a trick is left."""
    given = json.loads((FOLDER / "handed.json").read_text())
    orders, facts = ([each["text"] for each in given if each["order"] is kind] for kind in (True, False))
    shown = [text for text in orders if not reads_like_an_order(text)]
    kept = [text for text in facts if not reads_like_an_order(text)]
    left = [text for text in orders + facts if visible(safe(text, 300)) != safe(text, 300) or "<" in safe(text, 300)]
    yield Row("planted orders that reach CLAUDE.md", len(shown), "", 0, note=f"{len(orders)} memories")
    yield Row("facts of agents that reach CLAUDE.md", len(kept) / len(facts), "", at_least=True, note=f"{len(facts)}")
    yield Row("memories handed out with a trick left", len(left), "", 0, note=f"{len(given)} memories")


def _chat(file: Path) -> Row:
    """Small talk is typed by people and full of "always", "never" and "I prefer", and none of it is about a project."""
    turns = [
        turn["text"]
        for sample in json.loads(file.read_text())
        for name, session in sample["conversation"].items()
        if name.startswith("session_") and isinstance(session, list)
        for turn in session
    ]
    found = [item for text in turns for item in extract(Conversation("chat", (Said(Speaker.USER, text),)))]
    return Row(
        "statements in 1,000 turns of small talk", 1000 * len(found) / len(turns), "", note=f"{len(turns)} turns"
    )


def _misses(half: str, score: Score) -> Iterator[str]:
    yield f"\n{half}"
    for name, item in score.wrong:
        yield f"  wrong   {name}: {item.text} ({item.found_by}, {item.category})"
    for name, expected in score.missed:
        yield f"  missed  {name}: {' … '.join(expected['must'])}"


if __name__ == "__main__":
    main()
