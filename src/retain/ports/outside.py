"""What is neither store nor engine: models and the clock."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Protocol

from retain.domain.judging import Comparison, Surroundings, Verdict
from retain.domain.llm import Completion, Prompt
from retain.domain.memory import Vector
from retain.domain.model import CacheStats, ModelState


class Embedder(Protocol):
    """Turns text into vectors; may be slow to load, and may be off."""

    @property
    def model(self) -> str: ...
    @property
    def dimensions(self) -> int: ...
    def state(self) -> ModelState: ...
    def warm(self) -> None: ...
    def wait(self, seconds: float) -> bool: ...
    def chunks(self, text: str) -> list[str]: ...
    def embed(self, texts: Sequence[str]) -> list[Vector]: ...
    def stats(self) -> CacheStats: ...


class Judge(Protocol):
    """Says which sentences are worth keeping, how two statements stand to each other, and how surely a memory answers a
    question; may be off.

    Raises JudgeAway where it cannot judge: nothing else takes its place.
    """

    @property
    def model(self) -> str: ...
    def state(self) -> ModelState: ...
    def wait(self, seconds: float) -> bool: ...
    def keep(self, sentence: str, context: Surroundings) -> Verdict: ...
    def relation(self, old: str, new: str) -> Comparison: ...
    def fits(self, question: str, memory: str) -> float: ...


class LLM(Protocol):
    """A language model that somebody chose; it may fail at any time, and then a rule does its work."""

    @property
    def name(self) -> str:
        """Provider and model, as a person would say it."""
        ...

    def why_not(self) -> str | None:
        """Why it cannot be asked now: no key, the day's budget spent; None when it can."""
        ...

    def complete(self, prompt: Prompt, seconds: float) -> Completion:
        """The answer within so many seconds, retries included; else LLMFailed."""
        ...

    def stream(self, prompt: Prompt, seconds: float) -> Iterator[str]:
        """The answer in pieces, as they come."""
        ...


class Clock(Protocol):
    def now(self) -> datetime: ...
