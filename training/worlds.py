"""Questions with the memories that answer them, and with those that only look as if they did.

A world is what one team or person said over months, and questions about it. What is shown of it is a group: a question,
one memory that answers it, and its nearest neighbours that do not, because telling these apart is the work.
"""

import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examples import FOLDS
from retain.domain.passages import passage

Vectors = Callable[[Sequence[str]], NDArray[np.float32]]
_NEAREST, _NEAR, _FAR = 10, 4, 1  # neighbours to draw from; wrong answers out of these; wrong answers of other worlds
_MOST_RIGHT = 3  # of one question: one that gathers ten turns would else count for ten


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the places of the memories that answer it. Those that once did are neither right nor wrong, and
    neither is the reply that stands beside the answer."""

    text: str
    right: tuple[int, ...]
    neutral: frozenset[int]

    @property
    def about(self) -> frozenset[int]:
        """All that speaks of what is asked."""
        return self.neutral.union(self.right)


@dataclass(frozen=True, slots=True)
class World:
    id: str
    memories: tuple[str, ...]
    questions: tuple[Asked, ...]
    fold: int


@dataclass(frozen=True, slots=True)
class Group:
    question: str
    right: str
    wrong: tuple[str, ...]
    fold: int

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """As the judge is asked, the right one first."""
        return [(self.question, passage(self.question, memory)) for memory in (self.right, *self.wrong)]


def worlds(files: Iterable[Path]) -> list[World]:
    """Each of one fifth as a whole: its questions share their memories."""
    return [
        _conversation(row, place % FOLDS) if "sessions" in row else _notes(row, place % FOLDS)
        for file in files
        for place, row in enumerate(map(json.loads, file.read_text(encoding="utf-8").splitlines()))
    ]


def groups(worlds: Sequence[World], vectors: Vectors, seed: int = 0) -> list[Group]:
    """For every question and answer a group, with wrong answers as the embedder would bring them up."""
    chance = random.Random(seed)
    found = []
    for world in worlds:
        if not world.questions:
            continue
        others = [each for each in worlds if each is not world and each.fold == world.fold]
        near = vectors([each.text for each in world.questions]) @ vectors(world.memories).T
        for asked, row in zip(world.questions, near, strict=True):
            wrong = [at for at in np.argsort(-row).tolist() if at not in asked.right and at not in asked.neutral]
            for right in chance.sample(asked.right, min(_MOST_RIGHT, len(asked.right))):
                drawn = [world.memories[at] for at in _drawn(wrong, chance)]
                strange = [chance.choice(chance.choice(others).memories) for _ in range(_FAR)]
                found.append(Group(asked.text, world.memories[right], (*drawn, *strange), world.fold))
    return [each for each in found if len(each.wrong) == _NEAR + _FAR]


def _drawn(wrong: Sequence[int], chance: random.Random) -> list[int]:
    return chance.sample(wrong[:_NEAREST], min(_NEAR, len(wrong)))


def _notes(row: dict[str, Any], fold: int) -> World:
    places = {memory["id"]: place for place, memory in enumerate(row["memories"])}
    texts = tuple(memory["text"] for memory in row["memories"])
    return World(row["id"], texts, tuple(_questions(row, "answers", places, {})), fold)


def _conversation(row: dict[str, Any], fold: int) -> World:
    """A turn is remembered with its speaker. The reply to an answer repeats it, so it is neither right nor wrong."""
    turns = [turn for session in row["sessions"] for turn in session["turns"]]
    places = {turn["id"]: place for place, turn in enumerate(turns)}
    replies = {place: place + 1 for place in range(len(turns) - 1)}
    texts = tuple(f"{turn['role'].capitalize()}: {turn['text']}" for turn in turns)
    return World(row["id"], texts, tuple(_questions(row, "evidence", places, replies)), fold)


def _questions(row: dict[str, Any], named: str, places: dict[str, int], replies: dict[int, int]) -> Iterator[Asked]:
    for question in row["questions"]:
        right = tuple(places[name] for name in question[named] if name in places)
        beside = {replies[place] for place in right if place in replies}
        outdated = {places[name] for name in question.get("outdated") or () if name in places}
        if right:
            yield Asked(question["q"], right, frozenset((beside | outdated) - set(right)))
