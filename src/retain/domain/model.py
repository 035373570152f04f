"""What an embedding model says of itself."""

from dataclasses import dataclass
from typing import Literal


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
