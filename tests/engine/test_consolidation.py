"""Consolidation: with the real model and a real store, from episodes to facts and patterns, and back."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest

from retain.domain.memory import Event, Kind, Place, Scope, State
from retain.domain.recall import Filter
from retain.domain.session import Caller, Project
from retain.embedding.onnx import OnnxEmbedder
from retain.engine.drafts import Draft
from retain.engine.lifecycle.consolidation import consolidate, plan
from retain.engine.lifecycle.undoing import undo
from retain.engine.parts import Parts, places
from retain.engine.remember import remember
from retain.engine.revise import forget, tag
from retain.errors import NotFound, Refused

DOCKER = (
    "CI fails because the runner has no Docker daemon.",
    "The CI run failed again: no Docker daemon on the runner.",
    "CI integration tests fail when the Docker daemon is not running on runner ci-2.",
)
LINT = (
    "Run `make lint` before pushing.",
    "Always run `make lint` and `make types` before you push a branch",
    "Run make lint before each push because CI rejects unformatted code",
)
MORE_DOCKER = (
    "CI is red because there is no Docker daemon on the runner.",
    "The runner ci-2 lost its Docker daemon, so CI fails.",
    "CI fails: the Docker daemon of the runner is down.",
)


@pytest.fixture(scope="session")
def embedder():
    model = OnnxEmbedder()
    assert model.wait(20)
    return model


@pytest.fixture
def parts(store, embedder, clock):
    return Parts(store, embedder, clock)


@pytest.fixture
def caller(clock):
    return Caller(project=Project("p" * 20, "shop", "/shop", clock.now()), session="monday")


def say(parts, caller, texts, **fields):
    """What was said in a session, a minute apart."""
    drafts = [Draft(text, **{"kind": Kind.EPISODIC, **fields}) for text in texts]
    said = []
    for draft in drafts:
        parts.clock.tick(60)
        said.append(remember(parts, draft, caller).memory)
    return said


def say_in_sessions(parts, caller, texts, **fields):
    return [say(parts, replace(caller, session=f"day {n}"), [text], **fields)[0] for n, text in enumerate(texts)]


def content(done):
    made = [(m.text, m.kind, m.place, m.derived_from, m.tags, m.importance) for m in done.memories]
    return made, [(p.pattern, p.frequency, p.suggested_scope) for p in done.patterns], done.analysed


def all_of(parts, caller, *kinds, states=(State.ACTIVE,)):
    return [s.memory for s in parts.store.listed(Filter(places(caller), kinds=kinds, states=states), 100)]


def test_episodes_of_a_session_become_one_fact(parts, caller):
    said = say(parts, caller, DOCKER)
    done = consolidate(parts, caller, None)
    (fact,) = done.memories
    assert (fact.kind, fact.scope) == (Kind.SEMANTIC, Scope.PROJECT)
    assert fact.derived_from == tuple(m.id for m in said)
    assert parts.store.memories([fact.id])[fact.id].model == parts.embedder.model
    assert all(m.consolidated and m.version == 2 for m in all_of(parts, caller, Kind.EPISODIC))


def test_each_topic_has_its_own_fact_and_a_lone_remark_none(parts, caller):
    say(parts, caller, [*DOCKER, *LINT, "Lunch with the design team was moved to noon."])
    done = consolidate(parts, caller, None)
    assert len(done.memories) == 2
    assert done.analysed == 7


def test_a_fact_has_the_highest_importance_and_the_tags_of_its_sources(parts, caller):
    say(parts, caller, DOCKER[:2], tags=("ci",), importance=0.4)
    say(parts, caller, DOCKER[2:], tags=("docker",), importance=0.7)
    (fact,) = consolidate(parts, caller, None).memories
    assert (fact.importance, fact.tags) == (0.7, ("ci", "docker"))


def test_a_dry_run_shows_what_a_real_run_does_and_writes_nothing(parts, caller):
    say(parts, caller, [*DOCKER, *LINT])
    before = parts.store.change()
    shown = consolidate(parts, caller, None, dry_run=True)
    assert parts.store.change() == before
    assert shown.dry_run and shown.run is None
    assert content(shown) == content(consolidate(parts, caller, None))


def test_a_second_run_finds_nothing_new(parts, caller):
    say_in_sessions(parts, caller, DOCKER)
    say(parts, caller, LINT)
    assert consolidate(parts, caller, None).run
    again = consolidate(parts, caller, None)
    assert (again.memories, again.patterns, again.run) == ((), (), None)
    assert len(parts.store.runs(10)) == 1


def test_history_tells_of_the_run(parts, caller):
    (first, *_) = say(parts, caller, DOCKER)
    done = consolidate(parts, caller, None)
    assert parts.store.history(first.id)[-1].event is Event.CONSOLIDATED
    (row,) = parts.store.history(done.memories[0].id)
    assert (row.event, row.reason) == (Event.CREATED, f"run {done.run}")


def test_of_two_runs_at_once_one_wins_and_the_other_says_so(two_stores, embedder, clock, caller):
    windows = [Parts(store, embedder, clock) for store in two_stores]
    say(windows[0], caller, DOCKER)
    late = Meanwhile(windows[1].store, lambda: consolidate(windows[0], caller, None))
    lost = consolidate(replace(windows[1], store=late), caller, None)
    assert lost.lost_to == windows[0].store.runs(10)[0].id
    assert lost.memories == () and lost.warnings[0].code == "lost_to_another_run"
    assert len(all_of(windows[0], caller, Kind.SEMANTIC)) == 1


def test_two_windows_that_start_together_make_one_fact(two_stores, embedder, clock, caller):
    windows = [Parts(store, embedder, clock) for store in two_stores]
    say(windows[0], caller, DOCKER)
    together = Barrier(2)

    def run(window):
        together.wait()
        return consolidate(window, caller, None)

    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(run, windows))
    assert sum(one.run is not None for one in done) == 1
    assert len(all_of(windows[0], caller, Kind.SEMANTIC)) == 1


def test_a_source_that_was_tagged_meanwhile_is_no_lost_run(two_stores, embedder, clock, caller):
    windows = [Parts(store, embedder, clock) for store in two_stores]
    (first, *_) = say(windows[0], caller, DOCKER)
    late = Meanwhile(windows[1].store, lambda: tag(windows[0], first.id, ["ci"], [], caller))
    done = consolidate(replace(windows[1], store=late), caller, None)
    assert done.run and done.lost_to is None
    assert "ci" in done.memories[0].tags


def test_what_a_session_kept_to_itself_outlives_it_in_its_project(parts, caller):
    say(parts, caller, DOCKER, scope=Scope.SESSION)
    (fact,) = consolidate(parts, caller, None).memories
    assert fact.place == Place(Scope.PROJECT, "", caller.project.id)


def test_without_a_project_it_becomes_the_users(parts):
    nowhere = Caller(session="monday")
    say(parts, nowhere, DOCKER, scope=Scope.SESSION)
    assert [m.scope for m in consolidate(parts, nowhere, None).memories] == [Scope.USER]


def test_a_summary_stays_in_the_project_that_said_it(parts, caller, clock):
    other = replace(caller, project=Project("q" * 20, "bank", "/bank", clock.now()))
    say(parts, caller, DOCKER[:2], scope=Scope.SESSION)
    say(parts, other, DOCKER[2:], scope=Scope.SESSION)
    assert consolidate(parts, caller, None).memories == ()
    say(parts, other, MORE_DOCKER, scope=Scope.SESSION)
    facts = consolidate(parts, caller, None).memories
    assert {m.place.project for m in facts} == {other.project.id}


def test_memories_of_another_project_and_of_another_person_are_left_alone(parts, caller, clock):
    say(parts, replace(caller, project=Project("q" * 20, "bank", "/bank", clock.now())), DOCKER)
    say(parts, replace(caller, user="dana"), DOCKER)
    assert consolidate(parts, caller, None).analysed == 0


def test_a_fact_that_says_the_same_is_extended(parts, caller):
    say(parts, caller, DOCKER)
    (fact,) = consolidate(parts, caller, None).memories
    later = replace(caller, session="tuesday")
    said = say(parts, later, [text.replace("ci-2", "runner ci-2") for text in DOCKER], scope=Scope.SESSION)
    (extended,) = consolidate(parts, later, None, "summarize").memories
    assert (extended.id, extended.version) == (fact.id, 2)
    assert extended.derived_from == (*fact.derived_from, *(m.id for m in said))


def test_what_comes_up_in_three_sessions_is_a_pattern_with_its_frequency(parts, caller):
    said = say_in_sessions(parts, caller, DOCKER)
    done = consolidate(parts, caller, None, "extract_patterns")
    (pattern,) = done.patterns
    (memory,) = all_of(parts, caller, Kind.PROCEDURAL)
    assert (pattern.frequency, pattern.suggested_scope) == (3, Scope.PROJECT)
    assert memory.text == pattern.pattern == "Recurring: CI fails because the runner has no Docker daemon."
    assert (memory.metadata["frequency"], memory.metadata["sessions"]) == (3, 3)
    assert set(memory.derived_from) == {m.id for m in said}


def test_what_comes_up_often_in_one_session_is_no_pattern(parts, caller):
    say(parts, caller, DOCKER)
    assert consolidate(parts, caller, None, "extract_patterns").patterns == ()


def test_a_pattern_that_comes_up_again_is_counted_on(parts, caller):
    say_in_sessions(parts, caller, DOCKER)
    consolidate(parts, caller, None, "extract_patterns")
    say(parts, replace(caller, session="day 9"), MORE_DOCKER[1:2])
    (pattern,) = consolidate(parts, caller, None, "extract_patterns").patterns
    (memory,) = all_of(parts, caller, Kind.PROCEDURAL)
    assert (pattern.frequency, memory.metadata["sessions"], memory.version) == (4, 4, 2)


def test_a_pattern_that_was_forgotten_is_not_found_again(parts, caller):
    say_in_sessions(parts, caller, DOCKER)
    (pattern,) = consolidate(parts, caller, None, "extract_patterns").patterns
    forget(parts, pattern.memory, "not useful", caller)
    assert consolidate(parts, caller, None, "extract_patterns").patterns == ()


def test_a_preference_is_suggested_for_everywhere_and_stays_in_the_project(parts, caller):
    likes = (
        "The user prefers short commit messages.",
        "User prefers commit messages to be short.",
        "The user wants short commit messages in the imperative.",
    )
    say_in_sessions(parts, caller, likes)
    (pattern,) = consolidate(parts, caller, None, "extract_patterns").patterns
    assert pattern.suggested_scope is Scope.USER
    assert pattern.pattern.startswith("Recurring preference: the user prefers")
    assert [m.scope for m in all_of(parts, caller, Kind.PROCEDURAL)] == [Scope.PROJECT]


def test_sessions_that_ended_count_through_their_summaries(parts, caller):
    for n, texts in enumerate((DOCKER, [text.replace("Docker", "Docker Desktop") for text in DOCKER])):
        session = replace(caller, session=f"day {n}")
        say(parts, session, texts, scope=Scope.SESSION)
        consolidate(parts, session, None, "summarize")
    say(parts, caller, ["Every CI job fails while runner ci-4 has no Docker daemon."])
    (pattern,) = consolidate(parts, caller, None, "extract_patterns").patterns
    assert pattern.frequency == 7


def test_undo_restores_everything(parts, caller):
    said = say_in_sessions(parts, caller, DOCKER)
    said += say(parts, caller, LINT)
    done = consolidate(parts, caller, None)
    undone = undo(parts, done.run, caller)
    assert set(undone.forgotten) == {m.id for m in done.memories} | {p.memory for p in done.patterns}
    assert {m.id for m in all_of(parts, caller)} == {m.id for m in said}
    assert not any(m.consolidated for m in all_of(parts, caller))
    gone = all_of(parts, caller, states=(State.FORGOTTEN,))
    assert {m.status.reason for m in gone} == {f"undone run {done.run}"}
    assert parts.store.run(done.run).undone


def test_after_an_undo_a_run_consolidates_again(parts, caller):
    say_in_sessions(parts, caller, DOCKER)
    say(parts, caller, LINT)
    first = consolidate(parts, caller, None)
    undo(parts, first.run, caller)
    parts.clock.tick()
    assert content(consolidate(parts, caller, None)) == content(first)


def test_undo_gives_an_extended_fact_its_text_back(parts, caller):
    say(parts, caller, DOCKER)
    (fact,) = consolidate(parts, caller, None, "summarize").memories
    later = replace(caller, session="tuesday")
    say(parts, later, [*DOCKER[::2], "CI fails because Docker 27.1 has no daemon on the runner."], scope=Scope.SESSION)
    done = consolidate(parts, later, None, "summarize")
    assert [m.id for m in done.memories] == [fact.id] and done.memories[0].text != fact.text
    assert undo(parts, done.run, caller).restored == (fact.id,)
    restored = parts.store.memories([fact.id])[fact.id]
    assert (restored.memory.text, restored.memory.derived_from) == (fact.text, fact.derived_from)
    assert restored.model == parts.embedder.model


def test_a_run_that_another_built_on_is_not_undone_first(parts, caller):
    say_in_sessions(parts, caller, DOCKER)
    first = consolidate(parts, caller, None, "extract_patterns")
    parts.clock.tick()
    say(parts, replace(caller, session="day 9"), MORE_DOCKER[1:2])
    second = consolidate(parts, caller, None, "extract_patterns")
    with pytest.raises(Refused, match=second.run):
        undo(parts, first.run, caller)
    undo(parts, second.run, caller)
    (memory,) = all_of(parts, caller, Kind.PROCEDURAL)
    assert (memory.metadata["frequency"], memory.metadata["sessions"]) == (3, 3)
    undo(parts, first.run, caller)
    assert all_of(parts, caller, Kind.PROCEDURAL) == []


def test_a_run_is_undone_once(parts, caller):
    say(parts, caller, DOCKER)
    done = consolidate(parts, caller, None)
    undo(parts, done.run, caller)
    with pytest.raises(Refused, match="undone already"):
        undo(parts, done.run, caller)


def test_an_unknown_run_is_said_to_be_so_and_another_persons_is_unknown(parts, caller):
    say(parts, caller, DOCKER)
    done = consolidate(parts, caller, None)
    for id, who in (("0" * 20, caller), ("nonsense", caller), (done.run, replace(caller, user="dana"))):
        with pytest.raises(NotFound, match="retain history --runs"):
            undo(parts, id, who)


def test_without_a_model_shared_words_make_the_groups_and_a_warning_says_so(store, clock, caller, tmp_path):
    parts = Parts(store, OnnxEmbedder.in_folder(tmp_path / "nothing"), clock)
    say(parts, caller, ["the login test is flaky on CI", "flaky login test again on CI", "login test flaky on CI"])
    done = consolidate(parts, caller, None)
    assert len(done.memories) == 1
    assert "words" in done.warnings[0].message


def test_nothing_to_consolidate_is_no_run(parts, caller):
    done = consolidate(parts, caller, None)
    assert (done.memories, done.patterns, done.analysed, done.run, done.warnings) == ((), (), 0, None, ())


def test_a_plan_expects_every_source_as_it_was_read(parts, caller):
    said = say(parts, caller, DOCKER)
    expected = plan(parts, caller, None, "full").changes.expects
    assert {e.memory: e.version for e in expected[1:]} == {m.id: 1 for m in said}


class Meanwhile:
    """A store on which somebody else acts just before the first write."""

    def __init__(self, store, act):
        self._store, self._act = store, act

    def __getattr__(self, name):
        return getattr(self._store, name)

    def apply(self, changes):
        act, self._act = self._act, lambda: None
        act()
        return self._store.apply(changes)


def test_what_matters_much_speaks_for_itself(parts, caller):
    mattering = say(parts, caller, DOCKER, importance=1.0)
    rest = say(parts, caller, LINT, importance=0.1)
    (fact,) = consolidate(parts, caller, None).memories
    assert fact.derived_from == tuple(memory.id for memory in rest)
    now = parts.store.memories([memory.id for memory in mattering])
    assert [stored.memory for stored in now.values()] == mattering


def test_what_matters_more_is_consolidated_first(parts, caller):
    say(parts, caller, [*LINT, "Run make lint before pushing anything"], importance=0.2)
    docker = say(parts, caller, DOCKER, importance=0.7)
    done = consolidate(parts, caller, None)
    assert [len(fact.derived_from) for fact in done.memories] == [3, 4]
    assert set(done.memories[0].derived_from) == {memory.id for memory in docker}


def test_what_somebody_worded_gains_evidence_and_keeps_its_words(parts, caller):
    say(parts, caller, DOCKER)
    (fact,) = consolidate(parts, caller, None, "summarize").memories
    tag(parts, fact.id, ["mine"], [], caller)
    later = replace(caller, session="tuesday")
    news = "CI fails because Docker 27.1 has no daemon on the runner."
    said = say(parts, later, [*DOCKER[::2], news], scope=Scope.SESSION)
    consolidate(parts, later, None, "summarize")
    now = parts.store.memories([fact.id])[fact.id].memory
    assert now.text == fact.text
    assert now.derived_from == (*fact.derived_from, *(memory.id for memory in said))
