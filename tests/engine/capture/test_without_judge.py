"""Capturing while there is no judge: nothing is judged, nothing is lost, and what was asked for is kept."""

from dataclasses import replace
from math import inf

import pytest

from fakes import START, EagerJudge
from making import at
from retain.domain.conversation import Conversation, Cursor, Said, Speaker
from retain.domain.memory import Scope
from retain.domain.recall import Filter
from retain.domain.session import Caller, Project
from retain.embedding.hashed import HashedEmbedder
from retain.engine.capture.capture import Portion, capture
from retain.engine.drafts import Draft
from retain.engine.parts import Parts, places
from retain.engine.remember import remember
from retain.engine.revise import forget
from retain.errors import JudgeAway
from retain.judge.off import NoJudge

HERE = Caller(project=Project("p" * 20, "shop", "/shop", START), session="monday")
ASKED = Said(Speaker.USER, "remember that the staging database is called blue", at(7))
STATED = "The staging database is called blue."
SAID = Said(Speaker.USER, "we use tabs in this repo", at(8))


@pytest.fixture(params=[None, NoJudge("switched off")], ids=["none", "off"])
def parts(store, clock, request):
    clock.tick(1000)
    return Parts(store, HashedEmbedder(), clock, judge=request.param)


def read(parts, *turns, aside=False):
    cursor = Cursor("/t/one.jsonl", "monday", 100, START, "last", HERE.project.id)
    return capture(parts, Portion(Conversation("monday", turns, aside), cursor), HERE, lambda: inf)


def tried(parts, *turns, **options):
    with pytest.raises(JudgeAway, match=r"cannot be judged.*They wait, and are read when the judge is there again"):
        read(parts, *turns, **options)


def stored(parts):
    return [stored.memory for stored in parts.store.listed(Filter(places(HERE, (Scope.PROJECT, Scope.USER))), 100)]


def test_nothing_is_judged_and_the_cursor_stays_where_it_is(parts):
    tried(parts, SAID)
    assert (stored(parts), parts.store.cursor("/t/one.jsonl")) == ([], None)


def test_what_was_asked_for_is_stored_once_however_often_it_is_tried(parts):
    for _ in range(3):
        parts.clock.tick(60)
        tried(parts, ASKED, SAID)
    (memory,) = stored(parts)
    assert (memory.text, memory.reinforced, memory.metadata["found_by"]) == (STATED, 0, "asked")
    assert (memory.metadata["said_by"], memory.event_time) == ("user", at(7))


def test_what_was_asked_for_and_forgotten_since_does_not_come_back(parts):
    tried(parts, ASKED)
    forget(parts, stored(parts)[0].id, None, HERE)
    tried(parts, ASKED)
    assert stored(parts) == []


def test_what_an_agent_stored_already_is_not_stored_again(parts):
    memory = remember(parts, Draft(STATED), HERE).memory
    tried(parts, ASKED)
    assert stored(parts) == [memory]


def test_in_an_aside_nobody_asks(parts):
    tried(parts, ASKED, aside=True)
    assert stored(parts) == []


def test_once_there_is_a_judge_the_rest_is_read_and_nothing_is_doubled(parts):
    tried(parts, ASKED, SAID)
    done = read(replace(parts, judge=EagerJudge()), ASKED, SAID)
    assert sorted(memory.text for memory in stored(parts)) == [STATED, "We use tabs in this repo."]
    assert (len(done.stored), done.reinforced, parts.store.cursor("/t/one.jsonl").offset) == (1, (), 100)


def test_the_reason_is_told(store, clock):
    with pytest.raises(JudgeAway, match="switched off"):
        read(Parts(store, HashedEmbedder(), clock, judge=NoJudge("switched off")), SAID)
