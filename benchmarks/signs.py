"""How many of the ten nearest vectors the search by sign bits finds, for the constants it has and for others."""

from collections.abc import Iterator

import numpy as np

from corpus import Array, is_asked, questions, vectors
from measuring import Row
from retain.stores.signs import CANDIDATE_SHARE, EXACT

KEPT = (200, 400, 800, 1600, 3200)
ASKED = 300
TOP = 10


def finding(most: int) -> Iterator[Row]:
    """Real texts of other people, asked for by others of their texts: nothing here is made up."""
    numbers = vectors(most)
    stored = numbers[[place for place in range(len(numbers)) if not is_asked(place)]]
    asked = np.stack([np.frombuffer(vector, dtype="<f4") for vector in questions(ASKED).values()])
    for size in sorted({len(stored) // 4, len(stored) // 2, len(stored)}):
        places = _places_by_signs(stored[:size], asked)
        kept = max(EXACT, int(CANDIDATE_SHARE * size))
        shares = {candidates: _found(places, candidates) for candidates in KEPT}
        note = ", ".join(f"{candidates}: {share:.4f}" for candidates, share in shares.items())
        needed = int(np.quantile(places, 0.99)) + 1
        yield Row(
            f"recall@10 by sign bits of {size:,}, {kept} candidates",
            _found(places, kept),
            "",
            0.99,
            at_least=True,
            note=f"by candidates {note}; 0.99 needs {needed}",
            details={"by_candidates": shares, "needed": needed},
        )


def share_found(stored: Array, asked: Array, candidates: int) -> float:
    """How many of the ten nearest are among so many candidates."""
    return _found(_places_by_signs(stored, asked), candidates)


def _places_by_signs(stored: Array, asked: Array) -> Array:
    """At which place the sign bits put each of the ten that are nearest indeed."""
    signs = np.packbits(stored > 0, axis=1).view(np.uint64)
    places = []
    for query in asked:
        nearest = np.argpartition(-(stored @ query), TOP)[:TOP]
        word = np.packbits(query > 0).view(np.uint64)
        distance = np.bitwise_count(signs ^ word).sum(axis=1, dtype=np.uint16)
        places.append(np.searchsorted(np.sort(distance), distance[nearest], side="right") - 1)
    return np.array(places)


def _found(places: Array, candidates: int) -> float:
    return float((places < candidates).mean())
