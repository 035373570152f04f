"""The SQLite store: one file, any number of processes."""

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from retain.domain.changes import Applied, Changes, Conflict, Contradiction, ContradictionState, Run
from retain.domain.connection import Connection
from retain.domain.conversation import Cursor
from retain.domain.graph import Direction, Entity, GraphOverview, Link, Neighbourhood, Related, Relation, Steps
from retain.domain.memory import HistoryEntry, Memory, MemoryId, Place, State, Stored, Vector
from retain.domain.recall import Filter, Found
from retain.domain.session import Project, Session, Use
from retain.ports import Context, Corpus, Counts, Emptied, Subgraph
from retain.standing import Notice
from retain.stores.signs import unpack
from retain.stores.sqlite import (
    code,
    cursors,
    disputes,
    emptying,
    graph,
    listings,
    memories,
    migrations,
    relations,
    sessions,
    subgraph,
    upkeep,
    writing,
)
from retain.stores.sqlite.code_tables import CodeTables
from retain.stores.sqlite.connection import MEMORY
from retain.stores.sqlite.files import newer_notice, standing_notices
from retain.stores.sqlite.listing_tables import ListingTables
from retain.stores.sqlite.tables import change_of
from retain.stores.sqlite.transfer import TransferTables

_CHECK_SECONDS = 600.0
CODE_BYTES = 4400  # of one chunk with its words, references and vectors, measured


