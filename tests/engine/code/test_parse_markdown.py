"""Markdown by its headings."""

import pytest

from retain.engine.code.parsing.cut import LIMIT
from retain.engine.code.parsing.parse import parse

LONG = "Words that fill a paragraph until nobody calls it tiny any more. " * 4


def names(text):
    return [chunk.qualified for chunk in parse("guide.md", text).chunks]


def test_a_section_is_called_by_its_heading_and_belongs_to_those_above():
    text = f"# A\n{LONG}\n## B\n{LONG}\n### C\n{LONG}\n## D\n{LONG}\n# E\n{LONG}"
    assert names(text) == ["A", "A.B", "A.B.C", "A.D", "E"]


@pytest.mark.parametrize(
    "code",
    [
        "```\n# no\n```",
        "~~~py\n# no\n```\n# no\n~~~",
        "````\n```\n# no\n````",
        "  ```\n  # no\n  ```",
        "> ```\n# no\n> ```",
    ],
)
def test_what_stands_in_a_fence_is_no_heading(code):
    assert names(f"# Yes\n{LONG}\n{code}\n\n# Also\n{LONG}") == ["Yes", "Also"]


def test_code_in_a_line_opens_no_fence():
    assert names(f"# Yes\n{LONG}\n```code``` here\n# Also\n{LONG}") == ["Yes", "Also"]


def test_a_fence_that_is_never_closed_reaches_to_the_end():
    assert names(f"# Yes\n{LONG}\n```\n# no\n# no") == ["Yes"]


@pytest.mark.parametrize(
    ("heading", "name"),
    [("# A #", "A"), ("   ## A b ##", "A b"), ("#\tA", "A"), ("A\n===", "A"), ("A b\n---", "A b"), ("# C#", "C#")],
)
def test_headings_in_every_spelling(heading, name):
    assert names(f"{heading}\n\n{LONG}") == [name]


@pytest.mark.parametrize(
    "line", ["#hashtag", "    # code", "- item\n---", "text\n\n---", "| a | b |\n---", "####### seven"]
)
def test_what_only_looks_like_a_heading_is_none(line):
    assert names(f"# A\n{LONG}\n\n{line}\n{LONG}") == ["A"]


def test_settings_at_the_top_are_no_heading():
    assert names(f"---\ntitle: x\n---\n\n# A\n{LONG}") == ["guide.md", "A"]


def test_a_heading_without_text_goes_with_the_first_section_below():
    (chunk,) = parse("a.md", f"# A\n\n## B\n\n{LONG}").chunks
    assert (chunk.qualified, chunk.start_line, chunk.end_line) == ("A.B", 1, 5)


def test_tiny_sections_of_one_heading_go_together():
    (chunk,) = parse("a.md", "# 1.0\nFixed.\n# 0.9\nBroken.\n").chunks
    assert (chunk.name, chunk.text) == ("1.0", "# 1.0\nFixed.\n# 0.9\nBroken.")


def test_a_long_section_is_cut_between_paragraphs():
    text = "# A\n\n" + f"{LONG}\n\n" * 20
    chunks = parse("a.md", text).chunks
    assert [(chunk.name, chunk.part) for chunk in chunks] == [("A", part) for part in range(len(chunks))]
    assert len(chunks) == 3
    assert all(chunk.text.endswith(LONG) and len(chunk.text) <= LIMIT for chunk in chunks)
    assert {chunk.kind for chunk in chunks} == {"section"}
