"""Contradictions: listed, decided by a caller or a scripted model, reopened, and two windows at once."""

import json
from dataclasses import replace

import pytest

from comparing import compare, told
from fakes import START, EagerJudge, Rival, ScriptedLLM
from making import a_memory, save
from retain.domain.changes import Applied, Changes, Conflict, Contradiction, ContradictionState, StillSo
from retain.domain.memory import Event, Kind, State, Status
from retain.domain.session import Caller, Project
from retain.embedding.hashed import HashedEmbedder
from retain.engine import revise
from retain.engine.drafts import Draft
from retain.engine.parts import Parts
from retain.engine.remember import remember
from retain.engine.revise import Edit, destroy, forget
from retain.engine.trust.disputes import Verdict, dispute, listed, reopen, resolve
from retain.errors import InvalidInput, LLMFailed, NotFound, Refused

HERE = Caller(project=Project("p" * 20, "shop", "/shop", START), session="monday")
OPEN = (ContradictionState.OPEN, ContradictionState.REOPENED)
BOTH = Verdict("context_dependent", "8080 on laptops, 9090 in production")
NOBODY = "0" * 20


@pytest.fixture
def parts(store, clock):
    return Parts(store, HashedEmbedder(), clock, judge=EagerJudge())


def say(parts, text, caller=HERE, **fields):
    parts.clock.tick(60)
    return told(parts, remember(parts, Draft(text, **fields), caller))


def update(parts, id, edit, caller):
    return told(parts, revise.update(parts, id, edit, caller))


def bring_back(parts, id, caller):
    done = revise.bring_back(parts, id, caller)
    compare(parts)
    return done


@pytest.fixture
def ports(parts):
    """A dispute about a port: the id of the contradiction, the older memory and the newer one."""
    older = say(parts, "The API listens on port 8080").memory
    done = say(parts, "The API listens on port 9090")
    parts.clock.tick(60)
    (found,) = done.contradicts
    return found.id, older, done.memory


def now(parts, *memories):
    return [parts.store.memories([memory.id])[memory.id].memory for memory in memories]


def states(parts, *memories):
    return [memory.status.state.value for memory in now(parts, *memories)]


def answered(resolution="newer", **fields):
    return json.dumps({"resolution": resolution, "conditions": None, "explanation": "It was moved.", **fields})


# Listing


def test_open_contradictions_are_listed_with_both_sides(parts, ports):
    id, older, newer = ports
    (one,), total = listed(parts, HERE, OPEN, 10, 0)
    assert (one.contradiction.id, one.older, one.newer, total) == (id, older, newer, 1)
    assert one.resolution is None


def test_a_contradiction_is_none_any_more_once_a_side_was_forgotten(parts, ports):
    forget(parts, ports[1].id, None, HERE)
    assert listed(parts, HERE, tuple(ContradictionState), 10, 0) == ([], 0)
    bring_back(parts, ports[1].id, HERE)
    assert listed(parts, HERE, OPEN, 10, 0)[1] == 1


def test_decided_ones_are_listed_on_demand_though_a_side_has_ended(parts, ports):
    resolve(parts, ports[0], Verdict("newer"), HERE)
    assert listed(parts, HERE, OPEN, 10, 0) == ([], 0)
    (one,), _ = listed(parts, HERE, (ContradictionState.RESOLVED,), 10, 0)
    assert (one.resolution, one.older.status.state) == ("newer", State.SUPERSEDED)


def test_other_peoples_contradictions_do_not_exist(parts, ports):
    other = replace(HERE, user="eve")
    assert listed(parts, other, OPEN, 10, 0) == ([], 0)
    with pytest.raises(NotFound):
        resolve(parts, ports[0], Verdict("newer"), other)
    assert states(parts, *ports[1:]) == ["active", "active"]


def test_a_page_says_how_many_there_are(parts, ports):
    say(parts, "We deploy with Docker")
    say(parts, "We do not deploy with Docker")
    found, total = listed(parts, HERE, OPEN, 1, 1)
    assert ([one.contradiction.id for one in found], total) == ([ports[0]], 2)


