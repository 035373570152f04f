"""Asking again: how long to wait, when to stop, and that no answer outlasts its time."""

import threading
import time

import pytest

from fake_apis import KEY, Turn
from retain.endpoint import seconds_to_wait
from retain.errors import LLMFailed
from retain.llm.openai import ChatEndpoint, OpenAICompatible
from retain.llm.provider import Passing
from retain.llm.retrying import REST, TRIES, Retrying, within


@pytest.fixture
def asked(api, pauses):
    return Retrying(OpenAICompatible(ChatEndpoint(api.url, "llama", KEY)), pauses.timing())


def test_what_the_provider_asks_for_is_waited(asked, api, prompt, pauses):
    api.script(Turn(status=429, headers={"Retry-After": "7"}), Turn("At last."))
    assert asked.complete(prompt, 30.0).text == "At last."
    assert pauses == [7.5]


def test_a_pause_that_would_take_too_long_is_not_made(asked, api, prompt, pauses):
    api.script(Turn(status=429, headers={"Retry-After": "3600"}))
    with pytest.raises(LLMFailed, match="429"):
        asked.complete(prompt, 30.0)
    assert pauses == []


def test_one_that_is_down_is_asked_once_until_it_had_time_to_come_back(asked, api, prompt, pauses):
    def tries():
        before = len(api.seen)
        with pytest.raises(LLMFailed, match="503"):
            asked.complete(prompt, 60.0)
        return len(api.seen) - before

    api.script(*[Turn(status=503)] * 20)
    assert [tries(), tries(), tries()] == [TRIES, 1, 1]
    pauses.later = REST
    assert tries() == TRIES


def test_one_that_is_back_is_asked_again_as_before(asked, api, prompt):
    api.script(*[Turn(status=503)] * TRIES, Turn("Back."), Turn(status=503), Turn("Again."))
    with pytest.raises(LLMFailed, match="tried 5 times"):
        asked.complete(prompt, 60.0)
    assert [asked.complete(prompt, 60.0).text for _ in range(2)] == ["Back.", "Again."]


def test_pauses_grow_and_differ_by_chance(asked):
    failure = Passing("busy")
    assert [asked._pause(tried, failure) for tried in (1, 2, 3, 9)] == [0.5, 1.0, 2.0, 20.0]


def test_a_server_that_keeps_one_waiting_byte_by_byte_is_left_in_time():
    hold = threading.Event()

    def dripping():
        yield "a"
        hold.wait(30)
        yield "b"

    began, heard = time.monotonic(), []
    with pytest.raises(LLMFailed, match="did not answer within"):
        heard.extend(within(0.2, dripping(), "drip"))
    hold.set()
    assert time.monotonic() - began < 25


def test_a_listener_who_leaves_ends_the_call():
    closed = threading.Event()

    def endless():
        try:
            while True:
                yield "a"
        finally:
            closed.set()

    pieces = within(30.0, endless(), "endless")
    assert next(pieces) == "a"
    pieces.close()
    assert closed.wait(60)


def test_a_provider_that_breaks_unexpectedly_leaves_nobody_waiting():
    def broken():
        yield "a"
        raise LLMFailed("gone")

    with pytest.raises(LLMFailed, match="gone"):
        list(within(30.0, broken(), "broken"))


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("5", 5.0), ("0.5", 0.5), ("-3", 0.0), ("soon", None), ("", None), (None, None)],
)
def test_a_retry_after_header_is_read(header, seconds):
    assert seconds_to_wait(header) == seconds


def test_a_retry_after_header_may_be_a_date():
    assert seconds_to_wait("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    assert seconds_to_wait("Wed, 21 Oct 2150 07:28:00 GMT") > 1e9
