"""What hooks put in front of an agent: how much of it matters, how much of what is needed is there, and how long it
takes. On prompts with the memories that each needs, in tests/transcripts/offers; `-v` lists what goes wrong.

The floors were chosen with all projects in sight but those in HELD_OUT, which were written after the floors were
fixed. Whoever changes a floor with these in sight has to write new ones.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from measuring import Row, Times, table
from results import save
from retain.app import Retain
from retain.config import apart, load
from retain.domain.ids import id_of
from retain.domain.places import seen_from
from retain.domain.session import Caller, Project
from retain.domain.telling import says_something
from retain.engine.drafts import Draft
from retain.engine.offer import Prompted
from retain.stores.sqlite import glance

HERE = Path(__file__).parent
CASES = HERE.parent / "tests" / "transcripts" / "offers"
HOOK = HERE.parent / "src" / "retain" / "surfaces" / "hooks" / "entry.py"
HELD_OUT = ("library", "robot")
EVERYONE = "everyone"
RUNS = 40
MATTER, PRESENT = 0.8, 0.9


@dataclass(frozen=True, slots=True)
class Case:
    """A prompt in a project, the memories it needs, and those that do no harm."""

    project: str
    prompt: str
    needs: frozenset[str]
    fine: frozenset[str]


@dataclass(frozen=True, slots=True)
class Tried:
    """What was offered for a case."""

    case: Case
    offered: tuple[str, ...]


Ways = dict[str, Callable[[Case], tuple[str, ...]]]


def cases() -> list[Case]:
    found = []
    for file in sorted(CASES.glob("*.json")):
        for prompt, needs, *more in json.loads(file.read_text())["prompts"]:
            found.append(Case(file.stem, prompt, frozenset(needs), frozenset([*needs, *(more[0] if more else [])])))
    return found


class Shelf:
    """A store with the memories of all projects; `mixed`: all of them in one."""

    def __init__(self, home: Path, *, mixed: bool = False) -> None:
        self.mixed = mixed
        self.app = Retain(load({"home": home, "embedding_model": "bundled"}, apart(home)))
        self.names: dict[str, str] = {}
        for file in sorted(CASES.glob("*.json")):
            scope = "user" if file.stem == EVERYONE else "project"
            for name, text in json.loads(file.read_text())["memories"].items():
                done = self.app.engine.remember(_draft(text, scope), self.caller(file.stem, "telling"))
                self.names[done.memory.id] = name
        self.app.engine.settle(60)

    def caller(self, project: str, session: str = "asking") -> Caller:
        name = "mixed" if self.mixed else project
        path = f"/projects/{name}"
        return Caller("", Project(id_of(path), name, path, datetime.now(UTC)), session)

    def by_meaning(self, case: Case) -> tuple[str, ...]:
        offered = self.app.engine.offer(Prompted(case.prompt), self.caller(case.project))
        return tuple(self.names[note.memory.id] for note in offered.notes)

    def by_words(self, case: Case) -> tuple[str, ...]:
        if not says_something(case.prompt):
            return ()
        db = glance.opened(str(self.app.settings.database_file), 5.0)
        project = self.caller(case.project).project
        sight = glance.Sight(seen_from("", project.id if project else None, "asking"), "asking")
        found = glance.relevant(db, case.prompt, sight, time.time())[: glance.MOST]
        db.close()
        return tuple(self.names[row["id"]] for row, _ in found)


def _draft(text: str, scope: str) -> Draft:
    from retain.domain.memory import Kind, Scope

    return Draft(text, Kind.SEMANTIC, Scope(scope))


def quality(shelf: Shelf, verbose: bool) -> Iterator[Row]:
    ways: Ways = {"by meaning": shelf.by_meaning, "by words": shelf.by_words}
    for way, choose in ways.items():
        tried = [Tried(case, choose(case)) for case in cases()]
        if verbose:
            _tell(way, tried)
        if shelf.mixed:
            # Without a target: a memory of another project may well matter here, and is counted as if it did not.
            yield from _shares(f"{way}, all projects in one", tried, targets=False)
            continue
        yield from _shares(f"{way}, chosen on", [each for each in tried if each.case.project not in HELD_OUT])
        yield from _shares(f"{way}, held out", [each for each in tried if each.case.project in HELD_OUT])
        idle = [each for each in tried if not each.case.fine]
        yield Row(f"{way}: silent where nothing fits", _share(not each.offered for each in idle), "", 0.9, True)


def _shares(way: str, tried: Sequence[Tried], *, targets: bool = True) -> Iterator[Row]:
    lines = [name in each.case.fine for each in tried for name in each.offered]
    needed = [name in each.offered for each in tried for name in each.case.needs]
    matter, present = (MATTER, PRESENT) if targets else (None, None)
    yield Row(f"{way}: injected lines that matter", _share(lines), "", matter, True, note=f"{len(lines)} lines")
    yield Row(f"{way}: needed facts that are there", _share(needed), "", present, True, note=f"{len(needed)} needed")


def _share(claims: "Iterator[bool] | Sequence[bool]") -> float:
    them = list(claims)
    return sum(them) / len(them) if them else 1.0


def _tell(way: str, tried: Sequence[Tried]) -> None:
    for each in tried:
        wrong = [name for name in each.offered if name not in each.case.fine]
        missed = sorted(each.case.needs.difference(each.offered))
        if wrong or missed:
            print(f"{way:11} {each.case.project:11} {each.case.prompt[:70]!r} wrong {wrong} missed {missed}")


def speed(shelf: Shelf) -> Iterator[Row]:
    """Whole processes, as the client starts them, with a server that is warm and without any."""
    from retain.surfaces.hooks.answering import Answering

    answering = Answering(shelf.app)
    answering.start()
    try:
        yield _hooks(shelf, "hits", "stripe webhook returns 400").row("prompt hook, server, something fits", 100)
        yield _hooks(shelf, "miss", "what about lunch then").row("prompt hook, server, nothing fits", 100)
    finally:
        answering.close()
    yield _hooks(shelf, "words", "stripe webhook returns 400").row("prompt hook, keywords, something fits", 100)
    yield _hooks(shelf, "none", "what about lunch then").row("prompt hook, keywords, nothing fits", 100)


def _hooks(shelf: Shelf, name: str, prompt: str) -> Times:
    home = shelf.app.settings.home
    wall = []
    for run in range(RUNS + 3):
        said = {"session_id": f"{name}-{run}", "hook_event_name": "UserPromptSubmit", "prompt": prompt, "cwd": "/"}
        began = time.perf_counter()
        command = [sys.executable, "-I", "-S", str(HOOK), "UserPromptSubmit"]
        env = apart(home) | {"RETAIN_PROJECT_DIR": "/projects/storefront"}
        subprocess.run(command, input=json.dumps(said), text=True, capture_output=True, env=env, check=True)
        wall.append((time.perf_counter() - began) * 1000)
    return Times(wall[3:], [0.0])


def main() -> None:
    rows: list[Row] = []
    for mixed in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            shelf = Shelf(Path(folder), mixed=mixed)
            rows += quality(shelf, "-v" in sys.argv)
            if not mixed:
                rows += speed(shelf)
            shelf.app.close()
    print(table(rows))
    print(save("offers", {"cases": len(cases()), "rows": [row.told() for row in rows], "cores": os.cpu_count()}))


if __name__ == "__main__":
    main()
