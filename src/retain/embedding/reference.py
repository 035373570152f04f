"""Whether the model computes here what it computes elsewhere: a few texts, and the vectors that they have."""

import base64
import json
import struct
from pathlib import Path

from retain.domain.memory import Vector
from retain.ports import Embedder

# A last digit that is rounded another way moves a vector by 0.00001 of a cosine. A processor whose kernel saturates, as
# those without VNNI did with the weights as int8, moves it by 0.01.
ALIKE = 0.9995
_FILE = Path(__file__).parent / "model" / "reference.json"


def vectors() -> dict[str, Vector]:
    """By text, as exact arithmetic has them."""
    found = json.loads(_FILE.read_text("utf-8"))
    return {text: Vector(base64.b64decode(numbers)) for text, numbers in found.items()}


def least_cosine(embedder: Embedder) -> float:
    """Between the vectors that the bundled model makes here and those that it should."""
    wanted = vectors()
    made = embedder.embed(list(wanted))
    return min(_cosine(one, other) for one, other in zip(made, wanted.values(), strict=True))


def _cosine(one: Vector, other: Vector) -> float:
    pairs = zip(struct.iter_unpack("<f", one), struct.iter_unpack("<f", other), strict=True)
    return float(sum(a * b for (a,), (b,) in pairs))
