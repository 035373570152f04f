"""Applying a plan: check what it expects, then write all of it, inside one transaction."""

import json
import sqlite3
from collections.abc import Iterable, Set
from typing import Any

from retain.domain.changes import (
    ActiveWork,
    AtVersion,
    Changes,
    Expectation,
    NameFree,
    NoTwin,
    ProfileStill,
    Restored,
    RunFree,
    StillSo,
    TitleFree,
    Uncompared,
    WorkActive,
)
from retain.domain.graph import Entity, Relation, fold, relation_id
from retain.domain.memory import Embedding, HistoryEntry, Memory, MemoryId, State, user_of
from retain.domain.session import Project, Session
from retain.stores.moments import micros, micros_or_none, rest_row
from retain.stores.naming import free_slug
from retain.stores.signs import pack
from retain.stores.sqlite import disputes, past_queries, profiles, restoring, work
from retain.stores.sqlite.cursors import set_cursor
from retain.stores.sqlite.rows import AMONG, MEMORY_COLUMNS, among, marks, memory_row
from retain.stores.sqlite.vectors import model_number
from retain.stores.wording import indexed

_COLUMNS = MEMORY_COLUMNS.split(", ")
_SAVE = f"""insert into memory ({MEMORY_COLUMNS}, title_key, position, changed) values ({marks(_COLUMNS)}, ?, ?, ?)
    on conflict (id) do update set {", ".join(f"{c} = excluded.{c}" for c in _COLUMNS if c != "id")},
    title_key = excluded.title_key, changed = excluded.changed returning num"""
_RELATION = """insert into relation (source, target, type, created, weight, by_rule, valid_from, valid_until, id)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) on conflict (source, target, type) do update set"""
# A relation seen again grows towards 1, and one that somebody stated is no longer a guess. One that ended because no
# text said it holds again; one that somebody ended stays so, whatever a rule reads: a text may speak of what was.
_SEE = f"""{_RELATION} by_rule = min(by_rule, excluded.by_rule), valid_until = null,
    weight = iif(valid_until is null, 1 - (1 - weight) * (1 - excluded.weight), excluded.weight),
    valid_from = iif(valid_until is null, valid_from, excluded.created)
    where valid_until is null or by_rule"""
# Who has seen it since has made it heavier.
_UNSEEN = "source = ? and target = ? and type = ? and by_rule and weight = ?"
# One that holds goes on holding from when it did.
_STATE = f"""{_RELATION} weight = excluded.weight, by_rule = min(by_rule, excluded.by_rule),
    valid_from = iif(valid_until is null or valid_until > ?10, coalesce(valid_from, created), excluded.valid_from),
    valid_until = excluded.valid_until"""
# Where the id of a memory stands beside what was said of it.
_NAMING = [("history", "memory"), ("link", "memory"), ("served", "memory")]
_NAMING += [("contradiction", "older"), ("contradiction", "newer"), ("tie", "source"), ("tie", "target")]
# Another process may have destroyed the memory between the plan and now.
_IS_THERE = "exists (select 1 from memory where id = ?)"


def broken(db: sqlite3.Connection, changes: Changes) -> Expectation | None:
    """The first expectation that does not hold."""
    return next((expected for expected in changes.expects if not _holds(db, expected)), None)


def write(db: sqlite3.Connection, changes: Changes) -> int:
    """Everything in the plan; returns the change number that the caches of all processes go by."""
    (change,) = db.execute("update counter set value = value + 1 where name = 'change' returning value").fetchone()
    restored = changes.restored or Restored()
    restoring.prepare(db, restored)
    for project in changes.projects:
        add_project(db, project)
    for profile in changes.profiles:
        profiles.save(db, profile)
    for session in changes.sessions:
        _session(db, session)
    for tracked in changes.works:
        work.save(db, tracked)
    for memory in changes.memories:
        _memory(db, memory, change)
    for embedding in changes.embeddings:
        _embedding(db, embedding, change)
    for entry in changes.history:
        _history(db, entry)
    for cursor in changes.cursors:
        set_cursor(db, cursor)
    _graph(db, changes)
    _records(db, changes)
    if changes.purged:
        _purge(db, changes, change)
    restoring.complete(db, restored, change)
    return int(change)


