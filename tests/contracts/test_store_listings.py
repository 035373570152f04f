"""Listings leave nothing out: pages in an order that holds, light rows, titles, tags, ties and past questions."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from making import (
    EVERYWHERE,
    MODEL,
    START,
    a_memory,
    a_place,
    a_vector,
    an_embedding,
    an_entry,
    at,
    in_state,
    save,
    wanted,
)
from retain.domain.changes import Changes, Conflict, TitleFree
from retain.domain.graph import SIMILAR, Tie
from retain.domain.listing import OPENING, PastQuery, Row
from retain.domain.memory import Event, Kind, Rest, Source, State, Status
from retain.stores.sqlite.failures import files_of

ON_A_STORE = settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
FORGOTTEN = in_state(State.FORGOTTEN)


def shown(page):
    return [card.id for card in page.items]


def purge(store, *memories):
    store.apply(Changes(at=at(60), purged=memories))


def test_a_page_begins_with_the_newest_and_says_how_many_there_are(store):
    save(store, a_memory("m2", "b", when=at(2)), a_memory("m9", "a", when=at(1)), a_memory("m1", "c", when=at(3)))
    page = store.page(wanted(), 2)
    assert (shown(page), page.total, page.last) == (["m1", "m2"], 3, Row(at(2), "m2"))
    assert shown(store.page(wanted(), 2, 2)) == ["m9"]


def test_what_happened_at_one_time_is_in_the_order_of_ids(store):
    save(store, *(a_memory(f"m{n}", f"text {n}", place=(a_place(), EVERYWHERE)[n % 2]) for n in (3, 1, 4, 2)))
    assert shown(store.page(wanted(), 9)) == ["m4", "m3", "m2", "m1"]
    assert shown(store.page(wanted(), 9, 1, Row(START, "m4"))) == ["m2", "m1"]


def test_a_page_begins_after_a_row_and_counts_what_follows(store):
    save(store, *(a_memory(f"m{n}", f"text {n}", when=at(n)) for n in range(5)))
    page = store.page(wanted(), 2, 0, Row(at(3), "m3"))
    assert (shown(page), page.total) == (["m2", "m1"], 3)


def test_the_row_to_begin_after_need_not_be_there(store):
    save(store, *(a_memory(f"m{n}", f"text {n}", when=at(n)) for n in range(5)))
    purge(store, "m3")
    save(store, a_memory("late", "came later", when=at(9)))
    assert shown(store.page(wanted(), 9, 0, Row(at(3), "m3"))) == ["m2", "m1", "m0"]


def test_an_empty_page_ends_nowhere(store):
    save(store, a_memory())
    page = store.page(wanted(), 5, 7)
    assert (shown(page), page.last, page.total) == ([], None, 1)
    assert store.page(wanted(places=()), 5).total == 0


@ON_A_STORE
@given(
    st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.sampled_from([State.ACTIVE, State.ARCHIVED])), max_size=12),
    st.integers(1, 5),
)
def test_pages_put_together_are_the_whole_list(store, rows, limit):
    store.empty("", at(90), store.change())
    memories = [
        a_memory(f"m{n}", f"text {n}", when=at(when), place=a_place() if here else EVERYWHERE, status=in_state(state))
        for n, (when, here, state) in enumerate(rows)
    ]
    save(store, *memories)
    filter = wanted(states=(State.ACTIVE, State.ARCHIVED))
    walked, last = [], None
    while (page := store.page(filter, limit, 0, last)).items:
        assert page.total == len(memories) - len(walked)
        walked += shown(page)
        last = page.last
    assert walked == [m.id for m in sorted(memories, key=lambda m: (m.event_time, m.id), reverse=True)]


def test_a_card_is_the_memory_without_the_rest_of_its_text(store):
    text = "é" * (OPENING + 50)
    save(
        store, a_memory(text=text, title="Deploys", category="decision", tags=("b", "a"), created=at(1), updated=at(2))
    )
    (card,) = store.page(wanted(), 1).items
    assert (card.id, card.title, card.opening, card.length) == ("m1", "Deploys", "é" * OPENING, OPENING + 50)
    assert (card.kind, card.category, card.tags) == (Kind.SEMANTIC, "decision", ("b", "a"))
    assert (card.created, card.updated) == (at(1), at(2))


def test_cards_come_in_the_order_asked_for_whatever_their_state(store):
    save(store, a_memory("m1", "one"), a_memory("m2", "two", status=FORGOTTEN))
    assert list(store.cards(["m2", "nobody", "m1"])) == ["m2", "m1"]
    assert store.cards([]) == {}


def test_near_is_every_memory_with_at_least_that_cosine(store):
    save(
        store,
        *(a_memory(f"m{n}", f"text {n}") for n in range(400)),
        embeddings=tuple(an_embedding(f"m{n}", a_vector(1, n / 100)) for n in range(400)),
    )
    near = store.near(a_vector(1), MODEL, wanted(), 0.5)
    assert near.keys() == {f"m{n}" for n in range(174)}  # 1 / √(1 + 1.73²) is a little more than a half
    assert near["m0"] == pytest.approx(1, abs=0.001) and near["m100"] == pytest.approx(0.5**0.5, abs=0.001)


def test_the_best_of_the_vectors_of_a_memory_decides(store):
    save(store, a_memory(), embeddings=(an_embedding("m1", a_vector(0, 1), a_vector(1)),))
    assert store.near(a_vector(1), MODEL, wanted(), 0.9) == {"m1": pytest.approx(1, abs=0.001)}
    assert store.near(a_vector(1), "another", wanted(), 0.0) == {}


def test_a_term_of_a_tag_is_held_by_who_carries_it(store):
    save(store, a_memory("m1", "one", tags=("PaymentGateway", "ops")), a_memory("m2", "two", tags=("Ops", "auth-keys")))
    save(store, a_memory("m3", "three", tags=("ops",), place=a_place("other")), a_memory("m4", "ops for all"))
    assert store.holding(["gateway"], wanted()) == store.holding(["paymentgateway"], wanted()) == {"m1"}
    assert store.holding(["op"], wanted()) == {"m1", "m2", "m4"}
    assert store.holding(["key", "payment"], wanted()) == {"m1", "m2"}
    assert store.holding(["op"], wanted(tags=("auth-keys",))) == {"m2"}


def test_holding_is_every_memory_with_any_of_the_terms(store):
    save(store, *(a_memory(f"m{n}", f"common number{n}") for n in range(2100)), a_memory("t", "x", title="common"))
    assert len(store.holding(["common", "number7"], wanted())) == 2101
    assert store.holding(["number7", "nothing"], wanted()) == {"m7"}
    assert store.holding([], wanted()) == store.holding(["nothing"], wanted()) == set()


def test_a_title_is_found_in_its_place_whatever_its_case(store):
    save(store, a_memory("m1", title="Use  JWT"), a_memory("m2", "two", title="Use JWT", place=a_place("blog")))
    assert store.titled(a_place(), "use jwt").memory.id == "m1"
    assert store.titled(a_place("blog"), "USE JWT").memory.id == "m2"
    assert store.titled(EVERYWHERE, "use jwt") is store.titled(a_place(user="ada"), "use jwt") is None


def test_the_title_of_what_has_ended_is_free(store):
    taken = TitleFree(a_place(), "use jwt")
    save(store, a_memory("m1", title="Use JWT", status=FORGOTTEN))
    assert store.titled(a_place(), "Use JWT") is None
    save(store, expects=(taken,))
    save(store, a_memory("m1", title="Use JWT", version=2))
    assert store.apply(Changes(at=START, expects=(taken,), memories=(a_memory("m2", "two"),))) == Conflict(taken)
    assert store.memories(["m2"]) == {}


def test_a_title_is_taken_by_others_only(store):
    save(store, a_memory("m1", title="Use JWT"))
    save(store, expects=(TitleFree(a_place(), "Use JWT", but="m1"), TitleFree(EVERYWHERE, "Use JWT")))
    broken = TitleFree(a_place(), "Use JWT", but="m2")
    assert store.apply(Changes(at=START, expects=(broken,))) == Conflict(broken)


def test_a_new_title_is_found_and_the_old_one_is_not(store):
    save(store, a_memory(title="Old"))
    save(store, a_memory(title="New", version=2))
    assert (store.titled(a_place(), "old"), store.titled(a_place(), "new").memory.version) == (None, 2)
    assert (store.holding(["old"], wanted()), store.holding(["new"], wanted())) == (set(), {"m1"})


def test_titles_are_those_that_were_given_newest_first(store):
    save(store, a_memory("m1", title="One"), a_memory("m2", "no title"), a_memory("m3", "x", title="Three", when=at(3)))
    assert store.titles(wanted()) == [("m3", "Three"), ("m1", "One")]


def test_a_tag_counts_once_for_each_memory_however_it_is_written(store):
    save(store, a_memory("m1", "a", tags=("Auth", "auth", "x")), a_memory("m2", "b", tags=("AUTH",)))
    save(store, a_memory("m3", "c", tags=("auth",), status=FORGOTTEN), a_memory("m4", "d"))
    assert store.tags(wanted()) == {"AUTH": 2, "x": 1}
    assert store.tags(wanted(states=()))["auth"] == 3
    assert store.tags(wanted(places=())) == {}


@ON_A_STORE
@given(st.lists(st.sets(st.sampled_from(["auth", "db", "Ünïcode", "a b", "日本"])), max_size=8))
def test_as_many_memories_are_listed_for_a_tag_as_are_counted(store, tagged):
    store.empty("", at(90), store.change())
    save(store, *(a_memory(f"m{n}", f"text {n}", tags=tuple(tags)) for n, tags in enumerate(tagged)))
    counted = store.tags(wanted())
    assert counted == {tag: store.page(wanted(tags=(tag,)), 1).total for tag in set().union(*tagged)}


def a_tie(source, target, **fields):
    return Tie(source, target, SIMILAR, fields.pop("created", START), **fields)


def test_ties_are_found_from_both_ends(store):
    first, second = a_tie("m1", "m2", strength=0.9), a_tie("m3", "m1", created=at(1))
    save(store, *(a_memory(f"m{n}", f"text {n}") for n in (1, 2, 3)), ties=(first, second))
    assert store.ties(["m1"]) == store.ties(["m1", "m2", "m3"]) == [first, second]
    assert (store.ties(["m2"]), store.ties([]), store.ties(["nobody"])) == ([first], [], [])


def test_a_tie_that_is_made_again_is_as_strong_as_the_last_time(store):
    save(store, a_memory("m1"), a_memory("m2", "two"), ties=(a_tie("m1", "m2", strength=0.4),))
    save(store, ties=(a_tie("m1", "m2", strength=0.8),))
    assert [tie.strength for tie in store.ties(["m1"])] == [0.8]


def test_a_tie_goes_with_either_end_and_does_not_come_back(store):
    ties = (a_tie("m1", "m2"), a_tie("m2", "m3"), a_tie("m3", "m1"))
    save(store, *(a_memory(f"m{n}", f"text {n}") for n in (1, 2, 3)), ties=ties)
    purge(store, "m1")
    assert store.ties(["m1", "m2", "m3"]) == [ties[1]]
    save(store, ties=ties)
    assert (store.ties(["m1", "m2", "m3"]), store.faults()) == ([ties[1]], [])


def ask(store, text, user="", project="shop", when=START, times=1, found=1):
    store.note_query(PastQuery(text, times, found, when), project, user)


def asked(store, user="", project="shop"):
    return [past.text for past in store.past_queries(project, user)]


def test_a_question_is_counted_each_time_and_shown_as_it_was_asked_last(store):
    ask(store, "how do we Deploy", found=3)
    ask(store, "what else", when=at(1))
    ask(store, "How do we  deploy", found=5, when=at(2))
    assert store.past_queries("shop", "") == [
        PastQuery("How do we  deploy", 2, 5, at(2)),
        PastQuery("what else", 1, 1, at(1)),
    ]


def test_questions_of_another_user_or_project_are_not_told(store):
    ask(store, "mine")
    ask(store, "of ada", user="ada")
    ask(store, "of the blog", project="blog")
    ask(store, "of no project", project=None)
    assert (asked(store), asked(store, "ada"), asked(store, project="blog")) == (["mine"], ["of ada"], ["of the blog"])
    assert (asked(store, project=None), asked(store, "eve")) == (["of no project"], [])


def test_only_the_newest_questions_are_kept(store):
    for n in range(505):
        ask(store, f"question {n}", when=at(n))
    ask(store, "of ada", user="ada")
    assert (len(asked(store)), asked(store)[-1], asked(store, "ada")) == (500, "question 5", ["of ada"])


def test_counting_a_question_is_no_change_of_what_is_stored(store):
    before = store.change()
    ask(store, "how do we deploy")
    assert store.change() == before


@pytest.mark.parametrize(
    "memory",
    [
        a_memory(text="the isle of Zanzibar"),
        a_memory(title="Zanzibars"),
        a_memory(tags=("go-zanzibar",)),
        a_memory(source=Source(file="src/zanzibar.py")),
    ],
)
def test_a_question_goes_with_a_memory_that_shares_a_word_with_it(store, memory):
    save(store, memory)
    for user in ("", "ada"):
        ask(store, "where is zanzibar", user)
        ask(store, "where is everybody", user)
    ask(store, "about Zanzibar", project="blog")
    purge(store, "m1")
    assert (asked(store), asked(store, project="blog")) == (["where is everybody"], [])
    assert len(asked(store, "ada")) == 2


def test_a_question_goes_with_what_a_memory_said_before(store):
    first = a_memory(text="the isle of Zanzibar")
    renamed = Rest(Kind.SEMANTIC, Status(), called=("Pemba", None))
    tagged = replace(an_entry(a_memory()), tags=("mafia",))
    save(store, a_memory(version=2), history=(an_entry(first, Event.UPDATED, rest=renamed), tagged))
    for name in ("Zanzibar", "Pemba", "Mafia", "Unguja"):
        ask(store, f"where is {name}")
    purge(store, "m1")
    assert asked(store) == ["where is Unguja"]


def test_a_purge_of_what_nobody_asked_for_leaves_the_questions(store):
    save(store, a_memory())
    ask(store, "is it there")
    purge(store, "nobody", "m1")
    assert asked(store) == ["is it there"]


def test_emptying_takes_titles_tags_ties_and_questions_of_that_user_only(store):
    for user in ("", "ada"):
        memories = [
            a_memory(f"{user}m{n}", f"text {n}", title=f"T{n}", tags=("t",), place=a_place(user=user)) for n in (1, 2)
        ]
        save(store, *memories, ties=(a_tie(f"{user}m1", f"{user}m2"),))
        ask(store, "anything", user)
    store.empty("ada", at(90), store.change())
    hers = wanted(places=(a_place(user="ada"),))
    assert store.ties(["adam1", "adam2"]) == asked(store, "ada") == store.titles(hers) == []
    assert (len(store.ties(["m1"])), asked(store), store.tags(wanted())) == (1, ["anything"], {"t": 2})


def test_another_process_sees_pages_titles_ties_and_questions_at_once(two_stores):
    one, other = two_stores
    save(one, a_memory("m1", title="One"), a_memory("m2", "two", when=at(1)), ties=(a_tie("m1", "m2"),))
    ask(one, "anything")
    assert (shown(other.page(wanted(), 9)), other.titles(wanted())) == (["m2", "m1"], [("m1", "One")])
    assert (len(other.ties(["m1"])), asked(other)) == (1, ["anything"])


def test_no_word_of_a_question_that_went_is_left_in_the_file_or_the_log(sqlite_file):
    save(
        sqlite_file, a_memory("m1", "the secret of zanzibarquux"), *(a_memory(f"c{n}", f"text {n}") for n in range(99))
    )
    ask(sqlite_file, "who knows of Zanzibarquux")
    sqlite_file.backup(sqlite_file.path.with_name("copy"))
    assert b"who knows of Zanzibarquux" in sqlite_file.path.with_name("copy").read_bytes()
    purge(sqlite_file, "m1")
    files = (part for part in files_of(sqlite_file.path) if part.exists())
    assert b"zanzibarquux" not in b"".join(part.read_bytes() for part in files).lower()


def test_more_ids_than_a_query_has_parameters_can_be_asked_for(store):
    save(store, a_memory("m1"))
    many = [f"x{n}" for n in range(40_000)] + ["m1"]
    assert list(store.memories(many)) == ["m1"]
    assert store.vectors(many, MODEL) == {}
    assert store.contradictions(many) == store.links(many) == []
