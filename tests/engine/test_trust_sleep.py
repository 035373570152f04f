"""Sleep: what goes dormant and what never does, with merging, principles and pruning, and how it is taken back."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Barrier

import pytest

from fakes import START, Rival, ScriptedLLM
from making import a_contradiction, a_memory, save
from retain.domain.changes import ContradictionState
from retain.domain.memory import Event, Kind, Provenance, Scope, Source, State
from retain.domain.recall import Filter
from retain.domain.session import Caller, Project, Use
from retain.embedding.hashed import HashedEmbedder
from retain.engine.drafts import Draft
from retain.engine.engine import Engine
from retain.engine.lifecycle.merging import Occasion, merge_categories
from retain.engine.lifecycle.pruning import KEPT_FOR, SHOWN_FOR, Pruned, prune
from retain.engine.lifecycle.undoing import undo
from retain.engine.parts import Parts, places
from retain.engine.recall.recall import Question, recall
from retain.engine.remember import remember
from retain.engine.revise import bring_back, tag
from retain.engine.trust import dormancy, sleeping
from retain.engine.trust.recalling import TrustQuestion
from retain.engine.trust.sleeping import is_due, sleep
from retain.errors import LLMFailed

HERE = Caller(project=Project("p" * 20, "shop", "/shop", START))
DAY = 86_400
SAME = "The nightly import of orders failed on the {} host with a timeout"


@pytest.fixture
def parts(store, clock):
    return Parts(store, HashedEmbedder(), clock)


def say(parts, text="The build was red on Tuesday", kind=Kind.EPISODIC, caller=HERE, **fields):
    parts.clock.tick(60)
    return remember(parts, Draft(text, kind, **fields), caller).memory


def later(parts, days):
    return parts.clock.tick(days * DAY)


def in_state(parts, state):
    return {s.memory.id for s in parts.store.listed(Filter(places(HERE), states=(state,)), 2000)}


def asleep(parts):
    return in_state(parts, State.DORMANT)


def episodes(parts, **fields):
    return [say(parts, SAME.format(host), **fields) for host in ("first", "second", "third")]


@pytest.mark.parametrize(("kind", "days"), [(Kind.EPISODIC, 23), (Kind.SEMANTIC, 99), (Kind.PROCEDURAL, 298)])
def test_a_memory_goes_to_sleep_when_a_tenth_is_left_of_its_freshness(parts, kind, days):
    said = say(parts, kind=kind)
    later(parts, days)
    assert sleep(parts, HERE).dormant == ()
    later(parts, 2)
    assert [memory.id for memory in sleep(parts, HERE).dormant] == [said.id]
    assert asleep(parts) == {said.id}


def test_what_sleeps_says_since_when_and_has_history(parts):
    said = say(parts)
    later(parts, 40)
    sleep(parts, HERE)
    found = parts.store.memories([said.id])[said.id].memory
    assert (found.status.reason, found.status.since) == ("not said again since 2026-03-02", parts.clock.now())
    assert [row.event for row in parts.store.history(said.id)] == [Event.CREATED, Event.DORMANT]


@pytest.mark.parametrize(
    "fields",
    [
        {"importance": 0.7},
        {"category": "decision"},
        {"category": "preference"},
        {"category": "gotcha"},
        {"title": "Build log"},
        {"metadata": {"said_by": "user"}},
        {"text": "The user prefers short answers"},
    ],
)
def test_what_matters_or_is_the_users_never_sleeps(parts, fields):
    say(parts, **fields)
    later(parts, 2000)
    assert sleep(parts, HERE).dormant == ()


def test_what_an_agent_was_told_fades_like_any_episode(parts):
    said = say(parts, source=Source(provenance=Provenance.TOLD_BY_USER))
    later(parts, 40)
    assert [memory.id for memory in sleep(parts, HERE).dormant] == [said.id]


def test_use_keeps_awake(parts):
    used, unused = say(parts), say(parts, "Somebody watered the plants")
    at = later(parts, 30)
    parts.store.note_uses([Use((used.id,), at)])
    later(parts, 5)
    sleep(parts, HERE)
    assert asleep(parts) == {unused.id}


def test_repetition_keeps_awake(parts):
    say(parts)
    later(parts, 20)
    say(parts)
    later(parts, 20)
    assert sleep(parts, HERE).dormant == ()


def test_what_arrived_late_is_not_old(parts):
    say(parts, event_time=START - timedelta(days=400))
    assert sleep(parts, HERE).dormant == ()


def test_both_sides_of_an_open_contradiction_stay_awake(parts):
    one, other = say(parts), say(parts, "Nobody saw a red build")
    found = a_contradiction("c1", one.id, other.id)
    save(parts.store, contradictions=(found,))
    later(parts, 40)
    assert sleep(parts, HERE).dormant == ()
    save(parts.store, contradictions=(replace(found, state=ContradictionState.RESOLVED, winner=one.id),))
    assert len(sleep(parts, HERE).dormant) == 2


def test_other_projects_and_other_people_are_left_alone(parts):
    elsewhere = replace(HERE, project=Project("q" * 20, "other", "/other", START))
    say(parts, caller=elsewhere)
    say(parts, caller=replace(HERE, user="eve"))
    later(parts, 40)
    assert sleep(parts, HERE).dormant == ()


def test_what_sleeps_is_brought_back_by_hand_and_stays_awake(parts):
    said = say(parts)
    later(parts, 40)
    sleep(parts, HERE)
    bring_back(parts, said.id, HERE)
    assert (sleep(parts, HERE).dormant, asleep(parts)) == ((), set())


def test_what_sleeps_is_recalled_below_what_is_awake(parts):
    old = say(parts, "The till in the cellar is locked at night")
    later(parts, 40)
    sleep(parts, HERE)
    new = say(parts, "The till in the cellar is painted green")
    found = recall(parts, Question("till in the cellar"), HERE).hits
    assert [hit.id for hit in found] == [new.id, old.id]
    assert found[1].score < found[0].score / 1.5


def test_what_was_used_in_its_sleep_wakes_with_the_next_one(parts):
    said = say(parts)
    later(parts, 40)
    sleep(parts, HERE)
    assert sleep(parts, HERE).woken == ()
    parts.store.note_uses([Use((said.id,), later(parts, 1))])
    assert [memory.id for memory in sleep(parts, HERE, dry_run=True).woken] == [said.id]
    assert asleep(parts) == {said.id}
    slept = sleep(parts, HERE)
    assert ([memory.id for memory in slept.woken], slept.dormant, asleep(parts)) == ([said.id], (), set())


def test_what_only_fills_a_thin_answer_is_not_woken_by_that(parts):
    say(parts, "The till in the cellar is locked at night")
    later(parts, 40)
    sleep(parts, HERE)
    later(parts, 1)
    engine = Engine(parts)
    engine.recall(Question("what is the cellar painted with"), HERE)
    engine.trust.recall(TrustQuestion("what is the cellar painted with"), HERE)
    assert engine.settle(10)
    assert sleep(parts, HERE).woken == ()
    engine.recall(Question("till in the cellar is locked at night"), HERE)
    assert engine.settle(10)
    assert len(sleep(parts, HERE).woken) == 1


def steps(parts):
    return [say(parts, f"Step {n} of the importer is finished", category="progress") for n in range(3)]


def finding_outdated(parts, old, *kept):
    """With a language model that puts one of three aside."""
    answer = {"keep": [memory.id for memory in kept], "merge": [], "drop": [old.id]}
    return replace(parts, llm=ScriptedLLM(json.dumps(answer), LLMFailed("no more to say")))


@pytest.mark.parametrize("days", [SHOWN_FOR.days, SHOWN_FOR.days + KEPT_FOR.days])
def test_what_is_brought_back_at_that_moment_is_neither_pruned_nor_destroyed(parts, days):
    old, *kept = steps(parts)
    merge_categories(finding_outdated(parts, old, *kept), HERE, Occasion(at_least=1))
    if days > SHOWN_FOR.days:
        later(parts, SHOWN_FOR.days + 1)
        assert prune(parts, HERE).hidden == 1
    later(parts, days + 1)
    rival = Rival(parts.store, lambda: bring_back(parts, old.id, HERE))
    assert not prune(replace(parts, store=rival), HERE)
    assert parts.store.memories([old.id])[old.id].memory.is_active


def test_undo_wakes_all_that_a_sleep_put_to_sleep(parts):
    said = {say(parts).id, say(parts, "Somebody watered the plants").id}
    later(parts, 40)
    (run,) = sleep(parts, HERE).undo
    undone = undo(parts, run, HERE)
    assert (set(undone.sources), asleep(parts), in_state(parts, State.ACTIVE)) == (said, set(), said)
    assert sleep(parts, HERE).dormant == ()


def test_many_go_to_sleep_in_several_writes_each_with_a_run(parts):
    place = places(HERE, (Scope.PROJECT,))[0]
    save(parts.store, *(a_memory(f"m{n}", f"Note {n}", kind=Kind.EPISODIC, place=place) for n in range(1001)))
    later(parts, 40)
    done = sleep(parts, HERE)
    assert (len(done.dormant), len(asleep(parts)), len(done.undo)) == (1001, 1001, 3)
    undo(parts, done.undo[0], HERE)
    assert len(asleep(parts)) == 501


def test_when_the_time_is_over_the_next_write_waits(parts):
    place = places(HERE, (Scope.PROJECT,))[0]
    save(parts.store, *(a_memory(f"m{n}", f"Note {n}", kind=Kind.EPISODIC, place=place) for n in range(501)))
    later(parts, 40)
    seconds = iter((1.0, 0.0))
    dormancy.put_to_sleep(parts, dormancy.tired(parts, HERE), HERE, lambda: next(seconds))
    assert len(asleep(parts)) == 500


def test_a_memory_that_somebody_changes_meanwhile_stays_awake(parts):
    said = say(parts)
    later(parts, 40)
    tired = dormancy.tired(parts, HERE)
    rival = Rival(parts.store, lambda: tag(parts, said.id, ["mine"], [], HERE))
    done = dormancy.put_to_sleep(replace(parts, store=rival), tired, HERE, lambda: 60.0)
    assert (done.memories, done.runs, asleep(parts)) == ((), (), set())


def test_a_dry_run_shows_everything_and_writes_nothing(parts):
    say(parts, "Somebody watered the plants")
    later(parts, 40)
    episodes(parts)
    before = parts.store.change()
    shown = sleep(parts, HERE, dry_run=True)
    assert parts.store.change() == before
    done = sleep(parts, HERE)
    assert (shown.dry_run, shown.undo, shown.principles.run) == (True, (), None)
    assert [m.id for m in shown.dormant] == [m.id for m in done.dormant]
    assert [m.text for m in shown.principles.made] == [m.text for m in done.principles.made]
    assert (len(done.dormant), len(done.principles.made)) == (1, 1)


def test_a_second_sleep_does_nothing(parts):
    say(parts, "Somebody watered the plants")
    later(parts, 40)
    episodes(parts)
    assert sleep(parts, HERE).undo
    again = sleep(parts, HERE)
    assert (again.dormant, again.principles.made, again.merged.merged, bool(again.pruned), again.undo) == (
        *((), (), (), False),
        (),
    )


def test_sleep_merges_by_type_and_prunes_what_was_put_aside_long_ago(parts):
    old, *kept = steps(parts)
    assert sleep(finding_outdated(parts, old, *kept), HERE).merged.dropped == (old.id,)
    later(parts, SHOWN_FOR.days + 1)
    assert sleep(parts, HERE, dry_run=True).pruned == Pruned(hidden=1)
    assert (sleep(parts, HERE).pruned, in_state(parts, State.PRUNED)) == (Pruned(hidden=1), {old.id})
    later(parts, KEPT_FOR.days + 1)
    assert sleep(parts, HERE, dry_run=True).pruned == Pruned(destroyed=1)
    assert (sleep(parts, HERE).pruned, parts.store.memories([old.id])) == (Pruned(destroyed=1), {})


def test_every_step_can_be_taken_back_the_last_first(parts):
    old, *kept = steps(parts)
    said = episodes(parts, importance=0.7)
    say(parts, "Somebody watered the plants")
    later(parts, 40)
    done = sleep(finding_outdated(parts, old, *kept), HERE)
    assert len(done.undo) == 3
    for run in done.undo:
        undo(parts, run, HERE)
    assert len(in_state(parts, State.ACTIVE)) == 7
    assert not any(stored.memory.consolidated for stored in parts.store.memories([m.id for m in said]).values())


def test_without_time_the_rest_is_left_for_the_next_sleep(parts):
    say(parts)
    later(parts, 40)
    done = sleep(parts, HERE, left=lambda: 0.0)
    assert (done.dormant, [warning.code for warning in done.warnings]) == ((), ["partial_results"])
    assert is_due(parts.store, HERE, parts.clock.now())
    assert len(sleep(parts, HERE).dormant) == 1


def test_a_model_that_fails_stops_nothing(parts):
    episodes(parts)
    done = sleep(replace(parts, llm=ScriptedLLM("nonsense")), HERE)
    assert (len(done.principles.made), [warning.code for warning in done.warnings]) == (1, ["llm_failed"])


def test_a_model_words_what_sleep_finds(parts):
    episodes(parts)
    text = "The nightly import of orders fails with a timeout."
    answer = json.dumps({"principles": [{"group": 1, "type": "semantic", "content": text}]})
    (made,) = sleep(replace(parts, llm=ScriptedLLM(answer)), HERE).principles.made
    assert made.text == text


def test_a_sleep_is_due_once_a_day(parts):
    assert is_due(parts.store, HERE, parts.clock.now())
    sleep(parts, HERE)
    assert not is_due(parts.store, HERE, later(parts, 0.9))
    assert is_due(parts.store, HERE, later(parts, 0.2))
    merge_categories(parts, HERE, Occasion())
    sleeping.generalise(parts, HERE, sleeping.Look())
    assert is_due(parts.store, HERE, parts.clock.now())


def test_two_sleepers_at_once_do_nothing_twice(two_stores, clock):
    windows = [Parts(store, HashedEmbedder(), clock) for store in two_stores * 2]
    old = {say(windows[0], "Somebody watered the plants").id}
    clock.tick(40 * DAY)
    episodes(windows[0])
    start = Barrier(len(windows))

    def run(parts):
        start.wait()
        return sleep(parts, HERE)

    with ThreadPoolExecutor(len(windows)) as pool:
        done = list(pool.map(run, windows))
    assert sum(len(one.dormant) for one in done) == 1
    assert sum(len(one.principles.made) for one in done) == 1
    assert asleep(windows[0]) == old


def test_what_an_agent_keeps_to_itself_sleeps_too(parts):
    ada = replace(HERE, agent="ada")
    said = say(parts, caller=ada, private=True, scope=Scope.PROJECT)
    later(parts, 40)
    assert [memory.id for memory in sleep(parts, ada).dormant] == [said.id]
