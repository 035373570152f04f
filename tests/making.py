"""Values for tests: each maker fills in all that a test is not about."""

import struct
from datetime import datetime, timedelta
from typing import Any

from fakes import START
from retain.domain.changes import Applied, Changes, Contradiction, Run
from retain.domain.code import Chunk, ChunkKind, CodeFile, CodeFilter, CodeIndex, Mark, Parsed, Reference
from retain.domain.graph import MENTIONS, RELATED, Entity, Link, Relation
from retain.domain.memory import Embedding, Event, HistoryEntry, Kind, Memory, Place, Scope, State, Status, Vector
from retain.domain.recall import Filter
from retain.domain.session import Project, Session
from retain.ports import Store
from retain.stores.sqlite.rows import MEMORY_COLUMNS, marks, memory_row

MODEL = "tiny"
EVERYWHERE = Place(Scope.USER)


def at(seconds: float) -> datetime:
    """A moment that many seconds after the tests' day began."""
    return START + timedelta(seconds=seconds)


def a_place(project: str = "shop", user: str = "") -> Place:
    return Place(Scope.PROJECT, user, project)


def a_session_place(session: str, user: str = "") -> Place:
    return Place(Scope.SESSION, user, "shop", session)


def a_memory(id: str = "m1", text: str = "We deploy on Mondays.", **fields: Any) -> Memory:
    """A current fact in the project `shop`."""
    when = fields.pop("when", START)
    times = dict.fromkeys(("created", "updated", "event_time", "valid_from"), when)
    return Memory(**{"id": id, "text": text, "kind": Kind.SEMANTIC, "place": a_place(), **times, **fields})


def insert_as_before(db: Any, memory: Memory) -> None:
    """Puts a memory into a file that an earlier version has made, as far as it has the columns."""
    row = dict(zip(MEMORY_COLUMNS.split(", "), memory_row(memory), strict=True))
    there = [name for (name,) in db.execute("select name from pragma_table_info('memory')") if name in row]
    query = f"insert into memory ({', '.join(there)}, position, changed) values ({marks(there)}, 0, 1)"
    db.execute(query, [row[name] for name in there])


def in_state(state: State, **fields: Any) -> Status:
    return Status(state, **fields)


def a_vector(*numbers: float) -> Vector:
    """A vector of unit length in 64 dimensions that points along the numbers given."""
    length = sum(n * n for n in numbers) ** 0.5 or 1.0
    return Vector(struct.pack("<64f", *(n / length for n in numbers), *([0.0] * (64 - len(numbers)))))


def an_embedding(memory: str, *vectors: Vector, model: str = MODEL, **fields: Any) -> Embedding:
    return Embedding(memory, model, vectors, **fields)


def an_entry(memory: Memory, event: Event = Event.CREATED, **fields: Any) -> HistoryEntry:
    said = (memory.text, memory.importance, memory.tags, memory.scope)
    return HistoryEntry(memory.id, memory.version, event, *said, fields.pop("at", START), **fields)


def an_entity(name: str, type: str = "service", owner: str = "shop", id: str | None = None) -> Entity:
    return Entity(id or f"e-{name}", name, type, owner, START)


def a_link(memory: str, entity: str, relationship: str = MENTIONS, **fields: Any) -> Link:
    return Link(memory, f"e-{entity}", relationship, START, **fields)


def a_relation(source: str, target: str, type: str = RELATED, **fields: Any) -> Relation:
    return Relation(f"e-{source}", f"e-{target}", type, START, **fields)


def a_contradiction(id: str, older: str, newer: str, **fields: Any) -> Contradiction:
    return Contradiction(id, older, newer, "value", "Mondays or Fridays", fields.pop("found", START), **fields)


def a_run(id: str, scope: str = "shop", when: datetime = START, **fields: Any) -> Run:
    return Run(id, scope, "extractive", when, ("made",), ("s1", "s2"), 7, **fields)


def a_project(id: str, slug: str = "shop", path: str = "") -> Project:
    return Project(id, slug, path or f"/home/ada/{id}", START)


def a_session(id: str = "s1", **fields: Any) -> Session:
    return Session(id, fields.pop("started", START), **fields)


def a_chunk(name: str = "connect", text: str = "", line: int = 1, **fields: Any) -> Chunk:
    """A function of three lines."""
    text = text or f"def {name}():\n    return pool\n"
    return Chunk(fields.pop("kind", ChunkKind.FUNCTION), name, line, fields.pop("end", line + 2), text, **fields)


def a_code_file(path: str, *chunks: Chunk, uses: dict[str, list[int]] | None = None, **fields: Any) -> CodeFile:
    """A parsed Python file; `uses` has the lines on which it uses names."""
    references = tuple(Reference(name, line) for name, lines in (uses or {}).items() for line in lines)
    mark = fields.pop("mark", Mark(f"digest of {path}", 100, 1))
    return CodeFile(path, mark, Parsed(fields.pop("language", "python"), chunks, references))


def a_code_index(project: str = "shop", user: str = "", **fields: Any) -> CodeIndex:
    """An index that the process `me` holds, alive at the beginning of the day."""
    return CodeIndex(a_project(project, project), user, **{"holder": "me", "beat": START, "started": START, **fields})


def in_code(*projects: str, **fields: Any) -> CodeFilter:
    """A filter for code of these projects, or of `shop`."""
    return CodeFilter(projects or ("shop",), **fields)


def wanted(**fields: Any) -> Filter:
    """A filter that lets through what the project `shop` sees, and everything about the user."""
    return Filter(**{"places": (a_place(), EVERYWHERE), **fields})


def save(store: Store, *memories: Memory, **fields: Any) -> Applied:
    """Applies a plan that holds these memories; a conflict fails the test."""
    outcome = store.apply(Changes(at=START, memories=memories, **fields))
    assert isinstance(outcome, Applied), outcome
    return outcome


def ids(found: Any) -> list[str]:
    """The ids of memories, or of what a lane found, in order."""
    return list(found.scores) if hasattr(found, "scores") else [stored.memory.id for stored in found]
