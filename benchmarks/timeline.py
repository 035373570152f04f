"""What recall finds of memories that were told over months: one way to live a world, to ask it, and to count.

A world is what was said when, and what is asked afterwards. It is told through the engine, in order, while the clock
stands where it was said, so that age means what it means for a user. Of each question the report says where its
evidence came, and where it was lost: whether it was among the candidates at all, and what a perfect order of these
would give.

Weights are fitted on the questions with even numbers; the others are there to check them.
"""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

from kept_vectors import KeptVectors
from retain.domain.memory import Kind, MemoryId, Source
from retain.domain.recall import Strategy
from retain.domain.session import Caller, Project
from retain.engine.drafts import Draft
from retain.engine.engine import Engine
from retain.engine.lifecycle.filing import file
from retain.engine.parts import Parts
from retain.engine.recall.recall import Question, candidates
from retain.judge.onnx import OnnxJudge
from retain.stores.sqlite.store import SqliteStore

SHOWN = 10
LATER = timedelta(hours=1)  # after the last thing that was said, the questions come
MEASURES = ("any@1", "any@5", "any@10", "rec@10", "mrr")
LOST = ("among", "rec among", "perfect@10")
START = datetime(2026, 1, 5, 9, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Said:
    """Something told at a moment; `name` is how evidence speaks of it."""

    name: str
    text: str
    at: datetime
    session: str | None = None
    turn: int | None = None
    kind: Kind = Kind.EPISODIC


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the names of what answers it, and the number that says which half it is in.

    `instead` names what must not stand above the evidence: what was true before. Without `at` it is asked at the end.
    """

    number: int
    text: str
    evidence: frozenset[str]
    category: str = ""
    at: datetime | None = None
    instead: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class World:
    name: str
    said: Sequence[Said]
    asked: Sequence[Asked]
    is_filed: bool = False
    """Whether the judge gives each memory a category, as a server does with what was stored without one."""


@dataclass(frozen=True, slots=True)
class Answered:
    """Where the evidence of a question came, by place from 1 among the hits and among all candidates."""

    asked: Asked
    places: tuple[int, ...]
    among: int
    """How much of the evidence was among the candidates."""
    outdated: int | None = None
    """The place of the first hit that is no longer true."""

    def measures(self) -> dict[str, float]:
        first = self.places[0] if self.places else None
        found = {f"any@{k}": float(first is not None and first <= k) for k in (1, 5, 10)}
        wanted = len(self.asked.evidence)
        return found | {
            "rec@10": len(self.places) / wanted,
            "mrr": 1 / first if first else 0.0,
            "among": float(self.among > 0),
            "rec among": self.among / wanted,
            "perfect@10": min(self.among, SHOWN) / wanted,
        }

    @property
    def is_current(self) -> bool:
        """Whether what holds now was found, and nothing outdated stood above it."""
        return bool(self.places) and (self.outdated is None or self.places[0] < self.outdated)


@dataclass(slots=True)
class Moving:
    """A clock that stands wherever it is put."""

    moment: datetime = START

    def now(self) -> datetime:
        return self.moment


@dataclass(slots=True)
class Lived:
    """A world that was told, with the engine that heard it."""

    world: World
    engine: Engine
    clock: Moving
    ids: dict[str, MemoryId] = field(default_factory=dict)

    def tell(self) -> None:
        for said in sorted(self.world.said, key=lambda said: said.at):
            self.clock.moment = said.at
            source = Source(conversation_turn=said.turn)
            draft = Draft(said.text, said.kind, source=source, session=said.session, event_time=said.at)
            self.ids[said.name] = self.engine.remember(draft, caller(said.session)).memory.id
        if self.world.is_filed:
            file(self.engine.parts, judge(), list(self.ids.values()))
        self.engine.settle(600)

    def answers(self, strategy: Strategy = Strategy.HYBRID) -> Iterator[Answered]:
        """What is merged with something said before counts as that."""
        for asked in self.world.asked:
            self.clock.moment = asked.at or self.clock.moment + LATER
            question = Question(asked.text, strategy=strategy)
            hits = [hit.id for hit in self.engine.recall(question, caller()).hits]
            known = {score.memory for score in candidates(self.engine.parts, question, caller())}
            wanted, outdated = self._ids(asked.evidence), self._ids(asked.instead)
            places = tuple(place for place, id in enumerate(hits, start=1) if id in wanted)
            wrong = next((place for place, id in enumerate(hits, start=1) if id in outdated), None)
            yield Answered(asked, places, len(wanted & known), wrong)

    def _ids(self, names: Iterable[str]) -> set[MemoryId]:
        return {self.ids[name] for name in names}


@cache
def judge() -> OnnxJudge:
    loaded = OnnxJudge()
    loaded.wait(60)
    return loaded


@contextmanager
def lived(world: World) -> Iterator[Lived]:
    with tempfile.TemporaryDirectory() as folder:
        clock = Moving()
        engine = Engine(Parts(SqliteStore(Path(folder) / "world.db"), KeptVectors(), clock, judge=judge()))
        try:
            told = Lived(world, engine, clock)
            told.tell()
            yield told
        finally:
            engine.settle(60)
            engine.close()


def caller(session: str | None = None) -> Caller:
    return Caller(project=Project("timeline", "timeline", "/projects/timeline", START), session=session)


def report(answered: Sequence[Answered]) -> dict[str, dict[str, float]]:
    """The means over all questions, over each half, and over each category of the half that is kept for checking."""
    odd = [each for each in answered if each.asked.number % 2]
    parts = {"all": answered, "even (fitted)": [e for e in answered if e.asked.number % 2 == 0], "odd (kept)": odd}
    for category in sorted({each.asked.category for each in odd} - {""}):
        parts[f"  {category}"] = [each for each in odd if each.asked.category == category]
    return {name: means(part) for name, part in parts.items() if part}


def means(answered: Sequence[Answered]) -> dict[str, float]:
    measured = [each.measures() for each in answered]
    found = {name: 100 * fmean(row[name] for row in measured) for name in (*MEASURES, *LOST)}
    if any(each.asked.instead for each in answered):
        found["current"] = 100 * fmean(each.is_current for each in answered)
    return {"n": len(answered), **found}


def table(report: dict[str, dict[str, Any]]) -> str:
    names = list(next(iter(report.values())))
    head = f"{'':28}" + "".join(f"{name:>11}" for name in names)
    rows = [f"{part:28}" + "".join(_cell(name, row.get(name)) for name in names) for part, row in report.items()]
    return "\n".join([head, *rows])


def _cell(name: str, value: float | None) -> str:
    return f"{'' if value is None else value:>11}" if value is None or name == "n" else f"{value:>11.1f}"