def _is_as_read(db: sqlite3.Connection, expected: AtVersion | Uncompared) -> bool:
    row = db.execute("select version, category, compared from memory where id = ?", (expected.memory,)).fetchone()
    if row is None or isinstance(expected, AtVersion):
        return row is not None and row[0] == expected.version
    return bool(row == (expected.version, expected.category, 0))


def _holds(db: sqlite3.Connection, expected: Expectation) -> bool:
    match expected:
        case NoTwin(place, fingerprint, but):
            query = "select 1 from memory where place = ? and fingerprint = ? and +state = ? and id is not ?"
            return db.execute(query, (place.key, fingerprint, State.ACTIVE.value, but)).fetchone() is None
        case AtVersion() | Uncompared():
            return _is_as_read(db, expected)
        case RunFree(scope, latest):
            query = "select id from run where scope = ? order by at desc, id desc limit 1"
            return bool(db.execute(query, (scope,)).fetchone() == ((latest,) if latest else None))
        case TitleFree(place, title, but):
            query = "select 1 from memory where place = ? and title_key = ? and +state = 'active' and id is not ?"
            return db.execute(query, (place.key, fold(title), but)).fetchone() is None
        case NameFree(name, user, but):
            found = profiles.named(db, name, user)
            return found is None or found.project.id == but
        case ProfileStill(project, user, profile):
            return profiles.by_id(db, project, user) == profile
        case ActiveWork(project, user, sessions):
            query = "select id from work where user = ? and state = 'active' and project = ?"
            return {row[0] for row in db.execute(query, (user, project))} == sessions
        case WorkActive(id, user):
            query = "select 1 from work where id = ? and user = ? and state = 'active'"
            return db.execute(query, (id, user)).fetchone() is not None
        case StillSo(id, state, resolved):
            found = db.execute("select state, resolved from contradiction where id = ?", (id,)).fetchone()
            return bool(found == (state.value, micros_or_none(resolved)))


def _memory(db: sqlite3.Connection, memory: Memory, change: int) -> None:
    before = db.execute("select num, text, title, position from memory where id = ?", (memory.id,)).fetchone()
    position = before[3] if before else _position(db, memory)
    title = fold(memory.title) if memory.title else None
    (num,) = db.execute(_SAVE, (*memory_row(memory), title, position, change)).fetchone()
    if before is None or before[1:3] != (memory.text, memory.title):
        if before:
            db.execute("delete from memory_words where rowid = ?", (num,))
            _drop_vectors(db, num)
        words = indexed(memory.title, memory.text, memory.source.file)
        db.execute("insert into memory_words (rowid, words) values (?, ?)", (num, words))
    if before:
        db.execute("delete from tag where memory = ?", (num,))
    db.executemany("insert or ignore into tag values (?, ?)", [(fold(tag), num) for tag in memory.tags])


def _position(db: sqlite3.Connection, memory: Memory) -> int:
    """Where in its session a memory was said: the turn it names, else after all that was stored before."""
    if memory.source.conversation_turn is not None:
        return memory.source.conversation_turn
    query = "select coalesce(max(position), 0) + 1 from memory where session is ?"
    return int(db.execute(query, (memory.session,)).fetchone()[0]) if memory.session else 0


def _embedding(db: sqlite3.Connection, embedding: Embedding, change: int) -> None:
    row = db.execute("select num, model from memory where id = ?", (embedding.memory,)).fetchone()
    if row is None or not embedding.vectors:
        return
    (num, earlier), model = row, model_number(db, embedding.model, embedding.vectors)
    if embedding.first == 0 and earlier is not None:
        _drop_vectors(db, num)
    for chunk, vector in enumerate(embedding.vectors, start=embedding.first):
        bits, numbers = pack(vector)
        (sign,) = db.execute(
            """insert into sign (memory, chunk, model, bits) values (?, ?, ?, ?)
               on conflict (memory, model, chunk) do update set bits = excluded.bits returning num""",
            (num, chunk, model, bits),
        ).fetchone()
        db.execute("insert or replace into vector values (?, ?)", (sign, numbers))
    db.execute(
        "update memory set model = ?, chunks_missing = ?, changed = ? where num = ?",
        (model, embedding.missing, change, num),
    )


def _drop_vectors(db: sqlite3.Connection, num: int) -> None:
    db.execute("delete from vector where num in (select num from sign where memory = ?)", (num,))
    db.execute("delete from sign where memory = ?", (num,))
    db.execute("update memory set model = null, chunks_missing = 0 where num = ?", (num,))


