"""The definitions of a file as a tree: what each is called, where it stands, and what is said about it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from retain.domain.code import ChunkKind
from retain.engine.code.parsing.comments import is_about_content, plain_comments, plain_docstring
from retain.engine.code.parsing.cut import LIMIT
from retain.engine.code.parsing.source import Rows, Source

if TYPE_CHECKING:
    from tree_sitter import Node

SIGNATURE_LIMIT = 300
_NAME_LIMIT = 200
# More lines than this above a definition are code that was commented out.
_MOST_COMMENTS = 100

_WITH_METHODS = frozenset({ChunkKind.CLASS, ChunkKind.INTERFACE, ChunkKind.STRUCT, ChunkKind.ENUM, ChunkKind.TRAIT})
_FUNCTIONS = frozenset({ChunkKind.FUNCTION, ChunkKind.METHOD})
_BETWEEN = re.compile(r"::|\.|\\")
_LAST_BETWEEN = re.compile(r"^(.*)(?:::|\.|\\)(?!.*(?:::|\.|\\))(.+)$", re.DOTALL)
_ARGUMENTS = re.compile(r"<[^<>]*>")
# Steps of a name that say how a thing is exported or reached, not what it belongs to.
_NOT_PARENTS = frozenset({"this", "self", "module", "exports", "prototype", "window", "globalThis", ""})

Captures = Mapping[str, "list[Node]"]


@dataclass(frozen=True, slots=True)
class Item:
    """A definition with those inside of it. Rows count from 0; they begin with its decorators and comments."""

    kind: ChunkKind
    name: str
    parent: str
    rows: Rows
    head: Rows
    """Where its signature stands."""
    signature: str
    doc: str
    node: Node
    inner: list[Item] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Outline:
    items: list[Item]
    doc: str
    names: frozenset[int]
    """The bytes at which the names of definitions end."""


@dataclass(frozen=True, slots=True)
class _Definition:
    """What a query found: `kind` is none for a scope, which gives a name to what is in it and is no chunk."""

    start: int
    end: int
    kind: ChunkKind | None
    node: Node
    name: Node | None
    body: Node | None
    parent: Node | None


@dataclass(frozen=True, slots=True)
class _Open:
    """A definition or scope that the walk is in: where it ends, its qualified name, the innermost item."""

    end: int
    name: str
    item: Item | None


@dataclass(slots=True)
class _Marks:
    """What a query found beside definitions, ready to be looked up."""

    comments: list[Node] = field(default_factory=list)
    above: dict[int, Node] = field(default_factory=dict)
    """Comments, decorators and the like that have their lines for themselves, by their last row."""
    attached: dict[int, int] = field(default_factory=dict)
    """Where a decorator ends, by where it begins."""
    docstrings: dict[int, Node] = field(default_factory=dict)


def outline(source: Source, matches: Iterable[tuple[int, Captures]]) -> Outline:
    """The tree of definitions, from the matches of a language's query.

    A function inside of another belongs to it and is no item, unless it is too long for that; nor is a type
    that a class names, or what shares a line with the definition before or around it.
    """
    definitions, marks = _sorted_out(source, matches)
    items = _tree(source, definitions, marks)
    names = frozenset(each.name.end_byte for each in definitions if each.name is not None)
    return Outline(items, _module_doc(source, marks, items), names)


def _sorted_out(source: Source, matches: Iterable[tuple[int, Captures]]) -> tuple[list[_Definition], _Marks]:
    marks, found, rest = _Marks(), dict[tuple[int, int], _Definition](), list[_Definition]()
    for _, captures in matches:
        definition = _definition(captures)
        if definition is None:
            _note(source, marks, captures)
        elif "scope.rest" in captures:
            rest.append(definition)
        else:
            found.setdefault((definition.start, definition.end), definition)
    definitions = [*found.values(), *_reaching(rest, len(source.data))]
    return sorted(definitions, key=lambda each: (each.start, -each.end)), marks


def _definition(captures: Captures) -> _Definition | None:
    for capture, (node, *_) in captures.items():
        if capture.startswith(("definition.", "scope")):
            _, _, kind = capture.partition("definition.")
            name, body, parent = (captures.get(part, [None])[0] for part in ("name", "body", "parent"))
            return _Definition(
                node.start_byte, node.end_byte, ChunkKind(kind) if kind else None, node, name, body, parent
            )
    return None


def _note(source: Source, marks: _Marks, captures: Captures) -> None:
    for capture, (node, *_) in captures.items():
        if capture == "docstring":
            marks.docstrings[node.start_byte] = node
            continue
        if capture == "comment":
            marks.comments.append(node)
        else:
            marks.attached[node.start_byte] = node.end_byte
        if source.has_line(node) and not _is_shebang(source, node):
            marks.above[source.end_row(node)] = node


def _is_shebang(source: Source, comment: Node) -> bool:
    return comment.start_byte == 0 and source.data.startswith(b"#!")


def _reaching(rest: list[_Definition], end: int) -> Iterator[_Definition]:
    """Scopes without a body, each as far as the next one."""
    ends = [*(scope.start for scope in rest[1:]), end]
    for scope, until in zip(rest, ends, strict=False):
        yield _Definition(scope.start, until, None, scope.node, scope.name, None, None)


def _tree(source: Source, definitions: list[_Definition], marks: _Marks) -> list[Item]:
    top: list[Item] = []
    path = [_Open(len(source.data) + 1, "", None)]
    for definition in definitions:
        while path[-1].end <= definition.start:
            path.pop()
        around = path[-1]
        within, name = _named(source, definition)
        if definition.kind is None:
            path.append(_Open(definition.end, _joined(around.name, within, name), around.item))
            continue
        siblings = around.item.inner if around.item else top
        if _is_apart(source, definition, around.item, siblings):
            item = _item(source, definition, marks, (_joined(around.name, within), name), around.item)
            siblings.append(_below(item, siblings, around.item))
            path.append(_Open(definition.end, _joined(item.parent, name), siblings[-1]))
    return top


def _is_apart(source: Source, definition: _Definition, around: Item | None, siblings: list[Item]) -> bool:
    if around and around.kind in _FUNCTIONS and definition.end - definition.start <= LIMIT:
        return False
    if around and around.kind in _WITH_METHODS and definition.kind is ChunkKind.TYPE:
        return False
    return source.row(definition.node) > _floor(siblings, around)


def _floor(siblings: list[Item], around: Item | None) -> int:
    """The last row that is taken already."""
    return max(siblings[-1].rows[1] if siblings else -1, around.head[1] if around else -1)


def _below(item: Item, siblings: list[Item], around: Item | None) -> Item:
    """The item without rows above it that are taken."""
    first = max(item.rows[0], _floor(siblings, around) + 1)
    if first == item.rows[0]:
        return item
    rows = (first, item.rows[1])
    return Item(item.kind, item.name, item.parent, rows, item.head, item.signature, item.doc, item.node, item.inner)


def _item(
    source: Source, definition: _Definition, marks: _Marks, named: tuple[str, str], around: Item | None
) -> Item:  # fmt: skip
    parent, name = named
    node, body = definition.node, definition.body
    row = source.row(node)
    first, comments = _above(source, marks, row)
    head = _head(source.data, node.start_byte, marks.attached)
    head_row = row + source.data.count(b"\n", node.start_byte, head)
    head_end = _head_end(source.data, head, body.start_byte) if body else node.end_byte
    docstring = marks.docstrings.get(body.start_byte) if body else None
    return Item(
        kind=_kind(definition, around, parent),
        name=name,
        parent=parent,
        rows=(first, source.end_row(node)),
        head=(head_row, head_row + (source.data.count(b"\n", head, head_end) if body else 0)),
        signature=_signature(source.data, head, head_end),
        doc=plain_docstring(source.text(docstring)) if docstring else _said(source, comments),
        node=node,
    )


def _above(source: Source, marks: _Marks, row: int) -> tuple[int, list[Node]]:
    """The first row of what stands right above a row and belongs to it, and the comments there."""
    comments: list[Node] = []
    while (node := marks.above.get(row - 1)) is not None:
        row = source.row(node)
        if node.start_byte not in marks.attached:
            comments.append(node)
    return row, comments[::-1]


def _said(source: Source, comments: list[Node]) -> str:
    return plain_comments([source.text(comment) for comment in comments[:_MOST_COMMENTS]])


def _head(data: bytes, start: int, attached: Mapping[int, int]) -> int:
    """Where a definition begins that may have attributes in front of it."""
    while start in attached:
        start = attached[start]
        start += len(data[start : start + 400]) - len(data[start : start + 400].lstrip())
    return start


def _head_end(data: bytes, head: int, body: int) -> int:
    """Where a signature ends: comments between it and the body are not part of it."""
    lines = data[head:body].rstrip().split(b"\n")
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].lstrip().startswith((b"#", b"//"))):
        lines.pop()
    return head + len(b"\n".join(lines))


def _kind(definition: _Definition, around: Item | None, parent: str) -> ChunkKind:
    kind = definition.kind or ChunkKind.MODULE
    if kind not in _FUNCTIONS:
        return kind
    if around and around.kind in _WITH_METHODS:
        return ChunkKind.METHOD
    if kind is ChunkKind.METHOD:
        return kind if parent else ChunkKind.FUNCTION
    qualified = definition.name is not None and definition.name.type in ("qualified_identifier", "member_expression")
    return ChunkKind.METHOD if qualified and parent else kind


def _signature(data: bytes, start: int, end: int) -> str:
    """The head on one line, with what stands before it on its first line: `export`, `const f =`, `type`."""
    line = data.rfind(b"\n", 0, start) + 1
    before = data[line:start]
    if len(before) <= 60 and not any(mark in before for mark in b";{}"):
        start = line
    head = " ".join(data[start : min(end, start + 4 * SIGNATURE_LIMIT)].decode("utf-8", "replace").split())
    return head.rstrip(" {:=")[:SIGNATURE_LIMIT]


def _named(source: Source, definition: _Definition) -> tuple[str, str]:
    """What a definition says it belongs to, and its own name: `A::f` is f of A. Without a name it is the module's."""
    within = source.text(definition.parent) if definition.parent else ""
    name = " ".join(source.text(definition.name).split())[:_NAME_LIMIT] if definition.name else ""
    if name[:1] in ("[", '"', "'"):
        return within, name.strip("[]\"'") or name
    steps = _LAST_BETWEEN.match(name)
    if steps:
        before, name = steps[1], steps[2]
        parents = (step.strip() for step in _BETWEEN.split(_ARGUMENTS.sub("", before)))
        within = _joined(within, *(step for step in parents if step not in _NOT_PARENTS))
    if name in _NOT_PARENTS:
        name = "" if definition.kind is None else source.module
    return within, name


def _joined(*names: str) -> str:
    return ".".join(name for name in names if name)


def _module_doc(source: Source, marks: _Marks, items: list[Item]) -> str:
    """The docstring of the file, or the comment it begins with; a licence says nothing about a file."""
    docstring = marks.docstrings[min(marks.docstrings)] if marks.docstrings else None
    if docstring and source.starts[source.row(docstring)] == docstring.start_byte:
        return plain_docstring(source.text(docstring))
    taken = items[0].rows[0] if items else len(source.lines)
    first: list[Node] = []
    for node in marks.comments[:_MOST_COMMENTS]:
        row = source.row(node)
        if row >= taken or row > (source.end_row(first[-1]) + 1 if first else 2):
            break
        if not _is_shebang(source, node):
            first.append(node)
    doc = _said(source, first)
    return doc if is_about_content(doc) else ""
