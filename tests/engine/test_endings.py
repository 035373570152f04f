"""What housekeeping may end: never what somebody kept on purpose; and what has faded is still found."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from fakes import START, TidyLLM
from making import a_memory, save
from retain.domain.ending import HOLDS, RESISTS, Hold, Way, why_not
from retain.domain.memory import Event, Kind, Memory, MemoryId, Scope, State, Status
from retain.domain.session import Caller, Project
from retain.domain.work import ENTRY, EntryType
from retain.embedding.hashed import HashedEmbedder
from retain.engine.capture.capture import keep
from retain.engine.drafts import Draft
from retain.engine.engine import Engine
from retain.engine.lifecycle.merging import Occasion, merge_categories
from retain.engine.lifecycle.pruning import OUTDATED, Pruned, prune
from retain.engine.lookup.matching import Search
from retain.engine.parts import Parts
from retain.engine.recall.recall import Question
from retain.engine.remember import NAMED, SAID_ANEW, remember
from retain.engine.rescope import promote
from retain.engine.revise import Edit, bring_back, destroy, forget, tag, update
from retain.engine.succession import entry
from retain.engine.temporal import invalidate
from retain.engine.trust.sleeping import sleep

HERE = Caller(project=Project("p" * 20, "shop", "/shop", START), session="monday")
DAY = 86_400
SAID = tuple(f"The {name} module is moved to the new importer" for name in ("cart", "till", "mail", "card", "page"))
ENTRIES = {
    "Proxy for production": "location /api goes to upstream with a timeout of sixty and the production headers",
    "Proxy for staging": "location /api goes to upstream with a timeout of sixty and the staging headers",
    "Retry helper": "try the call again after a pause that doubles each time until it works",
    "Retry helper (python)": "try the call again after a pause that doubles every time until it works",
    "Limits": "the limits of the proxy are in limits.conf",
}
KEPT: dict[Hold, dict[str, object]] = {
    Hold.TITLED: {"title": "Progress of the importer"},
    Hold.LOGGED: {"metadata": {ENTRY: EntryType.INFO.value}},
    Hold.USERS: {"metadata": {"said_by": "user"}},
    Hold.IMPORTANT: {"importance": RESISTS},
    Hold.LASTING: {"category": "decision"},
}
EDITS: dict[str, Callable[[Parts, MemoryId], object]] = {
    "reworded": lambda parts, id: update(parts, id, Edit(text="The cart module is moved to the old importer"), HERE),
    "weighed": lambda parts, id: update(parts, id, Edit(importance=0.4), HERE),
    "tagged": lambda parts, id: tag(parts, id, ["mine"], [], HERE),
}


@pytest.fixture
def parts(store, clock):
    return Parts(store, HashedEmbedder(), clock)


@pytest.fixture
def engine(parts):
    return Engine(parts)


def say(parts: Parts, text: str, category: str | None = "progress", **fields) -> Memory:
    parts.clock.tick(60)
    return remember(parts, Draft(text, Kind.EPISODIC, category=category, **fields), HERE).memory


def session_ends(parts: Parts, *, days: int, llm: TidyLLM | None = None) -> None:
    """Some days later, what the hook does at the end of a session."""
    parts.clock.tick(days * DAY)
    sleep(replace(parts, llm=llm), HERE, by_hand=False)


def now(parts: Parts, memory: Memory) -> Memory:
    return parts.store.memories([memory.id])[memory.id].memory


def found(engine: Engine, question: str) -> list[set[MemoryId]]:
    """What a search in the bank, a recall and a search for words in the graph find."""
    matches = engine.lookup.search(Search(question, limit=50, threshold=0.0), HERE).hits
    recalled = engine.recall(Question(question), HERE).hits
    channels = engine.search_by_words(question, 50, HERE).hits
    return [{match.stored.memory.id for match in matches}, {hit.id for hit in recalled}, {hit.id for hit in channels}]


def test_a_completed_session_is_whole_after_months_of_housekeeping(parts, engine):
    tracking = engine.tracking
    work = tracking.start("Move the importer", None, (), HERE).work
    lines = [*SAID, "Empty lists fail", "The old importer is gone", "Nobody misses it"]
    kinds = (EntryType.INFO, EntryType.MILESTONE, EntryType.ISSUE, EntryType.SOLUTION)
    logged = [tracking.log(None, kinds[n % 4], text, (), HERE).memory for n, text in enumerate(lines)]
    tracking.complete(None, "All modules are moved", "Five modules in one day", HERE)
    for days in (8, 15, 31, 100):
        session_ends(parts, days=days, llm=TidyLLM())
        told = tracking.get(work.id, HERE)
        assert ([one.text for one in told.entries], told.outcome) == (lines, "All modules are moved")
        assert told.summary == "Five modules in one day"
        assert all({memory.id for memory in logged[:5]} <= some for some in found(engine, "module importer"))


def test_entries_with_a_title_stay_whatever_they_say(parts):
    kept = [say(parts, text, "code", title=title, distinct=True) for title, text in ENTRIES.items()]
    for days in (1, 15, 31):
        session_ends(parts, days=days)
        session_ends(parts, days=0, llm=TidyLLM())
    assert [now(parts, memory) for memory in kept] == kept


def test_a_model_is_not_asked_about_what_it_may_not_end(parts):
    for title, text in ENTRIES.items():
        say(parts, text, "decision", title=title, distinct=True)
    llm = TidyLLM()
    merge_categories(replace(parts, llm=llm), HERE, Occasion(1))
    assert llm.asked == []


def test_what_has_faded_is_found_however_old_it_is(parts, engine):
    said = {say(parts, text).id for text in SAID}
    for days in (8, 15, 31, 200):
        session_ends(parts, days=days)
        assert found(engine, "module importer") == [said] * 3


@pytest.mark.parametrize("edited", EDITS)
def test_what_somebody_edited_is_left_alone(parts, edited):
    said = [say(parts, text) for text in SAID]
    for memory in said:
        EDITS["tagged"](parts, memory.id)
    EDITS[edited](parts, said[0].id)
    kept = [now(parts, memory) for memory in said]
    for days in (8, 15, 31):
        session_ends(parts, days=days, llm=TidyLLM())
    assert [now(parts, memory) for memory in said] == kept


def test_what_was_promoted_is_left_alone(parts):
    said = [say(parts, text, scope=Scope.SESSION) for text in SAID]
    for memory in said:
        promote(parts, memory.id, Scope.PROJECT, None, HERE)
    session_ends(parts, days=40, llm=TidyLLM())
    assert {now(parts, memory).status.state for memory in said} == {State.ACTIVE}


def test_what_housekeeping_did_to_a_memory_is_no_edit(parts):
    said = [say(parts, text) for text in SAID]
    for memory in said:
        save(parts.store, replace(memory, version=2), history=(entry(memory, Event.UPDATED, START, "run 1"),))
    merge_categories(replace(parts, llm=TidyLLM()), HERE, Occasion(5))
    assert {now(parts, memory).status.state for memory in said} == {State.ACTIVE, State.ARCHIVED, State.SUPERSEDED}


@pytest.mark.parametrize("fields", [KEPT[Hold.TITLED], KEPT[Hold.LOGGED]])
def test_saving_nearly_the_same_does_not_end_what_was_kept_on_purpose(parts, fields):
    old = say(parts, "Stripe integration via src/lib/stripe.ts", distinct=True, **fields)
    done = keep(parts, Draft("Stripe integration lives in src/lib/stripe.ts", category="progress"), HERE)
    assert (done.superseded, now(parts, old), done.reinforced) == ((), old, False)


def test_what_gave_way_says_to_what_and_why(parts):
    named, near = say(parts, "We deploy on Mondays"), say(parts, "Stripe integration via src/lib/stripe.ts")
    draft = Draft("Stripe integration lives in src/lib/stripe.ts", category="progress", supersedes=(named.id,))
    new = keep(parts, draft, HERE).memory
    told = [now(parts, old).status for old in (named, near)]
    assert [(status.successor, status.reason) for status in told] == [(new.id, NAMED), (new.id, SAID_ANEW)]


def test_what_was_merged_or_put_aside_says_why_and_in_which_run(parts):
    said = [say(parts, text) for text in SAID]
    done = merge_categories(replace(parts, llm=TidyLLM()), HERE, Occasion(5))
    ended = [now(parts, memory).status for memory in said if not now(parts, memory).is_active]
    assert {status.state for status in ended} == {State.ARCHIVED, State.SUPERSEDED}
    assert all(status.reason and done.run in status.reason for status in ended)
    assert all(status.successor for status in ended if status.state is State.SUPERSEDED)


def test_the_users_word_stays_the_users_when_others_repeat_it(parts):
    said = say(parts, "We deploy on Mondays", metadata={"said_by": "user", "found_by": "wish"})
    again = say(parts, "We deploy on Mondays", metadata={"said_by": "tool", "found_by": "llm", "more": 1})
    assert (again.id, again.metadata) == (said.id, {"said_by": "user", "found_by": "wish", "more": 1})


def test_a_line_of_a_log_stays_one_when_it_is_said_again(parts):
    line = say(parts, "We deploy on Mondays", metadata={ENTRY: "info"}, distinct=True)
    assert say(parts, "We deploy on Mondays", metadata={ENTRY: "nothing"}).metadata[ENTRY] == "info"
    assert now(parts, line).reinforced == 1


@pytest.mark.parametrize("hold", [Hold.TITLED, Hold.LOGGED])
def test_an_act_ends_what_housekeeping_may_not(parts, hold):
    acts = (
        lambda id: forget(parts, id, None, HERE),
        lambda id: invalidate(parts, id, None, None, HERE),
        lambda id: remember(parts, Draft(f"in the place of {id}", supersedes=(id,)), HERE),
    )
    for number, act in enumerate(acts):
        memory = say(parts, SAID[number], distinct=True, **KEPT[hold])
        act(memory.id)
        assert not now(parts, memory).is_active
        destroy(parts, memory.id, HERE)
        assert parts.store.memories([memory.id]) == {}


def put_aside(parts: Parts, reason: str, days: int = 3, **fields) -> Memory:
    """A memory as an earlier version put it aside."""
    memory = say(parts, SAID[0], distinct=True, **fields)
    parts.clock.tick(days * DAY)
    at = parts.clock.now()
    gone = replace(memory, status=Status(State.ARCHIVED, reason, at), updated=at, version=2)
    save(parts.store, gone, history=(entry(memory, Event.ARCHIVED, at, "run 1"),))
    return memory


@pytest.mark.parametrize(("reason", "fields"), [("faded", {}), *product([OUTDATED], [KEPT[Hold.TITLED], {}])])
def test_what_was_put_aside_by_mistake_comes_back_as_old_as_it_was(parts, reason, fields):
    memory = put_aside(parts, reason, **fields)
    comes_back = reason == "faded" or bool(fields)
    assert prune(parts, HERE) == Pruned(brought_back=int(comes_back))
    assert (now(parts, memory).is_active, now(parts, memory).updated == memory.updated) == (comes_back, comes_back)
    assert prune(parts, HERE) == Pruned()


def test_what_is_edited_after_it_was_put_aside_comes_back(parts):
    memory = put_aside(parts, OUTDATED)
    parts.clock.tick(DAY)
    edited = tag(parts, memory.id, ["mine"], [], HERE).memory
    assert (prune(parts, HERE), now(parts, memory).is_active) == (Pruned(brought_back=1), True)
    assert now(parts, memory).updated == edited.updated


def test_what_was_put_aside_by_mistake_and_said_again_is_not_there_twice(parts):
    memory = put_aside(parts, "faded")
    again = say(parts, SAID[0])
    assert (prune(parts, HERE), again.id != memory.id) == (Pruned(), True)


def test_a_title_that_is_taken_by_now_is_not_taken_back(parts):
    memory = put_aside(parts, OUTDATED, **KEPT[Hold.TITLED])
    say(parts, SAID[1], distinct=True, **KEPT[Hold.TITLED])
    parts.clock.tick(100 * DAY)
    assert (prune(parts, HERE), now(parts, memory).status.state) == (Pruned(), State.ARCHIVED)


def test_what_was_imported_as_archived_is_pruned_but_not_brought_back(parts):
    memory = put_aside(parts, "archived before it was imported")
    assert prune(parts, HERE) == Pruned()
    parts.clock.tick(15 * DAY)
    assert (prune(parts, HERE), now(parts, memory).status.state) == (Pruned(hidden=1), State.PRUNED)


def test_what_was_pruned_is_in_no_list_and_no_search_but_can_be_brought_back(parts, engine):
    memory = put_aside(parts, "archived before it was imported")
    parts.clock.tick(15 * DAY)
    prune(parts, HERE)
    everything = engine.recall(Question("cart module", include_forgotten=True), HERE)
    assert (everything.hits, engine.listed(HERE, 10)[0], engine.valid(HERE)) == ((), [], [])
    assert bring_back(parts, memory.id, HERE).is_active
    assert found(engine, "cart module") == [{memory.id}] * 3


@pytest.mark.parametrize("hold", KEPT)
def test_the_table_holds_what_it_says(hold):
    memory = a_memory("m1", **{"category": "progress", "importance": 0.5} | KEPT[hold])
    stopped = {way for way in Way if why_not(memory, way) is hold}
    assert stopped == {way for way, holds in HOLDS.items() if hold in holds}


def test_nothing_stands_against_an_act():
    assert why_not(a_memory("m1", title="Kept", importance=1.0), Way.ACT, set(Hold)) is None


def test_the_docs_have_the_table_of_the_code():
    page = (Path(__file__).parents[2] / "docs" / "endings.md").read_text()
    rows = {line.split("|")[1].strip(): line.split("|")[2:-1] for line in page.splitlines() if line.startswith("|")}
    names = [cell.strip() for cell in rows["way"][1:]]
    assert names == [hold.value for hold in Hold]
    for way, holds in HOLDS.items():
        marks = [cell.strip() for cell in rows[f"**{way.value}**"][1:]]
        assert [name for name, mark in zip(names, marks, strict=True) if mark == "kept"] == [
            h.value for h in Hold if h in holds
        ]


def test_a_preference_that_an_agent_noted_becomes_the_users_when_the_user_says_it(parts):
    say(parts, "Prefer tabs", "preference", metadata={"said_by": "assistant"})
    assert say(parts, "Prefer tabs", "preference", metadata={"said_by": "user"}).metadata["said_by"] == "user"
