"""Sentence embedding with ONNX: the model in the package, or any sentence-transformers export in a folder.

numpy, onnxruntime and tokenizers are imported when the model is loaded, not before:
together they cost 0.13 s and 45 MB, which a server that has only answered `initialize` should not pay.
"""

import os
import threading
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from retain.domain.memory import Vector
from retain.domain.model import CacheStats, ModelState
from retain.embedding.cache import VectorCache
from retain.embedding.chunks import Span, cut
from retain.embedding.files import ModelFiles, bundled, in_folder
from retain.errors import EmbeddingFailed, shorten
from retain.models.loading import Loading
from retain.models.native import NativeCalls
from retain.models.running import Running

SPECIAL = 2  # tokens that a tokenizer adds: where the text begins and where it ends

# Some for bulk, one for the question that comes meanwhile. Each run in progress holds 30 MB: eight would take 230 MB.
AT_ONCE = max(2, min(5, os.cpu_count() or 2))


class OnnxEmbedder:
    """Loads when first needed, in the background; a missing or damaged model leaves it `off`, with the reason."""

    def __init__(self, find: Callable[[], ModelFiles] = bundled, clock: Callable[[], float] = time.monotonic) -> None:
        self._files = files = cache(find)
        self._vectors = VectorCache()
        native = NativeCalls(EmbeddingFailed)
        self._network = Loading(lambda: Network(files(), native), clock, EmbeddingFailed, "the embedding model")

    @classmethod
    def in_folder(cls, folder: Path) -> "OnnxEmbedder":
        return cls(partial(in_folder, folder))

    @property
    def model(self) -> str:
        try:
            return self._files().identity
        except (EmbeddingFailed, OSError):
            return "missing"  # loading says why

    @property
    def dimensions(self) -> int:
        """0 while it is not known."""
        if self.state().name == "ready":
            return self._network.value().dimensions
        return 0 if self.model == "missing" else self._files().dimensions

    def state(self) -> ModelState:
        return self._network.state()

    def warm(self) -> None:
        self._network.start()

    def wait(self, seconds: float) -> bool:
        return self._network.wait(seconds)

    def chunks(self, text: str) -> list[str]:
        network = self._network.value()
        if len(text.encode("utf-8", "replace")) <= network.room:  # a token is a byte or more
            return [text]
        return cut(text, network.spans(_encodable(text)), network.room)

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector a text; of a text too long for the model only the beginning counts, so cut it with `chunks`."""
        if not texts:
            return []
        return self._vectors.through([_encodable(text) for text in texts], self._network.value().vectors)

    def stats(self) -> CacheStats:
        return self._vectors.stats()


class Network:
    """A loaded tokenizer and its model; threads may use it side by side."""

    def __init__(self, files: ModelFiles, native: NativeCalls) -> None:
        files.check()
        self.room = files.max_tokens - SPECIAL
        self._pooling = files.pooling
        self._native = native
        self._turns = threading.BoundedSemaphore(AT_ONCE)
        self._running = Running(files.onnx, files.tokenizer, native)
        # A model that asks for more than Retain can give fails here, with the reason, and not at the first question.
        self.dimensions = len(self.vectors(["trial"])[0]) // 4

    def spans(self, text: str) -> list[Span]:
        with self._native.call():
            spans: list[Span] = self._running.tokenizer.encode(text, add_special_tokens=False).offsets
        return spans

    def vectors(self, texts: Sequence[str]) -> list[Vector]:
        """One after the other.

        A model that scales its numbers as it runs scales them by the largest of a batch, so a vector made in one
        depends on its neighbours there: cosine to the one made alone 0.992 on average, 0.983 at worst. Batches would
        take a tenth less time for short remarks, and none less for functions. That the same text has the same vector,
        wherever and beside whatever it was made, is worth more.
        """
        with self._native.call():
            tokens = [self._tokens(text) for text in texts]
        made = []
        for ids in tokens:
            with self._turns, self._native.call():
                made.append(self._run(ids))
        return made

    def _tokens(self, text: str) -> list[int]:
        encoded = self._running.tokenizer.encode(text)
        if len(encoded) > self.room + SPECIAL:
            # Cutting the text, not the tokens, keeps the one that marks the end.
            encoded = self._running.tokenizer.encode(text[: encoded.offsets[self.room + 1][0]])
        ids: list[int] = encoded.ids[: self.room + SPECIAL]
        return ids

    def _run(self, tokens: Sequence[int]) -> Vector:
        import numpy as np

        ids = np.array([tokens], np.int64)
        feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        try:
            output = self._running.run(feeds)[0]
        except self._running.errors as error:
            raise EmbeddingFailed(f"the embedding model failed: {shorten(str(error), 200)}") from error
        return _unit(_pooled(output[0].astype(np.float32, copy=False), self._pooling))


def _pooled(output: Any, pooling: str) -> Any:  # Any: numpy arrays, which must not be imported up there
    if output.ndim == 1:  # the export pools by itself
        return output
    return output[0] if pooling == "cls" else output.mean(0)


def _unit(row: Any) -> Vector:
    import numpy as np

    length = np.linalg.norm(row)
    if not np.isfinite(length) or not length:
        raise EmbeddingFailed("the embedding model gave a vector without direction (all zeros, or not numbers)")
    return Vector((row / length).astype("<f4").tobytes())


def _encodable(text: str) -> str:
    """The text with lone surrogates as question marks: UTF-8 has no place for them, and so no tokenizer."""
    return text.encode("utf-8", "replace").decode()
