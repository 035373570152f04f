"""A file as the grammar reads it: bytes, and the lines they are in."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

Rows = tuple[int, int]
"""The first and the last of some lines, counted from 0."""


@dataclass(frozen=True, slots=True)
class Source:
    """Lines of a file, the same as bytes, where each line begins in them, and the name that its module goes by.

    Rows are looked up by byte: in tree-sitter 0.26.0 the `row` and `column` of a node's points are handed out
    without a reference of their own, which frees numbers above 256 while they are in use and ends the process.
    """

    lines: Sequence[str]
    data: bytes
    starts: Sequence[int]
    module: str

    def row(self, node: Node) -> int:
        return bisect_right(self.starts, node.start_byte) - 1

    def end_row(self, node: Node) -> int:
        """The row of its last character; some nodes take the end of their line with them."""
        return bisect_right(self.starts, max(node.end_byte - 1, node.start_byte)) - 1

    def text(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def has_line(self, node: Node) -> bool:
        """Whether nothing stands before it on its line."""
        start = node.start_byte
        return not self.data[self.starts[self.row(node)] : start].strip()


def source_of(text: str, module: str) -> Source:
    """A text that has `\\n` only at the ends of its lines."""
    # Grammars take a NUL for the end of the file.
    data = text.replace("\0", " ").encode("utf-8", "replace")
    starts = list(accumulate((len(line) + 1 for line in data.split(b"\n")[:-1]), initial=0))
    return Source(text.split("\n"), data, starts, module)
