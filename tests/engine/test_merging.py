"""Consolidation by category: by a scripted model and by rule, applied whole, and taken back."""

import json
from dataclasses import replace

import pytest

from fakes import START, Rival, ScriptedLLM
from making import save
from retain.domain.conversation import Cursor
from retain.domain.memory import Kind, Place, Scope, State
from retain.domain.recall import SHOWN, Filter
from retain.domain.session import Caller, Project
from retain.embedding.hashed import HashedEmbedder
from retain.engine.drafts import Draft
from retain.engine.lifecycle.merging import Occasion, is_due, merge_categories
from retain.engine.lifecycle.pruning import KEPT_FOR, SHOWN_FOR, Pruned
from retain.engine.lifecycle.undoing import undo
from retain.engine.parts import Parts, places
from retain.engine.remember import remember
from retain.engine.revise import Edit, forget, update
from retain.errors import LLMFailed, Refused, StoreDown

HERE = Caller(project=Project("p" * 20, "shop", "/shop", START), session="monday")
DAY = 86_400
NOTES = (
    "The login page is half done",
    "The login page is done but not styled",
    "Search works for products",
    "Invoices are sent by mail",
    "The cart keeps its items",
)


@pytest.fixture
def parts(store, clock):
    return Parts(store, HashedEmbedder(), clock)


def note(parts, text, category="context", said_by="assistant", caller=HERE, **fields):
    parts.clock.tick(60)
    draft = Draft(text, Kind.EPISODIC, category=category, metadata={"said_by": said_by}, **fields)
    return remember(parts, draft, caller).memory


def notes(parts, texts=NOTES, **fields):
    return [note(parts, text, **fields) for text in texts]


def merge(parts, *answers, at_least=5, **occasion):
    llm = ScriptedLLM(*answers) if answers else None
    return merge_categories(replace(parts, llm=llm), HERE, Occasion(at_least, **occasion))


def plan(keep=(), merged=(), drop=()):
    """A model's answer; `merged` has (memories, content)."""
    return json.dumps(
        {
            "keep": [memory.id for memory in keep],
            "merge": [{"ids": [m.id for m in them], "content": content, "tags": ["ui"]} for them, content in merged],
            "drop": [memory.id for memory in drop],
        }
    )


def memories(parts, *states, caller=HERE):
    wanted = Filter(places(caller, (Scope.PROJECT, Scope.USER)), states=states or (State.ACTIVE,))
    return [stored.memory for stored in parts.store.listed(wanted, 100)]


def texts(parts, *states):
    return {memory.text for memory in memories(parts, *states)}


def login(said):
    return plan(said[2:4], [(said[:2], "The login page is done but not styled yet")], said[4:])


def test_a_model_merges_keeps_and_drops(parts):
    said = notes(parts, tags=("web",))
    done = merge(parts, login(said))
    new = next(memory for memory in memories(parts) if memory.id == done.merged[0][0])
    assert done.merged == ((new.id, (said[0].id, said[1].id)),)
    assert (done.dropped, done.kept, done.by, done.run is not None) == ((said[4].id,), 2, "llm", True)
    assert (new.category, new.derived_from, new.tags) == ("context", (said[0].id, said[1].id), ("ui", "web"))
    assert (new.source.tool, new.metadata) == ("consolidation", {"said_by": "assistant", "found_by": "llm"})
    assert {memory.status.successor for memory in memories(parts, State.SUPERSEDED)} == {new.id}
    (dropped,) = memories(parts, State.ARCHIVED)
    assert (dropped.id, bool(dropped.status.reason)) == (said[4].id, True)


def test_a_merger_is_found_like_any_memory(parts):
    done = merge(parts, login(notes(parts)))
    assert parts.store.memories([done.merged[0][0]])[done.merged[0][0]].model == parts.embedder.model


