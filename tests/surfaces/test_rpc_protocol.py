"""Plain JSON-RPC over a small toolset: what is answered, in which order, and with which code."""

import json
import re
from io import BytesIO
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from retain.errors import InvalidInput, NotFound, RetainError
from retain.surfaces import rpc
from retain.surfaces.mcp.tools import Toolset
from retain.surfaces.rpc import Methods, lines, serve


def envelope(error: RetainError) -> dict[str, object]:
    code = -32602 if isinstance(error, InvalidInput) else -32000
    return {"error": {"code": code, "message": error.message, "data": dict(error.details)}}


class Notes(list[str]):
    """An application of which nothing stands that every reply has to say."""

    notices = staticmethod(tuple)


tools = Toolset("notes", envelope)
others = Toolset("others")


@tools.tool("Keep a note")
def note_keep(
    notes: list[str], text: Annotated[str, Field(max_length=20)], times: Annotated[int, Field(ge=1, le=9)] = 1
) -> dict[str, object]:
    notes += [text] * times
    return {"count": len(notes)}


@tools.tool("All notes", name="note-list")
def note_list(notes: list[str]) -> dict[str, object]:
    return {"notes": notes}


@tools.tool("Find a note")
def note_find(notes: list[str], text: str) -> dict[str, object]:
    if text not in notes:
        raise NotFound("no such note", text=text)
    return {"at": notes.index(text)}


@tools.tool("Break")
def note_break(notes: list[str]) -> dict[str, object]:
    return {"note": notes[99]}


@tools.tool("Not a number")
def note_weight(notes: list[str]) -> dict[str, object]:
    return {"weight": float("nan")}


@others.tool("Look")
def look(app: object, at: int) -> str:
    if at:
        raise NotFound("nothing there")
    return "a caf\udce9"  # as a file name that is not UTF-8 comes from the system


@pytest.fixture
def notes():
    return Notes()


@pytest.fixture
def sent(notes):
    """Sends lines (text as it is, all else as JSON) and gives the answers, read back."""

    def send(*lines_sent, toolset=tools):
        texts = [each if isinstance(each, str | bytes) else json.dumps(each) for each in lines_sent]
        said = raw(Methods(toolset, notes), *texts)
        return [json.loads(line) for line in said]

    return send


def raw(methods, *texts):
    """The lines that come back."""
    stream = BytesIO(b"".join((text if isinstance(text, bytes) else text.encode()) + b"\n" for text in texts))
    written = bytearray()
    serve(methods, stream, written.extend)
    return written.decode().splitlines()


def keep(text, **more):
    return {"method": "note_keep", "params": {"text": text}, **more}


def code(answer):
    assert answer["jsonrpc"] == "2.0"
    return answer["error"]["code"]


def test_requests_are_answered_line_by_line_and_in_order(sent):
    first, second = sent(keep("a", jsonrpc="2.0", id=1), keep("b", jsonrpc="2.0", id="two"))
    assert first == {"jsonrpc": "2.0", "id": 1, "result": {"count": 1}}
    assert second == {"jsonrpc": "2.0", "id": "two", "result": {"count": 2}}


def test_every_answer_is_written_before_the_next_line_is_read(notes):
    seen = []

    class Watched(BytesIO):
        def readline(self, size=-1):
            seen.append(len(answers))
            return super().readline(size)

    answers = []
    serve(Methods(tools, notes), Watched(b'{"method":"note-list"}\n{"method":"note-list"}\n'), answers.append)
    assert seen == [0, 1, 2]


@pytest.mark.parametrize("request_", [keep("a"), keep("a", id=None), keep("a", jsonrpc="2.0", id=None)])
def test_what_the_document_prints_is_answered_with_no_id(sent, request_):
    assert sent(request_) == [{"jsonrpc": "2.0", "id": None, "result": {"count": 1}}]


def test_an_id_without_the_version_comes_back(sent):
    assert sent(keep("a", id="x"))[0]["id"] == "x"


def test_a_notification_is_carried_out_and_not_answered(sent, notes):
    assert sent(keep("a", jsonrpc="2.0")) == []
    assert notes == ["a"]


@pytest.mark.parametrize("method", ["note_find", "note_break", "note_keep", "no_such"])
def test_a_notification_that_fails_is_not_answered_but_logged(sent, caplog, method):
    assert sent({"jsonrpc": "2.0", "method": method, "params": {"text": "x" * 30}}) == []
    assert f"the notification {method} failed" in caplog.text


