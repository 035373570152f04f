"""Stores of any size that look like a developer's; built once through the store's own `apply`, then kept."""

import hashlib
import shutil
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import count
from pathlib import Path

import numpy as np

import retain
from corpus import CACHE, Array, is_asked, model, texts, vector_of, vectors
from retain.domain.changes import Changes
from retain.domain.graph import MENTIONS, Entity, Link, Relation
from retain.domain.ids import new_id
from retain.domain.memory import Embedding, Event, HistoryEntry, Kind, Memory, Place, Scope, Source
from retain.domain.session import Caller, Project, Session
from retain.folders import project_of
from retain.stores.sqlite.store import SqliteStore

BATCH = 1000
SESSION = 40
FEW, MANY = 6000, 20_000  # real texts that the rows of a store up to 10,000 are made from, and of a larger one
SWAPPED = 0.25  # words of a real text that are exchanged for others, as common as words are
NOISE = 0.45  # cosine of a row to the vector of its text 0.91, of two rows from one text 0.83
ENTITIES, RELATIONS = 10_000, 50_000
START = datetime(2025, 1, 1, tzinfo=UTC)
# The first is the one that is asked about: three of five memories are in it.
FOLDERS = [Path(tempfile.gettempdir()) / "retain-latency" / name for name in ("shop", "site", "tools", "infra")]
SHARES = [0.60, 0.20, 0.12, 0.08]
OPENINGS = ["Decided:", "Note:", "Fixed:", "Gotcha:", "Convention:", "We learned that", "Remember:", "Bug:"]
KINDS = [Kind.EPISODIC, Kind.SEMANTIC, Kind.PROCEDURAL]
TAGS = [f"tag-{number}" for number in range(40)]
TYPES = ["component", "file", "library", "service", "concept"]
LINKING = ["uses", "depends_on", "implements", "related_to"]


def store_of(size: int) -> Path:
    """The file of a store with so many memories; treat it as read-only, or take a copy."""
    file = CACHE / f"store-{size}-{_format()}.db"
    if not file.exists():
        began, part = time.perf_counter(), file.with_suffix(".part")
        for left in CACHE.glob(f"store-{size}-*"):
            left.unlink()
        store = SqliteStore(part)
        for changes in batches(size):
            store.apply(changes)
        store.close()
        _age(part, size)
        part.rename(file)
        print(
            f"  (built a store of {size:,} in {time.perf_counter() - began:.0f} s; kept for the next run)", flush=True
        )
    return file


def _age(file: Path, changes: int) -> None:
    """As many changes as memories, as in a store that grew one by one: caches go by the share that is new."""
    db = sqlite3.connect(file)
    db.execute("update counter set value = value + ? where name = 'change'", (changes,))
    db.commit()
    db.close()


def copy_of(size: int, folder: Path) -> Path:
    return Path(shutil.copy(store_of(size), folder / f"copy-{size}.db"))


@cache
def projects() -> list[Project]:
    found = [project_of(folder, Path.home(), START) for folder in FOLDERS]
    return [project for project in found if project]


def caller(session: str = "now") -> Caller:
    return Caller(project=projects()[0], session=session)


def _format() -> str:
    """Changes with the schema and the words of a text, and then stores are built anew."""
    source = Path(retain.__file__).parent
    parts = ["stores/sqlite/migrations.py", "domain/words.py", "domain/stem.py"]
    written = [(source / part).read_bytes() for part in parts] + [Path(__file__).read_bytes()]
    return hashlib.sha256(b"".join(written)).hexdigest()[:10]


def batches(size: int) -> Iterator[Changes]:
    chance = np.random.default_rng(size)
    graph = _graph(min(size, ENTITIES), chance)
    yield Changes(at=START, entities=tuple(graph), relations=_relations(graph, min(5 * size, RELATIONS), chance))
    made = _rows(size, graph, chance)
    for start in range(0, size, BATCH):
        rows = [next(made) for _ in range(min(BATCH, size - start))]
        memories = tuple(memory for memory, _, _ in rows)
        yield Changes(
            at=START,
            memories=memories,
            embeddings=tuple(Embedding(m.id, model().model, (vector_of(v),)) for m, v, _ in rows),
            history=tuple(_created(m) for m in memories),
            links=tuple(
                Link(m.id, entity.id, MENTIONS, m.created, by_rule=True) for m, _, linked in rows for entity in linked
            ),
            projects=tuple(projects()),
            sessions=tuple(
                {m.session or "": Session(m.session or "", m.created, m.place.project) for m in memories}.values()
            ),
        )


