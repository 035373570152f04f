"""What every store promises about memories: kept as given, changed only as expected, and gone when destroyed."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from making import (
    EVERYWHERE,
    MODEL,
    START,
    a_memory,
    a_place,
    a_session,
    a_session_place,
    a_vector,
    an_embedding,
    an_entity,
    an_entry,
    at,
    ids,
    in_state,
    save,
    wanted,
)
from retain.domain.changes import Applied, AtVersion, Changes, Conflict, NoTwin, Uncompared
from retain.domain.claims import fingerprint
from retain.domain.memory import Event, Kind, Rest, Source, State, Status
from retain.domain.recall import FINDABLE
from retain.domain.session import Use
from retain.domain.words import query_terms, terms

ENDED = tuple(state for state in State if state is not State.ACTIVE)


def full_memory():
    return a_memory(
        "m1",
        "Le café ☕ ist 日本語 \u202eRTL\u202c 'quoted' \"double\" and \x00 nothing",
        place=a_session_place("s1", "ada"),
        session="s1",
        title="A title",
        category="decision",
        agent="claude",
        tags=("Ops", "ops/деплой"),
        importance=0.75,
        source=Source("Bash", "src/app.py", 12),
        metadata={"nested": {"list": [1, 2.5, None, True]}, "text": "é"},
        valid_until=at(3600),
        status=Status(State.SUPERSEDED, "replaced", at(5), "m2"),
        consolidated=True,
        derived_from=("a", "b"),
        reinforced=3,
        reinforced_at=at(7),
        version=4,
    )


def test_a_memory_comes_back_as_it_was_given(store):
    memory = full_memory()
    save(store, memory)
    assert store.memories(["m1"])["m1"].memory == memory


@pytest.mark.parametrize("year", [1, 1912, 1969, 2600, 9999])
def test_any_moment_of_the_calendar_is_kept_to_the_microsecond(store, year):
    memory = a_memory(when=datetime(year, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC))
    save(store, memory)
    assert store.memories(["m1"])["m1"].memory == memory


def test_memories_come_in_the_order_they_are_asked_for_and_absent_ids_are_left_out(store):
    save(store, *(a_memory(id, f"text {id}") for id in "abc"))
    assert list(store.memories(["c", "nobody", "a"])) == ["c", "a"]
    assert store.memories([]) == {}


def test_a_new_version_replaces_the_old_one_in_every_lane(store):
    save(store, a_memory("m1", "deploy on Fridays", tags=("old",)))
    save(store, a_memory("m1", "release every Monday", tags=("new",), version=2))
    assert store.memories(["m1"])["m1"].memory.version == 2
    assert ids(store.by_words(terms("Fridays"), wanted(), 5)) == []
    assert ids(store.by_words(terms("Monday"), wanted(), 5)) == ["m1"]
    assert ids(store.listed(wanted(tags=("old",)), 5)) == []
    assert ids(store.listed(wanted(tags=("new",)), 5)) == ["m1"]


def test_a_title_is_found_by_its_words(store):
    save(store, a_memory("m1", "every Monday", title="Deployment"))
    save(store, a_memory("m1", "every Monday", title="Release"))
    assert ids(store.by_words(query_terms("deployment"), wanted(), 5)) == []
    assert ids(store.by_words(query_terms("release"), wanted(), 5)) == ["m1"]


def test_a_twin_is_the_active_memory_with_that_text_in_that_place(store):
    save(
        store,
        a_memory("gone", "tabs", status=in_state(State.FORGOTTEN)),
        a_memory("there", "tabs"),
        a_memory("elsewhere", "tabs", place=EVERYWHERE),
    )
    assert store.twin(a_place(), fingerprint("tabs")).memory.id == "there"
    assert store.twin(a_place("other"), fingerprint("tabs")) is None


def test_a_twin_may_be_asked_for_in_any_state_and_is_the_active_one_else_the_one_that_ended_last(store):
    ended = [a_memory(f"m{n}", "tabs", status=in_state(state, since=at(n))) for n, state in enumerate(ENDED)]
    save(store, *reversed(ended))
    assert store.twin(a_place(), fingerprint("tabs")) is None
    assert store.twin(a_place(), fingerprint("tabs"), states=tuple(State)).memory == ended[-1]
    assert store.twin(a_place(), fingerprint("tabs"), states=ENDED[:2]).memory == ended[1]
    save(store, a_memory("first", "tabs"), a_memory("second", "tabs"))
    assert store.twin(a_place(), fingerprint("tabs"), states=tuple(State)).memory.id == "first"
    assert store.twin(a_place(), fingerprint("tabs"), states=ENDED).memory == ended[-1]


def test_listed_gives_the_newest_first_page_by_page(store):
    save(store, *(a_memory(f"m{n}", f"text {n}", when=at(n)) for n in range(5)))
    assert ids(store.listed(wanted(), 2)) == ["m4", "m3"]
    assert ids(store.listed(wanted(), 2, 3)) == ["m1", "m0"]
    assert store.listed(wanted(), 2, 5) == []


def test_listed_looks_into_any_number_of_places(store):
    save(store, *(a_memory(f"m{n}", f"text {n}", when=at(n), place=a_place(f"p{n}")) for n in range(3)))
    everywhere = wanted(places=tuple(a_place(f"p{n}") for n in range(200)), states=())
    assert ids(store.listed(everywhere, 5)) == ["m2", "m1", "m0"]
    assert [card.id for card in store.page(everywhere, 5).items] == ["m2", "m1", "m0"]


def test_the_total_is_of_all_that_pass_the_filter(store):
    save(store, *(a_memory(f"m{n}", f"text {n}") for n in range(5)), a_memory("other", place=a_place("other")))
    save(store, a_memory("gone", "gone", status=in_state(State.FORGOTTEN)))
    assert (store.total(wanted()), store.total(wanted(states=())), store.total(wanted(places=()))) == (5, 6, 0)


def test_no_twin_refuses_a_text_that_is_there(store):
    save(store, a_memory("m1", "tabs"))
    expected = NoTwin(a_place(), fingerprint("tabs"))
    plan = Changes(at=START, expects=(expected,), memories=(a_memory("m2", "tabs"),))
    assert store.apply(plan) == Conflict(expected)
    assert store.memories(["m2"]) == {}


def test_no_twin_allows_the_memory_itself_other_places_and_forgotten_ones(store):
    save(store, a_memory("m1", "tabs"), a_memory("m2", "spaces", status=in_state(State.FORGOTTEN)))
    for expected in (
        NoTwin(a_place(), fingerprint("tabs"), but="m1"),
        NoTwin(EVERYWHERE, fingerprint("tabs")),
        NoTwin(a_place(), fingerprint("spaces")),
    ):
        assert isinstance(store.apply(Changes(at=START, expects=(expected,))), Applied)


def test_at_version_refuses_a_memory_that_has_changed_or_gone(store):
    save(store, a_memory("m1", version=2))
    assert isinstance(store.apply(Changes(at=START, expects=(AtVersion("m1", 2),))), Applied)
    for stale in (AtVersion("m1", 1), AtVersion("nobody", 1)):
        assert store.apply(Changes(at=START, expects=(stale,))) == Conflict(stale)


def test_the_change_number_grows_with_what_is_applied_and_only_then(store):
    before = store.change()
    applied = save(store, a_memory("m1"))
    assert store.change() == applied.change > before
    store.apply(Changes(at=START, expects=(AtVersion("nobody", 1),), memories=(a_memory("m2"),)))
    assert store.change() == applied.change


def test_history_is_kept_in_order_and_never_edited(store):
    first, second = a_memory("m1", "one"), a_memory("m1", "two", version=2, tags=("t",))
    entries = an_entry(first), an_entry(second, Event.UPDATED, at=at(1), reason="typo")
    save(store, first, history=entries[:1])
    save(store, second, history=entries[1:])
    assert store.history("m1") == list(entries)
    assert store.history("nobody") == []


def test_history_keeps_what_a_memory_was_besides(store):
    memory = a_memory("m1")
    status = Status(State.SUPERSEDED, "moved", at(3), "m2")
    rest = Rest(Kind.EPISODIC, status, {"a": [1, None]}, valid_until=at(5), project="shop", session="s1")
    rows = [an_entry(memory), an_entry(memory, Event.UPDATED, at=at(9), rest=rest)]
    save(store, memory, history=tuple(rows))
    assert store.history("m1") == rows


def test_the_history_of_many_comes_in_the_order_of_their_changes(store):
    one, two, other = a_memory("m1"), a_memory("m2", "b"), a_memory("m3", "c")
    for memory in (two, one, two, other):
        save(store, memory, history=(an_entry(memory),))
    assert [row.memory for row in store.history("m1", "m2", "nobody")] == ["m2", "m1", "m2"]
    assert store.history() == []


def test_counts_tell_users_apart_whose_names_look_alike(store):
    for number, user in enumerate(("ada", "Ada", "a_a", "")):
        owner = a_place(user=user).owner
        save(store, entities=tuple(an_entity(f"{n}", owner=owner, id=f"e{number}{n}") for n in range(number + 1)))
    assert [store.counts(user, MODEL).entities for user in ("ada", "Ada", "a_a", "")] == [1, 2, 3, 4]


def test_touch_counts_each_access_and_passes_over_absent_ids(store):
    save(store, a_memory("m1"), a_memory("m2", "other"))
    store.note_uses([Use(("m1", "nobody"), at(1))])
    store.note_uses([Use(("m1",), at(2))])
    found = store.memories(["m1", "m2"])
    assert (found["m1"].accesses, found["m1"].accessed) == (2, at(2))
    assert (found["m2"].accesses, found["m2"].accessed) == (0, None)


def test_a_new_version_keeps_the_access_count(store):
    save(store, a_memory("m1", "one"))
    store.note_uses([Use(("m1",), at(1))])
    save(store, a_memory("m1", "two"))
    assert store.memories(["m1"])["m1"].accesses == 1


def test_counts_are_of_one_user_and_tell_states_apart(store):
    save(
        store,
        a_memory("m1", "a"),
        a_memory("m2", "b", place=EVERYWHERE, kind=Kind.EPISODIC),
        a_memory("m3", "c", status=in_state(State.FORGOTTEN)),
        a_memory("m4", "d", place=a_place(user="eve")),
        embeddings=(an_embedding("m1", a_vector(1)),),
    )
    counts = store.counts("", MODEL)
    assert (counts.total, counts.unembedded) == (2, 1)
    assert counts.by_scope == {"project": 1, "user": 1}
    assert counts.by_kind == {"semantic": 1, "episodic": 1}
    assert counts.by_state == {"active": 2, "forgotten": 1}


def test_contexts_are_the_neighbours_in_a_session_within_reach(store):
    said = [a_memory(f"m{n}", f"word{n}", session="s1") for n in range(5)]
    save(store, *said, a_memory("other", "elsewhere", session="s2"), sessions=(a_session("s1"),))
    (context,) = store.contexts(["m2"], wanted(), reach=1)
    assert (context.memory, context.text, context.words.split()) == ("m2", "word2", terms("word2"))
    assert {(distance, id) for distance, id, _ in context.neighbours} == {(-1, "m1"), (1, "m3")}
    assert [c.neighbours for c in store.contexts(["other", "nobody"], wanted(), reach=3)] == [()]


def test_a_context_says_when_it_happened_and_when_it_was_last_said(store):
    save(store, a_memory("once", when=at(60)), a_memory("again", when=at(60), reinforced=1, reinforced_at=at(90)))
    found = {c.memory: (c.happened, c.last_said) for c in store.contexts(["once", "again"], wanted(), reach=0)}
    assert found == {"once": (at(60), at(60)), "again": (at(60), at(90))}


def test_a_context_says_whether_it_sleeps(store):
    save(store, a_memory("awake", "one"), a_memory("asleep", "two", status=in_state(State.DORMANT)))
    found = store.contexts(["awake", "asleep"], wanted(states=FINDABLE), reach=0)
    assert {c.memory: c.asleep for c in found} == {"awake": False, "asleep": True}


def test_the_words_of_neighbours_are_as_every_store_spells_them(store):
    odd = "café naïve \U0001f642 e\u0301 w1"
    save(store, a_memory("m1", odd, session="s1"), a_memory("m2", "the next", session="s1"))
    (context,) = store.contexts(["m2"], wanted(), reach=1)
    ((_, _, words),) = context.neighbours
    assert words.split() == terms(odd)


def test_contexts_follow_the_turns_a_source_names_and_leave_out_what_is_forgotten(store):
    turns = [a_memory(f"t{n}", f"turn {n}", session="s1", source=Source(conversation_turn=n)) for n in (9, 7, 8)]
    save(store, *turns)
    save(store, replace(turns[0], status=in_state(State.FORGOTTEN)))
    (context,) = store.contexts(["t8"], wanted(), reach=1)
    assert [(distance, id) for distance, id, _ in context.neighbours] == [(-1, "t7")]


def test_contexts_without_reach_are_alone_even_where_two_memories_name_one_turn(store):
    save(store, *(a_memory(id, id, session="s1", source=Source(conversation_turn=3)) for id in ("m1", "m2")))
    assert [len(c.neighbours) for reach in (0, 1) for c in store.contexts(["m1"], wanted(), reach)] == [0, 1]


def test_contexts_beside_a_memory_come_after_it_with_their_own_neighbours(store):
    said = [a_memory(f"m{n}", f"word{n}", session="s1") for n in range(7)]
    hidden = a_memory("hidden", "word", session="s1", kind=Kind.EPISODIC)
    save(store, *said[:5], hidden, *said[5:], sessions=(a_session("s1"),))
    filter = wanted(kinds=(Kind.SEMANTIC,))
    near = {c.memory: sorted(id for _, id, _ in c.neighbours) for c in store.contexts(["m4", "m0"], filter, 1, ["m4"])}
    assert near == {"m4": ["hidden", "m3"], "m0": ["m1"], "m3": ["m2", "m4"]}
    assert [c.memory for c in store.contexts(["m4", "m3"], filter, 2, ["m4", "m0"])] == ["m4", "m3"]


def test_corpus_counts_texts_and_the_texts_that_hold_a_term(store):
    save(store, a_memory("m1", "red red blue"), a_memory("m2", "red"), a_memory("m3", "green"))
    corpus = store.corpus(["red", "blue", "purple"])
    assert (corpus.documents, corpus.average_length) == (3, pytest.approx(5 / 3))
    assert dict(corpus.holding) == {"red": 2, "blue": 1, "purple": 0}


def test_a_place_named_twice_lists_its_memories_once(store):
    save(store, *(a_memory(f"m{n}", f"text {n}", when=at(n)) for n in range(4)))
    twice = wanted(places=(a_place(), a_place()), states=(State.ACTIVE, State.ACTIVE))
    assert ids(store.listed(twice, 3)) == ["m3", "m2", "m1"]


# Not compared yet


def test_what_is_not_compared_yet_is_found_until_it_is(store):
    waiting = a_memory("m1", compared=False)
    save(store, waiting, a_memory("m2", "We deploy on Fridays."))
    assert store.uncompared(10) == [waiting]
    done = Changes(at=START, expects=(Uncompared("m1", 1, None),), memories=(replace(waiting, compared=True),))
    assert isinstance(store.apply(done), Applied)
    assert (store.uncompared(10), store.memories(["m1"])["m1"].memory.compared) == ([], True)


def test_a_memory_is_compared_once_by_whoever_is_first(store):
    waiting = a_memory("m1", compared=False)
    save(store, waiting)
    done = Changes(at=START, expects=(Uncompared("m1", 1, None),), memories=(replace(waiting, compared=True),))
    assert isinstance(store.apply(done), Applied)
    assert store.apply(done) == Conflict(done.expects[0])


def test_a_memory_that_was_changed_meanwhile_is_not_taken_for_compared(store):
    waiting = a_memory("m1", compared=False)
    save(store, waiting)
    save(store, replace(waiting, text="We deploy on Sundays.", version=2))
    done = Changes(at=START, expects=(Uncompared("m1", 1, None),), memories=(replace(waiting, compared=True),))
    assert isinstance(store.apply(done), Conflict)


def test_a_memory_that_was_filed_meanwhile_is_not_written_back_without_its_category(store):
    waiting = a_memory("m1", compared=False)
    save(store, waiting)
    save(store, replace(waiting, category="pattern"))
    done = Changes(at=START, expects=(Uncompared("m1", 1, None),), memories=(replace(waiting, compared=True),))
    assert isinstance(store.apply(done), Conflict)
    filed = replace(waiting, category="pattern")
    done = Changes(at=START, expects=(Uncompared("m1", 1, "pattern"),), memories=(replace(filed, compared=True),))
    assert isinstance(store.apply(done), Applied)


def test_what_waits_to_be_compared_is_counted_for_its_user_while_it_stands(store):
    save(store, a_memory("m1", compared=False), a_memory("m2", "Not hers.", place=a_place(user="ada"), compared=False))
    save(store, a_memory("m3", "Gone.", compared=False, status=in_state(State.FORGOTTEN)))
    assert [memory.id for memory in store.uncompared(10)] == ["m1", "m2"]
    assert [memory.id for memory in store.uncompared(10, user="ada")] == ["m2"]
    assert (store.counts("", MODEL).uncompared, store.counts("ada", MODEL).uncompared) == (1, 1)