@pytest.mark.parametrize(
    "id",
    ["1.50", "0.1000000000000000055511151231257827", "1e400", "-0", "9" * 30, "7" * 6000, '""', '"\\ud800"', '"é"'],
    ids=lambda id: id[:12],
)
def test_an_id_comes_back_exactly_as_it_was_given(notes, id):
    (line,) = raw(Methods(tools, notes), f'{{"id": {id}, "method": "note-list"}}')
    shown = '"\\u00e9"' if id == '"é"' else id
    assert line == f'{{"jsonrpc":"2.0","id":{shown},"result":{{"notes":[]}}}}'


@pytest.mark.parametrize("indent", [0, 2, 4, "\t"])
def test_a_request_may_be_printed_over_several_lines(notes, indent):
    requests = [keep("a", id=1), [keep("b", id=2), keep("c", id=3)] if indent else keep("b", id=2), keep("d", id=4)]
    text = "\n".join(json.dumps(each, indent=indent) for each in requests)
    answers = raw(Methods(tools, notes), text.encode())
    assert len(answers) == 3 and "error" not in "".join(answers)
    assert notes == (["a", "b", "c", "d"] if indent else ["a", "b", "d"])


def test_a_bracket_alone_does_not_swallow_what_follows(notes):
    answers = raw(Methods(tools, notes), b'{\n{"id": 1, "method": "note-list"}\n{\n  "id": 2,\n')
    assert [json.loads(line).get("result") for line in answers] == [None, {"notes": []}, None]


@pytest.mark.parametrize("blank", ["", "   ", "\t", "\r"])
def test_blank_lines_are_skipped(sent, blank):
    assert sent(blank, keep("a"), blank) == [{"jsonrpc": "2.0", "id": None, "result": {"count": 1}}]


def test_the_last_line_needs_no_end_and_a_mark_at_the_beginning_is_no_matter(notes):
    answers = bytearray()
    serve(
        Methods(tools, notes),
        BytesIO(b'\xef\xbb\xbf{"method":"note-list","id":1}\r\n{"method":"note-list"}'),
        answers.extend,
    )
    assert [json.loads(line)["id"] for line in answers.splitlines()] == [1, None]


UNREADABLE = {
    "no JSON": "hello",
    "a comment": '// {"method": "note-list"}',
    "half an object": '{"method": "note-list"',
    "two on a line": "{} {}",
    "not UTF-8": b'{"method": "\xff"}',
    "NaN": '{"id": NaN, "method": "note-list"}',
    "infinity": '{"method": "note_keep", "params": {"times": -Infinity}}',
    "too deep": "[" * 100_000,
    "deep and whole": "[" * 50_000 + "]" * 50_000,
    "a raw control character": '{"method": "a\x01b"}',
}


@pytest.mark.parametrize("line", UNREADABLE.values(), ids=UNREADABLE)
def test_what_is_no_json_is_a_parse_error_and_the_next_line_is_read(sent, line):
    failed, fine = sent(line, {"id": 2, "method": "note-list"})
    assert (code(failed), failed["id"]) == (rpc.PARSE_ERROR, None)
    assert failed["error"]["message"] == "Parse error"
    assert failed["error"]["data"]["hint"]
    assert fine["result"] == {"notes": []}


def test_a_parse_error_says_where(sent):
    (failed,) = sent('{"method": oops}')
    assert failed["error"]["data"]["error"] == "not JSON at character 12: Expecting value"


def test_a_line_that_is_too_long_is_passed_over(notes):
    said = raw(Methods(tools, notes, longest=100), json.dumps(keep("a" * 300_000)), json.dumps(keep("b", id=2)))
    long, fine = map(json.loads, said)
    assert code(long) == rpc.PARSE_ERROR
    assert "more than 100 bytes" in long["error"]["data"]["error"]
    assert fine["result"] == {"count": 1}


@pytest.mark.parametrize("end", [b"\n", b""])
@pytest.mark.parametrize(("size", "fits"), [(99, True), (100, True), (101, False)])
def test_the_longest_line_is_measured_without_its_end(notes, end, size, fits):
    answers = bytearray()
    line = b'{"method":"note-list"}'.ljust(size) + end
    serve(Methods(tools, notes, longest=100), BytesIO(line), answers.extend)
    assert ("result" in json.loads(answers)) == fits


# A line that opens a bracket goes on in the next one.
@given(st.lists(st.binary(max_size=30).map(lambda line: re.sub(rb"[\n{[]", b"", line)), max_size=6), st.integers(1, 20))
def test_lines_are_cut_where_they_end_and_never_kept_above_the_limit(texts, longest):
    got = list(lines(BytesIO(b"".join(text + b"\n" for text in texts)), longest))
    assert [line[:longest].rstrip(b"\n") for line in got] == [text[:longest] for text in texts]
    assert all(len(line) <= longest + 1 for line in got)


