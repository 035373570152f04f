"""Texts that make a regular expression go back and forth: made from the expression itself.

For each repetition in it, something that matches up to there, then a long run of what may be repeated, then something
that does not match. An expression that can read such a run in more than one way tries all of them before it gives up.
"""

import re
from collections.abc import Iterator
from itertools import islice
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]

REPEATS = {ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT}
LETTERS = "aA0 _-./\\\n:=,;\"'`<>([{*#@é"
OF_A_CATEGORY = {ops.CATEGORY_DIGIT: "0", ops.CATEGORY_SPACE: " ", ops.CATEGORY_WORD: "a"}
ENDS = ("", "\0", "a!")
BEGINNINGS = 3  # ways to get to a repetition that are tried
MOST = 400  # texts for one expression


def hostile_texts(pattern: "re.Pattern[str] | re.Pattern[bytes]", length: int) -> Iterator[str]:
    """Texts for a pattern, each with a run of so many repetitions."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    tree = parser.parse(source, pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags)
    found = dict.fromkeys(
        beginning + run * length + end
        for before, body in _repetitions(list(tree), [])
        for beginning in dict.fromkeys(_said(before, way) for way in range(BEGINNINGS))
        for run in _runs(body, list(tree))
        for end in ENDS
    )
    return islice(found, MOST)


def _repetitions(tree: list, before: list) -> Iterator[tuple[list, list]]:
    """Each repetition of a tree: what comes before it, and what is repeated."""
    for place, (op, value) in enumerate(tree):
        so_far = before + tree[:place]
        if op in REPEATS:
            body = list(value[2])
            if value[1] is ops.MAXREPEAT or value[1] > 1:
                yield so_far, body
            yield from _repetitions(body, so_far)
        else:
            for inner in _inside(op, value):
                yield from _repetitions(list(inner), so_far)


def _inside(op: object, value: tuple) -> list:
    if op is ops.SUBPATTERN:
        return [value[3]]
    if op is ops.BRANCH:
        return value[1]
    if op in (ops.ASSERT, ops.ASSERT_NOT):
        return [value[1]]
    if op is ops.ATOMIC_GROUP:
        return [value]
    if op is ops.GROUPREF_EXISTS:
        return [part for part in value[1:] if part]
    return []


def _runs(body: list, tree: list) -> list[str]:
    """What is repeated, in some of its forms; single letters come from the whole, since neighbours may share them."""
    forms = [_said(body, way) for way in range(4)]
    letters = [letter for letter in LETTERS if any(_holds(part, letter) for part in body)]
    return [run for run in dict.fromkeys(forms + letters[:5]) if run]


def _said(tree: list, way: int) -> str:
    """A text that the tree matches, more or less; `way` chooses between the branches and letters."""
    return "".join(_one(op, value, way) for op, value in tree)


def _one(op: object, value: object, way: int) -> str:
    if op is ops.LITERAL:
        return chr(value)
    if op in (ops.ANY, ops.NOT_LITERAL, ops.IN):
        fitting = [letter for letter in LETTERS if _holds((op, value), letter)] or _members(op, value)
        return fitting[way % len(fitting)] if fitting else ""
    if op in REPEATS:
        return _said(list(value[2]), way) * max(value[0], 1)
    if op is ops.BRANCH:
        return _said(list(value[1][way % len(value[1])]), way)
    if op in (ops.SUBPATTERN, ops.ATOMIC_GROUP):
        return "".join(_said(list(inner), way) for inner in _inside(op, value))
    return ""


def _members(op: object, value: object) -> list[str]:
    return [chr(item if kind is ops.LITERAL else item[0]) for kind, item in value if kind in (ops.LITERAL, ops.RANGE)]


def _holds(part: tuple, letter: str) -> bool:
    """Whether one part of a tree can begin with a letter."""
    op, value = part
    if op is ops.LITERAL:
        return value == ord(letter)
    if op is ops.NOT_LITERAL:
        return value != ord(letter)
    if op is ops.ANY:
        return letter != "\n"
    if op is ops.IN:
        negated = value[0][0] is ops.NEGATE
        return any(_in_set(kind, item, letter) for kind, item in value[negated:]) != negated
    if op in REPEATS:
        return any(_holds(inner, letter) for inner in value[2])
    return any(_holds(first, letter) for inner in _inside(op, value) for first in inner)


def _in_set(kind: object, item: object, letter: str) -> bool:
    if kind is ops.LITERAL:
        return item == ord(letter)
    if kind is ops.RANGE:
        return item[0] <= ord(letter) <= item[1]
    name = str(item).replace("CATEGORY_NOT_", "CATEGORY_")
    held = {"CATEGORY_DIGIT": str.isdigit, "CATEGORY_SPACE": str.isspace}.get(name, lambda c: c.isalnum() or c == "_")
    return held(letter) != ("_NOT_" in str(item))
