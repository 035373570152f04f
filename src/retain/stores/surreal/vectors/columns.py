"""Sign bits and columns of many memories, each column in one piece: numpy takes it as it is, 1 µs a memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from retain.stores.surreal.link.cbor import decode, encode

if TYPE_CHECKING:
    from retain.stores.signs import Array

Row = Sequence[Any]
"""The change, the number, the model, the bits of each vector, and what a filter may ask for."""
_CHANGED, _NUM, _MODEL, _SIGNS, _FURTHER = range(5)
_TEXT = "<i4"
# Of what a filter may ask for: the place, kind, state, importance, time, category, session and tags, the length, and
# when it was stored, is valid from and until. A text is the number that it has among the texts.
_TYPES = (_TEXT, _TEXT, _TEXT, "<f4", "<i8", _TEXT, _TEXT, _TEXT, "<i8", "<i8", "<i8", "<i8")


@dataclass(frozen=True, slots=True)
class Columns:
    """Of each memory in its row; the bits of one follow those of the one before."""

    changed: "Array"
    nums: "Array"
    models: "Array"
    chunks: "Array"
    """How many vectors it has."""
    sizes: "Array"
    """How many bytes its bits take."""
    further: "Sequence[Array]"
    bits: bytes
    texts: Sequence[str]

    def bits_of(self, rows: "Array") -> bytes:
        """Those of some memories, where `rows` is true."""
        if rows.all():
            return self.bits
        ends = self.sizes.cumsum()
        spans = zip((ends - self.sizes)[rows].tolist(), ends[rows].tolist(), strict=True)
        return b"".join(self.bits[start:end] for start, end in spans)


def packed(rows: Sequence[Row]) -> Columns:
    import numpy as np

    codes: dict[str, int] = {}

    def column(values: Sequence[Any], type: str) -> "Array":
        coded = [codes.setdefault(value or "", len(codes)) for value in values] if type == _TEXT else values
        return np.array(coded, dtype=type)

    changed, nums, models, signs, *further = zip(*rows, strict=True) if rows else [()] * (_FURTHER + len(_TYPES))
    return Columns(
        column(changed, "<i8"),
        column(nums, "<i8"),
        column(models, _TEXT),
        np.array([len(some) for some in signs], dtype="<i4"),
        np.array([sum(map(len, some)) for some in signs], dtype="<i4"),
        [column(values, type) for values, type in zip(further, _TYPES, strict=True)],
        b"".join(bits for some in signs for bits in some),
        list(codes),
    )


def encoded(columns: Columns) -> bytes:
    arrays = (columns.changed, columns.nums, columns.models, columns.chunks, columns.sizes, *columns.further)
    return encode([[array.tobytes() for array in arrays], columns.bits, columns.texts])


def decoded(page: bytes) -> Columns:
    import numpy as np

    arrays, bits, texts = decode(page)
    types = ("<i8", "<i8", _TEXT, "<i4", "<i4", *_TYPES)
    changed, nums, models, chunks, sizes, *further = (
        np.frombuffer(array, dtype=type) for array, type in zip(arrays, types, strict=True)
    )
    return Columns(changed, nums, models, chunks, sizes, further, bits, texts)


def rows_of(columns: Columns) -> Iterator[tuple[Any, ...]]:
    """Memory by memory: the change, the number, and the rest as it was packed."""
    ends = columns.sizes.cumsum().tolist()
    values = [
        [columns.texts[code] for code in array.tolist()] if array.dtype == _TEXT else array.tolist()
        for array in (columns.models, *columns.further)
    ]
    kept = columns.changed.tolist(), columns.nums.tolist(), columns.chunks.tolist()
    for start, end, *row in zip([0, *ends], ends, *kept, *values, strict=False):
        yield (*row, columns.bits[start:end])
