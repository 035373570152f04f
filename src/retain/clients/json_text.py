"""Set or remove one entry in a JSON text; every other letter, comment and line ending stays as it is."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from retain.clients.faults import Unfit
from retain.clients.json_tree import Item, Node, read, trivia_end
from retain.strict_json import loads

Step = str | int
Steps = Sequence[Step]
_INDENT = re.compile(r"([ \t]*)\S")
_BOM = "\ufeff"


def data(text: str, *, comments: bool = False) -> Any:
    """What the text says; one with nothing but blanks is an empty object, as clients read it."""
    if is_blank(text):
        return {}
    try:
        # Much faster than the tree, and such files have megabytes; what it does not take, the tree explains or reads.
        return loads(text.removeprefix(_BOM))
    except (ValueError, RecursionError):
        return read(text, comments=comments).data


def put(text: str, path: Steps, value: Any, *, comments: bool = False) -> str:
    """The text with `value` at `path`: names in objects and numbers in lists, one past the last to add an entry.

    What is missing on the way is made. Raises `Unfit` where something else than an object or a list is in the way.
    """
    if is_blank(text):
        whole = json.dumps(_nested(path, value), indent=2, ensure_ascii=False).replace("\n", _newline(text))
        return (_BOM if text.startswith(_BOM) else "") + whole + _newline(text)
    page = _Page(text, read(text, comments=comments))
    node, depth = page.root, 0
    while depth < len(path) and (item := _next(node, path, depth)):
        node, depth = item.value, depth + 1
    if depth == len(path):
        return text if _same(node.data, value) else page.replaced(node, value)
    return page.added(node, path[depth], _nested(path[depth + 1 :], value))


def drop(text: str, path: Steps, *, comments: bool = False) -> str:
    """The text without the entry at `path`; unchanged when it is not there."""
    if is_blank(text):
        return text
    page = _Page(text, read(text, comments=comments))
    node = page.root
    for step in path[:-1]:
        item = node.item(step)
        if item is None:
            return text
        node = item.value
    doomed = node.item(path[-1])
    return text if doomed is None else page.without(node, doomed)


def is_blank(text: str) -> bool:
    return not text.strip(_BOM + " \t\r\n")


@dataclass(frozen=True, slots=True)
class _Page:
    """A text and its tree. Each method gives a new text."""

    text: str
    root: Node

    def replaced(self, node: Node, value: Any) -> str:
        spread = "\n" in self.text[node.start : node.end] or (node.items is None and self._is_spread)
        written = self._written(value, self._indent(node.start), spread=spread)
        return self.text[: node.start] + written + self.text[node.end :]

    def added(self, node: Node, step: Step, value: Any) -> str:
        """A new last entry. A comma goes right behind the one before, also when a comment follows that."""
        text, last = self.text, node.items[-1] if node.items else None
        spread = "\n" in text[node.start : node.end] if last else self._is_spread
        outer = self._indent(node.start)
        inner = self._inner(node, outer)
        name = json.dumps(step, ensure_ascii=False) + ": " if isinstance(step, str) else ""
        entry = name + self._written(value, inner, spread=spread)
        behind = _behind(last) if last else node.start + 1
        here = trivia_end(text, behind, node.end - 1)
        missing, trailing = ("", "") if last is None else (",", "") if last.comma is None else ("", ",")
        lead = _newline(text) + inner if spread else " " if last else ""
        rest = text[here:]
        if spread and "\n" not in text[here : node.end]:
            rest = _newline(text) + outer + rest.lstrip(" \t")
        return text[:behind] + missing + text[behind:here] + lead + entry + trailing + rest

    def without(self, node: Node, doomed: Item) -> str:
        text, items = self.text, node.items or ()
        number, behind = items.index(doomed), _behind(doomed)
        if len(items) == 1:
            inside = text[node.start + 1 : doomed.start] + text[behind : node.end - 1]
            return text[: node.start + 1] + (inside if inside.strip() else "") + text[node.end - 1 :]
        if number == 0:
            # What stands before the first entry is kept, and the second moves up to it.
            return text[: doomed.start] + text[behind:].lstrip(" \t\r\n")
        before = items[number - 1]
        here = trivia_end(text, _behind(before), doomed.start)
        head = text[:here]
        if number == len(items) - 1 and doomed.comma is None and before.comma is not None:
            head = text[: before.comma] + text[before.comma + 1 : here]
        # The blanks before the entry go with it, unless they end a comment that would swallow what follows.
        rest = text[behind:]
        ends_line = rest.lstrip(" \t")[:1] in ("\r", "\n")
        in_comment = here > _behind(before) and not head.endswith("*/") and not ends_line
        return head + (text[here : doomed.start] if in_comment else "") + rest

    @property
    def _is_spread(self) -> bool:
        """Whether the file is written over several lines; an empty one may become so."""
        return not self.root.items or "\n" in self.text[self.root.start : self.root.end]

    def _written(self, value: Any, indent: str, *, spread: bool) -> str:
        if not spread:
            return json.dumps(value, ensure_ascii=False)
        lines = json.dumps(value, indent=self._unit, ensure_ascii=False).split("\n")
        return (_newline(self.text) + indent).join(lines)

    @property
    def _unit(self) -> str:
        """How far the file indents by one step."""
        own = (self._indent(item.start) for item in self.root.items or () if self._starts_line(item.start))
        return next((found for found in own if found), "  ")

    def _inner(self, node: Node, outer: str) -> str:
        own = (self._indent(item.start) for item in node.items or () if self._starts_line(item.start))
        return next(own, outer + self._unit)

    def _starts_line(self, at: int) -> bool:
        return not self.text[self.text.rfind("\n", 0, at) + 1 : at].strip()

    def _indent(self, at: int) -> str:
        found = _INDENT.match(self.text, self.text.rfind("\n", 0, at) + 1)
        return found[1] if found else ""


def _behind(item: Item) -> int:
    return item.end if item.comma is None else item.comma + 1


def _next(node: Node, path: Steps, depth: int) -> Item | None:
    """The entry for the next step, None if it is to be made."""
    step = path[depth]
    named = ".".join(map(str, path[:depth])) or "the whole"
    if node.items is None or node.is_object != isinstance(step, str):
        raise Unfit(f"{named} is not {'an object' if isinstance(step, str) else 'a list'}; put that right first")
    item = node.item(step)
    if item is None and isinstance(step, int) and step != len(node.items):
        raise Unfit(f"{named} has {len(node.items)} entries, so there is no place {step}")
    return item


def _nested(path: Steps, value: Any) -> Any:
    for step in reversed(path):
        value = {step: value} if isinstance(step, str) else [value]
    return value


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: 1, 1.0 and true are three things."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
