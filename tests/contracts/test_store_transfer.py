"""Moving a whole memory: every record in portions, taken over exactly, and what was changed since."""

from making import (
    START,
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
    save,
    wanted,
)
from retain.domain.changes import Changes, ContradictionState, Restored
from retain.domain.conversation import Cursor
from retain.domain.graph import Tie
from retain.domain.listing import PastQuery
from retain.domain.memory import Event, Source
from retain.domain.session import Profile, Use
from retain.domain.transfer import Asked, Change, Destroyed, Kept, KeptSession, Served, Sort
from retain.domain.work import Work
from retain.stores.gathering import gathered
from retain.stores.sqlite.store import MEMORY, SqliteStore


def all_of(store, sort, limit=2):
    found, mark = [], None
    while True:
        portion = store.records(sort, mark, limit)
        found += portion.records
        mark = portion.mark
        if mark is None:
            return found


def test_memories_come_in_the_order_in_which_they_were_made_with_all_that_is_theirs(store):
    said = a_memory("z", "first", session="s1")
    save(store, said, a_memory("a", "second"), history=(an_entry(said),), entities=(an_entity("Shop"),))
    save(
        store,
        a_memory("m", "third"),
        links=(a_link("z", "Shop", "uses"), a_link("z", "Shop")),
        embeddings=(an_embedding("z", a_vector(1), a_vector(0, 1), missing=1),),
    )
    store.note_uses([Use(("z",), at(5))])
    first, second, third = all_of(store, Sort.MEMORIES)
    assert [whole.memory.id for whole in (first, second, third)] == ["z", "a", "m"]
    assert (first.memory, first.kept) == (said, Kept("z", 1, 1, at(5)))
    assert first.embedding == an_embedding("z", a_vector(1), a_vector(0, 1), missing=1)
    assert (first.history, first.links) == ((an_entry(said),), (a_link("z", "Shop"), a_link("z", "Shop", "uses")))
    assert (second.kept, second.embedding, second.history, second.links) == (Kept("a", 0), None, (), ())
    assert store.wholes(["m", "gone", "z"]) == [first, third]


def test_every_other_record_comes_once_in_a_fixed_order(store):
    project, other = a_project("p1", "shop"), a_project("p2", "till")
    profile = Profile(project, "The Shop", START, at(1), "ada", "sells")
    works = tuple(Work(f"w{n}", "Tidy", "p1", at(n), tags=("a", "b")) for n in range(3))
    cursors = tuple(Cursor(f"t{n}", "s1", n, at(n), "line", extractions=n) for n in range(5))
    entities = tuple(an_entity(name) for name in ("Till", "Shop", "Desk"))
    relations = (a_relation("Shop", "Till", weight=0.5), a_relation("Desk", "Shop", by_rule=True))
    ties = (Tie("m1", "m2", "supports", START, 0.25), Tie("m2", "m1", "similar_to", START))
    runs = (a_run("r1"), a_run("r2", undone=at(3), metrics={"found": 2}))
    disputes = (a_contradiction("c1", "m1", "m2"),)
    save(
        store,
        *(a_memory(f"m{n}", f"text {n}") for n in (1, 2, 3)),
        projects=(project, other),
        profiles=(profile,),
        works=works,
        cursors=cursors,
        entities=entities,
        relations=relations,
        ties=ties,
        runs=runs,
        contradictions=disputes,
        sessions=(a_session("s1"), a_session("s2", user="ada", ended=at(9), summary="done")),
    )
    store.mark_reflected("s2", "ada")
    store.note_uses([Use(("m1", "m2"), at(5), "s1")])
    store.note_query(PastQuery("when do we deploy", 1, 3, at(6)), None, "")
    store.note_query(PastQuery("who sells", 2, 1, at(7)), "p1", "ada")
    store.apply(Changes(at=at(8), purged=("m3",)))
    assert all_of(store, Sort.PROJECTS) == [project, other]
    assert all_of(store, Sort.PROFILES) == [profile]
    assert all_of(store, Sort.WORKS) == list(works)
    assert all_of(store, Sort.CURSORS) == list(cursors)
    assert all_of(store, Sort.ENTITIES) == list(entities)
    assert sorted(all_of(store, Sort.RELATIONS), key=lambda one: one.source) == sorted(
        relations, key=lambda one: one.source
    )
    assert all_of(store, Sort.TIES) == list(ties)
    assert all_of(store, Sort.RUNS) == list(runs)
    assert all_of(store, Sort.CONTRADICTIONS) == list(disputes)
    sessions = [
        KeptSession(a_session("s1", recalls=1)),
        KeptSession(a_session("s2", user="ada", ended=at(9), summary="done"), True),
    ]
    assert all_of(store, Sort.SESSIONS) == sessions
    assert set(all_of(store, Sort.QUESTIONS)) == {
        Asked(PastQuery("when do we deploy", 1, 3, at(6)), "", ""),
        Asked(PastQuery("who sells", 2, 1, at(7)), "p1", "ada"),
    }
    assert all_of(store, Sort.SERVED) == [Served("s1", "", "m1"), Served("s1", "", "m2")]
    assert all_of(store, Sort.DESTROYED) == [Destroyed("m3", at(8))]


