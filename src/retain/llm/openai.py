"""Any endpoint that speaks OpenAI's chat completions: OpenAI, Ollama, vLLM, LM Studio and many more."""

import http.client
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from retain.domain.llm import Completion, Prompt
from retain.endpoint import NoAnswer, check_privacy, check_url, is_local, posted, versioned
from retain.errors import ConfigError, LLMFailed
from retain.llm.prices import cost, price
from retain.llm.provider import Pieces, broke_off, for_good, late, refused, tokens_in, told, unreachable

URL = "https://api.openai.com/v1"
MODEL = "gpt-4.1-mini"
LONGEST_LINE = 1_000_000
LONGEST_ANSWER = 400_000  # characters; far above what any prompt asks for


@dataclass(frozen=True, slots=True)
class ChatEndpoint:
    """Where to ask, for which model. Only OpenAI itself has a default model."""

    url: str
    model: str
    key: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_url(self.url, "llm_url")
        if self.key:
            check_privacy(self.url, "llm_url")
        if not self.model:
            raise ConfigError("llm_url is set, and llm_model does not say which model to ask for there")

    @property
    def address(self) -> str:
        return versioned(self.url, "chat/completions")

    @property
    def is_openai(self) -> bool:
        return urlsplit(self.url).hostname == "api.openai.com"


class OpenAICompatible:
    name = "openai"

    def __init__(self, endpoint: ChatEndpoint) -> None:
        self._endpoint = endpoint
        self._is_free = is_local(endpoint.url)
        # Some servers refuse a request that asks them to count.
        self._counts = True

    @property
    def model(self) -> str:
        return self._endpoint.model

    @property
    def is_priced(self) -> bool:
        return self._is_free or price(self.model) is not None

    def why_not(self) -> str | None:
        if self._endpoint.is_openai and not self._endpoint.key:
            return "there is no key for openai: run `retain key set`, or set llm_key or OPENAI_API_KEY"
        return None

    def pieces(self, prompt: Prompt, seconds: float) -> Pieces:
        try:
            with posted(self._endpoint.address, self._body(prompt), self._endpoint.key, seconds) as reply:
                yield from self._read(reply, prompt)
        except NoAnswer as error:
            if self._counts and error.status in (400, 422) and "stream_options" in error.why:
                self._counts = False
                yield from self.pieces(prompt, seconds)
            else:
                raise self._failed(error, seconds) from None

    def _failed(self, error: NoAnswer, seconds: float) -> LLMFailed:
        if error.status:
            return refused(self.name, error.status, error.why, error.retry_after)
        return late(self.name, seconds) if error.late else unreachable(self.name, error.why)

    def _body(self, prompt: Prompt) -> dict[str, object]:
        said = [{"role": "system", "content": prompt.instructions}, {"role": "user", "content": prompt.text}]
        # OpenAI's newer models refuse `max_tokens`, which is the only name that many other servers know.
        limit = "max_completion_tokens" if self._endpoint.is_openai else "max_tokens"
        body: dict[str, object] = {"model": self.model, "messages": said, limit: prompt.max_tokens, "stream": True}
        return body | {"stream_options": {"include_usage": True}} if self._counts else body

    def _read(self, reply: http.client.HTTPResponse, prompt: Prompt) -> Pieces:
        heard = _Heard()
        for chunk in _chunks(reply):
            piece = heard.take(chunk)
            if piece:
                yield piece
            if heard.length > LONGEST_ANSWER:
                raise for_good(f"{self.name} did not stop talking: check llm_model", provider=self.name)
        if heard.finish is None:
            raise broke_off(self.name)
        yield self._completion(heard, prompt)

    def _completion(self, heard: "_Heard", prompt: Prompt) -> Completion:
        text = "".join(heard.said)
        sent = heard.sent if heard.sent is not None else tokens_in(prompt.instructions + prompt.text)
        made = heard.made if heard.made is not None else tokens_in(text)
        usd = 0.0 if self._is_free else cost(self.model, sent, made) or 0.0
        return Completion(text, sent, made, usd, cut=heard.finish == "length")


@dataclass(slots=True)
class _Heard:
    """What has come of an answer so far."""

    said: list[str] = field(default_factory=list)
    length: int = 0
    sent: int | None = None
    made: int | None = None
    finish: str | None = None

    def take(self, chunk: Any) -> str:
        """Adds a chunk, whose shape is the server's affair; the words in it."""
        try:
            if isinstance(chunk.get("error"), dict | str):
                raise broke_off(OpenAICompatible.name, str(chunk["error"]))
            if usage := chunk.get("usage"):
                self.sent, self.made = int(usage["prompt_tokens"]), int(usage["completion_tokens"])
            choice: Any = next(iter(chunk.get("choices") or []), {})
            self.finish = choice.get("finish_reason") or self.finish
            piece = str((choice.get("delta") or choice.get("message") or {}).get("content") or "")
        except (AttributeError, KeyError, TypeError, ValueError):
            raise _nonsense(json.dumps(chunk)) from None
        self.said.append(piece)
        self.length += len(piece)
        return piece


def _chunks(reply: http.client.HTTPResponse) -> Iterator[Any]:
    """The events of the stream; a server that does not stream answers with one."""
    if "json" in reply.headers.get_content_type():
        yield _json(reply.read(LONGEST_LINE))
        return
    while line := reply.readline(LONGEST_LINE):
        name, _, data = line.partition(b":")
        if name == b"data" and data.strip() == b"[DONE]":
            return
        if name == b"data":
            yield _json(data)


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise _nonsense(data[:400].decode("utf-8", "replace")) from None


def _nonsense(shown: str) -> LLMFailed:
    return for_good(f"{OpenAICompatible.name} did not answer with a chat completion: {told(shown)}. Check llm_url")
