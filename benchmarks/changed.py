"""Whether recall puts what holds now above what held before, and finds the rule that a task calls for.

    python benchmarks/changed.py

- `changed/*.jsonl`: facts that changed, as `old`, `new` and a `question` (prompt or plain question) whose answer is in
  `new`, in four styles: a the same sentence with another value, b a change that is told, c other words, d a
  rule turned round.
  Forty stand in a store, ten of each style, and all together in one. Told minutes apart, and thirty days apart.
- `tasks/*.jsonl`: a `task` and the standing rule, preference or decision that it calls for, which shares hardly a word
  with it, told weeks before; `near` are memories of the same project that only look as if they helped.

Written by hands that have seen neither the ranking nor each other's lines.
"""

import json
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import retain
from measuring import Row, table
from results import save

HERE = Path(__file__).parent
STYLES = {"a": "same sentence", "b": "told change", "c": "other words", "d": "rule turned round"}
APART = {"minutes apart": timedelta(minutes=5), "30 days apart": timedelta(days=30)}
TARGETS = {"minutes apart": 0.8, "30 days apart": 0.9}
FEW, MANY = 5, 10
FORTY = 40

Line = dict[str, str]


def main() -> None:
    triples = list(lines("changed"))
    rows = []
    for name, apart in APART.items():
        rows += changed(f"{name}, forty in a store", parted(triples), apart, TARGETS[name])
        rows += changed(f"{name}, all in one store", [triples], apart)
    rows += called_for()
    print(table(rows))
    print(f"\n{save('changed', {'rows': [row.told() for row in rows]})}")


def parted(triples: Sequence[Line]) -> list[list[Line]]:
    """Forty each, as many of every style."""
    by_style = [[triple for triple in triples if triple["style"] == style] for style in STYLES]
    each = FORTY // len(STYLES)
    return [
        [triple for some in by_style for triple in some[start : start + each]]
        for start in range(0, min(map(len, by_style)), each)
    ]


def changed(
    name: str, stores: Sequence[Sequence[Line]], apart: timedelta, target: float | None = None
) -> Iterator[Row]:
    """Of each style, how often the new fact is found at all, and stands above the old one."""
    found: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for triples in stores:
        for triple, outcome in asked(triples, apart):
            for part in ("all", STYLES[triple["style"]]):
                found[part].append(outcome)
    for part, each in found.items():
        is_found = sum(found for _, found in each) / len(each)
        above = sum(above for above, _ in each) / len(each)
        note = f"of {len(each)}; {is_found:.2f} among the first {MANY}"
        wanted = target if part == "all" else None
        yield Row(f"{name}, {part}: what holds now is first", above, "", wanted, at_least=True, note=note)


def asked(triples: Sequence[Line], apart: timedelta) -> Iterator[tuple[Line, tuple[bool, bool]]]:
    """Of each fact in one store, whether the new one stands above the old one, and whether it is there at all."""
    now = datetime.now(UTC)
    with opened() as memory:
        olds = [told(memory, triple["old"], now - apart - timedelta(days=1)) for triple in triples]
        news = [told(memory, triple["new"], now - timedelta(days=1)) for triple in triples]
        memory.engine.settle(300)
        for triple, old, new in zip(triples, olds, news, strict=True):
            ids = [hit.id for hit in memory.recall(triple["question"], limit=MANY)]
            yield triple, (new in ids and (old not in ids or ids.index(new) < ids.index(old)), new in ids)


def called_for() -> Iterator[Row]:
    """How often what a task calls for is among the first, beside what only looks like it."""
    tasks = list(lines("tasks"))
    then = datetime.now(UTC) - timedelta(days=40)
    with opened() as memory:
        needed = []
        for number, task in enumerate(tasks):
            needed.append(told(memory, task["needed"], then + timedelta(hours=number)))
            for other, text in enumerate(task["near"]):
                told(memory, text, then + timedelta(hours=number, minutes=1 + other))
        memory.engine.settle(300)
        places: dict[str, list[int | None]] = defaultdict(list)
        for task, id in zip(tasks, needed, strict=True):
            ids = [hit.id for hit in memory.recall(task["task"], limit=MANY)]
            for part in ("all", task["kind"]):
                places[part].append(ids.index(id) if id in ids else None)
    for part, each in places.items():
        few, many = (sum(place is not None and place < most for place in each) / len(each) for most in (FEW, MANY))
        yield Row(f"task, {part}: what it calls for is in {FEW}", few, "", note=f"of {len(each)}; {many:.2f} in {MANY}")


def opened() -> "retain.Retain":
    home = Path(tempfile.mkdtemp())
    (home / "project").mkdir()
    return retain.open(home / "changed.db", home=home, project_dir=home / "project")


def told(memory: "retain.Retain", text: str, at: datetime) -> str:
    return memory.remember(text, event_time=at).memory.id


def lines(folder: str) -> Iterable[Line]:
    for file in sorted((HERE / folder).glob("*.jsonl")):
        yield from (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip())


if __name__ == "__main__":
    main()
