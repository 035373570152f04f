"""Living a made-up year through the real engine: told, asked and slept on in the order in which it happens."""

import heapq
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from fakes import START
from retain.domain.changes import ContradictionState
from retain.domain.memory import Memory, MemoryId, State
from retain.domain.recall import Filter
from retain.domain.session import Caller, Project
from retain.engine.engine import Engine
from retain.engine.parts import places
from retain.engine.trust.disputes import Dispute, Verdict
from retain.engine.trust.encoding import Episode
from retain.engine.trust.recalling import TrustQuestion, recall_by_trust
from retain.errors import Refused
from year_plan import Asked, Said, Slot, Year

HERE = Caller(project=Project("y" * 20, "shop", "/home/ada/shop", START), session="year")
WEEK = timedelta(weeks=1)
LIMIT, SHOWN = 50, 10  # hits that are looked at, and those that an agent is shown
DECIDED = 0.5  # of the contradictions that come up; the others stay open
WITHIN = 5  # days
LOOKED_AT = 400  # statements whose confidence is looked at each week
OPEN = (ContradictionState.OPEN, ContradictionState.REOPENED)

Outcome = Literal["current", "outdated", "nothing"]
Claims = dict[Slot, set[str]]


@dataclass(frozen=True, slots=True)
class Answered:
    """A question, and what the first hit said that speaks of what was asked."""

    asked: Asked
    outcome: Outcome
    by_similarity: Outcome
    changes: int
    days: float
    """Since the last change."""
    shown: bool = False
    """Whether that hit is among the first ten."""
    first: str = ""


@dataclass(frozen=True, slots=True)
class Looked:
    """How far a statement was trusted, so many weeks after the last change of what it speaks of, or of its own end."""

    weeks: int
    is_current: bool
    confidence: float


