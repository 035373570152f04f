"""Trains the judge and puts it into the package: `make judge`.

    python training/judge.py [--epochs N] [--work DIR] [--held] [--report]

One run on everything is exported. Three more, each with another seed and another fifth of the data left out, say how
good it is on what it has not seen, and where thresholds belong. What was computed lies in the work folder, so that an
interrupted run goes on where it was. `--report` only prints the figures of what is there; `--held` adds those of
`held/`, which nobody trains on: look at them last.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

import figures  # noqa: E402
import slots  # noqa: E402
import weights  # noqa: E402
from examples import DATA, Example, Message, Pair, messages, pairs, turned  # noqa: E402
from model import HEADS, Judge  # noqa: E402
from retain.models.files import sha256  # noqa: E402
from train import DEVICE, Recipe, Soft, Texts, predict, train  # noqa: E402

ENCODER = ROOT / "src/retain/embedding/model"
PACKAGED = ROOT / "src/retain/judge/model/retain-judge-l6-u8.onnx"
ADAPTER = ROOT / "src/retain/judge/onnx.py"
SEEDS = 3
PLAIN_PAIRS, PLAIN_TIMES = 2_000, 3  # pairs from slots, and how often each plain sentence is shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=Recipe().epochs)
    parser.add_argument("--work", type=Path, default=ROOT / "training/.work")
    parser.add_argument("--report", action="store_true", help="print the figures of what was trained before")
    parser.add_argument("--held", action="store_true", help="also on held/, which nobody trains on")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    data = Data()
    recipe = Recipe(epochs=options.epochs)
    print(f"{len(data.messages)} messages, {len(data.pairs)} pairs, on {DEVICE}", flush=True)
    if not options.report:
        export(data.final(recipe, options.work))
    votes = [data.run(recipe, seed, options.work, only_read=options.report) for seed in range(SEEDS)]
    data.report([vote for vote in votes if vote])
    if options.held:
        report_held(options.work / "final.pt", data.texts)


class Vote:
    """What one run says of every example: of sentences in the order of the messages, and of pairs."""

    def __init__(self, keep: Soft, pair: Soft) -> None:
        self.keep, self.pair = keep, pair


class Data:
    def __init__(self, folder: Path = DATA) -> None:
        self.messages: list[Message] = messages(sorted(folder.glob("capture-*.jsonl")))
        self.plain: list[Message] = messages(sorted(folder.glob("plain-*.jsonl")))
        self.beside: list[Message] = messages(sorted(folder.glob("beside-*.jsonl")))
        self.pairs: list[Pair] = pairs(sorted(folder.glob("pairs-*.jsonl")))
        self.texts = Texts(Tokenizer.from_file(str(ENCODER / "tokenizer.json")))
        self.start = weights.read(ENCODER / "retain-minilm-l6-u8.onnx")

    def run(self, recipe: Recipe, seed: int, work: Path, *, only_read: bool) -> Vote | None:
        """The votes of a run that leaves a fifth out; trained unless it lies in the work folder."""
        model, file = work / f"seed-{seed}.pt", work / f"votes-{seed}-{len(self.messages)}-{len(self.pairs)}.npz"
        if not model.is_file():
            if only_read:
                return None
            torch.save(self._trained(recipe, seed, seed).state_dict(), model)
        if not file.is_file():
            judge = loaded(model).to(DEVICE)
            made = {
                "keep": keep_odds(judge, self.messages, self.texts),
                "pair": pair_odds(judge, self.pairs, self.texts),
            }
            np.savez(file, **made)
        with np.load(file) as held:
            return Vote(held["keep"], held["pair"])

    def report(self, votes: Sequence[Vote]) -> None:
        """The figures of each run on the fifth that it has not seen, and of all of them together."""
        for seed, vote in enumerate(votes):
            print(f"\nseed {seed}, on the fifth that it did not see")
            self._told(vote, {seed})
        if votes:
            print("\nall fifths that some run did not see, each by that run")
            together = Vote(votes[0].keep.copy(), votes[0].pair.copy())
            folds = np.array([m.fold for m in self.messages for _ in m.sentences])
            pair_folds = np.array([pair.fold for pair in self.pairs])
            for seed, vote in enumerate(votes):
                together.keep[folds == seed] = vote.keep[folds == seed]
                together.pair[pair_folds == seed] = vote.pair[pair_folds == seed]
            self._told(together, set(range(len(votes))), by_language=True)

    def _told(self, vote: Vote, folds: set[int], *, by_language: bool = False) -> None:
        odds, at = {}, 0
        for message in self.messages:
            for example in message.sentences:
                odds[example.first, example.second] = vote.keep[at]
                at += 1
        some = [message for message in self.messages if message.fold in folds]
        places = [place for place, pair in enumerate(self.pairs) if pair.fold in folds]
        for role in ("user", "assistant"):
            print("\n".join(figures.at_thresholds(some, odds, role)))
        if by_language:
            print("\n".join(figures.by_language(some, odds, 0.7)))
        print(figures.categories(some, odds))
        print("\n".join(figures.of_pairs([self.pairs[place] for place in places], vote.pair[places])), flush=True)

    def final(self, recipe: Recipe, work: Path) -> Judge:
        """The run on everything."""
        file = work / "final.pt"
        if not file.is_file():
            torch.save(self._trained(recipe, None, SEEDS).state_dict(), file)
        return loaded(file)

    def _trained(self, recipe: Recipe, but: int | None, seed: int) -> Judge:
        """What people say about their work first; then once more, slowly, with small talk and what is plainly said."""
        shown = self._shown(but)
        judge = train(Judge(self.start), shown, self.texts, recipe, seed)
        return train(judge, [*shown, *self._beside(but)], self.texts, recipe.second, seed)

    def _beside(self, but: int | None) -> list[Example]:
        rows = [*self.beside, *self.plain * PLAIN_TIMES]
        return [e for message in rows if message.fold != but for e in message.sentences] + slots.made(PLAIN_PAIRS)

    def _shown(self, but: int | None) -> list[Example]:
        """What a run is shown: all but the fifth that it leaves out."""
        sentences = [e for message in self.messages if message.fold != but for e in message.sentences]
        kept = [pair for pair in self.pairs if pair.fold != but]
        return sentences + [pair.example for pair in kept] + [e for pair in kept for e in turned(pair)]


def loaded(file: Path) -> Judge:
    judge = Judge()
    judge.load_state_dict(torch.load(file, map_location="cpu"))
    return judge.eval()


def keep_odds(judge: Judge, rows: Sequence[Message], texts: Texts) -> Soft:
    return predict(judge, "keep", [(e.first, e.second) for message in rows for e in message.sentences], texts)


def pair_odds(judge: Judge, rows: Sequence[Pair], texts: Texts) -> Soft:
    return predict(judge, "pair", [(pair.example.first, pair.example.second) for pair in rows], texts)


def export(judge: Judge) -> None:
    """Writes the packaged file, and its digest where the adapter checks it."""
    PACKAGED.parent.mkdir(exist_ok=True)
    heads = {name: judge.head(name) for name in HEADS}
    weights.write(judge.encoder(), heads, ENCODER / "retain-minilm-l6-u8.onnx", PACKAGED)
    digest = sha256(PACKAGED)
    adapter = re.sub(r'_SHA256 = "\w*"', f'_SHA256 = "{digest}"', ADAPTER.read_text())
    ADAPTER.write_text(adapter)
    print(f"\n{PACKAGED.relative_to(ROOT)}, {PACKAGED.stat().st_size:,} bytes, sha256 {digest}")


def report_held(file: Path, texts: Texts) -> None:
    """The figures of the final model on what nobody trained on, by file, as the network computes them in floats."""
    judge, folder = loaded(file).to(DEVICE), DATA.parent / "held"
    for path in sorted(folder.glob("messages-*.jsonl")):
        rows = messages([path])
        given = keep_odds(judge, rows, texts)
        examples = [e for message in rows for e in message.sentences]
        odds = {(e.first, e.second): row for e, row in zip(examples, given, strict=True)}
        print(f"\nheld, {path.name}")
        for role in ("user", "assistant"):
            print("\n".join(figures.at_thresholds(rows, odds, role)))
    for path in sorted(folder.glob("pairs-*.jsonl")):
        rows = pairs([path])
        print(f"\nheld, {path.name}")
        print("\n".join(figures.of_pairs(rows, pair_odds(judge, rows, texts))))


if __name__ == "__main__":
    main()
