"""What a judge gets right, by the path that the capture worker takes: vetoes, statements and all."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examples import Message, Pair
from retain.domain.conversation import Conversation, Said, Speaker
from retain.domain.judging import CATEGORIES, RELATIONS, SCOPES, Comparison, Surroundings, Verdict, category_among
from retain.domain.model import ModelState
from retain.engine.capture import by_judge
from retain.engine.capture.cleaning import clean
from scoring import Score, score
from worlds import Group

Soft = NDArray[np.float32]
THRESHOLDS = (0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9)


class Foretold:
    """A judge whose answers were computed before; two statements of one message never contradict here."""

    model = "foretold"

    def __init__(self, odds: Mapping[tuple[str, str], Soft]) -> None:
        self._odds = odds

    def state(self) -> ModelState:
        return ModelState("ready")

    def wait(self, seconds: float) -> bool:
        return True

    def keep(self, sentence: str, context: Surroundings) -> Verdict:
        row = self._odds.get((sentence, context.told()))
        if row is None:  # what cleaning took out of a message was no sentence of it
            return Verdict(0.0, CATEGORIES[1], SCOPES[0])
        return Verdict(float(1 - row[0]), category_among(row.tolist()), SCOPES[0])

    def relation(self, old: str, new: str) -> Comparison:
        return Comparison("unrelated", {name: float(name == "unrelated") for name in RELATIONS})

    def fits(self, question: str, memory: str) -> float:
        return 0.0


def heard(judge: Any, row: Mapping[str, Any]) -> Score:
    """What the worker would make of a message, against its labels."""
    text = row["text"]
    before, said = (
        clean(Conversation("message", tuple(Said(Speaker(turn["role"]), turn["text"]) for turn in turns))).turns
        for turns in (row.get("before") or (), [row])
    )
    statements = []
    for found in by_judge.extract(judge, Conversation("message", said), before).found if said else ():
        words = [said[0].text[start:end] for start, end in found.spans]  # type: ignore[union-attr]
        statements.append([(text.find(word), text.find(word) + len(word)) for word in words])
    return score(row, statements)


def at_thresholds(messages: Sequence[Message], odds: Mapping[tuple[str, str], Soft], role: str) -> Iterator[str]:
    own = [message for message in messages if message.row["role"] == role]
    parts = {"English": [m for m in own if m.language == "en"], "other": [m for m in own if m.language != "en"]}
    for name, some in parts.items():
        for threshold in THRESHOLDS if some else ():
            score = _score(some, odds, threshold)
            yield f"{role}, {name}, {threshold}: {score}"


def by_language(messages: Sequence[Message], odds: Mapping[tuple[str, str], Soft], threshold: float) -> Iterator[str]:
    for language in sorted({message.language for message in messages}):
        some = [message for message in messages if message.language == language]
        yield f"{language}: {_score(some, odds, threshold)} in {len(some)}"


def of_pairs(pairs: Sequence[Pair], odds: Soft) -> Iterator[str]:
    truth = np.array([pair.example.label for pair in pairs])
    is_it = truth == RELATIONS.index("contradiction")
    for threshold in (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97):
        said = odds[:, RELATIONS.index("contradiction")] >= threshold
        score = Score(int((is_it & said).sum()), int((~is_it & said).sum()), int((is_it & ~said).sum()))
        yield f"contradiction, {threshold}: {score}"
    yield f"relation: {(odds.argmax(1) == truth).mean():.3f} right of {len(pairs)}"


def of_groups(groups: Sequence[Group], odds: Soft) -> Iterator[str]:
    """How often the memory that answers a question is taken for likelier than all that do not."""
    at, first, right, wrong = 0, 0, [], []
    for group in groups:
        own = odds[at : at + len(group.pairs), 1]
        at += len(group.pairs)
        first += int(own[0] > own[1:].max())
        right.append(own[0])
        wrong.extend(own[1:])
    yield f"fit: the right one first in {first} of {len(groups)}; {np.mean(right):.2f} against {np.mean(wrong):.2f}"


def categories(messages: Iterable[Message], odds: Mapping[tuple[str, str], Soft]) -> str:
    hits = [
        int(odds[each.first, each.second][1:].argmax()) + 1 == each.label
        for message in messages
        for each in message.sentences
        if each.label
    ]
    return f"category: {np.mean(hits):.3f} right of {len(hits)}"


def _score(messages: Sequence[Message], odds: Mapping[tuple[str, str], Soft], threshold: float) -> Score:
    judge = Foretold(odds)
    before, abroad = dict(by_judge.THRESHOLDS), by_judge.ABROAD
    by_judge.THRESHOLDS.update(dict.fromkeys(before, threshold))
    by_judge.ABROAD = 0.0
    try:
        return sum((heard(judge, message.row) for message in messages), Score())
    finally:
        by_judge.THRESHOLDS.update(before)
        by_judge.ABROAD = abroad
