"""Reading Claude Code's transcripts: who said what, from where the last reading ended."""

import json
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from fakes import START
from making import at, save
from retain.domain.conversation import Cursor, Said, Speaker, ToolRun
from retain.engine.capture.chunks import line_of
from retain.surfaces.hooks import transcript
from retain.surfaces.hooks.transcript import PORTION, Mark
from talking import a_long_turn, answer, append, call, fixture, prompt, result, snapshot, write

NOWHERE = Mark(0)


def read(path, start=NOWHERE, **options):
    return transcript.read(path, start, "s1", **options)


def told(reading):
    return [line_of(turn, "/home/ada/shop") for turn in reading.conversation.turns]


def after(reading):
    return Mark(reading.offset, reading.last)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "s1.jsonl"


def test_prompts_answers_and_tools_with_their_results_are_read_in_order():
    reading = read(fixture("plain"))
    assert told(reading) == [
        "USER: Why do the tests fail?",
        "CLAUDE: Let me run them.",
        "TOOL [Bash]: npm test → failed: Error: Cannot find module 'left-pad'",
        "TOOL [Bash]: npm install left-pad",
        "TOOL [Write]: src/pad.ts",
        "CLAUDE: The dependency left-pad was missing; it is installed now.",
    ]
    assert (reading.lines, reading.broken, reading.more) == (9, 0, False)
    assert reading.offset == fixture("plain").stat().st_size


def test_turns_know_when_they_were_and_a_tool_what_it_printed():
    turns = read(fixture("plain")).conversation.turns
    assert (turns[0].at, turns[2].at) == (START, at(2))
    assert turns[3] == ToolRun("Bash", {"command": "npm install left-pad"}, "added 1 package", at=at(5), id="toolu_2")


def test_what_the_client_wrote_is_nobodys_word():
    assert told(read(fixture("compacted"))) == [
        "USER: We decided to keep prices in cents.",
        "CLAUDE: Noted.",
        "USER: Go on.",
        "CLAUDE: Going on.",
    ]


def test_what_a_command_was_given_is_the_users_word_unless_it_is_about_memories():
    said = [turn.text for turn in read(fixture("commands")).conversation.turns if turn.speaker is Speaker.USER]
    assert said == ["Remember: the staging database is called blue", "never on a Friday"]


def test_errors_refused_calls_pictures_and_lines_of_the_future_do_no_harm():
    assert told(read(fixture("troubles"))) == [
        "USER: Deploy it.",
        "USER: never write into the root folder",
        "USER: What is on this picture?",
        "CLAUDE: A cat.",
    ]


def test_calls_side_by_side_get_their_own_results():
    outputs = [turn.output for turn in read(fixture("parallel")).conversation.turns if isinstance(turn, ToolRun)]
    assert outputs == ["1\timport os", "make: nothing to do"]


def test_a_later_reading_begins_where_the_last_one_ended(path):
    first = read(write(path, prompt("one"), answer("1")))
    append(path, prompt("two"), answer("2"))
    again = read(path, after(first))
    assert told(again) == ["USER: two", "CLAUDE: 2"]
    assert told(read(path, after(again))) == []


def test_a_line_that_is_not_whole_is_left_for_the_next_time(path):
    write(path, prompt("one"), prompt("two"))
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    first = read(path)
    path.write_bytes(whole)
    assert (told(first), told(read(path, after(first)))) == (["USER: one"], ["USER: two"])
    assert first.broken == 0


def test_broken_lines_are_passed_over_and_counted(path):
    write(path, prompt("one"))
    with path.open("ab") as file:
        file.write(b'{"type":"user","message":\n\xff\xfe"type":"user"\n[1, "type": "user"]\n[{"type":"user"}]\n\n')
    append(path, prompt("two"))
    reading = read(path)
    assert (told(reading), reading.broken) == (["USER: one", "USER: two"], 3)


def test_a_call_waits_for_its_result(path):
    write(
        path,
        prompt("build it"),
        answer("Building.", message="m1"),
        call("t1", "Bash", {"command": "make"}, message="m1"),
    )
    first = read(path)
    append(path, result("t1", "ok"), answer("Built."))
    second = read(path, after(first))
    assert (told(first), first.lines) == (["USER: build it", "CLAUDE: Building."], 2)
    assert [turn.output for turn in second.conversation.turns[:1]] == ["ok"]
    assert told(second) == ["TOOL [Bash]: make", "CLAUDE: Built."]


def test_a_call_that_never_got_a_result_is_waited_for_no_longer_than_the_turn(path):
    write(path, prompt("build it"), call("t1", "Bash", {"command": "make"}), prompt("never mind"))
    assert told(read(path)) == ["USER: build it", "TOOL [Bash]: make", "USER: never mind"]


def test_at_the_end_of_a_session_nothing_is_waited_for(path):
    write(path, prompt("build it"), call("t1", "Bash", {"command": "make"}))
    assert (told(read(path))[1:], told(read(path, final=True))[1:]) == ([], ["TOOL [Bash]: make"])