# Finding one


@pytest.mark.parametrize("dress", ["{}", "memory:{}", "mem_{}", "contradiction:{}"])
def test_an_id_is_known_in_any_dress(parts, ports, dress):
    assert dispute(parts.store, dress.format(ports[0]), HERE).contradiction.id == ports[0]


def test_an_unknown_id_is_not_found_and_named(parts):
    with pytest.raises(NotFound, match="retain contradictions") as error:
        resolve(parts, NOBODY, Verdict("newer"), HERE)
    assert error.value.details == {"contradiction_id": NOBODY}


def test_what_is_no_id_is_bad_input(parts):
    with pytest.raises(InvalidInput, match="contradiction_id: not an id"):
        dispute(parts.store, "the port thing", HERE)


def test_a_contradiction_goes_with_a_memory_that_was_destroyed(parts, ports):
    destroy(parts, ports[1].id, HERE)
    with pytest.raises(NotFound):
        dispute(parts.store, ports[0], HERE)


# Deciding


@pytest.mark.parametrize(
    ("resolution", "left"), [("newer", ["superseded", "active"]), ("older", ["active", "superseded"])]
)
def test_the_one_that_holds_stays_and_the_other_is_superseded_by_it(parts, ports, resolution, left):
    id, older, newer = ports
    done = resolve(parts, id, Verdict(resolution, explanation="seen in the logs"), HERE)
    winner, loser = (newer, older) if resolution == "newer" else (older, newer)
    assert states(parts, older, newer) == left
    (ended,) = now(parts, loser)
    assert (ended.text, ended.status.successor, ended.status.reason) == (loser.text, winner.id, f"contradiction {id}")
    assert (done.by, done.dispute.resolution, done.dispute.older, done.dispute.newer) == (
        ("caller", resolution) + tuple(now(parts, older, newer))
    )


def test_a_decision_is_kept_with_when_why_and_by_whom(parts, ports):
    resolve(parts, ports[0], Verdict("newer", explanation=" moved behind the proxy "), HERE)
    found = parts.store.contradiction(ports[0])
    assert (found.state, found.winner) == (ContradictionState.RESOLVED, ports[2].id)
    assert (found.explanation, found.resolved, found.resolved_by) == (
        "moved behind the proxy",
        parts.clock.now(),
        "caller",
    )


def test_the_older_one_held_until_the_newer_began_to(parts, ports):
    resolve(parts, ports[0], Verdict("newer"), HERE)
    (older,) = now(parts, ports[1])
    assert older.valid_until == ports[2].valid_from


def test_a_newer_one_that_was_a_mistake_never_held(parts, ports):
    resolve(parts, ports[0], Verdict("older"), HERE)
    older, newer = now(parts, *ports[1:])
    assert (older.valid_until, newer.valid_until) == (None, newer.valid_from)


def test_history_names_the_contradiction(parts, ports):
    resolve(parts, ports[0], Verdict("newer"), HERE)
    row = parts.store.history(ports[1].id)[-1]
    assert (row.event, row.reason) == (Event.SUPERSEDED, f"contradiction {ports[0]}: superseded by {ports[2].id}")


def test_both_stand_where_it_depends_and_the_conditions_are_kept(parts, ports):
    done = resolve(parts, ports[0], BOTH, HERE)
    assert states(parts, *ports[1:]) == ["active", "active"]
    found = parts.store.contradiction(ports[0])
    assert (found.state, found.winner, found.conditions) == (
        ContradictionState.CONTEXT_DEPENDENT,
        None,
        BOTH.conditions,
    )
    assert done.dispute.resolution == "context_dependent"


@pytest.mark.parametrize(
    ("verdict", "field"),
    [
        (Verdict("context_dependent"), "conditions"),
        (Verdict("context_dependent", "  "), "conditions"),
        (Verdict("newer", "on Mondays"), "conditions"),
        (Verdict("both"), "resolution"),
        (Verdict("newer", explanation="x" * 1001), "explanation"),
        (Verdict("newer", explanation="a\0b"), "explanation"),
    ],
)
def test_a_verdict_that_cannot_be_meant_is_refused_and_nothing_is_written(parts, ports, verdict, field):
    with pytest.raises(InvalidInput, match=f"{field}:"):
        resolve(parts, ports[0], verdict, HERE)
    assert parts.store.contradiction(ports[0]).is_open


