"""What holds no longer, what was true then, and what was believed then."""

import contextlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import FixedClock, Rival
from making import START, a_memory, an_entry, at
from retain.domain.memory import Event, Kind, Rest, Scope, State, Status
from retain.domain.session import Caller, Project
from retain.embedding.hashed import HashedEmbedder
from retain.engine.drafts import Draft
from retain.engine.engine import Engine
from retain.engine.parts import Parts
from retain.engine.recall.recall import Question
from retain.engine.revise import Edit
from retain.engine.temporal import rewound
from retain.errors import InvalidInput, NotFound, Refused
from retain.stores.sqlite.store import MEMORY, SqliteStore

SHOP = Project("shop0000000000000000", "shop", "/home/ada/shop", START)
HERE = Caller(project=SHOP, session="s1")
NOBODY = "0" * 20


@pytest.fixture
def engine(store, clock):
    return Engine(Parts(store, HashedEmbedder(), clock))


@pytest.fixture
def say(engine, clock):
    """Remembers a text, a second after whatever came before."""

    def said(text, caller=HERE, **fields):
        clock.tick()
        return engine.remember(Draft(text, **fields), caller).memory

    return said


def texts(memories):
    return [memory.text for memory in memories]


# Invalidating


def test_an_invalidated_memory_ends_now_and_says_why(engine, say, clock):
    memory = say("The API listens on 8080")
    now = clock.tick()
    done = engine.invalidate(memory.id, "moved to 9090", None, HERE)
    assert (done.valid_until, done.status.state, done.status.since) == (now, State.INVALIDATED, now)
    assert (done.status.reason, done.status.successor) == ("moved to 9090", None)
    assert engine.get(memory.id, HERE).memory == done
    assert [row.event for row in engine.history(memory.id, HERE)] == [Event.CREATED, Event.INVALIDATED]
    assert engine.recall(Question("API listens"), HERE).hits == ()


def test_a_successor_is_named_and_recorded(engine, say):
    old, new = say("The API listens on 8080"), say("The API listens on 9090")
    done = engine.invalidate(old.id, None, f"memory:{new.id}", HERE)
    assert (done.status.state, done.status.successor) == (State.SUPERSEDED, new.id)
    assert engine.history(old.id, HERE)[-1].event is Event.SUPERSEDED
    assert engine.get(new.id, HERE).memory == new


def test_invalidating_twice_is_invalidating_once(engine, say, clock):
    memory = say("The API listens on 8080")
    first = engine.invalidate(memory.id, "moved", None, HERE)
    clock.tick()
    assert engine.invalidate(memory.id, "another reason", None, HERE) == first
    assert len(engine.history(memory.id, HERE)) == 2


def test_a_successor_named_later_is_kept_and_the_end_stays(engine, say, clock):
    old, new = say("The API listens on 8080"), say("The API listens on 9090")
    first = engine.invalidate(old.id, "moved", None, HERE)
    clock.tick()
    done = engine.invalidate(old.id, None, new.id, HERE)
    assert (done.status.successor, done.status.reason, done.valid_until) == (new.id, "moved", first.valid_until)
    assert engine.invalidate(old.id, None, new.id, HERE) == done
    assert len(engine.history(old.id, HERE)) == 3


@pytest.mark.parametrize("state", ["forgotten", "invalidated", "unknown", "itself", "of another"])
def test_a_successor_must_hold_itself(engine, say, state):
    old, other = say("The API listens on 8080"), say("The API listens on 9090")
    if state == "forgotten":
        engine.forget(other.id, None, HERE)
    if state == "invalidated":
        engine.invalidate(other.id, None, None, HERE)
    theirs = say("The API listens on 7070", replace(HERE, user="eve"))
    named = {"unknown": NOBODY, "itself": old.id, "of another": theirs.id}.get(state, other.id)
    with pytest.raises((InvalidInput, NotFound), match=f"superseded_by.*{named}"):
        engine.invalidate(old.id, None, named, HERE)
    assert engine.get(old.id, HERE).memory == old
    assert len(engine.history(old.id, HERE)) == 1


def test_successors_never_go_in_a_circle(engine, say):
    first, second, third = (say(f"The API listens on {n}") for n in (8080, 9090, 7070))
    engine.invalidate(first.id, None, second.id, HERE)
    engine.invalidate(second.id, None, third.id, HERE)
    with pytest.raises(InvalidInput, match=f"superseded itself, by {second.id}"):
        engine.invalidate(third.id, None, first.id, HERE)


