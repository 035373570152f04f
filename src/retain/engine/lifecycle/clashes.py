"""What a contradiction is called and what it is about."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Clash:
    """Two statements that exclude each other, and in what: "port: 8080 against 9090"."""

    kind: Literal["negation", "antonym", "value", "replaced"]
    detail: str