def test_every_fault_of_a_verdict_is_named_at_once(parts, ports):
    with pytest.raises(InvalidInput) as error:
        resolve(parts, ports[0], Verdict("mine", "in June", "x" * 1001), HERE)
    assert [fault.field for fault in error.value.faults] == ["resolution", "explanation", "conditions"]


def test_secrets_in_an_explanation_are_not_kept(parts, ports):
    resolve(parts, ports[0], Verdict("newer", explanation="the key is AKIAQ7Z2M9X4B6N1K8V3"), HERE)
    assert "AKIA" not in parts.store.contradiction(ports[0]).explanation


def test_a_side_that_has_ended_already_stays_as_it_is(parts, ports):
    forget(parts, ports[1].id, "wrong", HERE)
    (before,) = now(parts, ports[1])
    resolve(parts, ports[0], Verdict("newer"), HERE)
    assert now(parts, ports[1]) == [before]
    assert parts.store.contradiction(ports[0]).winner == ports[2].id


def test_what_was_forgotten_cannot_hold(parts, ports):
    forget(parts, ports[1].id, None, HERE)
    for verdict in (Verdict("older"), BOTH):
        with pytest.raises(Refused, match=f"retain forget --restore {ports[1].id}"):
            resolve(parts, ports[0], verdict, HERE)
    assert parts.store.contradiction(ports[0]).is_open


def test_a_side_that_sleeps_wakes_when_it_holds(parts, ports):
    save(parts.store, replace(ports[1], status=Status(State.DORMANT), version=2))
    resolve(parts, ports[0], Verdict("older"), HERE)
    assert states(parts, *ports[1:]) == ["active", "superseded"]
    assert parts.store.history(ports[1].id)[-1].event is Event.WOKEN


def test_a_side_that_sleeps_is_superseded_when_it_does_not_hold(parts, ports):
    save(parts.store, replace(ports[1], status=Status(State.DORMANT), version=2))
    resolve(parts, ports[0], Verdict("newer"), HERE)
    assert states(parts, *ports[1:]) == ["superseded", "active"]


def test_what_a_summary_that_fell_was_made_from_speaks_for_itself_again(parts, ports):
    source = a_memory("s" * 20, "The port is 8080", kind=Kind.EPISODIC, place=ports[1].place, consolidated=True)
    save(parts.store, source, replace(ports[1], derived_from=(source.id,), version=2))
    resolve(parts, ports[0], Verdict("newer"), HERE)
    assert [memory.consolidated for memory in now(parts, source)] == [False]


# Deciding again


def test_what_was_decided_is_not_decided_again_by_accident(parts, ports):
    resolve(parts, ports[0], Verdict("newer", explanation="moved behind the proxy"), HERE)
    with pytest.raises(Refused) as error:
        resolve(parts, ports[0], Verdict("older"), HERE)
    told = error.value.message
    assert all(
        part in told for part in (f"memory:{ports[2].id} holds", "moved behind the proxy", "by hand", "--reopen")
    )
    assert "2026-03-02T09:33:00" in told
    assert states(parts, *ports[1:]) == ["superseded", "active"]


def test_conditions_are_told_to_whoever_decides_again(parts, ports):
    resolve(parts, ports[0], BOTH, HERE)
    with pytest.raises(Refused, match="both hold: 8080 on laptops"):
        resolve(parts, ports[0], None, HERE)


def test_deciding_again_on_purpose_turns_it_round(parts, ports):
    resolve(parts, ports[0], Verdict("newer"), HERE)
    resolve(parts, ports[0], Verdict("older"), HERE, again=True)
    older, newer = now(parts, *ports[1:])
    assert (older.status, older.valid_until) == (Status(), None)
    assert (newer.status.state, newer.status.successor) == (State.SUPERSEDED, older.id)
    assert parts.store.history(older.id)[-1].reason == f"contradiction {ports[0]}: it holds"