@pytest.mark.parametrize("id", [NOBODY, "nonsense"])
def test_an_unknown_id_cannot_be_invalidated(engine, id):
    with pytest.raises((NotFound, InvalidInput), match=id):
        engine.invalidate(id, None, None, HERE)


def test_the_memory_of_another_user_cannot_be_invalidated(engine, say):
    theirs = say("The API listens on 8080", replace(HERE, user="eve"))
    with pytest.raises(NotFound, match=theirs.id):
        engine.invalidate(theirs.id, None, None, HERE)


def test_a_forgotten_memory_is_not_invalidated(engine, say):
    memory = say("The API listens on 8080")
    engine.forget(memory.id, None, HERE)
    with pytest.raises(Refused, match="bring it back first"):
        engine.invalidate(memory.id, None, None, HERE)


def test_what_was_invalidated_is_not_rewritten(engine, say):
    memory = say("The API listens on 8080")
    engine.invalidate(memory.id, None, None, HERE)
    with pytest.raises(Refused, match=f"invalidated.*retain forget --restore {memory.id}"):
        engine.update(memory.id, Edit(text="The API listens on 9090"), HERE)


def test_brought_back_it_holds_without_an_end(engine, say):
    memory = say("The API listens on 8080")
    engine.invalidate(memory.id, "moved", None, HERE)
    back = engine.bring_back(memory.id, HERE)
    assert (back.valid_until, back.status) == (None, Status())
    assert len(engine.recall(Question("API listens"), HERE).hits) == 1


def test_its_links_go_stale_as_those_of_a_forgotten_one(engine, say, store):
    memory = say("AuthService depends on TokenValidator")
    engine.invalidate(memory.id, None, None, HERE)
    assert {link.stale for link, _ in store.links([memory.id])} == {True}
    engine.bring_back(memory.id, HERE)
    assert {link.stale for link, _ in store.links([memory.id])} == {False}


def test_a_successor_that_another_window_forgets_meanwhile_is_noticed(engine, say, store, clock):
    old, new = say("The API listens on 8080"), say("The API listens on 9090")
    rival = Rival(store, lambda: engine.forget(new.id, None, HERE))
    with pytest.raises(InvalidInput, match=f"superseded_by.*{new.id}"):
        Engine(Parts(rival, HashedEmbedder(), clock)).invalidate(old.id, None, new.id, HERE)
    assert engine.get(old.id, HERE).memory == old


def test_a_secret_in_a_reason_is_not_kept(engine, say):
    memory = say("The API listens on 8080")
    done = engine.invalidate(memory.id, "token ghp_" + "a1B2" * 9, None, HERE)
    assert "ghp_" not in done.status.reason


# What was true then


@pytest.fixture
def told(engine, say, clock):
    """8080 held from second 1 to 3, 9090 from 2 on."""
    old = say("The API listens on 8080")
    new = say("The API listens on 9090")
    clock.tick()
    engine.invalidate(old.id, "moved", new.id, HERE)
    clock.tick(100)
    return old, new


@pytest.mark.parametrize(
    ("then", "held"),
    [(0.5, []), (1, ["8080"]), (2, ["9090", "8080"]), (2.999, ["9090", "8080"]), (3, ["9090"]), (500, ["9090"])],
)
def test_a_memory_is_valid_from_its_beginning_until_before_its_end(engine, told, then, held):
    found = engine.valid(HERE, as_of=at(then))
    assert [text.split()[-1] for text in texts(found)] == held


def test_by_default_now_is_meant(engine, told):
    assert texts(engine.valid(HERE)) == ["The API listens on 9090"]


def test_what_was_true_counts_from_when_it_happened(engine, say):
    say("We moved to Berlin", event_time=datetime(2020, 5, 1, tzinfo=UTC))
    assert texts(engine.valid(HERE, as_of=datetime(2021, 1, 1, tzinfo=UTC))) == ["We moved to Berlin"]
    assert engine.valid(HERE, as_of=datetime(2020, 4, 30, tzinfo=UTC)) == []


def test_forgotten_memories_are_not_valid_at_any_time(engine, told):
    engine.forget(told[1].id, None, HERE)
    assert engine.valid(HERE) == []
    assert texts(engine.valid(HERE, as_of=at(2))) == ["The API listens on 8080"]


