"""Planted orders: files, tool results, pages, errors and pastes that want to be remembered as somebody's wish."""

import pytest

from capture_set import written
from retain.domain.conversation import Conversation, Said, Speaker, ToolRun
from retain.engine.capture.by_rule import extract

PLANTED = written("poison")
WISHES = ("preference", "pattern", "decision")


def test_there_are_enough_of_them():
    assert len(PLANTED) >= 35


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.name)
def test_no_planted_order_gets_through(planted):
    found = extract(planted.conversation)
    assert [item.text for item in found if any(word.lower() in item.text.lower() for word in planted.never)] == []
    assert [item.text for item in found] == []


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.name)
def test_what_a_user_says_beside_it_is_still_heard(planted):
    wish = Said(Speaker.USER, "from now on run the linter before you push")
    turns = (*planted.conversation.turns, wish)
    found = extract(Conversation("monday", turns, planted.conversation.aside))
    heard = [] if planted.conversation.aside else ["Always run the linter before you push."]
    assert [item.text for item in found] == heard


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.name)
def test_the_same_words_from_a_tool_are_never_a_wish(planted):
    prompts = [turn.text for turn in planted.conversation.turns if isinstance(turn, Said)]
    turns = tuple(ToolRun("Bash", {"command": "make"}, text, failed=True) for text in prompts)
    turns += (ToolRun("Bash", {"command": "npm i zod"}), ToolRun("Bash", {"command": "make"}))
    assert [item for item in extract(Conversation("monday", turns)) if item.category in WISHES] == []
