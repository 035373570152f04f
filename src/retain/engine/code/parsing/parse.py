"""A file cut into chunks that can be found, and the names that it uses."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from retain.domain.code import Chunk, ChunkKind, Parsed, Reference
from retain.engine.code.parsing.cut import Piece, cut_code, cut_text
from retain.engine.code.parsing.grammar import Grammar, grammar_of
from retain.engine.code.parsing.headings import sections
from retain.engine.code.parsing.languages import LANGUAGES, reader_of
from retain.engine.code.parsing.outline import Item, Outline, outline
from retain.engine.code.parsing.source import Rows, Source, source_of

if TYPE_CHECKING:
    from tree_sitter import Node

# The first piece of a long definition has all that is said about it, the others have no room for more than this.
_SHORT_DOC = 200

# A line that holds no word, or only begins or ends what has its chunks: `type (`, `} // namespace a`, `#endif`.
FRAME = re.compile(r"^(?:\W*|\s*\w+\s*[({:]\s*|\s*(?:[\])}][\])}(;,\s]*(?://|/\*|#)|end\b|#\s*endif\b|#!).*)$")

_FOLDER_FILES = frozenset({"__init__", "index", "mod"})  # their module is called as the folder is
_NOT_USES = frozenset({"self", "Self", "this", "super"})
_BYTE_ORDER_MARK = "\ufeff"


def parse(path: str, text: str, *, plainly: bool = False) -> Parsed:
    """What a file consists of. Any text will do: broken code gives what can be read of it, and loses no line.

    `plainly` does without a grammar, for a text that one cannot cope with.

    Lines are counted with `\\n`, `\\r\\n` and `\\r` alike as their ends; a byte order mark is dropped. The text of a
    chunk is that of its lines, but for definitions with others inside, which have chunks of their own: of those
    only the signature is repeated. Lines that only close a bracket opened elsewhere may be in no chunk.
    """
    text = text.removeprefix(_BYTE_ORDER_MARK).replace("\r\n", "\n").replace("\r", "\n")
    reader = reader_of(path, text)
    lines = text.split("\n")
    if reader.name == "markdown":
        return Parsed(reader.name, tuple(sections(lines, _file_name(path))))
    grammar = None if plainly else grammar_of(reader)
    if grammar is None or not text.strip():
        return Parsed(reader.name, tuple(_paragraphs(lines, _file_name(path))))
    return _parsed_code(reader.name, grammar, source_of(text, module_name(path)))


def missing_grammar(language: str) -> bool:
    """Whether files in this language are cut by paragraphs only because a package is not installed."""
    return any(known.grammar and grammar_of(known) is None for known in LANGUAGES if known.name == language)


def _parsed_code(language: str, grammar: Grammar, source: Source) -> Parsed:
    from tree_sitter import Parser, QueryCursor

    root = Parser(grammar.language).parse(source.data).root_node
    found = outline(source, QueryCursor(grammar.outline).matches(root))
    chunks = sorted(_chunks(source, found, root), key=lambda chunk: (chunk.start_line, -chunk.end_line, chunk.part))
    uses = QueryCursor(grammar.references).captures(root)
    return Parsed(language, tuple(chunks), _references(source, uses, found.names))


def _file_name(path: str) -> str:
    return PurePosixPath(path.replace("\\", "/")).name


def module_name(path: str) -> str:
    pure = PurePosixPath(path.replace("\\", "/"))
    return pure.parent.name if pure.stem in _FOLDER_FILES and pure.parent.name else pure.stem


def _paragraphs(lines: Sequence[str], name: str) -> Iterator[Chunk]:
    for part, piece in enumerate(cut_text(lines, (0, len(lines) - 1))):
        yield Chunk(ChunkKind.TEXT, name, piece.first + 1, piece.last + 1, piece.text, part=part)


def _chunks(source: Source, found: Outline, root: Node) -> Iterator[Chunk]:
    yield from _outside(source, found, root)
    waiting = list(found.items)
    while waiting:
        item = waiting.pop()
        yield from _of_item(source, item)
        waiting += item.inner


def _of_item(source: Source, item: Item) -> Iterator[Chunk]:
    pieces = cut_code(source, item.rows, item.node, _in_other_chunks(item.inner))
    for part, piece in enumerate(pieces):
        # Lines that are left out at the end belong to the last piece all the same.
        last = item.rows[1] if item.inner and part == len(pieces) - 1 else piece.last
        yield Chunk(
            item.kind,
            item.name,
            piece.first + 1,
            last + 1,
            piece.text,
            parent=item.parent,
            signature=item.signature,
            doc=_said(item.doc, part),
            part=part,
        )


def _in_other_chunks(inner: Sequence[Item]) -> Collection[int]:
    """The rows of members without their signatures."""
    rows: set[int] = set()
    for item in inner:
        rows.update(range(item.rows[0], item.head[0]), range(item.head[1] + 1, item.rows[1] + 1))
    return rows


def _outside(source: Source, found: Outline, root: Node) -> Iterator[Chunk]:
    """Chunks for the lines that no definition has, named after the file."""
    part = 0
    for rows in _gaps(len(source.lines), found.items):
        if all(FRAME.match(source.lines[row]) for row in range(rows[0], rows[1] + 1)):
            continue
        for piece in cut_code(source, rows, root):
            yield _of_module(source.module, piece, _said(found.doc, part), part)
            part += 1


def _of_module(name: str, piece: Piece, doc: str, part: int) -> Chunk:
    return Chunk(ChunkKind.MODULE, name, piece.first + 1, piece.last + 1, piece.text, doc=doc, part=part)


def _gaps(count: int, items: Sequence[Item]) -> Iterator[Rows]:
    row = 0
    for item in items:
        if item.rows[0] > row:
            yield row, item.rows[0] - 1
        row = item.rows[1] + 1
    if row < count:
        yield row, count - 1


def _said(doc: str, part: int) -> str:
    return doc if part == 0 else doc.split("\n\n", 1)[0][:_SHORT_DOC]


def _references(source: Source, uses: dict[str, list[Node]], names: Collection[int]) -> tuple[Reference, ...]:
    found: set[tuple[int, str]] = set()
    for capture, nodes in uses.items():
        if not capture.startswith("reference"):
            continue
        for node in nodes:
            name = source.text(node)
            if capture == "reference.path":
                name = PurePosixPath(name.strip("\"'<>")).stem
            if node.end_byte not in names and _is_use(name, capture):
                found.add((source.row(node) + 1, name))
    return tuple(Reference(name, line) for line, name in sorted(found))


def _is_use(name: str, capture: str) -> bool:
    if len(name) < 2 or name in _NOT_USES or len(name) > 200:
        return False
    return capture != "reference.capitalised" or name[0].isupper()
