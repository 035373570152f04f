"""Pages of sign bits: who begins finds the same with them as without, whatever was written since they were made."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest

from conftest import STORES
from making import EVERYWHERE, MODEL, START, a_memory, a_place, a_vector, an_embedding, an_entity, at, ids, save, wanted
from processes import said, start
from retain.domain.changes import Changes
from retain.domain.graph import MENTIONS, RELATED, Link, Relation
from retain.domain.memory import State, Status
from retain.domain.recall import Filter
from retain.stores.copying import copied
from retain.stores.sqlite.store import MEMORY, SqliteStore
from retain.stores.surreal import migrations
from retain.stores.surreal.link.connection import DATABASE, NAMESPACE, in_memory
from retain.stores.surreal.link.database import Database
from retain.stores.surreal.link.embedded import EmbeddedLink
from retain.stores.surreal.store import SurrealStore
from retain.stores.surreal.vectors import pages
from retain.stores.surreal.vectors.pages import Pages, Stretch
from retain.stores.surreal.vectors.signs import MemoryVectors
from surreal_server import shared

OTHER = "another model"
ALL = Filter((a_place(), a_place("bank"), a_place(user="ada"), EVERYWHERE), states=tuple(State))
FILTERS = [
    ALL,
    wanted(),
    Filter((a_place("bank"), a_place(user="ada"))),
    Filter(ALL.places, states=(State.FORGOTTEN,)),
    Filter(ALL.places, tags=("odd",)),
    Filter(ALL.places, min_length=9),
]


@pytest.fixture
def store() -> Iterator[SurrealStore]:
    opened = SurrealStore(in_memory())
    yield opened
    opened.close()


@pytest.fixture
def on_server(tmp_path: Path) -> Iterator[tuple[SurrealStore, SurrealStore]]:
    """Two on one database of a server."""
    opened = [STORES["surreal-socket"](tmp_path) for _ in range(2)]
    yield opened[0], opened[1]
    for one in opened:
        one.close()


def begun(db: Database, model: str = MODEL, size: int = 4) -> SurrealStore:
    """As a process that has just begun, with pages of so many memories."""
    other = SurrealStore(db)
    _, index = other.by_signs.seen(db, model)
    if index:
        index.rows_at_once = index.source.page_from = size
    return other


def fill(store: SurrealStore, count: int, first: int = 0) -> list[str]:
    """So many memories, each by a change of its own."""
    named = [f"m{n}" for n in range(first, first + count)]
    for id in named:
        save(store, a_memory(id, f"text {id}"), embeddings=(an_embedding(id, a_vector(1)),))
    return named


def found(store: SurrealStore | SqliteStore, model: str = MODEL, where: Filter = ALL) -> dict[str, float]:
    """Everything that a filter lets through, with its cosine."""
    return {id: round(score, 3) for id, score in store.near(a_vector(1), model, where, -1.0).items()}


def spans(store: SurrealStore) -> list[tuple[int, int]]:
    return [(since, upto) for since, upto in store.db.rows("SELECT VALUE [id, upto] FROM sign_page")]


class Listening(Database):
    """Remembers what it was asked."""

    def __init__(self, db: Database) -> None:
        super().__init__(db._link)
        self.asked: list[str] = []

    def rows(self, query: str, **bound: object) -> list[object]:
        self.asked.append(query)
        return super().rows(query, **bound)


def reads_memories(store: SurrealStore) -> bool:
    """Whether a process that begins has to read the bits of memories one by one."""
    db = Listening(store.db)
    assert found(begun(db))
    return any("FROM memory WITH INDEX memory_changed" in query for query in db.asked)


def test_who_begins_makes_pages_and_the_next_reads_them(store):
    named = fill(store, 12)
    assert sorted(found(begun(store.db))) == sorted(named)
    assert spans(store) == [(0, 4), (4, 8), (8, 12)]
    assert not reads_memories(store)
    assert sorted(found(begun(store.db))) == sorted(named)
    assert store.faults() == []


def test_few_new_memories_are_read_and_many_become_a_page(store):
    fill(store, 8)
    found(begun(store.db))
    fill(store, 3, first=8)
    assert (len(found(begun(store.db))), spans(store)) == (11, [(0, 4), (4, 8)])
    fill(store, 1, first=11)
    assert (len(found(begun(store.db))), spans(store)) == (12, [(0, 4), (4, 8), (8, 12)])


def test_what_one_change_has_written_is_on_one_page(store):
    save(store, *(a_memory(f"m{n}", f"text {n}") for n in range(30)))
    save(store, embeddings=tuple(an_embedding(f"m{n}", a_vector(1)) for n in range(25)))
    for _ in range(2):
        assert len(found(begun(store.db))) == 25
    assert store.db.rows("SELECT VALUE array::len(nums) FROM sign_page") == [5, 25]


def test_a_page_tells_nothing_that_a_later_change_has_made_untrue(store):
    fill(store, 8)
    found(begun(store.db))
    save(store, a_memory("m0", "text m0", place=a_place("bank"), tags=("odd",)))
    save(store, a_memory("m1", "without vectors now", version=2))
    save(store, a_memory("m2", "text m2", status=Status(State.FORGOTTEN)))
    save(store, embeddings=(an_embedding("m3", a_vector(0, 1)), an_embedding("m4", a_vector(1), model=OTHER)))
    for _ in range(2):
        cold = begun(store.db)
        assert found(cold, where=wanted()) == {"m3": 0.0, "m5": 1.0, "m6": 1.0, "m7": 1.0}
        assert list(found(cold, where=FILTERS[2])) == ["m0"]
        assert list(found(cold, where=FILTERS[3])) == ["m2"]
        assert list(found(begun(store.db, OTHER), OTHER)) == ["m4"]
    assert (len(spans(store)), store.faults()) == (3, [])


def test_what_was_destroyed_leaves_the_pages_with_it(store):
    named = fill(store, 12)
    found(begun(store.db))
    save(store, a_memory("m1", "said differently", version=2))
    fill(store, 4, first=12)
    assert len(found(begun(store.db))) == 15
    assert len(spans(store)) == 4
    store.apply(Changes(at=START, purged=("m1",)))
    assert spans(store) == [(4, 8), (8, 12)]
    assert store.faults() == []
    left = sorted({*named, "m12", "m13", "m14", "m15"} - {"m1"})
    assert sorted(found(begun(store.db))) == left
    assert spans(store)[:3] == [(0, 4), (4, 8), (8, 12)]
    assert sorted(found(begun(store.db))) == left


def test_emptying_leaves_no_page_of_what_a_user_had(store):
    fill(store, 8)
    save(store, a_memory("hers", place=a_place(user="ada")), embeddings=(an_embedding("hers", a_vector(1)),))
    found(begun(store.db))
    store.empty("", START, store.change())
    held = {num for nums in store.db.rows("SELECT VALUE nums FROM sign_page") for num in nums}
    assert held <= set(store.db.rows("SELECT VALUE num FROM memory"))
    assert list(found(begun(store.db))) == ["hers"]
    assert store.faults() == []


def test_what_was_destroyed_after_it_was_read_gets_on_no_page(store):
    fill(store, 4)
    reader = Pages(store.db)
    (read,) = pages.read(store.db, 0, 4, 10)
    store.apply(Changes(at=START, purged=("m2",)))
    assert not reader.add(read)
    assert spans(store) == []


def test_who_destroys_while_a_page_is_made_begins_anew(store):
    """The page is made between what the purge reads and what it writes; the plan is then made again."""
    fill(store, 4)

    class Slow(Database):
        made = False

        def commit(self, batch):
            if not self.made and "DELETE" in batch.query:
                self.made = True
                assert Pages(store.db).add(*pages.read(store.db, 0, 4, 10))
            super().commit(batch)

    slow = Slow(store.db._link)
    SurrealStore(slow).apply(Changes(at=START, purged=("m2",)))
    assert (slow.made, spans(store)) == (True, [])


def test_of_two_that_make_the_same_page_one_does(store):
    fill(store, 4)
    readers = [Pages(store.db), Pages(store.db)]
    (read,) = pages.read(store.db, 0, 4, 10)
    assert [reader.add(read) for reader in readers] == [True, False]


def test_a_page_that_overlaps_another_is_left_out(store):
    fill(store, 8)
    (stale,) = pages.read(store.db, 0, 1, 20)
    save(store, a_memory("m0", "text m0", place=a_place("bank")))
    (whole,) = pages.read(store.db, 0, 9, 20)
    assert Pages(store.db).add(whole)
    assert Pages(store.db).add(Stretch(2, 6, stale.columns))
    fill(store, 1, first=8)
    assert sorted(found(begun(store.db), where=wanted())) == [f"m{n}" for n in range(1, 9)]


def test_a_page_of_a_form_that_is_not_known_is_not_read(store):
    named = fill(store, 8)
    found(begun(store.db))
    store.db.run("UPDATE sign_page SET form = 99, rows = <bytes> 'unknown'")
    assert sorted(found(begun(store.db))) == sorted(named)


def test_a_database_of_a_newer_version_gets_no_pages(store):
    named = fill(store, 8)
    store.db.run("CREATE migration:999 SET number = $number", number=len(migrations.STEPS) + 1)
    assert sorted(found(begun(store.db))) == sorted(named)
    assert spans(store) == []


def test_a_database_from_before_there_were_pages_gets_them():
    db = Database(EmbeddedLink.in_memory())
    db.call("use", NAMESPACE, DATABASE)
    db.run(f"{migrations.STEPS[0][1]} CREATE migration:1 SET number = 1")
    migrations.migrate(db)
    store = SurrealStore(db)
    named = fill(store, 8)
    for _ in range(2):
        assert sorted(found(begun(db))) == sorted(named)
    assert (len(spans(store)), store.faults()) == (2, [])
    store.close()


def test_a_page_is_dropped_when_later_ones_have_most_of_it(store):
    named = fill(store, 8)
    found(begun(store.db))
    save(store, embeddings=tuple(an_embedding(f"m{n}", a_vector(0, 1)) for n in range(7)))
    for _ in range(3):
        assert found(begun(store.db)) == dict.fromkeys(named, 0.0) | {"m7": 1.0}
    assert sorted(store.db.rows("SELECT VALUE array::len(nums) FROM sign_page")) == [1, 7]
    assert store.faults() == []


def test_reading_that_is_cut_short_goes_on_where_it_was(store):
    named = fill(store, 12)
    cold = begun(store.db)
    sight, index = cold.by_signs.seen(cold.db, MODEL)
    for _ in zip(range(2), index.source.stretches(sight, -1, 1), strict=False):
        pass
    assert len(spans(store)) == 2
    assert sorted(found(cold)) == sorted(named)
    assert sorted(found(begun(store.db))) == sorted(named)


def test_a_process_that_was_away_for_long_reads_pages_too(store):
    fill(store, 2)
    away = begun(store.db)
    assert len(found(away)) == 2
    for _ in range(5):
        save(store, *(a_memory(f"m{n}", f"text m{n}", place=a_place("bank")) for n in range(2)))
    named = fill(store, 510, first=2)
    found(begun(store.db, size=50))
    assert sorted(found(away)) == sorted(["m0", "m1", *named])
    assert found(away, where=wanted()).keys() == set(named)
    assert [since for since, _ in spans(store)] == [0, *(upto for _, upto in spans(store)[:-1])]


def test_who_begins_writes_and_destroys_at_once_agrees(on_server):
    one, other = on_server

    def writing(name: str) -> None:
        for n in range(12):
            fill(one, 1, first=100 * ord(name) + n)
            if n % 3 == 2:
                one.apply(Changes(at=START, purged=(f"m{100 * ord(name) + n - 1}",)))

    def beginning(_: str) -> None:
        for _ in range(12):
            found(begun(other.db, size=3))

    fill(one, 1)
    with ThreadPoolExecutor() as pool:
        done = [pool.submit(work, name) for work in (writing, beginning) for name in "ab"]
    for one_of_them in done:
        one_of_them.result()
    left = {"m0", *(f"m{100 * ord(name) + n}" for name in "ab" for n in range(12) if n % 3 != 1)}
    assert found(begun(other.db)).keys() == found(begun(one.db)).keys() == left
    assert one.faults() == []


def test_other_processes_make_pages_while_one_writes_and_one_destroys(on_server, tmp_path):
    one, _ = on_server
    many = [f"m{n}" for n in range(MemoryVectors.page_from + 100)]
    for first in range(0, len(many), 100):
        some = many[first : first + 100]
        vectors = tuple(an_embedding(id, a_vector(1, 1)) for id in some)
        save(one, *(a_memory(id, f"number {id}") for id in some), embeddings=vectors)
    address = f"{shared().url}#{(tmp_path / 'database').read_text()}"
    others = [start("read", address), start("read", address), start("write", address, "w", 20)]
    one.apply(Changes(at=START, purged=("m7",)))
    for process in others:
        said(process)
    said(start("read", address))
    assert spans(one)
    assert found(one).keys() == {*many, *(f"w-{n}" for n in range(20))} - {"m7"}
    assert one.faults() == []


class Life:
    """Random plans, told to both stores."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.surreal, self.sqlite = SurrealStore(in_memory()), SqliteStore(MEMORY)
        self.both = self.surreal, self.sqlite
        self.version = 1

    def step(self) -> None:
        weights = {self.write: 8, self.embed: 4, self.purge: 3, self.empty: 0.3, self.take_back: 0.5}
        self.random.choices(list(weights), list(weights.values()))[0]()

    def ids(self, most: int) -> list[str]:
        """Of memories that are there or never were: nobody gives an id a second time."""
        every = [f"m{n}" for n in range(80)]
        destroyed = self.sqlite.destroyed(every)
        usable = [id for id in every if id not in destroyed][:25]
        return self.random.sample(usable, min(self.random.randint(1, most), len(usable)))

    def write(self) -> None:
        self.save(self.ids(5))

    def save(self, for_ids: list[str]) -> None:
        self.version += 1
        memories = [
            a_memory(
                id,
                self.random.choice(("short", f"a longer text {id}")),
                place=self.random.choice(ALL.places) if id[-1] in "0123" else a_place(),
                tags=self.random.choice(((), ("odd",), ("odd", "even"))),
                status=Status(self.random.choice((State.ACTIVE, State.ACTIVE, State.FORGOTTEN))),
                when=at(self.random.randint(0, 50)),
                version=self.version,
            )
            for id in for_ids
        ]
        named = self.random.sample(("Vault", "Gateway", "Shop", "Queue", "Ledger"), 3)
        owner = memories[0].place.owner if memories else "shop"
        entities = tuple(an_entity(name, owner=owner, id=f"e-{name}-{owner}") for name in named)
        ends = [entity.id for entity in entities]
        self.tell(
            Changes(
                at=START,
                memories=tuple(memories),
                embeddings=self.embeddings(for_ids[::2]),
                entities=entities,
                links=tuple(Link(one.id, ends[0], MENTIONS, START) for one in memories),
                relations=tuple(Relation(ends[0], end, RELATED, START) for end in ends[1:]),
            )
        )

    def embed(self) -> None:
        self.tell(Changes(at=START, embeddings=self.embeddings(self.ids(4))))

    def embeddings(self, ids: list[str]) -> tuple:
        point = self.random.random
        model = self.random.choice((MODEL, MODEL, OTHER))
        made = {id: [a_vector(point(), point()) for _ in range(self.random.randint(1, 3))] for id in ids}
        return tuple(an_embedding(id, *vectors, model=model) for id, vectors in made.items())

    def purge(self) -> None:
        self.tell(Changes(at=START, purged=tuple(self.ids(2))))

    def empty(self) -> None:
        for store in self.both:
            store.empty("ada", START, store.change())

    def take_back(self) -> None:
        """What a copy has kept comes back."""
        kept = SqliteStore(MEMORY)
        copied(self.sqlite, kept)
        self.save(list(self.sqlite.memories(self.ids(9))))
        self.purge()
        for store in self.both:
            copied(kept, store)
        kept.close()

    def tell(self, plan: Changes) -> None:
        for store in self.both:
            store.apply(plan)

    def agree(self) -> None:
        for model in (MODEL, OTHER):
            size = self.random.randint(1, 7)
            for where in FILTERS:
                assert found(begun(self.surreal.db, model, size), model, where) == found(self.sqlite, model, where)
            for user in ("", "ada", "nobody"):
                assert self.surreal.counts(user, model) == self.sqlite.counts(user, model)
        assert self.surreal.faults() == []


@pytest.mark.parametrize("seed", range(6))
def test_whatever_is_written_pages_counts_and_memories_tell_the_same(seed):
    life = Life(seed)
    for _ in range(12):
        for _ in range(life.random.randint(1, 6)):
            life.step()
        life.agree()
    assert spans(life.surreal)
    for store in life.both:
        store.close()


def test_the_first_search_finds_by_pages_what_it_is_asked(store):
    fill(store, 8)
    found(begun(store.db))
    assert sorted(ids(begun(store.db).by_vector(a_vector(1), MODEL, wanted(), 20))) == sorted(f"m{n}" for n in range(8))
