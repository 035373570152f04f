"""Encoding: an episode is kept with whose word it is, and speaks for and against what is known."""

from dataclasses import replace

import pytest

from comparing import PATIENT, told
from fakes import EagerJudge, Rival, ScriptedLLM
from retain.app import Retain
from retain.config import load
from retain.domain.changes import Changes
from retain.domain.graph import SUPPORTS
from retain.domain.llm import Completion
from retain.domain.memory import Event, Kind, Provenance, State, Status
from retain.domain.work import EntryType
from retain.engine.parts import Parts
from retain.engine.trust.disputes import Verdict, resolve
from retain.engine.trust.encoding import Episode, encode
from retain.errors import InvalidInput, LLMFailed, NotFound

TOLD = Provenance.TOLD_BY_USER


@pytest.fixture
def open_memory(tmp_path):
    """Opens the same memory, for one agent or another."""
    (tmp_path / "shop").mkdir()
    opened = []

    def open_one(**settings):
        given = {"home": tmp_path / "home", "project_dir": tmp_path / "shop", "embedding_model": "hashed", **settings}
        loaded = load(given, {"HOME": str(tmp_path)}, tmp_path)
        opened.append(Retain(loaded, judge=EagerJudge(), patience=PATIENT))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


@pytest.fixture
def app(open_memory):
    return open_memory()


@pytest.fixture
def knowing(open_memory):
    return open_memory(embedding_model="bundled")


def said(app, text, provenance=TOLD, **fields):
    return app.engine.trust.encode(Episode(text, provenance, **fields), app.caller())


def test_an_episode_keeps_whose_word_it_is(app):
    memory = app.get(said(app, "The build takes four minutes.", Provenance.TOOL_RESULT).memory.id).memory
    assert (memory.kind, memory.source.provenance, memory.importance) == (Kind.EPISODIC, Provenance.TOOL_RESULT, 0.5)


def test_the_same_again_reinforces_and_adds_nothing(app):
    first = said(app, "The build takes four minutes.")
    again = said(app, "The build takes four minutes.")
    assert again.remembered.reinforced and again.memory.id == first.memory.id
    assert app.engine.total(app.caller()) == 1


@pytest.mark.parametrize("words", [("model-generated", "told-by-user"), ("told-by-user", "model-generated")])
def test_of_two_words_for_the_same_the_better_one_counts(app, words):
    for word in words:
        memory = said(app, "The build takes four minutes.", Provenance(word)).memory
    assert memory.source.provenance is Provenance.TOLD_BY_USER


def test_what_says_nearly_the_same_is_kept_and_speaks_for_it(knowing):
    first = said(knowing, "The nightly build of the payment service takes four minutes.")
    again = said(knowing, "The nightly build for the payment service takes four minutes on the new runners.")
    assert again.memory.id != first.memory.id and again.supports == (first.memory.id,)
    old = knowing.get(first.memory.id).memory
    assert (old.reinforced, [row.event for row in knowing.engine.history(old.id, knowing.caller())][-1]) == (
        1,
        Event.REINFORCED,
    )
    (tie,) = knowing.engine.parts.store.ties([old.id])
    assert (tie.source, tie.type) == (again.memory.id, SUPPORTS)


def test_what_contradicts_is_recorded_and_supports_nothing(knowing):
    first = said(knowing, "The API listens on port 8080.")
    rival = said(knowing, "The API listens on port 9090.")
    (found,) = rival.remembered.contradicts
    assert (found.older, found.newer, found.by_rule, rival.supports) == (first.memory.id, rival.memory.id, True, ())
    assert knowing.get(first.memory.id).memory.is_active


@pytest.mark.parametrize(("answer", "why"), [('[{"number": 1, "why": "another port"}]', "another port"), ("[]", None)])
def test_a_language_model_judges_in_place_of_the_rules(knowing, answer, why):
    parts = knowing.engine.parts
    first = said(knowing, "The API listens on port 8080.")
    with_it = Parts(parts.store, parts.embedder, parts.clock, ScriptedLLM(Completion(answer)))
    done = encode(with_it, Episode("The API listens on port 9090.", TOLD), knowing.caller())
    found = [(one.older, one.found_by, one.detail) for one in done.remembered.contradicts]
    assert found == ([(first.memory.id, "llm", why)] if why else [])


def test_a_language_model_that_fails_leaves_it_to_the_judge(knowing):
    parts = knowing.engine.parts
    said(knowing, "The API listens on port 8080.")
    broken = ScriptedLLM(LLMFailed("it is away"))
    with_it = Parts(parts.store, parts.embedder, parts.clock, broken)
    done = encode(with_it, Episode("The API listens on port 9090.", TOLD), knowing.caller())
    assert told(with_it, done.remembered).contradicts
    assert [warning.code for warning in done.remembered.warnings] == ["llm_failed"]