def _history(db: sqlite3.Connection, entry: HistoryEntry) -> None:
    tags = json.dumps(entry.tags, ensure_ascii=False)
    row = (entry.memory, entry.version, entry.event.value, entry.text, entry.importance, tags, entry.scope.value)
    db.execute(
        f"insert into history select ?, ?, ?, ?, ?, ?, ?, ?, ?, ? where {_IS_THERE}",
        (*row, micros(entry.at), entry.reason, rest_row(entry.rest), entry.memory),
    )


def _graph(db: sqlite3.Connection, changes: Changes) -> None:
    stated = [named for named in changes.stated if isinstance(named, Entity)]
    known = {entity.id: _entity(db, entity) for entity in (*changes.entities, *stated)}
    for memory, entity in changes.unlinked:
        db.execute("delete from link where memory = ? and entity = ?", (memory, entity))
    for memory, stale in changes.stale:
        db.execute("update link set stale = ? where memory = ?", (stale, memory))
    db.executemany(
        f"""insert into link select ?, ?, ?, ?, ?, ? where {_IS_THERE} on conflict (memory, entity, relationship)
            do update set by_rule = min(by_rule, excluded.by_rule), stale = excluded.stale""",
        [
            (k.memory, known.get(k.entity, k.entity), k.relationship, micros(k.created), k.by_rule, k.stale, k.memory)
            for k in changes.links
        ],
    )
    said = [_relation_row(r, known) for r in changes.relations]
    _end(db, changes, {row[:3] for row in said})
    db.executemany(_SEE, said)
    for named in stated:
        query = "update entity set stated = 1, description = coalesce(?, description) where id = ?"
        db.execute(query, (named.description, known[named.id]))
    rows = [_relation_row(relation, known) for relation in changes.stated if isinstance(relation, Relation)]
    for row in rows:
        # Another process may have destroyed an end meanwhile.
        if db.execute("select count(*) from entity where id in (?, ?)", row[:2]).fetchone() == (2,):
            db.execute(_STATE, (*row, micros(changes.at)))


def _end(db: sqlite3.Connection, changes: Changes, said: Set[tuple[str, ...]]) -> None:
    ended = [(*r.key, r.weight) for r in changes.ended if r.key not in said]
    if changes.purged:
        db.executemany(f"delete from relation where {_UNSEEN}", ended)
    else:
        query = f"update relation set valid_until = ? where {_UNSEEN} and valid_until is null"
        db.executemany(query, [(micros(changes.at), *row) for row in ended])


def _relation_row(relation: Relation, known: dict[str, str]) -> tuple[Any, ...]:
    source, target = (known.get(end, end) for end in (relation.source, relation.target))
    return (
        *(source, target, relation.type, micros(relation.created), relation.weight, relation.by_rule),
        *(micros_or_none(relation.valid_from), micros_or_none(relation.valid_until)),
        relation_id(source, target, relation.type),
    )


def _entity(db: sqlite3.Connection, entity: Entity) -> str:
    """The id under which the entity is known: that of the one that is there, if its key is taken."""
    owner, name, type = entity.key
    row = (entity.id, owner, entity.name, name, entity.type, type, micros(entity.created))
    db.execute(
        """insert into entity (id, owner, name, folded, type, folded_type, created, description, stated)
           values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (owner, folded, folded_type) do nothing""",
        (*row, entity.description, entity.stated),
    )
    query = "select id from entity where owner = ? and folded = ? and folded_type = ?"
    return str(db.execute(query, (owner, name, type)).fetchone()[0])


def _records(db: sqlite3.Connection, changes: Changes) -> None:
    for contradiction in changes.contradictions:
        disputes.save(db, contradiction)
    db.executemany(
        f"insert or replace into tie select ?, ?, ?, ?, ? where {_IS_THERE} and {_IS_THERE}",
        [(t.source, t.target, t.type, micros(t.created), t.strength, t.source, t.target) for t in changes.ties],
    )
    db.executemany(
        "insert or replace into run values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                *(r.id, r.scope, r.strategy, micros(r.at), json.dumps(r.made), json.dumps(r.sources), r.analysed),
                *(micros_or_none(r.undone), json.dumps(r.metrics, ensure_ascii=False)),
            )
            for r in changes.runs
        ],
    )


