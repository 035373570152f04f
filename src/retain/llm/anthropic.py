"""Anthropic's models, by the official SDK, which is an extra: it is loaded when it is first asked."""

import importlib.util
from collections.abc import Iterator
from typing import TYPE_CHECKING

from retain.domain.llm import Completion, Prompt
from retain.endpoint import check_privacy, check_url, seconds_to_wait
from retain.errors import LLMFailed, MissingExtra
from retain.llm.prices import cost, price
from retain.llm.provider import Pieces, broke_off, for_good, late, refused, unreachable

if TYPE_CHECKING:
    from anthropic import Anthropic as Client
    from anthropic import APIError
    from anthropic.types import RawMessageStreamEvent

URL = "https://api.anthropic.com"
MODEL = "claude-haiku-4-5"
INSTALL = "the package `anthropic` is not installed; run `pip install '.[anthropic]'` in the folder of Retain"


class Anthropic:
    name = "anthropic"

    def __init__(self, key: str | None, model: str = MODEL, url: str = URL) -> None:
        check_url(url, "llm_url")
        if key:
            check_privacy(url, "llm_url")
        self._key, self._model, self._url = key, model, url
        self._client: Client | None = None

    @property
    def model(self) -> str:
        return self._model

    @property
    def is_priced(self) -> bool:
        return price(self._model) is not None

    def why_not(self) -> str | None:
        if importlib.util.find_spec("anthropic") is None:
            return INSTALL
        if not self._key:
            return "there is no key for anthropic: run `retain key set`, or set llm_key or ANTHROPIC_API_KEY"
        return None

    def pieces(self, prompt: Prompt, seconds: float) -> Pieces:
        client = self._opened()
        import anthropic
        import httpx2

        try:
            with client.messages.create(
                model=self._model,
                max_tokens=prompt.max_tokens,
                system=prompt.instructions,
                messages=[{"role": "user", "content": prompt.text}],
                stream=True,
                timeout=seconds,
            ) as events:
                yield from self._read(events)
        except anthropic.APIError as error:
            raise self._failed(error, seconds) from None
        # What goes wrong while a stream is read comes as the HTTP library raises it.
        except httpx2.TimeoutException:
            raise late(self.name, seconds) from None
        except httpx2.HTTPError as error:
            raise broke_off(self.name, str(error) or type(error).__name__) from None
        except ValueError as error:
            raise for_good(f"{self.name} answered with something that is no stream ({error}): check llm_url") from None

    def _opened(self) -> "Client":
        if self._client is None:
            try:
                from anthropic import Anthropic as Client
            except ImportError as error:
                raise MissingExtra(INSTALL) from error
            if not self._key:  # without one the SDK would look for credentials itself, and nobody chose those
                raise for_good(str(self.why_not()), provider=self.name)
            # Whether and when to try again is decided one level up, and nothing is traced.
            self._client = Client(api_key=self._key, base_url=self._url, max_retries=0, open_telemetry=False)
        return self._client

    def _read(self, events: "Iterator[RawMessageStreamEvent]") -> Pieces:
        said: list[str] = []
        sent = made = 0
        stop: str | None = None
        for event in events:
            if event.type == "message_start":
                sent = _all_sent(event.message.usage)
            elif event.type == "content_block_delta" and event.delta.type == "text_delta":
                said.append(event.delta.text)
                yield event.delta.text
            elif event.type == "message_delta":
                made, stop = event.usage.output_tokens, event.delta.stop_reason
        if stop is None:
            raise broke_off(self.name)
        text = "".join(said)
        yield Completion(text, sent, made, cost(self._model, sent, made) or 0.0, cut=stop == "max_tokens")

    def _failed(self, error: "APIError", seconds: float) -> LLMFailed:
        import anthropic

        if isinstance(error, anthropic.APITimeoutError):
            return late(self.name, seconds)
        if isinstance(error, anthropic.APIConnectionError):
            return unreachable(self.name, str(error.__cause__ or error))
        if not isinstance(error, anthropic.APIStatusError):
            return for_good(f"{self.name} answered with something that is no message: check llm_url")
        why = error.api_message or error.message
        if error.status_code < 400:  # an error that came within a stream which had begun well
            return broke_off(self.name, why)
        return refused(self.name, error.status_code, why, seconds_to_wait(error.response.headers.get("retry-after")))


def _all_sent(usage: object) -> int:
    """Everything that was sent counts, also what the provider had cached; ours is never cached."""
    counts = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum(getattr(usage, name, None) or 0 for name in counts)
