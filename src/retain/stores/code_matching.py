"""What of a file is the same as before: such chunks keep their ids and their vectors."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

from retain.domain.code import Chunk, Reference
from retain.domain.graph import fold
from retain.domain.ids import id_of


class Known(NamedTuple):
    """A chunk that is stored already."""

    num: int
    id: str
    digest: bytes
    start_line: int
    end_line: int


class Fresh(NamedTuple):
    """A chunk that a file has now."""

    id: str
    digest: bytes
    chunk: Chunk


def fresh(key: str, path: str, language: str, chunks: Iterable[Chunk]) -> list[Fresh]:
    in_order = sorted(chunks, key=lambda chunk: (chunk.start_line, chunk.end_line))
    ids = ids_of(key, path, ((chunk.qualified, chunk.part) for chunk in in_order))
    return [Fresh(id, digest(language, chunk), chunk) for id, chunk in zip(ids, in_order, strict=True)]


def ids_of(key: str, path: str, in_order: Iterable[tuple[str, int]]) -> list[str]:
    """Ids by qualified name and part, the same for the same chunk whenever it is indexed; those of one name are
    counted in the order of the file."""
    seen = Counter[tuple[str, int]]()
    ids = []
    for name in in_order:
        ids.append(id_of("\0".join((key, path, *map(str, name), str(seen[name])))))
        seen[name] += 1
    return ids


def digest(language: str, chunk: Chunk) -> bytes:
    """Equal where two chunks are found and embedded alike, wherever they are."""
    said = (language, chunk.kind, chunk.parent, chunk.name, str(chunk.part), chunk.signature, chunk.doc, chunk.text)
    return blake2b("\0".join(said).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def matched(known: Sequence[Known], now: Sequence[Fresh]) -> tuple[list[tuple[Known, Fresh]], list[Fresh], list[int]]:
    """What is there already, what is new, and the numbers of what is not there any more.

    Of chunks with one name another may have come in between: what says the same is the same, whatever its id.
    """
    same = {(before.id, before.digest): before for before in known}
    kept = [(same.pop(one[:2]), one) for one in now if one[:2] in same]
    settled = {one.id for _, one in kept}
    spare = {before.digest: before for before in same.values()}
    new: list[Fresh] = []
    for one in now:
        if one.id not in settled and one.digest in spare:
            kept.append((spare.pop(one.digest), one))
        elif one.id not in settled:
            new.append(one)
    stay = {before.num for before, _ in kept}
    return kept, new, [before.num for before in known if before.num not in stay]


def lines_of(references: Iterable[Reference]) -> Mapping[str, list[int]]:
    """By name, the lines that use it."""
    lines: defaultdict[str, set[int]] = defaultdict(set)
    for reference in references:
        lines[reference.name].add(reference.line)
    return {name: sorted(on) for name, on in lines.items()}


def innermost(spans: Iterable[tuple[int, int, str]], line: int) -> str:
    """The name of the shortest of these, each from one line to another, that has a line in it."""
    around = [(end - start, name) for start, end, name in spans if start <= line <= end]
    return min(around, key=lambda one: one[0])[1] if around else ""


def spelled(name: str) -> str:
    """A qualified name as it is looked up: in one case, and with dots however its language joins names."""
    return fold(name).replace("::", ".").replace("->", ".").replace("#", ".")
