"""The signals of a candidate: each lies in 0 to 1 and means the same for every question.

Nothing is normalised over the candidates, so one memory can be scored alone, every score can be
explained, and a threshold keeps its meaning.
"""

import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from retain.domain.stem import stem
from retain.domain.words import STOP_WORDS, bare, terms
from retain.ports import Context, Corpus

REACH = 2  # neighbours on each side that lend their words
BORROW = 0.5  # what a direct neighbour's word counts; the next one's counts the square of it
BORROW_TERMS = 20  # texts longer than this on average lend less: they stand for themselves
K1, B = 1.0, 0.6

# How often a text holds each term of the question, and how many terms it has.
Counted = tuple[dict[str, int], int]

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
    counted: dict[str, Counted] = {}  # neighbours of several candidates are read once
    return {c.memory: _bm25(_window(c, rarity, counted), rarity, average) / ceiling for c in contexts}


def subject(text: str, question: frozenset[str]) -> float:
    """1 when the memory begins with `Name:` and the question names Name."""
    found = _LABEL.match(text)
    return float(found is not None and question.issuperset(terms(found[1])))


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
    return sum(pair in line for pair in wanted) / len(wanted)


def asking(text: str) -> float:
    """Share of a text that is questions: who only asks, tells nothing."""
    if "?" not in text:
        return 0.0
    sentences = [s for s in _SENTENCE.split(_LABEL.sub("", text, count=1)) if s]
    total = sum(map(len, sentences))
    return sum(len(s) for s in sentences if s.endswith("?")) / total if total else 0.0


def _rarity(query: Sequence[str], corpus: Corpus) -> dict[str, float]:
    total = corpus.documents
    return {t: math.log(1 + max(total - n + 0.5, 0.0) / (n + 0.5)) for t in query for n in [corpus.holding[t]]}


def _window(context: Context, rarity: Mapping[str, float], counted: dict[str, Counted]) -> list[tuple[Counted, int]]:
    """The memory and its neighbours: how often each holds the terms, how long it is; and how far away."""
    texts = [(context.words, 0), *((said, abs(distance)) for distance, _, said in context.neighbours)]
    for said, _ in texts:
        if said not in counted:
            counted[said] = _count(said, rarity)
    return [(counted[said], distance) for said, distance in texts]


def _count(said: str, rarity: Mapping[str, float]) -> Counted:
    # Most texts hold none of the terms, and a substring test sees that without splitting them.
    held = [term for term in rarity if term in said]
    if not held:
        return {}, said.count(" ") + 1
    words = said.split(" ")
    return {term: n for term in held if (n := words.count(term))}, len(words)


def _bm25(window: list[tuple[Counted, int]], rarity: Mapping[str, float], average: float) -> float:
    mean = sum(length for (_, length), _ in window) / len(window)
    borrow = min(BORROW, BORROW_TERMS / max(mean, 1.0))
    frequency: dict[str, float] = {}
    length = share = 0.0
    for (counts, size), distance in window:
        weight = borrow**distance
        length += weight * size
        share += weight
        for term, count in counts.items():
            frequency[term] = frequency.get(term, 0.0) + weight * count
    norm = K1 * (1 - B + B * length / (average * share))
    return sum(rarity[t] * n * (K1 + 1) / (n + norm) for t, n in frequency.items())
