"""A marked section in somebody else's text: whatever the text, the bytes around it stay."""

from hypothesis import example, given
from hypothesis import strategies as st

from retain.domain.echo import CLAUDE_MD
from retain.errors import Refused
from retain.surfaces.section import find, removed, replaced

START, END = CLAUDE_MD
TEXT = "# shop\n## Gotchas\n- Mind CORS"

pieces = st.lists(
    st.sampled_from(
        [b"\n", b"\r\n", b"\r", b"# Mine", b"text ", b"- ", "é".encode(), b"```", b"~~~", b"`", b"<!-- x -->", b">"]
    ),
    max_size=20,
).map(b"".join)
bodies = st.lists(st.text(st.characters(codec="utf-8", exclude_categories=("Cc",)), max_size=20), max_size=4).map(
    lambda lines: "\n".join(f"- {line.replace('<!--', '')}" for line in lines)
)


@given(pieces, bodies, bodies)
@example(b"a", "- x", "")
@example(b"\xef\xbb\xbf", "- x", "- y")
@example(b"a\nb\r", "- x", "- y")
def test_bytes_around_the_section_never_change(raw, first, second):
    try:
        with_first = replaced(raw, first)
    except Refused:
        return
    with_second = replaced(with_first, second)
    assert with_second.startswith(raw)
    assert removed(with_second) == raw
    assert replaced(with_second, second) is with_second
    if first:
        found = find(with_second)
        assert found.between.decode().splitlines() == second.splitlines() or first == second


@given(pieces, pieces, bodies, st.sampled_from([b"\n", b"\r\n"]))
def test_text_before_and_after_a_section_stays(before, after, body, newline):
    raw = before + newline + START.encode() + newline + b"old" + newline + END.encode() + newline + after
    try:
        changed = replaced(raw, body)
    except Refused:
        return
    if find(raw):
        assert changed.startswith(before + newline) and changed.endswith(newline + after)
    else:  # all of it is code
        assert changed.startswith(raw)


@given(st.lists(st.sampled_from([START, END, "x", "```", "~~~", f"`{START}`", f"{END} x"]), max_size=8))
def test_every_arrangement_of_markers_is_one_pair_or_none_or_refused(lines):
    raw = "\n".join(lines).encode()
    try:
        changed = replaced(raw, TEXT)
    except Refused:
        return
    assert changed.decode().count(TEXT) == 1
    assert replaced(changed, TEXT) is changed