def test_an_empty_store_has_no_records(store):
    assert [all_of(store, sort) for sort in Sort] == [[] for _ in Sort]


def restore(store, **fields):
    return store.apply(Changes(at=START, restored=Restored(**fields)))


def test_a_restored_memory_is_as_it_was_there_however_often_it_is_written(store):
    memory = a_memory("m1", "said in the middle", session="s1")
    save(store, a_memory("m1", "old words", session="s1"), history=(an_entry(a_memory("m1")),))
    save(store, a_memory("m2"), entities=(an_entity("Shop"),), links=(a_link("m1", "Shop"),))
    store.note_uses([Use(("m1", "m2"), at(1))])
    plan = Changes(
        at=START,
        memories=(memory,),
        history=(an_entry(memory), an_entry(memory, Event.UPDATED)),
        links=(a_link("m1", "Shop", "uses"),),
        embeddings=(an_embedding("m1", a_vector(1)),),
        restored=Restored(memories=(Kept("m1", 7, 3, at(2)),)),
    )
    for _ in range(2):
        store.apply(plan)
    (whole,) = store.wholes(["m1"])
    assert (whole.memory, whole.kept, whole.embedding) == (memory, Kept("m1", 7, 3, at(2)), plan.embeddings[0])
    assert (whole.history, whole.links) == (plan.history, plan.links)
    store.apply(Changes(at=START, memories=(memory,), restored=Restored(memories=(Kept("m1", 2),))))
    (bare,) = store.wholes(["m1"])
    assert (bare.kept, bare.history, bare.links) == (Kept("m1", 2), (), ())
    assert store.faults() == []


def test_a_restored_memory_is_no_longer_destroyed(store):
    memory = a_memory("m1")
    save(store, memory)
    store.apply(Changes(at=START, purged=("m1",)))
    store.apply(Changes(at=START, memories=(memory,), restored=Restored(memories=(Kept("m1", 0),))))
    assert (store.destroyed(["m1"]), store.faults()) == (set(), [])
    assert ids(store.listed(wanted(), 5)) == ["m1"]


def test_what_was_destroyed_elsewhere_is_known_here(store):
    save(store, a_memory("m1"))
    restored = Restored(destroyed=(Destroyed("m1", at(3)), Destroyed("x", at(4))))
    change = store.apply(Changes(at=at(9), purged=("m1",), restored=restored)).change
    assert all_of(store, Sort.DESTROYED) == [Destroyed("m1", at(3)), Destroyed("x", at(4))]
    assert {(one.memory, one.destroyed) for one in store.changed(change - 1, 10)} == {("m1", True), ("x", True)}
    assert store.faults() == []


def test_restored_entities_and_relations_replace_what_is_there(store):
    save(
        store,
        a_memory("m1"),
        entities=(an_entity("Shop"), an_entity("Till")),
        links=(a_link("m1", "Till"),),
        relations=(a_relation("Shop", "Till", weight=0.5),),
    )
    renamed, rival = an_entity("SHOP", id="e-Shop"), an_entity("Till", id="e-2")
    ended = a_relation("Shop", "2", weight=0.25, by_rule=True, valid_until=at(3))
    for _ in range(2):
        restore(store, entities=(renamed, rival), relations=(ended,))
    assert all_of(store, Sort.ENTITIES) == [renamed, rival]
    assert all_of(store, Sort.RELATIONS) == [ended]
    assert (store.links(["m1"]), store.faults()) == ([], [])


