"""A year of a developer, made up: what is true when, what is said of it, by whom, and what is asked."""

import json
import random
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from fakes import START
from retain.domain.memory import Provenance

SUBJECTS = Path(__file__).parent / "year" / "subjects.jsonl"
DAY = timedelta(days=1)
MOST_CHANGES = 5
FIRST_WEEKS = 0.12  # of the year, in which most things are first spoken of
TALKED_OF, FADES = 0.6, 10  # how often a fact comes up on the day it changed; days after which it is half as often
ALWAYS = 0.06  # and how often it comes up at any time
ABOUT_FACTS = 0.55  # of all episodes; the others are noise
OUT_OF_DATE, LAG = 0.03, 30  # of what is said so many days after a change, by those who have not heard of it
OPENED = 0.25  # statements with an opening
OPENINGS = ("FYI: ", "Note to self: ", "Just checked: ", "Reminder: ", "For the record: ", "As discussed: ")
TOLD = (Provenance.TOLD_BY_USER, Provenance.DIRECT_OBSERVATION, Provenance.TOOL_RESULT)
GUESSED = (Provenance.INFERENCE, Provenance.MODEL_GENERATED)

Slot = tuple[str, str]  # what is spoken of, and in which case; empty where there is but one
Claim = tuple[Slot, str]


@dataclass(frozen=True, slots=True)
class Subject:
    about: str
    values: tuple[str, ...]
    says: tuple[str, ...]
    changes: tuple[str, ...]
    asks: tuple[str, ...]
    places: tuple[str, ...] = ("",)


@dataclass(frozen=True, slots=True)
class Said:
    """An episode; noise claims nothing."""

    at: datetime
    text: str
    provenance: Provenance
    claim: Claim | None = None
    salience: float | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    at: datetime
    text: str
    slot: Slot


@dataclass(frozen=True, slots=True)
class Truth:
    """What held from when on, the first first."""

    since: tuple[datetime, ...]
    values: tuple[str, ...]

    def changes(self, at: datetime) -> int:
        """How often it has changed by then; -1 while nothing is known."""
        return bisect_right(self.since, at) - 1

    def value(self, at: datetime) -> str:
        return self.values[self.changes(at)]

    def ended(self, value: str, at: datetime) -> datetime | None:
        """When a value that does not hold any more ceased to; None for what holds, or never did."""
        if self.value(at) == value:
            return None
        ends = [end for end, held in zip(self.since[1:], self.values, strict=False) if held == value and end <= at]
        return max(ends, default=None)


@dataclass(frozen=True, slots=True)
class Year:
    said: tuple[Said, ...]
    asked: tuple[Asked, ...]
    truths: dict[Slot, Truth] = field(default_factory=dict)

    @property
    def texts(self) -> list[str]:
        return list(dict.fromkeys([*(one.text for one in self.said), *(one.text for one in self.asked)]))


def subjects() -> list[Subject]:
    read = (json.loads(line) for line in SUBJECTS.read_text(encoding="utf-8").splitlines())
    return [Subject(**{name: v if isinstance(v, str) else tuple(v) for name, v in one.items()}) for one in read]


def a_year(
    seed: int = 6, episodes: int = 5000, questions: int = 1500, days: int = 365, chosen: Sequence[Subject] = ()
) -> Year:
    """The same for the same numbers. Every change is spoken of when it happens, so that memory can know of it."""
    dice = random.Random(seed)
    about = {(subject.about, place): subject for subject in chosen or subjects() for place in subject.places}
    truths = {slot: _truth(dice, subject, days) for slot, subject in about.items()}
    said = [one for slot, subject in about.items() for one in _announced(dice, subject, slot, truths[slot])]
    of_facts = max(int(episodes * ABOUT_FACTS) - len(said), 0)
    said += _repeated(dice, about, truths, days, of_facts)
    said += [
        Said(_moment(dice, days), _noise(dice), dice.choice(list(Provenance)), None, _little(dice))
        for _ in range(episodes - len(said))
    ]
    asked = [_question(dice, about, truths, days) for _ in range(questions)]
    return Year(tuple(sorted(said, key=lambda one: one.at)), tuple(sorted(asked, key=lambda one: one.at)), truths)


def _truth(dice: random.Random, subject: Subject, days: int) -> Truth:
    first = days * (dice.random() * FIRST_WEEKS if dice.random() < 0.8 else 0.5 * dice.random())
    number = dice.randint(0, MOST_CHANGES) if days > 100 else dice.randint(0, 2)
    since = sorted([first, *(first + 1 + dice.random() * (days - first - 2) for _ in range(number))])
    values = [dice.choice(subject.values)]
    for _ in range(number):
        # What was given up seldom comes back, unless there are few choices.
        fresh = [value for value in subject.values if value not in values] or list(subject.values)
        values.append(dice.choice([value for value in fresh if value != values[-1]]))
    return Truth(tuple(START + DAY * day for day in since), tuple(values))


