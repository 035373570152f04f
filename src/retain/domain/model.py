"""What an embedding model says of itself."""

from dataclasses import dataclass
from typing import Literal

BUNDLED = "retain-minilm-l6@23c8715e"
# Earlier files with the weights of a model, whose vectors are those of the model as their processors computed them: on
# most of them the same, on those without VNNI up to 0.02 of a cosine away.
_EARLIER = {BUNDLED: ("retain-minilm-l6@f45c22b7",)}


def earlier(model: str) -> tuple[str, ...]:
    """Names under which a store may have vectors that are good enough to be compared, until they are made anew."""
    return _EARLIER.get(model, ())


def alike(model: str) -> tuple[str, ...]:
    """All names whose vectors can be compared with those of a model, its own first."""
    return (model, *earlier(model))


@dataclass(frozen=True, slots=True)
class ModelState:
    """`idle` before anyone needed it; `off` says why it cannot be used."""

    name: Literal["idle", "loading", "ready", "off"]
    why: str = ""


@dataclass(frozen=True, slots=True)
class CacheStats:
    hits: int
    misses: int
    size: int
