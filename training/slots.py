"""Pairs made from slots: the same thing with another value contradicts, in other words it is the same, another thing or
place is unrelated, a reason or an exception refines.

People write the hard cases. These are the plain ones ("the port of X is 8080", "X is back on 9090"), which must be
right before anything else.
"""

import random
from collections.abc import Callable

from examples import Example
from retain.domain.judging import RELATIONS

_THINGS = [
    "the importer",
    "the mail relay",
    "`pricing`",
    "the kiosk app",
    "our parser",
    "the render farm",
    "the ledger job",
    "the mobile client",
    "the lab gateway",
    "the booking API",
    "`tile-server`",
    "the crawler",
    "the audit log",
    "the form builder",
    "the fleet tracker",
    "the chat bot",
    "the survey tool",
    "the map widget",
    "the label printer",
    "the invoice engine",
    "the feed reader",
    "the login page",
    "the build agent",
    "the thumbnailer",
    "`stock-sync`",
    "the tax module",
    "the telemetry sink",
    "the ingest node",
    "the wiki",
    "the game server",
    "the nightly export",
    "staging",
    "the warehouse sync",
    "ci",
    "the docs site",
    "the dashboard",
    "the scheduler",
]
_PLACES = [
    "on staging",
    "in production",
    "in CI",
    "on the test bench",
    "for the EU tenant",
    "on developer machines",
    "in the demo account",
]
_PROJECTS = [
    "atlas",
    "heron",
    "the Kiel rollout",
    "shopfront",
    "orchid-web",
    "lab3",
    "Nordwind",
    "the choir site",
    "pixelmill",
]
_WITHIN = ["{p}: {s}", "in {p} {s}", "{s} in {p}", "for {p}, {s}", "{s} ({p})"]
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
Slot = tuple[list[str], list[str]]
_SLOTS: dict[str, Slot] = {
    "database": (
        ["Postgres", "MySQL", "SQLite", "MongoDB", "MariaDB", "DuckDB", "Redis", "Cassandra"],
        ["{t} keeps its data in {v}", "{v} is what {t} writes to", "we use {v} for {t}", "{t} is backed by {v}"],
    ),
    "language": (
        ["Go", "Rust", "Python", "Kotlin", "Elixir", "TypeScript", "Scala", "Zig"],
        ["{t} is written in {v}", "{v} is the language of {t}", "the code of {t} is {v}"],
    ),
    "runner": (
        ["pytest", "vitest", "jest", "mocha", "rspec", "nose2", "ctest"],
        ["tests of {t} run with {v}", "we test {t} with {v}", "{v} runs the suite of {t}"],
    ),
    "installer": (
        ["pnpm", "yarn", "npm", "bun", "poetry", "uv", "pipenv"],
        ["{t} is installed with {v}", "dependencies of {t} come through {v}", "use {v} in {t}", "{t} uses {v}"],
    ),
    "host": (
        ["Hetzner", "Fly.io", "Heroku", "Azure", "our own rack", "Cloud Run", "Render"],
        ["{t} is hosted on {v}", "{t} lives on {v}", "we deploy {t} to {v}", "{v} runs {t}"],
    ),
    "owner": (
        ["Amara", "Tomasz", "Yuki", "the platform team", "Priya", "an agency", "Jonas", "the data people"],
        ["{v} owns {t}", "ask {v} about {t}", "{t} belongs to {v}", "changes to {t} go through {v}"],
    ),
    "day": (
        ["on Mondays", "on Thursdays", "every night", "once a month", "every two weeks", "on Fridays"],
        ["{t} ships {v}", "releases of {t} happen {v}", "we deploy {t} {v}"],
    ),
    "hour": (
        ["3am UTC", "5am UTC", "at noon", "at 22:00", "at 6:30", "at midnight"],
        ["{t} runs {v}", "{t} starts {v}", "we start {t} {v}"],
    ),
    "port": (
        ["3000", "5432", "5433", "6380", "8080", "8443", "9090", "7001"],
        ["{t} listens on {v}", "the port of {t} is {v}", "{t} can be reached on :{v}", "{t} is on {v}"],
    ),
    "timeout": (
        [f"{n} seconds" for n in (5, 10, 20, 30, 45, 60, 90, 120)],
        ["{t} times out after {v}", "the timeout of {t} is {v}", "calls to {t} are cut off after {v}"],
    ),
    "version": (
        ["1.4", "2.0", "2.7", "3.11", "3.13", "16", "18", "22"],
        ["{t} is pinned to {v}", "{t} runs on version {v}", "the runtime of {t} is {v}"],
    ),
    "size": (
        [f"{n} MB" for n in (2, 5, 10, 25, 50, 100, 250)],
        ["{t} takes uploads up to {v}", "files above {v} are refused by {t}", "the upload limit of {t} is {v}"],
    ),
}
_SWITCHES = (
    "{t} needs a review before merging|{t} may be merged without a review",
    "{t} is behind the VPN|{t} is open to the internet",
    "migrations of {t} run on deploy|migrations of {t} are run by hand",
    "we mock the network in tests of {t}|tests of {t} talk to the real network, no mocks",
    "squash commits in {t}|in {t} we keep every commit as it is",
    "{t} is still in beta|{t} is generally available",
    "{t} can be restarted at any time|don't restart {t} during office hours",
    "comments in {t} are in German|comments in {t} are written in English",
    "use single quotes in {t}|use double quotes in {t}",
    "{t} is being phased out|{t} stays, the plan to drop it is off",
)
_NEWS = [
    "{t} moved from {o} to {v}",
    "{t}: {v} now, not {o}",
    "we replaced {o} by {v} in {t}",
    "{t} is back on {v}",
    "no more {o} for {t}, it's {v}",
    "i was wrong, {t} is {v}, not {o}",
    "{t} went from {o} to {v}",
    "we're switching {t} from {o} to {v}",
    "{o} is gone, {t} is on {v}",
    "correction: {v} for {t}, not {o}",
]
Made = tuple[str, str]