NO_REQUESTS = {
    "a number": (1, None),
    "a string": ("note-list", None),
    "null": (None, None),
    "an empty batch": ([], None),
    "no method": ({"id": 1}, 1),
    "a method that is no string": ({"id": 1, "method": 7}, 1),
    "another version": ({"id": 1, "jsonrpc": "1.0", "method": "note-list"}, 1),
    "a version that is a number": ({"id": 1, "jsonrpc": 2.0, "method": "note-list"}, 1),
    "an id that is an object": ({"id": {}, "method": "note-list"}, None),
    "an id that is true": ({"id": True, "method": "note-list"}, None),
    "params that are a string": ({"id": 1, "method": "note-list", "params": "x"}, 1),
    "an answer": ({"id": 1, "jsonrpc": "2.0", "result": {}}, 1),
    "a broken notification": ({"jsonrpc": "2.0", "method": 1, "params": "bar"}, None),
}


@pytest.mark.parametrize(("value", "id"), NO_REQUESTS.values(), ids=NO_REQUESTS)
def test_what_is_no_request_is_refused_with_the_id_it_has(sent, value, id):
    (failed,) = sent(json.dumps(value))
    assert (code(failed), failed["id"]) == (rpc.INVALID_REQUEST, id)
    assert failed["error"]["message"] == "Invalid Request"


def test_everything_that_is_wrong_with_a_request_is_named_at_once(sent):
    (failed,) = sent({"jsonrpc": "1.0", "id": [], "params": 3})
    said = failed["error"]["data"]["error"]
    assert all(field in said for field in ("jsonrpc", "id", "params", "method"))


def test_an_unknown_method_is_told_with_the_names_that_are_close(sent):
    (failed,) = sent({"id": 1, "method": "NOTE_FIND"})
    assert code(failed) == rpc.METHOD_NOT_FOUND
    assert failed["error"]["data"]["close"][0] == "note_find"
    assert "note-list" in failed["error"]["data"]["hint"]


@pytest.mark.parametrize("method", ["initialize", "tools/call"])
def test_a_client_that_speaks_mcp_is_shown_the_way(sent, method):
    (failed,) = sent({"id": 1, "jsonrpc": "2.0", "method": method})
    assert "`retain serve --toolset notes`" in failed["error"]["data"]["hint"]


def test_a_method_of_millions_of_characters_is_shown_short(sent):
    (failed,) = sent({"id": 1, "method": "note" * 500_000})
    assert len(json.dumps(failed)) < 500


@pytest.mark.parametrize(
    "params", [{"text": 5}, {}, {"text": "a", "tmes": 2}, {"text": "\ud800"}, {"text": "a", "times": 10}]
)
def test_bad_parameters_are_worded_by_the_toolset(sent, notes, params):
    (failed,) = sent({"id": 1, "method": "note_keep", "params": params})
    assert code(failed) == rpc.INVALID_PARAMS
    assert failed["error"]["data"]["faults"]
    assert notes == []


@pytest.mark.parametrize(
    "times", ["1e400", "9" * 999, "9" * 6000, "-" + "9" * 6000, "1.5"], ids=lambda times: times[:9]
)
def test_numbers_beyond_all_bounds_are_bad_parameters(sent, times):
    (failed,) = sent(f'{{"method": "note_keep", "params": {{"text": "a", "times": {times}}}}}')
    assert code(failed) == rpc.INVALID_PARAMS
    assert failed["error"]["data"]["faults"][0]["field"] == "times"


def test_parameters_by_position_are_refused_with_their_names(sent, notes):
    (failed,) = sent({"id": 1, "method": "note_keep", "params": ["a", 2]})
    assert code(failed) == rpc.INVALID_PARAMS
    assert "by name: text, times" in failed["error"]["message"]
    assert notes == []


@pytest.mark.parametrize("params", ["", ', "params": null', ', "params": {}', ', "params": []'])
def test_no_parameters_may_be_said_in_any_way(sent, params):
    assert sent(f'{{"method": "note-list"{params}}}')[0]["result"] == {"notes": []}


def test_of_a_key_that_is_there_twice_the_last_counts(sent):
    (answer,) = sent(
        '{"method": "note_find", "method": "note_keep", "params": {"text": "a", "text": "b"}, "id": 1, "id": 2}'
    )
    assert (answer["id"], answer["result"]) == (2, {"count": 1})