def test_deciding_again_that_it_depends_brings_the_superseded_one_back(parts, ports):
    resolve(parts, ports[0], Verdict("newer"), HERE)
    resolve(parts, ports[0], BOTH, HERE, again=True)
    assert states(parts, *ports[1:]) == ["active", "active"]


def test_what_a_third_memory_has_replaced_cannot_hold_again(parts, ports):
    resolve(parts, ports[0], Verdict("newer"), HERE)
    say(parts, "The API has no port of its own", supersedes=(ports[2].id,))
    with pytest.raises(Refused, match=f"memory:{ports[2].id} is superseded"):
        resolve(parts, ports[0], Verdict("newer"), HERE, again=True)


def test_what_was_said_anew_stands_for_the_side_that_holds_now(parts, ports):
    id, older, newer = ports
    resolve(parts, id, Verdict("newer"), HERE)
    again = say(parts, older.text).memory
    resolve(parts, id, Verdict("older"), HERE, again=True)
    assert states(parts, older, newer, again) == ["superseded", "superseded", "active"]
    assert [memory.status.successor for memory in now(parts, older, newer)] == [again.id, again.id]


# Reopening by hand


def test_reopening_brings_the_superseded_side_back(parts, ports):
    resolve(parts, ports[0], Verdict("newer", explanation="moved"), HERE)
    done = reopen(parts, ports[0], HERE)
    assert states(parts, *ports[1:]) == ["active", "active"]
    found = parts.store.contradiction(ports[0])
    assert (found.state, found.winner, found.explanation) == (ContradictionState.REOPENED, None, "moved")
    assert done.contradiction == found
    assert parts.store.history(ports[1].id)[-1].reason == f"contradiction {ports[0]}: open again"


def test_reopening_what_is_open_changes_nothing(parts, ports):
    before = parts.store.contradiction(ports[0])
    assert reopen(parts, ports[0], HERE).contradiction == before == parts.store.contradiction(ports[0])


def test_reopening_leaves_out_of_sight_what_was_said_anew(parts, ports):
    resolve(parts, ports[0], Verdict("newer"), HERE)
    say(parts, ports[1].text)
    reopen(parts, ports[0], HERE)
    assert states(parts, *ports[1:]) == ["superseded", "active"]


def test_reopening_leaves_what_was_forgotten_since(parts, ports):
    resolve(parts, ports[0], Verdict("newer"), HERE)
    forget(parts, ports[1].id, None, HERE)
    reopen(parts, ports[0], HERE)
    assert states(parts, *ports[1:]) == ["forgotten", "active"]


def test_reopening_brings_nothing_back_once_a_third_memory_took_the_winners_place(parts, ports):
    resolve(parts, ports[0], Verdict("newer"), HERE)
    say(parts, "The API has no port of its own", supersedes=(ports[2].id,))
    reopen(parts, ports[0], HERE)
    assert states(parts, *ports[1:]) == ["superseded", "superseded"]


def test_what_was_reopened_can_be_decided_and_says_what_differs_as_before(parts, ports):
    detail = parts.store.contradiction(ports[0]).detail
    resolve(parts, ports[0], BOTH, HERE)
    assert reopen(parts, ports[0], HERE).contradiction.detail.startswith(f"{detail}; in question since 2026-03-02")
    resolve(parts, ports[0], Verdict("older"), HERE)
    found = parts.store.contradiction(ports[0])
    assert (found.detail, found.conditions) == (detail, None)


# Two windows at once


@pytest.mark.parametrize("theirs", [Verdict("older"), Verdict("newer"), BOTH], ids=lambda verdict: verdict.resolution)
@pytest.mark.parametrize("mine", [Verdict("newer"), BOTH], ids=lambda verdict: verdict.resolution)
def test_of_two_windows_that_decide_at_once_the_second_is_told(parts, ports, mine, theirs):
    rival = Rival(parts.store, lambda: resolve(parts, ports[0], theirs, HERE))
    with pytest.raises(Refused, match="somebody was faster"):
        resolve(replace(parts, store=rival), ports[0], mine, HERE)
    assert dispute(parts.store, ports[0], HERE).resolution == theirs.resolution


