"""Embedding by an OpenAI-compatible endpoint: Ollama, vLLM, LM Studio, OpenAI."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from retain.domain.memory import Vector
from retain.domain.model import CacheStats, ModelState
from retain.embedding.cache import VectorCache
from retain.embedding.chunks import cut, pieces
from retain.embedding.unit import unit
from retain.endpoint import NoAnswer, check_url, posted, versioned
from retain.errors import EmbeddingFailed, shorten
from retain.models.loading import Loading

BATCH = 64
TRIES = 2
CHUNK = 256  # pieces of at most four characters: fits the smallest models that are served


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`url` as its documentation gives it, with or without `/v1`."""

    url: str
    model: str
    key: str | None = field(default=None, repr=False)
    dimensions: int | None = None  # refused when the model makes others
    timeout: float = 10.0  # seconds for one request
    pause: float = 0.5  # seconds before the second try

    def __post_init__(self) -> None:
        check_url(self.url, "embedding url")

    @property
    def address(self) -> str:
        return versioned(self.url, "embeddings")


class _Unreachable(EmbeddingFailed):
    """Nobody answered, or the server is in trouble: asking for something else would not help."""


class RemoteEmbedder:
    """The first call learns the dimensions. A server that stops answering is left alone for a minute."""

    def __init__(self, endpoint: Endpoint, clock: Callable[[], float] = time.monotonic) -> None:
        self._endpoint = endpoint
        self._vectors = VectorCache()
        self._dimensions = Loading(lambda: _learnt(endpoint), clock, EmbeddingFailed, "the embedding model")

    @property
    def model(self) -> str:
        """With the dimensions once they are known: under one name a server may come to serve another model."""
        return f"{self._endpoint.model}@{self.dimensions}" if self.dimensions else self._endpoint.model

    @property
    def dimensions(self) -> int:
        """0 while it is not known."""
        return self._dimensions.value() if self.state().name == "ready" else 0

    def state(self) -> ModelState:
        return self._dimensions.state()

    def warm(self) -> None:
        self._dimensions.start()

    def wait(self, seconds: float) -> bool:
        return self._dimensions.wait(seconds)

    def chunks(self, text: str) -> list[str]:
        return cut(text, pieces(text), CHUNK)

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector a text; of a text too long for the model only the beginning counts, so cut it with `chunks`."""
        return self._vectors.through([_sendable(self.chunks(text)[0]) for text in texts], self._ask)

    def stats(self) -> CacheStats:
        return self._vectors.stats()

    def _ask(self, texts: list[str]) -> list[Vector]:
        expected = self._dimensions.value()
        made: list[Vector] = []
        for start in range(0, len(texts), BATCH):
            try:
                rows = _request(self._endpoint, texts[start : start + BATCH])
            except _Unreachable as error:
                self._dimensions.fail(error.message)
                raise
            made += [_vector(row, expected, self._endpoint) for row in rows]
        return made


def _learnt(endpoint: Endpoint) -> int:
    """How many dimensions the model makes."""
    found = len(_request(endpoint, ["dimensions"])[0])
    if endpoint.dimensions and found != endpoint.dimensions:
        wanted = f"embedding_dimensions is {endpoint.dimensions}, and {endpoint.model} makes {found}"
        raise EmbeddingFailed(f"{wanted}; set it to {found}, or leave it out")
    return found


def _vector(row: list[float], expected: int, endpoint: Endpoint) -> Vector:
    if len(row) != expected:
        raise EmbeddingFailed(
            f"{endpoint.model} at {endpoint.address} gave {len(row)} dimensions, {expected} before: was it changed?"
        )
    return unit(row)


def _request(endpoint: Endpoint, texts: Sequence[str]) -> list[list[float]]:
    for _ in range(TRIES - 1):
        try:
            return _rows(_post(endpoint, texts), len(texts), endpoint)
        except _Unreachable:
            time.sleep(endpoint.pause)
    return _rows(_post(endpoint, texts), len(texts), endpoint)


def _post(endpoint: Endpoint, texts: Sequence[str]) -> bytes:
    body = {"model": endpoint.model, "input": list(texts)}
    try:
        with posted(endpoint.address, body, endpoint.key, endpoint.timeout) as reply:
            return reply.read()
    except NoAnswer as error:
        raise (_Unreachable if error.may_pass else EmbeddingFailed)(str(error)) from error


def _rows(answer: bytes, count: int, endpoint: Endpoint) -> list[list[float]]:
    try:
        data = json.loads(answer)["data"]
        rows = [[float(value) for value in item["embedding"]] for item in sorted(data, key=lambda item: item["index"])]
    except (ValueError, KeyError, TypeError) as error:
        shown = shorten(answer[:400].decode("utf-8", "replace"), 200)
        raise EmbeddingFailed(f"{endpoint.address} did not answer with embeddings: {shown}") from error
    if len(rows) != count:
        raise EmbeddingFailed(f"{endpoint.address} gave {len(rows)} embeddings for {count} texts")
    return rows


def _sendable(text: str) -> str:
    """Lone surrogates as question marks, and never empty, which OpenAI refuses."""
    return text.encode("utf-8", "replace").decode() or " "