def test_an_answer_is_one_line_for_every_reader_of_lines(notes):
    (line,) = raw(Methods(tools, notes), json.dumps({"method": "note_keep", "params": {"a\x85b\u2028c\u2029d\n": 1}}))
    assert json.loads(line)["error"]["data"]["faults"][0]["field"] == "a\nb\nc\nd\n"


def test_a_refusal_has_its_code_and_details(sent):
    (failed,) = sent({"id": 1, "method": "note_find", "params": {"text": "x"}})
    assert failed["error"] == {"code": -32000, "message": "no such note", "data": {"text": "x"}}


@pytest.mark.parametrize("method", ["note_break", "note_weight"])
def test_an_unforeseen_failure_is_a_server_error_and_its_trace_is_in_the_log_alone(sent, caplog, method):
    failed, fine = sent({"id": 1, "method": method}, {"id": 2, "method": "note-list"})
    assert code(failed) == rpc.SERVER_ERROR
    assert "Traceback" not in json.dumps(failed)
    assert f"{method} failed" in caplog.text
    assert caplog.records[0].exc_info
    assert fine["result"] == {"notes": []}


def test_a_batch_is_answered_with_one_line_of_what_asked_for_an_answer(sent, notes):
    (answers,) = sent([keep("a", jsonrpc="2.0", id=1.5), keep("b", jsonrpc="2.0"), 5, keep("c"), {"method": "no"}])
    assert [answer["id"] for answer in answers] == [1.5, None, None, None]
    assert [answer.get("result") or code(answer) for answer in answers] == [{"count": 1}, -32600, {"count": 3}, -32601]
    assert notes == ["a", "b", "c"]


def test_a_batch_of_notifications_is_not_answered(sent, notes):
    assert sent([keep("a", jsonrpc="2.0"), keep("b", jsonrpc="2.0")]) == []
    assert notes == ["a", "b"]


def test_a_batch_in_a_batch_is_no_request(sent):
    (answers,) = sent([[keep("a")], []])
    assert [code(answer) for answer in answers] == [rpc.INVALID_REQUEST] * 2


def test_the_answers_of_a_batch_leave_one_by_one(notes):
    pieces = Methods(tools, notes).answers(json.dumps([keep("a"), keep("b")]).encode())
    next(pieces)
    assert notes == ["a"]


def test_another_toolset_keeps_its_own_words_as_data(sent):
    missing, wrong, found = sent(*({"method": "look", "params": {"at": at}} for at in (1, "x", 0)), toolset=others)
    assert (code(missing), missing["error"]["message"]) == (rpc.SERVER_ERROR, "nothing there")
    assert missing["error"]["data"]["error"] == "not_found"
    assert code(wrong) == rpc.INVALID_PARAMS
    assert found["result"] == "a caf\ufffd"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
request_like = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | json_values,
        "id": json_values,
        "method": st.sampled_from(["note_keep", "note-list", "note_find", "note_break", "note_weight"]) | json_values,
        "params": st.fixed_dictionaries({"text": st.text()}) | json_values,
    },
)


def is_silent(value):
    """Whether an object is a notification, by the words of the specification."""
    fine = isinstance(value.get("method"), str) and isinstance(value.get("params"), dict | list | None)
    return fine and value.get("jsonrpc") == "2.0" and "id" not in value


@given(st.lists(request_like, max_size=8))
def test_every_line_that_is_no_notification_gets_one_answer_with_its_id(requests):
    said = [json.loads(line) for line in raw(Methods(tools, Notes()), *map(json.dumps, requests))]
    asked = [value for value in requests if not is_silent(value)]
    assert len(said) == len(asked)
    for value, answer in zip(asked, said, strict=True):
        id = value.get("id")
        is_id = isinstance(id, str | int | float) and not isinstance(id, bool)
        assert answer["id"] == (id if is_id else None)
        assert ("result" in answer) != ("error" in answer)


@given(st.lists(request_like | json_values.filter(lambda value: not isinstance(value, list)), min_size=1, max_size=8))
def test_a_batch_says_what_its_requests_would_say_alone(requests):
    alone = [json.loads(line) for line in raw(Methods(tools, Notes()), *(json.dumps(each) for each in requests))]
    together = raw(Methods(tools, Notes()), json.dumps(requests))
    assert [answer for line in together for answer in json.loads(line)] == alone


@given(st.binary())
def test_no_bytes_break_it(line):
    said = raw(Methods(tools, Notes()), line.replace(b"\n", b" "), b'{"id":"end","method":"note-list"}')
    assert json.loads(said[-1]) == {"jsonrpc": "2.0", "id": "end", "result": {"notes": []}}
    assert len(said) <= 2
