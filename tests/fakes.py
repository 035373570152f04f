"""Stand-ins for what is random or paid for: the clock, and what another window does at the worst moment; and a judge
that leaves everything to the rules around it."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from retain.domain.judging import RELATIONS, Comparison, Surroundings, Verdict
from retain.domain.model import ModelState
from retain.errors import LLMFailed

START = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


class FixedClock:
    """Time that passes only when it is told to."""

    def __init__(self, start: datetime = START) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def tick(self, seconds: float = 1.0) -> datetime:
        self._now += timedelta(seconds=seconds)
        return self._now


class Ticks:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Rival:
    """A store in which another window acts just before the first plan is applied."""

    def __init__(self, store: Any, act: Callable[[], object]) -> None:
        self._store = store
        self._act: Callable[[], object] | None = act

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def apply(self, changes: Any) -> Any:
        act, self._act = self._act, None
        if act:
            act()
        return self._store.apply(changes)


class EagerJudge:
    """A judge that would keep whatever it is asked about, so that what is not kept is what rules forbid.

    Of what it is `told` it says that instead: of a sentence how sure it is, or all of its verdict; of two statements
    how surely they contradict each other, or how else they stand to each other; of a question and a memory how surely
    it is the answer.
    """

    model = "eager (fake)"

    def __init__(self, told: dict[Any, Any] | None = None, category: str = "pattern", scope: str = "project") -> None:
        self._told = told or {}
        self._category, self._scope = category, scope
        self.asked: list[tuple[str, Any]] = []

    def state(self) -> ModelState:
        return ModelState("ready")

    def wait(self, seconds: float) -> bool:
        return True

    def keep(self, sentence: str, context: Surroundings) -> Verdict:
        self.asked.append((sentence, context))
        told = self._told.get(sentence, 1.0)
        return told if isinstance(told, Verdict) else Verdict(told, self._category, self._scope)

    def relation(self, old: str, new: str) -> Comparison:
        told = self._told.get((old, new), 0.0)
        scores: dict[Any, float] = dict.fromkeys(RELATIONS, 0.0)
        if isinstance(told, str):
            return Comparison(told, scores | {told: 1.0})
        scores |= {"contradiction": told, "unrelated": 1 - told}
        return Comparison("contradiction" if told > 0.5 else "unrelated", scores)

    def fits(self, question: str, memory: str) -> float:
        return self._told.get((question, memory), 0.5)


class ScriptedLLM:
    """A language model that gives the answers it was handed, one a question; an exception among them is raised.

    Asked which of its statements were said it has `checks`, and stands by all of them once these are used up.
    """

    name = "scripted (fake)"

    def __init__(self, *answers: Any, checks: Any = (), why_not: str | None = None) -> None:
        self._answers = list(answers)
        self._checks = list(checks)
        self._why_not = why_not
        self.asked: list[Any] = []
        self.asked_again: list[Any] = []

    def why_not(self) -> str | None:
        return self._why_not

    def complete(self, prompt: Any, seconds: float) -> Any:
        from retain.domain.llm import Completion

        if prompt.purpose == "check":
            self.asked_again.append(prompt)
            answer = self._checks.pop(0) if self._checks else _all_supported(prompt)
        else:
            self.asked.append(prompt)
            answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Completion(answer) if isinstance(answer, str) else answer

    def stream(self, prompt: Any, seconds: float) -> Any:
        answer = self.complete(prompt, seconds)
        for start in range(0, len(answer.text), 10):
            yield answer.text[start : start + 10]


def _all_supported(prompt: Any) -> str:
    notes = prompt.text.rpartition("The notes:")[2]
    return json.dumps({"supported": [int(number) for number in re.findall(r"^(\d+)\. ", notes, re.M)], "not": []})


class TidyLLM(ScriptedLLM):
    """A language model that throws away as much as it may: of what it is to consolidate it drops half, and lets one
    of the others stand for another. To other questions it has no answer."""

    name = "tidy (fake)"

    def complete(self, prompt: Any, seconds: float) -> Any:
        from retain.domain.llm import Completion

        if prompt.purpose == "check":
            return super().complete(prompt, seconds)
        ids = re.findall(r"^([0-9a-z]{20}) \([\d-]{10}\): (.+)$", prompt.text, re.M)
        if not ids:
            raise LLMFailed("it has nothing to say to that")
        self.asked.append(prompt)
        (first, text), *rest = ids
        dropped = [id for id, _ in rest[: len(ids) // 2]]
        kept = [id for id, _ in rest[len(dropped) :]]
        merged = [{"ids": [first, kept.pop()], "content": text, "tags": []}] if kept else []
        left = kept if merged else [first]
        return Completion(json.dumps({"keep": left, "merge": merged, "drop": dropped}))
