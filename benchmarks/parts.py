"""What each part of the score of a recall is worth: how often the first five hold an answer without it.

    python benchmarks/parts.py [asides] [developer] [locomo] [longmemeval] [--data FOLDER]

The candidates of each question are put in order again, once with every part and once without each. The order of what
holds now and the places for rules come later and are not in it. Only questions with odd numbers count: weights were
chosen on the others. `docs/parts_picture.py` draws what this saves.
"""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean

from recall import DATA
from results import save
from retain.domain.memory import MemoryId
from retain.engine.recall.recall import Question, candidates
from retain.engine.recall.scoring import IMPORTANCE, RECENCY, RELEVANCE, WEIGHTS, Score, relevance
from retain.engine.recall.second_look import looked_at_again, reread
from timeline import LATER, Lived, World, caller, judge, lived
from worlds import of

FIRST = 5
SIGNALS = ("meaning", "words", "length", "time", "asking", "phrase", "subject")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=["asides", "developer"])
    parser.add_argument("--data", type=Path, default=DATA, help="where the public sets lie")
    options = parser.parse_args()
    worth = {}
    for name in options.names:
        found = [row for world in of(name, options.data)[-1 if name == "developer" else 0 :] for row in asked(world)]
        worth[name] = {part: 100 * fmean(row[part] for row in found) for part in found[0]} | {"questions": len(found)}
        whole = worth[name]["all"]
        print(f"\n{name}, {len(found)} questions: {whole:.1f} with all")
        for part, share in worth[name].items():
            if part not in ("all", "questions"):
                print(f"  without {part:12} {share:6.1f} {share - whole:+6.1f}")
    print("saved", save("parts", worth))


def asked(world: World) -> Iterator[Mapping[str, bool]]:
    """For each question, with and without which parts the first few hold what answers it."""
    with lived(world) as told:
        texts = {told.ids[said.name]: said.text for said in world.said}
        for question in (each for each in world.asked if each.number % 2):
            told.clock.moment = question.at or told.clock.moment + LATER
            wanted = {told.ids[name] for name in question.evidence}
            yield {part: not wanted.isdisjoint(found) for part, found in firsts(told, question.text, texts)}


def firsts(told: Lived, text: str, texts: Mapping[MemoryId, str]) -> Iterator[tuple[str, set[MemoryId]]]:
    """The first few with every part, and without each."""
    look = partial(reread, judge())
    scores = candidates(told.engine.parts, Question(text), caller())
    orders = {"all": scores} | {name: [without(score, name) for score in scores] for name in SIGNALS}
    orders["recency"] = [replace(score, total=score.total - RECENCY * score.terms["recency"]) for score in scores]
    for name, order in orders.items():
        best = sorted(order, key=lambda score: (-score.total, score.memory))
        yield name, {score.memory for score in looked_at_again(text, best, texts, look)[:FIRST]}
    yield "second look", {score.memory for score in scores[:FIRST]}


def without(score: Score, name: str) -> Score:
    """The score as it would be if nobody had asked for one of the signals."""
    told = score.terms
    fit = sum(value for signal, value in told.items() if signal in WEIGHTS and signal != name)
    relevant = relevance(fit)
    total = RELEVANCE * relevant * told["scope_weight"] + IMPORTANCE * told["importance"] + RECENCY * told["recency"]
    return replace(score, total=total, relevance=relevant)


if __name__ == "__main__":
    main()
