"""Ways to damage a store's file, and what plain SQLite can still read of it."""

import random
import re
import sqlite3
from contextlib import closing
from pathlib import Path

PAGE = 4096


def damaged(sound: bytes, seed: int) -> bytes:
    """Another way of damage for each seed: cut, flipped bytes, zeroes, noise, a schema or a header that was hit."""
    chance = random.Random(seed)
    ways = (_cut, _cut_pages, _flip, _flip_many, _zero, _noise, _hit_schema, _hit_header, _several)
    return ways[seed % len(ways)](bytearray(sound), chance)


def _cut(data: bytearray, chance: random.Random) -> bytes:
    return bytes(data[: chance.randrange(len(data))])


def _cut_pages(data: bytearray, chance: random.Random) -> bytes:
    return bytes(data[: len(data) - PAGE * chance.randint(1, 5)])


def _flip(data: bytearray, chance: random.Random, times: int | None = None) -> bytes:
    for _ in range(times or chance.randint(1, 20)):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(data)


def _flip_many(data: bytearray, chance: random.Random) -> bytes:
    return _flip(data, chance, chance.choice((100, 1000)))


def _fill(data: bytearray, chance: random.Random, make) -> bytes:
    for _ in range(chance.randint(1, 3)):
        begin, length = chance.randrange(len(data)), chance.choice((16, 512, PAGE, 5 * PAGE))
        end = min(begin + length, len(data))
        data[begin:end] = make(end - begin)
    return bytes(data)


def _zero(data: bytearray, chance: random.Random) -> bytes:
    return _fill(data, chance, bytes)


def _noise(data: bytearray, chance: random.Random) -> bytes:
    return _fill(data, chance, chance.randbytes)


def _hit_schema(data: bytearray, chance: random.Random) -> bytes:
    """A byte in a statement that makes a table or an index, often one that is not UTF-8."""
    at = chance.choice([found.start() for found in re.finditer(rb"CREATE (?:TABLE|INDEX|VIRTUAL) ", data)])
    at += chance.randrange(60)
    data[at] = chance.choice((0xFF, 0xC3, ord("~"), 0))
    return bytes(data)


def _hit_header(data: bytearray, chance: random.Random) -> bytes:
    if chance.random() < 0.5:  # another number of the schema
        data[60:64] = chance.choice((0, 1, 5, 10)).to_bytes(4, "big")
    else:
        data[chance.randrange(100)] ^= 1 << chance.randrange(8)
    return bytes(data)


def _several(data: bytearray, chance: random.Random) -> bytes:
    return _cut_pages(bytearray(_hit_schema(bytearray(_zero(data, chance)), chance)), chance)


def readable(data: bytes, sound: bytes, folder: Path) -> set[str]:
    """The ids of memories of which SQLite can read id and text: as the file is, with its schema writable, padded, and
    under the schema of the sound file."""
    padded = data.ljust(int.from_bytes(data[28:32], "big") * PAGE, b"\0") if len(data) > 100 else data
    padded = padded if len(padded) <= 2 * len(sound) else data
    ways = (data, padded, _with_schema_of(sound, data))
    found = set()
    for number, way in enumerate(ways):
        file = folder / f"way-{number}.db"
        file.write_bytes(way)
        for pragma in ("off", "on"):
            found |= _ids(file, pragma)
        file.unlink()
    return found


def _ids(file: Path, writable: str) -> set[str]:
    found = set()
    with closing(sqlite3.connect(f"file:{file}?immutable=1", uri=True)) as db:
        db.text_factory = bytes
        db.execute(f"pragma writable_schema = {writable}")
        for number in range(1, 200):
            try:
                row = db.execute("select id, text from memory where num = ?", (number,)).fetchone()
            except (sqlite3.Error, UnicodeDecodeError, MemoryError):
                continue
            if row and isinstance(row[0], bytes) and isinstance(row[1], bytes) and row[1]:
                found.add(row[0].decode("utf-8", "replace"))
    return found


def _with_schema_of(sound: bytes, data: bytes) -> bytes:
    """The damaged file with the pages that hold the header and the schema as they were, and as long as it was."""
    mended = bytearray(data.ljust(len(sound), b"\0"))
    for page in _schema_pages(sound):
        mended[(page - 1) * PAGE : page * PAGE] = sound[(page - 1) * PAGE : page * PAGE]
    return bytes(mended)


def _schema_pages(sound: bytes) -> list[int]:
    """The first page, and those that it leads to."""
    cells = int.from_bytes(sound[103:105], "big")
    if sound[100] != 5:
        return [1]
    places = [int.from_bytes(sound[112 + 2 * n : 114 + 2 * n], "big") for n in range(cells)]
    return [1, *(int.from_bytes(sound[at : at + 4], "big") for at in [*places, 108])]
