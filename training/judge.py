"""Trains the judge and puts it into the package: `make judge`.

    python training/judge.py [--epochs N] [--work DIR] [--seed N] [--threads N] [--held] [--report]
    python training/judge.py --further [--seed N] [--but N] [--work DIR] [--threads N]
    python training/judge.py --join [SHARE] [--work DIR] [--held]

Three runs, each with another seed and another fifth of the data left out, say how good a run is on what it has not
seen, and where thresholds belong. What is exported is the mean of their weights: they begin at the same place, and
together they have seen everything. What was computed lies in the work folder, so that an interrupted run goes on where
it was. `--seed` makes one of the runs and nothing else: on a processor two at once with `--threads 1` are done earlier
than one after the other; `--report` only prints the figures of what is there; `--held` adds those of `held/`,
which nobody trains on: look at them last.

`--further` teaches the judge in the package what was added since it was made: one epoch, with a part of what it knows,
so that it does not forget that. It stays in the work folder until `--join` puts the mean of all such runs into the
package, so much of it as SHARE says and the rest of what is there. With `--but N` it leaves out a fifth and says how it
does there.
"""

import argparse
import json
import random
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from tokenizers import Tokenizer

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

import figures  # noqa: E402
import mined  # noqa: E402
import slots  # noqa: E402
import weights  # noqa: E402
from examples import DATA, FOLDS, Example, Message, Pair, in_passing, messages, pairs, strangers, turned  # noqa: E402
from model import HEADS, Judge  # noqa: E402
from retain.embedding.onnx import OnnxEmbedder  # noqa: E402
from retain.judge.onnx import OnnxJudge  # noqa: E402
from retain.models.files import sha256  # noqa: E402
from train import DEVICE, Recipe, Shown, Soft, Texts, predict, train  # noqa: E402
from worlds import groups, worlds  # noqa: E402

ENCODER = ROOT / "src/retain/embedding/model"
PACKAGED = ROOT / "src/retain/judge/model/retain-judge-l6-u8.onnx"
ADAPTER = ROOT / "src/retain/judge/onnx.py"
SEEDS = 3
PLAIN_PAIRS, PLAIN_TIMES = 12_000, 3  # pairs from slots, and how often each plain sentence is shown
STRANGERS = 6_000  # pairs of statements that have nothing to do with one another
TURNS, PARAGRAPHS, OTHERS = 2_500, 2_500, 8_000  # of neighbours: in conversations, documentation, and other pairs
EMBEDDER = OnnxEmbedder()
FIT_TIMES = 1  # how often a question is shown in an epoch, each time with other wrong answers
FURTHER = Recipe(epochs=1, rate=7e-5, groups=10)
OLD_PART, OLD_PAIRS = 0.3, 0.45  # of what the packaged judge has learned from, that is shown once more
# How the ids begin of what was added since the packaged judge was made.
NEW: tuple[str, ...] = ()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=Recipe().epochs)
    parser.add_argument("--work", type=Path, default=ROOT / "training/.work")
    parser.add_argument("--seed", type=int, choices=range(SEEDS), help="make only this run")
    parser.add_argument("--threads", type=int, help="of this process; default: one for each core")
    parser.add_argument("--report", action="store_true", help="print the figures of what was trained before")
    parser.add_argument("--held", action="store_true", help="also on held/, which nobody trains on")
    parser.add_argument("--further", action="store_true", help="one epoch from the packaged judge on")
    parser.add_argument("--but", type=int, choices=range(FOLDS), help="with --further: a fifth to leave out")
    parser.add_argument("--join", type=float, nargs="?", const=1.0, metavar="SHARE", help="package the further runs")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    if options.join:
        judge = joined([loaded(file) for file in sorted(options.work.glob("further-*.pt"))], options.join)
        export(judge)
        if options.held:
            report_held(judge, Texts(Tokenizer.from_file(str(ENCODER / "tokenizer.json"))))
        return
    data = Data(options.work)
    recipe = Recipe(epochs=options.epochs)
    print(f"{len(data.messages)} messages, {len(data.pairs)} pairs, on {DEVICE}", flush=True)
    if options.threads:
        torch.set_num_threads(options.threads)
    if options.further:
        judge = data.further(options.but, options.seed or 0)
        if options.but is None:
            torch.save(judge.state_dict(), options.work / f"further-{options.seed or 0}.pt")
        else:
            data.told_of_fits(judge, options.but)
        return
    if options.seed is not None:
        data.run(recipe, options.seed, options.work, only_read=False)
        return
    votes = [data.run(recipe, seed, options.work, only_read=options.report) for seed in range(SEEDS)]
    data.report([vote for vote in votes if vote])
    judge = mean([loaded(file) for file in sorted(options.work.glob("seed-*.pt"))])
    if not options.report:
        export(judge)
    if options.held:
        report_held(judge, data.texts)


class Vote:
    """What one run says of every example: of sentences in the order of the messages, and of pairs."""

    def __init__(self, keep: Soft, pair: Soft) -> None:
        self.keep, self.pair = keep, pair


