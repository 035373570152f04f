"""Comparing: after the reply, by whoever is alive, and each memory once."""

from dataclasses import replace
from datetime import timedelta

import pytest

from comparing import PATIENT, compare
from fakes import START, EagerJudge, Rival
from making import a_memory, save
from retain.domain.changes import Changes, ContradictionState
from retain.domain.memory import Provenance, Source
from retain.domain.session import Caller, Project
from retain.embedding.hashed import HashedEmbedder
from retain.engine import comparing, revise
from retain.engine.comparer import Comparer, Patience
from retain.engine.comparing import ABANDONED, candidates, compare_missing
from retain.engine.drafts import Draft
from retain.engine.engine import Engine
from retain.engine.lifecycle.relating import MOST
from retain.engine.nearby import Compared
from retain.engine.parts import Parts
from retain.engine.recall.recall import Question
from retain.engine.remember import Company, remember, remember_all
from retain.engine.revise import Edit
from retain.engine.trust.disputes import Verdict, resolve
from retain.errors import StoreBusy
from retain.judge.off import NoJudge

HERE = Caller(project=Project("p" * 20, "shop", "/shop", START))
ON = "The API listens on port {}"


@pytest.fixture
def parts(store, clock):
    return Parts(store, HashedEmbedder(), clock, judge=EagerJudge())


def say(parts, text, caller=HERE, **fields):
    parts.clock.tick(60)
    return remember(parts, Draft(text, **fields), caller)


def waiting(parts):
    return [memory.id for memory in parts.store.uncompared(100)]


def found(parts, *memories):
    return parts.store.contradictions([memory.id for memory in memories])


def test_a_write_is_marked_and_compared_afterwards(parts):
    old, new = (say(parts, ON.format(port)).memory for port in (8080, 9090))
    assert (waiting(parts), found(parts, old)) == ([old.id, new.id], [])
    compare(parts)
    assert (waiting(parts), [(each.older, each.newer) for each in found(parts, old)]) == ([], [(old.id, new.id)])


def test_comparing_again_changes_nothing(parts):
    old, new = (say(parts, ON.format(port)).memory for port in (8080, 9090))
    compare(parts)
    before, change = found(parts, old, new), parts.store.change()
    assert (compare(parts), found(parts, old, new), parts.store.change()) == ({}, before, change)


def test_of_two_that_compare_the_same_one_writes(parts):
    say(parts, ON.format(8080))
    compare(parts)
    new = say(parts, ON.format(9090)).memory
    rival = Rival(parts.store, lambda: compare(parts))
    compare_missing(replace(parts, store=rival))
    assert (len(found(parts, new)), waiting(parts)) == (1, [])


def test_what_capture_has_compared_is_not_compared_again(parts):
    known = say(parts, ON.format(8080)).memory
    compare(parts)
    company = Company(Compared({known.id: None}, whole=True), lambda memory, near: Changes(at=START))
    remember_all(parts, [Draft(ON.format(9090))], HERE, company=company)
    assert waiting(parts) == []


def test_what_others_wrote_since_somebody_compared_is_compared_with_it(parts):
    known = say(parts, "The API listens on a port").memory
    company = Company(Compared({known.id: None}, whole=True), lambda memory, near: Changes(at=START))
    say(parts, ON.format(8080))
    compare(parts)
    (done,) = remember_all(parts, [Draft(ON.format(9090))], HERE, company=company)
    compare(parts)
    assert len(found(parts, done.memory)) == 1


@pytest.mark.parametrize("judge", [None, NoJudge("switched off")])
def test_without_a_judge_the_marks_stay(parts, judge):
    say(parts, ON.format(8080))
    new = say(parts, ON.format(9090)).memory
    assert compare_missing(replace(parts, judge=judge)) == 0
    assert new.id in waiting(parts)
    compare(parts)
    assert len(found(parts, new)) == 1


def test_what_others_wrote_is_left_to_them_until_it_is_abandoned(parts):
    mine, theirs = (say(parts, text).memory for text in (ON.format(8080), "The logo is green"))
    parts.clock.tick(-60)
    compare_missing(parts, {mine.id})
    assert waiting(parts) == [theirs.id]
    parts.clock.tick(60 + ABANDONED / timedelta(seconds=1))
    compare_missing(parts, ())
    assert waiting(parts) == []


def crowd(parts):
    """More marks of others than are read at once, first in the list, all just made."""
    now = parts.clock.now()
    save(parts.store, *(a_memory(f"m{n:02}", f"Crate {n} is blue", when=now, compared=False) for n in range(40)))


def test_what_a_process_wrote_is_compared_however_much_others_have_just_written(parts):
    crowd(parts)
    own = remember(parts, Draft(ON.format(8080)), HERE).memory
    assert compare_missing(parts, {own.id}) == 1
    assert own.id not in waiting(parts) and len(waiting(parts)) == 40


