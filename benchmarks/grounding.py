"""How well true rewordings of a language model are told from what it makes up.

    python benchmarks/grounding.py [--show] [--only dev]
    python benchmarks/grounding.py --only held-2 --ask FOLDER        # writes what a language model would be asked
    python benchmarks/grounding.py --only held-2 --answers FOLDER    # reads what it answered

Pairs of what was said and a statement are in tests/grounding, half of them true (README.md there). `dev` is what the
signs were tuned on, `own` what their author wrote beside it; people who had not seen the code wrote the others.
Three ways are measured: letters alone (no model loaded), letters and meaning, and as far as a statement may be kept
at all, whoever said it. The last table moves the share of a statement's words that must have been said: the price of
each invention that is dropped so, in true statements.

Where a language model wrote the statements, it is asked a second time, which of them were said. `--ask` writes these
questions to files, word by word as they are sent, and README.md beside them says how to answer; so that any model, or
a person, can be measured without being called from here.
"""

import argparse
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import asking
from corpus import model
from results import save
from retain.domain.conversation import Conversation, Said, Speaker
from retain.engine.capture import grounds
from retain.engine.capture.chunks import chunked
from retain.engine.capture.grounds import Grounded, Hearing, Unfounded
from retain.engine.capture.invention import invention
from retain.engine.capture.specifics import share_said, unsaid

PAIRS = Path(__file__).parents[1] / "tests" / "grounding"
SETS = ("dev", "own", "held-1", "held-2")
_TURN = re.compile(r"\n(?=(?:user|assistant): )")


class Pair(NamedTuple):
    said: str
    statement: str
    is_true: bool
    how: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="print the pairs of dev that are judged wrongly, and why")
    parser.add_argument("--only", choices=SETS, nargs="+", default=SETS, help="the sets to measure")
    parser.add_argument("--ask", type=Path, metavar="FOLDER", help="write the second question of each pair there")
    parser.add_argument("--answers", type=Path, metavar="FOLDER", help="read the answers from there")
    options = parser.parse_args()
    if options.ask:
        for name in options.only:
            print("wrote", asking.write(options.ask, name, _questions(name)))
        return
    model().wait(60)
    if options.answers:
        told = {name: _measured_answers(name, options.answers) for name in options.only}
        print("saved", save("grounding_asked", told))
        return
    told = {name: _measured(name, show=options.show and name == "dev") for name in options.only}
    print("saved", save("grounding", told))


def _measured_answers(name: str, folder: Path) -> dict[str, float]:
    """What the second question leaves: by itself, behind each way of checking by letters before it, and as built, where
    it settles what the letters doubt."""
    given, answers = pairs(name), asking.answered(folder, name)
    verdicts = {pair: asking.is_supported(answers.get(one.id(name))) for pair, one in _asked(name)}
    unread = sum(verdict is None for verdict in verdicts.values())
    print(f"{name:7} {len(answers)} answers, {unread} of {len(given)} questions without one that can be read")
    told: dict[str, float] = {"pairs": len(given), "unread": unread}
    ways: dict[str, Callable[[Pair], bool]] = {
        "nothing": lambda _: True,
        "names and numbers": lambda pair: not unsaid(pair.statement, _hearing(pair, None).everything),
        "letters": lambda pair: _is_kept(pair, None),
        "meaning": lambda pair: _is_kept(pair, model()),
    }
    for way, is_kept in ways.items():
        told |= _rates(name, f"{way}, not asked", given, is_kept)
        told |= _rates(name, f"{way}, asked", given, lambda pair, by=is_kept: by(pair) and verdicts[pair] is not False)
    return told | _rates(name, "as built", given, lambda pair: _is_kept(pair, model(), verdicts[pair]))


def _asked(name: str) -> list[tuple[Pair, asking.Question]]:
    return list(zip(pairs(name), _questions(name), strict=True))


def _questions(name: str) -> list[asking.Question]:
    return [asking.Question(pair.said, _piece(pair.said), pair.statement) for pair in pairs(name)]


def _piece(said: str) -> str:
    """A conversation as a model is shown it."""
    (chunk,) = chunked(conversation(said))
    return chunk.text


def pairs(name: str) -> list[Pair]:
    lines = map(json.loads, (PAIRS / f"{name}.jsonl").read_text().splitlines())
    return [Pair(one["said"], one["statement"], one["true"], one.get("how", "")) for one in lines]


def conversation(said: str) -> Conversation:
    turns = (turn.partition(": ") for turn in _TURN.split(said))
    return Conversation("s", tuple(Said(Speaker(speaker), text) for speaker, _, text in turns))


def _measured(name: str, *, show: bool) -> dict[str, float]:
    given = pairs(name)
    told: dict[str, float] = {"pairs": len(given)}
    for way, embedder in (("letters", None), ("meaning", model())):
        told |= _rates(name, f"{way}, no invention", given, lambda pair, by=embedder: _is_sound(pair, by))
        told |= _rates(name, f"{way}, kept", given, lambda pair, by=embedder: _is_kept(pair, by))
    for share in (0.5, 0.6, 0.7, 0.8, 0.9):
        told |= _rates(name, f"  share of words ≥ {share}", given, lambda pair, least=share: _is_shared(pair, least))
    for pair in given if show else ():
        judged = grounds.grounded(pair.statement, _hearing(pair, model()))
        why = judged.why if isinstance(judged, Unfounded) else judged.doubt
        if (why is None) != pair.is_true:
            why = why or f"kept: {pair.how}"
            print(f"  {pair.is_true!s:5} {why} | {pair.said!r} | {pair.statement}")
    return told


def _rates(name: str, way: str, given: Sequence[Pair], is_kept: Callable[[Pair], bool]) -> dict[str, float]:
    true = [is_kept(pair) for pair in given if pair.is_true]
    made_up = [is_kept(pair) for pair in given if not pair.is_true]
    kept, wrong = sum(true) / len(true), sum(made_up) / len(made_up)
    print(f"{name:7} {way:24} keeps {kept:6.1%} of {len(true)} true, {wrong:6.1%} of {len(made_up)} invented")
    return {f"{way.strip()}: true kept": kept, f"{way.strip()}: invented kept": wrong}


def _hearing(pair: Pair, embedder: object) -> Hearing:
    return grounds.hearing(conversation(pair.said), embedder)  # type: ignore[arg-type]


def _is_sound(pair: Pair, embedder: object) -> bool:
    return invention(pair.statement, _hearing(pair, embedder).everything) is None


def _is_kept(pair: Pair, embedder: object, verdict: bool | None = None) -> bool:
    """Whether a statement is kept with what a model said of it, if it was asked; else by letters alone."""
    judged = grounds.grounded(pair.statement, _hearing(pair, embedder))
    return isinstance(judged, Grounded) and (judged.doubt is None if verdict is None else verdict)


def _is_shared(pair: Pair, least: float) -> bool:
    return _is_kept(pair, model()) and share_said(pair.statement, _hearing(pair, model()).everything) >= least


if __name__ == "__main__":
    main()
