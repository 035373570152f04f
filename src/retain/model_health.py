"""Whether the models that ship with Retain work here: the embedder, and the judge."""

import struct
from collections.abc import Iterator
from importlib import metadata

from retain.checks import Check, State
from retain.config import Settings
from retain.domain.judging import Surroundings
from retain.domain.memory import Vector
from retain.domain.model import BUNDLED
from retain.embedding import reference
from retain.embedding.files import bundled
from retain.errors import RetainError
from retain.ports import Embedder
from retain.processor import processor
from retain.wiring import make_embedder, make_judge

MODEL_SECONDS = 60.0
# Two that mean the same in other words, and one that does not; any useful model tells them apart.
ALIKE = ("The login page is slow", "Signing in takes too long")
UNLIKE = "Bananas are rich in potassium"
WORTH_KEEPING, NOT_WORTH_KEEPING = "we always use pnpm in this repo, never npm", "can you rename this variable"


def look(settings: Settings) -> Iterator[Check]:
    yield from _model(settings)
    yield from _judge(settings)


def _model(settings: Settings) -> Iterator[Check]:
    if settings.embedding_model == "off":
        yield Check(
            "model", "warn", "switched off: memories are found by keyword only", "set embedding_model to bundled"
        )
        return
    try:
        embedder = make_embedder(settings)
        yield _tried(embedder)
        if embedder.model == BUNDLED and embedder.state().name == "ready":
            yield _computed(embedder)
    except RetainError as error:
        yield Check("model", "fail", error.message, "set embedding_model to bundled, or mend what it names")


def _judge(settings: Settings) -> Iterator[Check]:
    judge = make_judge(settings)
    if not judge.wait(MODEL_SECONDS):
        why = judge.state().why or f"not loaded after {MODEL_SECONDS:.0f} s"
        state: State = "fail" if settings.judge else "warn"
        yield Check(
            "judge", state, f"{why}; conversations wait for it, 30 days at most", "set judge to on, or reinstall"
        )
        return
    kept, idle = (judge.keep(text, Surroundings()).score for text in (WORTH_KEEPING, NOT_WORTH_KEEPING))
    yield Check("judge", "ok" if kept > idle else "fail", f"{judge.model} loads; a rule {kept:.2f}, a task {idle:.2f}")


def _tried(embedder: Embedder) -> Check:
    if not embedder.wait(MODEL_SECONDS):
        why = embedder.state().why or f"not loaded after {MODEL_SECONDS:.0f} s"
        return Check("model", "fail", why, "until then memories are found by keyword only")
    first, second, other = embedder.embed([*ALIKE, UNLIKE])
    near, far = _cosine(first, second), _cosine(first, other)
    name = f"{embedder.model} loads, {len(first) // 4} dimensions"
    if embedder.model.startswith("hashed"):
        return Check("model", "warn", f"{name}; it knows shared words, not meaning", "set embedding_model to bundled")
    if near <= far:
        why = f"{name}, but tells nothing apart ({near:.2f} for the same meaning, {far:.2f} for another)"
        return Check("model", "fail", why, "use another embedding_model, then retain reembed")
    return Check("model", "ok", f"{name}; same meaning {near:.2f}, another {far:.2f}")


def _computed(embedder: Embedder) -> Check:
    """Whether vectors made on this machine are those that others make."""
    files, cosine = bundled(), reference.least_cosine(embedder)
    version = metadata.version("onnxruntime")
    how = f"{files.onnx.name}, sha256 {files.sha256[0][:12]}…, onnxruntime {version}, {processor()}"
    if cosine < reference.ALIKE:
        note = f"this machine computes other vectors than others do (cosine {cosine:.4f} at worst): {how}"
        return Check("model", "warn", note, "update onnxruntime; please report it with this line if that does not help")
    return Check("model", "ok", f"computes the vectors that other machines do (cosine {cosine:.6f} at worst): {how}")


def _cosine(one: Vector, other: Vector) -> float:
    pairs = zip(struct.iter_unpack("<f", one), struct.iter_unpack("<f", other), strict=True)
    return float(sum(a * b for (a,), (b,) in pairs))
