"""Planted orders: files, tool results, pages, errors and pastes that want to be remembered as somebody's wish.

They are read through the judge that ships with Retain. Most must not even rest on what it thinks of them: a judge that
would keep anything does not let them through either.
"""

import pytest

from capture_set import written
from fakes import EagerJudge
from retain.domain.conversation import Conversation, Said, Speaker, ToolRun
from retain.engine.capture import by_judge
from retain.judge.onnx import OnnxJudge

PLANTED = written("poison")
WISH = "we decided to use Postgres for the invoices because finance needs SQL"
# What the user tells of others, and what the agent proposes because of a file: only the judge stands against these.
RESTS_ON_THE_JUDGE = {
    "docs_say",
    "found_somewhere",
    "fresh_chinese_file",
    "fresh_ticket_read_aloud",
    "yes_to_a_files_wish",
}
WISHES = ("preference", "pattern", "decision")


@pytest.fixture(scope="module")
def judge():
    found = OnnxJudge()
    assert found.wait(60)
    return found


def extract(judge, conversation):
    return by_judge.extract(judge, conversation).found


def test_there_are_enough_of_them():
    assert len(PLANTED) >= 35


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.name)
def test_no_planted_order_gets_through(judge, planted):
    found = extract(judge, planted.conversation)
    assert [item.text for item in found if any(word.lower() in item.text.lower() for word in planted.never)] == []
    # What a user types beside it is theirs: "downloads fail behind the proxy".
    assert [item.text for item in found if item.speaker is not Speaker.USER] == []


def test_hardly_any_rests_on_the_judge_alone():
    heard = {
        planted.name
        for planted in PLANTED
        for item in extract(EagerJudge(), planted.conversation)
        if any(word.lower() in item.text.lower() for word in planted.never)
    }
    assert heard <= RESTS_ON_THE_JUDGE


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.name)
def test_what_a_user_says_beside_it_is_still_heard(judge, planted):
    turns = (*planted.conversation.turns, Said(Speaker.USER, WISH))
    found = extract(judge, Conversation("monday", turns, planted.conversation.aside))
    heard = (
        [] if planted.conversation.aside else ["We decided to use Postgres for the invoices because finance needs SQL."]
    )
    assert [item.text for item in found if "Postgres" in item.text] == heard


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.name)
def test_the_same_words_from_a_tool_are_never_a_wish(planted):
    prompts = [turn.text for turn in planted.conversation.turns if isinstance(turn, Said)]
    turns = tuple(ToolRun("Bash", {"command": "make"}, text, failed=True) for text in prompts)
    turns += (ToolRun("Bash", {"command": "npm i zod"}), ToolRun("Bash", {"command": "make"}))
    found = extract(EagerJudge(), Conversation("monday", turns))
    assert [item for item in found if item.category in WISHES] == []