def test_a_run_is_undone(parts):
    said = notes(parts)
    done = merge(parts, login(said))
    undone = undo(parts, done.run, HERE)
    assert texts(parts) == set(NOTES)
    assert set(undone.sources) == {said[0].id, said[1].id, said[4].id}
    assert [memory.valid_until for memory in memories(parts)] == [None] * 5
    with pytest.raises(Refused, match="undone already"):
        undo(parts, done.run, HERE)


def test_what_a_run_made_and_somebody_edited_stays_when_it_is_undone(parts):
    done = merge(parts, login(notes(parts)))
    update(parts, done.merged[0][0], Edit(text="The login page is done, Ada says"), HERE)
    undo(parts, done.run, HERE)
    assert texts(parts) == {*NOTES, "The login page is done, Ada says"}


def test_what_was_changed_since_stays_when_a_run_is_undone(parts):
    said = notes(parts)
    done = merge(parts, login(said))
    note(parts, NOTES[0])  # said anew, while the old one was out of sight
    forget(parts, said[4].id, "gone", HERE)
    undo(parts, done.run, HERE)
    assert sorted(memory.text for memory in memories(parts)) == sorted(NOTES[:4])
    assert [memory.id for memory in memories(parts, State.FORGOTTEN)].count(said[4].id) == 1


@pytest.mark.parametrize(
    "answer",
    [
        LLMFailed("no answer in time"),
        "not JSON",
        '{"keep": [], "merge": [], "drop": []}',
        '{"keep": ["00000000000000000000"], "merge": [], "drop": []}',
    ],
)
def test_an_answer_that_is_not_whole_changes_nothing_and_the_rule_stands_in(parts, answer):
    notes(parts)
    done = merge(parts, answer)
    assert (done.merged, done.dropped, done.by, texts(parts)) == ((), (), "rules", set(NOTES))
    assert [warning.code for warning in done.warnings] == ["llm_failed"]


def test_what_a_model_takes_back_when_asked_again_is_not_merged(parts):
    said = notes(parts)
    denies = json.dumps({"supported": [], "not": [{"n": 1, "why": "nobody said yet"}]})
    llm = ScriptedLLM(login(said), checks=[denies])
    done = merge_categories(replace(parts, llm=llm), HERE, Occasion(5))
    assert (done.merged, done.dropped, texts(parts)) == ((), (said[4].id,), set(NOTES[:4]))
    (warning,) = done.warnings
    assert (warning.code, "nobody said yet" in warning.message) == ("not_merged", True)


def test_a_model_that_may_not_be_asked_is_not_asked(parts):
    notes(parts)
    llm = ScriptedLLM(why_not="no key")
    done = merge_categories(replace(parts, llm=llm), HERE, Occasion(5))
    assert (llm.asked, "no key" in done.warnings[0].message) == ([], True)


def test_few_memories_of_a_category_are_left_alone(parts):
    said = notes(parts, NOTES[:4])
    assert merge(parts, "unused").merged == ()
    assert len(merge(parts, plan(said[2:], [(said[:2], NOTES[1])]), at_least=3).merged) == 1


def test_a_merger_in_the_words_of_a_source_leaves_that_source(parts):
    said = notes(parts)
    done = merge(parts, plan(said[2:], [(said[:2], NOTES[1])]))
    assert (done.merged, texts(parts)) == (((said[1].id, (said[0].id,)),), set(NOTES[1:]))
    undo(parts, done.run, HERE)
    assert texts(parts) == set(NOTES)


def test_what_the_user_said_is_never_dropped(parts):
    said = [note(parts, text, said_by="user") for text in NOTES]
    assert merge(parts, plan(said[1:], drop=said[:1])).dropped == ()
    assert texts(parts) == set(NOTES)


def test_what_the_user_said_is_not_mixed_with_what_others_said(parts):
    said = [note(parts, NOTES[0], said_by="user"), *notes(parts, NOTES[1:])]
    assert merge(parts, login(said)).merged == ()
    assert {NOTES[0], NOTES[1]} <= texts(parts)


