"""Ten thousand short statements of which no two speak of the same thing: nothing in them contradicts anything.

Each is about another part of another project. Many are built alike and have other values: what a memory of many
projects looks like, and what is easily taken for a change. Set `a` has few wordings, so that every statement has dozens
that differ in a name alone; `b` and `c` have many, by hands who knew neither the judge nor the other sets.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parent / "things"
SETS = ("a", "b", "c")


def statements(count: int, name: str, seed: int = 3) -> Iterator[str]:
    """So many, in an order by chance."""
    chance = random.Random(seed)
    templates = [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    names = json.loads((FOLDER / f"{name}-names.json").read_text(encoding="utf-8"))
    every = [(each, project, part) for each in templates for project in names["projects"] for part in names["parts"]]
    for template, project, part in chance.sample(every, min(count, len(every))):
        value = chance.choice(template["values"] or [""])
        yield template["ways"][0].format(project=project, part=part, value=value)
