"""Doc comments and docstrings as plain text, without the marks of their language."""

import re
from inspect import cleandoc

_QUOTES = re.compile(r"^[A-Za-z]{0,2}(\"\"\"|'''|\"|')(.*)\1$", re.DOTALL)
_MARK = re.compile(r"^[ \t]*(?://[/!]*<?|#+!?|\*+(?!\*)|--+)[ \t]?", re.MULTILINE)
_STAR = re.compile(r"^[ \t]*\*+[ \t]?", re.MULTILINE)
_TAG = re.compile(r"</?(?:summary|remarks|para|returns|param|typeparam|value|exception|example|see)\b[^<>]*>")
_RULE = re.compile(r"^[\W_]+$", re.MULTILINE)
_LICENCE = re.compile(r"\b(?:copyright|licen[cs]ed?|SPDX-License-Identifier)\b", re.IGNORECASE)
_FOR_TOOLS = re.compile(
    r"^[@-]?(?:\*-|\w+[-_]\w+: \w+$|coding\b|eslint\b|ts-\w+|flake8|pylint|mypy|noqa|vim?:|shellcheck)"
)
# Nobody reads on; and what is longer is seldom about one thing.
_MOST = 4_000


def plain_docstring(literal: str) -> str:
    """What a string literal says; its escapes are left as they are written."""
    inner = _QUOTES.match(literal.strip())
    return cleandoc(inner[2])[:_MOST].rstrip() if inner else ""


def plain_comments(comments: list[str]) -> str:
    """What comments say that stand one below the other. Lines that only decorate are dropped."""
    said = "\n".join(_plain(comment.strip()) for comment in comments)[:_MOST]
    if "</" in said:
        said = _TAG.sub("", said)
    return cleandoc(_RULE.sub("", said)).strip()


def is_about_content(doc: str) -> bool:
    """Whether the comment at the top of a file is about what is in it: not a licence, nor a word to a tool."""
    return _LICENCE.search(doc[:600]) is None and _FOR_TOOLS.match(doc) is None


def _plain(comment: str) -> str:
    if comment.startswith("/*"):
        inner = comment[2:].removesuffix("/").rstrip("*").lstrip("*!<")
        return cleandoc(_STAR.sub("", inner))
    return _MARK.sub("", comment)