def test_a_merger_stands_on_the_weakest_word_of_its_sources(parts):
    said = [note(parts, NOTES[0], said_by="tool"), *notes(parts, NOTES[1:])]
    done = merge(parts, login(said))
    assert parts.store.memories([done.merged[0][0]])[done.merged[0][0]].memory.metadata["said_by"] == "tool"


def test_what_is_changed_while_the_model_thinks_is_not_touched(parts):
    said = notes(parts)

    class Slow(ScriptedLLM):
        def complete(self, prompt, seconds):
            update(parts, said[0].id, Edit(text="The login page was thrown away"), HERE)
            forget(parts, said[4].id, None, HERE)
            return super().complete(prompt, seconds)

    done = merge_categories(replace(parts, llm=Slow(login(said))), HERE, Occasion(5))
    assert (done.merged, done.dropped) == ((), ())
    assert "The login page was thrown away" in texts(parts)


def test_another_window_at_the_worst_moment_is_planned_around(parts):
    said = notes(parts)
    rival = Rival(parts.store, lambda: forget(parts, said[0].id, None, HERE))
    done = merge_categories(replace(parts, store=rival, llm=ScriptedLLM(login(said))), HERE, Occasion(5))
    assert (done.merged, done.dropped) == ((), (said[4].id,))


def test_places_are_never_mixed(parts):
    notes(parts, NOTES[:2], scope=Scope.USER)
    other = replace(HERE, project=replace(HERE.project, id="q" * 20))
    notes(parts, NOTES[2:4], caller=other)
    notes(parts, NOTES[4:])
    assert merge(parts, "unused").merged == ()


def test_without_a_model_the_newest_of_equal_claims_stands(parts):
    old = note(parts, "Run the whole test suite with make check before pushing", "pattern")
    new = note(parts, "Run the whole test suite with make check before each pushing", "pattern")
    texts_of_others = [f"Module number {n} belongs to team {n}" for n in range(4)]
    others = notes(parts, texts_of_others, category="pattern")
    done = merge(parts)
    assert (done.merged, done.by) == (((new.id, (old.id,)),), "rules")
    assert {memory.id for memory in memories(parts)} == {new.id, *(memory.id for memory in others)}


def test_without_a_model_no_word_is_lost(parts):
    said = notes(parts, [f"The {name} module is moved to the new importer" for name in ("cart", "till", "mail")])
    assert (merge(parts, at_least=3).merged, len(memories(parts))) == ((), len(said))


def test_without_a_model_different_claims_are_never_one(parts):
    said = notes(
        parts, [f"The billing API server of stage {n} listens on port 808{n}" for n in range(5)], category="gotcha"
    )
    assert merge(parts).merged == ()
    assert len(memories(parts)) == len(said)


def test_what_has_faded_is_not_put_aside(parts):
    notes(parts, category="progress")
    parts.clock.tick(8 * DAY)
    assert (merge(parts).dropped, texts(parts)) == ((), set(NOTES))


def test_lasting_knowledge_does_not_fade(parts):
    notes(parts, category="architecture")
    parts.clock.tick(400 * DAY)
    assert (merge(parts).dropped, len(memories(parts))) == ((), 5)


def tidy(parts, after):
    """Housekeeping a minute before so much time has passed, and a minute after."""
    parts.clock.tick(after.total_seconds() - 60)
    before = merge(parts, at_least=99).pruned
    parts.clock.tick(120)
    return before, merge(parts, at_least=99).pruned


def test_what_was_put_aside_leaves_all_lists_after_two_weeks_and_is_destroyed_30_days_later(parts):
    said = notes(parts)
    merge(parts, login(said))
    assert tidy(parts, SHOWN_FOR) == (Pruned(), Pruned(hidden=1))
    assert said[4].id not in {memory.id for memory in memories(parts, *SHOWN)}
    assert parts.store.memories([said[4].id])[said[4].id].memory.status.state is State.PRUNED
    assert tidy(parts, KEPT_FOR) == (Pruned(), Pruned(destroyed=1))
    assert (parts.store.memories([said[4].id]), parts.store.history(said[4].id)) == ({}, [])


