"""Copying all that one store holds into another, again and again until nothing differs.

Every pass reads both, and writes what the target has not, or not so. A copy that was interrupted goes on where it
was, since what is there already differs in nothing; what is written to the source meanwhile is found by the next pass;
and a pass that finds nothing to write has compared every record.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from typing import Any, cast

from retain.domain.changes import Changes, Restored
from retain.domain.transfer import Destroyed, Sort, Whole
from retain.errors import Refused
from retain.ports import Record, Store
from retain.stores.gathering import NEVER, brought

# Small enough that others who write do not wait long, and SurrealDB takes longer for each row of a larger plan.
_MEMORIES = 50
_RECORDS = 500
_TEXT = 200_000  # characters
# Each pass is about what was written during the one before.
_PASSES = 6
_DIGEST = 16  # bytes
# What a plan has a field for, and what is only restored.
_PLANNED = (Sort.PROJECTS, Sort.PROFILES, Sort.WORKS, Sort.TIES, Sort.RUNS)
# What was destroyed in the target only, and old questions that the source has dropped, take nothing away.
_MAY_BE_MORE = (Sort.DESTROYED, Sort.QUESTIONS)

Told = Callable[[int, Sort, int], None]
"""Is told in which pass it is, at which sort, and how many records of it were looked at."""


@dataclass(slots=True)
class Sum:
    """Records of one sort in one store: how many, and a checksum in which their order does not count."""

    records: int = 0
    total: int = 0

    def add(self, digest: bytes) -> None:
        self.records += 1
        self.total = (self.total + int.from_bytes(digest, "big")) % 2 ** (8 * _DIGEST)

    @property
    def checksum(self) -> str:
        return f"{self.total:0{2 * _DIGEST}x}"


@dataclass(slots=True)
class Compared:
    """One sort in both stores, as a pass found it, before it wrote."""

    source: Sum = field(default_factory=Sum)
    target: Sum = field(default_factory=Sum)
    missing: Sum = field(default_factory=Sum)
    """What the target had not, or not so."""
    extra: int = 0
    """What it had that the source has not, or not so."""

    @property
    def differing(self) -> int:
        """How many records; one that is there and differs is both missing and extra."""
        return max(self.missing.records, self.extra)


@dataclass(frozen=True, slots=True)
class Copied:
    sorts: Mapping[Sort, Compared]
    """As the last pass found them."""
    written: Mapping[Sort, int]
    """In all passes together."""
    passes: int

    @property
    def is_equal(self) -> bool:
        return not any(one.differing for one in self.sorts.values())


def copied(source: Store, target: Store, told: Told = lambda *_: None) -> Copied:
    """Makes the target hold all that the source does; refused when it has memories of its own."""
    check_target(source, target)
    written = dict.fromkeys(Sort, 0)
    before: list[int] = []
    for number in range(1, _PASSES + 1):
        found = {sort: _pass(source, target, sort, partial(told, number), writing=True) for sort in Sort}
        for sort, one in found.items():
            written[sort] += one.missing.records
        wrote = [one.missing.total for one in found.values()]
        # What a second try did not change a third will not.
        if not any(one.missing.records for one in found.values()) or wrote == before:
            break
        before = wrote
    return Copied(found, written, number)


def compared(source: Store, target: Store, told: Told = lambda *_: None) -> Copied:
    """What a copy would write, without writing it."""
    check_target(source, target)
    found = {sort: _pass(source, target, sort, partial(told, 1), writing=False) for sort in Sort}
    return Copied(found, {sort: one.missing.records for sort, one in found.items()}, passes=0)


def check_target(source: Store, target: Store) -> None:
    """Refuses a target that has memories which the source has not and never had."""
    strange, change = 0, 0
    while some := target.changed(change, _RECORDS):
        ids = [one.memory for one in some if not one.destroyed]
        strange += len(set(ids) - source.memories(ids).keys() - source.destroyed(ids))
        change = some[-1].number
    if strange:
        known = "a memory" if strange == 1 else f"{strange:,} memories"
        raise Refused(
            f"the target has {known} that the source has not; a copy only adds to a store that is empty or an earlier "
            "copy of the same source. Name another target"
        )


def _pass(source: Store, target: Store, sort: Sort, told: Callable[[Sort, int], None], *, writing: bool) -> Compared:
    found = Compared()
    there = set[bytes]()
    for records in _portions(target, sort):
        for digest in map(_digest, records):
            found.target.add(digest)
            there.add(digest)
    for records in _portions(source, sort):
        missing = []
        for record in records:
            digest = _digest(record)
            found.source.add(digest)
            if digest in there:
                there.discard(digest)
            else:
                found.missing.add(digest)
                missing.append(record)
        for part in _parts(missing) if writing else ():
            _write(target, sort, part)
        told(sort, found.source.records)
    found.extra = 0 if sort in _MAY_BE_MORE else len(there)
    return found


def _portions(store: Store, sort: Sort) -> Iterator[Sequence[Record]]:
    mark = None
    while True:
        portion = store.records(sort, mark, _MEMORIES if sort is Sort.MEMORIES else _RECORDS)
        yield portion.records
        mark = portion.mark
        if mark is None:
            return


def _parts(records: Sequence[Record]) -> Iterator[Sequence[Record]]:
    """What is written at once: of long texts fewer, since each has to be split into words before a deadline."""
    part: list[Record] = []
    size = 0
    for record in records:
        part.append(record)
        if isinstance(record, Whole):
            size += len(record.memory.text) + sum(len(entry.text) for entry in record.history)
        if size > _TEXT:
            yield part
            part, size = [], 0
    if part:
        yield part


def _digest(record: Record) -> bytes:
    # Values are equal exactly where they are written the same. As JSON it would take eight times as long, 0.2 ms.
    return blake2b(repr(record).encode(), digest_size=_DIGEST).digest()


def _write(target: Store, sort: Sort, records: Sequence[Record]) -> None:
    named: dict[str, Any] = {sort.value: tuple(records)}  # a field goes by the name of its sort
    if sort is Sort.MEMORIES:
        plan = brought(cast("Sequence[Whole]", records))
    elif sort in _PLANNED:
        plan = Changes(at=NEVER, **named)
    else:
        plan = Changes(at=NEVER, restored=Restored(**named))
    if sort is Sort.DESTROYED:
        ids = [one.memory for one in cast("Sequence[Destroyed]", records)]
        plan = replace(plan, purged=tuple(target.memories(ids)))
    target.apply(plan)