def _rows(size: int, graph: list[Entity], chance: np.random.Generator) -> Iterator[tuple[Memory, Array, list[Entity]]]:
    numbers, step = vectors(MANY if size > 10_000 else FEW), timedelta(days=365) / size
    bases = [place for place in range(len(numbers)) if not is_asked(place)]
    known = projects()
    for number in count():
        base = bases[number % len(bases)]
        if number % SESSION == 0:
            project = known[int(chance.choice(len(known), p=SHARES))]
        noisy = numbers[base] + NOISE / np.sqrt(384) * chance.standard_normal(384)
        linked = [graph[_rank(len(graph), chance)] for _ in range(int(chance.integers(1, 4)))]
        text = _text(texts()[base], linked[0].name, chance)
        memory = _memory(text, START + number * step, f"session-{number // SESSION}", project, chance)
        yield memory, noisy / np.linalg.norm(noisy), linked


def _text(base: str, name: str, chance: np.random.Generator) -> str:
    words = base.split()[:40]
    swapped = np.flatnonzero(chance.random(len(words)) < SWAPPED)
    for place, word in zip(swapped, _common_words(len(swapped), chance), strict=True):
        words[place] = word
    return f"{OPENINGS[int(chance.integers(len(OPENINGS)))]} {' '.join(words)} ({name})"


def _memory(text: str, at: datetime, session: str, project: Project, chance: np.random.Generator) -> Memory:
    everywhere = chance.random() < 0.05
    return Memory(
        id=new_id(at),
        text=text,
        kind=KINDS[int(chance.choice(3, p=[0.5, 0.35, 0.15]))],
        place=Place(Scope.USER) if everywhere else Place(Scope.PROJECT, project=project.id),
        created=at,
        updated=at,
        event_time=at,
        valid_from=at,
        session=session,
        tags=tuple({TAGS[_rank(len(TAGS), chance)] for _ in range(int(chance.integers(0, 4)))}),
        importance=float(chance.choice([0.3, 0.5, 0.7, 0.9])),
        source=Source(file=f"src/{session[-1]}/module_{int(chance.integers(200))}.py")
        if chance.random() < 0.3
        else Source(),
    )


def _created(memory: Memory) -> HistoryEntry:
    said = (memory.text, memory.importance, memory.tags, memory.scope)
    return HistoryEntry(memory.id, 1, Event.CREATED, *said, memory.created)


def _graph(size: int, chance: np.random.Generator) -> list[Entity]:
    """Names like `parse_header_417`: their words are known, each whole is rare."""
    owner = projects()[0].id
    parts = [word for word in _common_words(6 * size, chance) if word.isalpha() and word.islower()]
    return [
        Entity(
            new_id(START),
            f"{parts[2 * n % len(parts)]}_{parts[(2 * n + 1) % len(parts)]}_{n}",
            TYPES[n % 5],
            owner,
            START,
        )
        for n in range(size)
    ]


def _relations(graph: list[Entity], number: int, chance: np.random.Generator) -> tuple[Relation, ...]:
    """As networks grow: most entities have a few relations, the largest hundreds (of 10,000 entities, about 500)."""
    made: dict[tuple[str, str], Relation] = {}
    while len(made) < number:
        source, target = graph[int(chance.integers(len(graph)))], graph[int(len(graph) * chance.random() ** 2)]
        if source.id != target.id:
            kind = LINKING[int(chance.integers(4))]
            made[source.id, target.id] = Relation(source.id, target.id, kind, START, 0.2 + 0.6 * float(chance.random()))
    return tuple(made.values())


def _rank(size: int, chance: np.random.Generator) -> int:
    """Zipf's law: the place n comes up about 1/n as often as the first."""
    return min(int(size ** chance.random()) - 1, size - 1)


@cache
def _frequencies() -> tuple[list[str], Array]:
    counted = Counter(word for text in texts()[:5000] for word in text.split())
    shares = np.cumsum(np.fromiter(counted.values(), dtype=float))
    return list(counted), shares / shares[-1]


def _common_words(number: int, chance: np.random.Generator) -> list[str]:
    words, shares = _frequencies()
    return [words[place] for place in np.searchsorted(shares, chance.random(number))]