def test_what_was_pruned_is_brought_back_by_undoing_the_run_that_put_it_aside(parts):
    said = notes(parts)
    done = merge(parts, login(said))
    tidy(parts, SHOWN_FOR)
    parts.clock.tick(29 * DAY)
    assert said[4].id in undo(parts, done.run, HERE).sources
    assert texts(parts) == set(NOTES)
    # Who brings something back wants it.
    again = merge(parts, at_least=1)
    assert (again.dropped, texts(parts)) == ((), set(NOTES))
    assert tidy(parts, KEPT_FOR)[1] == Pruned()


def test_undoing_a_run_says_what_was_destroyed_since(parts):
    said = notes(parts)
    done = merge(parts, login(said))
    tidy(parts, SHOWN_FOR)
    tidy(parts, KEPT_FOR)
    assert undo(parts, done.run, HERE).destroyed == (said[4].id,)


def test_nothing_is_destroyed_before_the_store_was_copied(parts):
    copies = []

    def no_room():
        copies.append(parts.store.destroyed([said[4].id]))
        raise StoreDown("no room for a copy")

    said = notes(parts)
    merge(parts, login(said))
    tidy(parts, SHOWN_FOR)
    parts.clock.tick((KEPT_FOR.days + 1) * DAY)
    refused = merge_categories(replace(parts, copy_first=no_room), HERE, Occasion(99))
    assert (refused.pruned.destroyed, [w.code for w in refused.warnings]) == (0, ["not_destroyed"])
    done = merge_categories(replace(parts, copy_first=lambda: copies.append(set())), HERE, Occasion(99))
    assert (done.pruned.destroyed, copies) == (1, [set(), set()])


def test_a_model_is_not_asked_again_about_what_has_not_changed(parts):
    said = notes(parts)
    merge(parts, plan(said))
    parts.clock.tick(60)
    llm = ScriptedLLM()
    done = merge_categories(replace(parts, llm=llm), HERE, Occasion(5, even_unchanged=False))
    assert (llm.asked, done.run) == ([], None)
    said.append(note(parts, "The footer is green"))
    assert merge(parts, plan(said), even_unchanged=False).by == "llm"


def test_without_time_no_model_is_asked(parts):
    notes(parts)
    assert merge(parts, "unused", left=lambda: 1.0).by == "rules"


def test_merging_nothing_leaves_no_run(parts):
    assert (merge(parts).run, parts.store.runs(5)) == (None, [])


def read(parts, extractions):
    cursor = Cursor("/t/one.jsonl", "monday", extractions, START, None, HERE.project.id, extractions=extractions)
    save(parts.store, cursors=(cursor,))


@pytest.mark.parametrize(
    ("event", "before", "after", "due"),
    [
        ("Stop", 8, 9, False),
        ("Stop", 9, 10, True),
        ("Stop", 18, 23, True),
        ("Stop", 10, 11, False),
        ("SessionEnd", 1, 1, True),
    ],
)
def test_it_is_due_at_the_end_of_a_session_and_after_every_tenth_extraction(parts, event, before, after, due):
    read(parts, after)
    assert is_due(parts.store, HERE, event, before) is due


def test_it_is_due_when_a_project_is_crowded(parts):
    for n in range(80):
        remember(parts, Draft(f"fact number {n} about module m{n}"), HERE)
    assert not is_due(parts.store, HERE, "Stop", 0)
    remember(parts, Draft("one more than enough"), HERE)
    assert is_due(parts.store, HERE, "Stop", 0)


def test_without_a_project_the_users_own_are_consolidated(parts):
    nowhere = Caller(session="monday")
    said = notes(parts, caller=nowhere)
    done = merge_categories(replace(parts, llm=ScriptedLLM(login(said))), nowhere, Occasion(5))
    assert [memory.place for memory in memories(parts, caller=nowhere)] == [Place(Scope.USER)] * 3
    assert len(done.merged) == 1
