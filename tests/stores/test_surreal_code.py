"""Code in SurrealDB: found as in SQLite, and what its tables say of one another holds."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import retain.domain
from making import MODEL, a_chunk, a_code_file, a_code_index, a_vector, at, in_code
from retain.domain.code import CodeFile, Mark
from retain.domain.code_words import code_terms
from retain.engine.code.parsing.parse import parse
from retain.stores.sqlite.store import MEMORY, SqliteStore
from retain.stores.surreal.code import writing as code_writing
from retain.stores.surreal.link.connection import in_memory
from retain.stores.surreal.store import SurrealStore

QUESTIONS = (
    "what may be found at all",
    "fold a name to lower case",
    "memory of a session that has ended",
    "the terms of a text",
    "return self",
    "where is a qualified name parsed",
    "half life of a fact",
    "nothing of the kind zzz",
)


@pytest.fixture
def surreal() -> Iterator[SurrealStore]:
    opened = SurrealStore(in_memory())
    yield opened
    opened.close()


@pytest.fixture
def sqlite() -> Iterator[SqliteStore]:
    opened = SqliteStore(MEMORY)
    yield opened
    opened.close()


def real_files() -> list[CodeFile]:
    """The modules that say what memories and code are."""
    folder = Path(retain.domain.__file__).parent
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py"))}
    return [CodeFile(name, Mark(name, len(text), 1), parse(name, text)) for name, text in texts.items()]


def indexed(store, *files):
    index = a_code_index()
    store.claim_index(index, at(-60))
    store.save_code(index.key, files, (), ())
    return index.key


def embedded(store, *names):
    for stored in store.code_named(names, in_code(), 1000):
        store.save_code_vectors(MODEL, {stored.id: [a_vector(1)]})


def test_code_is_found_as_in_sqlite(surreal, sqlite):
    files = real_files()
    for store in (surreal, sqlite):
        key = indexed(store, *files)
        store.save_code(key, (), [("words.py", "moved/words.py")], ["graph.py"])
        store.save_code(key, [file for file in files if file.path == "graph.py"], (), ())
    for question in QUESTIONS:
        here, there = (store.code_by_words(code_terms(question), in_code(), 30) for store in (surreal, sqlite))
        assert here == pytest.approx(there, rel=1e-6), question
        assert sorted(here.values(), reverse=True) == list(here.values())
    for name in ("id", "terms", "Memory.is_current", "CodeFilter", "nothing"):
        assert surreal.code_named([name], in_code(), 20) == sqlite.code_named([name], in_code(), 20)
        assert surreal.occurrences(name, in_code(), 20) == sqlite.occurrences(name, in_code(), 20)
    assert surreal.symbols(key) == sqlite.symbols(key)
    assert surreal.uses(key) == sqlite.uses(key)
    assert (surreal.marks(key), surreal.faults()) == (sqlite.marks(key), [])


DAMAGE = {
    "DELETE code_words": "chunks of code and the lists of their words disagree",
    "DELETE code_index": "files of no code index",
    "DELETE code_file": "code files and their outlines disagree",
    "DELETE code_chunk": "code files and their chunks disagree",
    "DELETE code_entry": "code files and their chunks disagree",
    "DELETE code_vector": "vectors of chunks of code are missing",
    "DELETE code_reference": "code files and the names that they use disagree",
    "UPDATE code_index SET held.chunks = 9": "the counts of code index 'shop' and what it holds disagree",
}


@pytest.mark.parametrize("statement", DAMAGE)
def test_a_check_finds_damaged_code(surreal, statement):
    indexed(surreal, a_code_file("a.py", a_chunk("connect"), uses={"pool": [2]}))
    embedded(surreal, "connect")
    assert surreal.faults() == []
    surreal.db.run(statement)
    assert any(DAMAGE[statement] in fault for fault in surreal.faults())


def test_a_drop_that_is_cut_short_leaves_an_index_that_can_be_dropped_again(surreal):
    key = indexed(surreal, *(a_code_file(f"f{n}.py", a_chunk(f"f{n}")) for n in range(30)))
    assert code_writing.drop_some(surreal.db, key, 10) == 10
    assert ([index.key for index in surreal.indexes("")], surreal.faults()) == ([key], [])
    assert (surreal.drop_index(key), surreal.faults()) == (20, [])


def test_a_copy_that_missed_the_list_of_the_destroyed_is_read_anew(surreal, monkeypatch):
    monkeypatch.setattr(code_writing, "MOST_GONE", 5)
    key = indexed(surreal, *(a_code_file(f"f{n}.py", a_chunk(f"f{n}")) for n in range(20)))
    embedded(surreal, *(f"f{n}" for n in range(20)))
    everything = a_vector(1), MODEL, in_code(), 100
    assert len(surreal.code_by_vector(*everything)) == 20
    surreal.save_code(key, (), (), [f"f{n}.py" for n in range(12)])
    assert surreal.db.rows("SELECT VALUE id FROM code_gone") == []
    assert len(surreal.code_by_vector(*everything)) == 8
