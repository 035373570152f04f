"""Damage of all kinds, at random: what plain SQLite can read is brought back, and advice never runs in a circle."""

import os
from contextlib import closing

import pytest

from damage import PAGE, damaged, readable
from making import (
    a_link,
    a_memory,
    a_project,
    a_relation,
    a_run,
    a_session,
    a_vector,
    an_embedding,
    an_entity,
    an_entry,
    at,
    save,
)
from retain.config import Settings
from retain.maintenance import mend
from retain.stores.sqlite.store import SqliteStore

IS_LONG = os.environ.get("RETAIN_TEST_ROUNDS") == "long"
COUNT, SEEDS = (150, 500) if IS_LONG else (60, 40)  # `make repair` is the long one
WORDS = ["deploy", "staging", "retry", "timeout", "login", "cache", "queue", "ledger", "invoice", "webhook"]


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The bytes of a store with all kinds of rows, the same in every run: short texts, and some over several pages."""
    path = tmp_path_factory.mktemp("sound") / "retain.db"
    memories = [a_memory(f"{n:020}", _text(n), session="s1", when=at(n)) for n in range(COUNT)]
    with closing(SqliteStore(path)) as store:
        for n, memory in enumerate(memories):
            save(
                store,
                memory,
                history=(an_entry(memory),),
                embeddings=(an_embedding(memory.id, a_vector(1, n)),),
                entities=(an_entity(f"Hub{n}"), an_entity(f"{WORDS[n % 10]}Core")),
                links=(a_link(memory.id, f"Hub{n}"),),
                relations=(a_relation(f"Hub{n}", f"{WORDS[n % 10]}Core"),),
            )
        save(store, sessions=(a_session("s1"),), projects=(a_project("p1"),), runs=(a_run("r1"),))
        assert store.pool.cut_log()
    return path.read_bytes()


def _text(n):
    word, other = WORDS[n % 10], WORDS[n // 10 % 10]
    return f"Hub{n} uses {word}Core for {other} number {n}. " + f"{word} {other} " * (
        n % 90 * (6 if n % 17 == 0 else 1)
    )


@pytest.fixture
def repaired(tmp_path):
    """What a person does who finds a store with these bytes; gives the store that it leaves."""
    opened = []

    def repair(data):
        settings = Settings(home=tmp_path)
        settings.database_file.write_bytes(data)
        SqliteStore(settings.database_file).close()
        mend(settings, lambda _: False)
        opened.append(SqliteStore(settings.database_file))
        return opened[-1]

    yield repair
    for store in opened:
        store.close()


def total(store):
    return sum(store.counts("", "").by_state.values())


@pytest.mark.parametrize("seed", range(SEEDS))
def test_what_sqlite_can_read_is_brought_back(sound, repaired, seed, tmp_path):
    data = damaged(sound, seed)
    expected = {id for id in readable(data, sound, tmp_path) if id.isalnum()}
    store = repaired(data)
    assert set(store.memories(sorted(expected))) == expected
    assert store.faults() == []
    # One of which nothing could be read is told as that, and no repair is advised again.
    assert {notice.code for notice in store.standing()} <= {"store_unreadable"}
    kept = [file for file in tmp_path.glob("retain.db.damaged-*") if not file.name.endswith(("-wal", "-shm"))]
    assert not kept or data in [file.read_bytes() for file in kept]


@pytest.mark.parametrize("pages", [1, 5])
def test_a_lost_tail_costs_only_what_was_on_it(sound, repaired, pages):
    assert total(repaired(sound[: -PAGE * pages])) >= COUNT - 4 * pages


@pytest.mark.parametrize("byte", [b"~", b"\xff"], ids=["letter", "not-utf-8"])
@pytest.mark.parametrize(
    "table", [b"TABLE asked", b"INDEX memory_twin", b"TABLE memory", b"VIRTUAL TABLE memory_words"]
)
def test_a_byte_in_the_schema_costs_nothing(sound, repaired, table, byte):
    at = sound.index(b"CREATE " + table) + 3
    assert total(repaired(sound[:at] + byte + sound[at + 1 :])) == COUNT


@pytest.mark.parametrize("version", [0, 1, 5, 10, 131_084, -1])
def test_a_false_number_of_the_schema_costs_nothing(sound, repaired, version):
    number = version.to_bytes(4, "big", signed=True)
    assert total(repaired(sound[:60] + number + sound[64:])) == COUNT


def test_a_changed_mark_of_the_program_costs_nothing(sound, repaired):
    assert total(repaired(sound[:68] + b"Rtam" + sound[72:])) == COUNT


def test_a_lost_way_to_the_pages_of_memories_costs_nothing(sound, repaired, tmp_path):
    (tmp_path / "sound.db").write_bytes(sound)
    with closing(SqliteStore(tmp_path / "sound.db")) as store, store.pool.reading() as db:
        (page,) = db.execute("select rootpage from sqlite_master where name = 'memory'").fetchone()
    begin = PAGE * (page - 1)
    assert total(repaired(sound[:begin] + bytes(PAGE) + sound[begin + PAGE :])) == COUNT


def test_a_text_that_is_no_longer_utf_8_is_found_and_mended(sound, repaired):
    at = sound.index(b"Hub7 uses") + 5
    store = repaired(sound[:at] + b"\xff\xfe" + sound[at + 2 :])
    assert (total(store), store.memories([f"{7:020}"])[f"{7:020}"].memory.text[:5]) == (COUNT, "Hub7 ")
