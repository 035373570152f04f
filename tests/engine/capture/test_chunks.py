"""A conversation as a model reads it."""

from itertools import pairwise

import pytest

from retain.domain.conversation import Conversation, Said, Speaker, ToolRun
from retain.engine.capture.chunks import OVERLAP, SIZE, chunked, line_of, stretches


def conversation(*texts):
    return Conversation("s1", tuple(Said(Speaker.USER, text) for text in texts))


@pytest.mark.parametrize(
    ("turn", "line"),
    [
        (Said(Speaker.USER, "add billing"), "USER: add billing"),
        (Said(Speaker.ASSISTANT, "I will."), "CLAUDE: I will."),
        (
            ToolRun("Write", {"file_path": "/p/shop/src/lib/stripe.ts", "content": "…"}),
            "TOOL [Write]: src/lib/stripe.ts",
        ),
        (ToolRun("Write", {"file_path": "/elsewhere/x.ts"}), "TOOL [Write]: /elsewhere/x.ts"),
        (ToolRun("Bash", {"command": "npm test", "description": "test"}, "ok"), "TOOL [Bash]: npm test"),
        (
            ToolRun("Bash", {"command": "npm test"}, "Exit code 1\n\n  Error: no port\nmore", failed=True),
            "TOOL [Bash]: npm test → failed: Error: no port",
        ),
        (ToolRun("Bash", {"command": "false"}, "Exit code 1", failed=True), "TOOL [Bash]: false → failed"),
        (ToolRun("Bash", {"command": "cat <<E\n1\n2\nE"}), "TOOL [Bash]: cat <<E 1 2 E"),
        (ToolRun("Odd", {"x": 1}), "TOOL [Odd]: "),
    ],
)
def test_a_turn_is_a_line(turn, line):
    assert line_of(turn, "/p/shop") == line


def test_a_short_conversation_is_one_chunk():
    (chunk,) = chunked(conversation("one", "two"))
    assert (chunk.text, chunk.start, chunk.end) == ("USER: one\nUSER: two", 0, 2)


def test_nothing_said_is_no_chunk():
    assert chunked(conversation()) == []


def test_long_conversations_are_split_with_an_overlap():
    chunks = chunked(conversation(*(f"number {n} " + "word " * 30 for n in range(100))))
    assert len(chunks) > 2
    assert all(len(chunk.text) <= SIZE for chunk in chunks)
    for before, after in pairwise(chunks):
        shared = before.text[before.text.index(after.text[:40]) :]
        assert after.text.startswith(shared)
        assert 0 < len(shared) <= OVERLAP


def test_every_turn_is_whole_in_some_chunk():
    turns = [f"number {n} " + "word " * 30 for n in range(100)]
    chunks = chunked(conversation(*turns))
    assert all(any(f"USER: {turn}" in chunk.text for chunk in chunks) for turn in turns)


def test_a_chunk_knows_which_turns_it_tells():
    turns = [f"number {n} " + "word " * 30 for n in range(100)]
    for chunk in chunked(conversation(*turns)):
        assert all(f"number {n} " in chunk.text for n in range(chunk.start, chunk.end))
        assert f"number {chunk.end} " not in chunk.text


def test_a_text_longer_than_a_chunk_is_cut_anywhere():
    chunks = chunked(conversation("x" * 20_000))
    assert [len(chunk.text) for chunk in chunks] == [6000, 6000, 6000, 3506]
    assert {(chunk.start, chunk.end) for chunk in chunks} == {(0, 1)}


def test_rules_read_a_few_prompts_at_once_and_each_of_them_once():
    turns = [turn for n in range(15) for turn in (Said(Speaker.USER, f"p{n}"), Said(Speaker.ASSISTANT, f"a{n}"))]
    assert stretches(Conversation("s1", tuple(turns))) == [(0, 16), (16, 30)]


@pytest.mark.parametrize("count", [0, 1, 8])
def test_a_short_conversation_is_read_by_rules_at_once(count):
    assert stretches(conversation(*map(str, range(count)))) == ([(0, count)] if count else [])


def test_answers_without_a_prompt_are_read_too():
    assert stretches(Conversation("s1", (Said(Speaker.ASSISTANT, "a"),) * 3)) == [(0, 3)]
