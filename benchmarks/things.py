"""Ten thousand short statements of which no two speak of the same thing: nothing in them contradicts anything.

Each is about another part of another project. Many are built alike and have other values: what a memory of many
projects looks like, and what is easily taken for a change.
"""

import random
from collections.abc import Iterator
from itertools import product

_PROJECTS = [f"{one}{two}" for one, two in product(("blue", "river", "north", "paper", "salt", "tin", "moss"), (
    "gate", "finch", "desk", "field", "works", "line", "port"))]  # fmt: skip
_PARTS = [
    "the login page", "the invoice job", "the search index", "the mailer", "the admin panel", "the import script",
    "the payment webhook", "the image resizer", "the nightly report", "the mobile app", "the rate limiter",
    "the audit trail", "the cache layer", "the PDF renderer", "the feature flags", "the test fixtures",
]  # fmt: skip
_SAYINGS = (
    "{part} of {project} times out after {number} seconds",
    "in {project} {part} listens on port {port}",
    "{project}: errors of {part} are looked at on the first {day} of the month",
    "{name} owns {part} in {project}",
    "{part} in {project} is covered by {runner}, not more than {number} tests",
    "we moved {part} of {project} from {language} to {other} in spring",
    "don't touch {part} of {project} before {name} has seen it",
    "{project} keeps what {part} writes in {store} for {number} days",
    "{part} for {project} runs at {hour}:30, after the backup",
    "always rebuild {part} of {project} with --{flag} or it serves stale data",
    "{project} dropped the retry in {part}, it sent things twice",
    "customers of {project} never see {part}, that's for support only",
    "{part} is the slowest thing in {project}, about {number} ms a call",
)
_WORDS = {
    "language": ("Go", "Rust", "Python", "Kotlin", "Elixir", "TypeScript", "Java", "Ruby"),
    "name": ("Amara", "Tomasz", "Yuki", "Priya", "Jonas", "Leila", "Mateo", "Ingrid"),
    "day": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"),
    "runner": ("pytest", "vitest", "jest", "rspec", "playwright"),
    "store": ("Postgres", "MySQL", "SQLite", "Redis", "S3"),
    "flag": ("clean", "no-cache", "force", "all"),
}


def statements(count: int, seed: int = 3) -> Iterator[str]:
    """So many, in an order by chance."""
    chance = random.Random(seed)
    every = [(saying, project, part) for saying in _SAYINGS for project in _PROJECTS for part in _PARTS]
    for saying, project, part in chance.sample(every, min(count, len(every))):
        words = {name: chance.choice(values) for name, values in _WORDS.items()}
        words["other"] = chance.choice([each for each in _WORDS["language"] if each != words["language"]])
        numbers = {
            "number": chance.randrange(2, 90),
            "port": chance.randrange(3_000, 9_999),
            "hour": chance.randrange(24),
        }
        yield saying.format(project=project, part=part, **words, **numbers)