def test_only_this_project_and_what_is_the_users_is_read(engine, say):
    elsewhere = replace(HERE, project=replace(SHOP, id="other000000000000000", slug="other"))
    say("Tabs everywhere", scope=Scope.USER)
    say("Said there", elsewhere)
    say("Said by another", replace(HERE, user="eve"))
    say("Said here")
    assert texts(engine.valid(HERE)) == ["Said here", "Tabs everywhere"]
    assert texts(engine.valid(HERE, known_at=at(50))) == ["Said here", "Tabs everywhere"]


@pytest.mark.parametrize("ask", [{}, {"known_at": at(500)}])
def test_pages_follow_each_other_newest_first(engine, say, ask):
    for n in range(7):
        say(f"fact number {n} about thing{n}")
    pages = [texts(engine.valid(HERE, limit=3, offset=offset, **ask)) for offset in (0, 3, 6, 9)]
    assert [len(page) for page in pages] == [3, 3, 1, 0]
    assert [text.split()[2] for page in pages for text in page] == list("6543210")


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"offset": -1}])
def test_a_page_that_cannot_be_is_refused(engine, wrong):
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        engine.valid(HERE, **wrong)


def test_recall_answers_with_what_was_true_then(engine, told):
    def recalled(**when):
        return {hit.stored.memory.text for hit in engine.recall(Question("API listens", **when), HERE).hits}

    assert recalled() == {"The API listens on 9090"}
    assert recalled(as_of=at(2)) == {"The API listens on 8080", "The API listens on 9090"}
    assert recalled(as_of=at(1)) == {"The API listens on 8080"}


# What was believed then


def test_what_was_not_stored_yet_was_not_known(engine, say):
    say("We moved to Berlin", event_time=datetime(2020, 5, 1, tzinfo=UTC))
    assert engine.valid(HERE, known_at=at(0)) == []
    assert texts(engine.valid(HERE, as_of=datetime(2021, 1, 1, tzinfo=UTC), known_at=at(1))) == ["We moved to Berlin"]


def test_what_was_invalidated_since_was_believed(engine, told):
    assert set(texts(engine.valid(HERE, known_at=at(2)))) == {"The API listens on 8080", "The API listens on 9090"}
    assert texts(engine.valid(HERE, known_at=at(3))) == ["The API listens on 9090"]


def test_what_is_learnt_of_the_past_does_not_change_what_was_believed(engine, told):
    """True at 2.5, as known at 3; and as known at 2, true at 50 too."""
    assert len(engine.valid(HERE, as_of=at(2.5), known_at=at(3))) == 2
    assert len(engine.valid(HERE, as_of=at(50), known_at=at(2))) == 2
    assert len(engine.valid(HERE, as_of=at(50), known_at=at(3))) == 1


def test_it_is_worded_as_it_was(engine, say, clock):
    memory = say("The API listens on 8080", importance=0.3, tags=("net",), metadata={"by": "ada"})
    clock.tick()
    engine.update(memory.id, Edit(text="The API listens on 9090", importance=0.9, kind=Kind.EPISODIC), HERE)
    clock.tick()
    engine.update(memory.id, Edit(metadata={"by": "bob"}, replace_metadata=True, add_tags=("port",)), HERE)
    clock.tick()
    engine.promote(memory.id, Scope.USER, None, HERE)
    assert engine.valid(HERE, known_at=at(1)) == [memory]
    (second,) = engine.valid(HERE, known_at=at(2))
    assert (second.text, second.importance, second.kind) == ("The API listens on 9090", 0.9, Kind.EPISODIC)
    assert (second.metadata, second.tags, second.scope) == ({"by": "ada"}, ("net",), Scope.PROJECT)
    assert engine.valid(HERE, known_at=at(4))[0].scope is Scope.USER


def test_what_was_forgotten_then_is_absent_and_what_was_forgotten_later_is_there(engine, say, clock):
    memory = say("The API listens on 8080")
    clock.tick()
    engine.forget(memory.id, None, HERE)
    clock.tick()
    engine.bring_back(memory.id, HERE)
    clock.tick()
    engine.forget(memory.id, None, HERE)
    assert [len(engine.valid(HERE, known_at=at(second))) for second in (1, 2, 3, 4)] == [1, 0, 1, 0]