def test_restored_records_are_taken_as_they_are(store):
    save(
        store,
        a_memory("m1"),
        a_memory("m2", "other"),
        sessions=(a_session("s1", summary="here"),),
        cursors=(Cursor("t1", "s1", 90, START, extractions=4),),
        contradictions=(a_contradiction("c1", "m1", "m2"),),
    )
    store.note_query(PastQuery("when", 5, 1, at(9)), None, "")
    session = KeptSession(a_session("s1", recalls=4, ended=at(2)), True)
    cursor = Cursor("t1", "s2", 10, START)
    decided = a_contradiction("c2", "m1", "m2", state=ContradictionState.RESOLVED, winner="m2", resolved=at(5))
    lost = a_contradiction("c3", "m1", "nowhere")
    asked, served = Asked(PastQuery("When", 2, 7, at(1)), "", ""), Served("s1", "", "m1")
    for _ in range(2):
        restore(
            store,
            sessions=(session,),
            cursors=(cursor,),
            contradictions=(decided, lost),
            questions=(asked,),
            served=(served,),
        )
    assert all_of(store, Sort.SESSIONS) == [session]
    assert (all_of(store, Sort.CURSORS), all_of(store, Sort.CONTRADICTIONS)) == ([cursor], [decided])
    assert (all_of(store, Sort.QUESTIONS), all_of(store, Sort.SERVED)) == ([asked], [served])


def test_changes_are_told_in_order_and_never_divided(store):
    start = store.change()
    first = save(store, a_memory("m1"), a_memory("m2", "two"), a_memory("m3", "three")).change
    second = save(store, a_memory("m4", "four")).change
    third = save(store, a_memory("m1", "one again")).change
    assert store.changed(start, 1) == [Change(first, "m2"), Change(first, "m3")]
    assert store.changed(first, 10) == [Change(second, "m4"), Change(third, "m1")]
    gone = store.apply(Changes(at=START, purged=("m2",))).change
    assert store.changed(third, 10) == [Change(gone, "m2", destroyed=True)]
    assert store.changed(gone, 10) == []


def test_changes_of_one_user_alone(store):
    start = store.change()
    save(store, a_memory("m1"), a_memory("m2", place=a_place(user="ada")))
    assert [one.memory for one in store.changed(start, 10, "ada")] == ["m2"]
    assert [one.memory for one in store.changed(start, 10, "")] == ["m1"]


def test_relations_among_entities_have_both_ends_there(store):
    inside, ended = a_relation("A", "B"), a_relation("B", "A", "was_part_of")
    save(store, entities=tuple(map(an_entity, "ABC")), relations=(inside, a_relation("A", "C")))
    store.apply(Changes(at=START, stated=(a_relation("B", "A", "was_part_of", valid_until=at(5)),)))
    found = store.relations_among(["e-A", "e-B"])
    assert {one.id for one in found} == {inside.id, ended.id}


def test_the_life_of_a_store_stays_the_same(store):
    life = store.life()
    save(store, a_memory())
    assert store.life() == life != ""


def test_what_is_gathered_makes_another_store_the_same(store):
    other = SqliteStore(MEMORY)
    memory = a_memory("m1", "The Shop uses the Till", session="s1", source=Source(tool="chat"))
    save(
        store,
        memory,
        a_memory("m2", "other"),
        history=(an_entry(memory),),
        embeddings=(an_embedding("m1", a_vector(1)),),
        entities=(an_entity("Shop"), an_entity("Till")),
        links=(a_link("m1", "Shop"), a_link("m1", "Till")),
        relations=(a_relation("Shop", "Till"),),
        ties=(Tie("m1", "m2", "supports", START),),
        contradictions=(a_contradiction("c1", "m1", "m2"),),
        projects=(a_project("shop"),),
        sessions=(a_session("s1"),),
    )
    for _ in range(2):
        other.apply(gathered(store, ["m1", "m2", "gone"]))
    sorts = set(Sort) - {Sort.DESTROYED}
    assert {sort: all_of(other, sort) for sort in sorts} == {sort: all_of(store, sort) for sort in sorts}
    assert other.faults() == []
    other.close()
