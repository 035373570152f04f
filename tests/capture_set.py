"""The written transcripts: reading them, and comparing what is extracted with what should be."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from retain.domain.conversation import Conversation, Extracted, Said, Speaker, ToolRun, Turn

FOLDER = Path(__file__).parent / "transcripts"
Extract = Callable[[Conversation], Sequence[Extracted]]


@dataclass(frozen=True)
class Written:
    """A transcript with what should be remembered of it: `expected` one by one, `never` in no statement."""

    name: str
    about: str
    conversation: Conversation
    expected: tuple[dict[str, Any], ...] = ()
    never: tuple[str, ...] = ()


@dataclass
class Score:
    """Counts over transcripts. A statement that nothing expected is wrong, and so is one too many."""

    right: list[tuple[str, Extracted]] = field(default_factory=list)
    wrong: list[tuple[str, Extracted]] = field(default_factory=list)
    missed: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return len(self.right) / max(len(self.right) + len(self.wrong), 1)

    @property
    def recall(self) -> float:
        return len(self.right) / max(len(self.right) + len(self.missed), 1)


def written(folder: str) -> list[Written]:
    return [_read(file) for file in sorted((FOLDER / folder).glob("*.json"))]


def scored(transcripts: Sequence[Written], extract: Extract) -> Score:
    score = Score()
    for transcript in transcripts:
        left = list(transcript.expected)
        for item in extract(transcript.conversation):
            match = next((one for one in left if fits(item, one) and not _forbidden(item, transcript)), None)
            if match is None:
                score.wrong.append((transcript.name, item))
            else:
                left.remove(match)
                score.right.append((transcript.name, item))
        score.missed += [(transcript.name, one) for one in left]
    return score


def fits(item: Extracted, expected: dict[str, Any]) -> bool:
    """Every word that must be in it is, and category, speaker, scope, file and what it replaces are as written."""
    return (
        all(word.lower() in item.text.lower() for word in expected["must"])
        and item.category in expected.get("category", [item.category])
        and item.speaker == expected.get("speaker", item.speaker)
        and item.scope == expected.get("scope", item.scope)
        and item.file == expected.get("file", item.file)
        and all(word.lower() in (item.replaces or "").lower() for word in expected.get("replaces", []))
    )


def _forbidden(item: Extracted, transcript: Written) -> bool:
    return any(word.lower() in item.text.lower() for word in transcript.never)


def _read(file: Path) -> Written:
    data = json.loads(file.read_text(encoding="utf-8"))
    turns = tuple(_turn(turn) for turn in data["turns"])
    conversation = Conversation(file.stem, turns, data.get("aside", False))
    return Written(file.stem, data["about"], conversation, tuple(data["expected"]), tuple(data.get("never", ())))


def _turn(turn: dict[str, Any]) -> Turn:
    for speaker in (Speaker.USER, Speaker.ASSISTANT):
        if speaker in turn:
            return Said(speaker, turn[speaker])
    return ToolRun(turn["tool"], turn["input"], turn.get("output", ""), turn.get("failed", False))
