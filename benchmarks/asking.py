"""Questions to a language model as files, and its answers: to measure any model, or a person, without calling one."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from retain.domain.llm import Completion
from retain.engine.capture.answers import denied
from retain.engine.capture.prompts import Source, checking
from retain.errors import LLMFailed

PER_FILE = 20
_RULE = "=" * 10
_README = """\
# Questions to a language model

Each `NAME.txt` holds {most} questions at most. A question begins with a line `{rule} ID` and ends before the next one.

1. Take one file. If several answer, each takes other files: two files may ask about the same conversation.
2. Read each question alone, as if it were the only one. Do as it says, by your own reading; use no program that decides
   for you, and look into no other file.
3. Write one line for each question to `NAME.answers.jsonl`, in the same folder, with the JSON object that the question
   asks for as `answer`:

       {{"id": "held-2-0a1b2c3d", "answer": {{"supported": [1], "not": []}}}}
       {{"id": "held-2-4e5f6a7b", "answer": {{"supported": [], "not": [{{"n": 1, "why": "nobody named a port"}}]}}}}

Every question has one note, so the answer names the number 1 and no other.
"""


class Question(NamedTuple):
    said: str
    piece: str
    statement: str

    def id(self, name: str) -> str:
        """Tells nothing about the pair, not even where it stands in its set."""
        return f"{name}-{hashlib.sha256(f'{self.said}|{self.statement}'.encode()).hexdigest()[:8]}"


def write(folder: Path, name: str, questions: Sequence[Question]) -> list[str]:
    """Files of questions; of two statements about one conversation the second comes into a later file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "README.md").write_text(_README.format(most=PER_FILE, rule=_RULE))
    ordered = _apart(name, questions)
    written = []
    for start in range(0, len(ordered), PER_FILE):
        file = folder / f"{name}-{start // PER_FILE + 1}.txt"
        file.write_text("".join(f"{_RULE} {one.id(name)}\n{_prompt(one)}\n\n" for one in ordered[start:][:PER_FILE]))
        written.append(file.name)
    return written


def answered(folder: Path, name: str) -> dict[str, str]:
    """What was answered to each question, as the model would have said it."""
    files = sorted(folder.glob(f"{name}-*.answers.jsonl"))
    lines: Iterable[str] = (line for file in files for line in file.read_text().splitlines() if line.strip())
    return {one["id"]: json.dumps(one["answer"]) for one in map(json.loads, lines)}


def is_supported(answer: str | None) -> bool | None:
    """Whether an answer supports its one note, read as the product reads it; None where it cannot be read."""
    try:
        return None if answer is None else not denied(Completion(answer), 1)
    except LLMFailed:
        return None


def _apart(name: str, questions: Sequence[Question]) -> list[Question]:
    seen: Counter[str] = Counter()
    placed = []
    for one in sorted(questions, key=lambda one: one.id(name)):
        placed.append((seen[one.said], one))
        seen[one.said] += 1
    return [one for _, one in sorted(placed, key=lambda pair: pair[0])]


def _prompt(one: Question) -> str:
    prompt = checking(Source(one.piece), [one.statement])
    return f"{prompt.instructions}\n\n{prompt.text}"