def add_project(db: sqlite3.Connection, project: Project) -> None:
    """A project is there once and keeps the slug it got first: its own, or one that is no other's slug or name."""
    if db.execute("select 1 from project where id = ?", (project.id,)).fetchone():
        return
    taken = {row[0] for row in db.execute("select slug from project")}
    names = {row[0] for row in db.execute("select name_key from profile")}
    row = (project.id, free_slug(project, taken, names), project.path, micros(project.created))
    db.execute("insert into project values (?, ?, ?, ?)", row)


def _session(db: sqlite3.Connection, session: Session) -> None:
    """Adds the session, or opens it again: who writes to it is in it."""
    row: tuple[Any, ...] = (session.id, session.user, session.project, micros(session.started))
    db.execute(
        """insert into session (id, user, project, started, ended, summary) values (?, ?, ?, ?, ?, ?)
           on conflict (id, user) do update set ended = excluded.ended, reflected = 0,
               project = coalesce(project, excluded.project), summary = coalesce(excluded.summary, summary)""",
        (*row, micros_or_none(session.ended), session.summary),
    )


def _purge(db: sqlite3.Connection, changes: Changes, change: int) -> None:
    query = f"select id, num from memory where id {AMONG}"
    gone = dict(db.execute(query, (among(changes.purged),)).fetchall())
    past_queries.forget(db, gone)
    _blank_summaries(db, gone)
    spoken_of = _spoken_of(db, gone)
    for num in gone.values():
        _drop_vectors(db, num)
        db.execute("delete from memory_words where rowid = ?", (num,))
    for table, column in (("tag", "memory"), ("access", "memory"), ("memory", "num")):
        db.execute(f"delete from {table} where {column} {AMONG}", (among(gone.values()),))
    for table, column in _NAMING:
        db.execute(f"delete from {table} where {column} {AMONG}", (among(gone),))
    _drop_unspoken(db, spoken_of)
    _underive(db, set(gone), change)
    db.executemany(
        "insert or replace into tombstone (id, num, at, changed) values (?, ?, ?, ?)",
        [(id, num, micros(changes.at), change) for id, num in gone.items()],
    )

    # The words stay in older segments of the index until it is merged; about a second for 100,000 memories.
    db.execute("insert into memory_words (memory_words) values ('optimize')")


def _blank_summaries(db: sqlite3.Connection, memories: Iterable[MemoryId]) -> None:
    """A summary of a session may repeat whatever was said in it."""
    said_in = f"select session, user from memory where id {AMONG} and session is not null"
    db.execute(f"update session set summary = null where (id, user) in ({said_in})", (among(memories),))


def _spoken_of(db: sqlite3.Connection, memories: Iterable[MemoryId]) -> list[str]:
    """Entities that the memories are linked to, or that an earlier version named and nothing is linked to now.

    Of these only those of the same people: what others made goes by the same name, and is another thing.
    """
    these = among(memories)
    linked = [row[0] for row in db.execute(f"select distinct entity from link where memory {AMONG}", (these,))]
    texts = f"select text from memory where id {AMONG} union all select text from history where memory {AMONG}"
    said = [fold(text) for (text,) in db.execute(texts, (these, these))]
    people = {user for (user,) in db.execute(f"select distinct user from memory where id {AMONG}", (these,))}
    unlinked = "select id, owner, folded from entity e where not exists (select 1 from link where entity = e.id)"
    bare = [(id, name) for id, owner, name in db.execute(unlinked) if user_of(owner) in people]
    return linked + [id for id, name in bare if any(name in text for text in said)]


def _drop_unspoken(db: sqlite3.Connection, entities: Iterable[str]) -> None:
    """Entities of which no memory speaks any more, and that nobody made by hand: only what is gone named them."""
    kept = "select 1 from link where entity = ?1 union all select 1 from entity where id = ?1 and stated"
    alone = [id for id in entities if not db.execute(kept, (id,)).fetchone()]
    for table, column in (("relation", "source"), ("relation", "target"), ("entity", "id")):
        db.execute(f"delete from {table} where {column} {AMONG}", (among(alone),))


def _underive(db: sqlite3.Connection, gone: set[MemoryId], change: int) -> None:
    """What was made from destroyed memories stays, and no longer names them."""
    for num, listed in db.execute("select num, derived_from from memory where derived_from <> '[]'").fetchall():
        sources = json.loads(listed)
        if not gone.isdisjoint(sources):
            left = json.dumps([id for id in sources if id not in gone])
            db.execute("update memory set derived_from = ?, changed = ? where num = ?", (left, change, num))