def test_marks_lead_to_where_each_turn_ends(path):
    reading = read(write(path, *(prompt(f"number {n}") for n in range(4))))
    rest = [told(read(path, mark)) for mark in reading.marks]
    assert rest[1] == ["USER: number 2", "USER: number 3"]
    assert (rest[3], reading.marks[3]) == ([], after(reading))


def test_marks_never_lead_past_a_call_that_is_still_to_come():
    reading = read(fixture("parallel"))
    after_first_tool = read(fixture("parallel"), reading.marks[1])
    assert told(after_first_tool) == ["TOOL [Bash]: make", "CLAUDE: Both are fine."]


def test_secrets_private_words_and_echo_never_leave_the_reader(path):
    secret = "sk-ant-" + "api03-" + "a1B2c3D4" * 6
    noise = "x\n" * 4000
    write(
        path,
        prompt(f"<private>my salary is 9</private> the key is {secret} <system-reminder>be evil</system-reminder>"),
        call("t1", "Bash", {"command": f"export KEY={secret}"}),
        result("t1", f"<private>{noise} our lawyer</private> done"),
        call("t2", "mcp__retain__recall", {"query": "salary"}),
        result("t2", "we use tabs"),
        answer("<retain-notes>we use tabs</retain-notes> ok"),
    )
    everything = repr(read(path).conversation)
    for word in ("salary", secret, "evil", "lawyer", "tabs"):
        assert word not in everything
    assert "done" in everything


def test_a_long_output_keeps_its_beginning_and_its_end(path):
    output = "first line\n" + "noise\n" * 10_000 + "last line"
    write(path, prompt("go"), call("t1", "Bash", {"command": "make"}), result("t1", output), answer("Done."))
    run = read(path).conversation.turns[1]
    assert len(run.output) <= 4000
    assert (run.output.startswith("first line"), run.output.endswith("last line")) == (True, True)


def test_a_large_transcript_is_read_in_portions_that_begin_with_a_prompt(path):
    write(path, *(each for n in range(60) for each in a_long_turn(n)))
    readings = [read(path)]
    while readings[-1].more:
        readings.append(read(path, after(readings[-1])))
    said = [line for reading in readings for line in told(reading)]
    assert (len(readings) > 2, len(said), len(set(said))) == (True, 120, 120)
    assert all(reading.conversation.turns[0].speaker is Speaker.USER for reading in readings)


def test_what_fills_a_transcript_is_not_held_in_memory(path):
    write(path, prompt("one"), *(snapshot(1_000_000) for _ in range(30)), prompt("two"))
    tracemalloc.start()
    reading = read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert told(reading) == ["USER: one", "USER: two"]
    assert peak < 10_000_000


def test_a_line_longer_than_any_conversation_is_passed_over(path):
    write(path, prompt("one"), prompt("x" * transcript.LONGEST), prompt("two"))
    reading = read(path)
    assert (told(reading), reading.broken) == (["USER: one", "USER: two"], 1)


def test_the_last_answer_is_added_when_it_is_not_written_down_yet(path):
    reading = transcript.with_last_message(read(write(path, prompt("which port?"))), "Port 8080.", at(5))
    assert told(reading) == ["USER: which port?", "CLAUDE: Port 8080."]
    assert (reading.lines, reading.conversation.turns[-1].at) == (2, at(5))


def test_an_answer_that_was_added_is_not_read_again(path):
    reading = transcript.with_last_message(read(write(path, prompt("which port?"))), "Port 8080.", at(5))
    append(path, answer("Port 8080."), prompt("and the host?"))
    again = transcript.without_what_was_read_ahead(read(path, after(reading)), after(reading))
    assert (told(again), again.lines, len(again.marks)) == (["USER: and the host?"], 1, 1)


def test_it_is_remembered_that_an_answer_was_added_until_it_is_written_down(path):
    ahead = transcript.with_last_message(read(write(path, prompt("which port?"))), "Port 8080.", at(5))
    append(path, snapshot(10))
    nothing = transcript.without_what_was_read_ahead(read(path, after(ahead)), after(ahead))
    append(path, answer("Port 8080."))
    assert told(transcript.without_what_was_read_ahead(read(path, after(nothing)), after(nothing))) == []


@pytest.mark.parametrize(
    "lines", [[], [prompt("which port?"), answer("Port 8080.")], [prompt("x"), answer("Another.")]]
)
def test_nothing_is_added_to_a_conversation_that_has_its_answer_or_has_not_gone_on(path, lines):
    reading = read(write(path, *lines))
    assert transcript.with_last_message(reading, "Port 8080.", at(5)) == reading


def test_a_transcript_without_a_cursor_is_read_from_its_start(path, store):
    write(path, prompt("one"))
    assert transcript.begin(path, None, store.cursors_at) == Mark(0)


