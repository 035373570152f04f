"""Highlights: what a text says about a question, with the words of the question marked in it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from unicodedata import combining

from retain.domain.words import word_spans

LENGTH = 300  # characters of a highlight, marks and dots aside
SLACK = 30  # how far a cut is moved to stand between words; what is longer is no word that anybody reads
MARK, CUT = "**", "…"


@dataclass(frozen=True, slots=True)
class Spot:
    """A word of a text that meets the question, and in which of its terms."""

    start: int
    end: int
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class Window:
    """A piece of a text, by where it begins and ends."""

    start: int
    end: int


def highlight(text: str, wanted: frozenset[str]) -> str:
    """About 300 characters around the words whose terms are wanted, each marked as it is written.

    Besides the marks and the dots where it is cut, it is the text to the letter; without such a word, its opening.
    """
    spots = meeting(text, wanted)
    shown = windows(text, spots)
    pieces = f" {CUT} ".join(_marked(text, window, spots) for window in shown)
    before = CUT if text[: shown[0].start].strip() else ""
    after = CUT if text[shown[-1].end :].strip() else ""
    return f"{before}{pieces}{after}"


def meeting(text: str, wanted: frozenset[str]) -> list[Spot]:
    """The words that meet the question, in order; pairs of a script without spaces that touch are one."""
    found: list[Spot] = []
    for start, end, terms in word_spans(text):
        met = wanted.intersection(terms)
        if met and found and start <= found[-1].end:
            found[-1] = Spot(found[-1].start, end, found[-1].terms | met)
        elif met:
            found.append(Spot(start, end, met))
    return found


def windows(text: str, spots: Sequence[Spot]) -> list[Window]:
    """The piece that meets most of the question; two of half the size, where they meet more of it than one does."""
    if len(text) <= LENGTH:
        return [Window(0, len(text))]
    if not spots:
        return [_framed(text, Window(0, 0), LENGTH)]
    one = _densest(spots, LENGTH)
    first = _densest(spots, LENGTH // 2)
    missing = _terms(spots) - _terms(first)
    second = _densest([spot for spot in spots if spot.terms & missing], LENGTH // 2) if missing else []
    if len(_terms([*first, *second])) <= len(_terms(one)):
        return [_framed(text, _around(one), LENGTH)]
    apart = sorted((_around(first), _around(second)), key=lambda window: window.start)
    return _joined([_framed(text, window, LENGTH // 2) for window in apart])


def _densest(spots: Sequence[Spot], size: int) -> Sequence[Spot]:
    """The neighbouring spots within so many characters that meet most terms; then the most of them, and the first."""
    held: Counter[str] = Counter()
    best, reach, end = (0, 0, 0), (0, 0), 0
    for start, spot in enumerate(spots):
        while end < len(spots) and (end == start or spots[end].end <= spot.start + size):
            held.update(spots[end].terms)
            end += 1
        if (value := (len(held), end - start, -start)) > best:
            best, reach = value, (start, end)
        for term in spot.terms:
            held[term] -= 1
            if not held[term]:
                del held[term]
    return spots[slice(*reach)]


def _framed(text: str, inner: Window, size: int) -> Window:
    """A window of about that size around an inner one, cut between words where there are any."""
    inner = Window(inner.start, min(inner.end, inner.start + size))
    start = min(max(inner.start - (size - (inner.end - inner.start)) // 2, 0), max(len(text) - size, 0))
    end = min(start + size, len(text))
    start, end = _begin(text, start, inner.start), _finish(text, end, inner.end)
    while start < inner.start and text[start].isspace():
        start += 1
    while end > inner.end and text[end - 1].isspace():
        end -= 1
    return Window(start, end)


def _begin(text: str, at: int, latest: int) -> int:
    """The first place from here on where a word begins."""
    for place in range(at, min(at + SLACK, latest) + 1):
        if place == 0 or text[place - 1].isspace():
            return place
    while at < latest and combining(text[at]):
        at += 1
    return at


def _finish(text: str, at: int, earliest: int) -> int:
    """The last place up to here where a word has ended."""
    for place in range(at, max(at - SLACK, earliest) - 1, -1):
        if place == len(text) or text[place].isspace():
            return place
    while at > earliest and at < len(text) and combining(text[at]):
        at -= 1
    return at


def _joined(shown: Iterable[Window]) -> list[Window]:
    joined: list[Window] = []
    for window in shown:
        if joined and window.start <= joined[-1].end:
            joined[-1] = Window(joined[-1].start, max(window.end, joined[-1].end))
        else:
            joined.append(window)
    return joined


def _marked(text: str, window: Window, spots: Iterable[Spot]) -> str:
    return "".join(_pieces(text, window, spots))


def _pieces(text: str, window: Window, spots: Iterable[Spot]) -> Iterator[str]:
    at = window.start
    for spot in spots:
        start, end = max(spot.start, at), min(spot.end, window.end)
        if start >= end:
            continue
        yield text[at:start]
        # What its writer has emphasised is marked already.
        yield text[start:end] if _is_marked(text, start, end) else f"{MARK}{text[start:end]}{MARK}"
        at = end
    yield text[at : window.end]


def _is_marked(text: str, start: int, end: int) -> bool:
    return text.endswith(MARK, 0, start) and text.startswith(MARK, end)


def _around(spots: Sequence[Spot]) -> Window:
    return Window(spots[0].start, spots[-1].end)


def _terms(spots: Iterable[Spot]) -> frozenset[str]:
    return frozenset[str]().union(*(spot.terms for spot in spots))
