"""What is too long for one chunk, and text that has no grammar."""

import pytest

from retain.engine.code.parsing.cut import LIMIT
from retain.engine.code.parsing.parse import parse

STATEMENT = "    value = first(value) + second(value)  # a comment that fills the line up a bit\n"


def lines_of(text, chunk):
    return "\n".join(text.split("\n")[chunk.start_line - 1 : chunk.end_line])


def test_a_long_function_is_cut_between_statements_and_its_pieces_know_what_they_belong_to():
    body = ("    if value:\n" + "    " + STATEMENT + "    " + STATEMENT) * 20
    text = f'class A:\n    x = 1\n\n    def f(value):\n        """Do it.\n\n        All of it."""\n{body}'
    _, *pieces = parse(
        "a.py", text.replace("\n    if", "\n        if").replace("\n        value", "\n            value")
    ).chunks
    assert len(pieces) > 1
    assert [piece.part for piece in pieces] == list(range(len(pieces)))
    assert {(piece.qualified, piece.kind, piece.signature) for piece in pieces} == {("A.f", "method", "def f(value)")}
    assert [piece.doc for piece in pieces] == ["Do it.\n\nAll of it."] + ["Do it."] * (len(pieces) - 1)
    assert all(piece.text.startswith("        if value:") for piece in pieces[1:])


@pytest.mark.parametrize("count", [10, 60, 200])
def test_pieces_follow_one_another_without_a_gap_and_fit(count):
    text = "def f(value):\n" + STATEMENT * count
    pieces = parse("a.py", text).chunks
    assert "\n".join(piece.text for piece in pieces) == text.rstrip("\n")
    assert all(lines_of(text, piece) == piece.text for piece in pieces)
    assert all(len(piece.text) <= LIMIT * 1.1 for piece in pieces)
    assert all(len(piece.text) > LIMIT / 2 for piece in pieces[:-1])


def test_a_comment_stays_with_the_statement_below_it():
    text = "def f(value):\n" + ("    # Why it is so.\n" + STATEMENT) * 60
    assert all(piece.text.lstrip().startswith(("def", "# Why")) for piece in parse("a.py", text).chunks)


def test_a_long_statement_is_cut_between_lines():
    text = "TABLE = {\n" + "".join(f'    "key {n}": "value {n}",\n' for n in range(400)) + "}\n"
    pieces = parse("a.py", text).chunks
    assert len(pieces) > 4
    assert "\n".join(piece.text for piece in pieces) == text.rstrip("\n")


@pytest.mark.parametrize("path", ["a.py", "a.txt", "a.md"])
def test_a_line_that_is_too_long_is_cut_inside(path):
    text = "first = 1\n" + "x" * (3 * LIMIT + 7) + "\nlast = 2\n"
    chunks = parse(path, text).chunks
    assert [len(chunk.text) for chunk in chunks if chunk.start_line == chunk.end_line == 2] == [LIMIT] * 3 + [7]
    assert "".join(chunk.text for chunk in chunks if "x" in chunk.text) == "x" * (3 * LIMIT + 7)
    assert [chunk.part for chunk in chunks] == list(range(len(chunks)))


def test_a_class_with_many_fields_is_cut_too_and_leaves_out_the_methods():
    fields = "".join(f'    private String field{n} = "the value of field {n}";\n' for n in range(80))
    text = f"class A {{\n{fields}    void f() {{\n        inside();\n    }}\n}}\n"
    *pieces, method = sorted(parse("A.java", text).chunks, key=lambda chunk: chunk.kind)
    assert method.text == "    void f() {\n        inside();\n    }"
    assert [piece.name for piece in pieces] == ["A"] * len(pieces)
    assert "\n".join(piece.text for piece in pieces) == text.replace("        inside();\n    }\n", "").rstrip()
    assert (pieces[0].start_line, pieces[-1].end_line) == (1, 85)


def test_a_small_function_inside_of_another_belongs_to_it():
    (chunk,) = parse("a.py", "def outer():\n    def inner():\n        return 1\n    return inner\n").chunks
    assert chunk.name == "outer"
    assert "return 1" in chunk.text


def test_a_large_function_inside_of_another_has_its_own_chunks():
    text = "def outer():\n    def inner(value):\n" + ("    " + STATEMENT) * 40 + "    return inner\n"
    chunks = parse("a.py", text).chunks
    assert {chunk.qualified for chunk in chunks} == {"outer", "outer.inner"}
    (outer,) = (chunk for chunk in chunks if chunk.name == "outer")
    assert outer.text == "def outer():\n    def inner(value):\n    return inner"


def test_text_without_grammar_is_packed_by_paragraphs():
    paragraph = "some words\n" * 30
    text = "\n".join([paragraph] * 10)
    chunks = parse("notes.txt", text).chunks
    assert {(chunk.kind, chunk.name, chunk.parent) for chunk in chunks} == {("text", "notes.txt", "")}
    assert [chunk.text.count("\n\n") + 1 for chunk in chunks] == [6, 4]
    assert all(lines_of(text, chunk) == chunk.text for chunk in chunks)


def test_statements_below_a_large_class_are_cut_between_themselves():
    members = "".join(f"    def method_{n}(self):\n{STATEMENT}\n" for n in range(40))
    calls = "".join(f'register(\n    "name of the handler {n}",\n    handler_{n},\n)\n' for n in range(60))
    pieces = [chunk for chunk in parse("a.py", f"class A:\n{members}\n\n{calls}").chunks if chunk.kind == "module"]
    assert len(pieces) > 1
    assert all(piece.text.startswith("register(") and piece.text.endswith(")") for piece in pieces)
