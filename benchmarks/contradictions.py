"""How well contradictions are told from refinements, repetitions and unrelated statements, as a write takes them.

    python benchmarks/contradictions.py                          the held pairs, and false flags
    python benchmarks/contradictions.py --pairs FILE --json      any pairs: id, old, new in; id, relation, score out

The thresholds were chosen on the held pairs a and c; b and d are reported. People labelled them who knew neither the
rules nor one another's lines; those in tests/contradictions are older, and `written` is by authors of earlier rules.
What a pair says later is also held against what lies near it in other pairs of the file, as in a store of them all.
`--flags` says how many memories that contradict nothing are flagged in a store of so many: real paragraphs (corpus.py),
short statements about many things (things.py), and the turns of conversations (in the form of LongMemEval, `--turns`).
"""

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from corpus import model, texts
from measuring import Row, read_lines, table
from results import save
from retain.engine.lifecycle.relating import MOST, related
from retain.judge.onnx import OnnxJudge
from things import SETS, statements

ROOT = Path(__file__).parents[1]
FILES = [*ROOT.glob("training/held/pairs-*.jsonl"), *ROOT.glob("tests/contradictions/*.jsonl")]
CHOSEN_ON = ("pairs-a", "pairs-c")
SAMPLE = 500
ONE_SUBJECT = 12  # lines of a file that may speak of one subject with a line
Line = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=Path, help="a file with one pair a line")
    parser.add_argument("--json", action="store_true", help="one object a line, and nothing else")
    parser.add_argument("--flags", type=int, default=0, help="the size of a store in which nothing contradicts")
    parser.add_argument("--turns", type=Path, help="conversations in the form of LongMemEval")
    options = parser.parse_args()
    judge = OnnxJudge()
    judge.wait(60)
    model().wait(60)
    if options.pairs:
        told(list(judged(judge, lines(options.pairs))), as_json=options.json)
        return
    rows = [row for file in sorted(FILES) for row in of_pairs(judge, file)]
    if options.flags:
        rows.append(flagged(judge, "paragraphs", texts()[: options.flags], 0.005))
        for name in SETS:
            many = list(statements(options.flags, name))
            rows.append(flagged(judge, f"statements about many things, {name},", many, 0.005))
    if options.turns:
        rows.append(flagged(judge, "turns", turns(options.turns), 0.01))
    print(table(rows))
    print(f"\n{save('contradictions', {'rows': [row.told() for row in rows]})}")


def judged(judge: OnnxJudge, pairs: Sequence[Line]) -> Iterator[Line]:
    for pair in pairs:
        found = related(judge, pair["old"], pair["new"], cosine(pair["old"], pair["new"]))
        yield {"id": pair.get("id"), "relation": found.relation, "score": round(found.contradiction, 4)}


def told(found: Sequence[Line], *, as_json: bool) -> None:
    if as_json:
        for line in found:
            print(json.dumps(line))
        return
    for relation, count in Counter(line["relation"] for line in found).most_common():
        print(f"{relation:14} {count}")


def of_pairs(judge: OnnxJudge, file: Path) -> Iterator[Row]:
    pairs = lines(file)
    found = list(judged(judge, pairs))
    flags = [line["relation"] == "contradiction" for line in found]
    right = sum(flag and pair["label"] == "contradiction" for flag, pair in zip(flags, pairs, strict=True))
    wrong = Counter(pair["label"] for flag, pair in zip(flags, pairs, strict=True) if flag)
    there = sum(pair["label"] == "contradiction" for pair in pairs)
    name = file.stem + (" (chosen on)" if file.stem in CHOSEN_ON else "")
    note = ", ".join(f"{count} {label}" for label, count in wrong.items() if label != "contradiction")
    yield Row(f"{name}: precision", right / max(sum(flags), 1), "", 0.9, at_least=True, note=f"wrong: {note}")
    yield Row(f"{name}: recall", right / there, "", 0.7, at_least=True, note=f"of {there}")
    yield flagged_elsewhere(judge, name, pairs)


def flagged_elsewhere(judge: OnnxJudge, name: str, pairs: Sequence[Line]) -> Row:
    """Of what is said later the share that is flagged beside what is nearest to it in other pairs."""
    said = [text for pair in pairs for text in (pair["old"], pair["new"])]
    vectors = embedded(said)
    chosen = random.Random(1).sample(range(len(pairs)), min(SAMPLE // 2, len(pairs)))
    flags = 0
    for place in chosen:
        near = vectors @ vectors[2 * place + 1]
        near[max(2 * (place - ONE_SUBJECT), 0) : 2 * (place + ONE_SUBJECT)] = -1
        flags += any(
            related(judge, said[other], said[2 * place + 1], float(near[other])).relation == "contradiction"
            for other in np.argsort(-near)[:MOST]
        )
    note = f"of {len(chosen)} among {len(said):,} statements"
    return Row(f"{name}: flagged against what is near in other pairs", flags / len(chosen), "", 0.005, note=note)


def flagged(judge: OnnxJudge, name: str, found: Sequence[str], target: float) -> Row:
    """Of a sample of texts the share that is flagged beside what was there before, though nothing denies it."""
    vectors = embedded(found)
    chosen = random.Random(1).sample(range(len(found) // 4, len(found)), min(SAMPLE, len(found) // 2))
    flags = sum(_is_flagged(judge, found, vectors, place) for place in chosen)
    note = f"of {len(chosen)} among {len(found):,}, each beside the {MOST} nearest"
    return Row(f"{name} that are flagged and contradict nothing", flags / len(chosen), "", target, note=note)


def _is_flagged(judge: OnnxJudge, found: Sequence[str], vectors: Any, place: int) -> bool:
    near = vectors[:place] @ vectors[place]
    return any(
        related(judge, found[other], found[place], float(near[other])).relation == "contradiction"
        for other in np.argsort(-near)[:MOST]
    )


def embedded(texts: Sequence[str]) -> Any:
    """The vector of each text's first part."""
    rows = [vector for text in texts for vector in model().embed(model().chunks(text)[:1])]
    return np.frombuffer(b"".join(rows), dtype="<f4").reshape(len(texts), -1)


def turns(file: Path) -> list[str]:
    """Each turn once, in an order in which neighbours are of one conversation."""
    sessions = (session for line in json.loads(file.read_text()) for session in line["haystack_sessions"])
    return list(dict.fromkeys(f"{turn['role'].title()}: {turn['content']}" for each in sessions for turn in each))


def cosine(old: str, new: str) -> float:
    first, second = (np.frombuffer(vector, dtype="<f4") for vector in model().embed([old, new]))
    return float(first @ second)


def lines(file: Path) -> list[Line]:
    return read_lines(file, "old", "new")


if __name__ == "__main__":
    main()
