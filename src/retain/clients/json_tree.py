"""A JSON text as a tree that knows where in the text each part is; comments and trailing commas if they are allowed."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from retain.clients.faults import broken_at

_BLANK = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
# Far deeper than any settings file, and well within what Python can recurse.
DEEPEST = 200


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of an object or an array: from its key, or its value, to the end of its value."""

    start: int
    value: "Node"
    comma: int | None
    """Where the comma behind it is, if one is."""
    key: str | None = None

    @property
    def end(self) -> int:
        return self.value.end


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it is written. `items` are the entries of an object or array, None for anything else."""

    start: int
    end: int
    data: Any
    items: tuple[Item, ...] | None = None

    @property
    def is_object(self) -> bool:
        return self.items is not None and isinstance(self.data, dict)

    def item(self, step: str | int) -> Item | None:
        """The entry of that name or number; of a name that is there twice the last, as parsers read it."""
        if self.items is None or self.is_object != isinstance(step, str):
            return None
        if isinstance(step, int):
            return self.items[step] if 0 <= step < len(self.items) else None
        return next((item for item in reversed(self.items) if item.key == step), None)


def read(text: str, *, comments: bool) -> Node:
    """Raises `Broken` with line and column where the text is not JSON."""
    return _Reader(text, comments=comments).document()


class _Reader:
    def __init__(self, text: str, *, comments: bool) -> None:
        self.text = text
        self.comments = comments

    def document(self) -> Node:
        node = self._value(self._skip(1 if self.text.startswith("\ufeff") else 0), 0)
        end = self._skip(node.end)
        if end < len(self.text):
            raise broken_at(self.text, end, "there is something behind the end")
        return node

    def _value(self, at: int, depth: int) -> Node:
        if self.text[at : at + 1] in ("{", "["):
            return self._container(at, depth)
        if string := _STRING.match(self.text, at):
            return Node(at, string.end(), json.loads(string[0]))
        if scalar := _SCALAR.match(self.text, at):
            return Node(at, scalar.end(), json.loads(scalar[0]))
        raise broken_at(self.text, at, "a value is missing or not JSON")

    def _container(self, at: int, depth: int) -> Node:
        if depth == DEEPEST:
            raise broken_at(self.text, at, f"nested more than {DEEPEST} deep")
        is_object = self.text[at] == "{"
        close = "}" if is_object else "]"
        items = tuple(self._items(at, close, depth))
        # The last token is a value, a comma or the bracket itself.
        last = at + 1 if not items else items[-1].end if items[-1].comma is None else items[-1].comma + 1
        end = self._skip(last) + 1
        data = {item.key: item.value.data for item in items} if is_object else [item.value.data for item in items]
        return Node(at, end, data, items)

    def _items(self, at: int, close: str, depth: int) -> Iterator[Item]:
        at = self._skip(at + 1)
        while self.text[at : at + 1] != close:
            key, value_at = self._key(at) if close == "}" else (None, at)
            value = self._value(value_at, depth + 1)
            behind = self._skip(value.end)
            comma = behind if self.text[behind : behind + 1] == "," else None
            yield Item(at, value, comma, key)
            if comma is None:
                self._expect(close, behind)
                return
            at = self._skip(comma + 1)
            if self.text[at : at + 1] == close and not self.comments:
                raise broken_at(self.text, comma, "a comma with nothing behind it")

    def _key(self, at: int) -> tuple[str, int]:
        string = _STRING.match(self.text, at)
        if string is None:
            raise broken_at(self.text, at, 'a name in double quotes is expected, or "}"')
        colon = self._skip(string.end())
        self._expect(":", colon)
        return json.loads(string[0]), self._skip(colon + 1)

    def _expect(self, letter: str, at: int) -> None:
        if self.text[at : at + 1] != letter:
            wanted = '":"' if letter == ":" else f'"," or "{letter}"'
            raise broken_at(self.text, at, f"{wanted} is expected")

    def _skip(self, at: int) -> int:
        """Past blanks and comments."""
        while True:
            at = _blank_end(self.text, at)
            if self.text[at : at + 1] != "/":
                return at
            comment = _COMMENT.match(self.text, at)
            if comment is None or not self.comments:
                raise broken_at(self.text, at, "a comment, which this file may not have" if comment else "a stray /")
            at = comment.end()


def _blank_end(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def trivia_end(text: str, at: int, until: int) -> int:
    """Where the last comment between two places ends; `at` if there is none. No blank counts but those before it."""
    end = at
    while at < until:
        at = _blank_end(text, at)
        comment = _COMMENT.match(text, at)
        if comment is None or comment.end() > until:
            break
        end = at = comment.end()
    return end