def test_of_two_windows_the_second_is_told_though_no_memory_changes(parts, ports):
    forget(parts, ports[1].id, None, HERE)
    first = Verdict("newer", explanation="first")
    rival = Rival(parts.store, lambda: resolve(parts, ports[0], first, HERE))
    with pytest.raises(Refused, match="first"):
        resolve(replace(parts, store=rival), ports[0], Verdict("newer", explanation="second"), HERE)


def test_two_windows_that_decide_again_do_not_overwrite_each_other(parts, ports):
    resolve(parts, ports[0], BOTH, HERE)
    parts.clock.tick()
    rival = Rival(parts.store, lambda: resolve(parts, ports[0], Verdict("older"), HERE, again=True))
    with pytest.raises(Refused, match="somebody was faster"):
        resolve(replace(parts, store=rival), ports[0], Verdict("newer"), HERE, again=True)
    assert states(parts, *ports[1:]) == ["active", "superseded"]


def test_a_text_that_changes_meanwhile_is_not_decided_about(parts, ports):
    rival = Rival(parts.store, lambda: update(parts, ports[2].id, Edit(text="The API listens on 7070"), HERE))
    with pytest.raises(Refused, match="changed while it was being decided"):
        resolve(replace(parts, store=rival), ports[0], Verdict("newer"), HERE)
    assert states(parts, *ports[1:]) == ["active", "active"]


def test_a_reinforcement_meanwhile_does_not_disturb_the_decision(parts, ports):
    rival = Rival(parts.store, lambda: say(parts, ports[1].text))
    resolve(replace(parts, store=rival), ports[0], Verdict("newer"), HERE)
    (older,) = now(parts, ports[1])
    assert (older.status.state, older.reinforced) == (State.SUPERSEDED, 1)


def test_a_plan_is_not_applied_to_a_contradiction_that_somebody_touched(parts, ports):
    still = StillSo(ports[0], ContradictionState.OPEN)
    assert isinstance(parts.store.apply(Changes(at=START, expects=(still,))), Applied)
    resolve(parts, ports[0], BOTH, HERE)
    assert parts.store.apply(Changes(at=START, expects=(still,))) == Conflict(still)
    decided = StillSo(ports[0], ContradictionState.CONTEXT_DEPENDENT, parts.clock.now())
    assert isinstance(parts.store.apply(Changes(at=START, expects=(decided,))), Applied)
    unknown = replace(decided, contradiction=NOBODY)
    assert parts.store.apply(Changes(at=START, expects=(unknown,))) == Conflict(unknown)


# By language model


def test_a_language_model_decides_without_a_verdict(parts, ports):
    done = resolve(replace(parts, llm=ScriptedLLM(answered())), ports[0], None, HERE)
    assert (done.by, done.verdict) == ("llm", Verdict("newer", None, "It was moved."))
    assert states(parts, *ports[1:]) == ["superseded", "active"]
    assert parts.store.contradiction(ports[0]).resolved_by == "llm"


def test_without_a_language_model_it_is_said_how_to_choose_one_and_how_to_do_without(parts, ports):
    with pytest.raises(Refused) as error:
        resolve(parts, ports[0], None, HERE)
    assert all(part in error.value.message for part in ("language model", "retain setup", "`llm`", "`resolution`"))
    assert parts.store.contradiction(ports[0]).is_open


def test_a_language_model_that_cannot_be_asked_is_refused_with_the_reason(parts, ports):
    llm = ScriptedLLM(why_not="today's dollar is spent")
    with pytest.raises(Refused, match=r"today's dollar is spent.*`resolution`"):
        resolve(replace(parts, llm=llm), ports[0], None, HERE)
    assert llm.asked == []