def test_what_was_abandoned_is_found_behind_what_others_have_just_written(parts):
    crowd(parts)
    parts.clock.tick(-60)
    lost = remember(parts, Draft(ON.format(8080)), HERE).memory
    parts.clock.tick(60)
    assert compare_missing(parts, ()) == 1
    assert lost.id not in waiting(parts)


def test_what_was_passed_over_as_too_young_is_looked_at_once_more_with_the_next_recall(parts):
    engine = Engine(parts, patience=PATIENT)
    theirs = remember(parts, Draft("The logo is green"), HERE).memory
    engine.remember(Draft(ON.format(8080)), HERE)
    assert engine.settle(20) and waiting(parts) == [theirs.id]
    parts.clock.tick(ABANDONED / timedelta(seconds=1))
    engine.recall(Question("logo"), HERE)
    assert engine.settle(20) and waiting(parts) == []


def test_a_memory_is_compared_with_at_most_eight_others(parts):
    for port in range(8080, 8095):
        say(parts, ON.format(port))
    new = say(parts, ON.format(9090)).memory
    assert len(candidates(parts, new)) == MOST


def test_a_reply_says_what_is_not_known_yet_and_the_next_recall_tells_it(parts):
    engine = Engine(parts, patience=Patience(reply=0, encode=0))
    engine.remember(Draft(ON.format(8080)), HERE)
    done = engine.remember(Draft(ON.format(9090)), HERE)
    assert (done.contradicts, done.contradictions_pending) == ((), True)
    assert engine.settle(20)
    (one,) = found(parts, done.memory)
    told = [warning for warning in engine.recall(Question("port"), HERE).warnings if warning.code == "contradicts"]
    assert one.id in told[0].message and len(told) == 1
    assert not any(warning.code == "contradicts" for warning in engine.recall(Question("port"), HERE).warnings)


def told(engine):
    return [each.message for each in engine.recall(Question("port"), HERE).warnings if each.code == "contradicts"]


@pytest.mark.parametrize("side", [0, 1])
def test_what_has_ended_before_it_could_be_told_is_not_told(parts, side):
    engine = Engine(parts, patience=Patience(reply=0, encode=0))
    sides = [engine.remember(Draft(ON.format(port)), HERE).memory.id for port in (8080, 9090)]
    assert engine.settle(20)
    engine.forget(sides[side], None, HERE)
    assert told(engine) == []


def test_what_was_decided_before_it_could_be_told_is_not_told(parts):
    engine = Engine(parts, patience=Patience(reply=0, encode=0))
    new = [engine.remember(Draft(ON.format(port)), HERE).memory for port in (8080, 9090)][-1]
    assert engine.settle(20)
    (dispute,) = found(parts, new)
    resolve(parts, dispute.id, Verdict("context_dependent", "8080 in tests"), HERE)
    assert told(engine) == []


def test_a_reply_tells_the_newest_of_many_and_that_there_are_more(parts):
    engine = Engine(parts, patience=Patience(reply=0, encode=0))
    for port in range(8080, 8100):
        engine.remember(Draft(ON.format(port)), HERE)
    assert engine.settle(20)
    *newest, more = told(engine)
    assert len(newest) == 10 and all("is open" in each for each in newest)
    assert "`retain contradictions` lists all" in more
    assert told(engine) == []


def test_what_waits_to_be_told_is_kept_for_the_newest_alone(parts):
    engine = Engine(parts, patience=Patience(reply=0, encode=0))
    for port in range(8080, 8100):
        last = engine.remember(Draft(ON.format(port)), HERE).memory
        assert engine.settle(20)
    late = engine._comparer._late
    assert len(late) == 100 and {each.id for each in found(parts, last)} <= late.keys()


def test_what_cannot_be_read_now_is_told_with_a_later_reply(parts):
    class Away:
        def __getattr__(self, name):
            return getattr(parts.store, name)

        def with_contradictions(self, ids):
            raise StoreBusy("too many")

    comparer = Comparer(parts, Patience(reply=0, encode=0))
    for port in (8080, 9090):
        comparer.told(remember(parts, Draft(ON.format(port)), HERE))
    assert comparer.settle(20)
    comparer._parts = replace(parts, store=Away())
    assert comparer.news(HERE) == ()
    comparer._parts = parts
    assert len(comparer.news(HERE)) == 1


def test_a_reply_that_waited_says_it_and_nobody_tells_it_again(parts):
    engine = Engine(parts, patience=PATIENT)
    engine.remember(Draft(ON.format(8080)), HERE)
    done = engine.remember(Draft(ON.format(9090)), HERE)
    assert (len(done.contradicts), done.contradictions_pending) == (1, False)
    assert not any(warning.code == "contradicts" for warning in engine.recall(Question("port"), HERE).warnings)


def test_status_says_what_waits_and_why(parts):
    engine = Engine(replace(parts, judge=NoJudge("switched off")), patience=PATIENT)
    engine.remember(Draft(ON.format(8080)), HERE)
    report = engine.status(HERE)
    assert report.counts.uncompared == 1
    assert "1 memory is not compared with what is near: the judge is off: switched off" in report.notices[-1]


