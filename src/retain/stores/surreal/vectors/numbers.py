"""Numbers that grow in the order of creation: of memories, what is said of them, and their vectors."""

import hashlib

_PLACES, _CHUNKS = 16, 12  # bits: 65,536 in one plan, 4,096 vectors of one text
NEAREST = "nearest_"


def number_of(change: int, place: int) -> int:
    """Of the record in this place of the plan that was written as this change."""
    return change << _PLACES | place


def vector_numbers(num: int, chunks: int) -> list[int]:
    return [num << _CHUNKS | chunk for chunk in range(chunks)]


def last_vector(num: int) -> int:
    """The highest number that a vector of this memory can have."""
    return (num + 1 << _CHUNKS) - 1


def item_of(vector: int) -> int:
    """The number of the memory, or chunk of code, that a vector belongs to."""
    return vector >> _CHUNKS


def table_of(model: str) -> str:
    """Where the vectors by a model lie once more, for the index in the database: it knows one length of vectors."""
    return f"{NEAREST}{hashlib.sha256(model.encode()).hexdigest()[:16]}"
