"""One measured line, and the few ways to time something."""

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured, in which unit, and what it should be at most (or, for a share found, at least)."""

    what: str
    measured: float
    unit: str = "ms"
    target: float | None = None
    at_least: bool = False
    note: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        if self.target is None:
            return ""
        met = self.measured >= self.target if self.at_least else self.measured <= self.target
        return "met" if met else "missed"

    def told(self) -> dict[str, Any]:
        return asdict(self) | {"verdict": self.verdict}


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds of many runs: on the clock, and of this process's processor time."""

    wall: list[float]
    cpu: list[float]

    def add(self, more: "Times") -> None:
        self.wall.extend(more.wall)
        self.cpu.extend(more.cpu)

    @property
    def median(self) -> float:
        return statistics.median(self.wall)

    @property
    def note(self) -> str:
        return f"p99 {quantile(self.wall, 0.99):.1f}, cpu {statistics.median(self.cpu):.1f}"

    def row(self, what: str, target: float | None = None) -> Row:
        return Row(
            what,
            self.median,
            target=target,
            note=self.note,
            details={"p99": quantile(self.wall, 0.99), "runs": len(self.wall)},
        )


def timed(runs: Sequence[Callable[[], object]]) -> Times:
    """Each is run once; give ten more in front to warm up, and leave them out with `[10:]`."""
    wall, cpu = [], []
    for run in runs:
        began, spent = time.perf_counter(), time.thread_time()
        run()
        cpu.append((time.thread_time() - spent) * 1000)
        wall.append((time.perf_counter() - began) * 1000)
    return Times(wall, cpu)


def quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def load_average() -> float:
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")


def table(rows: Sequence[Row]) -> str:
    width = max(len(row.what) for row in rows)
    return "\n".join(
        f"{row.what:{width}}  {_target(row):>10}  {_amount(row):>10}  {row.verdict:6}  {row.note}".rstrip()
        for row in rows
    )


def _target(row: Row) -> str:
    if row.target is None:
        return ""
    return f"{'≥' if row.at_least else '≤'} {row.target:g} {row.unit}"


def _amount(row: Row) -> str:
    digits = 3 if row.at_least else 2 if row.measured < 10 else 1
    return f"{row.measured:,.{digits}f} {row.unit}"


def read_lines(file: Path, *names: str) -> list[dict[str, Any]]:
    """One object a line with these fields. A line that is none ends the run, with its number and what is wrong."""
    found = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            for name in names:
                row[name]
            found.append(row)
        except (ValueError, KeyError, TypeError) as error:
            wanted = f"each line is an object with {', '.join(names)}"
            sys.exit(f"{file}, line {number}: {type(error).__name__} {error}; {wanted}")
    return found
