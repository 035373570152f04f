"""Emptying: one user loses everything, others nothing."""

from dataclasses import astuple, replace

import pytest

from making import (
    MODEL,
    START,
    a_chunk,
    a_code_file,
    a_code_index,
    a_contradiction,
    a_link,
    a_memory,
    a_place,
    a_project,
    a_relation,
    a_run,
    a_session,
    a_vector,
    an_embedding,
    an_entity,
    an_entry,
    at,
    ids,
    in_code,
    save,
    wanted,
)
from retain.domain.code import index_key
from retain.domain.memory import Place, Scope, State, Status
from retain.domain.session import Use


def everything(store, user, count=3):
    """Some of all that there is, of one user, under ids that begin with `<user>-`."""
    place = a_place(user=user)
    memories = [
        a_memory(f"{user}-{n}", f"zanzibar {n} of {user}", place=place, session="s1", tags=("t",)) for n in range(count)
    ]
    memories[-1] = replace(memories[-1], status=Status(State.FORGOTTEN))
    owners = (place.owner, Place(Scope.USER, user).owner)
    entities = tuple(
        replace(an_entity(name, owner=owners[n % 2]), id=f"e-{user}{name}") for n, name in enumerate("ABC")
    )
    save(
        store,
        *memories,
        history=tuple(map(an_entry, memories)),
        embeddings=tuple(an_embedding(m.id, a_vector(1)) for m in memories),
        entities=entities,
        links=tuple(a_link(m.id, f"{user}A") for m in memories),
        relations=(a_relation(f"{user}A", f"{user}B"), a_relation(f"{user}B", f"{user}C")),
        contradictions=(a_contradiction(f"{user}-c", memories[0].id, memories[1].id),),
        runs=(a_run(f"{user}-run", place.key),),
        sessions=(a_session("s1", user=user, project="shop"),),
        projects=(a_project("shop"), a_project(f"only-{user}", f"only-{user}")),
    )
    save(store, a_memory(f"{user}-only", "elsewhere", place=a_place(f"only-{user}", user)))
    store.note_uses([Use((memories[0].id,), at(1), "s1", user)])
    return [memory.id for memory in memories]


def counted(store, user):
    counts = store.counts(user, MODEL)
    return sum(counts.by_state.values()), counts.entities, counts.relations


@pytest.fixture
def two(store):
    return everything(store, "ada"), everything(store, "eve")


def test_nothing_is_destroyed_once_somebody_has_written_since(store, two):
    before = store.change()
    note = a_memory("what came in between")
    save(store, note)
    assert store.empty("ada", at(60), before) is None
    assert note.id in store.memories([note.id]) and counted(store, "ada")[0] == 4


def test_the_counts_are_of_what_was_there(store, two):
    gone = store.empty("ada", at(60), store.change())
    assert (gone.memories, gone.entities, gone.relations, gone.code_chunks) == (4, 3, 2, 0)
    assert astuple(store.empty("ada", at(61), store.change())) == (0, 0, 0, 0)
    assert astuple(store.empty("nobody", at(62), store.change())) == (0, 0, 0, 0)


def test_nothing_of_the_user_is_left(store, two):
    mine, _ = two
    store.empty("ada", at(60), store.change())
    here = wanted(places=(a_place(user="ada"),), states=())
    assert store.memories(mine) == {}
    assert ids(store.listed(here, 9)) == ids(store.by_words(["zanzibar"], here, 9)) == []
    assert ids(store.by_vector(a_vector(1), MODEL, here, 9)) == []
    assert store.history(*mine) == store.links(mine) == store.contradictions(mine) == []
    assert store.entities(["e-adaA", "e-adaB", "e-adaC"]) == []
    assert (store.session("s1", "ada"), store.served("s1", "ada"), store.run("ada-run")) == (None, 0, None)
    assert counted(store, "ada") == (0, 0, 0)
    assert store.faults() == []


def test_code_goes_too_and_that_of_others_stays(store):
    for user, count in (("ada", 3), ("eve", 2)):
        index = a_code_index(user=user)
        store.claim_index(index, at(-60))
        chunks = [a_chunk(f"{user}{n}", line=10 * n + 1) for n in range(count)]
        store.save_code(index.key, [a_code_file("src/a.py", *chunks)], (), ())
    assert store.empty("ada", at(60), store.change()).code_chunks == 3
    assert (store.indexes("ada"), len(store.indexes("eve"))) == ([], 1)
    both = in_code(index_key("shop", "ada"), index_key("shop", "eve"))
    assert {chunk.chunk.name for chunk in store.code_named(["ada0", "eve0"], both, 9)} == {"eve0"}
    assert [project.id for project in store.projects()] == ["shop"]
    assert store.faults() == []


def test_others_keep_all_of_theirs(store, two):
    _, theirs = two
    before = counted(store, "eve")
    store.empty("ada", at(60), store.change())
    here = wanted(places=(a_place(user="eve"),))
    assert counted(store, "eve") == before == (4, 3, 2)
    assert len(store.by_vector(a_vector(1), MODEL, here, 9)) == len(store.by_words(["zanzibar"], here, 9)) == 2
    assert len(store.history(*theirs)) == len(store.links(theirs)) == 3
    assert len(store.contradictions(theirs)) == store.served("s1", "eve") == 1
    assert store.session("s1", "eve") and store.run("eve-run")


def test_the_local_user_is_one_user(store, two):
    everything(store, "")
    store.empty("", at(60), store.change())
    assert counted(store, "") == (0, 0, 0)
    assert counted(store, "ada") == counted(store, "eve") == (4, 3, 2)


def test_names_that_look_alike_are_told_apart(store):
    for user in ("ada", "a_a", "Ada", "xada"):
        everything(store, user)
    store.empty("a_a", at(60), store.change())
    assert [len(store.entities([f"e-{user}A", f"e-{user}B"])) for user in ("ada", "a_a", "Ada", "xada")] == [2, 0, 2, 2]


def test_a_project_goes_with_the_last_that_anybody_has_in_it(store, two):
    store.empty("ada", at(60), store.change())
    assert [project.id for project in store.projects()] == ["only-eve", "shop"]
    store.empty("eve", at(61), store.change())
    assert store.projects() == []


def test_what_is_stored_afterwards_is_there(store, two):
    store.empty("ada", at(60), store.change())
    save(store, a_memory("new", "zanzibar again", place=a_place(user="ada")))
    assert ids(store.by_words(["zanzibar"], wanted(places=(a_place(user="ada"),)), 9)) == ["new"]
    assert (counted(store, "ada"), store.faults()) == ((1, 0, 0), [])


def test_another_process_sees_it_at_once(two_stores):
    one, other = two_stores
    save(one, a_memory("m1", "zanzibar"), embeddings=(an_embedding("m1", a_vector(1)),))
    assert ids(other.by_vector(a_vector(1), MODEL, wanted(), 9)) == ids(other.by_words(["zanzibar"], wanted(), 9))
    one.empty("", START, one.change())
    assert ids(other.by_vector(a_vector(1), MODEL, wanted(), 9)) == []
    assert ids(other.by_words(["zanzibar"], wanted(), 9)) == ids(other.listed(wanted(), 9)) == []
