"""A purge leaves no trace in the bytes on disk; a check finds every kind of damage that rows can have."""

import re

import pytest

from making import MODEL, START, a_link, a_memory, a_session, a_vector, an_embedding, an_entity, an_entry, save, wanted
from retain.domain.changes import Changes
from retain.domain.graph import Relation
from retain.domain.session import Use
from retain.stores.sqlite.failures import files_of

MARKER = "zanzibarquux"


def bytes_on_disk(store):
    return b"".join(part.read_bytes() for part in files_of(store.path) if part.exists()).lower()


def crowd(store, count=200):
    save(store, *(a_memory(f"c{n}", f"somebody else wrote sentence number {n}") for n in range(count)))


def test_no_word_of_a_purged_memory_is_left_in_the_file_or_the_log(sqlite_file):
    crowd(sqlite_file)
    first = a_memory("m1", f"first draft {MARKER} " * 30, title=f"about {MARKER}", tags=(MARKER,))
    save(sqlite_file, first, history=(an_entry(first),))
    second = a_memory("m1", f"second {MARKER} draft", metadata={"note": MARKER}, version=2)
    save(sqlite_file, second, history=(an_entry(second),))
    crowd(sqlite_file, 300)
    assert MARKER.encode() in bytes_on_disk(sqlite_file)
    sqlite_file.apply(Changes(at=START, purged=("m1",)))
    assert MARKER.encode() not in bytes_on_disk(sqlite_file)


def test_neither_a_name_nor_a_summary_is_left_in_the_file(sqlite_file):
    crowd(sqlite_file)
    name, summary = "Wilhelmina Quuxworth", "they spoke of the frobnicated merger " * 300
    save(
        sqlite_file,
        a_memory("m1", "she signed it", session="s1"),
        a_memory("m2", "another"),
        entities=(an_entity(name, "person"), an_entity("Contract")),
        links=(a_link("m1", name), a_link("m2", "Contract")),
        relations=(Relation(f"e-{name}", "e-Contract", "signed", START),),
        sessions=(a_session("s1", summary=summary),),
    )
    crowd(sqlite_file, 300)
    for said in (b"quuxworth", b"frobnicated"):
        assert said in bytes_on_disk(sqlite_file)
    sqlite_file.apply(Changes(at=START, purged=("m1",)))
    sqlite_file.close()
    for said in (b"quuxworth", b"frobnicated"):
        assert said not in bytes_on_disk(sqlite_file)


def test_what_a_reader_kept_in_the_log_goes_with_the_next_write(sqlite_file):
    save(sqlite_file, a_memory("m1", f"secret {MARKER}"))
    with sqlite_file.pool.reading() as db:
        db.execute("select count(*) from memory").fetchone()
        sqlite_file.apply(Changes(at=START, purged=("m1",)))
        assert MARKER.encode() in bytes_on_disk(sqlite_file)
    save(sqlite_file, a_memory("m2", "something else"))
    assert MARKER.encode() not in bytes_on_disk(sqlite_file)


def test_the_id_of_a_purged_memory_stays_known(sqlite_file):
    for id in ("m1", "m2"):  # the second takes the row number of the first
        save(sqlite_file, a_memory(id, f"text {id}"))
        sqlite_file.apply(Changes(at=START, purged=(id,)))
    assert sqlite_file.destroyed(["m1", "m2", "m3"]) == {"m1", "m2"}


@pytest.fixture
def linked(sqlite_file):
    save(
        sqlite_file,
        a_memory("m1", "one", tags=("t",)),
        a_memory("m2", "two"),
        history=(an_entry(a_memory("m1", "one")),),
        embeddings=(an_embedding("m1", a_vector(1)), an_embedding("m2", a_vector(1))),
        entities=(an_entity("A"),),
        links=(a_link("m1", "A"),),
    )
    sqlite_file.note_uses([Use(("m1",), START)])
    return sqlite_file


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        ("delete from memory_words where rowid = 1", "full-text index disagree"),
        ("delete from memory_words_docsize where id = 1", "full-text index disagree"),
        ("insert into memory_words (rowid, words) values (99, 'ghost')", "full-text index disagree"),
        ("update memory_words_data set block = x'0201' where id = 1", "the full-text index holds"),
        ("delete from memory_words_data where id > 10", "full-text|words"),
        ("delete from sign where memory = 1", "1 numbers without sign bits"),
        ("delete from vector where num = 1", "1 sign bits without numbers"),
        ("delete from sign", "2 memories are marked as embedded"),
        ("delete from model", "2 vectors by no model"),
        ("insert into tag values ('x', 99)", "1 tags of no memory"),
        ("insert into access values (99, 1, 1)", "1 access counts of no memory"),
        ("update history set memory = 'gone'", "1 history of no memory"),
        ("update link set memory = 'gone'", "1 links of no memory"),
        ("delete from entity", "1 links to no entity"),
        ("insert into relation values ('a', 'b', 'c', 1, 1, 1, null, null, 'r')", "1 relations of no entity"),
        (
            "insert into contradiction (id, older, newer, kind, detail, found, by_rule, state) "
            "values ('c', 'm1', 'gone', '', '', 1, 1, 'open')",
            "1 contradictions of no memory",
        ),
        ("update memory set metadata = '{' where num = 1", "1 memories with a list that cannot be read"),
        ("insert into tombstone values ('m1', 1, 1, 1)", "1 destroyed memories that are there"),
    ],
)
def test_a_check_names_what_is_wrong(linked, damage, fault):
    assert linked.faults() == []
    with linked.pool.writing() as db:
        db.execute(damage)
    assert re.search(fault, "\n".join(linked.faults()))


def test_searching_by_a_model_that_is_not_there_finds_nothing(linked):
    assert linked.by_vector(a_vector(1), "nobody", wanted(), 5).matched == 0
    assert linked.by_vector(a_vector(1), MODEL, wanted(), 5).matched == 2
