"""What a plan touches, as the database has it: read before it is written, and good while the change number holds."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from retain.domain.changes import AtVersion, Changes, NoTwin, TitleFree, Uncompared
from retain.domain.graph import Entity, Relation, fold
from retain.domain.memory import MemoryId
from retain.stores.surreal.link.cbor import record, records
from retain.stores.surreal.link.database import Database, Statements
from retain.stores.wording import indexed

Key = tuple[str, str, str]
Pair = tuple[str, str]
_OLD = "id, num, user, place, state, session_id, content, title, words, position, version, category, compared"
_OLD += ", model, signs"


@dataclass(frozen=True, slots=True)
class Known:
    """The part of the database that a plan is about."""

    change: int
    version: int
    applied: int | None
    """The change that has written this plan already."""
    memories: Mapping[MemoryId, Mapping[str, Any]]
    positions: Mapping[str, int]
    """How far each session has come."""
    entities: Mapping[Key, str]
    ends: frozenset[str]
    """Entities that are there, of those that the plan names by id."""
    models: Mapping[str, int]
    words: Sequence[str]
    """Of each memory of the plan, in its order."""
    terms: frozenset[str]
    """Those of the words that some text holds, or held, already."""
    twins: Mapping[Pair, set[MemoryId]]
    titled: Mapping[Pair, set[MemoryId]]
    contradictions: Mapping[Pair, Mapping[str, Any] | None]
    projects: Mapping[str, str]
    """Slugs by id."""
    names: frozenset[str]


def known(db: Database, changes: Changes) -> Known:
    """In one call, however much there is."""
    asked = _Asked()
    words = [indexed(memory.title, memory.text, memory.source.file) for memory in changes.memories]
    turnless = (memory for memory in changes.memories if memory.source.conversation_turn is None)
    sessions = list(dict.fromkeys(memory.session for memory in turnless if memory.session))
    twins = [(e.place.key, e.fingerprint) for e in changes.expects if isinstance(e, NoTwin)]
    titles = [(e.place.key, fold(e.title)) for e in changes.expects if isinstance(e, TitleFree)]
    pairs = [(one.older, one.newer) for one in changes.contradictions]
    named = [*changes.entities, *(one for one in changes.stated if isinstance(one, Entity))]
    ends = {end for one in changes.stated if isinstance(one, Relation) for end in (one.source, one.target)}
    asked.one("change", "SELECT VALUE value FROM ONLY counter:change")
    asked.one("version", "SELECT VALUE number FROM migration")
    asked.some("applied", "SELECT VALUE change FROM $?", [record("applied", changes.key)] if changes.key else [])
    asked.some("memories", f"SELECT {_OLD} FROM $?", records("memory", dict.fromkeys(_memories(changes))))
    asked.some("folded", "SELECT id, owner, folded, folded_type FROM entity WHERE folded IN $?", _names(named))
    asked.some("ends", "SELECT VALUE id FROM $?", records("entity", ends))
    asked.some("models", "SELECT id, dimensions FROM $?", records("model", {e.model for e in changes.embeddings}))
    terms = {term for said in words for term in said.split()}
    asked.some("terms", "SELECT VALUE id FROM $?", records("term", terms))
    # One after the other with their values, since only these lead to an index.
    asked.each("session", "SELECT position, turned FROM memory WHERE session_id = $? ORDER BY turned LIMIT 1", sessions)
    active = "SELECT VALUE id FROM memory WHERE place = $? AND {} = $? AND state = 'active'"
    asked.each("twin", active.format("fingerprint"), twins)
    asked.each("title", active.format("title_key"), titles)
    asked.each("pair", "SELECT * FROM contradiction WHERE older = $? AND newer = $?", pairs)
    if changes.projects:
        asked.one("projects", "SELECT id, slug FROM project")
        asked.one("names", "SELECT VALUE name_key FROM profile")
    found = asked.of(db)
    return Known(
        change=found["change"],
        version=max(found["version"], default=0),
        applied=next(iter(found["applied"]), None),
        memories={row["id"]: row for row in found["memories"]},
        positions={key: rows[0]["position"] for key, rows in found["session"] if rows},
        entities={(row["owner"], row["folded"], row["folded_type"]): row["id"] for row in found["folded"]},
        ends=frozenset(found["ends"]),
        models={row["id"]: row["dimensions"] for row in found["models"]},
        words=words,
        terms=frozenset(found["terms"]),
        twins={key: set(ids) for key, ids in found["twin"]},
        titled={key: set(ids) for key, ids in found["title"]},
        contradictions={key: rows[0] if rows else None for key, rows in found["pair"]},
        projects={row["id"]: row["slug"] for row in found.get("projects", ())},
        names=frozenset(found.get("names", ())),
    )


class _Asked:
    """Statements that are sent together, and by which name their results go."""

    def __init__(self) -> None:
        self._statements = Statements()
        self._told: dict[str, int | list[tuple[Any, int]]] = {}

    def one(self, name: str, statement: str, *values: Any) -> None:
        self._told[name] = self._statements.add(statement, *values)

    def some(self, name: str, statement: str, values: Sequence[Any]) -> None:
        """For many values at once; nothing is asked where there are none."""
        if values:
            self.one(name, statement, values)
        else:
            self._told[name] = []

    def each(self, name: str, statement: str, keys: Sequence[Any]) -> None:
        """For one key after the other; the results come as pairs of key and rows."""
        bound = ((key, key if isinstance(key, tuple) else (key,)) for key in keys)
        self._told[name] = [(key, self._statements.add(statement, *values)) for key, values in bound]

    def of(self, db: Database) -> dict[str, Any]:
        results = db.run(self._statements.query, **self._statements.bound)
        return {
            name: results[told] if isinstance(told, int) else [(key, results[place]) for key, place in told]
            for name, told in self._told.items()
        }


def _names(entities: Iterable[Entity]) -> list[str]:
    return list({entity.key[1] for entity in entities})


def _memories(changes: Changes) -> Iterable[MemoryId]:
    yield from (memory.id for memory in changes.memories)
    yield from (embedding.memory for embedding in changes.embeddings)
    yield from (entry.memory for entry in changes.history)
    yield from (link.memory for link in changes.links)
    yield from (expected.memory for expected in changes.expects if isinstance(expected, (AtVersion, Uncompared)))
    for one in changes.contradictions:
        yield from (one.older, one.newer)
    for tie in changes.ties:
        yield from (tie.source, tie.target)
