"""A vector as it is stored: unit length, packed into bytes."""

import math
import struct
from collections.abc import Sequence

from retain.domain.memory import Vector
from retain.errors import EmbeddingFailed


def unit(values: Sequence[float]) -> Vector:
    length = math.hypot(*values)
    if not 0 < length < math.inf:
        raise EmbeddingFailed("the model gave a vector without direction (all zeros, or not numbers)")
    return Vector(struct.pack(f"<{len(values)}f", *(value / length for value in values)))