class Data:
    def __init__(self, work: Path, folder: Path = DATA) -> None:
        self.messages: list[Message] = messages(sorted(folder.glob("capture-*.jsonl")))
        self.plain: list[Message] = messages(sorted(folder.glob("plain-*.jsonl")))
        self.beside: list[Message] = messages(sorted(folder.glob("beside-*.jsonl")))
        self.pairs: list[Pair] = pairs(sorted(folder.glob("pairs-*.jsonl")))
        self.texts = Texts(Tokenizer.from_file(str(ENCODER / "tokenizer.json")))
        self.worlds = worlds([*sorted(folder.glob("rank-*.jsonl")), *sorted(folder.glob("talk-*.jsonl"))])
        self.groups = [each for seed in range(FIT_TIMES) for each in groups(self.worlds, vectors, seed)]
        conversations = [world for world in self.worlds if world.id.startswith("t")]
        self.near = [*mined.of_turns(conversations, vectors, TURNS), *mined.of_paragraphs(vectors, PARAGRAPHS)]
        found = self._mined(work, folder)
        self.near += [mined.unrelated(*two) for two in found["others"]]
        self.plain_pairs = [Example("pair", *said) for said in found["slots"]]
        self.start = weights.read(ENCODER / "retain-minilm-l6-u8.onnx")

    def _mined(self, work: Path, folder: Path) -> dict[str, list[Any]]:
        """What the packaged judge is wrong about; it takes minutes to find, so the runs of one judge share it."""
        file = work / f"mined-{sha256(PACKAGED)[:8]}-{len(self.pairs)}.json"
        if not file.is_file():
            judge = OnnxJudge()
            judge.wait(60)
            odds = lambda *two: judge.relation(*two).contradiction  # noqa: E731
            made = slots.Slots(folder).made(PLAIN_PAIRS, odds)
            file.write_text(json.dumps({"others": mined.of_pairs(self.pairs, vectors, odds, OTHERS), "slots": made}))
        return cast(dict[str, list[Any]], json.loads(file.read_text()))

    def further(self, but: int | None, seed: int) -> Judge:
        """The packaged judge after one epoch of everything that is new, and of a part of what it has learned from."""
        return train(packaged(), self._shown(but, OLD_PART), self.texts, FURTHER, SEEDS + seed)

    def told_of_fits(self, judge: Judge, fold: int) -> None:
        """How often the right memory of a group comes first, on the fifth that was left out."""
        some = [group for group in self.groups if group.fold == fold]
        odds = predict(judge.to(DEVICE), "fit", [pair for group in some for pair in group.pairs], self.texts)
        print("\n".join(figures.of_groups(some, odds)), flush=True)

    def run(self, recipe: Recipe, seed: int, work: Path, *, only_read: bool) -> Vote | None:
        """The votes of a run that leaves a fifth out; trained unless it lies in the work folder."""
        model, file = work / f"seed-{seed}.pt", work / f"votes-{seed}-{len(self.messages)}-{len(self.pairs)}.npz"
        if not model.is_file():
            if only_read:
                return None
            torch.save(self._trained(recipe, seed).state_dict(), model)
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

    def _trained(self, recipe: Recipe, seed: int) -> Judge:
        torch.manual_seed(SEEDS)  # heads that begin alike: else the mean of several runs is none of them
        return train(Judge(self.start), self._shown(seed), self.texts, recipe, seed)

    def _shown(self, but: int | None, part: float = 1.0) -> Shown:
        """What a run is shown: all but the fifth that it leaves out, and beside it what is plainly said; or a part of
        that, half of the questions, all pairs that are new or mined, and all small talk, which is forgotten first."""
        rows = [m for m in (*self.messages, *self.beside, *self.plain * PLAIN_TIMES) if m.fold != but]
        kept = [pair for pair in self.pairs if pair.fold != but]
        told = [example for message in rows for example in message.sentences]
        told += strangers(rows, kept, STRANGERS)
        of_two = _of_pairs(kept, rows)
        if part == 1:
            told += of_two
        else:
            new = _of_pairs([pair for pair in kept if pair.id.startswith(NEW)], rows)
            said = (*self.beside, *(message for message in self.messages if message.row["id"].startswith(NEW)))
            new += [example for message in said if message.fold != but for example in message.sentences]
            told = random.Random(0).sample(told, round(part * len(told))) + new
            told += random.Random(0).sample(of_two, round(OLD_PAIRS * len(of_two)))
        told += [*self.near, *self.plain_pairs]
        asked = [group for group in self.groups if group.fold != but]
        return Shown(told, asked if part == 1 else random.Random(0).sample(asked, len(asked) // 2))


def _of_pairs(pairs: Sequence[Pair], rows: Sequence[Message]) -> list[Example]:
    return [*(pair.example for pair in pairs), *(e for pair in pairs for e in turned(pair)), *in_passing(pairs, rows)]


def vectors(texts: Sequence[str]) -> Soft:
    """Of the packaged embedder, which is what brings candidates up."""
    return np.array([np.frombuffer(vector, np.float32) for vector in EMBEDDER.embed(texts)])


def packaged() -> Judge:
    return Judge(weights.read(PACKAGED)).take(weights.read_heads(PACKAGED))


def mean(judges: Sequence[Judge], shares: Sequence[float] | None = None) -> Judge:
    """One judge with the mean of their weights."""
    shares = shares or [1 / len(judges)] * len(judges)
    states = [judge.state_dict() for judge in judges]
    whole = Judge()
    whole.load_state_dict(
        {name: sum(share * state[name] for share, state in zip(shares, states, strict=True)) for name in states[0]}
    )
    return whole.eval()


def joined(runs: Sequence[Judge], share: float) -> Judge:
    """The mean of further runs, so much of it, and for the rest the packaged judge that they began with."""
    if not runs:
        sys.exit("no further run lies in the work folder; make one with --further")
    return mean([mean(runs), packaged()], [share, 1 - share])


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


def report_held(judge: Judge, texts: Texts) -> None:
    """The figures on what nobody trained on, by file, as the network computes them in floats."""
    judge, folder = judge.to(DEVICE), DATA.parent / "held"
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
