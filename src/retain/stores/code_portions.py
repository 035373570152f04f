"""What one transaction saves of code: so little that other writers do not wait."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from retain.domain.code import CodeFile

FILES_AT_ONCE = 50  # files that move or go in one transaction


@dataclass(frozen=True, slots=True)
class Portion:
    """What one transaction saves. A file is always whole."""

    files: Sequence[CodeFile] = ()
    moved: Sequence[tuple[str, str]] = ()
    gone: Sequence[str] = ()


def portions(
    files: Sequence[CodeFile], moved: Sequence[tuple[str, str]], gone: Sequence[str], at_once: int
) -> Iterator[Portion]:
    """Removals, then moves, then files; moves of which one makes way for another stay together.

    `at_once` is how many new chunks one transaction takes.
    """
    if len(gone) <= FILES_AT_ONCE and len(moved) <= FILES_AT_ONCE and _chunks(files) <= at_once:
        yield Portion(files, moved, gone)
        return
    for start in range(0, len(gone), FILES_AT_ONCE):
        yield Portion(gone=gone[start : start + FILES_AT_ONCE])
    ends = {old for old, _ in moved} & {new for _, new in moved}
    chained = [move for move in moved if not ends.isdisjoint(move)]
    if chained:
        yield Portion(moved=chained)
    alone = [move for move in moved if ends.isdisjoint(move)]
    for start in range(0, len(alone), FILES_AT_ONCE):
        yield Portion(moved=alone[start : start + FILES_AT_ONCE])
    yield from (Portion(files=some) for some in _cut(files, at_once))


def _cut(files: Sequence[CodeFile], at_once: int) -> Iterator[list[CodeFile]]:
    some: list[CodeFile] = []
    for file in files:
        if some and _chunks(some) + len(file.parsed.chunks) > at_once:
            yield some
            some = []
        some.append(file)
    if some:
        yield some


def _chunks(files: Iterable[CodeFile]) -> int:
    return sum(len(file.parsed.chunks) for file in files)
