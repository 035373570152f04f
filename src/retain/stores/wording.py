"""Which terms of a question decide a full-text search: the rarest, so that its cost does not grow with the store.

Imports nothing heavy: hooks choose terms too.
"""

from collections.abc import Mapping, Sequence

from retain.domain.words import terms

# Texts that a search may look at: about two milliseconds' worth. Terms are added from the rarest on until
# they hold this many together; what is commoner is scored only on the texts those found.
ENOUGH = 400
TOGETHER = 4  # terms that a text must hold together at first, where all of them are common
MOST = 1500  # texts of one query, newest first, that are ranked
COUNTED = 2000  # texts counted though they hold only the commoner terms; above that a count is a lower bound

ALL, ANY = "AND", "OR"
# How many of some terms a text must hold, and the terms.
Choice = tuple[str, Sequence[str]]


def indexed(title: str | None, text: str, file: str | None) -> str:
    """What the full-text index keeps of a memory: its title and text, and the file it is about."""
    return " ".join(terms("\n".join(part for part in (title, text, file) if part)))


def choices(asked: Sequence[str], holding: Mapping[str, int], enough: int = ENOUGH) -> list[Choice]:
    """Searches to try in turn until enough is found; none when no text holds any of the terms.

    Where the rarest terms are rare, they decide: any of them may match. Where even the rarest is common, texts
    that hold several come first: the four rarest together, then three, two, and the rarest alone. Rare is what
    `enough` texts hold together at most.
    """
    rarest = sorted((term for term in asked if holding[term]), key=holding.__getitem__)
    if not rarest:
        return []
    if holding[rarest[0]] > enough:
        return [(ALL, rarest[:number]) for number in range(min(len(rarest), TOGETHER), 0, -1)]
    chosen = [rarest[0]]
    texts = holding[rarest[0]]
    for term in rarest[1:]:
        texts += holding[term]
        if texts > enough:
            break
        chosen.append(term)
    return [(ANY, chosen)]


def countable(asked: Sequence[str], holding: Mapping[str, int], documents: int) -> list[str] | None:
    """The terms to count every text by that holds any of them; None where there may be too many to count."""
    held = [term for term in asked if holding[term]]
    most = min(sum(holding[term] for term in held), documents)
    return held if most <= COUNTED else None
