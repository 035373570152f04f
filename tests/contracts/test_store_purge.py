"""What is purged is gone: from every answer, from every process, and from the bytes on disk."""

import pytest

from making import (
    MODEL,
    START,
    a_contradiction,
    a_link,
    a_memory,
    a_relation,
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
from retain.domain.changes import Changes
from retain.domain.graph import Direction
from retain.domain.session import Use


def purge(store, *memories):
    return store.apply(Changes(at=at(60), purged=memories))


@pytest.fixture
def secret(store):
    memory = a_memory("m1", "the secret zanzibar", tags=("zanzibar",), session="s1")
    other = a_memory("m2", "the summary", derived_from=("m1", "m3"))
    save(
        store,
        memory,
        other,
        history=(an_entry(memory),),
        embeddings=(an_embedding("m1", a_vector(1)),),
        entities=(an_entity("Zanzibar"),),
        links=(a_link("m1", "Zanzibar"),),
        contradictions=(a_contradiction("c1", "m1", "m2"),),
    )
    store.note_uses([Use(("m1",), at(1))])
    store.note_uses([Use(("m1",), at(1), "s1")])
    return memory


def test_a_purged_memory_is_in_no_answer(store, secret):
    purge(store, "m1")
    assert store.memories(["m1"]) == {}
    assert store.history("m1") == []
    assert ids(store.listed(wanted(), 9)) == ["m2"]
    assert ids(store.by_words(["zanzibar"], wanted(), 9)) == []
    assert ids(store.by_vector(a_vector(1), MODEL, wanted(), 9)) == []
    assert store.vectors(["m1"], MODEL) == {}
    assert store.links(["m1"]) == store.contradictions(["m1", "m2"]) == []
    assert store.served("s1", "") == 0
    assert store.faults() == []


def test_what_was_derived_from_it_loses_the_link_and_nothing_else(store, secret):
    before = store.memories(["m2"])["m2"].memory
    purge(store, "m1")
    after = store.memories(["m2"])["m2"].memory
    assert after.derived_from == ("m3",)
    assert (after.text, after.version) == (before.text, before.version)


def test_an_entity_of_which_another_memory_speaks_stays_with_its_relations(store, secret):
    shared = (a_link("m2", "Zanzibar"), a_link("m2", "Spice"), a_link("m1", "Spice"))
    save(store, entities=(an_entity("Spice"),), links=shared, relations=(a_relation("Spice", "Zanzibar"),))
    purge(store, "m1")
    assert [entity.name for entity in store.entities_named(["zanzibar"], ["shop"])] == ["Zanzibar"]
    assert len(store.neighbourhood(["e-Zanzibar"], Direction.BOTH, None, 1, 9).relations) == 1


def test_an_entity_of_which_only_it_spoke_goes_with_its_relations(store, secret):
    save(
        store,
        entities=(an_entity("Spice"),),
        links=(a_link("m2", "Spice"),),
        relations=(a_relation("Spice", "Zanzibar"), a_relation("Zanzibar", "Spice")),
    )
    purge(store, "m1")
    assert store.entities_named(["zanzibar"], ["shop"]) == []
    assert store.entity_names(["shop"]) == ["Spice"]
    assert store.neighbourhood(["e-Spice"], Direction.BOTH, None, 1, 9).relations == ()
    assert store.faults() == []


def test_an_entity_that_only_an_earlier_version_named_goes_too(store, secret):
    rewritten = a_memory("m1", "the secret island", version=2)
    save(store, rewritten, unlinked=(("m1", "e-Zanzibar"),), entities=(an_entity("Elsewhere"),))
    purge(store, "m1")
    assert store.entity_names(["shop"]) == ["Elsewhere"]


def test_the_summary_of_the_session_it_was_said_in_is_blanked_and_no_other(store, secret):
    said = "they spoke of zanzibar"
    sessions = (a_session("s1", summary=said), a_session("s2", summary=said), a_session("s1", user="eve", summary=said))
    save(store, sessions=sessions)
    purge(store, "m1")
    assert store.session("s1", "").summary is None
    assert store.session("s2", "").summary == store.session("s1", "eve").summary == said


def test_purging_what_is_not_there_changes_nothing(store, secret):
    purge(store, "nobody", "m1", "m1")
    assert list(store.memories(["m1", "m2"])) == ["m2"]


def test_many_are_purged_at_once(store):
    save(store, *(a_memory(f"m{n}", f"text number {n}", derived_from=(f"m{n + 1}",)) for n in range(300)))
    purge(store, *(f"m{n}" for n in range(299)))
    assert ids(store.listed(wanted(), 9)) == ["m299"]
    assert store.faults() == []


def test_a_purged_memory_does_not_come_back_in_another_process(two_stores):
    one, other = two_stores
    save(one, a_memory("m1", "zanzibar"), embeddings=(an_embedding("m1", a_vector(1)),))
    assert ids(other.by_vector(a_vector(1), MODEL, wanted(), 9)) == ["m1"]
    assert ids(other.by_words(["zanzibar"], wanted(), 9)) == ["m1"]
    purge(one, "m1")
    assert ids(other.by_vector(a_vector(1), MODEL, wanted(), 9)) == []
    assert ids(other.by_words(["zanzibar"], wanted(), 9)) == []
    assert ids(other.listed(wanted(), 9)) == []


def test_a_row_that_takes_the_place_of_a_purged_one_is_not_taken_for_it(two_stores):
    one, other = two_stores
    for round in range(3):
        save(one, a_memory(f"m{round}", f"text {round}"), embeddings=(an_embedding(f"m{round}", a_vector(1)),))
        assert ids(other.by_vector(a_vector(1), MODEL, wanted(), 9)) == [f"m{round}"]
        purge(one, f"m{round}")
        assert ids(other.by_vector(a_vector(1), MODEL, wanted(), 9)) == []


def test_links_history_and_contradictions_planned_before_the_purge_are_not_written_after_it(store, secret):
    purge(store, "m1")
    late = Changes(
        at=START,
        history=(an_entry(secret),),
        links=(a_link("m1", "Zanzibar"),),
        embeddings=(an_embedding("m1", a_vector(1)),),
        contradictions=(a_contradiction("c2", "m1", "m2"),),
    )
    store.apply(late)
    assert store.history("m1") == store.links(["m1"]) == store.contradictions(["m2"]) == []
    assert store.faults() == []


def test_what_was_purged_is_known_by_its_id_alone(store):
    save(store, a_memory("m1"), a_memory("m2"))
    purge(store, "m1")
    assert store.destroyed(["m1", "m2", "never"]) == {"m1"}
