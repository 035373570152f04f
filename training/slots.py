"""Pairs made from templates: the same thing with another value contradicts, in other words it is the same, another
thing, project or place is unrelated, a reason or an exception refines.

People write the hard cases. These are the plain ones ("the port of X is 8080", "X is back on 9090"), which must be
right before anything else; and those that nobody has the patience to write: "X of this project" and "X of that one",
built alike, where only the place of the names tells what is the subject and what the value.
"""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from retain.domain.judging import RELATIONS, Bearing

_PLACES = [
    "on staging",
    "in production",
    "in CI",
    "on the test bench",
    "for the EU tenant",
    "on developer machines",
    "in the demo account",
]
_WITHIN = ["{p}: {s}", "in {p} {s}", "{s} in {p}", "for {p}, {s}", "{s} ({p})"]
# Names that nobody has seen, or those of the lists would be learned by heart.
_SYLLABLES = [
    "ka",
    "lo",
    "mir",
    "den",
    "tus",
    "vel",
    "ori",
    "pan",
    "gra",
    "zu",
    "bel",
    "nok",
    "hart",
    "silt",
    "fen",
    "qui",
    "ra",
    "tem",
    "os",
    "dri",
]
_SUFFIXES = ("", "", "-api", "-web", " app", "lab", " 2", "-core", "hub", " site")
_MADE_UP = 0.5
_REASONS = [
    "because the old one kept crashing",
    "since legal asked for it",
    "to save money",
    "because nobody knew the alternative",
    "after the outage in spring",
    "because support ran out",
    "so that audits are easier",
]
_LIMITS = [
    "except on weekends",
    "unless a flag says otherwise",
    "but only for new customers",
    "except for the nightly run",
    "apart from the legacy branch",
    "if the queue is empty",
    "as long as the feature is in beta",
]
_SWITCHES = (
    "{part} needs a review before merging|{part} may be merged without a review",
    "{part} is behind the VPN|{part} is open to the internet",
    "migrations of {part} run on deploy|migrations of {part} are run by hand",
    "we mock the network in tests of {part}|tests of {part} talk to the real network, no mocks",
    "squash commits in {part}|in {part} we keep every commit as it is",
    "{part} is still in beta|{part} is generally available",
    "{part} can be restarted at any time|don't restart {part} during office hours",
    "comments in {part} are in German|comments in {part} are written in English",
    "use single quotes in {part}|use double quotes in {part}",
    "{part} is being phased out|{part} stays, the plan to drop it is off",
)
_NEWS = [
    "{part} moved from {old} to {value}",
    "{part}: {value} now, not {old}",
    "we replaced {old} by {value} in {part}",
    "{part} is back on {value}",
    "no more {old} for {part}, it's {value}",
    "i was wrong, {part} is {value}, not {old}",
    "{part} went from {old} to {value}",
    "we're switching {part} from {old} to {value}",
    "{old} is gone, {part} is on {value}",
    "correction: {value} for {part}, not {old}",
]
_FEW = 3
Made = tuple[str, str]
Said = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Template:
    """A statement about a part of a project, in some wordings; values of which one holds, or which hold together."""

    ways: tuple[str, ...]
    values: tuple[str, ...]
    excludes: bool


