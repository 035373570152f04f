"""The schema, as an append-only list of steps; each runs once, in its own transaction."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

from retain.domain.graph import fold, relation_id
from retain.errors import SchemaNewer, StoreCorrupt, StoreDown
from retain.stores.wording import indexed


def m001_memories(db: sqlite3.Connection) -> None:
    """Memories, their history and their tags. Times are microseconds since 1970, lists are JSON."""
    db.execute("create table counter (name text primary key, value integer not null) without rowid")
    # The life is another one for each file and after each restored backup: between two, change numbers say nothing.
    db.execute("insert into counter values ('change', 0), ('life', random())")
    db.execute(
        """create table memory (
            num integer primary key, id text not null unique, text text not null, title text,
            kind text not null, category text, scope text not null, place text not null,
            user text not null, project text, session text, agent text,
            tags text not null, importance real not null, source text not null, metadata text not null,
            created integer not null, updated integer not null, event_time integer not null,
            valid_from integer not null, valid_until integer,
            state text not null, state_reason text, state_since integer, successor text,
            consolidated integer not null, derived_from text not null,
            reinforced integer not null, reinforced_at integer, version integer not null,
            fingerprint text not null, position integer not null, changed integer not null)"""
    )
    db.execute("create index memory_twin on memory (place, fingerprint)")
    db.execute("create index memory_newest on memory (place, state, event_time)")
    db.execute("create index memory_counted on memory (user, state, scope, kind)")
    db.execute("create index memory_said on memory (session, position)")
    # All that a filter looks at, in the order of change: a process refreshes its cache from the index alone.
    db.execute("create index memory_changed on memory (changed, num, place, kind, state, importance, event_time)")
    # Apart from `memory`, because it changes with every recall, and not durably.
    db.execute("create table access (memory integer primary key, count integer not null, last integer not null)")
    db.execute("create table tag (tag text not null, memory integer not null, primary key (tag, memory)) without rowid")
    db.execute(
        """create table history (
            memory text not null, version integer not null, event text not null, text text not null,
            importance real not null, tags text not null, scope text not null, at integer not null, reason text)"""
    )
    db.execute("create index history_memory on history (memory, version)")
    # What was destroyed: the id stays, so that caches and other processes learn of it; the text does not.
    # By id, since SQLite gives the number of a destroyed row to the next one.
    db.execute(
        """create table tombstone (
            id text primary key, num integer not null, at integer not null, changed integer not null) without rowid"""
    )
    db.execute("create index tombstone_changed on tombstone (changed)")


def m002_words(db: sqlite3.Connection) -> None:
    # Terms are made in Python, equal for every store, so the tokenizer only has to split on spaces.
    db.execute("create virtual table memory_words using fts5(words, tokenize = 'ascii')")
    db.execute("create virtual table memory_terms using fts5vocab(memory_words, row)")
    for num, *said in db.execute("select num, title, text, json_extract(source, '$.file') from memory"):
        db.execute("insert into memory_words (rowid, words) values (?, ?)", (num, indexed(*said)))


def m003_vectors(db: sqlite3.Connection) -> None:
    """Vectors in halves: sign bits, which every process reads whole, and numbers, read for the best candidates."""
    db.execute("create table model (num integer primary key, name text not null unique, dimensions integer not null)")
    db.execute(
        """create table sign (
            num integer primary key, memory integer not null, chunk integer not null, model integer not null,
            bits blob not null, unique (memory, model, chunk))"""
    )
    db.execute("create table vector (num integer primary key, numbers blob not null)")
    db.execute("alter table memory add column model integer")
    db.execute("alter table memory add column chunks_missing integer not null default 0")
    db.execute("create index memory_embedded on memory (model, chunks_missing)")


def m004_graph(db: sqlite3.Connection) -> None:
    db.execute(
        """create table entity (
            num integer primary key, id text not null unique, owner text not null, name text not null,
            folded text not null, type text not null, folded_type text not null, created integer not null,
            unique (owner, folded, folded_type))"""
    )
    db.execute("create index entity_name on entity (folded)")
    db.execute(
        """create table link (
            memory text not null, entity text not null, relationship text not null, created integer not null,
            by_rule integer not null, stale integer not null, primary key (memory, entity, relationship)
        ) without rowid"""
    )
    db.execute("create index link_entity on link (entity, relationship)")
    db.execute(
        """create table relation (
            source text not null, target text not null, type text not null, created integer not null,
            weight real not null, by_rule integer not null, valid_from integer, valid_until integer,
            primary key (source, target, type)) without rowid"""
    )
    db.execute("create index relation_target on relation (target)")


def m005_sessions(db: sqlite3.Connection) -> None:
    db.execute(
        "create table project (id text primary key, slug text not null unique, path text not null, created integer)"
    )
    db.execute(
        """create table session (
            id text not null, user text not null, project text, started integer not null, ended integer,
            summary text, recalls integer not null default 0, reflected integer not null default 0,
            primary key (id, user)) without rowid"""
    )
    db.execute(
        """create table served (
            session text not null, user text not null, memory text not null, primary key (session, user, memory)
        ) without rowid"""
    )
    db.execute(
        """create table run (
            id text primary key, scope text not null, strategy text not null, at integer not null,
            made text not null, sources text not null, analysed integer not null, undone integer)"""
    )
    db.execute("create index run_scope on run (scope, at)")
    db.execute(
        """create table contradiction (
            id text primary key, older text not null, newer text not null, kind text not null, detail text not null,
            found integer not null, by_rule integer not null, state text not null, unique (older, newer))"""
    )
    db.execute("create index contradiction_newer on contradiction (newer)")


def m006_near(db: sqlite3.Connection) -> None:
    """Indexes that give the newest memories and the heaviest relations of an entity without reading all of a hub's.

    The last columns spare a look at the row itself.
    """
    db.execute("drop index link_entity")
    db.execute("create index link_newest on link (entity, memory, stale, by_rule)")
    db.execute("create index link_said on link (entity) where relationship = 'said_by'")
    db.execute("create index link_stale on link (entity) where stale = 1")
    db.execute("drop index relation_target")
    db.execute("create index relation_incoming on relation (target, weight, valid_from, valid_until, by_rule)")


def m007_stated(db: sqlite3.Connection) -> None:
    """What people state by hand, relations by id, and all that a memory was before a change."""
    db.execute("alter table entity add column description text")
    db.execute("alter table entity add column stated integer not null default 0")
    # Made in Python, so that it is the same in every store. Without an index, which would be as large as the table:
    # a relation is asked for by id only to end it.
    db.execute("alter table relation add column id text")
    ends = db.execute("select source, target, type from relation").fetchall()
    query = "update relation set id = ? where source = ? and target = ? and type = ?"
    db.executemany(query, [(relation_id(*end), *end) for end in ends])
    db.execute("alter table history add column rest text")


def m008_code(db: sqlite3.Connection) -> None:
    """Indexes of code: files, their chunks, the names they use. All of it can be made anew from the files."""
    # Changes of code are counted apart, so that indexing does not make the caches of memories look. What was
    # destroyed up to `code_forgotten` is no longer listed in `code_gone`: an older copy begins anew.
    db.execute("insert into counter values ('code_change', 0), ('code_forgotten', 0)")
    db.execute(
        """create table code_index (
            key text primary key, project text not null, user text not null, status text not null,
            total_files integer not null, indexed_files integer not null, total_chunks integer not null,
            embedded_chunks integer not null, skipped text not null, started integer, completed integer,
            error text, holder text, beat integer) without rowid"""
    )
    db.execute(
        """create table code_file (
            num integer primary key, owner text not null, path text not null, language text not null,
            digest text not null, size integer not null, modified integer not null, unique (owner, path))"""
    )
    # Numbers are never used twice: a copy that still has the vectors of a destroyed chunk finds nobody else by them.
    db.execute(
        """create table code_chunk (
            num integer primary key autoincrement, id text not null unique, owner text not null,
            file integer not null, language text not null, kind text not null, name text not null,
            parent text not null, signature text not null, doc text not null, text text not null,
            start_line integer not null, end_line integer not null, part integer not null,
            last_name text not null, full_name text not null, digest blob not null,
            model integer, changed integer not null)"""
    )
    db.execute("create index code_chunk_file on code_chunk (file)")
    db.execute("create index code_chunk_named on code_chunk (last_name)")
    db.execute("create index code_chunk_embedded on code_chunk (owner, model)")
    db.execute(
        """create index code_chunk_changed on code_chunk (changed, model, num, owner, language)
           where model is not null"""
    )
    db.execute("create table code_gone (num integer primary key, changed integer not null)")
    db.execute(
        """create table code_sign (
            num integer primary key, chunk integer not null, part integer not null, model integer not null,
            bits blob not null, unique (chunk, model, part))"""
    )
    db.execute("create table code_vector (num integer primary key, numbers blob not null)")
    db.execute(
        """create table code_reference (
            name text not null, file integer not null, lines text not null, primary key (name, file)) without rowid"""
    )
    db.execute("create index code_reference_file on code_reference (file)")
    make_code_words(db)


def make_code_words(db: sqlite3.Connection) -> None:
    db.execute("create virtual table code_words using fts5(names, doc, body, tokenize = 'ascii')")
    db.execute("create virtual table code_terms using fts5vocab(code_words, row)")


def empty_code(db: sqlite3.Connection) -> None:
    """Takes all code out of a store, at once however much there is; it can be indexed anew."""
    for table in ("code_index", "code_file", "code_chunk", "code_gone", "code_sign", "code_vector", "code_reference"):
        db.execute(f"delete from {table}")
    # A full-text index is emptied row by row.
    db.execute("drop table code_terms")
    db.execute("drop table code_words")
    make_code_words(db)


def m009_capture(db: sqlite3.Connection) -> None:
    """How far each transcript has been read. It holds no text, so it outlives a reset: else all would come back."""
    db.execute(
        """create table cursor (
            transcript text primary key, session text not null, offset integer not null, last text,
            project text, user text not null, extractions integer not null, at integer not null) without rowid"""
    )
    db.execute("create index cursor_last on cursor (last)")


def m010_bank(db: sqlite3.Connection) -> None:
    """Titles that are looked up, ties between memories, projects as people name them, tracked work, past questions."""
    # Folded in Python, so that it is the same in every store.
    db.execute("alter table memory add column title_key text")
    titles = db.execute("select num, title from memory where title is not null").fetchall()
    db.executemany("update memory set title_key = ? where num = ?", [(fold(title), num) for num, title in titles])
    db.execute("create index memory_titled on memory (place, title_key) where title_key is not null")
    db.execute(
        """create table tie (
            source text not null, target text not null, type text not null, created integer not null,
            strength real not null, primary key (source, target, type)) without rowid"""
    )
    db.execute("create index tie_target on tie (target)")
    db.execute(
        """create table profile (
            project text not null, user text not null, name text not null, name_key text not null, description text,
            created integer not null, updated integer not null, primary key (project, user),
            unique (user, name_key)) without rowid"""
    )
    db.execute(
        """create table work (
            id text not null, user text not null, project text not null, title text not null, description text,
            tags text not null, state text not null, started integer not null, ended integer,
            primary key (id, user)) without rowid"""
    )
    db.execute("create index work_newest on work (user, started, id)")
    db.execute("create index work_state on work (user, state, project)")
    # `terms` say which questions go when a memory is destroyed that may have been asked for.
    db.execute(
        """create table asked (
            user text not null, project text not null, key text not null, text text not null, terms text not null,
            times integer not null, found integer not null, last integer not null,
            primary key (user, project, key)) without rowid"""
    )


def m011_trust(db: sqlite3.Connection) -> None:
    """What became of contradictions, and what a consolidation found."""
    for column in ("winner text", "conditions text", "explanation text", "resolved integer", "resolved_by text"):
        db.execute(f"alter table contradiction add column {column}")
    db.execute("create index contradiction_state on contradiction (state, found)")
    db.execute("alter table run add column metrics text not null default '{}'")


def m012_ended(db: sqlite3.Connection) -> None:
    """What a person has ended is no longer a rule's, so no rule brings it back: see `domain/graph.py`."""
    db.execute("update relation set by_rule = 0 where valid_until is not null")