@pytest.mark.parametrize("answer", [LLMFailed("no answer within 30 s"), "The newer one, I think.", answered("maybe")])
def test_a_model_that_fails_decides_nothing_and_the_way_out_is_named(parts, ports, answer):
    with pytest.raises(LLMFailed, match=r"nothing was written.*`resolution`"):
        resolve(replace(parts, llm=ScriptedLLM(answer)), ports[0], None, HERE)
    assert parts.store.contradiction(ports[0]).is_open
    assert states(parts, *ports[1:]) == ["active", "active"]


def test_a_verdict_asks_no_model(parts, ports):
    llm = ScriptedLLM()
    resolve(replace(parts, llm=llm), ports[0], Verdict("newer"), HERE)
    assert llm.asked == []


# The same claim in other words


@pytest.fixture
def worded(parts, ports):
    """A dispute between the newer memory about the port and one that says what the older one says; and that memory."""
    newer = ports[2]
    again = say(parts, "The API server listens on port 8080").memory
    return found_between(parts, newer, again), again


def found_between(parts, one, other):
    return next(each for each in parts.store.contradictions([one.id]) if each.other(one.id) == other.id)


def test_a_decision_ends_the_same_dispute_in_other_words(parts, ports, worded):
    id, older, newer = ports
    found, again = worded
    done = resolve(parts, id, Verdict("newer", explanation="It was moved."), HERE)
    assert done.followed == (found.id,)
    assert states(parts, older, newer, again) == ["superseded", "active", "superseded"]
    ended = dispute(parts.store, found.id, HERE)
    assert (ended.contradiction.winner, ended.decided_by) == (newer.id, f"with contradiction {id}")


def test_what_says_the_same_as_the_winner_wins_its_own_dispute(parts, ports, worded):
    id, older, newer = ports
    found, again = worded
    resolve(parts, id, Verdict("older"), HERE)
    assert states(parts, older, newer, again) == ["active", "superseded", "active"]
    assert dispute(parts.store, found.id, HERE).contradiction.winner == again.id


def test_both_hold_in_other_words_too(parts, ports, worded):
    resolve(parts, ports[0], BOTH, HERE)
    ended = dispute(parts.store, worded[0].id, HERE).contradiction
    assert (ended.state, ended.conditions) == (ContradictionState.CONTEXT_DEPENDENT, BOTH.conditions)


def test_what_was_decided_along_is_taken_back_along(parts, ports, worded):
    id, older, newer = ports
    found, again = worded
    resolve(parts, id, Verdict("newer"), HERE)
    reopen(parts, id, HERE)
    assert states(parts, older, newer, again) == ["active", "active", "active"]
    assert {one.contradiction.id for one in listed(parts, HERE, OPEN, 10, 0)[0]} == {id, found.id}


def test_what_was_decided_along_can_be_taken_back_alone(parts, ports, worded):
    id, older, newer = ports
    found, again = worded
    resolve(parts, id, Verdict("newer"), HERE)
    reopen(parts, found.id, HERE)
    assert states(parts, older, newer, again) == ["superseded", "active", "active"]


def test_what_was_decided_along_is_decided_anew_along(parts, ports, worded):
    id, older, newer = ports
    found, again = worded
    resolve(parts, id, Verdict("newer"), HERE)
    done = resolve(parts, id, Verdict("older"), HERE, again=True)
    assert done.followed == (found.id,)
    assert states(parts, older, newer, again) == ["active", "superseded", "active"]


def test_a_third_value_is_a_dispute_of_its_own(parts, ports):
    third = say(parts, "The API listens on port 7070")
    done = resolve(parts, ports[0], Verdict("newer"), HERE)
    assert done.followed == ()
    assert states(parts, third.memory) == ["active"]
    assert any(one.contradiction.is_open for one in listed(parts, HERE, OPEN, 10, 0)[0])


def test_the_judge_knows_other_words_too(parts, ports):
    id, older, newer = ports
    again = say(parts, "Requests reach us at :8080").memory
    found = Contradiction("c" * 20, newer.id, again.id, "meaning", "the judge says so", START)
    parts.store.apply(Changes(at=START, contradictions=(found,)))
    knowing = replace(parts, judge=EagerJudge({(older.text, again.text): "same"}))
    assert resolve(knowing, id, Verdict("newer"), HERE).followed == (found.id,)
