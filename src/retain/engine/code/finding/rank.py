"""How well chunks fit a question: meaning and words on one scale, and a lift for what was asked for by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from retain.domain.code import Chunk, ChunkKind, StoredChunk
from retain.domain.code_words import code_terms, is_about_tests, is_called, is_test
from retain.domain.words import terms

# Found on the tuning half of benchmarks/code_search.py: from 0.75 to 0.9 on vectors all are alike, below it words
# drown meaning.
VECTOR, WORDS = 0.8, 0.2
# The BM25 that counts as half; 10 to 25 find the same.
HALF = 15.0
# How far a name lifts its chunk towards 1 when it is all that was asked, and how fast less of it when it is a part of
# the question: a sentence that names a symbol is mostly about another one (83 of 87 docstrings). Fading by 3 finds half
# a function in a hundred less in the first place.
LIFT, FADING = 0.9, 4
# Lines outside of all definitions hold the names of everything; asked for by what it does, hardly anything is there.
# Classes have no such factor: 0.97 helps questions for functions by half a point of recall at 5, and costs those for
# classes 5; nor do they step behind a method of theirs that is nearly as good, which is worth less and costs as much.
LOOSE = 0.9
# Tests often say what a function does more plainly than the function, and are seldom what is looked for: on two
# packages with their tests this is worth 5 points of recall at 1 and at 10 to questions for functions. What it costs
# those for tests was not measured; a question that says "test" means them.
TESTING = 0.9


@dataclass(frozen=True, slots=True)
class Score:
    """Where a chunk stands: how near its best vector is, its BM25 on a scale from 0 to 1, and both together."""

    total: float
    vector: float
    words: float


def fuse(vectors: Mapping[str, float], words: Mapping[str, float], floor: float | None) -> dict[str, Score]:
    """A score from 0 to 1 for each chunk that one of the two searches found.

    `floor` is the cosine that a chunk has at most when only words found it. When it is None such a chunk may have no
    vector, and its words stand for what it means.
    """
    return {
        id: _score(vectors.get(id, floor), max(words.get(id, 0.0), 0.0)) for id in dict.fromkeys([*vectors, *words])
    }


def _score(cosine: float | None, bm25: float) -> Score:
    said = bm25 / (bm25 + HALF)
    if cosine is None:
        return Score(said, 0.0, said)
    meant = min(max(cosine, 0.0), 1.0)
    return Score(VECTOR * meant + WORDS * said, meant, said)


def lift(chunk: Chunk, names: Sequence[str], question: str) -> float:
    """How far a chunk is lifted because the question names it; 0 when it does not."""
    named = [name for name in names if is_called(chunk, name)]
    if not named:
        return 0.0
    asked = set(code_terms(question))
    share = max(len(asked & set(terms(name))) for name in named) / (len(asked) or 1)
    return float(LIFT * share**FADING)


def final(stored: StoredChunk, score: float, by: float, question: str) -> float:
    """The score of a chunk for what kind of chunk it is, lifted towards 1."""
    own = score * (LOOSE if stored.chunk.kind is ChunkKind.MODULE else 1.0)
    if is_test(stored.path) and not is_about_tests(question):
        own *= TESTING
    return own + (1 - own) * by
