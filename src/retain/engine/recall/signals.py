"""The signals of a candidate: each lies in 0 to 1 and means the same for every question.

Nothing is normalised over the candidates, so one memory can be scored alone, every score can be
explained, and a threshold keeps its meaning.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from retain.domain.periods import Period
from retain.domain.stem import stem
from retain.domain.words import STOP_WORDS, bare, terms
from retain.ports import Context, Corpus

REACH = 2  # neighbours on each side that lend their words
BORROW = 0.5  # what a direct neighbour's word counts; the next one's counts the square of it
BORROW_TERMS = 20  # texts longer than this on average lend less: they stand for themselves
K1, B = 1.0, 0.6
SHORT = 80  # characters; a question twice as long counts a quarter as one
ONE_THING, DOUBLINGS = 300, 4  # characters of a text that speaks of one thing; twice as much again counts no more

_LABEL = re.compile(r"([A-Z][\w.'-]*(?: [A-Z][\w.'-]*){0,2}):\s+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_WORD = re.compile(r"[^\W_]+")


def words(contexts: Sequence[Context], query: Sequence[str], corpus: Corpus) -> dict[str, float]:
    """BM25 of each memory read together with its neighbours, as a share of the most the question could reach.

    A short turn leans on what was said around it; frequencies, length and expected length are
    summed with the same weights, so a memory without neighbours gets its plain BM25.
    """
    rarity = _rarity(query, corpus)
    ceiling = sum(rarity.values()) * (K1 + 1)
    if not ceiling:
        return {}
    average = corpus.average_length or 1.0
    counted = _Counted(rarity)
    return {c.memory: _bm25(c, counted, rarity, average) / ceiling for c in contexts}


def subject(text: str, question: frozenset[str]) -> float:
    """1 when the memory begins with `Name:` and the question names Name."""
    found = _LABEL.match(text)
    return float(found is not None and question.issuperset(_named(found[1])))


def pairs(question: str) -> list[str]:
    """Adjacent content words of a question, as they would stand in a memory's terms."""
    said = [bare(word) for word in _WORD.findall(question)]
    kept = ["" if word in STOP_WORDS else stem(word) for word in said]
    return [f" {a} {b} " for a, b in pairwise(kept) if a and b]


def phrase(own: str, wanted: Sequence[str]) -> float:
    """Share of the question's word pairs that stand side by side in the memory."""
    if not wanted:
        return 0.0
    line = f" {own} "
    return sum([pair in line for pair in wanted]) / len(wanted)


def asking(text: str) -> float:
    """Share of a short text that is questions: who only asks, tells nothing. In a long question something is told."""
    if "?" not in text:
        return 0.0
    sentences = [s for s in _SENTENCE.split(_LABEL.sub("", text, count=1)) if s]
    total = sum(map(len, sentences))
    asked = sum(len(s) for s in sentences if s.endswith("?"))
    return asked / total * min(1.0, SHORT / len(text)) ** 2 if total else 0.0


def length(text: str) -> float:
    """How much longer a text is than what speaks of one thing: of many parts the best is often near by chance."""
    return min(max(math.log2(len(text) / ONE_THING), 0.0) / DOUBLINGS, 1.0) if text else 0.0


def time(context: Context, asked: Sequence[Period]) -> float:
    """How near the times that the question names lie to when it happened, or was last said; 0 when none is named."""
    moments = (context.happened, context.last_said)
    return max((period.nearness(moment) for period in asked for moment in moments), default=0.0)


@lru_cache(maxsize=1024)  # few people speak, and often
def _named(label: str) -> tuple[str, ...]:
    return tuple(terms(label))


def _rarity(query: Sequence[str], corpus: Corpus) -> dict[str, float]:
    total = corpus.documents
    return {t: math.log(1 + max(total - n + 0.5, 0.0) / (n + 0.5)) for t in query for n in [corpus.holding[t]]}


class _Counted(dict[str, tuple[dict[str, float], int]]):
    """How often a text holds each of the terms, and how many it has in all; neighbours of several are read once."""

    def __init__(self, terms: Iterable[str]) -> None:
        self._terms = dict.fromkeys(terms)
        self._any = frozenset(self._terms)

    def __missing__(self, said: str) -> tuple[dict[str, float], int]:
        words = said.split(" ")
        held = self._any.intersection(words)
        # In the order of the question, for sums of the same numbers in another order may differ.
        counts = {term: float(words.count(term)) for term in self._terms if term in held} if held else {}
        self[said] = counts, len(words)
        return self[said]


def _bm25(context: Context, counted: _Counted, rarity: Mapping[str, float], average: float) -> float:
    counts, size = counted[context.words]
    around = [(abs(distance), *counted[said]) for distance, _, said in context.neighbours]
    mean = (size + sum([size for _, _, size in around])) / (1 + len(around))
    borrow = min(BORROW, BORROW_TERMS / max(mean, 1.0))
    frequency, length, share = counts.copy(), float(size), 1.0
    for distance, counts, size in around:
        weight = borrow**distance
        length += weight * size
        share += weight
        for term, count in counts.items():
            frequency[term] = frequency.get(term, 0.0) + weight * count
    norm = K1 * (1 - B + B * length / (average * share))
    return sum(rarity[t] * n * (K1 + 1) / (n + norm) for t, n in frequency.items())
