"""Cutting what somebody said into sentences, by places in the text, so that each can be found there again."""

import re
from collections.abc import Iterator

Span = tuple[int, int]  # where something begins and ends in a text

LONGEST = 220  # characters; what runs on beyond that is cut at a comma or an "and"
_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_END = re.compile(
    r"(?<=[.!?…])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\bca\.)(?<!\bz\.B\.)(?<!\bbzw\.)[\"'”’)\]*_]*\s+"
    r"|(?<=[。！？])[」』”）]*|[ \t]*\n\s*|(?<=[:.!?])\s+(?=[-*•] )|;\s+"
)
_BULLET = re.compile(r"[-*•]\s+")
_NUMBER = re.compile(r"\s*(?:[-*•]\s+)?(?:\(?\d{1,2}[.)]|\(?[a-d]\))(?=\s)")
# Alone, "b) with tests" is no list but the answer to a question.
_NUMBERED = re.compile(rf"^{_NUMBER.pattern}", re.MULTILINE)
_PAUSE = re.compile(
    r"[,，、:] ?|\s+[-–—]\s+|\s+(?=(?:and|but|so|also|because|btw|oh|then|plus|which)\s)", re.IGNORECASE
)
_COMMA = re.compile(r"[,;，、] ?|\s[-–—]\s")
_FEWEST_WORDS = 5  # of a part that says something alone
_EARLIEST = 60  # characters on either side of a cut, so that no piece is a scrap


def sentences(text: str) -> list[Span]:
    """Where each sentence begins and ends; fenced code is none."""
    found: list[Span] = []
    position = 0
    is_list = len(_NUMBERED.findall(text)) > 1
    for fence in [*_FENCE.finditer(text), None]:
        found += _plain(text, position, fence.start() if fence else len(text), is_list=is_list)
        position = fence.end() if fence else len(text)
    return [piece for span in found for piece in _pieces(text, *span)]


def clauses(text: str) -> list[str]:
    """A text, its sentences, and what stands between their commas as far as it says something; each once."""
    said = [text[start:end] for start, end in sentences(text)]
    parts = [part.strip() for sentence in said for part in _COMMA.split(sentence)]
    return list(dict.fromkeys([text, *said, *(part for part in parts if len(part.split()) >= _FEWEST_WORDS)]))


def _plain(text: str, start: int, end: int, *, is_list: bool) -> Iterator[Span]:
    begin = start
    for stop, resume in [*((match.start(), match.end()) for match in _END.finditer(text, start, end)), (end, end)]:
        number = _NUMBER.match(text, begin, end) if is_list else None
        yield from _trimmed(text, number.end() if number else begin, stop)
        begin = resume


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if bullet := _BULLET.match(text, start, end):
        start = bullet.end()
    if any(map(str.isalnum, text[start:end])):
        yield start, end


def _pieces(text: str, start: int, end: int) -> Iterator[Span]:
    """What runs on, cut at the pause that is nearest to its middle, and again."""
    if end - start <= LONGEST:
        yield start, end
        return
    middle = (start + end) // 2
    pauses = list(_PAUSE.finditer(text, start + _EARLIEST, end - _EARLIEST))
    if not pauses:
        yield start, end
        return
    pause = min(pauses, key=lambda match: abs(match.start() - middle))
    yield from _pieces(text, start, pause.start())
    yield from _pieces(text, pause.end(), end)
