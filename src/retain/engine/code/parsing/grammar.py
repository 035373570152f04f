"""Grammars and their queries, loaded when a file first needs them and then shared by all threads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING

from retain.engine.code.parsing.languages import Language

if TYPE_CHECKING:
    import tree_sitter


@dataclass(frozen=True, slots=True)
class Grammar:
    """What parses a language, what finds its definitions and comments, and what finds the names it uses."""

    language: tree_sitter.Language
    outline: tree_sitter.Query
    references: tree_sitter.Query


@cache
def grammar_of(reader: Language) -> Grammar | None:
    """The grammar of a language that has one; none when its package is not there, or too old or new to be read."""
    if not reader.grammar:
        return None
    module, function = reader.grammar.split(":")
    try:
        from tree_sitter import Language as TreeLanguage

        language = TreeLanguage(getattr(import_module(module), function)())
        return _with_queries(language, _queries(reader))
    except (ImportError, AttributeError, ValueError):
        return None


def _queries(reader: Language) -> str:
    folder = files("retain.engine.code.parsing") / "queries"
    return "\n".join((folder / f"{name}.scm").read_text("utf-8") for name in reader.queries.split())


def _with_queries(language: tree_sitter.Language, source: str) -> Grammar:
    """Two queries of one file: definitions are read match by match, references all at once, which is faster."""
    from tree_sitter import Query

    outline, references = Query(language, source), Query(language, source)
    text = source.encode()
    for pattern in range(outline.pattern_count):
        found = text[outline.start_byte_for_pattern(pattern) : outline.end_byte_for_pattern(pattern)]
        (outline if b"@reference" in found else references).disable_pattern(pattern)
    return Grammar(language, outline, references)