class Slots:
    """What templates and names in the data make."""

    def __init__(self, folder: Path, seed: int = 7) -> None:
        self._chance = random.Random(seed)
        self._every = [_template(line) for file in sorted(folder.glob("templates-*.jsonl")) for line in _lines(file)]
        self._valued = [each for each in self._every if each.values and each.excludes]
        self._several = [each for each in self._every if each.values and not each.excludes]
        # A change is told of what is one thing at a time and short: a tool, a number, a day.
        named = [_of_a_part(each) for each in self._valued if max(map(len, each.values)) <= 16]
        self._plain = [each for each in named if each.ways]
        names = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("names-*.json"))]
        self._parts = [part for each in names for part in each["parts"]]
        self._projects = [project for each in names for project in each["projects"]]

    def made(self, count: int, contradicts: Callable[[str, str], float]) -> list[Said]:
        """So many pairs with their labels."""
        kinds: list[tuple[Callable[[], Made], Bearing, float]] = [
            (self._other_value, "contradiction", 0.26),
            (self._news, "contradiction", 0.14),
            (self._switched, "contradiction", 0.05),
            (self._same, "same", 0.13),
            (self._other_project, "unrelated", 0.22),
            (self._other_part, "unrelated", 0.14),
            (self._other_side, "unrelated", 0.10),
            (self._beside, "unrelated", 0.04),
            (self._other_place, "unrelated", 0.05),
            (self._news_of_another, "unrelated", 0.12),
            (self._detailed, "refinement", 0.10),
        ]
        chosen = self._chance.choices(kinds, [weight for *_, weight in kinds], k=count)
        return [self._hardest(make, label, contradicts) for make, label, _ in chosen]

    def _hardest(self, make: Callable[[], Made], label: Bearing, contradicts: Callable[[str, str], float]) -> Said:
        """Of a few the one that an earlier judge is most wrong about: of most of them it is right."""
        few = [(self._cased(one), self._cased(other)) for one, other in (make() for _ in range(_FEW))]
        best = min if label == "contradiction" else max
        return (*best(few, key=lambda two: contradicts(*two)), RELATIONS.index(label))

    def _other_value(self) -> Made:
        template, of = self._of(self._valued), self._names()
        return self._told_twice(template, self._chance.sample(template.values, 2), of, of)

    def _news(self) -> Made:
        template, of = self._of(self._plain), self._names()
        old, new = self._chance.sample(template.values, 2)
        return self._told(template, old, of), self._within(self._changed(old, new, of["part"]), of)

    def _switched(self) -> Made:
        of, sides = self._names(), self._chance.choice(_SWITCHES).split("|")
        one, other = self._chance.sample([side.format(**of) for side in sides], 2)
        return self._within(one, of), self._within(other, of)

    def _same(self) -> Made:
        template, of = self._of([each for each in self._every if len(each.ways) > 1]), self._names()
        value = self._chance.choice(template.values or ("",))
        one, other = self._chance.sample(template.ways, 2)
        return one.format(value=value, **of), other.format(value=value, **of)

    def _other_project(self) -> Made:
        """Of the same thing in two projects, whether or not it is the same there."""
        of = self._names()
        return self._elsewhere(of, of | {"project": self._another(self._project, of["project"])})

    def _other_part(self) -> Made:
        of = self._names()
        return self._elsewhere(of, of | {"part": self._another(self._part, of["part"])})

    def _elsewhere(self, here: dict[str, str], there: dict[str, str]) -> Made:
        template = self._of(self._every)
        other = [f"{{{name}}}" for name in here if here[name] != there[name]]
        ways = tuple(way for way in template.ways if all(name in way for name in other))
        if not ways:
            return self._elsewhere(here, there)
        return self._told_twice(replace(template, ways=ways), self._two_values(template), here, there)

    def _other_side(self) -> Made:
        """Two things that are said of one part of one project."""
        of, (one, other) = self._names(), self._chance.sample(self._every, 2)
        return tuple(self._told(each, self._value(each), of) for each in (one, other))  # type: ignore[return-value]

    def _beside(self) -> Made:
        """Two values that hold together."""
        template, of = self._of(self._several or self._every), self._names()
        if not template.values:
            return self._other_side()
        return self._told_twice(template, self._chance.sample(template.values, 2), of, of)

    def _other_place(self) -> Made:
        template, of, (here, there) = self._of(self._valued), self._names(), self._chance.sample(_PLACES, 2)
        one, other = self._told_twice(template, self._two_values(template), of, of)
        return f"{one.rstrip('.')} {here}", f"{other.rstrip('.')} {there}"

    def _news_of_another(self) -> Made:
        """What changed somewhere else, beside what was said of this: of the same value now and then."""
        template, of = self._of(self._plain), self._names()
        old, new = self._chance.sample(template.values, 2)
        part = self._another(self._part, of["part"])
        told = self._told(template, self._chance.choice(template.values), of)
        return told, self._within(self._changed(old, new, part), of)

    def _detailed(self) -> Made:
        template, of = self._of(self._every), self._names()
        one, other = self._told_twice(template, [self._value(template)] * 2, of, of)
        return one, f"{other.rstrip('.')} {self._chance.choice(_REASONS + _LIMITS)}"

    def _told_twice(self, template: Template, values: Sequence[str], *of: dict[str, str]) -> Made:
        """In the same words as often as in others: what is built alike is easily taken for a change."""
        way = self._chance.choice(template.ways)
        ways = [way, way if self._chance.random() < 0.5 else self._chance.choice(template.ways)]
        one, other = (way.format(value=value, **each) for way, value, each in zip(ways, values, of, strict=True))
        return one, other

    def _told(self, template: Template, value: str, of: dict[str, str]) -> str:
        return self._chance.choice(template.ways).format(value=value, **of)

    def _changed(self, old: str, new: str, part: str) -> str:
        return self._chance.choice(_NEWS).format(part=part, old=old, value=new)

    def _within(self, said: str, of: dict[str, str]) -> str:
        return self._chance.choice(_WITHIN).format(p=of["project"], s=said) if self._chance.random() < 0.3 else said

    def _two_values(self, template: Template) -> list[str]:
        """The same one in half of all cases."""
        one, other = self._value(template), self._value(template)
        return [one, one if self._chance.random() < 0.5 else other]

    def _value(self, template: Template) -> str:
        return self._chance.choice(template.values or ("",))

    def _of(self, templates: Sequence[Template]) -> Template:
        return self._chance.choice(templates)

    def _names(self) -> dict[str, str]:
        return {"project": self._project(), "part": self._part()}

    def _part(self) -> str:
        return self._chance.choice(self._parts)

    def _project(self) -> str:
        if self._chance.random() >= _MADE_UP:
            return self._chance.choice(self._projects)
        name = "".join(self._chance.sample(_SYLLABLES, self._chance.choice((2, 2, 3)))) + self._chance.choice(_SUFFIXES)
        return name.capitalize() if self._chance.random() < 0.3 else name

    def _another(self, make: Callable[[], str], than: str) -> str:
        return next(made for made in iter(make, "") if made != than)

    def _cased(self, text: str) -> str:
        if self._chance.random() < 0.6:
            return f"{text[0].upper()}{text[1:]}{'' if text[-1] in '.!' else self._chance.choice(['.', ''])}"
        return text


def _of_a_part(template: Template) -> Template:
    return replace(template, ways=tuple(way for way in template.ways if "{part}" in way))


def _template(line: dict[str, object]) -> Template:
    ways, values = line["ways"], line["values"]
    assert isinstance(ways, list) and isinstance(values, list)
    return Template(tuple(ways), tuple(values), bool(line["excludes"]))


def _lines(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