def edit(parts, memory, text):
    parts.clock.tick(60)
    revise.update(parts, memory.id, Edit(text=text), HERE)


def test_what_is_worded_anew_while_it_is_compared_contradicts_in_its_new_words_alone(parts):
    known = say(parts, "The logo is green").memory
    say(parts, ON.format(8080))
    compare(parts)
    new = say(parts, ON.format(9090)).memory
    rival = Rival(parts.store, lambda: edit(parts, new, "The logo is red"))
    compare_missing(replace(parts, store=rival, judge=EagerJudge({("The logo is green", "The logo is red"): 1.0})))
    assert ([each.other(new.id) for each in found(parts, new)], waiting(parts)) == ([known.id], [])


def test_the_other_being_worded_anew_meanwhile_makes_no_contradiction_of_its_old_words(parts):
    old = say(parts, ON.format(8080)).memory
    compare(parts)
    new = say(parts, ON.format(9090)).memory
    rival = Rival(parts.store, lambda: edit(parts, old, "The API is written in Go"))
    compare_missing(replace(parts, store=rival))
    assert found(parts, old, new) == []


def test_what_is_forgotten_while_it_is_compared_keeps_its_mark(parts):
    say(parts, ON.format(8080))
    compare(parts)
    new = say(parts, ON.format(9090)).memory
    rival = Rival(parts.store, lambda: revise.forget(parts, new.id, None, HERE))
    compare_missing(replace(parts, store=rival))
    assert found(parts, new) == [] and not parts.store.memories([new.id])[new.id].memory.compared


def test_one_that_cannot_be_compared_holds_up_no_other(parts, caplog):
    class Choking(EagerJudge):
        def relation(self, old, new):
            if "9090" in new:
                raise StoreBusy("too many")
            return super().relation(old, new)

    first = say(parts, ON.format(8080)).memory
    compare(parts)
    choked, last = say(parts, ON.format(9090)).memory, say(parts, "The logo is green").memory
    assert compare_missing(replace(parts, judge=Choking())) == 1
    assert (waiting(parts), found(parts, first, last)) == ([choked.id], [])
    assert f"memory:{choked.id} waits to be compared: too many" in caplog.text


def test_a_judge_is_not_loaded_for_nothing(parts):
    class Unloaded(EagerJudge):
        def wait(self, seconds):
            raise AssertionError

    assert compare_missing(replace(parts, judge=Unloaded())) == 0


def test_what_another_process_has_compared_is_told_too(parts):
    engine, faster = Engine(parts, patience=PATIENT), []
    engine.remember(Draft(ON.format(8080)), HERE)
    judge = EagerJudge()
    parts.judge.wait = lambda seconds: faster or faster.append(compare(parts, judge)) or True
    done = engine.remember(Draft(ON.format(9090)), HERE)
    assert (list(done.contradicts), done.contradictions_pending) == (found(parts, done.memory), False)
    assert len(done.contradicts) == 1 and done.memory.id in faster[0]


def test_of_two_that_find_a_pair_at_once_both_name_it_by_the_id_that_stands(parts):
    one, other = (say(parts, ON.format(port)).memory for port in (8080, 9090))
    told = {}

    def compare_other():
        told[other.id] = comparing.compare(parts, parts.judge, other)

    told[one.id] = comparing.compare(replace(parts, store=Rival(parts.store, compare_other)), parts.judge, one)
    (stands,) = found(parts, one)
    assert [[each.id for each in told[id].contradictions] for id in (one.id, other.id)] == [[stands.id]] * 2


def test_two_of_one_moment_make_one_contradiction_whoever_compares_them(parts):
    one, other = (remember(parts, Draft(ON.format(port)), HERE).memory for port in (8080, 9090))
    assert (one.event_time, one.created) == (other.event_time, other.created)
    rival = Rival(parts.store, lambda: comparing.compare(parts, parts.judge, other))
    comparing.compare(replace(parts, store=rival), parts.judge, one)
    assert len(found(parts, one)) == 1


def test_a_decision_taken_while_evidence_is_compared_holds(parts):
    _, new = (say(parts, ON.format(port)).memory for port in (8080, 9090))
    compare(parts)
    (dispute,) = found(parts, new)
    resolve(parts, dispute.id, Verdict("newer"), HERE)
    say(parts, "The API listens on port 8080 again.", source=Source(provenance=Provenance.TOLD_BY_USER))
    both = Verdict("context_dependent", "8080 in tests")
    rival = Rival(parts.store, lambda: resolve(parts, dispute.id, both, HERE, again=True))
    compare_missing(replace(parts, store=rival))
    now = parts.store.contradiction(dispute.id)
    assert (now.state, now.conditions) == (ContradictionState.CONTEXT_DEPENDENT, "8080 in tests")