def m013_compared(db: sqlite3.Connection) -> None:
    """Which memories nobody has held against what is near them: few, so only these are in the index."""
    db.execute("alter table memory add column compared integer not null default 1")
    db.execute("create index memory_uncompared on memory (user, state) where compared = 0")


def m014_filed(db: sqlite3.Connection) -> None:
    """The newest of a category: every recall of a task asks for the rules among all memories of a place."""
    db.execute("create index memory_filed on memory (place, state, category, event_time) where category is not null")


STEPS: list[Callable[[sqlite3.Connection], None]] = [
    m001_memories,
    m002_words,
    m003_vectors,
    m004_graph,
    m005_sessions,
    m006_near,
    m007_stated,
    m008_code,
    m009_capture,
    m010_bank,
    m011_trust,
    m012_ended,
    m013_compared,
    m014_filed,
]
CURRENT = len(STEPS)
_NEVER = 10_000
# Stands in the header of every store, so that no file of another program is taken for one: "Rtan".
APPLICATION = 0x5274616E


def version_of(db: sqlite3.Connection) -> int:
    """StoreCorrupt for a number that no version will ever have."""
    found = int(db.execute("pragma user_version").fetchone()[0])
    if not 0 <= found < _NEVER:
        raise StoreCorrupt(f"the number of its schema has changed to {found}")
    return found


