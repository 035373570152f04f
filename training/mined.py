"""Statements that lie near each other and have nothing against each other: no contradictions, whatever they share.

Writers of pairs write statements of one subject. A memory also holds what was said of a hundred others, turns of
conversations and paragraphs of documentation, and there a near neighbour is nearly always about something else.
"""

import ast
import random
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import numpy as np

from examples import Example, Pair
from retain.domain.judging import RELATIONS
from worlds import Vectors, World

Two = tuple[str, str]
Contradicts = Callable[[str, str], float]

PACKAGES = ("torch", "sympy", "networkx", "mpmath")  # of training's own environment, so that the benchmarks' are new
LONGEST = 200  # characters; what is longer is not compared
NEIGHBOURS = 3  # of a paragraph; a memory is compared with eight
_WEIGHT = 0.7  # now and then one of them does contradict
_SAME = 0.95  # a cosine from which on two texts may be one
_LOOKED_AT = 250  # statements of which the nearest is taken: a store of some hundred memories has such neighbours
_FEW = 4  # of these
_ONE_SUBJECT, _APART = 0.55, 24  # a cosine, and lines of a file: what is nearer may be of one subject


def of_turns(worlds: Sequence[World], vectors: Vectors, count: int) -> list[Example]:
    """Turns of one conversation with the nearest other one, but for those that answer one question."""
    found = []
    for world in worlds:
        said = [text.partition(": ")[2] for text in world.memories]
        together = {frozenset((a, b)) for q in world.questions for a in q.about for b in q.about}
        short = [place for place, text in enumerate(said) if len(text) <= LONGEST]
        for one, other in _nearest([said[place] for place in short], vectors):
            if frozenset((short[one], short[other])) not in together:
                found.append(unrelated(said[short[one]], said[short[other]]))
    return random.Random(0).sample(found, min(count, len(found)))


def of_pairs(pairs: Sequence[Pair], vectors: Vectors, contradicts: Contradicts, count: int) -> list[Two]:
    """What one pair says with what another says that is near it, in half of the cases by the same writer: of each few
    the one that an earlier judge takes for a contradiction first.

    Without them whatever sounds like a change was taken to change anything.
    """
    near = _near_others(pairs, vectors, count)
    worst = [max(some, key=lambda two: contradicts(*two)) for some in near]
    return [two if number % 5 else two[::-1] for number, two in enumerate(worst)]


def _near_others(pairs: Sequence[Pair], vectors: Vectors, count: int) -> Iterator[list[Two]]:
    """What is nearest to the newer statement of a pair among some hundred of others, as pairs with it."""
    chance = random.Random(0)
    said = [(text, pair.id) for pair in pairs for text in (pair.example.first, pair.example.second)]
    made = vectors([text for text, _ in said])
    by_writer: dict[str, list[int]] = {}
    for place, (_, id) in enumerate(said):
        by_writer.setdefault(id.partition("-")[0], []).append(place)
    for number in range(count):
        anchor = chance.randrange(1, len(said), 2)
        text, id = said[anchor]
        among = by_writer[id.partition("-")[0]] if number % 2 else range(len(said))
        some = chance.sample(among, min(_LOOKED_AT, len(among)))
        cosines = sorted(zip((made[some] @ made[anchor]).tolist(), some, strict=True), reverse=True)
        fit = [at for cosine, at in cosines if cosine < _ONE_SUBJECT and not _may_be_of_one(said[at][1], id)]
        if fit:
            yield [(said[at][0], text) for at in fit[:_FEW]]


def _may_be_of_one(id: str, other: str) -> bool:
    """Neighbouring lines of a writer contrast on purpose."""
    (one, here), (two, there) = (each.split("-")[:2] for each in (id, other))
    return one == two and abs(int(here) - int(there)) < _APART


def of_paragraphs(vectors: Vectors, count: int) -> list[Example]:
    """Paragraphs of documentation, each with its nearest neighbours among some thousands."""
    texts = [text for text in dict.fromkeys(_paragraphs()) if len(text.split()) >= 6 and len(text) <= LONGEST]
    texts = random.Random(0).sample(texts, min(2 * count, len(texts)))
    near = [unrelated(texts[one], texts[other]) for one, other in _nearest(texts, vectors, NEIGHBOURS)]
    return random.Random(0).sample(near, min(count, len(near)))


def unrelated(old: str, new: str) -> Example:
    return Example("pair", old, new, RELATIONS.index("unrelated"), weight=_WEIGHT)


def _nearest(texts: Sequence[str], vectors: Vectors, most: int = 1) -> Iterator[tuple[int, int]]:
    """Each text, by place, with those that are nearest to it and not the same; the earlier one first."""
    if len(texts) <= most:
        return
    made = vectors(texts)
    for place, row in enumerate(made @ made.T):
        row[place] = -1
        row[row >= _SAME] = -1
        for nearest in np.argsort(-row)[:most].tolist():
            yield min(place, nearest), max(place, nearest)


def _paragraphs() -> Iterator[str]:
    for name in PACKAGES:
        spec = find_spec(name)
        folder = Path(spec.origin).parent if spec and spec.origin else None
        files = sorted(folder.rglob("*.py")) if folder else []
        random.Random(0).shuffle(files)
        for file in islice(files, 400):
            try:
                tree = ast.parse(file.read_text(encoding="utf-8"))
            except (SyntaxError, UnicodeDecodeError):
                continue
            for node in ast.walk(tree):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                    yield from map(_one_line, (ast.get_docstring(node) or "").split("\n\n"))


def _one_line(text: str) -> str:
    return " ".join(text.split())
