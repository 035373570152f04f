"""Cutting a long text into pieces that fit a model, where a reader would pause."""

import re
from bisect import bisect_left
from collections.abc import Sequence

Span = tuple[int, int]  # where a token begins and ends in the text

_PARAGRAPH = re.compile(r"\n\s*\n")
_SENTENCE = re.compile(r"[.!?…][\"'”’)\]]*\s|[。！？]|\n")
_WORD = re.compile(r"\s")
_EDGE = re.compile(r"[\W_]")  # in a path or minified code: no space, but a word ends here
_PAUSES = (_PARAGRAPH, _SENTENCE, _WORD, _EDGE)
_PIECE = re.compile(r"\w{1,4}|[^\w\s]")


def cut(text: str, tokens: Sequence[Span], room: int) -> list[str]:
    """Slices of at most `room` tokens that cover the text; each begins with the last words of the one before.

    The better a pause (paragraph, sentence, word) the sooner it is taken, but never
    in the first half of a slice: few full vectors say more than many short ones.
    """
    begins = [begin for begin, _ in tokens]
    slices: list[str] = []
    start = first = 0
    while len(tokens) - first > room:
        end = _pause(text, begins[first + room // 2], begins[first + room])
        slices.append(text[start:end])
        behind = bisect_left(begins, end)
        start = _resume(text, begins[behind - room // 10], end)
        first = bisect_left(begins, start)
    return [*slices, text[start:]]


def pieces(text: str) -> list[Span]:
    """Tokens for a model whose tokenizer is not at hand, guessed on the small side: four characters at most."""
    return [match.span() for match in _PIECE.finditer(text)]


def _pause(text: str, earliest: int, latest: int) -> int:
    for pattern in _PAUSES:
        ends = [match.end() for match in pattern.finditer(text, earliest, latest) if match.end() > earliest]
        if ends:
            return ends[-1]
    return latest


def _resume(text: str, earliest: int, end: int) -> int:
    """Where the next slice begins: at the first whole sentence of the overlap, or its first whole word."""
    for pattern in (_SENTENCE, _WORD):
        match = pattern.search(text, earliest, end)
        if match and match.end() < end:
            return match.end()
    return end
