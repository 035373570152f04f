"""Any text gives chunks whose lines are right, and no line is lost."""

import sysconfig
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from retain.engine.code.parsing.cut import LIMIT
from retain.engine.code.parsing.languages import LANGUAGES
from retain.engine.code.parsing.parse import FRAME, parse

REPOS = Path(__file__).parents[2] / "repos"
SAMPLES = sorted(file for file in REPOS.rglob("*") if file.is_file() and file.parent != REPOS)
PATHS = sorted(
    {f"a{language.files.split()[0]}" for language in LANGUAGES if language.grammar} | {"a.md", "a.txt", "a.h"}
)
STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
LIBRARY_FILES = ["argparse.py", "dataclasses.py", "typing.py", "json/decoder.py", "asyncio/tasks.py", "token.py"]

# Pieces of code rather than letters: noise by letters hardly ever gets past the lexer.
WORDS = (
    "def f(x):", "class A", "{", "}", "(", ")", "\n", "\n    ", "\r\n", "\r", "\t", "\f", "\0", "\ufeff", "\u2028",
    "\ud800", "é", "漢字", "😀", '"""', "'", "`", "# c", "// c", "/*", "*/", "/** d */", "@d", "#[a]", "=>", "fn g()",
    "function h()", "impl B", "namespace N;", "namespace M {", "A::f",
    "x.y()", "x" * 300, "<?php ", "---", "# T", "```",
    "#!", "end", "module Q", "const z =", "import a", "#include <b>", ";", ":", ",", "struct S", "template <T>",
)  # fmt: skip


def normal(text):
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def covered(lines, chunk):
    """The lines that a chunk holds; fails when its text is not that of its lines, in their order."""
    rows = range(chunk.start_line, chunk.end_line + 1)
    if chunk.text == "\n".join(lines[row - 1] for row in rows):
        return set(rows)
    if chunk.start_line == chunk.end_line:
        assert chunk.text in lines[chunk.start_line - 1]
        return {chunk.start_line}
    assert chunk.kind not in ("module", "section", "text") or chunk.signature, chunk
    found, row = set(), iter(rows)
    for line in chunk.text.split("\n"):
        found.add(next(place for place in row if lines[place - 1] == line))
    return found


def check(path, text):
    lines = normal(text).split("\n")
    parsed = parse(path, text)
    held = set().union(*(covered(lines, chunk) for chunk in parsed.chunks))
    assert all(len(chunk.text) <= LIMIT * 1.1 + 1 for chunk in parsed.chunks)
    assert all(1 <= each.line <= len(lines) and len(each.name) > 1 for each in parsed.references)
    return [(row, line) for row, line in enumerate(lines, 1) if row not in held and not FRAME.match(line)]


@settings(max_examples=300, deadline=None)
@given(path=st.sampled_from(PATHS), words=st.lists(st.sampled_from(WORDS) | st.text(max_size=8), max_size=60))
@example(path="a.py", words=[])
@example(path="a.py", words=["\ufeff", "\r\n", "\0", "\f"])
def test_any_words_in_any_language_lose_no_line(path, words):
    assert check(path, " ".join(words)) == []


@settings(max_examples=200, deadline=None)
@given(
    file=st.sampled_from(SAMPLES),
    cuts=st.lists(st.floats(0, 1), min_size=2, max_size=2),
    put=st.sampled_from(WORDS),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_broken_code_loses_no_line(file, cuts, put, end):
    text = file.read_text()
    first, last = sorted(round(place * len(text)) for place in cuts)
    assert check(file.name, (text[:first] + put + text[last:]).replace("\n", end)) == []


@pytest.mark.parametrize("name", LIBRARY_FILES)
def test_the_standard_library_loses_no_line(name):
    text = (STANDARD_LIBRARY / name).read_text("utf-8")
    assert check(name, text) == []
    assert len(parse(name, text).references) > 2


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("text", ["", "\n", " \r\n\t\f\n", "\ufeff"])
def test_an_empty_file_has_no_chunks(path, text):
    assert parse(path, text).chunks == ()


def test_lines_are_counted_alike_whatever_ends_them():
    text = "import os\n\n\ndef f():\n    return os\n"
    assert parse("a.py", text) == parse("a.py", text.replace("\n", "\r\n")) == parse("a.py", "\ufeff" + text)
    assert parse("a.py", text).chunks[1].start_line == 4


def test_bytes_that_are_no_text_do_not_move_names():
    text = b"x = '\xff\xfe'\ndef caf\xc3\xa9(\xf0\x9f\x98\x80):\n    call()\n".decode("utf-8", "replace")
    parsed = parse("a.py", text)
    assert [(chunk.name, chunk.start_line, chunk.end_line) for chunk in parsed.chunks] == [("a", 1, 1), ("café", 2, 3)]
    assert [(each.name, each.line) for each in parsed.references] == [("call", 3)]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "x = " + "(" * 10_000 + "y" + ")" * 10_000),
        ("a.py", "x = " + "(\n" * 10_000 + "y" + ")\n" * 10_000),
        ("a.js", "function f() {\n" * 1_000 + "}\n" * 1_000),
        ("a.java", "class A {\n" * 1_000 + "}\n" * 1_000),
        ("a.json", "[" * 100_000),
    ],
)
def test_what_is_nested_deeply_is_read_all_the_same(path, text):
    assert check(path, text) == []


def test_rows_beyond_small_numbers_are_read_many_times():
    """tree-sitter 0.26.0 frees the row of a point while it is in use; the crash came after some files of this size."""
    text = "".join(f"class C{n}:\n    def f(self):\n        return g({n})\n" for n in range(2_000))
    for _ in range(5):
        assert parse("a.py", text).chunks[-1].end_line == 6_000


def test_functions_around_a_mistake_are_found():
    names = [chunk.name for chunk in parse("a.py", "def a():\n    pass\n\nx = = (\n\ndef b():\n    pass\n").chunks]
    assert "a" in names
    assert "b" in names