@dataclass
class Life:
    """A memory's year, with what is known of it from outside."""

    engine: Engine
    clock: "Moving"
    year: Year
    seed: int = 6
    decided: float = DECIDED
    claims: dict[MemoryId, Claims] = field(default_factory=dict)
    answers: list[Answered] = field(default_factory=list)
    looked: list[Looked] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    awake: dict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """By weeks since they ceased to be true: in which state outdated statements were."""
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    swallowed: list[tuple[str, str]] = field(default_factory=list)
    alarms: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._dice = random.Random(self.seed)
        self._due: dict[str, datetime | None] = {}

    def live(self) -> None:
        slept = START + WEEK
        for event in heapq.merge(self.year.said, self.year.asked, key=lambda one: one.at):
            while event.at >= slept:
                self.clock.moment = slept
                self._sleep()
                slept += WEEK
            self.clock.moment = event.at
            self._tell(event) if isinstance(event, Said) else self._ask(event)

    def _tell(self, said: Said) -> None:
        began = time.perf_counter()
        done = self.engine.trust.encode(Episode(said.text, said.provenance, salience=said.salience), HERE)
        self.times["encode"].append((time.perf_counter() - began) * 1000)
        self.counts["reinforced" if done.remembered.reinforced else "stored"] += 1
        claims: Claims = {said.claim[0]: {said.claim[1]}} if said.claim else {}
        known = self.claims.setdefault(done.memory.id, claims)
        if known != claims:
            self.swallowed.append((said.text, done.memory.text))
        self.counts["contradictions"] += len(done.remembered.contradicts)
        if said.claim:
            self._decide()

    def _ask(self, asked: Asked) -> None:
        began = time.perf_counter()
        self.engine.trust.recall(TrustQuestion(asked.text, limit=SHOWN), HERE)
        self.times["recall"].append((time.perf_counter() - began) * 1000)
        # The rest is looked at past the engine: what it hands out counts as used, and stays awake for that.
        answer = recall_by_trust(self.engine.parts, TrustQuestion(asked.text, limit=LIMIT), HERE)
        alike = self._alike(asked.text)
        found = [hit.stored.memory for hit in answer.hits]
        truth = self.year.truths[asked.slot]
        changes = truth.changes(asked.at)
        place = next((place for place, memory in enumerate(found) if self._speaks(memory, asked)), None)
        self.answers.append(
            Answered(
                asked,
                self._outcome(found, asked),
                self._outcome(alike, asked),
                changes,
                (asked.at - truth.since[changes]) / timedelta(days=1),
                place is not None and place < SHOWN,
                found[place].text if place is not None else "",
            )
        )

    def _alike(self, question: str) -> list[Memory]:
        """What is most similar."""
        store, embedder = self.engine.parts.store, self.engine.parts.embedder
        found = store.by_vector(embedder.embed([question])[0], embedder.model, Filter(places(HERE)), LIMIT).scores
        memories = store.memories(list(found))
        return [memories[id].memory for id in sorted(found, key=lambda id: -found[id]) if id in memories]

    def _speaks(self, memory: Memory, asked: Asked) -> bool:
        return asked.slot in self._claims(memory)

    def _outcome(self, found: Sequence[Memory], asked: Asked) -> Outcome:
        """By the first that speaks of what was asked; a summary that says both what holds and what held is outdated."""
        said = next((self._claims(memory)[asked.slot] for memory in found if self._speaks(memory, asked)), None)
        if said is None:
            return "nothing"
        return "current" if said == {self.year.truths[asked.slot].value(asked.at)} else "outdated"

    def _claims(self, memory: Memory) -> Claims:
        """What a memory says; a summary says what those sources say whose words are in it, or all of them."""
        if memory.id not in self.claims or memory.derived_from:
            sources = [stored.memory for stored in self.engine.parts.store.memories(memory.derived_from).values()]
            worded = [source for source in sources if _core(source.text) in _core(memory.text)]
            claims: Claims = {}
            for source in worded or sources:
                for slot, values in self._claims(source).items():
                    claims.setdefault(slot, set()).update(values)
            self.claims[memory.id] = claims
        return self.claims[memory.id]

    def _decide(self) -> None:
        """Some days after a contradiction came up the developer looks at it, or never."""
        now = self.clock.moment
        disputes, _ = self.engine.trust.disputes(HERE, OPEN, 500)
        for each in disputes:
            found = each.contradiction
            key = f"{found.id} {found.state}"
            if key not in self._due:
                self._note(each)
                days = timedelta(days=1 + (WITHIN - 1) * self._dice.random())
                self._due[key] = now + days if self._dice.random() < self.decided else None
            due = self._due[key]
            if due and now >= due:
                self._resolve(each)

    def _note(self, each: Dispute) -> None:
        """Whether it is one."""
        ours, theirs = self._claims(each.older), self._claims(each.newer)
        both = set(ours) & set(theirs)
        real = any(ours[slot] != theirs[slot] for slot in both)
        self.counts["contradictions found" if real else "false alarms"] += 1
        if not real:
            self.alarms.append((each.older.text, each.newer.text))

    def _resolve(self, each: Dispute) -> None:
        try:
            self.engine.trust.resolve(each.contradiction.id, self._verdict(each), HERE)
            self.counts["resolved"] += 1
        except Refused:
            self.counts["could not be resolved"] += 1  # a side has ended meanwhile
        self._due[f"{each.contradiction.id} {each.contradiction.state}"] = None

    def _verdict(self, each: Dispute) -> Verdict:
        ours, theirs = self._claims(each.older), self._claims(each.newer)
        for slot in set(ours) & set(theirs):
            if ours[slot] != theirs[slot]:
                holds = ours[slot] == {self.year.truths[slot].value(self.clock.moment)}
                return Verdict("older" if holds else "newer")
        cases = sorted({" ".join(filter(None, slot)) for slot in (*ours, *theirs)})
        return Verdict("context_dependent", f"each for itself: {', '.join(cases) or 'different events'}")

    def _sleep(self) -> None:
        began = time.perf_counter()
        slept = self.engine.trust.sleep(HERE)
        self.times["sleep"].append((time.perf_counter() - began) * 1000)
        self.counts["went dormant"] += len(slept.dormant)
        self.counts["principles"] += len(slept.principles.made)
        self._look()

    def _look(self) -> None:
        """How far statements are trusted now that recall would show."""
        claimed = [id for id, claims in self.claims.items() if len(claims) == 1]
        chosen = self._dice.sample(claimed, min(LOOKED_AT, len(claimed)))
        stored = list(self.engine.parts.store.memories(chosen).values())
        known = self.engine.trust.weigh(stored, HERE)
        for each in stored:
            memory = each.memory
            for weeks, is_current in self._age(memory):
                if not is_current:
                    self.awake[weeks][memory.status.state] += 1
                if memory.status.state is State.ACTIVE:
                    self.looked.append(Looked(weeks, is_current, known[memory.id].confidence.total))

    def _age(self, memory: Memory) -> Iterator[tuple[int, bool]]:
        ((slot, values),) = self.claims[memory.id].items()
        truth, now = self.year.truths[slot], self.clock.moment
        if len(values) > 1 or not truth.changes(now):
            return  # what never changed is no measure of change
        value = next(iter(values))
        since = truth.ended(value, now)
        if truth.value(now) == value:
            yield (now - truth.since[truth.changes(now)]) // WEEK, True
        elif since:
            yield (now - since) // WEEK, False


class Moving:
    """A clock that stands wherever it is put."""

    def __init__(self) -> None:
        self.moment = START

    def now(self) -> datetime:
        return self.moment


def _core(text: str) -> str:
    """Without an opening, and without what ends a sentence."""
    return re.sub(r"^[A-Z][\w ]{2,20}: ", "", text).rstrip(".").casefold()
