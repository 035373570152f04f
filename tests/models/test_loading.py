"""Something slow to get ready: made once, shared, let go, and tried again."""

import threading

import pytest

from fakes import Ticks
from retain.errors import JudgeAway
from retain.models.loading import RETRY_AFTER, Loading


@pytest.fixture
def ticks():
    return Ticks()


class Made:
    """Counts what it makes, and fails as often as it is told."""

    def __init__(self, *failures):
        self.times = 0
        self._failures = list(failures)

    def __call__(self):
        self.times += 1
        if self._failures:
            raise self._failures.pop(0)
        return f"made {self.times}"


def loading(make, ticks):
    return Loading(make, ticks, JudgeAway, "the thing")


def test_it_is_made_once_however_many_wait(ticks):
    make, gate = Made(), threading.Event()
    shared = loading(lambda: gate.wait(10) and make(), ticks)
    assert (shared.wait(0.01), shared.state().name) == (False, "loading")
    gate.set()
    assert ([shared.value() for _ in range(3)], make.times) == (["made 1"] * 3, 1)


def test_what_was_let_go_is_made_again(ticks):
    shared = loading(Made(), ticks)
    assert shared.value() == "made 1"
    shared.let_go()
    assert shared.state().name == "idle"
    assert (shared.value(), shared.state().name) == ("made 2", "ready")


def test_letting_go_of_what_is_not_there_does_nothing(ticks):
    shared = loading(Made(JudgeAway("no file")), ticks)
    shared.let_go()
    assert shared.state().name == "idle"
    assert not shared.wait(10)
    shared.let_go()
    assert (shared.state().name, shared.state().why) == ("off", "no file")


def test_letting_go_while_it_is_being_made_leaves_it_to_whoever_waits(ticks):
    gate = threading.Event()
    shared = loading(lambda: gate.wait(10) and "made", ticks)
    shared.start()
    shared.let_go()
    gate.set()
    assert shared.value() == "made"


def test_whoever_holds_it_keeps_it(ticks):
    shared = loading(lambda: ["made"], ticks)
    held = shared.value()
    shared.let_go()
    assert (held, shared.value() is held) == (["made"], False)


@pytest.mark.parametrize(
    ("failure", "why"),
    [(JudgeAway("no file"), "no file"), (OSError("broken"), "the thing cannot be loaded: OSError: broken")],
)
def test_a_failure_is_told_and_tried_again_after_a_while(ticks, failure, why):
    make = Made(failure)
    shared = loading(make, ticks)
    with pytest.raises(JudgeAway, match=why):
        shared.value()
    ticks.now += RETRY_AFTER - 1
    assert (shared.wait(10), make.times) == (False, 1)
    ticks.now += 1
    assert shared.value() == "made 2"
