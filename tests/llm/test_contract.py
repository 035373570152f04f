"""What every language model does, whoever provides it: over real HTTP, against a server that does as it is told."""

import json
import time

import pytest

from fake_apis import KEY, Turn
from retain.errors import LLMFailed

LONG = 30.0


def test_the_answer_comes_whole_and_with_what_it_took(llm, api, prompt):
    api.script("Tabs, because the linter wants them.")
    answer = llm.complete(prompt, LONG)
    assert (answer.text, answer.tokens_in, answer.tokens_out) == ("Tabs, because the linter wants them.", 11, 7)
    assert not answer.cut


def test_a_stream_brings_the_same_words_in_pieces(llm, api, prompt):
    api.script("Tabs, because the linter wants them.")
    pieces = list(llm.stream(prompt, LONG))
    assert len(pieces) > 1
    assert "".join(pieces) == "Tabs, because the linter wants them."


def test_instructions_and_text_are_sent_apart(llm, api, prompt):
    llm.complete(prompt, LONG)
    body = api.bodies()[0]
    system = body.get("system") or next(m for m in body["messages"] if m["role"] == "system")
    assert "Be brief." in json.dumps(system)
    assert "What is up?" in json.dumps([m for m in body["messages"] if m["role"] == "user"])
    assert body.get("max_tokens") == 500


def test_an_answer_that_hit_the_limit_says_so(llm, api, prompt):
    api.script(Turn("Half a sent", stop="max_tokens"))
    assert llm.complete(prompt, LONG).cut


@pytest.mark.parametrize("status", [429, 500, 503, 529])
def test_what_may_pass_is_tried_again(llm, api, prompt, pauses, status):
    api.script(Turn(status=status), Turn(status=status), Turn("At last."))
    assert llm.complete(prompt, LONG).text == "At last."
    assert [round(pause, 3) for pause in pauses] == [0.5, 1.0]


@pytest.mark.parametrize("status", [400, 401, 403])
def test_what_will_not_pass_is_not_tried_again(llm, api, prompt, pauses, status):
    api.script(Turn(status=status))
    with pytest.raises(LLMFailed, match=f"answered {status} ") as failed:
        llm.complete(prompt, LONG)
    assert pauses == []  # requests are no measure: the client asks once more by itself after a 400
    assert not failed.value.retry_possible


def test_a_model_that_is_not_there_is_told_from_trouble(llm, api, prompt):
    api.script(Turn(status=404))
    with pytest.raises(LLMFailed, match=r"answered 404 .*check llm_model"):
        llm.complete(prompt, LONG)


def test_a_failure_says_who_what_and_what_to_do_and_never_the_key(llm, api, prompt):
    api.script(Turn(status=401, message=f"invalid key {KEY}"))
    with pytest.raises(LLMFailed, match="retain key set") as failed:
        llm.complete(prompt, LONG)
    assert failed.value.details["status"] == 401
    assert KEY not in failed.value.message
    assert KEY not in repr(llm)


def test_trying_again_ends_and_says_how_often_it_was_tried(llm, api, prompt):
    api.script(Turn(status=503))
    with pytest.raises(LLMFailed, match=r"503 .*tried 5 times"):
        llm.complete(prompt, LONG)
    assert len(api.seen) == 5


def test_a_stream_that_ends_early_is_no_answer(llm, api, prompt):
    api.script(Turn("This is not the end of", ends_early=True), Turn("Whole."))
    assert llm.complete(prompt, LONG).text == "Whole."


def test_an_error_in_the_middle_of_a_stream_is_no_answer(llm, api, prompt):
    api.script(Turn("This is not the end of", fails_midway=True), Turn("Whole."))
    assert llm.complete(prompt, LONG).text == "Whole."


def test_words_that_were_streamed_are_not_said_twice(llm, api, prompt):
    api.script(Turn("This is not the end of it", ends_early=True), Turn("Whole."))
    heard = []
    with pytest.raises(LLMFailed):
        heard.extend(llm.stream(prompt, LONG))
    assert "Whole." not in "".join(heard)


def test_a_connection_that_is_torn_down_is_tried_again(llm, api, prompt):
    api.script(Turn(reset=True), Turn("Back again."))
    assert llm.complete(prompt, LONG).text == "Back again."


def test_a_server_that_says_nothing_more_is_left_in_time(llm, api, prompt):
    api.script(Turn("This will never be the end of it", hangs=True))
    began = time.monotonic()
    with pytest.raises(LLMFailed):
        llm.complete(prompt, 1.5)
    assert time.monotonic() - began < 50


def test_an_answer_with_nothing_in_it_is_a_failure(llm, api, prompt):
    api.script("")
    with pytest.raises(LLMFailed, match=r"nothing|no answer"):
        llm.complete(prompt, LONG)


def test_each_call_is_written_down_with_its_purpose(llm, api, prompt, tmp_path):
    api.script("Fine.")
    llm.complete(prompt, LONG)
    (line,) = (tmp_path / "usage" / "2026-03-02.jsonl").read_text().splitlines()
    call = json.loads(line)
    assert (call["purpose"], call["tokens_in"], call["tokens_out"], call["ok"]) == ("extract", 11, 7, True)
    assert call["usd"] >= 0
