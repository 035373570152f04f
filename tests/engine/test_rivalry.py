"""Contradictions with what others write at the same moment, with what comes back, and after an edit."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import combinations
from threading import Barrier

import pytest

from comparing import compare, told
from fakes import START, EagerJudge, Rival
from making import save
from retain.domain.changes import Changes, ContradictionState
from retain.domain.memory import State, Status
from retain.domain.session import Caller, Project
from retain.embedding.hashed import HashedEmbedder
from retain.engine import revise
from retain.engine.drafts import Draft
from retain.engine.nearby import Compared
from retain.engine.parts import Parts
from retain.engine.remember import Company, remember, remember_all
from retain.engine.revise import Edit, forget
from retain.engine.trust.disputes import Verdict, dispute, resolve
from retain.errors import Refused

HERE = Caller(project=Project("p" * 20, "shop", "/shop", START))
ON = "The API listens on port {}"
BOTH = Verdict("context_dependent", "8080 on laptops, 9090 in production")


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


def recorded(parts, *memories):
    found = parts.store.contradictions([memory.id for memory in memories])
    return [(each.older, each.newer, each.state.value) for each in found]


@pytest.fixture
def ports(parts):
    """A dispute about a port: the contradiction, the older memory and the newer one."""
    older = say(parts, ON.format(8080)).memory
    done = say(parts, ON.format(9090))
    parts.clock.tick(60)
    return done.contradicts[0], older, done.memory


def asleep(parts, memory):
    """The memory as it is once it went to sleep."""
    now = parts.store.memories([memory.id])[memory.id].memory
    slept = replace(now, status=Status(State.DORMANT, "long ago", parts.clock.now()), version=now.version + 1)
    save(parts.store, slept)
    return slept


# At the same moment


def test_what_another_window_stored_between_plan_and_write_is_contradicted(parts):
    other = []
    rival = Rival(parts.store, lambda: other.append(say(parts, ON.format(9090)).memory))
    done = say(replace(parts, store=rival), ON.format(8080))
    (found,) = done.contradicts
    assert (found.other(done.memory.id), recorded(parts, done.memory)) == (
        other[0].id,
        [(found.older, found.newer, "open")],
    )
    assert dispute(parts.store, found.id, HERE).contradiction == found


def test_of_two_the_older_is_the_one_that_happened_first(parts):
    say(parts, ON.format(9090))
    early = START.replace(year=2025)
    (found,) = say(parts, ON.format(8080), event_time=early).contradicts
    assert parts.store.memories([found.older])[found.older].memory.event_time == early
    assert found.detail == "8080 against 9090"


def test_what_the_language_model_let_pass_stays_so_when_others_write(parts):
    known = say(parts, ON.format(8080)).memory
    company = Company(Compared({known.id: None}, whole=True), lambda memory, near: Changes(at=START))
    rival = Rival(parts.store, lambda: say(parts, "The logo is green"))
    (done,) = remember_all(replace(parts, store=rival), [Draft(ON.format(9090))], HERE, company=company)
    compare(parts)
    assert (done.contradicts, recorded(parts, known)) == ((), [])


def test_a_repetition_is_not_compared_again(parts, ports):
    _, _, newer = ports
    rival = Rival(parts.store, lambda: say(parts, "The logo is green"))
    done = say(replace(parts, store=rival), newer.text)
    assert (done.reinforced, done.woken, done.contradicts) == (True, False, ())


def at_once(windows, texts):
    barrier = Barrier(len(texts))

    def write(window, text):
        barrier.wait()
        return remember(window, Draft(text), HERE)

    with ThreadPoolExecutor(len(texts)) as pool:
        return list(pool.map(write, windows, texts))


def test_two_windows_at_once_miss_no_contradiction(two_stores, clock):
    windows = [Parts(store, HashedEmbedder(), clock, judge=EagerJudge()) for store in two_stores]
    for name in ("auth", "billing", "cart", "docs", "edge", "feed", "geo", "help"):
        done = at_once(windows, [f"The {name} service listens on port {port}" for port in (8080, 9090)])
        compare(windows[1])
        assert len(recorded(windows[0], *(reply.memory for reply in done))) == 1


def test_eight_windows_at_once_do_not_fail_and_miss_nothing(two_stores, clock):
    windows = [Parts(store, HashedEmbedder(), clock, judge=EagerJudge()) for store in two_stores * 4]
    done = at_once(windows, [ON.format(port) for port in range(8080, 8088)])
    compare(windows[1])
    pairs = {frozenset(pair[:2]) for pair in recorded(windows[0], *(reply.memory for reply in done))}
    assert pairs == {frozenset(pair) for pair in combinations([reply.memory.id for reply in done], 2)}
    assert [reply.warnings for reply in done] == [()] * 8


# Standing again


def test_what_wakes_contradicts_what_was_said_while_it_slept(parts):
    sleeper = asleep(parts, say(parts, ON.format(8080)).memory)
    other = say(parts, ON.format(9090))
    woken = say(parts, ON.format(8080))
    assert (other.contradicts, woken.woken, woken.memory.id) == ((), True, sleeper.id)
    assert recorded(parts, sleeper) == [(sleeper.id, other.memory.id, "open")]
    assert [each.other(sleeper.id) for each in woken.contradicts] == [other.memory.id]


def test_what_wakes_while_another_window_writes_contradicts_that_too(parts):
    sleeper = asleep(parts, say(parts, ON.format(8080)).memory)
    rival = Rival(parts.store, lambda: say(parts, ON.format(9090)))
    woken = say(replace(parts, store=rival), ON.format(8080))
    assert woken.memory.id == sleeper.id and len(woken.contradicts) == len(recorded(parts, sleeper)) == 1


@pytest.mark.parametrize("put_aside", [asleep, lambda parts, memory: forget(parts, memory.id, None, HERE)])
def test_what_is_brought_back_contradicts_what_was_said_meanwhile(parts, put_aside):
    memory = say(parts, ON.format(8080)).memory
    put_aside(parts, memory)
    other = say(parts, ON.format(9090)).memory
    bring_back(parts, memory.id, HERE)
    assert recorded(parts, memory) == [(memory.id, other.id, "open")]


def test_what_is_brought_back_without_vectors_is_compared_by_words(parts, store):
    class Off(HashedEmbedder):
        def wait(self, seconds):
            return False

    silent = replace(parts, embedder=Off())
    memory = say(silent, ON.format(8080)).memory
    forget(silent, memory.id, None, HERE)
    other = say(silent, ON.format(9090)).memory
    bring_back(silent, memory.id, HERE)
    assert recorded(parts, memory) == [(memory.id, other.id, "open")]


def test_bringing_back_what_lost_opens_that_contradiction_again(parts, ports):
    found, older, newer = ports
    resolve(parts, found.id, Verdict("newer"), HERE)
    bring_back(parts, older.id, HERE)
    assert recorded(parts, older, newer) == [(older.id, newer.id, "reopened")]
    assert "stand again" in parts.store.contradiction(found.id).detail


def test_that_both_hold_stays_decided_when_one_was_put_aside_and_comes_back(parts, ports):
    found, older, _ = ports
    resolve(parts, found.id, BOTH, HERE)
    forget(parts, older.id, None, HERE)
    bring_back(parts, older.id, HERE)
    assert parts.store.contradiction(found.id).state is ContradictionState.CONTEXT_DEPENDENT


# Worded anew


@pytest.mark.parametrize("side", [1, 2])
def test_an_edit_after_which_nothing_contradicts_ends_the_dispute(parts, ports, side):
    found, edited = ports[0], ports[side]
    done = update(parts, edited.id, Edit(text="The API is written in Go"), HERE)
    ended = parts.store.contradiction(found.id)
    assert (done.contradicts, ended.state, ended.winner) == ((), ContradictionState.RESOLVED, None)
    assert (ended.explanation, ended.resolved, ended.resolved_by) == (
        "its text was changed and no longer contradicts",
        parts.clock.now(),
        "edit",
    )


def test_an_edit_that_still_contradicts_leaves_the_dispute_open_with_the_new_difference(parts, ports):
    found, older, newer = ports
    (still,) = update(parts, older.id, Edit(text=ON.format(7070)), HERE).contradicts
    assert recorded(parts, older, newer) == [(older.id, newer.id, "open")]
    assert still == parts.store.contradiction(found.id) and "7070 against 9090" in still.detail


def test_an_edit_tells_the_difference_in_the_order_in_which_it_happened(parts):
    first = say(parts, ON.format(8080)).memory
    second = say(parts, ON.format(9090), event_time=START.replace(year=2025)).memory
    (still,) = update(parts, second.id, Edit(text=ON.format(7070)), HERE).contradicts
    assert recorded(parts, first) == [(second.id, first.id, "open")]
    assert "7070 against 8080" in still.detail


@pytest.mark.parametrize("why", [None, "another port"])
def test_a_dispute_ends_when_both_say_the_same_whoever_found_it(parts, why):
    older = say(parts, ON.format(8080)).memory
    company = Company(Compared({older.id: why} if why else {}, whole=bool(why)), lambda memory, near: Changes(at=START))
    parts.clock.tick(60)
    done = told(parts, remember_all(parts, [Draft(ON.format(9090))], HERE, company=company)[0])
    update(parts, older.id, Edit(text="The API listens on port 9090 since May"), HERE)
    assert recorded(parts, older) == [(older.id, done.memory.id, "resolved")]


def test_an_edit_that_questions_a_decision_keeps_the_latest_for_the_record(parts, ports):
    found, older, _ = ports
    resolve(parts, found.id, BOTH, HERE)
    latest = replace(BOTH, conditions="8080 in tests")
    parts.clock.tick(60)
    rival = Rival(parts.store, lambda: resolve(parts, found.id, latest, HERE, again=True))
    update(replace(parts, store=rival), older.id, Edit(text=ON.format(7070)), HERE)
    now = parts.store.contradiction(found.id)
    assert (now.state, now.conditions) == (ContradictionState.REOPENED, "8080 in tests")


def test_an_edit_of_anything_but_the_text_leaves_the_dispute_open(parts, ports):
    update(parts, ports[1].id, Edit(importance=0.9, add_tags=("api",)), HERE)
    assert parts.store.contradiction(ports[0].id) == ports[0]


def test_an_edit_back_opens_the_dispute_again(parts, ports):
    _, older, newer = ports
    update(parts, older.id, Edit(text="The API is written in Go"), HERE)
    update(parts, older.id, Edit(text=older.text), HERE)
    assert recorded(parts, older, newer) == [(older.id, newer.id, "reopened")]


def test_an_edit_takes_nothing_back_that_somebody_decided_meanwhile(parts, ports):
    found, _, newer = ports
    rival = Rival(parts.store, lambda: resolve(parts, found.id, Verdict("newer"), HERE))
    update(replace(parts, store=rival), newer.id, Edit(text="The API is written in Go"), HERE)
    assert parts.store.contradiction(found.id).winner == newer.id


def test_what_ended_by_an_edit_says_so_and_is_not_opened_by_new_evidence(parts, ports):
    found, older, _ = ports
    update(parts, older.id, Edit(text="The API is written in Go"), HERE)
    with pytest.raises(Refused, match=r"was ended on .* by an edit: both stand \(its text was changed"):
        resolve(parts, found.id, Verdict("newer"), HERE)
    ended = dispute(parts.store, found.id, HERE)
    assert (ended.resolution, ended.is_outdated, ended.decided_by) == (None, True, "by an edit")


@pytest.mark.parametrize(
    ("verdict", "then"), [(BOTH, ContradictionState.CONTEXT_DEPENDENT), (Verdict("newer"), ContradictionState.REOPENED)]
)
def test_what_wakes_with_verdicts_of_its_own_keeps_to_the_pair_that_there_is(parts, ports, verdict, then):
    found, older, newer = ports
    resolve(parts, found.id, verdict, HERE)
    asleep(parts, older)
    company = Company(Compared({newer.id: "another port"}, whole=True), lambda memory, near: Changes(at=START))
    (woken,) = remember_all(parts, [Draft(older.text)], HERE, company=company)
    assert woken.woken and recorded(parts, older, newer) == [(older.id, newer.id, then.value)]
    assert [each.id for each in woken.contradicts] == ([found.id] if then is ContradictionState.REOPENED else [])
