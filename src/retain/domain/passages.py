"""The part of a memory that a question is about, short enough for the judge to read with it.

What it is shown is part of the trained model: `training/` cuts its examples with `passage` too.
"""

from retain.domain.sentences import sentences
from retain.domain.words import terms

LONGEST = 420  # characters; what two texts of the judge have room for
LOOKED_AT = 8_000  # characters, the first; to stem all of a long text takes longer than to judge it


def passage(question: str, text: str, longest: int = LONGEST) -> str:
    """The sentence with most of the question's words, and as much of what stands around it as there is room for: what
    follows first, because a statement is explained after it was made."""
    if len(text) <= longest:
        return text
    text = text[:LOOKED_AT]
    cuts = sentences(text)
    if not cuts:
        return text[:longest]
    asked = set(terms(question))
    shared = [len(asked.intersection(terms(text[start:end]))) for start, end in cuts]
    first = last = max(range(len(cuts)), key=lambda place: (shared[place], -place))

    def fits(first: int, last: int) -> bool:
        return first >= 0 and last < len(cuts) and cuts[last][1] - cuts[first][0] <= longest

    while True:
        if fits(first, last + 1):
            last += 1
        elif fits(first - 1, last):
            first -= 1
        else:
            return text[cuts[first][0] : cuts[last][1]][:longest]