def _announced(dice: random.Random, subject: Subject, slot: Slot, truth: Truth) -> Iterator[Said]:
    """What is said at the moment of a change: what it was before, or only what it is now."""
    for number, (at, value) in enumerate(zip(truth.since, truth.values, strict=True)):
        kinds = [subject.says] if not number else [subject.changes[:1]] * 2 + [subject.changes[1:]] + [subject.says] * 2
        old = truth.values[number - 1] if number else ""
        text = _worded(dice.choice(dice.choice(kinds)), slot, value, old)
        salience = 0.8 if dice.random() < 0.15 else None
        yield Said(at, text, dice.choices(TOLD, (6, 3, 2))[0], (slot, value), salience)


def _repeated(
    dice: random.Random, about: dict[Slot, Subject], truths: dict[Slot, Truth], days: int, number: int
) -> Iterator[Said]:
    """What is said again later: soon after a change often, then less and less."""
    known = [
        (slot, START + DAY * day) for slot in about for day in range(days) if truths[slot].since[0] <= START + DAY * day
    ]
    often = [ALWAYS + TALKED_OF * 2 ** (-_since(truths[slot], at) / FADES) for slot, at in known]
    for slot, day in dice.choices(known, often, k=number):
        at, truth = day + DAY * dice.random(), truths[slot]
        changes = truth.changes(at)
        is_old = changes > 0 and _since(truth, at) < LAG and dice.random() < OUT_OF_DATE
        value = truth.values[changes - 1] if is_old else truth.values[changes]
        text = _worded(dice.choice(about[slot].says), slot, value)
        whose = dice.choice(GUESSED) if is_old else dice.choices((*TOLD, *GUESSED), (35, 20, 25, 15, 5))[0]
        opening = dice.choice(OPENINGS) if dice.random() < OPENED else ""
        yield Said(at, opening + text, whose, (slot, value), 0.7 if dice.random() < 0.05 else None)


def _question(dice: random.Random, about: dict[Slot, Subject], truths: dict[Slot, Truth], days: int) -> Asked:
    while True:
        slot, at = dice.choice(list(about)), START + DAY * days * (0.04 + 0.96 * dice.random())
        if truths[slot].changes(at) >= 0:
            return Asked(at, _worded(dice.choice(about[slot].asks), slot), slot)


def _worded(template: str, slot: Slot, value: str = "", old: str = "") -> str:
    text = template.format(v=value, old=old, where=slot[1])
    return text[0].upper() + text[1:]


def _since(truth: Truth, at: datetime) -> float:
    """Days since the last change."""
    return (at - truth.since[max(truth.changes(at), 0)]) / DAY


def _moment(dice: random.Random, days: int) -> datetime:
    return START + DAY * days * dice.random()


def _little(dice: random.Random) -> float | None:
    return 0.2 if dice.random() < 0.1 else None


THINGS = (
    "the checkout page", "the gateway", "the invoice mailer", "the product search", "the worker", "the login form",
    "the admin panel", "the price import", "the staging cluster", "the mobile app", "the warehouse service",
    "the tax module", "the catalogue", "the web build", "the backup job", "the design system", "the public API",
    "the image uploader", "the cart", "the SDK",
)  # fmt: skip
TROUBLES = (
    "a flaky test", "a missing import", "a race in the tests", "an expired certificate", "a typo in a migration",
    "a full disk", "a slow query", "a wrong mock", "an old lock file", "a broken link", "a merge conflict",
    "a null that should not be there",
)  # fmt: skip
PEOPLE = ("Hana", "Luis", "Greta", "Samir", "Yuki", "Pavel")
NOISE = (
    "The build of {thing} failed because of {trouble}.",
    "Fixed {trouble} in {thing}.",
    "Spent the afternoon on {thing}; {trouble} again.",
    "{who} is looking into {trouble} around {thing}.",
    "Green build after {number} tries, it was {trouble}.",
    "{who} asked how far {thing} is; about {number} % done.",
    "Refactored {thing}, {number} files touched.",
    "Reviewed {who}'s change to {thing}; left {number} comments.",
    "Tests of {thing} took {number} seconds today.",
    "Lunch with {who}, talked about {thing} and the weather.",
    "{who} is on holiday for {number} days.",
    "Opened ticket {number} about {trouble} in {thing}.",
    "Closed ticket {number}: {trouble} in {thing}.",
    "The demo of {thing} went well, {who} was happy.",
    "Paired with {who} on {thing} until {number} past four.",
    "Ran the profiler on {thing}: {number} ms in one call.",
    "Wrote {number} lines of docs about {thing}.",
    "Rolled back a change to {thing} because of {trouble}.",
)


def _noise(dice: random.Random) -> str:
    text = dice.choice(NOISE).format(
        thing=dice.choice(THINGS), trouble=dice.choice(TROUBLES), who=dice.choice(PEOPLE), number=dice.randint(2, 99)
    )
    return text[0].upper() + text[1:]