class SqliteStore(ListingTables, CodeTables, TransferTables):
    """Implements `ports.Store`. What it caches is checked by change number before every use."""

    # Durable

    def apply(self, changes: Changes) -> Applied | Conflict:
        if not changes.purged:  # destroying makes room
            self._check_room()
        with self.pool.writing() as db:
            migrations.check_version(db)
            if broken := writing.broken(db, changes):
                return Conflict(broken)
            applied = Applied(writing.write(db, changes))
        if changes.memories:
            self._watch.note()
        if changes.purged or self._traces:
            self._scrub()
        return applied

    def empty(self, user: str, at: datetime, change: int) -> Emptied | None:
        """All but code in one transaction. Code goes after it, bit by bit: there may be very much of it."""
        with self.pool.writing() as db:
            migrations.check_version(db)
            if change_of(db) != change:
                return None
            gone = emptying.empty(db, user, at)
        chunks = sum(self.drop_index(index.key) for index in self.indexes(user))
        with self.pool.writing() as db:
            emptying.drop_unused_projects(db)
        self._scrub()
        return replace(gone, code_chunks=chunks)

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self.pool.view():
            yield

    def change(self) -> int:
        return self._read(change_of)

    def backup(self, to: Path, *, with_code: bool = True) -> None:
        upkeep.copy(self.pool, to, with_code=with_code)

    def code_bytes(self) -> int:
        """About how much of the store is code."""
        return self._read(code.chunks) * CODE_BYTES

    def faults(self) -> list[str]:
        with self.pool.reading(_CHECK_SECONDS) as db:
            return upkeep.faults(db)

    def notices(self) -> list[str]:
        return [*self._notices, *(notice.message for notice in self.standing()), *newer_notice(self.pool)]

    def standing(self) -> list[Notice]:
        return standing_notices(self.pool)

    def connection(self) -> Connection:
        return Connection(version=sqlite3.sqlite_version)

    def close(self) -> None:
        self.pool.close()

    def destroyed(self, ids: Sequence[MemoryId]) -> set[MemoryId]:
        """Those of the ids that were purged here."""
        return self._read(memories.destroyed, ids)

    # MemoryStore

    def memories(self, ids: Sequence[MemoryId]) -> dict[MemoryId, Stored]:
        return self._read(memories.by_ids, ids) if ids else {}

    def twin(self, place: Place, fingerprint: str, *, states: Sequence[State] = (State.ACTIVE,)) -> Stored | None:
        return self._read(memories.twin, place, fingerprint, states)

    def listed(self, wanted: Filter, limit: int, offset: int = 0) -> list[Stored]:
        return self._read(memories.listed, wanted, limit, offset)

    def total(self, wanted: Filter) -> int:
        return self._read(memories.total, wanted)

    def by_words(self, terms: Sequence[str], wanted: Filter, limit: int, *, counted: bool = False) -> Found:
        with self.pool.reading() as db:
            return memories.by_words(db, terms, self._corpus(db, terms), wanted, limit, counted=counted)

    def by_vector(self, vector: Vector, model: str, wanted: Filter, limit: int) -> Found:
        with self.pool.reading() as db:
            index = self._caches.memories(db).index(db, model)
            return index.search(db, vector, wanted, limit) if index else Found()

    def contexts(
        self, ids: Sequence[MemoryId], wanted: Filter, reach: int, beside: Collection[MemoryId] = ()
    ) -> list[Context]:
        return self._read(memories.contexts, ids, wanted, reach, beside) if ids else []

    def corpus(self, terms: Sequence[str]) -> Corpus:
        with self.pool.reading() as db:
            return self._corpus(db, terms)

    def _corpus(self, db: sqlite3.Connection, terms: Sequence[str]) -> Corpus:
        return memories.corpus(db, self._caches.memories(db).frequencies.of(db, terms, change_of(db)))

    def vectors(self, ids: Sequence[MemoryId], model: str) -> dict[MemoryId, list[Vector]]:
        found: dict[MemoryId, list[Vector]] = {}
        with self.pool.reading() as db:
            for id, numbers in memories.numbers(db, ids, model):
                found.setdefault(id, []).append(unpack(numbers))
        return found

    def history(self, *ids: MemoryId) -> list[HistoryEntry]:
        return self._read(memories.history, ids)

    def unembedded(
        self, model: str, limit: int, *, by_others: bool, earlier: bool = False, user: str | None = None
    ) -> list[tuple[Memory, int]]:
        return self._read(memories.unembedded, model, limit, by_others=by_others, earlier=earlier, user=user)

    def uncompared(self, limit: int, *, user: str | None = None) -> list[Memory]:
        return self._read(memories.uncompared, limit, user)

    def counts(self, user: str, model: str) -> Counts:
        return self._read(memories.counts, user, model)

    # GraphStore

    def entities(self, ids: Sequence[str]) -> list[Entity]:
        return list(self._read(graph.entities, ids)) if ids else []

    def entities_named(self, names: Sequence[str], owners: Sequence[str]) -> list[Entity]:
        return self._read(graph.entities_named, names, owners) if names else []

    def entity_names(self, owners: Sequence[str]) -> list[str]:
        return self._read(graph.entity_names, owners)

    def names(self, entities: Sequence[str]) -> dict[str, str]:
        return self._read(graph.names, entities) if entities else {}

    def neighbourhood(
        self, seeds: Sequence[str], direction: Direction, relation: str | None, depth: int, limit: int
    ) -> Neighbourhood:
        return self._read(graph.neighbourhood, seeds, direction, relation, depth, limit)

    def most_connected(self, owners: Sequence[str], relation: str | None, limit: int) -> Neighbourhood:
        return self._read(graph.most_connected, owners, relation, limit)

    def overview(self, owners: Sequence[str]) -> GraphOverview:
        return self._read(graph.overview, owners)

    def links(self, memories: Sequence[MemoryId]) -> list[tuple[Link, Entity]]:
        return self._read(graph.links, memories) if memories else []

    def linked(self, entities: Sequence[str], wanted: Filter, limit: int) -> list[Link]:
        return self._read(graph.linked, entities, wanted, limit) if entities else []

    def speakers(self, entities: Sequence[str], at_least: int) -> set[str]:
        return self._read(graph.speakers, entities, at_least)

    def link_counts(self, entities: Sequence[str], wanted: Filter) -> dict[str, int]:
        return self._read(graph.link_counts, entities, wanted) if entities else {}

    def around(self, entities: Sequence[str], memories: Sequence[MemoryId], wanted: Filter, now: datetime) -> Subgraph:
        return self._read(subgraph.around, entities, memories, wanted, now)

    # RelationStore

    def relations(self, ids: Sequence[str]) -> list[Relation]:
        return self._read(relations.by_ids, ids) if ids else []

    def together(self, one: str, other: str, limit: int) -> list[MemoryId]:
        return self._read(relations.together, one, other, limit)

    def related(self, start: str, steps: Steps) -> Related:
        return self._read(relations.related, start, steps)

    # SessionStore

    def session(self, id: str, user: str) -> Session | None:
        return self._read(sessions.session, id, user)

    def project(self, name: str) -> Project | None:
        return self._read(sessions.project, name)

    def projects(self) -> list[Project]:
        return self._read(sessions.projects)

    def note_uses(self, uses: Sequence[Use]) -> None:
        if self.pool.is_read_only:  # counts may be lost
            return
        with self.pool.writing(durable=False) as db:
            migrations.check_version(db)
            for use in uses:
                sessions.note_use(db, use)

    def served(self, session: str, user: str) -> int:
        return self._read(sessions.served, session, user)

    def sessions(self, user: str, project: str | None, limit: int) -> list[str]:
        return self._read(sessions.sessions, user, project, limit)

    def finished(self, user: str, project: str | None) -> list[str]:
        return self._read(sessions.finished, user, project)

    def mark_reflected(self, session: str, user: str) -> None:
        with self.pool.writing(durable=False) as db:
            migrations.check_version(db)
            db.execute("update session set reflected = 1 where id = ? and user = ?", (session, user))

    def run(self, id: str) -> Run | None:
        return self._read(sessions.run, id)

    def latest_run(self, scope: str) -> Run | None:
        return self._read(sessions.latest_run, scope)

    def runs(self, limit: int) -> list[Run]:
        return self._read(sessions.runs, limit)

    # TrustStore

    def contradictions(self, memories: Sequence[MemoryId]) -> list[Contradiction]:
        return self._read(disputes.between, memories) if memories else []

    def with_contradictions(self, ids: Sequence[MemoryId]) -> tuple[dict[MemoryId, Stored], list[Contradiction]]:
        if not ids:
            return {}, []
        with self.pool.reading() as db:
            return memories.by_ids(db, ids), disputes.between(db, ids)

    def contradiction(self, id: str) -> Contradiction | None:
        return self._read(disputes.by_id, id)

    def disputes(
        self, places: Sequence[Place], states: Sequence[ContradictionState], limit: int, offset: int = 0
    ) -> tuple[list[Contradiction], int]:
        return self._read(disputes.listed, places, states, limit, offset)

    def crowding(
        self, ids: Sequence[MemoryId], model: str, wanted: Filter, floor: float
    ) -> dict[MemoryId, list[MemoryId]]:
        with self.pool.reading() as db:
            index = self._caches.memories(db).index(db, model)
            return index.crowding(db, ids, wanted, floor) if index else {}

    def tied(self, types: Sequence[str], places: Sequence[Place]) -> int:
        return self._read(listings.tied, types, places)

    # CaptureStore

    def cursor(self, transcript: str) -> Cursor | None:
        return self._read(cursors.cursor, transcript)

    def cursors_at(self, lines: Sequence[str]) -> list[Cursor]:
        return self._read(cursors.cursors_at, lines) if lines else []

    def extractions(self, project: str | None, user: str) -> int:
        return self._read(cursors.extractions, project, user)


__all__ = ["MEMORY", "SqliteStore"]
