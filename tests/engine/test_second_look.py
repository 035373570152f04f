"""What reading the best candidates once more does to their scores."""

from dataclasses import replace

import pytest

from fakes import EagerJudge
from retain.engine.recall.scoring import Score
from retain.engine.recall.second_look import LIFT, LOOKED_AT, ROOM, Candidate, looked_at_again, reread
from retain.errors import JudgeAway
from retain.judge.off import NoJudge


def scores(*relevances):
    return [Score(f"m{n}", 0.6 * r + 0.3, r, {"relevance": r, "scope_weight": 1.0}) for n, r in enumerate(relevances)]


def looked(read, known):
    texts = {score.memory: f"text of {score.memory}" for score in known}
    return looked_at_again("where is it?", known, texts, lambda question, best: read(best))


def candidates(known):
    return [Candidate(score.memory, f"text of {score.memory}", score.relevance) for score in known]


class Failing(EagerJudge):
    def fits(self, question, memory):
        raise JudgeAway("the judge failed")


def test_what_reads_better_comes_first_and_says_why():
    first, second = looked(lambda best: {"m1": 0.9}, scores(0.6, 0.5))
    assert (first.memory, second.memory) == ("m1", "m0")
    assert first.total == pytest.approx(0.6 * 0.9 + 0.3) and first.relevance == first.terms["relevance"] == 0.9
    assert first.terms["second_look"] == pytest.approx(0.4) and "second_look" not in second.terms


def test_only_the_best_are_read_with_their_texts():
    seen = []
    looked(lambda best: seen.extend(best) or {}, scores(*[0.9 - n / 100 for n in range(30)]))
    assert [(one.memory, one.text) for one in seen] == [(f"m{n}", f"text of m{n}") for n in range(LOOKED_AT)]


def test_the_judge_lifts_what_answers():
    known = scores(0.6, 0.55, 0.5)
    judge = EagerJudge({("where is it?", "text of m0"): 0.1, ("where is it?", "text of m1"): 0.9})
    found = reread(judge, "where is it?", candidates(known))
    assert found == pytest.approx({"m0": 0.6 + 0.1 * LIFT, "m1": 0.55 + 0.9 * LIFT, "m2": 0.5 + 0.5 * LIFT})
    assert [s.memory for s in looked(lambda best: reread(judge, "where is it?", best), known)] == ["m1", "m0", "m2"]


def test_nothing_is_more_than_wholly_relevant():
    assert reread(EagerJudge({("q", "text of m0"): 1.0}), "q", candidates(scores(0.95))) == {"m0": 1.0}


def test_no_more_is_read_than_there_is_room_for():
    long = [replace(each, text="word " * 200) for each in candidates(scores(*[0.5] * 12))]
    assert 0 < len(reread(EagerJudge(), "where?", long)) <= ROOM // 400


@pytest.mark.parametrize("judge", [None, NoJudge("switched off"), Failing()], ids=["none", "off", "failing"])
def test_without_a_judge_what_the_signals_say_stands(judge):
    assert reread(judge, "where is it?", candidates(scores(0.6, 0.5))) == {}


def test_where_nobody_reads_the_order_stays():
    known = scores(0.6, 0.5, 0.4)
    assert looked(lambda best: reread(None, "where is it?", best), known) == known
