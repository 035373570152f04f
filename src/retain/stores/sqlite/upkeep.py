"""Looking after the file: is it sound, how full is it, and a copy of it."""

import sqlite3
from collections import deque
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from retain.stores.part_files import made_whole
from retain.stores.sqlite import migrations
from retain.stores.sqlite.connection import Pool
from retain.stores.sqlite.failures import explained, is_damage
from retain.stores.sqlite.words import totals

# Each counts rows that make no sense: most belong to something that is not there.
_STRAY = {
    "tags of no memory": "select count(*) from tag where memory not in (select num from memory)",
    "access counts of no memory": "select count(*) from access where memory not in (select num from memory)",
    "history of no memory": "select count(*) from history where memory not in (select id from memory)",
    "vectors of no memory": "select count(*) from sign where memory not in (select num from memory)",
    "sign bits without numbers": "select count(*) from sign where num not in (select num from vector)",
    "numbers without sign bits": "select count(*) from vector where num not in (select num from sign)",
    "vectors by no model": "select count(*) from sign where model not in (select num from model)",
    "memories embedded by no model": """select count(*) from memory
        where model is not null and model not in (select num from model)""",
    "links of no memory": "select count(*) from link where memory not in (select id from memory)",
    "links to no entity": "select count(*) from link where entity not in (select id from entity)",
    "relations of no entity": """select count(*) from relation
        where source not in (select id from entity) or target not in (select id from entity)""",
    "contradictions of no memory": """select count(*) from contradiction
        where older not in (select id from memory) or newer not in (select id from memory)""",
    "memories with a list that cannot be read": """select count(*) from memory where not (json_valid(tags)
        and json_valid(source) and json_valid(metadata) and json_valid(derived_from))""",
    "files of no code index": "select count(*) from code_file where owner not in (select key from code_index)",
    "code indexes of no project": "select count(*) from code_index where project not in (select id from project)",
    "chunks of no file": """select count(*) from code_chunk c
        where not exists (select 1 from code_file f where f.num = c.file and f.owner = c.owner)""",
    "names used in no file": "select count(*) from code_reference where file not in (select num from code_file)",
    "vectors of no chunk": "select count(*) from code_sign where chunk not in (select num from code_chunk)",
    "sign bits of code and no numbers": "select count(*) from code_sign where num not in (select num from code_vector)",
    "numbers of code and no sign bits": "select count(*) from code_vector where num not in (select num from code_sign)",
    "destroyed memories that are there": "select count(*) from tombstone where id in (select id from memory)",
}

_TEXTS = {"memory": "memories", "history": "earlier versions of memories", "entity": "names of entities"}


def faults(db: sqlite3.Connection) -> list[str]:
    """Everything that is wrong with the store, a line each.

    Checked are: every page and index (SQLite's integrity check), the full-text index against the memories
    (which texts, how many terms, and that all of it can be read), texts that are not UTF-8, rows that belong to
    nothing (tags, access counts, history, vectors, links, relations, contradictions), lists that are no JSON,
    memories marked as embedded without vectors, and the same of code. Reads the whole file: about a
    second for 100,000 memories.
    """
    found = []
    for check in (_pages, _texts, _words, _stray, _vectors):
        try:
            found += check(db)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            if not is_damage(error):
                raise
            found.append(f"{check.__name__.strip('_')}: {error}")
    return found


def used_bytes(db: sqlite3.Connection) -> int:
    """What the file would take without the pages that wait to be used again."""
    pages, free, size = (
        db.execute(f"pragma {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def copy(pool: Pool, to: Path, *, with_code: bool) -> None:
    """A copy of the store as it is now, in one file that is there whole or not at all."""
    with made_whole(to, pool) as part, pool.reading() as db, opened_alone(part) as made:
        db.backup(made)
        # A copy with a log of its own would be two files.
        made.execute("pragma journal_mode = delete")
        if not with_code:
            migrations.empty_code(made)
            made.execute("vacuum")


@contextmanager
def opened_alone(file: Path) -> Iterator[sqlite3.Connection]:
    """A file that nobody else knows of, without what is done for a store that several processes share."""
    with explained(file), closing(sqlite3.connect(file, isolation_level=None)) as db:
        yield db


def _pages(db: sqlite3.Connection) -> list[str]:
    return [row[0] for row in db.execute("pragma integrity_check(20)") if row[0] != "ok"]


def _texts(db: sqlite3.Connection) -> list[str]:
    """SQLite does not look whether a text is one; whoever reads it stumbles."""
    found = []
    for table, what in _TEXTS.items():
        try:
            deque(db.execute(f"select * from {table}"), maxlen=0)
        except sqlite3.OperationalError as error:
            if not is_damage(error):
                raise
            found.append(f"{what} that are not UTF-8")
    return found


def _words(db: sqlite3.Connection) -> list[str]:
    return _index_faults(db, "memory", "memories") + _index_faults(db, "code_chunk", "chunks of code")


def _index_faults(db: sqlite3.Connection, table: str, what: str) -> list[str]:
    """Where the full-text index of a table does not fit it."""
    name = table.removesuffix("_chunk")
    (unindexed,) = db.execute(
        f"""select (select count(*) from {table} where num not in (select id from {name}_words_docsize))
                + (select count(*) from {table} where num not in (select id from {name}_words_content))
                + (select count(*) from {name}_words_docsize where id not in (select num from {table}))"""
    ).fetchone()
    (read,) = db.execute(f"select coalesce(sum(cnt), 0) from {name}_terms").fetchone()
    _, written = totals(db, f"{name}_words")
    found = [f"{unindexed} {what} and the full-text index disagree"] if unindexed else []
    return found + ([f"the full-text index holds {read} terms of {written} in {what}"] if read != written else [])


def _stray(db: sqlite3.Connection) -> list[str]:
    counted = {what: db.execute(query).fetchone()[0] for what, query in _STRAY.items()}
    return [f"{count} {what}" for what, count in counted.items() if count]


def _vectors(db: sqlite3.Connection) -> list[str]:
    (bare,) = db.execute(
        """select count(*) from memory m where model is not null and not exists (
             select 1 from sign s where s.memory = m.num and s.model = m.model)"""
    ).fetchone()
    (bare_code,) = db.execute(
        """select count(*) from code_chunk c where model is not null and not exists (
             select 1 from code_sign s where s.chunk = c.num and s.model = c.model)"""
    ).fetchone()
    found = [f"{bare} memories are marked as embedded and have no vectors"] if bare else []
    return found + ([f"{bare_code} chunks of code are marked as embedded and have no vectors"] if bare_code else [])
