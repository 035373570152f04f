"""The same graph in both stores gives the same answers."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from making import a_link, a_memory, a_place, a_relation, an_entity, at, save, wanted
from retain.domain.changes import Restored
from retain.domain.graph import MENTIONS, SAID_BY, Direction, Relation, Steps
from retain.domain.memory import Kind, State, Status
from retain.domain.transfer import Kept
from retain.ports import Store, Subgraph
from retain.stores.sqlite.store import MEMORY, SqliteStore
from retain.stores.surreal import migrations
from retain.stores.surreal.graph import edges, graph, kept_edges, mentions, staleness
from retain.stores.surreal.link.connection import in_memory
from retain.stores.surreal.link.database import Database
from retain.stores.surreal.store import SurrealStore

NOW = at(500)
OWNERS = ["shop", "site"]
ENTITIES = [f"e-E{number}" for number in range(60)]
MEMORIES = [f"m{number:03}" for number in range(300)]


def fill(*stores: Store) -> None:
    """300 memories, 60 entities of which a few are hubs, 200 relations; some stale, some ended, some not begun."""
    chance = random.Random(7)

    def somewhere() -> str:
        return f"E{min(int(60 * chance.random() ** 3), 59)}"

    entities = tuple(
        an_entity(f"E{n}", chance.choice(["file", "team"]), chance.choice([*OWNERS, "other"])) for n in range(60)
    )
    memories = [
        a_memory(
            id,
            f"text {id}",
            place=a_place(chance.choice(["shop", "shop", "site"])),
            when=at(chance.randrange(400)),
            kind=chance.choice(list(Kind)),
        )
        for id in MEMORIES
    ]
    forgotten = [id for id in MEMORIES if chance.random() < 0.4]
    links = {
        (memory, name): a_link(
            memory, name, chance.choice([MENTIONS, MENTIONS, SAID_BY]), by_rule=chance.random() < 0.7
        )
        for memory in MEMORIES
        for name in {somewhere() for _ in range(3)}
    }
    relations = {
        relation.id: relation for relation in (_relation(chance, somewhere(), somewhere()) for _ in range(200))
    }
    for store in stores:
        save(store, *memories, entities=entities, links=tuple(links.values()), relations=tuple(relations.values()))
        save(store, stale=tuple((id, True) for id in forgotten))
        save(store, *(replace(m, status=Status(State.FORGOTTEN)) for m in memories if m.id in forgotten[::2]))


def _relation(chance: random.Random, source: str, target: str) -> Relation:
    relation = a_relation(source, target, chance.choice(["uses", "owns", "knows"]), weight=chance.random())
    begins = at(chance.randrange(800)) if chance.random() < 0.3 else None
    ends = NOW + timedelta(seconds=chance.randrange(-300, 300)) if chance.random() < 0.2 else None
    return replace(relation, by_rule=chance.random() < 0.7, valid_from=begins, valid_until=ends)


@pytest.fixture(scope="module")
def stores() -> Iterator[tuple[Store, Store]]:
    both = SqliteStore(MEMORY), SurrealStore(in_memory())
    fill(*both)
    yield both
    for store in both:
        store.close()


@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize("relation", [None, "uses"])
@pytest.mark.parametrize("depth", [0, 1, 3])
def test_the_neighbourhood_is_the_same(stores, direction, relation, depth):
    for seeds in (ENTITIES[:1], ENTITIES[40:44], ["nobody", ENTITIES[9]], []):
        sqlite, surreal = (store.neighbourhood(seeds, direction, relation, depth, 20) for store in stores)
        assert surreal == sqlite


@pytest.mark.parametrize("relation", [None, "owns"])
def test_the_most_connected_are_the_same(stores, relation):
    for owners, limit in ((OWNERS, 10), (["shop"], 60), (["nobody"], 5)):
        sqlite, surreal = (store.most_connected(owners, relation, limit) for store in stores)
        assert surreal == sqlite


def test_some_of_the_relations_are_stale_and_some_are_not(stores):
    marks = {relation.stale for relation in stores[1].most_connected(OWNERS, None, 60).relations}
    assert marks == {True, False}


@pytest.mark.parametrize("now", [NOW, at(0)])
@pytest.mark.parametrize(
    "fields", [{}, {"kinds": (Kind.EPISODIC,)}, {"states": (State.FORGOTTEN,)}, {"after": at(390)}]
)
def test_what_is_around_is_the_same(stores, fields, now):
    seeds = [(ENTITIES[:1], []), ([], MEMORIES[:20]), (ENTITIES[5:25], MEMORIES[::30]), (["nobody"], ["nobody"])]
    for entities, memories in seeds:
        sqlite, surreal = (store.around(entities, memories, wanted(**fields), now) for store in stores)
        assert surreal == sqlite


@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize("when", [None, at(0), NOW])
def test_what_is_related_is_the_same(stores, direction, when):
    for steps in (Steps(1), Steps(3), Steps(3, relation="knows"), Steps(3, most_entities=7, most_relations=5)):
        asked = replace(steps, direction=direction, at=when)
        for start in (ENTITIES[0], ENTITIES[30], "nobody"):
            sqlite, surreal = (store.related(start, asked) for store in stores)
            assert surreal == sqlite


def test_links_are_the_same(stores):
    sqlite, surreal = (store.links(MEMORIES[10:60]) for store in stores)
    assert surreal == sorted(sqlite, key=lambda pair: (pair[0].memory, pair[0].entity))
    assert len(surreal) > 50


@pytest.mark.parametrize("fields", [{}, {"kinds": (Kind.SEMANTIC,)}, {"states": (State.ACTIVE, State.FORGOTTEN)}])
def test_the_newest_links_and_their_number_are_the_same(stores, fields):
    for entities in (ENTITIES[:1], ENTITIES[1:9], ENTITIES):
        asked = wanted(**fields)
        counts = [store.link_counts(entities, asked) for store in stores]
        assert counts[0] == counts[1]
        for limit in (5, 2000):
            sqlite, surreal = (store.linked(entities, asked, limit) for store in stores)
            assert [link.memory for link in surreal] == [link.memory for link in sqlite]
        assert set(surreal) == set(sqlite)


def test_numbers_names_and_speakers_are_the_same(stores):
    sqlite, surreal = (
        (
            store.overview(OWNERS),
            sorted(store.entity_names(OWNERS)),
            store.entities_named([f"e{number}" for number in range(200)], OWNERS),
            [store.speakers(ENTITIES, number) for number in (1, 3, 20)],
        )
        for store in stores
    )
    assert surreal == sqlite


def test_a_hub_is_read_in_part_with_the_same_outcome(stores, monkeypatch):
    """Entities and relations that are few enough to read one by one are taken for hubs."""
    monkeypatch.setattr(mentions, "_HUB", 1)
    monkeypatch.setattr(staleness, "_MOST_LINKS", 8)
    monkeypatch.setattr(edges, "_FEW", 3)
    monkeypatch.setattr(graph, "_WIDE", 4)
    for entities in (ENTITIES[:1], ENTITIES[:20]):
        sqlite, surreal = (
            (
                [link.memory for link in store.linked(entities, wanted(), 10)],
                store.neighbourhood(entities, Direction.BOTH, None, 3, 60),
                store.around(entities, MEMORIES[:9], wanted(), NOW),
            )
            for store in stores
        )
        assert surreal == sqlite


def test_of_a_hub_only_the_links_that_matter_are_read(stores, monkeypatch):
    db = stores[1].db
    pairs = {(r.source, r.target) for r in stores[1].most_connected(OWNERS, None, 60).relations}
    stale = staleness.stale_pairs(db, pairs)
    monkeypatch.setattr(staleness, "_MOST_LINKS", 8)
    assert {pair for pair in pairs if staleness.stale_pairs(db, {pair})} == stale
    assert 0 < len(stale) < len(pairs)


def seen(store: Store) -> tuple[Subgraph, ...]:
    """Around a hub, and around many."""
    return tuple(store.around(some, MEMORIES[::40], wanted(), NOW) for some in (ENTITIES[:1], ENTITIES[3:23]))


def fresh(store: SurrealStore) -> SurrealStore:
    """As another process has it, that has read nothing yet."""
    return SurrealStore(store.db)


Act = Callable[[Store], Any]
NEW, LAST = a_memory("m900", "text m900"), a_memory("m901", "text m901")
GUESSED = a_link("m901", "E0", by_rule=True)
ACTS: dict[str, Act] = {
    "memories are stored": lambda store: save(store, NEW, LAST, links=(a_link("m900", "E0"), a_link("m900", "E9"))),
    "a memory that is there is linked": lambda store: save(store, links=(GUESSED,)),
    "a link is stated that a rule had read": lambda store: save(store, LAST, links=(replace(GUESSED, by_rule=False),)),
    "a link is cut": lambda store: save(store, unlinked=(("m901", "e-E0"),)),
    "a link is cut of a memory that is saved": lambda store: save(store, NEW, unlinked=(("m900", "e-E9"),)),
    "a memory becomes stale": lambda store: save(store, stale=(("m900", True),)),
    "a memory that is saved is stale no more": lambda store: save(store, NEW, stale=(("m900", False),)),
    "a memory is forgotten": lambda store: save(store, replace(NEW, status=Status(State.FORGOTTEN))),
    "a memory is there again": lambda store: save(store, NEW),
    "a memory moves": lambda store: save(store, replace(NEW, place=a_place("site"))),
    "a relation is read": lambda store: save(store, relations=(a_relation("E0", "E55", "wants", weight=0.95),)),
    "a relation is read again": lambda store: save(store, relations=(a_relation("E0", "E55", "wants", weight=0.5),)),
    "a relation is stated": lambda store: save(store, stated=(a_relation("E0", "E7", "uses", weight=1.0),)),
    "a relation ends": lambda store: save(
        store, stated=(replace(a_relation("E0", "E7", "uses", weight=1.0), valid_until=at(1)),)
    ),
    "an entity is there": lambda store: save(
        store,
        a_memory("m902", "text m902"),
        entities=(an_entity("Lone"),),
        links=(a_link("m902", "Lone"),),
        relations=(a_relation("E15", "Lone", weight=0.99),),
    ),
    "an entity is destroyed with its memory": lambda store: save(store, purged=("m902",)),
    "memories are destroyed": lambda store: save(store, purged=tuple(MEMORIES[200:])),
    "a memory is taken over": lambda store: save(
        store, NEW, links=(a_link("m900", "E0"),), restored=Restored(memories=(Kept("m900", 7),))
    ),
    "relations are taken over": lambda store: save(
        store, restored=Restored(relations=(a_relation("E0", "E3", "takes", weight=1.0),))
    ),
    "all is destroyed": lambda store: store.empty("", NOW, store.change()),
}


@pytest.fixture
def filled() -> Iterator[SurrealStore]:
    store = SurrealStore(in_memory())
    fill(store)
    yield store
    store.close()


def test_what_a_process_keeps_of_the_graph_follows_all_that_others_write(filled):
    other, before = fresh(filled), seen(filled)
    for what, act in ACTS.items():
        act(other)
        after = seen(filled)
        assert after == seen(fresh(filled)), what
        assert after != before, f"{what}, and nothing is to be seen of it"
        before = after


def test_more_changes_than_are_looked_at_make_a_process_begin_anew(filled, monkeypatch):
    seen(filled)
    monkeypatch.setattr(kept_edges, "_MOST_CHANGED", 0)
    save(fresh(filled), NEW, links=(a_link("m900", "E0"),))
    assert seen(filled) == seen(fresh(filled))


def test_no_more_is_kept_than_has_room(filled, monkeypatch):
    monkeypatch.setattr(kept_edges, "MOST_KEPT", 5)
    kept = kept_edges.KeptEdges()
    found = kept.seen(filled.db).related(ENTITIES)
    assert kept.seen(filled.db).related(ENTITIES) == found
    assert len(kept.ways(ENTITIES)) == 5


def test_edges_are_read_once(filled):
    db, kept = Counting(filled.db), kept_edges.KeptEdges()
    first = _read(kept, db)
    asked = len(db.queries)
    assert _read(kept, db) == first
    # Once for what has changed.
    assert len(db.queries) == asked + 1


def _read(kept: kept_edges.KeptEdges, db: Database) -> Any:
    walk = kept.seen(db)
    return walk.related(ENTITIES), walk.spoken(dict.fromkeys(ENTITIES, 5))


def test_links_are_read_again_where_more_are_wanted(filled):
    kept = kept_edges.KeptEdges()
    few, many = (kept.seen(filled.db).spoken({ENTITIES[0]: number})[ENTITIES[0]] for number in (3, 30))
    assert (len(few), len(many)) == (3, 30)
    assert kept.newest({ENTITIES[0]: 5}) == {ENTITIES[0]: many[:5]}


def test_what_a_walk_has_read_is_not_kept_once_another_has_seen_more(filled):
    kept = kept_edges.KeptEdges()
    late = kept.seen(filled.db)
    save(filled, relations=(a_relation("E0", "E55", "wants", weight=0.95),))
    kept.seen(filled.db)
    late.related(ENTITIES)
    late.spoken({ENTITIES[0]: 3})
    assert not kept.ways(ENTITIES)
    assert not kept.newest({ENTITIES[0]: 3})


def test_nothing_is_kept_of_a_database_in_the_place_of_which_is_another(filled):
    seen(filled)
    filled.db.run("UPDATE counter:life SET value = 'another'; DELETE relates_to; DELETE memory_entity")
    assert seen(filled) == seen(fresh(filled))


def test_relations_from_before_are_kept_and_seen_to_change(filled):
    filled.db.run(
        """REMOVE INDEX relation_changed ON relates_to; REMOVE EVENT entity_cut ON entity; DELETE counter:cut;
           UPDATE relates_to SET changed = NONE; REMOVE FIELD changed ON relates_to;
           DELETE migration WHERE number >= 3"""
    )
    migrations.migrate(filled.db)
    before = seen(filled)
    save(fresh(filled), relations=(a_relation("E0", "E7", "uses", weight=0.9),))
    assert seen(filled) == seen(fresh(filled)) != before


class Counting(Database):
    """The same database, and what it is asked."""

    def __init__(self, db: Database) -> None:
        super().__init__(db._link)
        self.queries: list[str] = []

    def run(self, query: str, **bound: Any) -> list[Any]:
        self.queries.append(query)
        return super().run(query, **bound)