@pytest.mark.parametrize("relation", ["caused", "fixed", "led_to"])
def test_causes_are_tied_to_what_they_name(app, relation):
    problem = said(app, "Uploads fail on Mondays.").memory
    fix = said(app, "The disk was full.", causes=((relation, f"memory:{problem.id}"),)).memory
    (tie,) = app.engine.parts.store.ties([problem.id])
    assert (tie.source, tie.target, tie.type) == (fix.id, problem.id, relation)
    assert app.engine.trust.introspect(app.caller()).causal_links == 1


@pytest.mark.parametrize(
    ("cause", "error"),
    [(("annoyed", "0" * 20), InvalidInput), (("fixed", "0" * 20), NotFound), (("fixed", "x"), InvalidInput)],
)
def test_a_cause_that_cannot_be_is_refused_and_nothing_is_written(app, cause, error):
    with pytest.raises(error):
        said(app, "The disk was full.", causes=(cause,))
    assert app.engine.total(app.caller()) == 0


def test_agents_keep_episodes_apart_and_share_the_rest(open_memory):
    mine, yours = open_memory(agent="reader"), open_memory(agent="writer")
    said(mine, "The tests of the till are slow.")
    mine.remember("Tills are tested nightly.")
    assert [hit.stored.memory.text for hit in yours.recall("tests of the till")] == ["Tills are tested nightly."]
    assert {hit.stored.memory.text for hit in mine.recall("tests of the till")} == {
        "The tests of the till are slow.",
        "Tills are tested nightly.",
    }


def test_two_agents_that_say_the_same_have_an_episode_each(open_memory):
    mine, yours = open_memory(agent="reader"), open_memory(agent="writer")
    first, second = (said(app, "The build is red.") for app in (mine, yours))
    assert first.memory.id != second.memory.id and not second.remembered.reinforced


def test_saying_it_again_wakes_what_sleeps(app):
    memory = said(app, "The build is red.").memory
    asleep = replace(memory, status=Status(State.DORMANT, "quiet", app.now()), version=memory.version + 1)
    app.engine.parts.store.apply(Changes(at=app.now(), memories=(asleep,)))
    again = said(app, "The build is red.")
    assert again.memory.id == memory.id and app.get(memory.id).memory.is_active
    assert app.engine.history(memory.id, app.caller())[-1].event is Event.WOKEN


def test_a_fix_in_a_session_is_tied_to_its_issue(app):
    tracking, caller = app.engine.tracking, app.caller()
    tracking.start("Payments", None, (), caller)
    issues = [tracking.log(None, EntryType.ISSUE, text, (), caller).memory for text in ("It fails.", "It is slow.")]
    fixes = [tracking.log(None, EntryType.SOLUTION, text, (), caller).memory for text in ("An index.", "A retry.")]
    ties = app.engine.parts.store.ties([issue.id for issue in issues])
    assert {(tie.source, tie.target) for tie in ties if tie.type == "fixed"} == {
        (fixes[0].id, issues[1].id),
        (fixes[1].id, issues[0].id),
    }


def test_what_a_language_model_calls_a_contradiction_is_no_support(knowing):
    parts = knowing.engine.parts
    first = said(knowing, "The nightly build of the payment service takes four minutes.")
    with_it = Parts(
        parts.store, parts.embedder, parts.clock, ScriptedLLM(Completion('[{"number": 1, "why": "not so"}]'))
    )
    near = "The nightly build for the payment service takes four minutes on the new runners."
    done = encode(with_it, Episode(near, TOLD), knowing.caller())
    assert ([one.older for one in done.remembered.contradicts], done.supports) == ([first.memory.id], ())


def test_saying_a_sentence_again_is_no_further_evidence_for_its_neighbours(knowing):
    first = said(knowing, "The nightly build of the payment service takes four minutes.").memory
    for _ in range(3):
        said(knowing, "The nightly build for the payment service takes four minutes on the new runners.")
    assert knowing.get(first.id).memory.reinforced == 1


def test_a_decision_made_meanwhile_is_not_overruled(knowing):
    parts, caller = knowing.engine.parts, knowing.caller()
    said(knowing, "The API listens on port 8080.")
    (found,) = said(knowing, "The API listens on port 9090.").remembered.contradicts
    trust = knowing.engine.trust
    trust.resolve(found.id, Verdict("newer", explanation="moved"), caller)

    def decide_again():
        resolve(parts, found.id, Verdict("context_dependent", "8080 in tests", "both"), caller, again=True)

    rival = Parts(Rival(parts.store, decide_again), parts.embedder, parts.clock)
    encode(rival, Episode("The API listens on port 8080 again.", TOLD), caller)
    assert parts.store.contradiction(found.id).conditions == "8080 in tests"


def test_what_an_agent_disputes_with_itself_is_nobody_elses_to_decide(open_memory):
    mine, yours = open_memory(agent="reader", embedding_model="bundled"), open_memory(agent="writer")
    said(mine, "The API listens on port 8080.")
    (found,) = said(mine, "The API listens on port 9090.").remembered.contradicts
    with pytest.raises(NotFound):
        yours.engine.trust.resolve(found.id, Verdict("newer"), yours.caller())
    assert (
        mine.engine.trust.resolve(found.id, Verdict("newer"), mine.caller()).dispute.contradiction.winner == found.newer
    )
