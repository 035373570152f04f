"""The judge in the package: what it answers, what it says where it cannot, and when it is let go."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from fakes import Ticks
from retain.domain.judging import CATEGORIES, RELATIONS, SCOPES, Surroundings
from retain.errors import JudgeAway
from retain.judge.off import NoJudge
from retain.judge.onnx import IDLE_SECONDS, JudgeFiles, OnnxJudge

RULE = "from now on we use pnpm in this repo, never npm"
DECISION = "we decided to use Postgres for the invoices because finance needs SQL"
TASK = "can you fix the typo in line 3"
ODD = {
    "nothing": "",
    "a space": " ",
    "a line": "\n",
    "a zero": "a\x00b",
    "half a character": "a \ud83d b",
    "hidden characters": "\u200b\u202e\ufeff",
    "emoji": "👩‍👩‍👧‍👦" * 50,
    "another script": "我们使用蓝色数据库 ごめん тест",
    "one long word": "x" * 20_000,
    "a long text": "we deploy on Mondays " * 20_000,
    "the marks of the tokenizer": "[CLS] [SEP] [PAD] [MASK] ##a",
}


@pytest.fixture(scope="module")
def judge():
    return OnnxJudge()


@pytest.fixture
def ticks():
    return Ticks()


def test_rules_and_decisions_are_worth_more_than_a_task(judge):
    rule, decision, task = (judge.keep(text, Surroundings()).score for text in (RULE, DECISION, TASK))
    assert min(rule, decision) > 0.5 > task


def test_a_contradiction_is_likelier_between_opposites_than_between_strangers(judge):
    opposite = judge.relation("We use npm in this repo.", "We use pnpm in this repo now, not npm.")
    stranger = judge.relation("We use npm in this repo.", "Invoices are archived for ten years.")
    assert opposite.contradiction > stranger.contradiction
    assert stranger.relation == "unrelated"


def test_the_memory_that_answers_fits_better_than_one_of_the_same_subject(judge):
    question = "which port does staging listen on"
    answer = judge.fits(question, "The staging database listens on port 6432.")
    assert answer > 0.5 > judge.fits(question, "Staging is rolled out on Fridays.")


def test_of_a_long_memory_the_part_that_is_asked_about_is_read(judge):
    question, answer = "which port does staging listen on", "The staging database listens on port 6432."
    talk = "The meeting went on about budgets and nobody wrote anything down. " * 20
    assert judge.fits(question, talk + answer) > judge.fits(question, talk)


def test_importing_it_loads_nothing_heavy():
    heavy = "{'numpy', 'onnxruntime', 'tokenizers'}"
    code = f"import sys, retain.judge.onnx as o; o.OnnxJudge().model; sys.exit(bool({heavy} & set(sys.modules)))"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_it_is_idle_until_something_is_to_be_judged():
    judge = OnnxJudge()
    assert judge.state().name == "idle"
    judge.keep(RULE, Surroundings())
    assert (judge.state().name, judge.wait(0)) == ("ready", True)


@pytest.mark.parametrize(
    "damage", [lambda file: None, lambda file: file.write_bytes(b"half a download")], ids=["missing", "damaged"]
)
def test_without_its_file_it_is_away_and_says_what_to_do(tmp_path, damage):
    file = tmp_path / "judge.onnx"
    damage(file)
    judge = OnnxJudge(JudgeFiles(onnx=file))
    assert not judge.wait(30)
    for ask in (lambda: judge.keep(RULE, Surroundings()), lambda: judge.relation("a", "b")):
        with pytest.raises(JudgeAway, match="is missing or damaged: reinstall with pip install"):
            ask()
    assert (judge.state().name, "reinstall" in judge.state().why) == ("off", True)


def test_a_whole_file_that_is_no_network_leaves_it_away(tmp_path):
    from retain.models.files import sha256

    file = tmp_path / "judge.onnx"
    file.write_bytes(b"not a network")
    judge = OnnxJudge(JudgeFiles(onnx=file, sha256=sha256(file)))
    with pytest.raises(JudgeAway, match="the judge cannot be loaded"):
        judge.keep(RULE, Surroundings())


def test_without_a_tokenizer_it_is_away(tmp_path):
    judge = OnnxJudge(replace(JudgeFiles(), tokenizer=tmp_path / "tokenizer.json"))
    with pytest.raises(JudgeAway, match="the judge cannot be loaded"):
        judge.relation("a", "b")


def test_a_file_that_came_back_is_found_after_a_minute(tmp_path, ticks):
    file = tmp_path / "judge.onnx"
    judge = OnnxJudge(JudgeFiles(onnx=file), ticks)
    assert not judge.wait(30)
    file.symlink_to(JudgeFiles().onnx)
    assert not judge.wait(30)
    ticks.now += 61
    assert judge.wait(30)


def test_no_judge_says_why():
    judge = NoJudge("switched off")
    assert (judge.state().name, judge.state().why, judge.wait(9)) == ("off", "switched off", False)
    with pytest.raises(JudgeAway, match="switched off"):
        judge.keep(RULE, Surroundings())
    with pytest.raises(JudgeAway, match="switched off"):
        judge.relation("a", "b")
    with pytest.raises(JudgeAway, match="switched off"):
        judge.fits("a", "b")


def test_a_pair_has_the_same_answer_alone_and_among_others(judge):
    asked = [(RULE, Surroundings()), (TASK, Surroundings("assistant", "hello " * 100)), (DECISION, Surroundings())]
    among = [judge.keep(*each) for each in asked]
    alone = [OnnxJudge().keep(*each) for each in reversed(asked)]
    assert among == alone[::-1]
    assert judge.relation(RULE, DECISION) == OnnxJudge().relation(RULE, DECISION)


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_odd_texts_have_answers_too(judge, text):
    verdict = judge.keep(text, Surroundings("user", text, text, text))
    assert 0 <= verdict.score <= 1
    assert (verdict.category in CATEGORIES[1:], verdict.scope in SCOPES) == (True, True)
    for pair in ((text, text), (RULE, text), (text, RULE)):
        compared = judge.relation(*pair)
        assert set(compared.scores) == set(RELATIONS)
        assert sum(compared.scores.values()) == pytest.approx(1, abs=1e-3)


def test_of_a_text_that_is_too_long_the_beginning_counts(judge):
    start = "we deploy on Mondays " * 200
    assert judge.relation(start, RULE) == judge.relation(start + "and never on Fridays", RULE)


def test_it_is_let_go_after_idle_time_and_loaded_again(ticks):
    judge = OnnxJudge(clock=ticks)
    before = judge.keep(RULE, Surroundings())
    ticks.now += IDLE_SECONDS - 1
    assert (judge.free_if_idle(), judge.state().name) == (False, "ready")
    ticks.now += 1
    assert (judge.free_if_idle(), judge.state().name) == (True, "idle")
    assert (judge.keep(RULE, Surroundings()), judge.state().name) == (before, "ready")


def test_each_question_begins_the_idle_time_anew(ticks):
    judge = OnnxJudge(clock=ticks)
    for _ in range(3):
        judge.relation("a", "b")
        ticks.now += IDLE_SECONDS - 1
        assert not judge.free_if_idle()


def test_what_was_only_waited_for_is_let_go_too_and_not_at_once(ticks):
    ticks.now = 10 * IDLE_SECONDS
    judge = OnnxJudge(clock=ticks)
    assert judge.wait(30)
    assert not judge.free_if_idle()
    ticks.now += IDLE_SECONDS
    assert judge.free_if_idle()


def test_threads_that_ask_at_once_have_the_answers_of_one(judge):
    asked = [RULE, TASK, DECISION] * 8
    alone = {text: judge.keep(text, Surroundings()) for text in asked}
    shared = OnnxJudge()
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda text: shared.keep(text, Surroundings()), asked))
    assert answers == [alone[text] for text in asked]


def test_it_may_be_let_go_while_threads_ask(ticks):
    judge = OnnxJudge(clock=ticks)
    wanted = judge.keep(RULE, Surroundings())

    def ask(_):
        answer = judge.keep(RULE, Surroundings())
        ticks.now += IDLE_SECONDS
        judge.free_if_idle()
        return answer

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(ask, range(6))) == [wanted] * 6


@pytest.mark.parametrize("seconds", [0.0, 0.1, 0.3])
def test_a_process_may_end_while_it_judges(seconds):
    code = f"""
import threading, time
from retain.domain.judging import Surroundings
from retain.errors import JudgeAway
from retain.judge.onnx import OnnxJudge
def work():
    try:
        while True: judge.keep(f"{{time.monotonic()}}", Surroundings())
    except JudgeAway: pass
judge = OnnxJudge()
threading.Thread(target=work, daemon=True).start()
time.sleep({seconds})
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_its_name_tells_which_file_it_is():
    assert OnnxJudge().model == JudgeFiles().name
    assert JudgeFiles().sha256.startswith(JudgeFiles().name.partition("@")[2])