def made(count: int, seed: int = 7) -> list[Example]:
    chance = random.Random(seed)
    return [_pair(chance) for _ in range(count)]


def _pair(chance: random.Random) -> Example:
    kinds: list[tuple[Callable[[random.Random], Made], str, float]] = [
        (_other_value, "contradiction", 0.22),
        (_news, "contradiction", 0.14),
        (_switched, "contradiction", 0.06),
        (_same, "same", 0.14),
        (_other_thing, "unrelated", 0.14),
        (_other_slot, "unrelated", 0.12),
        (_other_place, "unrelated", 0.06),
        (_other_project, "unrelated", 0.10),
        (_news_of_another, "unrelated", 0.14),
        (_same_project, "contradiction", 0.06),
        (_detailed, "refinement", 0.12),
    ]
    make, label, _ = chance.choices(kinds, [weight for *_, weight in kinds])[0]
    old, new = make(chance)
    return Example("pair", _cased(old, chance), _cased(new, chance), RELATIONS.index(label))  # type: ignore[arg-type]


def _said(slot: Slot, thing: str, value: str, chance: random.Random) -> str:
    return chance.choice(slot[1]).format(t=thing, v=value)


def _slot(chance: random.Random) -> Slot:
    return _SLOTS[chance.choice(list(_SLOTS))]


def _other_value(chance: random.Random) -> Made:
    slot, thing = _slot(chance), chance.choice(_THINGS)
    old, new = chance.sample(slot[0], 2)
    return _said(slot, thing, old, chance), _said(slot, thing, new, chance)


def _news(chance: random.Random) -> Made:
    slot, thing = _slot(chance), chance.choice(_THINGS)
    old, new = chance.sample(slot[0], 2)
    return _said(slot, thing, old, chance), chance.choice(_NEWS).format(t=thing, v=new, o=old)


def _switched(chance: random.Random) -> Made:
    sides, thing = chance.choice(_SWITCHES).split("|"), chance.choice(_THINGS)
    chance.shuffle(sides)
    return sides[0].format(t=thing), sides[1].format(t=thing)


def _same(chance: random.Random) -> Made:
    (values, ways), thing = _slot(chance), chance.choice(_THINGS)
    value = chance.choice(values)
    one, two = (way.format(t=thing, v=value) for way in chance.sample(ways, 2))
    return one, two


def _other_thing(chance: random.Random) -> Made:
    slot, (one, two) = _slot(chance), chance.sample(_THINGS, 2)
    return tuple(_said(slot, thing, chance.choice(slot[0]), chance) for thing in (one, two))  # type: ignore[return-value]


def _other_slot(chance: random.Random) -> Made:
    thing, names = chance.choice(_THINGS), chance.sample(list(_SLOTS), 2)
    one, two = (_said(_SLOTS[name], thing, chance.choice(_SLOTS[name][0]), chance) for name in names)
    return one, two


def _other_place(chance: random.Random) -> Made:
    slot, thing, (here, there) = _slot(chance), chance.choice(_THINGS), chance.sample(_PLACES, 2)
    one, two = (f"{_said(slot, thing, chance.choice(slot[0]), chance)} {at}" for at in (here, there))
    return one, two


def _other_project(chance: random.Random) -> Made:
    """Of the same thing in two projects, whether or not it is the same there."""
    slot, thing, projects = _slot(chance), chance.choice(_THINGS), chance.sample(_PROJECTS, 2)
    one, two = (_within(_said(slot, thing, chance.choice(slot[0]), chance), project, chance) for project in projects)
    return one, two


def _same_project(chance: random.Random) -> Made:
    project = chance.choice(_PROJECTS)
    old, new = _other_value(chance)
    return _within(old, project, chance), _within(new, project, chance)


def _news_of_another(chance: random.Random) -> Made:
    """What changed somewhere else, beside what was said of this: of the same value now and then."""
    slot, (one, two) = _slot(chance), chance.sample(_THINGS, 2)
    old, new = chance.sample(slot[0], 2)
    told = chance.choice(slot[0])
    news = chance.choice(_NEWS).format(t=two, v=new, o=old)
    return _said(slot, one, told, chance), news


def _within(said: str, project: str, chance: random.Random) -> str:
    return chance.choice(_WITHIN).format(p=project, s=said)


def _detailed(chance: random.Random) -> Made:
    slot, thing = _slot(chance), chance.choice(_THINGS)
    value = chance.choice(slot[0])
    more = chance.choice(_REASONS + _LIMITS)
    return _said(slot, thing, value, chance), f"{_said(slot, thing, value, chance)} {more}"


def _cased(text: str, chance: random.Random) -> str:
    return f"{text[0].upper()}{text[1:]}{chance.choice(['.', ''])}" if chance.random() < 0.6 else text