def test_history_of_earlier_versions_is_enough():
    """Their rows say nothing of the state; what happened before does."""
    memory = a_memory("m1", "third", version=5, updated=at(40))
    second = replace(memory, text="second")
    rows = [
        an_entry(replace(memory, text="first", version=1)),
        an_entry(replace(memory, text="first", version=1), Event.UPDATED, at=at(10)),
        an_entry(replace(second, version=2), Event.FORGOTTEN, at=at(20)),
        an_entry(replace(second, version=3), Event.RESTORED, at=at(30)),
        an_entry(replace(second, version=4), Event.UPDATED, at=at(40)),
    ]
    known = {second: rewound(memory, rows, at(second)) for second in (-1, 5, 15, 25, 35, 45)}
    said = {second: was and was.text for second, was in known.items()}
    assert said == {-1: None, 5: "first", 15: "second", 25: None, 35: "second", 45: "third"}
    assert known[35].status == Status()


def test_what_a_row_left_out_is_taken_from_the_next_that_has_it():
    memory = a_memory("m1", "now", kind=Kind.EPISODIC, version=3)
    before = replace(memory, kind=Kind.PROCEDURAL)
    rest = Rest(before.kind, before.status, {"a": 1}, project="shop")
    rows = [an_entry(before, Event.TAGGED, at=at(10)), an_entry(before, Event.UPDATED, at=at(20), rest=rest)]
    was = rewound(memory, rows, at(5))
    assert (was.kind, was.metadata) == (Kind.PROCEDURAL, {"a": 1})


WORDS = st.sampled_from(["alpha", "beta", "gamma", "delta"])
ACTS = st.one_of(
    st.tuples(st.just("remember"), WORDS, st.sampled_from([Scope.PROJECT, Scope.SESSION])),
    st.tuples(st.just("rewrite"), st.integers(0, 3), WORDS),
    st.tuples(st.just("weigh"), st.integers(0, 3), st.sampled_from([0.1, 0.5, 1.0])),
    st.tuples(st.just("describe"), st.integers(0, 3), st.booleans()),
    st.tuples(st.just("classify"), st.integers(0, 3), st.sampled_from(list(Kind))),
    st.tuples(st.just("tag"), st.integers(0, 3), WORDS),
    st.tuples(st.just("promote"), st.integers(0, 3), st.sampled_from(list(Scope))),
    st.tuples(st.just("forget"), st.integers(0, 3), st.none()),
    st.tuples(st.just("bring back"), st.integers(0, 3), st.none()),
    st.tuples(st.just("invalidate"), st.integers(0, 3), st.one_of(st.none(), st.integers(0, 3))),
)


def act(engine, ids, kind, which, what):
    """Does one of the above; what is refused is refused."""
    if kind == "remember":
        made = engine.remember(Draft(f"{which} is what we use in the {what}", scope=what), HERE).memory.id
        return [*ids, made] if made not in ids else ids
    if not ids:
        return ids
    id = ids[which % len(ids)]
    acts = {
        "rewrite": lambda: engine.update(id, Edit(text=f"{what} is what {id[-4:]} uses"), HERE),
        "weigh": lambda: engine.update(id, Edit(importance=what), HERE),
        "describe": lambda: engine.update(id, Edit(metadata={str(what): what}, replace_metadata=what), HERE),
        "classify": lambda: engine.update(id, Edit(kind=what), HERE),
        "tag": lambda: engine.tag(id, [what], [], HERE),
        "promote": lambda: engine.promote(id, what, None, HERE),
        "forget": lambda: engine.forget(id, "why not", HERE),
        "bring back": lambda: engine.bring_back(id, HERE),
        "invalidate": lambda: engine.invalidate(id, "gone", None if what is None else ids[what % len(ids)], HERE),
    }
    with contextlib.suppress(Refused, InvalidInput):
        acts[kind]()
    return ids


@settings(max_examples=40, deadline=None)
@given(st.lists(ACTS, min_size=1, max_size=14))
def test_looking_back_shows_what_was_there_after_each_change(acts):
    clock, store = FixedClock(), SqliteStore(MEMORY)
    engine = Engine(Parts(store, HashedEmbedder(), clock))
    ids, seen = [], []
    for one in acts:
        now = clock.tick()
        ids = act(engine, ids, *one)
        memories = [stored.memory for stored in store.memories(ids).values()]
        seen.append((now, {m.id: as_told(m) for m in memories if m.status.state is not State.FORGOTTEN}))
    memories = store.memories(ids)
    for then, told in seen:
        for moment in (then, then + timedelta(milliseconds=999)):
            known = (rewound(memories[id].memory, store.history(id), moment) for id in ids)
            assert {was.id: as_told(was) for was in known if was} == told
    store.close()


def as_told(memory):
    """A memory without what is not looked back at."""
    return replace(memory, reinforced=0, reinforced_at=None, consolidated=False)
