"""Labelled messages and pairs as what the network is shown, and the noise that people's typing adds."""

import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retain.domain.judging import CATEGORIES, NOTHING, RELATIONS, SCOPES, questions
from retain.domain.languages import language_of
from retain.domain.sentences import sentences

DATA = Path(__file__).parent / "data"
BLOCK, FOLDS = 12, 5  # neighbouring lines contrast on purpose, so they stay on one side of a split
_OVERLAP = 0.4  # of the shorter of the two: a sentence says what a labelled span says
_NONE = -1  # a label that the loss leaves out


@dataclass(frozen=True, slots=True)
class Example:
    """One pair of texts with its labels. `span` tells which labelled span of its message a sentence is of, if any."""

    task: str
    first: str
    second: str
    label: int
    scope: int = _NONE
    span: int | None = None
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Message:
    """A labelled message as it was written, and its sentences as examples."""

    row: dict[str, Any]
    language: str
    sentences: tuple[Example, ...]
    fold: int


@dataclass(frozen=True, slots=True)
class Pair:
    id: str
    example: Example
    fold: int


def messages(files: Iterable[Path]) -> list[Message]:
    return [_message(row, fold) for file in files for row, fold in _with_folds(list(_rows(file)))]


def pairs(files: Iterable[Path]) -> list[Pair]:
    return [
        Pair(row["id"], Example("pair", row["old"], row["new"], RELATIONS.index(row["label"])), fold)
        for file in files
        for row, fold in _with_folds(list(_rows(file)))
    ]


def turned(each: Pair) -> Iterator[Example]:
    """The pair the other way round, at half the weight, where that changes nothing; a detail is no detail backwards."""
    if RELATIONS[each.example.label] != "refinement":
        yield Example("pair", each.example.second, each.example.first, each.example.label, weight=0.5)


def strangers(messages: Sequence[Message], pairs: Sequence[Pair], count: int) -> Iterator[Example]:
    """Statements that have nothing to do with one another, as unrelated: most that meet in a memory are such, and
    writers of pairs write none. Half are of one conversation, which share its jargon; the others are of any two."""
    chance = random.Random(0)
    by_conversation: defaultdict[str, list[str]] = defaultdict(list)
    for message in messages:
        place = message.row.get("session") or message.row["id"]
        by_conversation[place] += [kept["span"] for kept in message.row["keep"]]
    together = [said for said in by_conversation.values() if len(said) > 1]
    anybody = [said for group in by_conversation.values() for said in group]
    anybody += [said for pair in pairs for said in (pair.example.first, pair.example.second)]
    for number in range(count):
        one, other = chance.sample(chance.choice(together) if number % 2 else anybody, 2)
        yield Example("pair", one, other, RELATIONS.index("unrelated"))


def in_passing(pairs: Sequence[Pair], messages: Sequence[Message]) -> Iterator[Example]:
    """The pairs once more as they are met with in a memory: beside what else somebody said in the same breath."""
    chance = random.Random(0)
    english = [m for m in messages if m.row["role"] == "user" and m.language == "en"]
    idle = [each.first for message in english for each in message.sentences if not each.label]
    idle = [said.rstrip(".,!") for said in idle if 3 <= len(said.split()) <= 14]
    for each in pairs:
        one, other, label = each.example.first, each.example.second, each.example.label
        if RELATIONS[label] != "same":
            one = _beside(one, chance.choice(idle), chance) if chance.random() < 0.4 else one
            yield Example("pair", one, _beside(other, chance.choice(idle), chance), label, weight=0.7)


def _beside(said: str, idle: str, chance: random.Random) -> str:
    between = chance.choice((", ", ". ", ", also ", " and ", ", btw ", " so "))
    return f"{idle}{between}{said}" if chance.random() < 0.5 else f"{said.rstrip('.')}{between}{idle}"


def typed(text: str, chance: random.Random) -> str:
    """As somebody in a hurry types it: case, apostrophes, full stops and letters go."""
    if chance.random() < 0.3:
        text = text.lower()
    if chance.random() < 0.2:
        text = text.replace("'", "").replace("’", "")
    if chance.random() < 0.2:
        text = text.rstrip(".!。")
    if chance.random() < 0.12 and len(text) > 12:
        place = chance.randrange(1, len(text) - 2)
        text = text[:place] + text[place + 1] + text[place] + text[place + 2 :]
    return text


def _message(row: dict[str, Any], fold: int) -> Message:
    text, before = row["text"], row.get("before") or []
    cuts = sentences(text)
    spans = []
    for kept in row["keep"]:
        start = text.find(kept["span"])
        spans.append((start, start + len(kept["span"]), kept))
    found = []
    asked = questions(text, cuts, row["role"], before[-1]["text"] if before else "")
    for (sentence, context), cut in zip(asked, cuts, strict=True):
        number = _said_by(cut, [(start, end) for start, end, _ in spans])
        kept = spans[number][2] if number is not None else {"category": NOTHING}
        scope = SCOPES.index(kept["scope"]) if number is not None else _NONE
        found.append(Example("keep", sentence, context.told(), CATEGORIES.index(kept["category"]), scope, number))
    return Message(row, row.get("lang") or language_of(text), tuple(found), fold)


def _said_by(cut: tuple[int, int], spans: list[tuple[int, int]]) -> int | None:
    """The span that a sentence shares most with, if it shares enough."""
    best, most = None, 0
    for number, (start, end) in enumerate(spans):
        shared = min(cut[1], end) - max(cut[0], start)
        if shared > max(most, _OVERLAP * min(cut[1] - cut[0], end - start)):
            best, most = number, shared
    return best


def _with_folds(rows: Sequence[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], int]]:
    """Each row with the fifth that it is of: the turns of one session are of one, and so are the rows of a block."""
    sessions = {name: number for number, name in enumerate(dict.fromkeys(row.get("session") for row in rows))}
    for place, row in enumerate(rows):
        block = sessions[row["session"]] if "session" in row else place // BLOCK
        yield row, block % FOLDS


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as stream:
        yield from (json.loads(line) for line in stream if line.strip())
