"""The words of code: which chunks hold a term, and how often, as lists that a search reads whole.

The engine's own full-text index has every chunk read that holds a term, at 30 µs each: measured with 3,000 chunks,
a question of two common words takes 54 ms, and 1 ms with lists. Terms are gathered in buckets and chunks in blocks,
so that few records are written at once and few are read for a term.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain
from struct import Struct
from typing import Any
from zlib import crc32

from retain.stores.surreal.link.cbor import record
from retain.stores.surreal.link.database import Batch

# Measured with 200 chunks a transaction: 64 buckets are written in three quarters of the time and read in twice.
BUCKETS = 128
BLOCK = 512
_MOST = 0xFFFF
# The number of a chunk, how often its names, doc comment and body have the term, and how many terms it has in all.
_ENTRY = Struct("<IHHHI")
COLUMNS = [("num", "<u4"), ("names", "<u2"), ("doc", "<u2"), ("body", "<u2"), ("length", "<u4")]

Words = tuple[str, str, str]
Key = tuple[str, int, int, str]
Held = dict[str, bytes]


def bucket(term: str) -> int:
    return crc32(term.encode("utf-8", "surrogatepass")) % BUCKETS


def distinct(words: Words) -> list[str]:
    return list(dict.fromkeys(chain.from_iterable(part.split() for part in words)))


def length(words: Words) -> int:
    return sum(len(part.split()) for part in words)


class Lists:
    """What is to become of the lists of one index, in one transaction."""

    def __init__(self, index: str) -> None:
        self._index = index
        self._gone: defaultdict[Key, defaultdict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        self._new: defaultdict[Key, defaultdict[str, list[bytes]]] = defaultdict(lambda: defaultdict(list))

    def add(self, num: int, language: str, words: Words) -> None:
        names, doc, body = (Counter(part.split()) for part in words)
        terms = length(words)
        for term in distinct(words):
            times = (min(count[term], _MOST) for count in (names, doc, body))
            self._new[self._key(num, language, term)][term].append(_ENTRY.pack(num, *times, terms))

    def drop(self, num: int, language: str, terms: Iterable[str]) -> None:
        for term in terms:
            self._gone[self._key(num, language, term)][term].add(num)

    @property
    def touched(self) -> list[Any]:
        """The records that have to be read."""
        return [record("code_words", list(key)) for key in {*self._gone, *self._new}]

    def save(self, batch: Batch, there: Mapping[Key, Held]) -> None:
        held = {key: self._changed(key, dict(there.get(key, {}))) for key in {*self._gone, *self._new}}
        batch.delete([record("code_words", list(key)) for key in held if key in there and not held[key]])
        batch.put("code_words", {key: {"held": terms} for key, terms in held.items() if terms}, there)

    def _changed(self, key: Key, held: Held) -> Held:
        for term, numbers in self._gone.get(key, {}).items():
            entries = held.pop(term, b"")
            if kept := _without(entries, numbers):
                held[term] = kept
        for term, new in self._new.get(key, {}).items():
            held[term] = held.get(term, b"") + b"".join(new)
        return held

    def _key(self, num: int, language: str, term: str) -> Key:
        return self._index, bucket(term), num // BLOCK, language


def numbers_in(entries: bytes) -> list[int]:
    """Of the chunks in a list."""
    return [entry[0] for entry in _ENTRY.iter_unpack(entries)]


def _without(entries: bytes, numbers: set[int]) -> bytes:
    size = _ENTRY.size
    places = (place * size for place, num in enumerate(numbers_in(entries)) if num not in numbers)
    return b"".join(entries[at : at + size] for at in places)
