"""What a provider of a language model does, and how it says that it could not."""

from collections.abc import Iterator
from typing import Protocol

from retain.domain.llm import Completion, Prompt
from retain.endpoint import may_pass, without_keys
from retain.errors import LLMFailed, shorten

CHARS_PER_TOKEN = 4
Pieces = Iterator[str | Completion]


class Provider(Protocol):
    """Asks one model, once. Safe to use from any thread."""

    @property
    def name(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def is_priced(self) -> bool:
        """Whether `Completion.usd` is known; else it is 0 and says nothing."""
        ...

    def why_not(self) -> str | None:
        """Why it cannot be asked, such as a missing key; None when it can."""
        ...

    def pieces(self, prompt: Prompt, seconds: float) -> Pieces:
        """The answer piece by piece, and at the end the whole of it with what it took; else LLMFailed."""
        ...


class Passing(LLMFailed):
    """May go well when it is tried again; the provider may have said how long to wait."""

    def __init__(self, message: str, retry_after: float | None = None, **details: object) -> None:
        super().__init__(message, **details)
        self.retry_after = retry_after


_ADVICE = {
    401: "check the key: `retain key set`, or the setting llm_key",
    403: "the key may not use this model: check llm_model and the key's rights",
    404: "check llm_model and llm_url",
    413: "the text is too long for this model",
    429: "too many requests, or no credit left; it works again later",
}


def refused(provider: str, status: int, why: str, retry_after: float | None = None) -> LLMFailed:
    """What to raise for an HTTP status that is not an answer."""
    advice = _ADVICE.get(status, "try again later" if status >= 500 else "check llm_model and llm_url")
    message = f"{provider} answered {status} ({told(why)}): {advice}"
    if may_pass(status):
        return Passing(message, retry_after, provider=provider, status=status)
    return for_good(message, provider=provider, status=status)


def unreachable(provider: str, why: str) -> Passing:
    return Passing(f"{provider} cannot be reached ({told(why)}): check the network and llm_url", provider=provider)


def late(provider: str, seconds: float) -> Passing:
    return Passing(f"{provider} did not answer within {seconds:.0f} s: try again later", provider=provider)


def broke_off(provider: str, why: str = "the stream ended early") -> Passing:
    return Passing(f"{provider} broke off its answer ({told(why)}): try again", provider=provider)


def for_good(message: str, **details: object) -> LLMFailed:
    """A failure that asking again does not mend."""
    failure = LLMFailed(message, **details)
    failure.retry_possible = False
    return failure


def told(why: str) -> str:
    """What a provider said, fit for a message: one line, and no key in it."""
    return shorten(without_keys(" ".join(why.split())), 200)


def tokens_in(text: str) -> int:
    """A guess, for providers that do not count."""
    return -(-len(text) // CHARS_PER_TOKEN)
