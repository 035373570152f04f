"""What a language model is asked, and what it answered."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question. `instructions` are ours; `text` may hold words of anybody, fenced as data."""

    instructions: str
    text: str
    max_tokens: int = 2000
    purpose: str = "ask"
    """Why it is asked, for the counter of costs: extract, check, consolidate, judge, ask."""


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer, and what it took. `cut` when the model stopped at `max_tokens`."""

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float = 0.0
    cut: bool = False