def test_a_fork_begins_after_the_copy_of_what_was_read(path, tmp_path, store):
    reading = read(write(path, prompt("one"), answer("1"), prompt("two")))
    save(store, cursors=(Cursor(str(path), "s1", reading.offset, START, reading.last),))
    fork = tmp_path / "fork.jsonl"
    fork.write_bytes(path.read_bytes())
    append(fork, prompt("another way"))
    assert told(read(fork, transcript.begin(fork, None, store.cursors_at))) == ["USER: another way"]


def test_a_long_fork_is_found_too(path, tmp_path, store):
    reading = read(write(path, *(prompt(f"number {n}") for n in range(1300))))
    save(store, cursors=(Cursor(str(path), "s1", reading.offset, START, reading.last),))
    fork = tmp_path / "fork.jsonl"
    fork.write_bytes(path.read_bytes())
    assert transcript.begin(fork, None, store.cursors_at) == after(reading)


def test_a_transcript_goes_on_at_its_cursor(path, store):
    reading = read(write(path, prompt("one")))
    cursor = Cursor(str(path), "s1", reading.offset, START, reading.last)
    append(path, prompt("two"))
    assert transcript.begin(path, cursor, store.cursors_at) == after(reading)


@pytest.mark.parametrize(
    "instead", [[prompt("new")], [prompt("a line that is longer than the one that was there" * 20)]]
)
def test_another_file_in_its_place_is_read_from_its_start(path, store, instead):
    reading = read(write(path, *(prompt(f"number {n}") for n in range(5))))
    cursor = Cursor(str(path), "s1", reading.offset, START, reading.last)
    assert transcript.begin(write(path, *instead), cursor, store.cursors_at) == Mark(0)


def test_subagents_are_read_beside_the_session(path):
    beside = path.with_suffix("") / "subagents"
    write(path, prompt("go"))
    write(beside / "agent-a1.jsonl", prompt("look around", isSidechain=True), answer("found it", isSidechain=True))
    write(beside / "agent-acompact-9.jsonl", prompt("sum it up", isSidechain=True))
    (aside,) = transcript.asides(path)
    reading = read(aside, aside=True)
    assert (told(reading), reading.conversation.aside) == (["USER: look around", "CLAUDE: found it"], True)
    assert told(read(aside)) == []


@pytest.mark.parametrize(("event", "lines"), [("Stop", 3), ("PreCompact", 1), ("SessionEnd", 1)])
def test_how_much_must_be_new(event, lines):
    assert transcript.lines_needed(event) == lines


def test_a_portion_is_no_larger_than_said(path):
    write(path, *(answer("long " * 3000) for _ in range(100)))
    reading = read(path)
    assert reading.more
    assert sum(len(turn.text) for turn in reading.conversation.turns if isinstance(turn, Said)) < 5 * PORTION


def test_times_that_are_none_are_left_out(path):
    write(path, prompt("one", timestamp="soon"), prompt("two", timestamp=None), prompt("three"))
    assert [turn.at for turn in read(path).conversation.turns] == [None, None, START]


anything = some.recursive(
    some.none() | some.booleans() | some.integers() | some.text(max_size=20),
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(some.text(max_size=8), inner, max_size=4),
    max_leaves=15,
)
blocks = some.fixed_dictionaries(
    {"type": some.sampled_from(["text", "tool_use", "tool_result", "thinking", "image"]) | anything},
    optional=dict.fromkeys(("text", "id", "name", "input", "tool_use_id", "content", "is_error"), anything),
)
messages = some.fixed_dictionaries({"content": some.lists(blocks, max_size=3) | anything}) | anything
odd_lines = some.fixed_dictionaries(
    {"type": some.sampled_from(["user", "assistant"]) | anything, "message": messages},
    optional=dict.fromkeys(("uuid", "timestamp", "isMeta", "toolDenialKind"), anything),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(some.lists(odd_lines, max_size=5))
def test_whatever_a_line_holds_the_next_one_is_read(path, lines):
    write(path, *lines, prompt("still here"))
    reading = read(path, final=True)
    assert told(reading)[-1] == "USER: still here"
    assert reading.offset == path.stat().st_size


@pytest.mark.parametrize("id", ['"\\ud800"', '""', "7", f'"{"x" * 500}"', '"naïve"'])
def test_an_id_that_is_none_is_passed_over(path, id):
    write(path, prompt("one", uuid="line-1"))
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(prompt("two", uuid="ID")).replace('"ID"', id) + "\n")
    assert (len(told(read(path))), read(path).last) == (2, "line-1")


def test_input_that_is_nested_without_end_does_no_harm(path):
    deep = {"a": 1}
    for _ in range(300):
        deep = {"a": [deep]}
    write(path, prompt("go"), call("t1", "Odd", deep), result("t1", "ok"), prompt("still here"))
    assert told(read(path))[-1] == "USER: still here"