def check_ours(db: sqlite3.Connection, path: Path) -> None:
    """Refuses a database that another program has made."""
    # In one view: another process may be making the store right now, tables and marks in one step.
    db.execute("begin")
    try:
        ours = _is_ours(db)
    finally:
        if db.in_transaction:
            db.execute("rollback")
    if not ours:
        raise StoreDown(f"{path} is a database of another program; nothing was written. Choose another path")


def _is_ours(db: sqlite3.Connection) -> bool:
    (application,) = db.execute("pragma application_id").fetchone()
    if application == APPLICATION:
        return True
    if db.execute("select 1 from sqlite_master limit 1").fetchone() is None:
        return not application and version_of(db) == 0
    # A store that was made before there was a mark is known by its counter.
    columns = {name for (name,) in db.execute("select name from pragma_table_info('counter')")}
    counted = "select 1 from counter where name = 'change'"
    is_counted = columns == {"name", "value"} and db.execute(counted).fetchone() is not None
    if application and is_counted:
        raise StoreCorrupt("the mark of the program that made it has changed")
    return is_counted and version_of(db) > 0


def check_version(db: sqlite3.Connection) -> None:
    """Refuses a store that a newer Retain has migrated; asked inside every writing transaction."""
    if (found := version_of(db)) > CURRENT:
        raise SchemaNewer(
            f"this store has schema {found} and this process knows {CURRENT}: a newer Retain has migrated it. "
            "Nothing was written. Restart this window to use the newer version",
            found=found,
            known=CURRENT,
        )


def _run(step: Callable[[sqlite3.Connection], None], db: sqlite3.Connection) -> None:
    """A step fits every sound store of its version: where it does not, the number or the schema has changed."""
    try:
        step(db)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorname != "SQLITE_ERROR":
            raise
        raise StoreCorrupt(f"its schema is not that of version {version_of(db)} ({error})") from error


def migrate(db: sqlite3.Connection) -> None:
    """Brings the schema up to date, waiting for running writes."""
    while (current := version_of(db)) < CURRENT:
        db.execute("begin immediate")
        try:
            # Another process may have run the step while this one waited for the lock.
            if version_of(db) == current:
                _run(STEPS[current], db)
                db.execute(f"pragma user_version = {current + 1}")
                db.execute(f"pragma application_id = {APPLICATION}")
            db.execute("commit")
        except BaseException:
            if db.in_transaction:
                db.execute("rollback")
            raise
