"""JSON for hooks, held to the standard library's."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retain import quick_json
from retain.quick_json import parsed, written

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_what_is_written_is_what_the_standard_library_writes_and_reads_back_the_same(value):
    assert written(value) == json.dumps(value, separators=(",", ":"))
    assert written(value, plain=False) == json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    assert parsed(f" \n{written(value)}\t ") == value


@pytest.mark.parametrize("text", ["", " ", "{", "[1,]", "{} {}", "nul", "{'a': 1}", '{"a" 1}', "[" * 100_000, "\x00"])
def test_what_is_not_json_is_refused(text):
    with pytest.raises(ValueError):
        parsed(text)


def test_control_characters_in_strings_are_let_through():
    assert parsed('{"a": "b\nc"}') == {"a": "b\nc"}


def test_what_json_does_not_know_is_refused():
    with pytest.raises(TypeError, match="object is not JSON"):
        written({"a": object()})


def test_an_interpreter_without_the_fast_parts_does_as_well():
    script = "import sys; sys.modules['_json'] = None; sys.path.insert(0, sys.argv[1])\n"
    script += 'from retain.quick_json import parsed, written; print(written(parsed(\' {"a": [1, "é"]} \')))'
    command = [sys.executable, "-I", "-S", "-c", script, str(Path(quick_json.__file__).parents[1])]
    assert subprocess.run(command, capture_output=True, check=True, text=True).stdout == '{"a":[1,"\\u00e9"]}\n'
