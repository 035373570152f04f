"""Real texts and their real vectors: what the docstrings of installed packages say, paragraph by paragraph."""

import ast
import json
import random
import sysconfig
import time
import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from retain.domain.memory import Vector
from retain.domain.model import CacheStats, ModelState
from retain.embedding.onnx import OnnxEmbedder
from retain.ports import Embedder

CACHE = Path(__file__).parent / ".cache" / "latency"
MOST = 60_000  # reading all files takes minutes
FEWEST_WORDS, MOST_WORDS = 6, 80
EMBED_AT_ONCE = 256
ASKED_EVERY = 20  # every so many texts one is left out of the stores, and asked for

Array = np.ndarray[Any, Any]


class LookedUp:
    """An embedder that knows the vectors of some texts; all others it asks the model for, once."""

    def __init__(self, known: dict[str, Vector]) -> None:
        self._known = dict(known)
        self._real = model()
        self.model, self.dimensions = self._real.model, 384

    def state(self) -> ModelState:
        return ModelState("ready")

    def warm(self) -> None:
        """What is known is known."""

    def wait(self, seconds: float) -> bool:
        return True

    def chunks(self, text: str) -> list[str]:
        return [text]

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [self._known.get(text) or self._asked(text) for text in texts]

    def stats(self) -> CacheStats:
        return CacheStats(0, 0, 0)

    def _asked(self, text: str) -> Vector:
        self._real.wait(60)
        self._known[text] = self._real.embed([text])[0]
        return self._known[text]


@cache
def model() -> Embedder:
    embedder = OnnxEmbedder()
    embedder.warm()
    return embedder


@cache
def texts() -> list[str]:
    """Paragraphs in the order of shuffled files, so that neighbours come from one file, as in a session."""
    file = CACHE / "texts.json"
    if not file.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(_first_of(_paragraphs(), MOST)))
    found: list[str] = json.loads(file.read_text())
    return found


def vectors(count: int) -> Array:
    """Vectors of the first texts, as many as there are up to `count`; made once, then kept."""
    file = CACHE / "vectors.npy"
    made: Array = np.load(file) if file.exists() else np.zeros((0, 384), dtype=np.float32)
    wanted = min(count, len(texts()))
    if len(made) < wanted:
        made = np.concatenate([made, _embedded(texts()[len(made) : wanted])])
        np.save(file, made)
    return made[:wanted]


def is_asked(place: int) -> bool:
    return place % ASKED_EVERY == 0


def questions(count: int) -> dict[str, Vector]:
    """Texts that no store holds, cut to the length of a question, with their vectors."""
    file = CACHE / f"questions-{count}.npz"
    asked = [" ".join(text.split()[:12]) for place, text in enumerate(texts()) if is_asked(place)][:count]
    if not file.exists():
        np.savez(file, vectors=_embedded(asked))
    return {text: vector_of(row) for text, row in zip(asked, np.load(file)["vectors"], strict=True)}


def vector_of(row: Array) -> Vector:
    return Vector(row.astype("<f4").tobytes())


def _embedded(texts: Sequence[str]) -> Array:
    embedder, began = model(), time.perf_counter()
    embedder.wait(60)
    rows: list[Vector] = []
    for start in range(0, len(texts), EMBED_AT_ONCE):
        rows += embedder.embed(texts[start : start + EMBED_AT_ONCE])
    print(
        f"  (embedded {len(texts):,} texts in {time.perf_counter() - began:.0f} s; kept for the next run)", flush=True
    )
    return np.frombuffer(b"".join(rows), dtype="<f4").reshape(len(rows), -1)


def _first_of(found: Iterator[str], number: int) -> list[str]:
    different: dict[str, None] = {}
    for text in found:
        different[text] = None
        if len(different) == number:
            break
    return list(different)


def _paragraphs() -> Iterator[str]:
    paths = sysconfig.get_paths()
    files = sorted(Path(paths["purelib"]).rglob("*.py")) + sorted(Path(paths["stdlib"]).rglob("*.py"))
    random.Random(1).shuffle(files)
    for file in files:
        try:
            with warnings.catch_warnings(action="ignore"):  # other people's invalid escapes
                tree = ast.parse(file.read_text())
        except (SyntaxError, UnicodeDecodeError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield from _parts(ast.get_docstring(node) or "")


def _parts(docstring: str) -> Iterator[str]:
    for paragraph in docstring.split("\n\n"):
        words = paragraph.split()
        if FEWEST_WORDS <= len(words) <= MOST_WORDS:
            yield " ".join(words)
